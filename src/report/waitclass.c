/* Classes of waiting time: a window of four steps on a ladder of round durations. */
#include "report/waitclass.h"

#include <stdio.h>

static const int64_t ladder[] = {
    5,        30,        2 * 60,        10 * 60,        3600,
    8 * 3600, 24 * 3600, 7 * 24 * 3600, 30 * 24 * 3600, 365 * 24 * 3600};

#define STEPS ((int)(sizeof(ladder) / sizeof(ladder[0])))

struct waitclass waitclass_choose(int64_t max_wait)
{
    int top = 2;
    while (top + 1 < STEPS && ladder[top + 1] <= max_wait / 2)
        top++;
    return (struct waitclass){{1, ladder[top - 2], ladder[top - 1], ladder[top]}};
}

int waitclass_of(const struct waitclass *classes, int64_t wait)
{
    int class = 0;
    while (class < WAITCLASS_COUNT - 1 && wait >= classes->bound[class])
        class ++;
    return class;
}

char *waitclass_label(const struct waitclass *classes, int class, char buf[2 * HUMAN_SIZE])
{
    char low[HUMAN_SIZE], high[HUMAN_SIZE];
    const size_t size = 2 * HUMAN_SIZE;
    if (class > 0)
        human_duration(classes->bound[class - 1], low);
    if (class < WAITCLASS_COUNT - 1)
        human_duration(classes->bound[class], high);
    if (class == 0)
        snprintf(buf, size, "none");
    else if (class == 1)
        snprintf(buf, size, "under %.40s", high);
    else if (class < WAITCLASS_COUNT - 1)
        snprintf(buf, size, "%.40s to %.40s", low, high);
    else
        snprintf(buf, size, "%.40s and more", low);
    return buf;
}
