/* A bar of how many of many jobs have ended, on standard error if that is a terminal. */
#ifndef CLI_CLIENT_JOB_BAR_H
#define CLI_CLIENT_JOB_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_bar {
    bool wanted, shown;
    size_t done, all, failed;
    size_t first; /* how many had ended when it was drawn first */
    double began; /* when that was, seconds of a clock that is not set; 0: not yet */
};

/* Prepare a bar, which is drawn only on a terminal with the needed controls. */
void job_bar_begin(struct job_bar *b);

/* So many of all have ended, and so many of these badly. Draws. */
void job_bar_count(struct job_bar *b, size_t done, size_t all, size_t failed);

/* Erase it, and draw it again behind something else that was written. */
void job_bar_hide(struct job_bar *b);
void job_bar_show(struct job_bar *b);

#endif
