/* A timeline as a picture: what it says in words, its colours, and where its panels stand. */
#include "report/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "report/human.h"
#include "report/share_strips.h"
#include "report/timeline_private.h"

#define ROWS_HEIGHT  560.0  /* of few rows */
#define ROWS_MOST    3000.0 /* of many */
#define ROW_MOST     24.0
#define NODE_LEAST   8.0
#define PANEL_HEIGHT 44.0
#define PANEL_GAP    28.0
#define CLOCK_HEIGHT 44.0
#define LEGEND_CHARS 16

static const char css[] =
    "text{font-family:-apple-system,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif;"
    "fill:#1f2a37}"
    ".title{font-size:19px;font-weight:600}"
    ".sub{font-size:12.5px;fill:#566270}"
    ".node{font-size:11.5px;font-weight:600}"
    ".cap{font-size:11.5px;fill:#566270}"
    ".tick{font-size:11px;fill:#566270}"
    "text.job{font-size:11px;fill:#14202b;pointer-events:none}"
    ".paper{fill:#fff}.ground{fill:#f1f4f6}"
    ".grid{stroke:#1f2a37;stroke-opacity:.1}.rule{stroke:#c3cbd3}"
    ".now{stroke:#c62828;stroke-dasharray:2 2}"
    ".busy{fill:#8cc5c9}.waiting{fill:#b9a5d6}"
    ".trend{fill:none;stroke:#0b5c66;stroke-width:1.2}"
    ".stop{fill:none;stroke:#b3261e;stroke-width:.8}"
    ".k0{fill:#7fb3de}.k1{fill:#f0b35f}.k2{fill:#7cc4a0}.k3{fill:#d99bc4}.k4{fill:#e3d262}"
    ".k5{fill:#a5a3e0}.k6{fill:#e58a74}.k7{fill:#8fd0d6}.k8{fill:#b9bec5}"
    ".e{stroke:#fff;stroke-width:.6}"
    ".p{fill-opacity:.22;stroke:#566270;stroke-dasharray:4 3}"
    ".f{stroke:#c62828;stroke-width:1.6}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ee}.sub,.cap,.tick{fill:#9fabb7}"
    ".paper{fill:#11171d}.ground{fill:#1b232b}.grid{stroke:#e4e9ee}.rule{stroke:#3a4651}"
    ".e{stroke:#11171d}.p+text.job{fill:#e4e9ee}.p{stroke:#9fabb7}.f,.stop{stroke:#ff6b5e}.trend{"
    "stroke:#7fd3dc}}";

void timeline_put_title(struct strbuf *title, const char *part)
{
    if (*part == '\0')
        return;
    strbuf_puts(title, " \302\267 ");
    strbuf_puts(title, part);
}

char *timeline_span(double seconds, char text[TIMELINE_SPAN_SIZE])
{
    if (seconds >= 59.95)
        return human_duration(llround(seconds), text);
    int decimals = seconds < 0.0995 ? 3 : seconds < 9.95 ? 2 : 1;
    snprintf(text, TIMELINE_SPAN_SIZE, "%.*f s", decimals, seconds < 0 ? 0 : seconds);
    return text;
}

/* ---- Colours: the keys with the most core time have one each ---- */

struct weight {
    uint32_t key;
    double time;
};

static int compare_weights(const void *a, const void *b)
{
    const struct weight *x = a, *y = b;
    return x->time != y->time ? (x->time < y->time) - (x->time > y->time)
                              : (x->key > y->key) - (x->key < y->key);
}

static int choose_colors(struct timeline_picture *p)
{
    const struct timeline *t = p->t;
    uint32_t key;
    struct weight *v = calloc(t->n_jobs, sizeof(*v));
    p->color = calloc(t->n_jobs, sizeof(*p->color));
    if (!v || !p->color) {
        free(v);
        return -1;
    }
    for (size_t i = 0; i < t->n_jobs; i++) {
        if (intern_put(&p->keys, t->jobs[i].key, strlen(t->jobs[i].key), &key) < 0) {
            free(v);
            return -1;
        }
        v[key].key = key;
        v[key].time += (t->jobs[i].to - t->jobs[i].from) * (double)t->jobs[i].cores;
    }
    qsort(v, p->keys.n, sizeof(*v), compare_weights);
    for (uint32_t i = 0; i < p->keys.n; i++)
        p->color[v[i].key] = i < TIMELINE_COLORS ? (int)i : TIMELINE_COLORS;
    free(v);
    return 0;
}

static void draw_legend(struct timeline_picture *p, double y)
{
    char class[] = "k0", name[TIMELINE_TEXT_SIZE];
    double x = TIMELINE_LEFT;
    for (int c = 0; c <= TIMELINE_COLORS; c++) {
        const char *text = NULL;
        for (uint32_t k = 0; k < p->keys.n && !text; k++)
            if (p->color[k] == c)
                text = c < TIMELINE_COLORS ? intern_text(&p->keys, k) : "others";
        if (!text)
            continue;
        class[1] = (char)('0' + c);
        svg_rect(&p->svg, x, y - 9, 11, 11, class);
        timeline_cut(text, LEGEND_CHARS, name);
        svg_text(&p->svg, x + 16, y, "cap", "start", name);
        x += 34 + 6.6 * (double)strlen(name);
    }
}

/* ---- Words ---- */

static void draw_header(struct timeline_picture *p, double height)
{
    const struct timeline *t = p->t;
    char text[256], mean[TIMELINE_SPAN_SIZE], most[TIMELINE_SPAN_SIZE], count[HUMAN_SIZE];
    double wait = 0, longest = 0, busy = 0, first = t->jobs[0].from, last = first;
    int64_t ran = 0;
    for (size_t i = 0; i < t->n_jobs; i++) {
        const struct timeline_job *job = &t->jobs[i];
        if (job->promised)
            continue;
        if (!job->stopped) {
            ran++;
            wait += job->from - job->submit;
            longest = fmax(longest, job->from - job->submit);
        }
        busy += (double)job->cores * (job->to - job->from);
        first = fmin(first, job->from);
        last = fmax(last, job->to);
    }
    svg_rect(&p->svg, 0, 0, TIMELINE_WIDTH, height, "paper");
    svg_text(&p->svg, 8, 28, "title", "start", t->title);
    double whole = (last - first) * (double)t->cores;
    snprintf(text, sizeof(text),
             "%s job%s ran \302\267 %.1f %% of the cores in use \302\267 waited %s on average, %s "
             "at most",
             human_count(ran, count), ran == 1 ? "" : "s", whole > 0 ? 100 * busy / whole : 0,
             timeline_span(ran > 0 ? wait / (double)ran : 0, mean), timeline_span(longest, most));
    svg_text(&p->svg, 8, 48, "sub", "start", text);
    snprintf(text, sizeof(text), "colour: %s", t->by);
    svg_text(&p->svg, 8, 74, "cap", "start", text);
    draw_legend(p, 74);
}

/* ---- Panels ---- */

static void panel_words(struct timeline_picture *p, double y, const char *what, int64_t top)
{
    char count[HUMAN_SIZE];
    svg_rect(&p->svg, TIMELINE_LEFT, y, TIMELINE_RIGHT - TIMELINE_LEFT, PANEL_HEIGHT, "ground");
    svg_text(&p->svg, 8, y + PANEL_HEIGHT / 2 + 3.5, "cap", "start", what);
    svg_text(&p->svg, TIMELINE_LEFT - 5, y + 9, "tick", "end", human_count(top, count));
    svg_text(&p->svg, TIMELINE_LEFT - 5, y + PANEL_HEIGHT, "tick", "end", "0");
}

static int draw_curves(struct timeline_picture *p, double y)
{
    const struct timeline *t = p->t;
    struct timeline_step *steps = calloc(2 * t->n_jobs, sizeof(*steps));
    size_t n = 0;
    if (!steps)
        return -1;
    for (size_t i = 0; i < t->n_jobs; i++) {
        const struct timeline_job *job = &t->jobs[i];
        if (job->promised)
            continue;
        steps[n++] = (struct timeline_step){job->from, job->cores};
        steps[n++] = (struct timeline_step){job->to, -job->cores};
    }
    panel_words(p, y, "cores in use", t->cores);
    timeline_curve(p, y, PANEL_HEIGHT, steps, n, t->cores, "busy");
    n = 0;
    for (size_t i = 0; i < t->n_jobs; i++) {
        double until =
            t->jobs[i].promised && t->now >= 0 ? fmin(t->now, t->jobs[i].from) : t->jobs[i].from;
        if (until <= t->jobs[i].waits)
            continue;
        steps[n++] = (struct timeline_step){t->jobs[i].waits, 1};
        steps[n++] = (struct timeline_step){until, -1};
    }
    y += PANEL_HEIGHT + PANEL_GAP / 2;
    int64_t most = timeline_peak(steps, n);
    panel_words(p, y, "jobs waiting", most);
    timeline_curve(p, y, PANEL_HEIGHT, steps, n, most, "waiting");
    free(steps);
    return 0;
}

static void find_times(struct timeline_picture *p)
{
    const struct timeline *t = p->t;
    p->from = t->jobs[0].from;
    p->to = t->jobs[0].to;
    for (size_t i = 0; i < t->n_jobs; i++) {
        p->from = fmin(p->from, t->jobs[i].from);
        p->to = fmax(p->to, t->jobs[i].to);
    }
    if (t->sharing) {
        p->from = fmin(p->from, (double)t->sharing->from);
        p->to = fmax(p->to, (double)t->sharing->until);
    }
    p->to = fmax(p->to, p->from + 1);
}

static double choose_height(const struct timeline_picture *p)
{
    double rows = (double)p->rows.rows, height = fmin(ROW_MOST, ROWS_HEIGHT / rows);
    return fmin(fmax(height, NODE_LEAST * (double)p->rows.n / rows),
                fmax(height, ROWS_MOST / rows));
}

static int draw_timeline(struct timeline_picture *p, struct outfile *out)
{
    double rows = p->row_height * (double)p->rows.rows, below = TIMELINE_TOP + rows;
    double panels = below + CLOCK_HEIGHT;
    double shares = panels + 2 * PANEL_HEIGHT + PANEL_GAP;
    double height = shares + share_strips_height(p->t->sharing);
    const struct share_strips strips = {.svg = &p->svg,
                                        .left = TIMELINE_LEFT,
                                        .right = TIMELINE_RIGHT,
                                        .from = p->from,
                                        .to = p->to,
                                        .sharing = p->t->sharing};
    svg_begin(&p->svg, out, TIMELINE_WIDTH, height, css);
    draw_header(p, height);
    svg_rect(&p->svg, TIMELINE_LEFT, TIMELINE_TOP, TIMELINE_RIGHT - TIMELINE_LEFT, rows, "ground");
    timeline_clock(p, TIMELINE_TOP, below);
    timeline_row_names(p);
    if (timeline_boxes(p) < 0 || draw_curves(p, panels) < 0)
        return -1;
    share_strips_draw(&strips, shares);
    if (p->t->now > p->from && p->t->now < p->to) {
        double x = timeline_x(p, p->t->now);
        svg_line(&p->svg, x, TIMELINE_TOP - 4, x, below, "now");
        svg_text(&p->svg, x, TIMELINE_TOP - 6, "tick", "middle", "now");
    }
    svg_end(&p->svg);
    return 0;
}

int timeline_write(const struct timeline *t, struct outfile *out, berth_error_t *err)
{
    struct timeline_picture p = {.t = t};
    const char **texts = calloc(t->n_jobs + 1, sizeof(*texts));
    int rc = -1;
    if (!out) {
        free(texts);
        return -1;
    }
    for (size_t i = 0; texts && i < t->n_jobs; i++)
        texts[i] = t->jobs[i].resources;
    if (t->n_jobs == 0)
        errtext_set(err, EINVAL, "nothing to draw: none of these jobs ran");
    else if (!texts || machine_rows_make(&p.rows, t->nodes, t->n_nodes, texts, t->n_jobs, err) < 0)
        errtext_set(err, ENOMEM, "%s", strerror(ENOMEM));
    else {
        find_times(&p);
        p.row_height = choose_height(&p);
        rc = choose_colors(&p) < 0 || draw_timeline(&p, out) < 0
                 ? errtext_set(err, ENOMEM, "%s", strerror(ENOMEM))
                 : 0;
    }
    int saved = errno;
    if (rc == 0) {
        rc = outfile_close(out, true, err);
        saved = errno;
    } else {
        outfile_close(out, false, NULL);
    }
    machine_rows_clear(&p.rows);
    intern_clear(&p.keys);
    free(p.color);
    free(texts);
    errno = saved;
    return rc;
}
