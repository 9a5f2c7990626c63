/* Instants and spans as people write and read them. */
#ifndef CLI_CLIENT_WHEN_H
#define CLI_CLIENT_WHEN_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define WHEN_SIZE 32

/* An instant in seconds since 1970: "+1h" from now on, "08:30" the next time it is, "2026-11-22", "2026-11-22T08:30",
 * "2026-11-22 08:30:15", all in local time, or "@SECONDS". 0, or -1 with EINVAL.
 */
int when_read(const char *text, time_t now, double *seconds);

/* "2026-11-22 08:30:15"; "-" for what has no time (negative). */
char *when_put(double seconds, char out[WHEN_SIZE]);

/* A clock of a span: "0:07", "12:34", "1:02:03", "2-03:04:05". */
char *when_span(double seconds, char out[WHEN_SIZE]);

#endif
