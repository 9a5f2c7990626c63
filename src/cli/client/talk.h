/* A verb's talk with a server: finding it, starting a private one, asking, reading lists.
 *
 * Calls return 0, or -1 with errno and a text: what the server says is wrong, or ECONNREFUSED where none runs.
 */
#ifndef CLI_CLIENT_TALK_H
#define CLI_CLIENT_TALK_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "berth/error.h"
#include "cli/client/client.h"

struct talk {
    const char *verb;
    struct client *client;
    char directory[PATH_MAX];
    char socket[PATH_MAX];
    bool shared; /* the server of root is asked, since there is none of one's own */
};

/* Find out where the server is. Nothing is said to it yet. */
int talk_open(struct talk *s, const char *verb, berth_error_t *err);
void talk_close(struct talk *s);

/* See to it that a server runs: a private one is started if none does. */
int talk_start(struct talk *s, berth_error_t *err);

/* Ask, with a body or without (NULL). The answer is to be given back, unless NULL is passed for it. */
int talk_ask(struct talk *s, const char *method, const char *path, const json_t *body,
             json_t **answer, berth_error_t *err);
int talk_ask_text(struct talk *s, const char *method, const char *path, const char *body,
                  size_t length, json_t **answer, berth_error_t *err);

/* Read a list as it comes: visit gets each object of the answer's array as text. Nonzero ends it, as a failure with
 * its errno.
 */
typedef int (*talk_visit)(void *context, const char *text, size_t length);
int talk_list(struct talk *s, const char *path, talk_visit visit, void *context,
              berth_error_t *err);

/* Say on standard error what went wrong: "berth VERB: ...". Returns CLI_FAILED. */
int talk_failed(const struct talk *s, const berth_error_t *err);

/* After a request that failed, say what a server that is not there means. Returns -1 with the same errno. */
int talk_explain(const struct talk *s, berth_error_t *err);

/* Copy the error of a reply's text, or the status where there is none. Returns -1 with errno. */
int talk_error(long status, const char *text, size_t length, berth_error_t *err);

#endif
