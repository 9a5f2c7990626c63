/* Options of `flux batch`, as in lines "#flux: -n 4", as options of `berth submit`. */
#ifndef CLI_FOREIGN_FLUX_H
#define CLI_FOREIGN_FLUX_H

#include "cli/foreign/options.h"

/* Those that are known. */
extern const struct foreign_option flux_list[];
extern const size_t flux_list_n;

/* Read options up to the first other word, and append what they mean here: the word's place, or -1 with errno and a
 * text. `where` stands before messages.
 */
int flux_options(struct foreign *out, char **words, int n, const char *where, berth_error_t *err);

/* "30" is minutes, "90s", "1.5h", "1d": as seconds, "infinity" and 0 as no limit, -1. 0, or -1 with EINVAL. */
int flux_seconds(const char *text, double *seconds);

#endif
