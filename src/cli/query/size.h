/* How large a machine is, for --elapse-time. */
#ifndef CLI_QUERY_SIZE_H
#define CLI_QUERY_SIZE_H

#include <stdio.h>

#include "berth/resource.h"

/* Print how large the machine is, and how many seconds loading took. Returns 0, or -1 with ENOMEM. */
int query_print_size(const resource_graph_t *graph, double seconds, FILE *out);

#endif
