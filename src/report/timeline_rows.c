/* Rows of a timeline: their names, and a box for what each job has of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/timeline_private.h"

#define NAME_LEFT   8.0
#define CHAR_WIDTH  6.4  /* of a row's or a job's name */
#define TEXT_HEIGHT 11.0 /* a lower row has no name */
#define VISIBLE     0.7  /* the smallest width and height of a box */

void timeline_cut(const char *text, size_t most, char out[TIMELINE_TEXT_SIZE])
{
    size_t bytes = 0, chars = 0, last = 0;
    for (; text[bytes]; bytes++) {
        if ((text[bytes] & 0xc0) == 0x80)
            continue;
        if (chars == most || bytes > TIMELINE_TEXT_SIZE - 8)
            break;
        last = bytes;
        chars++;
    }
    if (text[bytes])
        snprintf(out, TIMELINE_TEXT_SIZE, "%.*s%s", (int)last, text, most > 0 ? "\u2026" : "");
    else
        snprintf(out, TIMELINE_TEXT_SIZE, "%s", text);
}

static void fit(const char *text, double width, char out[TIMELINE_TEXT_SIZE])
{
    timeline_cut(text, width > CHAR_WIDTH ? (size_t)(width / CHAR_WIDTH) : 0, out);
}

static double row_y(const struct timeline_picture *p, size_t row)
{
    return TIMELINE_TOP + p->row_height * (double)row;
}

static void name_parts(struct timeline_picture *p, const struct machine_row_node *node)
{
    char name[48];
    for (int k = 0; k < MACHINE_PARTS; k++) {
        const struct machine_part *part = &node->part[k];
        for (size_t i = 0; i < part->n; i++) {
            snprintf(name, sizeof(name), "%s%lld", machine_parts[k], (long long)part->number[i]);
            svg_text(&p->svg, TIMELINE_LEFT - 5,
                     row_y(p, part->first + i) + p->row_height / 2 + 3.5, "tick", "end", name);
        }
    }
}

void timeline_row_names(struct timeline_picture *p)
{
    const struct machine_rows *m = &p->rows;
    bool all = p->row_height >= TEXT_HEIGHT;
    double free_from = 0;
    char name[TIMELINE_TEXT_SIZE];
    for (size_t i = 0; i < m->n; i++) {
        double top = row_y(p, m->v[i].first), height = p->row_height * (double)m->v[i].n;
        double middle = top + height / 2 + 3.5;
        if (i > 0)
            svg_line(&p->svg, NAME_LEFT, top, TIMELINE_RIGHT, top, "rule");
        if (all)
            name_parts(p, &m->v[i]);
        if (middle - TEXT_HEIGHT < free_from)
            continue;
        fit(intern_text(&m->names, (uint32_t)i), TIMELINE_LEFT - NAME_LEFT - (all ? 44 : 6), name);
        svg_text(&p->svg, NAME_LEFT, middle, "node", "start", name);
        free_from = middle;
    }
}

/* The name of a job in its largest box, if there is room for three characters. */
static void name_box(struct timeline_picture *p, const struct timeline_job *job,
                     const struct machine_span *span, double left, double right)
{
    char name[TIMELINE_TEXT_SIZE];
    double height = p->row_height * (double)span->n;
    if (height < TEXT_HEIGHT || right - left < 3 * CHAR_WIDTH + 4)
        return;
    fit(job->name, right - left - 4, name);
    svg_text(&p->svg, (left + right) / 2, row_y(p, span->first) + height / 2 + 3.5, "job", "middle",
             name);
}

/* All boxes of a job are one shape, so that they explain themselves together. */
static void draw_job(struct timeline_picture *p, const struct timeline_job *job,
                     const struct machine_span *spans, size_t n)
{
    char class[32];
    uint32_t key = 0;
    double left = timeline_x(p, job->from), right = timeline_x(p, job->to);
    const struct machine_span *largest = &spans[0];
    intern_find(&p->keys, job->key, strlen(job->key), &key);
    snprintf(class, sizeof(class), "k%d%s%s", p->color[key], job->promised ? " p" : " e",
             job->failed || job->stopped ? " f" : "");
    right = right < left + VISIBLE ? left + VISIBLE : right;
    svg_raw(&p->svg, "<g>");
    svg_title(&p->svg, job->about);
    svg_path_begin(&p->svg, class);
    for (size_t i = 0; i < n; i++) {
        double top = row_y(p, spans[i].first), height = p->row_height * (double)spans[i].n;
        svg_path_box(&p->svg, left, top, right, top + (height < VISIBLE ? VISIBLE : height));
        largest = spans[i].n > largest->n ? &spans[i] : largest;
    }
    svg_path_end(&p->svg);
    name_box(p, job, largest, left, right);
    svg_raw(&p->svg, "</g>\n");
}

int timeline_boxes(struct timeline_picture *p)
{
    for (size_t i = 0; i < p->t->n_jobs; i++) {
        struct machine_span *spans;
        int64_t n = machine_rows_find(&p->rows, p->t->jobs[i].resources, &spans);
        if (n < 0)
            return -1;
        if (n > 0)
            draw_job(p, &p->t->jobs[i], spans, (size_t)n);
        free(spans);
    }
    return 0;
}
