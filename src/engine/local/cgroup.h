/* Control groups (cgroup v2): what a run may use together, what it used, and an end for all of it.
 *
 * As root, runs have their folders in `berth` at the root of the hierarchy, as other container engines
 * do, beside the system's services, so that a restart of the service berthd touches neither runs nor
 * keeper. Anybody else has them in the own cgroup, if that has been delegated to him. Where neither can
 * be had, runs go without, and a notice says so.
 */
#ifndef ENGINE_LOCAL_CGROUP_H
#define ENGINE_LOCAL_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "berth/error.h"
#include "engine/engine.h"

#define CGROUP_NAME_MAX 48

struct cgroups {
    int root; /* of root's; else -1 */
    int base; /* the folder that has a folder for each run; -1: there are none */
    bool cores, memory, processes; /* what can be limited */
    bool whole;       /* the kernel says whether anybody is in a group, and ends all of it */
    uint64_t id;      /* of the journal: keepers of several folders don't meet */
    char notice[256]; /* "": all is as it should be */
};

/* Find or make what is needed. root NULL: /sys/fs/cgroup. `server` is a process that is to leave the way,
 * 0: none. Never fails: there is a notice instead.
 */
void cgroups_open(struct cgroups *c, const char *root, uint64_t id, pid_t server);

/* Leave the keeper's own group, and remove it. */
void cgroups_close(struct cgroups *c);

/* A folder for a run, with its limits: a descriptor of it. -1 with a text, and none. */
int cgroup_make(const struct cgroups *c, const struct engine_run *run, berth_error_t *err);

/* The folder of a run that was made before; -1: there is none. */
int cgroup_find(const struct cgroups *c, uint64_t key);

/* The keys of all runs that have a folder with processes in it, in an array that the caller frees: *keys
 * and *n are set. 0, or -1 with errno.
 */
int cgroup_list(const struct cgroups *c, uint64_t **keys, size_t *n);

/* Put a process in. 0, or -1 with errno. */
int cgroup_join(int fd, pid_t pid);

/* End all processes in it. Asked again until cgroup_empty. */
void cgroup_kill(int fd);

/* True if no process is in it. */
bool cgroup_empty(int fd);

/* True if the kernel ended processes in it for want of memory; how much it was allowed: bytes, or -1: all
 * there is.
 */
bool cgroup_out_of_memory(int fd, int64_t *limit);

/* What it used: bytes at most, us of CPU time; unchanged where it isn't known. */
void cgroup_usage(int fd, int64_t *peak_memory, int64_t *cpu_time);

/* Remove the folder of a run and close the descriptor. */
void cgroup_remove(const struct cgroups *c, uint64_t key, int fd);

#endif
