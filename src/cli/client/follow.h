/* Waiting for a job's end, with its output as it is written. */
#ifndef CLI_CLIENT_FOLLOW_H
#define CLI_CLIENT_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/client/connection.h"
#include "cli/client/job_bar.h"

struct follow {
    struct connection *connection;
    int64_t id, member; /* member -1: the whole job */
    bool output; /* copy its output to ours, and standard error if it has a file of its own */
    struct job_bar *bar; /* of an array's members; NULL: none */
    bool may_cancel; /* the first SIGINT or SIGTERM cancels the job, a second one leaves it alone */
};

/* How it ended. */
struct follow_end {
    /* For our own exit: that of the job, or 128 + its signal; 1 if it has neither. For an array, the highest.
     */
    int status;
    bool left; /* a signal told us to leave it: status is 128 + that signal */
    char state[16];
    char reason[256]; /* why, if it has no status; else "" */
};

/* Wait until the job has ended. If the server is being restarted, wait until it is back. Returns 0, or -1
 * with errno and a text.
 */
int follow_job(const struct follow *f, struct follow_end *end, berth_error_t *err);

#endif
