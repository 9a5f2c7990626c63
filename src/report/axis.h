/* Round steps for the ticks of an axis. */
#ifndef REPORT_AXIS_H
#define REPORT_AXIS_H

#include <stdint.h>

#include "report/human.h"

/* The smallest round step, in seconds, that divides span into at most max_ticks parts: 15
 * min, 6 h, 30 d, ...
 */
int64_t axis_time_step(int64_t span, int max_ticks);

/* The label of a time that is a multiple of step: "45m", "18h", "1d 6h", "240d" */
char *axis_time_label(int64_t time, int64_t step, char buf[HUMAN_SIZE]);

/* The smallest of 1, 2, 5, 10, 20, 50, ... that divides span into at most max_ticks parts */
int64_t axis_count_step(int64_t span, int max_ticks);

/* The step for a machine's processors: a quarter of them if their number is a power of two, else as above. */
int64_t axis_machine_step(int64_t procs);

#endif
