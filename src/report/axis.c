/* Round steps for the ticks of an axis. */
#include "report/axis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define MINUTE ((int64_t)60)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define YEAR   (365 * DAY)

static const int64_t steps[] = {
    1,          2,          5,           10,          15,          30,      MINUTE,
    2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR,    2 * HOUR,
    3 * HOUR,   6 * HOUR,   12 * HOUR,   DAY,         2 * DAY,     5 * DAY, 10 * DAY,
    15 * DAY,   30 * DAY,   60 * DAY,    90 * DAY,    180 * DAY};

int64_t axis_count_step(int64_t span, int max_ticks)
{
    int64_t step = 1;
    for (int i = 1; span / step > max_ticks; i++) {
        if (step > INT64_MAX / 5)
            return INT64_MAX;
        step = i % 3 == 2 ? step / 2 * 5 : step * 2;
    }
    return step;
}

int64_t axis_machine_step(int64_t procs)
{
    bool power_of_two = (procs & (procs - 1)) == 0;
    return power_of_two && procs >= 4 ? procs / 4 : axis_count_step(procs, 5);
}

int64_t axis_time_step(int64_t span, int max_ticks)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (span / steps[i] <= max_ticks)
            return steps[i];
    int64_t years = axis_count_step(span / YEAR, max_ticks);
    return years > INT64_MAX / YEAR ? INT64_MAX : years * YEAR;
}

char *axis_time_label(int64_t time, int64_t step, char buf[HUMAN_SIZE])
{
    if (time == 0)
        snprintf(buf, HUMAN_SIZE, "0");
    else if (step >= DAY && step % YEAR != 0)
        snprintf(buf, HUMAN_SIZE, "%lldd", (long long)(time / DAY));
    else
        human_duration(time, buf);
    return buf;
}
