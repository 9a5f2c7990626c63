/* Control groups (cgroup v2): limit what the processes of a run use together, measure it, and kill all of
 * them.
 *
 * For root, runs have their groups in `berth` at the root of the hierarchy, beside the system's services
 * and as other container engines do, so that a restart of the service berthd touches neither runs nor
 * keeper. For other users, they are in the user's own cgroup, if that has been delegated. If neither is
 * possible, runs have no groups, and a notice says so.
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
    int root; /* the root of the hierarchy, if the keeper runs as root; else -1 */
    int base; /* the folder with a folder for each run; -1: runs have no groups */
    bool cores, memory, processes; /* what can be limited */
    bool devices;                  /* groups can be kept from devices: for root, as far as it may */
    bool whole;       /* the kernel can tell whether a group is empty, and kill all of it */
    uint64_t id;      /* the journal's, so that keepers of several directories don't collide */
    char notice[256]; /* what does not work; "": everything works */
};

/* Find or make the folders. root NULL: /sys/fs/cgroup. `server` is a process that is moved out of the
 * way, 0: none. Never fails: there is a notice instead.
 */
void cgroups_open(struct cgroups *c, const char *root, uint64_t id, pid_t server);

/* Leave the keeper's own group, and remove it. */
void cgroups_close(struct cgroups *c);

/* Make a folder for a run, with its limits. Returns a descriptor of it, or -1 with a text and no folder. */
int cgroup_make(const struct cgroups *c, const struct engine_run *run, berth_error_t *err);

/* The folder of a run that was made before; -1: there is none. */
int cgroup_find(const struct cgroups *c, uint64_t key);

/* The keys of all runs that have a folder with processes in it, in an array that the caller frees: *keys
 * and *n are set. 0, or -1 with errno.
 */
int cgroup_list(const struct cgroups *c, uint64_t **keys, size_t *n);

/* Move a process into a group. 0, or -1 with errno. */
int cgroup_join(int fd, pid_t pid);

/* Kill all processes in a group; to be repeated until cgroup_empty. */
void cgroup_kill(int fd);

/* True if no process is in it. */
bool cgroup_empty(int fd);

/* True if the kernel killed processes in the group because memory ran out; *limit is its limit in bytes,
 * or -1: none.
 */
bool cgroup_out_of_memory(int fd, int64_t *limit);

/* What the group has used: peak memory in bytes, and CPU time in us. Unchanged where that is not known. */
void cgroup_usage(int fd, int64_t *peak_memory, int64_t *cpu_time);

/* Remove the folder of a run and close the descriptor. */
void cgroup_remove(const struct cgroups *c, uint64_t key, int fd);

#endif
