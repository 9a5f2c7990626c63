/* The axis of a timeline, which is the clock on the wall, and curves over it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/axis.h"
#include "report/timeline_private.h"

#define TICKS 8
#define DAY   86400

double timeline_x(const struct timeline_picture *p, double time)
{
    double part = (time - p->from) / (p->to - p->from);
    return TIMELINE_LEFT + part * (TIMELINE_RIGHT - TIMELINE_LEFT);
}

/* The last local midnight, the first of a month's days or not. */
static time_t midnight(double time)
{
    time_t at = (time_t)floor(time);
    struct tm day;
    if (!localtime_r(&at, &day))
        return at;
    day.tm_hour = day.tm_min = day.tm_sec = 0;
    day.tm_isdst = -1;
    return mktime(&day);
}

/* How long it has been since 0. */
static void draw_elapsed(struct timeline_picture *p, int64_t step, double top, double y)
{
    char text[HUMAN_SIZE];
    for (int64_t tick = (int64_t)ceil(p->from / (double)step) * step; (double)tick <= p->to;
         tick += step) {
        double x = timeline_x(p, (double)tick);
        svg_line(&p->svg, x, top, x, y, "grid");
        svg_text(&p->svg, x, y + 14, "tick", "middle", axis_time_label(tick, step, text));
    }
}

void timeline_clock(struct timeline_picture *p, double top, double y)
{
    int64_t step = axis_time_step((int64_t)ceil(p->to - p->from), TICKS);
    char text[32], day[32], before[32] = "";
    struct tm at;
    if (p->t->elapsed) {
        draw_elapsed(p, step, top, y);
        return;
    }
    /* Steps of months and years would need a calendar; days are close enough. */
    time_t start = midnight(p->from);
    double skipped = floor((p->from - (double)start) / (double)step);
    for (double tick = (double)start + skipped * (double)step; tick <= p->to;
         tick += (double)step) {
        time_t time = (time_t)tick;
        if (tick < p->from || !localtime_r(&time, &at))
            continue;
        double x = timeline_x(p, tick);
        svg_line(&p->svg, x, top, x, y, "grid");
        strftime(day, sizeof(day), "%Y-%m-%d", &at);
        strftime(text, sizeof(text), step < 60 ? "%H:%M:%S" : "%H:%M", &at);
        svg_text(&p->svg, x, y + 14, "tick", "middle", step >= DAY ? day : text);
        if (step < DAY && strcmp(day, before) != 0)
            svg_text(&p->svg, x, y + 27, "tick", "middle", day);
        memcpy(before, day, sizeof(before));
    }
}

static int compare_steps(const void *a, const void *b)
{
    const struct timeline_step *x = a, *y = b;
    /* What ends makes room for what begins at that time. */
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
                              : (x->by > y->by) - (x->by < y->by);
}

static void sort_steps(struct timeline_step *steps, size_t n)
{
    if (n > 0)
        qsort(steps, n, sizeof(*steps), compare_steps);
}

int64_t timeline_peak(struct timeline_step *steps, size_t n)
{
    int64_t value = 0, most = 0;
    sort_steps(steps, n);
    for (size_t i = 0; i < n; i++) {
        value += steps[i].by;
        most = value > most ? value : most;
    }
    return most;
}

void timeline_curve(struct timeline_picture *p, double y, double height,
                    struct timeline_step *steps, size_t n, int64_t top, const char *class)
{
    int64_t value = 0;
    sort_steps(steps, n);
    svg_path_begin(&p->svg, class);
    svg_path_move(&p->svg, TIMELINE_LEFT, y + height);
    for (size_t i = 0; i < n; i++) {
        double time = fmax(p->from, fmin(p->to, steps[i].time));
        value += steps[i].by;
        if (i + 1 < n && steps[i + 1].time == steps[i].time)
            continue;
        double part = top > 0 ? fmin(1, (double)value / (double)top) : 0;
        svg_path_across(&p->svg, timeline_x(p, time));
        svg_path_down(&p->svg, y + height * (1 - part));
    }
    svg_path_across(&p->svg, TIMELINE_RIGHT);
    svg_path_down(&p->svg, y + height);
    svg_path_close(&p->svg);
    svg_path_end(&p->svg);
}
