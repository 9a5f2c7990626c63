/* The tables of verbs that `berth top` shows as well. */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include <jansson.h>
#include <stdio.h>

#include "cli/client/listing.h"

/* Of jobs and of nodes, for objects of a list; `jobs_leave` as of a table. */
extern const struct table_column jobs_columns[], nodes_columns[];
extern const char jobs_leave[];
void jobs_row(struct table *table, const struct fields *job, const char *states, double now);
void nodes_row(struct table *table, const struct fields *node, const char *states, double now);

/* Of an answer of /v1/queues, and of /v1/shares. 0, or -1 with errno and a text. */
int queues_print(FILE *out, const json_t *answer, berth_error_t *err);
int shares_print(FILE *out, const json_t *answer, const char *resource, berth_error_t *err);

#endif
