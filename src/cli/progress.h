/* A progress bar on standard error, if that is a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    const char *label;
    bool wanted; /* standard error is a terminal with the needed controls */
    bool shown;
    int64_t next_ms; /* not drawn before then */
};

/* The bar does not appear for work that takes only a moment. */
void progress_begin(struct progress *progress, const char *label);

/* `done` of n is finished; arg is the struct progress, as simulate_options wants it. Cheap to call often. */
void progress_update(void *arg, size_t done, size_t n);

/* Erase the bar. */
void progress_end(struct progress *progress);

#endif
