/* The report as a picture: what it measures, its header and legend; the bands are drawn by
 * plot_band.c. */
#include "report/plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "report/plot_private.h"

/* Shapes with tooltips cost about 150 bytes, those without 25. */
#define TOOLTIP_PIECES 3000
#define SHAPE_PIECES   12000

/* Queues whose peaks differ by more than this can't share a scale: the small one would be a flat
 * line. */
#define QUEUE_RATIO 4

#define TITLE_CHARS 56 /* that fit into the width */

static const char css[] =
    "text{font-family:-apple-system,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif;"
    "fill:#1f2a37}"
    ".title{font-size:19px;font-weight:600}"
    ".sub{font-size:12.5px;fill:#566270}"
    ".policy{font-size:16px;font-weight:600}"
    ".num{font-size:12.5px}"
    ".cap{font-size:11.5px;fill:#566270}"
    ".tick{font-size:11px;fill:#566270}"
    ".job{font-size:10px;fill:#1f2a37;pointer-events:none}"
    ".paper{fill:#fff}"
    ".ground{fill:#f4f6f8}"
    ".grid{stroke:#1f2a37;stroke-opacity:.1}"
    ".base{stroke:#8b96a3}"
    ".rule{stroke:#d5dbe1}"
    ".mean{stroke:#0b5c66;stroke-dasharray:4 3}"
    ".trend{fill:none;stroke:#0b5c66;stroke-width:1.2}"
    ".busy{fill:#8cc5c9}"
    ".queue{fill:#b9a5d6}"
    ".stop{fill:none;stroke:#b3261e;stroke-width:.8}"
    ".w0{fill:#8fbbe0}.w1{fill:#f6dd8b}.w2{fill:#f2ae5e}.w3{fill:#dd6a4d}.w4{fill:#96315c}"
    ".d4{fill:#fff}"
    ".edge .e{stroke:#fff;stroke-width:.6}"
    ".hair .e{stroke:#fff;stroke-width:.3}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ee}.sub,.cap,.tick{fill:#9fabb7}"
    ".paper{fill:#11171d}.ground{fill:#1b232b}.grid{stroke:#e4e9ee}.base{stroke:#67737f}"
    ".rule{stroke:#3a4651}.mean,.trend{stroke:#7fd3dc}.stop{stroke:#ff6b5e}"
    ".edge .e,.hair .e{stroke:#11171d}}";

double plot_x(const struct plot *plot, int64_t time)
{
    double part = (double)(time - plot->from) / (double)(plot->to - plot->from);
    return PLOT_LEFT + part * (PLOT_RIGHT - PLOT_LEFT);
}

static void draw_legend(struct plot *plot, double y)
{
    char label[2 * HUMAN_SIZE];
    double x = PLOT_LEFT;
    svg_text(&plot->svg, x, y, "sub", "start", "waited before start:");
    x += 146;
    for (int k = 0; k < WAITCLASS_COUNT; k++) {
        char class[] = {'w', (char)('0' + k), '\0'};
        svg_rect(&plot->svg, x, y - 10, 12, 12, class);
        waitclass_label(&plot->classes, k, label);
        svg_text(&plot->svg, x + 18, y, "sub", "start", label);
        x += 18 + 24 + 7.2 * (double)strlen(label);
    }
}

/* The name of the trace without its folders; a long one is cut and ends in an ellipsis. */
static void make_title(const char *trace, char title[4 * TITLE_CHARS + 4])
{
    const char *slash = strrchr(trace, '/');
    const char *name = slash && slash[1] ? slash + 1 : trace;
    size_t n = 0, chars = 0, last = 0; /* last: where the last character that still fits begins */
    for (; name[n]; n++) {
        if (((unsigned char)name[n] & 0xc0) == 0x80)
            continue;
        if (++chars == TITLE_CHARS)
            last = n;
        if (chars > TITLE_CHARS)
            break;
    }
    if (chars <= TITLE_CHARS)
        strcpy(title, name);
    else
        sprintf(title, "%.*s\u2026", (int)last, name);
}

static void draw_header(struct plot *plot, double height)
{
    const struct report *r = plot->report;
    char jobs[HUMAN_SIZE], procs[HUMAN_SIZE], tau[HUMAN_SIZE], line[512];
    char title[4 * TITLE_CHARS + 4];
    make_title(r->trace, title);
    svg_rect(&plot->svg, 0, 0, PLOT_WIDTH, height, "paper");
    svg_text(&plot->svg, PLOT_LEFT, 34, "title", "start", title);
    snprintf(line, sizeof(line),
             "%s job%s on %s processor%s  \u00b7  events %s  \u00b7  order %s  \u00b7  estimates %s"
             "  \u00b7  \u03c4 = %s s",
             human_count((int64_t)r->jobs, jobs), r->jobs == 1 ? "" : "s",
             human_count(r->procs, procs), r->procs == 1 ? "" : "s", r->events, r->order,
             r->estimates, human_count(r->tau, tau));
    svg_text(&plot->svg, PLOT_LEFT, 56, "sub", "start", line);
    draw_legend(plot, 80);
    svg_text(&plot->svg, PLOT_RIGHT, 80, "sub", "end", "time since the first submission");
}

/* The time axis reaches from the first submission to the last end under any policy. */
static int find_times(struct plot *plot, const struct outfile *out, berth_error_t *err)
{
    bool any = false;
    int64_t max_wait = 0;
    for (size_t p = 0; p < plot->report->npolicies; p++) {
        const struct schedule *s = &plot->report->schedules[p];
        for (size_t i = 0; i < s->n; i++) {
            if (s->start[i] == SCHEDULE_NEVER)
                continue;
            int64_t end = s->start[i] + s->jobs[i].run;
            if (!any || s->jobs[i].submit < plot->from)
                plot->from = s->jobs[i].submit;
            if (!any || end > plot->to)
                plot->to = end;
            if (s->start[i] - s->jobs[i].submit > max_wait)
                max_wait = s->start[i] - s->jobs[i].submit;
            any = true;
        }
    }
    if (!any)
        return errtext_set(err, EINVAL, "%s: nothing to draw, no job started", outfile_path(out));
    plot->classes = waitclass_choose(max_wait);
    return 0;
}

/* Draw jobs one by one only while they are few and, on the average, at least a pixel high. */
static int assign_rows(struct plot *plot, berth_error_t *err)
{
    size_t pieces = 0;
    double height = 0;
    berth_error_t why;
    plot->detail = PLOT_AREAS;
    for (size_t p = 0; p < plot->report->npolicies; p++) {
        const struct schedule *s = &plot->report->schedules[p];
        struct rows *rows = &plot->rows[p];
        if (rows_assign(s, SHAPE_PIECES - pieces, rows, &why) < 0) {
            if (errno == E2BIG)
                return 0;
            return errtext_set(err, errno, "%s", why.text);
        }
        pieces += rows->n;
        for (size_t i = 0; i < rows->n; i++)
            height += plot->gantt_height * (double)rows->pieces[i].count / (double)s->procs;
    }
    if (height < (double)pieces)
        return 0;
    plot->detail = pieces <= TOOLTIP_PIECES ? PLOT_TOOLTIPS : PLOT_SHAPES;
    return 0;
}

static int compute_series(struct plot *plot, berth_error_t *err)
{
    int64_t low = INT64_MAX, high = 1;
    for (size_t p = 0; p < plot->report->npolicies; p++) {
        struct series *series = &plot->series[p];
        if (series_compute(&plot->report->schedules[p], plot->from, plot->to, PLOT_COLUMNS,
                           &plot->classes, series, err) < 0)
            return -1;
        int64_t peak = series->max_waiting > 1 ? series->max_waiting : 1;
        low = peak < low ? peak : low;
        high = peak > high ? peak : high;
    }
    plot->queue_top = high / QUEUE_RATIO <= low ? high : 0;
    return 0;
}

static void draw_plot(struct plot *plot, struct outfile *out)
{
    size_t n = plot->report->npolicies;
    double band = plot_band_height(plot);
    double height = PLOT_HEADER_HEIGHT + band * (double)n;
    svg_begin(&plot->svg, out, PLOT_WIDTH, height, css);
    draw_header(plot, height);
    for (size_t p = 0; p < n; p++)
        plot_band(plot, p, PLOT_HEADER_HEIGHT + band * (double)p);
    svg_end(&plot->svg);
}

int plot_write(const struct report *report, struct outfile *out, berth_error_t *err)
{
    if (!out)
        return -1;
    size_t n = report->npolicies;
    struct plot plot = {.report = report};
    plot.gantt_height = n == 1 ? 280 : n == 2 ? 210 : 170;
    plot.rows = calloc(n + 1, sizeof(*plot.rows));
    plot.series = calloc(n + 1, sizeof(*plot.series));
    int rc = -1;
    if (!plot.rows || !plot.series)
        errtext_set(err, ENOMEM, "%s", strerror(ENOMEM));
    else if (find_times(&plot, out, err) == 0 && assign_rows(&plot, err) == 0 &&
             compute_series(&plot, err) == 0) {
        draw_plot(&plot, out);
        rc = outfile_close(out, true, err);
        out = NULL;
    }
    int saved = errno;
    outfile_close(out, false, NULL);
    for (size_t p = 0; p < n; p++) {
        if (plot.rows)
            rows_clear(&plot.rows[p]);
        if (plot.series)
            series_clear(&plot.series[p]);
    }
    free(plot.rows);
    free(plot.series);
    errno = saved;
    return rc;
}
