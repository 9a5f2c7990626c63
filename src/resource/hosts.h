/* What a job holds, by host: what R says, as structs (berth/resource.h). */
#ifndef RESOURCE_HOSTS_H
#define RESOURCE_HOSTS_H

#include "base/strbuf.h"
#include "berth/resource.h"
#include "resource/emission.h"

/* Hosts in the order of their names (hostlist_compare), equal ones in that of their ranks, and what they
 * point to. Empty if all zeroes. The memory is reused for the next hosts.
 */
struct hosts {
    struct resource_host *v;
    size_t n, capacity;
    struct resource_range *range; /* hosts with the same cores and GPUs share theirs */
    size_t range_capacity;
    struct strbuf names;
};

/* Gather the hosts of an emission that have a core or a GPU in it. Returns 0, or -1 and no hosts: ENOMEM,
 * or EINVAL if a rank is negative, so that R can't be written either.
 */
int hosts_gather(struct hosts *hosts, const struct emission *e, const struct graph *g);
void hosts_clear(struct hosts *hosts);

/* What several jobs hold together, each host once. A GPU that several may have to share is one. Returns 0, or -1 with ENOMEM and no hosts.
 * O(n log n) in hosts and ranges.
 */
int hosts_join(struct hosts *to, const struct hosts *parts, size_t n_parts);

#endif
