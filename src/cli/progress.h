/* A progress bar on standard error, if that is a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    const char *label;
    bool wanted; /* standard error is a terminal that understands us */
    bool shown;
    int64_t next_ms; /* not drawn before then */
};

/* Work that takes less than a blink is never shown. */
void progress_begin(struct progress *progress, const char *label);

/* done of n; arg is the struct progress, so that it fits simulate_options. Cheap to call often. */
void progress_update(void *arg, size_t done, size_t n);

/* Erase the bar. */
void progress_end(struct progress *progress);

#endif
