/* Loading the machine. */
#ifndef CLI_QUERY_LOAD_H
#define CLI_QUERY_LOAD_H

#include "berth/match.h"
#include "cli/query/options.h"

/* Print in one line what failed and why. Returns the exit status. */
int query_fail(const char *name, const char *why);

/* Read the machine and make it ready for matches. Returns the exit status, after printing what is wrong. */
int query_load(const struct query_options *o, match_t **ret);

#endif
