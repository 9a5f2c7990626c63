/* The Gantt panel: which job had which processors when, coloured by how long it waited. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/plot_private.h"

#define LABEL_CHAR_WIDTH 6.2 /* of a job's id in its shape */
#define LABEL_HEIGHT     11.0
#define EDGE_HEIGHT      4.0 /* average height from which shapes get a clear edge, below a hair line */

#define EDGE_MIN 2.0 /* a shape thinner than this gets no edge, which would hide it */
#define VISIBLE  0.7 /* the smallest width and height of a shape */

struct shape {
    double left, right, top, bottom;
    bool thin;
};

static int wait_class_of(const struct plot *plot, const struct schedule *s, size_t job)
{
    return waitclass_of(&plot->classes, s->start[job] - s->jobs[job].submit);
}

static double row_y(const struct schedule *s, struct plot_panel panel, int64_t row)
{
    return panel.top + panel.height * (1 - (double)row / (double)s->procs);
}

static struct shape piece_shape(const struct plot *plot, const struct schedule *s,
                                struct plot_panel panel, const struct rows_piece *piece)
{
    struct shape shape = {
        .left = plot_x(plot, s->start[piece->job]),
        .right = plot_x(plot, s->start[piece->job] + s->jobs[piece->job].run),
        .top = row_y(s, panel, piece->first + piece->count),
        .bottom = row_y(s, panel, piece->first),
    };
    shape.thin = shape.right - shape.left < EDGE_MIN || shape.bottom - shape.top < EDGE_MIN;
    if (shape.right < shape.left + VISIBLE)
        shape.right = shape.left + VISIBLE;
    if (shape.bottom < shape.top + VISIBLE)
        shape.bottom = shape.top + VISIBLE;
    return shape;
}

static const char *edge_class(const struct rows *rows, const struct schedule *s,
                              struct plot_panel panel)
{
    double sum = 0;
    for (size_t i = 0; i < rows->n; i++)
        sum += panel.height * (double)rows->pieces[i].count / (double)s->procs;
    return sum >= EDGE_HEIGHT * (double)rows->n ? "edge" : "hair";
}

static void tooltip(struct plot *plot, const struct schedule *s, size_t i)
{
    char text[256], procs[HUMAN_SIZE], wait[HUMAN_SIZE], run[HUMAN_SIZE];
    const struct schedule_job *job = &s->jobs[i];
    snprintf(text, sizeof(text), "job %" PRId64 ": %s processor%s, waited %s, ran %s", job->id,
             human_count(job->procs, procs), job->procs == 1 ? "" : "s",
             human_duration(s->start[i] - job->submit, wait), human_duration(job->run, run));
    svg_title(&plot->svg, text);
}

/* The id in the middle of the piece, if it fits. */
static void label(struct plot *plot, const struct schedule *s, struct plot_panel panel,
                  const struct rows_piece *piece)
{
    char id[HUMAN_SIZE];
    snprintf(id, sizeof(id), "%" PRId64, s->jobs[piece->job].id);
    struct shape at = piece_shape(plot, s, panel, piece);
    if (at.right - at.left < LABEL_CHAR_WIDTH * (double)strlen(id) + 4 ||
        at.bottom - at.top < LABEL_HEIGHT)
        return;
    /* The darkest class needs light letters. */
    const char *class =
        wait_class_of(plot, s, piece->job) == WAITCLASS_COUNT - 1 ? "job d4" : "job";
    svg_text(&plot->svg, (at.left + at.right) / 2, (at.top + at.bottom) / 2 + 3.5, class, "middle",
             id);
}

static void begin_shapes(struct plot *plot, int class, bool thin)
{
    char name[] = {'w', (char)('0' + class), ' ', 'e', '\0'};
    if (thin)
        name[2] = '\0';
    svg_path_begin(&plot->svg, name);
}

static void box(struct plot *plot, const struct shape *shape)
{
    svg_path_box(&plot->svg, shape->left, shape->top, shape->right, shape->bottom);
}

/* All pieces of a job are one path, so that they explain themselves together. */
static void draw_tooltips(struct plot *plot, const struct schedule *s, const struct rows *rows,
                          struct plot_panel panel)
{
    for (size_t i = 0, next; i < rows->n; i = next) {
        const struct rows_piece *largest = &rows->pieces[i];
        for (next = i; next < rows->n && rows->pieces[next].job == rows->pieces[i].job; next++)
            if (rows->pieces[next].count > largest->count)
                largest = &rows->pieces[next];
        svg_raw(&plot->svg, "<g>");
        tooltip(plot, s, largest->job);
        begin_shapes(plot, wait_class_of(plot, s, largest->job),
                     piece_shape(plot, s, panel, largest).thin);
        for (size_t k = i; k < next; k++) {
            struct shape shape = piece_shape(plot, s, panel, &rows->pieces[k]);
            box(plot, &shape);
        }
        svg_path_end(&plot->svg);
        label(plot, s, panel, largest);
        svg_raw(&plot->svg, "</g>\n");
    }
}

static void draw_shapes(struct plot *plot, const struct schedule *s, const struct rows *rows,
                        struct plot_panel panel)
{
    for (int half = 0; half < 2 * WAITCLASS_COUNT; half++) {
        int class = half / 2;
        bool thin = half % 2 == 1;
        begin_shapes(plot, class, thin);
        for (size_t i = 0; i < rows->n; i++) {
            struct shape shape = piece_shape(plot, s, panel, &rows->pieces[i]);
            if (shape.thin == thin && wait_class_of(plot, s, rows->pieces[i].job) == class)
                box(plot, &shape);
        }
        svg_path_end(&plot->svg);
    }
}

/* Busy processors of the classes up to arg, stacked. */
static double stack(const struct series *series, size_t column, int64_t arg)
{
    double sum = 0;
    for (int64_t k = 0; k <= arg; k++)
        sum += series->busy[column * WAITCLASS_COUNT + (size_t)k];
    return sum;
}

void plot_gantt(struct plot *plot, size_t policy, struct plot_panel panel)
{
    const struct schedule *s = &plot->report->schedules[policy];
    const struct rows *rows = &plot->rows[policy];
    if (plot->detail == PLOT_AREAS) {
        /* From the highest stack down, each covering the lower part of the one before. */
        for (int k = WAITCLASS_COUNT - 1; k >= 0; k--) {
            char class[] = {'w', (char)('0' + k), '\0'};
            plot_area(plot, &plot->series[policy], panel, class, stack, k);
        }
        return;
    }
    svg_raw(&plot->svg, "<g class=\"");
    svg_raw(&plot->svg, edge_class(rows, s, panel));
    svg_raw(&plot->svg, "\">\n");
    if (plot->detail == PLOT_TOOLTIPS)
        draw_tooltips(plot, s, rows, panel);
    else
        draw_shapes(plot, s, rows, panel);
    svg_raw(&plot->svg, "</g>\n");
}
