/* Times and durations as people write and read them. */
#ifndef CLI_CLIENT_WHEN_H
#define CLI_CLIENT_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define WHEN_SIZE 32

/* A time in seconds since 1970: "+1h" from now, the next "08:30", "2026-11-22", or another date (config/date.h), all
 * in local time, or "@SECONDS". 0, or -1 with EINVAL.
 */
int when_read(const char *text, time_t now, double *seconds);

/* The same of what has been: "2h" is two hours ago, and "08:30" the last one. */
int when_read_past(const char *text, time_t now, double *seconds);

/* "2026-11-22 08:30:15"; "-" if there is no time (negative). */
char *when_put(double seconds, char out[WHEN_SIZE]);

/* Whether a time is so far away that it stands for never: blocks of what is taken back last a century. */
bool when_is_far(double seconds);

/* A duration as a clock shows it: "0:07", "12:34", "1:02:03", "2-03:04:05". */
char *when_span(double seconds, char out[WHEN_SIZE]);

#endif
