/* What a terminal is shown: text that does not control it, how wide that is, tables. */
#ifndef CLI_CLIENT_TERMINAL_H
#define CLI_CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/strbuf.h"

/* Append n bytes of text as a terminal may be given them: '?' in place of what controls it. */
void terminal_plain(struct strbuf *out, const char *text, size_t n);

/* Print text so. */
void terminal_print(FILE *to, const char *text);

/* ---- Width ---- */

/* Columns of a text in UTF-8, which are not as many as its characters: those of East Asia and most pictures
 * take two, marks that are put on others none. Bytes that are no UTF-8 count one each.
 */
size_t terminal_width(const char *text);

/* The bytes of as much of its beginning as fits into so many columns; *columns is what that takes. */
size_t terminal_fit(const char *text, size_t *columns);

/* ---- Tables ---- */

#define TABLE_COLUMNS_MAX 16

struct table_column {
    const char *head;
    bool right;  /* numbers */
    size_t most; /* no wider than this: longer text is cut; 0: any */
};

/* Rows of cells in columns that are aligned, as wide as the terminal. Rows are written as they come: the
 * first thousand say how wide the columns are, and a later cell that needs more moves what is behind it.
 */
struct table {
    FILE *out;
    const struct table_column *columns; /* ended by one without a head */
    size_t n;
    size_t width; /* of the terminal; 0: no terminal */
    size_t widths[TABLE_COLUMNS_MAX];
    struct strbuf held; /* cells of rows that wait for the widths, each ended by '\0' */
    struct strbuf cell; /* for who makes the next one */
    struct strbuf line;
    size_t rows;
    size_t next; /* column of the next cell */
    bool flowing;
    bool headless;
};

void table_begin(struct table *t, FILE *out, const struct table_column *columns);

/* The next cell: columns in turn, rows one after the other. What can't be shown becomes '?'. */
void table_cell(struct table *t, const char *text);
void table_number(struct table *t, long long number);

/* Write what is held. False if memory ran out on the way. */
bool table_end(struct table *t);

void table_clear(struct table *t);

#endif
