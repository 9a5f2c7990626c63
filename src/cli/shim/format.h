/* The texts of --format of squeue and sinfo, "%.10i %t|%N", and of --Format of squeue, "jobid:10,name:.8,state". */
#ifndef CLI_SHIM_FORMAT_H
#define CLI_SHIM_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

#define FORMAT_WIDTH_MAX 10000 /* of a column */

struct format_cell {
    char letter;  /* 0: the text ends before it */
    bool right;   /* "%.10i": at the right */
    bool fits;    /* "%#N": as wide as the widest, of which only the caller knows */
    size_t width; /* at least and at most; 0: any */
};

/* Append what stands before the next cell to `out`. Returns what follows the cell; NULL: there is no other. */
const char *format_next(const char *at, struct format_cell *cell, struct strbuf *out);

/* Whether no column of a text of --format is wider than that; and what to expect of one that is not. */
bool format_is_right(const char *text);
#define FORMAT_RIGHT "columns such as %.18i, at most 10000 wide"

/* A cell of --Format: a name, and behind a colon a dot for the right, a width and what follows the column. */
struct format_named {
    const char *name, *suffix; /* into the text, each as long as the next says */
    size_t name_length, suffix_length;
    struct format_cell cell; /* without a letter */
};

/* Read the cell at `at`. Returns what follows it; NULL: the text has ended. */
const char *format_next_name(const char *at, struct format_named *named);

/* Append the text of a cell, filled or cut to its width. */
void format_put(const struct format_cell *cell, struct strbuf *text, struct strbuf *out);

#endif
