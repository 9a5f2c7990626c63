/* berth submit of many jobs by one request, all or none. */
#ifndef CLI_SUBMIT_MANY_H
#define CLI_SUBMIT_MANY_H

#include "cli/client/connection.h"
#include "cli/client/each.h"
#include "cli/client/request.h"

/* Submit the jobs of a file in JSON ("-": standard input) and print their ids, or the answer as JSON. 0, or -1 with errno
 * and a text.
 */
int submit_bulk(struct connection *s, const char *path, bool json, berth_error_t *err);

/* Make the list of jobs that a request stands for: one for each thing, or those of its file. NULL with errno and a text.
 */
json_t *submit_list(const struct request *r, const struct each *each, berth_error_t *err);

/* Submit such a list and print the ids, `named` with the names, or the same as JSON. 0, or -1 with errno and a text. */
int submit_many(struct connection *s, const json_t *jobs, bool named, bool json,
                berth_error_t *err);

#endif
