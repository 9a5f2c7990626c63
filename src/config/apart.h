/* Work that may crash, hang or take all memory, done in a child process that sends bytes back. */
#ifndef CONFIG_APART_H
#define CONFIG_APART_H

#include <stddef.h>

#include "base/strbuf.h"
#include "berth/error.h"

struct apart {
    const char *who; /* what does the work; for error texts */
    int seconds;     /* of processor time at most, and APART_CLOCK times as many by the clock */
    size_t memory;   /* bytes that it may take at most, beyond what this process has */
    size_t answer;   /* bytes of the answer at most */

    /* Called in the child, which sees a copy of this process and can't change it. Its output is discarded.
     * Returns 0 with the answer appended, or -1 with errno and a text.
     */
    int (*work)(void *context, struct strbuf *answer, berth_error_t *err);
    void *context;
};

#define APART_CLOCK 3

/* Have the work done, and wait for it. The answer is appended to an empty buffer; the caller checks it as it
 * would any text from outside. The process must have one thread. Returns 0, or -1: with errno and text of the
 * work; with EINVAL if the child crashed, took too long, sent too much or an invalid answer; or with the
 * errno of fork, pipe or allocation.
 */
int apart_do(const struct apart *apart, struct strbuf *answer, berth_error_t *err);

#endif
