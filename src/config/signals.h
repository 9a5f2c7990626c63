/* Signals as people write them: "USR1", "SIGUSR1" in any case, or a number. */
#ifndef CONFIG_SIGNALS_H
#define CONFIG_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

#define SIGNALS_MAX 64 /* the highest number */

/* False: the text is no signal. O(length). */
bool signals_read(const char *text, size_t length, int *number);

#endif
