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

/* What is drawn, at most 79 columns: "[####....] 37 of 100, 2 failed, until about 14:32". `end`: seconds since 1970, or
 * below 0 if nothing is known of it.
 */
#define JOB_BAR_SIZE 128
void job_bar_text(const struct job_bar *b, double end, char text[JOB_BAR_SIZE]);

/* When the last is expected to end if the others go as those did that ended since `began`: seconds from `now` on, on its
 * clock; -1: none did.
 */
double job_bar_left(const struct job_bar *b, double now);

#endif
