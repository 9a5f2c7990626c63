/* What is required of counts. */
#ifndef JOBSPEC_COUNT_H
#define JOBSPEC_COUNT_H

#include "berth/jobspec.h"

/* What is expected of a count with min, max, operator and operand, if the count is wrong; NULL if it is
 * right.
 */
const char *count_fault(const struct jobspec_count *count);

#endif
