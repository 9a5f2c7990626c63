/* Labels of jobs: words that users give them, and find them by. */
#ifndef SERVER_API_LABELS_H
#define SERVER_API_LABELS_H

#include "base/json_scan.h"
#include "server/api/job_reader.h"

#define LABELS_MAX  20  /* of a job */
#define LABELS_NAME 63  /* bytes */
#define LABELS_TEXT 255 /* bytes of a value */

/* Whether those of a request are as they are to be: 0, or -1 with EINVAL and a text. */
int labels_check(struct job_reader *r);

/* Append them as a member of an object; nothing if there are none. */
void labels_put(const struct job_reader *r, struct json_out *out);

/* Those in the row of a job in memory, and in a stored request; empty: there are none. */
struct json_part labels_of_row(const char *row, size_t length);
struct json_part labels_of_request(const char *request);

/* Whether one of them is `wanted`: "name=value", or "name" with any value. */
bool labels_fit(struct json_part labels, const char *wanted);

#endif
