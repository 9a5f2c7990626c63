/* The YAML file that describes a whole scheduler: its machine, its queues, how traces map to them
 * (berth-config(5)).
 *
 * A file is read and checked as a whole: unknown keys and wrong values are refused with line, key and what is
 * accepted. The result is complete: defaults are filled in, depths are no higher than their bounds, a queue
 * has its default duration, and a virtual queue has what it inherits from its parent, except for the parent's
 * limits of the queue as a whole. There is at least one queue, and the default queue is NULL only if there
 * are several.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "berth/match.h"
#include "berth/sched_config.h"
#include "pilot/plan.h"

/* Bounds: bytes of a file; queues; vertices of a machine of equal nodes, including the cluster, nodes and
 * everything in them.
 */
#define CONFIG_TEXT_MAX     ((size_t)1 << 24)
#define CONFIG_QUEUES_MAX   4096
#define CONFIG_VERTICES_MAX 4000000

/* Where the machine's description comes from: a file, this machine, a number of equal nodes, or Slurm. */
enum config_source { CONFIG_FILE, CONFIG_LOCAL, CONFIG_NODES, CONFIG_SLURM };

struct config_resources {
    enum config_source source;

    /* For CONFIG_FILE: its path, relative to the configuration's folder, and its format: grug, jgf,
     * jgf_shorthand, rv1exec, rv1exec_force or hwloc.
     */
    const char *file;
    const char *format;

    /* For CONFIG_NODES: cores (at least 1), gpus and memory are per node, gpu_memory per GPU. */
    int64_t nodes;
    int64_t cores;
    int64_t gpus;
    int64_t memory;     /* GB, divisible; 0: none */
    int64_t gpu_memory; /* GB, divisible; 0: none */
};

/* Tokens of which jobs take some, of the machine as a whole. */
struct config_license {
    const char *name; /* jobspec/short.h */
    int64_t count;    /* at least 1 */
};

struct config_user {
    const char *name;
    const char *const *groups;
    size_t n_groups;
};

/* A number in a column of a trace and what it stands for. */
struct config_name {
    int64_t number;
    const char *name;
};

/* How the jobs of an SWF trace become jobs of these queues. Lists are in ascending order of numbers, without
 * duplicates.
 */
struct config_trace {
    const char *processor;            /* what one is: "core" (default) or "node" */
    const struct config_name *queues; /* column 15 -> queue; others: the default queue */
    size_t n_queues;
    const struct config_name *users; /* column 12 -> user; others: "uN" */
    size_t n_users;
    const struct config_name *groups; /* column 13 -> group; others: "gN" */
    size_t n_groups;

    /* Column 16 -> constraint on the job (RFC 31, JSON); others: none. */
    const struct config_name *partitions;
    size_t n_partitions;
};

/* The settings of berthd. Times are ticks; SCHED_UNLIMITED means no bound. Defaults are given after the
 * semicolon.
 */
struct config_server {
    const char *const *administrators; /* users who may do what root may */
    size_t n_administrators;
    int64_t retention;           /* how long jobs that have ended are kept; 90 days */
    int64_t grace;               /* from SIGTERM to SIGKILL; 30 s */
    int64_t max_jobs_per_user;   /* that wait or run; 1000000 */
    int64_t max_stored_per_user; /* bytes of the store, history included; 1 GiB */
    int64_t requests_per_second; /* of one user; 10000 */
    int64_t tasks_per_core;      /* of a job that asks for overcommitment; 1 */
    int64_t processes_per_core;  /* and threads of a job; 0: a share of what the system allows */
    const char *prologue, *epilogue; /* commands around each run; NULL: none */
    int64_t hook_limit;              /* how long each of them may take, bounded; 5 min */
    bool
        imagined; /* nodes may be those of a machine that isn't this one: jobs run here all the same; false */
};

/* How jobs become jobs of Slurm's, where the machine is Slurm's (CONFIG_SLURM). */
struct config_slurm {
    const char *
        partition; /* to which they are given, and whose nodes are the machine; NULL: Slurm's default */
    const char *options; /* further ones of sbatch, separated by blanks; NULL */
};

/* Pilots that are asked for by themselves (pilot/plan.h); max_nodes 0: there are none. */
struct config_pilots {
    struct pilot_rule rule; /* times in ticks, memory in bytes */
    const char *partition;  /* NULL: Slurm's default */
    const char *options;    /* further ones of sbatch, separated by blanks; NULL */
    int64_t wait;           /* of a simulation: from asking to having, in ticks */
};

struct config {
    struct config_resources resources;
    const struct config_license *licenses;
    size_t n_licenses;
    match_options_t match;
    const char *match_format; /* in which allocations are described; rv1_nosched */
    struct sched_config sched;
    const struct config_user *users; /* who is in which groups */
    size_t n_users;
    struct config_trace trace;
    struct config_server server;
    struct config_pilots pilots;
    struct config_slurm slurm;
};

/* Read and check a file's text; `name` begins error texts: "NAME:LINE:COLUMN: key ...", and "NAME: queue 'Q': key ..." of keys
 * that can't stand together. `second`: ticks in a second, 1 to 1000000000, for the times in `sched`, which are
 * rounded up to ticks. Returns NULL with EINVAL and a text, or ENOMEM. Everything it points to is freed with it.
 * O(length), plus sorting.
 */
struct config *config_read(const char *name, const char *text, size_t length, int64_t second,
                           berth_error_t *err);
void config_destroy(struct config *config);

/* A user; NULL: not in the configuration, or no name. */
const struct config_user *config_user(const struct config *config, const char *name);

/* A configuration of config_read as YAML, including all defaults. Read with the same `second`, it gives the
 * same configuration. The caller frees it. NULL with ENOMEM.
 */
char *config_show(const struct config *config, int64_t second);

/* A graph for CONFIG_NODES: cluster0 with node0, node1, ..., each with core0..., gpu0... and memory0, which
 * is divisible. Node k and everything in it have rank k. NULL with EINVAL (more than CONFIG_VERTICES_MAX) or
 * ENOMEM. O(vertices).
 */
resource_graph_t *config_make_nodes(const struct config_resources *resources, berth_error_t *err);

/* Add to a machine's graph, below its root, a divisible pool for each licence. Returns 0, or -1 with ENOMEM and the
 * graph to be destroyed. O(vertices), O(1) without licences.
 */
int config_add_licenses(resource_graph_t *graph, const struct config *config, berth_error_t *err);

/* Check that a graph of equal nodes is within its bounds. Returns 0, or -1 with EINVAL. */
int config_check_nodes(const struct config_resources *resources, berth_error_t *err);

#endif
