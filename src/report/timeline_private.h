/* What the parts of a timeline share: its scales, its colours and what the rows look like. */
#ifndef REPORT_TIMELINE_PRIVATE_H
#define REPORT_TIMELINE_PRIVATE_H

#include "base/intern.h"
#include "report/machine_rows.h"
#include "report/svg.h"
#include "report/timeline.h"

#define TIMELINE_WIDTH  1000.0
#define TIMELINE_LEFT   112.0 /* where the panels begin */
#define TIMELINE_RIGHT  984.0
#define TIMELINE_TOP    92.0 /* of the rows */
#define TIMELINE_COLORS 8    /* further keys share one more */

struct timeline_picture {
    struct svg svg;
    const struct timeline *t;
    struct machine_rows rows;
    double row_height;
    double from, to;
    struct intern keys; /* what colours stand for */
    int *color;         /* of each key: 0 to TIMELINE_COLORS */
};

double timeline_x(const struct timeline_picture *p, double time);

struct timeline_step {
    double time;
    int64_t by;
};

/* The most that steps add up to, which are sorted. */
int64_t timeline_peak(struct timeline_step *steps, size_t n);

/* A number over time as a filled curve, up to `top`. The steps are sorted. */
void timeline_curve(struct timeline_picture *p, double y, double height,
                    struct timeline_step *steps, size_t n, int64_t top, const char *class);

/* The clock below `y`, with lines up to `top`. */
void timeline_clock(struct timeline_picture *p, double top, double y);

#define TIMELINE_TEXT_SIZE 128

/* A text of at most so many characters (UTF-8): a longer one, or one that has no room in `out`, is cut and ends in an
 * ellipsis.
 */
void timeline_cut(const char *text, size_t most, char out[TIMELINE_TEXT_SIZE]);

/* The names of rows, and the boxes of jobs. 0, or -1 with ENOMEM. */
void timeline_row_names(struct timeline_picture *p);
int timeline_boxes(struct timeline_picture *p);

#endif
