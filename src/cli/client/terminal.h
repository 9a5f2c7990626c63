/* Output to a terminal: text without control characters, its width, and tables. */
#ifndef CLI_CLIENT_TERMINAL_H
#define CLI_CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/strbuf.h"

/* Append n bytes of text for a terminal, with '?' instead of control characters. */
void terminal_plain(struct strbuf *out, const char *text, size_t n);

/* Print such text. */
void terminal_print(FILE *to, const char *text);

/* ---- Width ---- */

/* Columns of a text in UTF-8. East Asian characters and most pictures take two columns, combining marks none.
 * Bytes that are not UTF-8 count one each.
 */
size_t terminal_width(const char *text);

/* How many bytes of its beginning fit into so many columns; *columns is how many they take. */
size_t terminal_fit(const char *text, size_t *columns);

/* ---- Tables ---- */

#define TABLE_COLUMNS_MAX 16

struct table_column {
    const char *head;
    bool right;  /* numbers */
    size_t most; /* the most columns, beyond which text is cut; 0: any */
};

/* Rows of cells in aligned columns, as wide as the terminal. Rows are written as they arrive: the first
 * thousand determine the widths of the columns, and a later cell that is wider shifts what follows it.
 */
struct table {
    FILE *out;
    const struct table_column *columns; /* ended by one without a heading */
    size_t n;
    size_t width; /* of the terminal; 0: no terminal */
    const char *
        leave; /* headings of columns that are left out, in this order, where the last has no room; NULL */
    bool left[TABLE_COLUMNS_MAX];
    size_t widths[TABLE_COLUMNS_MAX];
    struct strbuf held; /* cells of rows that wait for the widths, each ended by '\0' */
    struct strbuf cell; /* room in which callers make the next one */
    struct strbuf line;
    size_t rows;
    size_t next; /* column of the next cell */
    bool flowing;
    bool headless;
};

void table_begin(struct table *t, FILE *out, const struct table_column *columns);

/* Add the next cell: column by column, row by row. What can't be shown becomes '?'. */
void table_cell(struct table *t, const char *text);
void table_number(struct table *t, long long number);

/* Write the rows that are held. False if memory ran out on the way. */
bool table_end(struct table *t);

void table_clear(struct table *t);

#endif
