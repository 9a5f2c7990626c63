/* Ends of runs as people give them, for which a job is tried again:
 *
 *   75              exit status 75
 *   1-3,100         1, 2, 3 and 100
 *   75,SIGKILL      the same status, or killed by that signal
 *   timeout         stopped at its time limit
 */
#ifndef CONFIG_ENDS_H
#define CONFIG_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"

#define RETRIES_MAX 200 /* how often a job may be tried again */

struct ends {
    uint64_t statuses[4]; /* a bit for each from 1 to 255 */
    uint64_t signals;     /* bit n - 1 for signal n */
    bool timeout;
};

/* Read such a text: 0, or -1 with EINVAL, one line that says what is wrong, and no ends. O(length). */
int ends_read(struct ends *ends, const char *text, size_t length, berth_error_t *err);

/* Every status other than 0, and every signal. */
void ends_failures(struct ends *ends);

/* Whether a run that ended with a status, or was killed by a signal (0: it was not), is among them. */
bool ends_has(const struct ends *ends, int status, int signal);

#endif
