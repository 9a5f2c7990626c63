/* What may crash, hang or take all memory, done apart: in a child process that sends bytes back. */
#ifndef CONFIG_APART_H
#define CONFIG_APART_H

#include <stddef.h>

#include "base/strbuf.h"
#include "berth/error.h"

struct apart {
    const char *who; /* does the work; for texts */
    int seconds;     /* at most, of processor time, and APART_CLOCK times as many by the clock */
    size_t memory;   /* bytes at most that it may take, beside what this process has */
    size_t answer;   /* bytes at most that come back */

    /* Done in the child, which sees all that this process has, and changes nothing of it. What it prints is not seen.
     * Returns 0 and the answer appended, or -1 with errno and a text.
     */
    int (*work)(void *context, struct strbuf *answer, berth_error_t *err);
    void *context;
};

#define APART_CLOCK 3

/* Have it done, and wait for that. The answer is appended to an empty buffer; what is in it is to be checked as any text from
 * outside. The process must have one thread. Returns 0, or -1: with errno and text of the work; with EINVAL where the child
 * crashed, took too long, sent too much or nothing that makes sense; with what fork, pipe or memory say.
 */
int apart_do(const struct apart *apart, struct strbuf *answer, berth_error_t *err);

#endif
