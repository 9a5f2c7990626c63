/* The report as a picture. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "berth/error.h"
#include "report/outfile.h"
#include "report/report.h"

/* Draw one band for each policy to out, as SVG, and close it: a Gantt chart, utilisation and queue
 * length, over a time axis that the bands share. Few jobs are drawn one by one with tooltips, many as
 * areas, so that the file stays well under 200 kB for each policy. If out is NULL, outfile_open has
 * failed, and so does this. Returns 0, or -1 with errno and a text, and no file; EINVAL: no job started.
 */
int plot_write(const struct report *report, struct outfile *out, berth_error_t *err);

#endif
