#include "report/share_strips.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/human.h"
#include "report/report.h"

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
static size_t choose_nodes(const struct sharing *s, const struct sharing_node **chosen,
                           size_t *others)
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

double share_strips_height(const struct sharing *sharing)
{
    const struct sharing_node *chosen[STRIPS_MAX + 1];
    size_t others, n = sharing ? choose_nodes(sharing, chosen, &others) : 0;
    return (double)n * (STRIP_CAPTION + STRIP_HEIGHT + STRIP_GAP);
}

/* When a column begins, and how long it lasts: the last one, until the last note. */
static int64_t column_begins(const struct sharing *s, size_t column)
{
    int64_t at = s->from + (int64_t)column * s->width;
    return at < s->until ? at : s->until;
}

static double column_lasts(const struct sharing *s, size_t column)
{
    int64_t lasts = column_begins(s, column + 1) - column_begins(s, column);
    return lasts > 0 ? (double)lasts : 1;
}

/* The largest part of the machine that any of them deserved or had during a column. */
static double top_of(const struct sharing *s, const struct sharing_node *const *chosen, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < s->columns; c++) {
            most = fmax(most, chosen[i]->had_in[c] / column_lasts(s, c));
            most = fmax(most, chosen[i]->deserved_in[c] / column_lasts(s, c));
        }
    return fmin(ceil(fmax(most, .1) * 10 - 1e-9) / 10, 1);
}

struct strip {
    double y;   /* pixels: of its upper edge */
    double top; /* the part of the machine that this stands for */
};

static double x_of(const struct share_strips *strips, size_t column)
{
    double time = (double)column_begins(strips->sharing, column);
    double part = (time - strips->from) / (strips->to - strips->from);
    return strips->left + fmin(fmax(part, 0), 1) * (strips->right - strips->left);
}

static double y_of(const struct strip *strip, double part)
{
    return strip->y + STRIP_HEIGHT * (1 - fmin(part / strip->top, 1));
}

/* Steps over all columns; an area is closed at the bottom. */
static void draw_steps(const struct share_strips *strips, const struct strip *strip,
                       const double *in, const char *class, bool area)
{
    const struct sharing *s = strips->sharing;
    struct svg *svg = strips->svg;
    double bottom = strip->y + STRIP_HEIGHT;
    svg_path_begin(svg, class);
    svg_path_move(svg, x_of(strips, 0), area ? bottom : y_of(strip, in[0] / column_lasts(s, 0)));
    for (size_t c = 0; c < s->columns && column_begins(s, c) < s->until; c++) {
        double y = y_of(strip, in[c] / column_lasts(s, c));
        if (llround(y * 10) == svg->y)
            continue;
        svg_path_across(svg, x_of(strips, c));
        svg_path_down(svg, y);
    }
    svg_path_across(svg, x_of(strips, s->columns));
    if (area) {
        svg_path_down(svg, bottom);
        svg_path_close(svg);
    }
    svg_path_end(svg);
}

static void draw_stops(const struct share_strips *strips, const struct strip *strip)
{
    const struct sharing *s = strips->sharing;
    svg_path_begin(strips->svg, "stop");
    for (size_t c = 0; c < s->columns; c++) {
        if (s->stops[c] == 0)
            continue;
        svg_path_move(strips->svg, x_of(strips, c), strip->y);
        svg_path_down(strips->svg, strip->y + STRIP_HEIGHT);
    }
    svg_path_end(strips->svg);
}

static void draw_scale(const struct share_strips *strips, const struct strip *strip)
{
    char label[16];
    svg_line(strips->svg, strips->left, strip->y, strips->right, strip->y, "grid");
    snprintf(label, sizeof(label), "%d%%", (int)(strip->top * 100 + .5));
    svg_text(strips->svg, strips->left - 7, strip->y + 3.8, "tick", "end", label);
    svg_text(strips->svg, strips->left - 7, strip->y + STRIP_HEIGHT + 3.8, "tick", "end", "0%");
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

static void draw_strip(const struct share_strips *strips, const struct sharing_node *node,
                       const struct strip *strip, const char *more)
{
    const struct sharing *s = strips->sharing;
    char *name = report_clean_text(node->name);
    char deserved[HUMAN_SIZE], had[HUMAN_SIZE], caption[NAME_BYTES + 160];
    double span = (double)(s->until - s->from);
    snprintf(caption, sizeof(caption), "%s %.*s: deserved %s %%, had %s %% of the machine%s",
             node->kind, name ? shown(name) : 0, name ? name : "",
             human_real(span > 0 ? node->deserved / span * 100 : 0, 1, deserved),
             human_real(span > 0 ? node->had / span * 100 : 0, 1, had), more);
    free(name);
    svg_text(strips->svg, strips->left, strip->y - 5, "cap", "start", caption);
    svg_rect(strips->svg, strips->left, strip->y, strips->right - strips->left, STRIP_HEIGHT,
             "ground");
    draw_steps(strips, strip, node->had_in, "busy", true);
    draw_steps(strips, strip, node->deserved_in, "trend", false);
    draw_stops(strips, strip);
    draw_scale(strips, strip);
}

void share_strips_draw(const struct share_strips *strips, double top)
{
    const struct sharing *s = strips->sharing;
    const struct sharing_node *chosen[STRIPS_MAX + 1];
    char more[96] = "", number[HUMAN_SIZE];
    size_t others, n = s ? choose_nodes(s, chosen, &others) : 0;
    if (n == 0)
        return;
    if (others > 0)
        snprintf(more, sizeof(more), " (%s others had less and are not shown)",
                 human_count((int64_t)others, number));
    struct strip strip = {top + STRIP_CAPTION, top_of(s, chosen, n)};
    for (size_t i = 0; i < n; i++) {
        draw_strip(strips, chosen[i], &strip, i == 0 ? more : "");
        if (i == (others > 0 ? 1 : 0)) /* where its line has room */
            svg_text(strips->svg, strips->right, strip.y - 5, "cap", "end",
                     "line: deserved · area: had, largest part of any resource · red: jobs were "
                     "stopped");
        strip.y += STRIP_CAPTION + STRIP_HEIGHT + STRIP_GAP;
    }
}
