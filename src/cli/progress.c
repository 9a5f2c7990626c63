/* A progress bar on standard error, drawn at most ten times a second and erased at the end. */
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_MS 100
#define BAR_WIDTH   40

static int64_t progress_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_begin(struct progress *progress, const char *label)
{
    const char *term = getenv("TERM");
    progress->label = label;
    progress->wanted = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    progress->shown = false;
    progress->next_ms = progress->wanted ? progress_now_ms() + INTERVAL_MS : 0;
}

void progress_update(void *arg, size_t done, size_t n)
{
    struct progress *progress = arg;
    if (!progress->wanted || n == 0)
        return;
    int64_t now = progress_now_ms();
    if (now < progress->next_ms)
        return;
    double part = (double)(done < n ? done : n) / (double)n;
    int filled = (int)(part * BAR_WIDTH);
    char bar[BAR_WIDTH + 1];
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%-12s [%s] %3d %%", progress->label, bar, (int)(part * 100));
    progress->shown = true;
    progress->next_ms = now + INTERVAL_MS;
}

void progress_end(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
