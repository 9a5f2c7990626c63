/* How much of a type a jobspec asks for at least, in all. */
#ifndef JOBSPEC_TOTAL_H
#define JOBSPEC_TOTAL_H

#include <stdint.h>

#include "berth/jobspec.h"

#define JOBSPEC_MANY (INT64_C(1) << 40) /* above any real count: what is more is this */

/* With a label, only resources so labelled count. O(resources * depth). */
int64_t jobspec_total(const jobspec_t *spec, const char *type, const char *label);

/* A product of such counts. */
int64_t jobspec_product(int64_t a, int64_t b);

#endif
