/* One policy's band: its numbers, the Gantt panel, utilisation, queue, and the time axis. */
#include <math.h>
#include <stdio.h>

#include "report/axis.h"
#include "report/plot_private.h"
#include "report/share_strips.h"

#define TITLE_HEIGHT   28.0
#define CAPTION_HEIGHT 20.0
#define AXIS_HEIGHT    22.0
#define GAP_HEIGHT     22.0
#define TIME_TICKS     12
#define SMOOTH_COLUMNS                                                                             \
    15 /* the utilisation line of a crowded picture is a mean over this many pixels */

/* The panels of shares are as many in each band. */
static double shares_height(const struct plot *plot)
{
    double most = 0;
    for (size_t p = 0; p < plot->report->npolicies; p++)
        most = fmax(most, share_strips_height(plot->report->schedules[p].sharing));
    return most;
}

double plot_band_height(const struct plot *plot)
{
    return TITLE_HEIGHT + 3 * CAPTION_HEIGHT + plot->gantt_height + 2 * PLOT_SMALL_HEIGHT +
           shares_height(plot) + AXIS_HEIGHT + GAP_HEIGHT;
}

static double column_x(const struct series *series, size_t column)
{
    return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * (double)column / (double)series->columns;
}

void plot_area(struct plot *plot, const struct series *series, struct plot_panel panel,
               const char *class, plot_value_f value, int64_t arg)
{
    double bottom = panel.top + panel.height;
    svg_path_begin(&plot->svg, class);
    svg_path_move(&plot->svg, PLOT_LEFT, bottom);
    for (size_t c = 0; c < series->columns; c++) {
        double part = fmin(value(series, c, arg), 1);
        double y = bottom - panel.height * part;
        /* Steps that round to the same height become one: only a change needs the way there. */
        if (llround(y * 10) != plot->svg.y) {
            svg_path_across(&plot->svg, column_x(series, c));
            svg_path_down(&plot->svg, y);
        }
    }
    svg_path_across(&plot->svg, PLOT_RIGHT);
    svg_path_down(&plot->svg, bottom);
    svg_path_close(&plot->svg);
    svg_path_end(&plot->svg);
}

/* Draw a panel's background, its horizontal lines at multiples of step up to top, and their labels with a
 * suffix.
 */
static void plot_panel_grid(struct plot *plot, struct plot_panel panel, int64_t top, int64_t step,
                            const char *suffix)
{
    char number[HUMAN_SIZE], label[2 * HUMAN_SIZE];
    for (int64_t v = 0; v <= top; v += step) {
        double y = panel.top + panel.height * (1 - (double)v / (double)top);
        if (v > 0)
            svg_line(&plot->svg, PLOT_LEFT, y, PLOT_RIGHT, y, "grid");
        snprintf(label, sizeof(label), "%s%s", human_count(v, number), suffix);
        svg_text(&plot->svg, PLOT_LEFT - 7, y + 3.8, "tick", "end", label);
        if (v > INT64_MAX - step)
            break;
    }
}

static void draw_ground(struct plot *plot, struct plot_panel panel)
{
    svg_rect(&plot->svg, PLOT_LEFT, panel.top, PLOT_RIGHT - PLOT_LEFT, panel.height, "ground");
}

/* Vertical lines, over the data so that an instant can be followed through the panels. */
static void draw_time_grid(struct plot *plot, struct plot_panel panel)
{
    int64_t span = plot->to - plot->from, step = axis_time_step(span, TIME_TICKS);
    for (int64_t t = step; t < span; t += step) {
        double x = plot_x(plot, plot->from + t);
        svg_line(&plot->svg, x, panel.top, x, panel.top + panel.height, "grid");
        if (t > INT64_MAX - step)
            break;
    }
    double bottom = panel.top + panel.height;
    svg_line(&plot->svg, PLOT_LEFT, bottom, PLOT_RIGHT, bottom, "base");
}

static void draw_time_labels(struct plot *plot, double y)
{
    char label[HUMAN_SIZE];
    int64_t span = plot->to - plot->from, step = axis_time_step(span, TIME_TICKS);
    for (int64_t t = 0; t <= span; t += step) {
        double x = plot_x(plot, plot->from + t);
        const char *anchor = x > PLOT_RIGHT - 12 ? "end" : "middle";
        svg_text(&plot->svg, x, y, "tick", anchor, axis_time_label(t, step, label));
        if (t > INT64_MAX - step)
            break;
    }
}

static double busy(const struct series *series, size_t column, int64_t arg)
{
    (void)arg;
    return series_busy(series, column);
}

static double smooth_busy(const struct series *series, size_t column)
{
    size_t half = SMOOTH_COLUMNS / 2;
    size_t a = column > half ? column - half : 0;
    size_t b = column + half + 1 < series->columns ? column + half + 1 : series->columns;
    double sum = 0;
    for (size_t c = a; c < b; c++)
        sum += series_busy(series, c);
    return sum / (double)(b - a);
}

static void draw_utilisation(struct plot *plot, size_t policy, struct plot_panel panel)
{
    const struct series *series = &plot->series[policy];
    double bottom = panel.top + panel.height;
    draw_ground(plot, panel);
    plot_area(plot, series, panel, "busy", busy, 0);
    plot_panel_grid(plot, panel, 100, 50, "%");
    draw_time_grid(plot, panel);
    if (plot->detail == PLOT_AREAS && series->columns > 4 * SMOOTH_COLUMNS) {
        svg_path_begin(&plot->svg, "trend");
        for (size_t c = 0; c < series->columns; c += 3) {
            double x = (column_x(series, c) + column_x(series, c + 1)) / 2;
            double y = bottom - panel.height * fmin(smooth_busy(series, c), 1);
            if (c == 0)
                svg_path_move(&plot->svg, x, y);
            else
                svg_path_line(&plot->svg, x, y);
        }
        svg_path_end(&plot->svg);
    }
    double mean = bottom - panel.height * fmin(plot->report->metrics[policy].utilisation, 1);
    svg_line(&plot->svg, PLOT_LEFT, mean, PLOT_RIGHT, mean, "mean");
}

static double waiting_part(const struct series *series, size_t column, int64_t top)
{
    return (double)series->waiting[column] / (double)top;
}

static void draw_queue(struct plot *plot, size_t policy, struct plot_panel panel)
{
    const struct series *series = &plot->series[policy];
    int64_t top = plot->queue_top ? plot->queue_top : series->max_waiting;
    if (top < 1)
        top = 1;
    draw_ground(plot, panel);
    plot_area(plot, series, panel, "queue", waiting_part, top);
    plot_panel_grid(plot, panel, top, axis_count_step(top, 2), "");
    draw_time_grid(plot, panel);
}

static void draw_title(struct plot *plot, size_t policy, double top)
{
    const struct metrics *m = &plot->report->metrics[policy];
    char wait[HUMAN_SIZE], bsld[HUMAN_SIZE], util[HUMAN_SIZE], span[HUMAN_SIZE], line[256];
    snprintf(line, sizeof(line),
             "mean wait %s   \u00b7   bounded slowdown %s   \u00b7   utilisation %s %%   \u00b7   "
             "makespan %s",
             human_duration((int64_t)(m->avg_wait + .5), wait), human_real(m->avg_bsld, 2, bsld),
             human_real(m->utilisation * 100, 1, util), human_duration(m->makespan, span));
    svg_line(&plot->svg, PLOT_LEFT, top, PLOT_RIGHT, top, "rule");
    svg_text(&plot->svg, PLOT_LEFT, top + 23, "policy", "start",
             plot->report->schedules[policy].policy);
    svg_text(&plot->svg, PLOT_RIGHT, top + 23, "num", "end", line);
}

static struct plot_panel next_panel(struct plot *plot, double *y, double height,
                                    const char *caption)
{
    svg_text(&plot->svg, PLOT_LEFT, *y + CAPTION_HEIGHT - 6, "cap", "start", caption);
    struct plot_panel panel = {*y + CAPTION_HEIGHT, height};
    *y = panel.top + height;
    return panel;
}

void plot_band(struct plot *plot, size_t policy, double top)
{
    char caption[128], number[HUMAN_SIZE];
    const struct series *series = &plot->series[policy];
    double y = top + TITLE_HEIGHT;
    draw_title(plot, policy, top);

    struct plot_panel panel =
        next_panel(plot, &y, plot->gantt_height,
                   plot->detail == PLOT_AREAS ? "processors in use" : "processors");
    int64_t procs = plot->report->procs;
    draw_ground(plot, panel);
    plot_gantt(plot, policy, panel);
    plot_panel_grid(plot, panel, procs, axis_machine_step(procs), "");
    draw_time_grid(plot, panel);

    panel = next_panel(plot, &y, PLOT_SMALL_HEIGHT, "utilisation");
    draw_utilisation(plot, policy, panel);

    snprintf(caption, sizeof(caption), "waiting jobs, at most %s%s",
             human_count(series->max_waiting, number),
             plot->queue_top ? "" : " (this policy's own scale)");
    panel = next_panel(plot, &y, PLOT_SMALL_HEIGHT, caption);
    draw_queue(plot, policy, panel);
    const struct share_strips strips = {.svg = &plot->svg,
                                        .left = PLOT_LEFT,
                                        .right = PLOT_RIGHT,
                                        .from = (double)plot->from,
                                        .to = (double)plot->to,
                                        .sharing = plot->report->schedules[policy].sharing};
    share_strips_draw(&strips, y);
    draw_time_labels(plot, y + shares_height(plot) + 15);
}
