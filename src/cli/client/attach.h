/* Passing our standard input, or a terminal, on to a job.
 *
 * We listen at a socket in a folder of our own. The job's first task connects to it as it starts and gets a
 * descriptor (engine/engine.h); only tasks of our own user do. What has to be copied, a thread of ours copies: so it
 * goes on whatever the rest of us waits for, and while the server is restarted.
 */
#ifndef CLI_CLIENT_ATTACH_H
#define CLI_CLIENT_ATTACH_H

#include <jansson.h>

#include "berth/error.h"

enum attach_as {
    ATTACH_NOTHING,
    ATTACH_INPUT,    /* our standard input itself: the job reads as much of it as it likes */
    ATTACH_KEYBOARD, /* what is typed at our terminal, while we are in its foreground */
    ATTACH_TERMINAL, /* a terminal of its own, which ours shows and types into */
};

struct attach;

/* How a job can have our standard input: not at all if it is closed or /dev/null. */
enum attach_as attach_input(void);

/* Begin to listen. NULL with errno and a text. */
struct attach *attach_open(enum attach_as as, berth_error_t *err);

/* What the request of the job says of it. NULL: ENOMEM */
json_t *attach_request(const struct attach *a);

/* Show the rest of what the terminal has, and give ours back as it was. NULL is fine. */
void attach_close(struct attach *a);

#endif
