/* What counts must fulfil. */
#ifndef JOBSPEC_COUNT_H
#define JOBSPEC_COUNT_H

#include "berth/jobspec.h"

/* What a count by min, max, operator and operand should have and doesn't; NULL if it is right. */
const char *count_fault(const struct jobspec_count *count);

#endif
