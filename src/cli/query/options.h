/* The command line of `berth query`, which is that of Fluxion's resource-query. */
#ifndef CLI_QUERY_OPTIONS_H
#define CLI_QUERY_OPTIONS_H

#include <stdbool.h>

#include "berth/match.h"

struct query_options {
    const char *load_file; /* NULL for --local */
    const char *load_format;
    char *allowlist; /* types that hwloc's reader loads; NULL: all */
    match_options_t match;
    char *filters; /* what match.filters points to */
    const char *match_format;
    const char *graph_output; /* NULL: none */
    bool graphml;
    const char *test_output; /* NULL: standard output */
    bool elapse;
    bool no_prompt;
    bool local;
};

/* Returns true with *ret filled, which the caller clears; or false with the exit status, after printing what
 * is wrong or the help.
 */
bool query_options_parse(int argc, char **argv, struct query_options *ret, int *status);

void query_options_clear(struct query_options *o);

#endif
