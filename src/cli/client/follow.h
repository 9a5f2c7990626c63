/* Waiting for a job's end, with its output as it is written. */
#ifndef CLI_CLIENT_FOLLOW_H
#define CLI_CLIENT_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/client/connection.h"

struct follow {
    struct connection *connection;
    int64_t id, member; /* member -1: all of it */
    bool output;        /* copy its output to ours, and its errors, where they are apart */
    bool may_cancel;    /* the first SIGINT or SIGTERM cancels it, a second leaves it */
};

/* How it ended. */
struct follow_end {
    int status; /* for our own exit: that of the job or 128 + its signal; 1 where it has neither. Of an array the highest */
    bool left;  /* we were told to leave it: status is 128 + that signal */
    char state[16];
    char reason[256]; /* why, where it has no status; else "" */
};

/* Wait until the job has ended. While the server is being started anew its return is waited for. 0, or -1 with errno and a
 * text.
 */
int follow_job(const struct follow *f, struct follow_end *end, berth_error_t *err);

#endif
