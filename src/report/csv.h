/* The schedule, a row a job. */
#ifndef REPORT_CSV_H
#define REPORT_CSV_H

#include "berth/error.h"
#include "report/outfile.h"
#include "report/schedule.h"

/* Write the columns job,submit,start,end,procs,run,req (req: the estimate that was used) to out and close
 * it. Rows are in order of id; jobs with the same id keep the order of the trace, and jobs that never
 * started are left out. If cores have names there is a last column alloc with the ids of a job's cores,
 * as ranges with a blank between them: "0-3 7". If out is NULL, outfile_open has failed, and so does
 * this. Returns 0, or -1 with errno and a text, and no file.
 */
int csv_write(const struct schedule *schedule, struct outfile *out, berth_error_t *err);

#endif
