/* The panels of shares: for each of some nodes of the tree, what it deserved over time and what it had; and when
 * jobs were stopped for others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/plot_private.h"
#include "report/sharing.h"

enum { STRIPS_MAX = 8, NAME_BYTES = 80 };

#define STRIP_HEIGHT  34.0
#define STRIP_CAPTION 16.0
#define STRIP_GAP     4.0

/* The level of the tree that is shown: the first one with more than one node; else the last one. */
static uint32_t level_of(const struct sharing *s)
{
    size_t n[64] = {0};
    uint32_t last = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t depth = s->nodes[i].depth < 63 ? s->nodes[i].depth : 63;
        n[depth]++;
        last = depth > last ? depth : last;
    }
    for (uint32_t depth = 0; depth < last; depth++)
        if (n[depth] > 1)
            return depth;
    return last;
}

/* The nodes of that level that have had most, in the order of the tree. Returns their number; *others: of those
 * that are left out.
 */
static size_t choose(const struct sharing *s, const struct sharing_node **chosen, size_t *others)
{
    uint32_t level = level_of(s);
    size_t n = 0;
    *others = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->nodes[i].depth != level)
            continue;
        chosen[n++] = &s->nodes[i];
        if (n <= STRIPS_MAX)
            continue;
        size_t least = 0;
        for (size_t k = 1; k < n; k++)
            if (chosen[k]->had < chosen[least]->had)
                least = k;
        for (size_t k = least; k + 1 < n; k++)
            chosen[k] = chosen[k + 1];
        n--;
        (*others)++;
    }
    return n;
}

static size_t strips_of(const struct plot *plot, size_t policy, const struct sharing_node **chosen,
                        size_t *others)
{
    const struct sharing *s = plot->report->schedules[policy].sharing;
    return s ? choose(s, chosen, others) : 0;
}

double plot_shares_height(const struct plot *plot)
{
    const struct sharing_node *chosen[STRIPS_MAX + 1];
    size_t most = 0, others;
    for (size_t p = 0; p < plot->report->npolicies; p++) {
        size_t n = strips_of(plot, p, chosen, &others);
        most = n > most ? n : most;
    }
    return (double)most * (STRIP_CAPTION + STRIP_HEIGHT + STRIP_GAP);
}

/* The largest part of the machine that any of them deserved or had during a column. */
static double top_of(const struct sharing *s, const struct sharing_node *const *chosen, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < s->columns; c++) {
            most = fmax(most, chosen[i]->had_in[c] / (double)s->width);
            most = fmax(most, chosen[i]->deserved_in[c] / (double)s->width);
        }
    return fmin(ceil(fmax(most, .1) * 10 - 1e-9) / 10, 1);
}

static int64_t column_begins(const struct plot *plot, const struct sharing *s, size_t column)
{
    int64_t at = s->from + (int64_t)column * s->width;
    return at < plot->from ? plot->from : at > plot->to ? plot->to : at;
}

struct strip {
    struct plot_panel panel;
    double top;
};

static double y_of(const struct strip *strip, double sum, int64_t width)
{
    double part = fmin(sum / (double)width / strip->top, 1);
    return strip->panel.top + strip->panel.height * (1 - part);
}

/* Steps over all columns; an area is closed at the bottom. */
static void draw_steps(struct plot *plot, const struct sharing *s, const struct strip *strip,
                       const double *in, const char *class, bool area)
{
    double bottom = strip->panel.top + strip->panel.height;
    svg_path_begin(&plot->svg, class);
    svg_path_move(&plot->svg, PLOT_LEFT, area ? bottom : y_of(strip, in[0], s->width));
    for (size_t c = 0; c < s->columns; c++) {
        double y = y_of(strip, in[c], s->width);
        if (llround(y * 10) == plot->svg.y)
            continue;
        svg_path_across(&plot->svg, plot_x(plot, column_begins(plot, s, c)));
        svg_path_down(&plot->svg, y);
    }
    svg_path_across(&plot->svg, plot_x(plot, column_begins(plot, s, s->columns)));
    if (area) {
        svg_path_down(&plot->svg, bottom);
        svg_path_close(&plot->svg);
    }
    svg_path_end(&plot->svg);
}

static void draw_stops(struct plot *plot, const struct sharing *s, struct plot_panel panel)
{
    svg_path_begin(&plot->svg, "stop");
    for (size_t c = 0; c < s->columns; c++) {
        if (s->stops[c] == 0)
            continue;
        double x = plot_x(plot, column_begins(plot, s, c));
        svg_path_move(&plot->svg, x, panel.top);
        svg_path_down(&plot->svg, panel.top + panel.height);
    }
    svg_path_end(&plot->svg);
}

/* How many bytes of a name are shown: whole characters. */
static int shown(const char *name)
{
    size_t n = strlen(name);
    if (n <= NAME_BYTES)
        return (int)n;
    for (n = NAME_BYTES; ((unsigned char)name[n] & 0xc0) == 0x80;)
        n--;
    return (int)n;
}

static void draw_strip(struct plot *plot, const struct sharing *s, const struct sharing_node *node,
                       struct strip strip, const char *more)
{
    char *name = report_clean_text(node->name);
    char deserved[HUMAN_SIZE], had[HUMAN_SIZE], caption[NAME_BYTES + 160];
    double span = (double)(s->until - s->from);
    snprintf(caption, sizeof(caption), "%s %.*s: deserved %s %%, had %s %% of the machine%s",
             node->kind, name ? shown(name) : 0, name ? name : "",
             human_real(span > 0 ? node->deserved / span * 100 : 0, 1, deserved),
             human_real(span > 0 ? node->had / span * 100 : 0, 1, had), more);
    free(name);
    svg_text(&plot->svg, PLOT_LEFT, strip.panel.top - 5, "cap", "start", caption);
    svg_rect(&plot->svg, PLOT_LEFT, strip.panel.top, PLOT_RIGHT - PLOT_LEFT, strip.panel.height,
             "ground");
    draw_steps(plot, s, &strip, node->had_in, "busy", true);
    draw_steps(plot, s, &strip, node->deserved_in, "trend", false);
    draw_stops(plot, s, strip.panel);
    int64_t percent = (int64_t)(strip.top * 100 + .5);
    plot_panel_grid(plot, strip.panel, percent, percent, "%");
}

void plot_shares(struct plot *plot, size_t policy, double top)
{
    const struct sharing *s = plot->report->schedules[policy].sharing;
    const struct sharing_node *chosen[STRIPS_MAX + 1];
    char more[96] = "", number[HUMAN_SIZE];
    size_t others, n = strips_of(plot, policy, chosen, &others);
    if (n == 0)
        return;
    if (others > 0)
        snprintf(more, sizeof(more), " (%s others had less and are not shown)",
                 human_count((int64_t)others, number));
    struct strip strip = {.top = top_of(s, chosen, n)};
    for (size_t i = 0; i < n; i++) {
        strip.panel = (struct plot_panel){top + STRIP_CAPTION, STRIP_HEIGHT};
        draw_strip(plot, s, chosen[i], strip, i == 0 ? more : "");
        if (i == (others > 0 ? 1 : 0)) /* where its line has room */
            svg_text(&plot->svg, PLOT_RIGHT, strip.panel.top - 5, "cap", "end",
                     "line: deserved · area: had · red: jobs were stopped for others");
        top = strip.panel.top + STRIP_HEIGHT + STRIP_GAP;
    }
}
