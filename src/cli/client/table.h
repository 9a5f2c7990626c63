/* Rows of cells in columns that are aligned, as wide as the terminal. Rows are written as they come: the first thousand
 * say how wide the columns are, and a later cell that needs more moves what is behind it.
 */
#ifndef CLI_CLIENT_TABLE_H
#define CLI_CLIENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/strbuf.h"

#define TABLE_COLUMNS_MAX 16

struct table_column {
    const char *head;
    bool right;  /* numbers */
    size_t most; /* no wider than this: longer text is cut; 0: any */
};

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
