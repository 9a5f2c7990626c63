/* A verb and its server: finding it, starting a private one, asking, reading lists.
 *
 * Calls return 0, or -1 with errno and a text: the server's error, or ECONNREFUSED if no server is running.
 */
#ifndef CLI_CLIENT_CONNECTION_H
#define CLI_CLIENT_CONNECTION_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/error.h"
#include "cli/client/client.h"

struct connection {
    const char *verb;
    struct client *client;
    char directory[PATH_MAX];
    char socket[PATH_MAX];
    bool shared; /* that of the machine is asked, which may be stopped, since the user has none */
};

/* Find out where the server is, without speaking to it yet. */
int connection_open(struct connection *s, const char *verb, berth_error_t *err);
void connection_close(struct connection *s);

/* Make sure that a server is running: start a private one if none is. A stopped one of the machine is waited for some
 * seconds, and never replaced.
 */
int connection_start(struct connection *s, berth_error_t *err);

/* Send a request, with a body or without (NULL). The caller frees the answer, unless NULL is passed for it.
 */
int connection_ask(struct connection *s, const char *method, const char *path, const json_t *body,
                   json_t **answer, berth_error_t *err);
int connection_ask_text(struct connection *s, const char *method, const char *path,
                        const char *body, size_t length, json_t **answer, berth_error_t *err);

/* Read a list as it arrives: visit gets each object of the answer's array as text. If visit returns nonzero,
 * reading ends as a failure with its errno.
 */
typedef int (*connection_visit)(void *context, const char *text, size_t length);
int connection_list(struct connection *s, const char *path, connection_visit visit, void *context,
                    berth_error_t *err);

/* Say on standard error what went wrong: "berth VERB: ...". Returns CLI_FAILED. */
int connection_failed(const struct connection *s, const berth_error_t *err);

/* After a failed request, say what it means if no server is there. Returns -1 with the same errno. */
int connection_explain(const struct connection *s, berth_error_t *err);

/* ---- Jobs in words and in paths ---- */

#define JOB_ID_SIZE 48

/* "17" or "17[3]": member -1 for a whole job. */
char *job_id_text(int64_t id, int64_t member, char out[JOB_ID_SIZE]);

/* "/v1/jobs/17" or "/v1/jobs/17.3", followed by the rest of the path. */
void route_job(struct strbuf *out, int64_t id, int64_t member, const char *suffix);

/* Append "key=value" to a query, escaped, behind '?' or '&'. */
void route_query(struct strbuf *path, const char *key, const char *value);

/* ---- Answers ---- */

/* Members of an object; "" and -1 if they are missing. */
const char *answer_text(const json_t *object, const char *key);
double answer_number(const json_t *object, const char *key);

/* Print it on standard output, for programs. */
void answer_print(const json_t *value);

/* ---- Starting a private server ---- */

/* Start berthd, which is found beside this program, and wait until it answers. If another one is being
 * started for the same directory, wait for that one. config: a file, or NULL. Returns 0, or -1 with errno and
 * berthd's message.
 */
int connection_start_server(const char *socket, const char *config, berth_error_t *err);

/* True if somebody listens at the socket. */
bool connection_is_there(const char *socket);

#endif
