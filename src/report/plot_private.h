/* What the parts of a picture share: its dimensions, its scales, and how much detail it shows. */
#ifndef REPORT_PLOT_PRIVATE_H
#define REPORT_PLOT_PRIVATE_H

#include <stdbool.h>

#include "report/report.h"
#include "report/rows.h"
#include "report/series.h"
#include "report/svg.h"
#include "report/waitclass.h"

#define PLOT_WIDTH   1000.0
#define PLOT_LEFT    66.0 /* where the panels begin; the labels of the axes stand left of it */
#define PLOT_RIGHT   984.0
#define PLOT_COLUMNS 918 /* one a pixel */

#define PLOT_HEADER_HEIGHT 96.0
#define PLOT_SMALL_HEIGHT  48.0 /* of the utilisation and the queue panel */

enum plot_detail {
    PLOT_TOOLTIPS, /* every job a shape with a title, and its id where there is room */
    PLOT_SHAPES,   /* every job visible, all jobs of a class in one shape */
    PLOT_AREAS     /* processors busy, summed by class */
};

struct plot {
    struct svg svg;
    const struct report *report;
    enum plot_detail detail;
    struct waitclass classes;
    int64_t from, to; /* the time axis, in seconds */
    double gantt_height;
    int64_t queue_top;     /* scale of the queue panels; 0: each band has its own */
    struct rows *rows;     /* one a policy, unless detail is PLOT_AREAS */
    struct series *series; /* one a policy */
};

/* The position of a panel. */
struct plot_panel {
    double top, height;
};

double plot_x(const struct plot *plot, int64_t time);

/* Height of one policy's band, its axis and the gap below it. */
double plot_band_height(const struct plot *plot);

void plot_band(struct plot *plot, size_t policy, double top);

/* The Gantt panel: shapes if the detail says so, else areas. */
void plot_gantt(struct plot *plot, size_t policy, struct plot_panel panel);

/* An area from 0 to value(arg, column), in parts of the panel's height, over all columns. */
typedef double (*plot_value_f)(const struct series *series, size_t column, int64_t arg);
void plot_area(struct plot *plot, const struct series *series, struct plot_panel panel,
               const char *class, plot_value_f value, int64_t arg);

#endif
