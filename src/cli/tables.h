/* What verbs print that others print as well: `berth top`, and `flux berth` of an instance of Flux. */
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

/* Of an answer of /v1/queues, and of /v1/shares, with amounts of a resource (NULL: the first that somebody has). 0, or
 * -1 with errno and a text.
 */
int queues_print(FILE *out, const json_t *answer, const char *resource, berth_error_t *err);
int shares_print(FILE *out, const json_t *answer, const char *resource, berth_error_t *err);

/* Of an answer of /v1/jobs/ID/explain, and of a job that is only tried (--test-only), on standard output. */
int explain_print(const json_t *answer, berth_error_t *err);
void would_start_print(const json_t *answer);

/* An amount for people, which is the text: of memory in the largest unit of bytes in which it is a whole number or has
 * one decimal.
 */
#define SHARES_AMOUNT_SIZE 32
const char *shares_amount(const char *resource, int64_t amount, char text[SHARES_AMOUNT_SIZE]);

/* Limits by name, for people, behind what is in the text: " core=64 duration=1:00:00". */
void put_limit_list(struct strbuf *text, const json_t *limits);

#endif
