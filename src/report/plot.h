/* The report as a picture. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "berth/error.h"
#include "report/report.h"

/* Draw one band a policy to path, as SVG: a Gantt chart, utilisation and queue length over a time
 * axis that the bands share. Few jobs are drawn one by one with tooltips, many as areas, so that
 * the file stays well under 200 kB a policy. On failure no file is made. Returns 0, or -1 with
 * errno and a text: EINVAL where no job started.
 */
int plot_write(const struct report *report, const char *path, berth_error_t *err);

#endif
