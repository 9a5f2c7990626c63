/* Panels of shares below other panels of a picture: for each of some nodes of the tree, what it deserved over time and
 * what it had, and when jobs were stopped for others. A line is what a node deserved, an area what it had, an upright
 * line a job that was stopped for another. The style sheet has the classes ground, grid, tick, cap, busy, trend and stop.
 */
#ifndef REPORT_SHARE_STRIPS_H
#define REPORT_SHARE_STRIPS_H

#include "report/sharing.h"
#include "report/svg.h"

/* What the panels have in common with those above them. */
struct share_strips {
    struct svg *svg;
    double left,
        right; /* pixels: where panels begin and end; the labels of the axes stand left of it */
    double from, to;               /* the times at these, in the seconds of `sharing`; from < to */
    const struct sharing *sharing; /* NULL: none */
};

/* The height that they take: up to eight panels, 0 without shares. O(nodes). */
double share_strips_height(const struct sharing *sharing);

/* Draw them from `top` on. O(nodes + columns). */
void share_strips_draw(const struct share_strips *strips, double top);

#endif
