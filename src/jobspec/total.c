#include "jobspec/total.h"

#include <string.h>

int64_t jobspec_product(int64_t a, int64_t b)
{
    return a > 0 && b > JOBSPEC_MANY / a ? JOBSPEC_MANY : a * b;
}

/* The least number of a resource in all. */
static int64_t count_of_one(const jobspec_t *spec, uint32_t i)
{
    int64_t n = 1;
    for (uint32_t at = i; at != JOBSPEC_NONE; at = spec->resources[at].parent)
        n = jobspec_product(n, spec->resources[at].count.min);
    return n;
}

int64_t jobspec_total(const jobspec_t *spec, const char *type, const char *label)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < spec->nresources && total < JOBSPEC_MANY; i++) {
        const struct jobspec_resource *r = &spec->resources[i];
        if (strcmp(r->type, type) == 0 && (!label || (r->label && strcmp(r->label, label) == 0)))
            total += count_of_one(spec, i);
    }
    return total < JOBSPEC_MANY ? total : JOBSPEC_MANY;
}
