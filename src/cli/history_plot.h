/* The picture of `berth history --plot`. */
#ifndef CLI_HISTORY_PLOT_H
#define CLI_HISTORY_PLOT_H

#include "berth/error.h"
#include "cli/client/connection.h"

/* What colours stand for. */
extern const char *const history_plot_words[]; /* "user", "queue", "state"; ended by NULL */

/* Draw the jobs of two lists, `ran` with those that run or have run, `waiting` (NULL: none) with those that wait, of
 * which those that are promised a start are drawn. by: one of the words. Returns 0, or -1 with errno and a text:
 * EINVAL if there is nothing to draw.
 */
int history_plot(struct connection *connection, const char *ran, const char *waiting,
                 const char *file, const char *by, berth_error_t *err);

#endif
