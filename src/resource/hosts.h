/* What a job has, by host, as a reader of R would learn it, but without the text (berth/resource.h). */
#ifndef RESOURCE_HOSTS_H
#define RESOURCE_HOSTS_H

#include "base/strbuf.h"
#include "berth/resource.h"
#include "resource/emission.h"

/* Hosts in the order of their ranks, and what they point to. All zeroes is none; memory is kept for the next
 * ones.
 */
struct hosts {
    struct resource_host *v;
    size_t n, capacity;
    struct resource_range *range; /* of all hosts with the same cores and GPUs once */
    size_t range_capacity;
    struct strbuf names;
};

/* Gather the hosts of an emission on which there is a core or a GPU. Returns 0, or -1: ENOMEM, or EINVAL
 * where R can't be written either, as a rank is negative; then there are none.
 */
int hosts_gather(struct hosts *hosts, const struct emission *e, const struct graph *g);
void hosts_clear(struct hosts *hosts);

#endif
