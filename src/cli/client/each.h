/* The same request for each of the jobs that a command line names. */
#ifndef CLI_CLIENT_EACH_H
#define CLI_CLIENT_EACH_H

#include <jansson.h>

#include "cli/client/ids.h"
#include "cli/client/talk.h"

struct each_request {
    const char *method;
    const char *suffix; /* of the path of a job: "/signal" */
    const json_t *body; /* NULL: none */
};

/* Send it, go on after a refusal, which is told in a line, and return the exit status. Of jobs that were named in a range
 * those that are not there, or for which it is too late, are passed over, unless that is true of all.
 */
int each_job(struct talk *talk, const struct ids *ids, const struct each_request *request);

/* The same for words of a command line; with `all` for each live job of this user instead. CLI_USAGE for wrong words. */
int each_word(const char *verb, char **words, int n, bool all, const struct each_request *request);

#endif
