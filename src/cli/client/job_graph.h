/* A file of jobs that wait for each other by name:
 *
 *     defaults: {queue: batch, limit: 1h}
 *     jobs:
 *       fetch: {command: [./fetch.sh, data]}
 *       fit: {after: fetch, cores: 4, command: ./fit.sh data >model}
 *       report: {after: {fit: any}, command: ./report.sh}
 *
 * Keys are those of a submission (berth-api(7)), beside `after`. A command that is a text is for /bin/sh.
 */
#ifndef CLI_CLIENT_JOB_GRAPH_H
#define CLI_CLIENT_JOB_GRAPH_H

#include <jansson.h>
#include <stddef.h>

#include "berth/error.h"

/* Read such a text. Returns the list of jobs for the API, in which each comes after those that it waits for and has
 * what `common` has beside its own, and the first the environment of all; or NULL with errno and a text: EINVAL for
 * a wrong file, with its line, or for jobs that wait for each other, with their names. O(text).
 */
json_t *job_graph_read(const char *text, size_t length, const char *name, const json_t *common,
                       berth_error_t *err);

#endif
