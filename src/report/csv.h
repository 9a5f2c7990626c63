/* The schedule, a row a job. */
#ifndef REPORT_CSV_H
#define REPORT_CSV_H

#include "berth/error.h"
#include "report/schedule.h"

/* Write the columns job,submit,start,end,procs,run,req (req: the estimate used) to path, compressed
 * if that ends in .gz, in order of id; jobs of one id keep the order of the trace, jobs that never
 * started are left out. On failure no file is made. Returns 0, or -1 with errno and a text.
 */
int csv_write(const struct schedule *schedule, const char *path, berth_error_t *err);

#endif
