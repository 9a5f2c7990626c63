/* What a run holds, host by host, and which of its tasks are where. */
#ifndef SERVER_CORE_RUN_HOSTS_H
#define SERVER_CORE_RUN_HOSTS_H

#include "berth/sched_query.h"
#include "server/core/state.h"

struct run_host {
    char *name;
    const json_t *node; /* of a pilot, as the settings have it; NULL: this machine */
    int64_t rank;
    struct idset cores, gpus; /* ids on this host */
    int64_t gpu_memory;       /* MiB of each GPU, where all are shared; 0: they are whole */
    size_t first, n_tasks;    /* its tasks follow one another */
};

struct run_hosts {
    struct run_host
        *v; /* in the order of names; those that are imagined on this machine follow one another */
    size_t n;
    uint64_t cores, gpus; /* on all */
};

/* What is held; 0, or -1 with ENOMEM. Clear it in any case. */
int run_hosts_read(server_t *s, const struct sched_allocation *a, struct run_hosts *hosts);

/* Give each host its tasks: as many as its cores are for where each of them has so many (0: unknown), else about as
 * many as the others, the first ones more.
 */
void run_hosts_share(struct run_hosts *hosts, size_t tasks, uint64_t task_cores);

/* The host of a task; NULL: there are no hosts. */
const struct run_host *run_hosts_of(const struct run_hosts *hosts, size_t task);

/* Whether the next host is another machine: hosts that are imagined on this one are one. */
bool run_hosts_apart(const struct run_host *a, const struct run_host *b);

/* The system's CPUs of n of a host's cores, from the first-th on: appended. False: they are not known. */
bool run_host_cpus(const server_t *s, const struct run_host *host, uint64_t first, uint64_t n,
                   struct strbuf *to);

/* n GPUs of a host, from the first-th on, separated by commas: their names if they have any, else their ids.
 * Returns whose they are; NULL: unknown.
 */
const char *run_host_gpus(const server_t *s, const struct run_host *host, uint64_t first,
                          uint64_t n, struct strbuf *to);

/* The devices of this machine's GPUs that n hosts don't hold, separated by commas: appended. O(GPUs of the machine
 * times those that are held).
 */
void run_hosts_denied(const server_t *s, const struct run_host *host, size_t n, struct strbuf *to);

void run_hosts_clear(struct run_hosts *hosts);

#endif
