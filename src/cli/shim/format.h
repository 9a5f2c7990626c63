/* The texts of --format of squeue and sinfo: "%.10i %t|%N". */
#ifndef CLI_SHIM_FORMAT_H
#define CLI_SHIM_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

struct format_cell {
    char letter;  /* 0: the text ends before it */
    bool right;   /* "%.10i": at the right */
    bool fits;    /* "%#N": as wide as the widest, of which only the caller knows */
    size_t width; /* at least and at most; 0: any */
};

/* Append what stands before the next cell to `out`. Returns what follows the cell; NULL: there is no other. */
const char *format_next(const char *at, struct format_cell *cell, struct strbuf *out);

/* Append the text of a cell, filled or cut to its width. */
void format_put(const struct format_cell *cell, struct strbuf *text, struct strbuf *out);

#endif
