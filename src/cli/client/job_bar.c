#include "cli/client/job_bar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR_WIDTH 30
#define BAR_SIZE  128
#define A_DAY     86400

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void job_bar_begin(struct job_bar *b)
{
    const char *term = getenv("TERM");
    *b = (struct job_bar){.wanted = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0};
}

/* When the last is expected to end if the others go as those did that ended since `began`: seconds from `now` on, on its
 * clock; -1: none did.
 */
static double job_bar_left(const struct job_bar *b, double now)
{
    size_t since = b->done > b->first ? b->done - b->first : 0;
    if (since == 0 || now < b->began)
        return -1;
    return (now - b->began) / (double)since * (double)(b->all - b->done);
}

/* "14:32", or with its date if that is a day away. */
static void put_end(double end, double now, char *text, size_t size)
{
    time_t at = (time_t)end;
    struct tm local;
    if (end < 0 || !localtime_r(&at, &local) ||
        strftime(text, size, end - now < A_DAY ? ", until about %H:%M" : ", until about %F %H:%M",
                 &local) == 0)
        *text = '\0';
}

/* What is drawn, at most 79 columns: "[####....] 37 of 100, 2 failed, until about 14:32". `end`: seconds since 1970, or
 * below 0 if nothing is known of it.
 */
static void job_bar_text(const struct job_bar *b, double end, char text[BAR_SIZE])
{
    char bar[BAR_WIDTH + 1], failed[32] = "", until[48] = "";
    size_t done = b->done < b->all ? b->done : b->all;
    size_t filled = b->all > 0 ? (size_t)((double)done / (double)b->all * BAR_WIDTH) : 0;
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', filled);
    bar[BAR_WIDTH] = '\0';
    if (b->failed > 0)
        snprintf(failed, sizeof(failed), ", %zu failed", b->failed);
    if (done < b->all)
        put_end(end, seconds_of(CLOCK_REALTIME), until, sizeof(until));
    int n = snprintf(text, BAR_SIZE, "[%s] %zu of %zu%s%s", bar, done, b->all, failed, until);
    if (n > 79)
        text[79] = '\0';
}

void job_bar_show(struct job_bar *b)
{
    char text[BAR_SIZE];
    if (!b->wanted || b->all < 2)
        return;
    double left = job_bar_left(b, seconds_of(CLOCK_MONOTONIC));
    job_bar_text(b, left < 0 ? -1 : seconds_of(CLOCK_REALTIME) + left, text);
    fprintf(stderr, "\r%s\033[K", text);
    b->shown = true;
}

void job_bar_hide(struct job_bar *b)
{
    if (b->shown)
        fputs("\r\033[K", stderr);
    b->shown = false;
}

void job_bar_count(struct job_bar *b, size_t done, size_t all, size_t failed)
{
    if (b->began <= 0) {
        b->began = seconds_of(CLOCK_MONOTONIC);
        b->first = done;
    }
    b->done = done;
    b->all = all;
    b->failed = failed;
    job_bar_show(b);
}
