/* What Slurm says of its nodes and partitions: lines of `scontrol -d -o show node` and `scontrol -o show partition`.
 *
 * Each line is cut up, and the texts point into it. Whatever the line is, reading it takes O(length) and no memory.
 */
#ifndef ENGINE_SLURM_NODES_H
#define ENGINE_SLURM_NODES_H

#include <stdbool.h>
#include <stdint.h>

#define SLURM_NAME_MOST  64 /* bytes of a node's name */
#define SLURM_CORES_MOST 4096
#define SLURM_GPUS_MOST  256

enum slurm_node_state {
    SLURM_NODE_UP,
    SLURM_NODE_DRAINED, /* what runs there goes on, and nothing more is started: drained, in maintenance, reserved */
    SLURM_NODE_DOWN, /* or not answering, off, about to be restarted, or in a state that nobody here knows */
};

struct slurm_node {
    const char *name;    /* letters, digits, '-', '_' and '.' */
    const char *address; /* on the network, as a number or a name */
    enum slurm_node_state state;
    const char *reason;     /* why it is not up; "": unknown */
    int64_t cores;          /* that jobs may have, 1 to SLURM_CORES_MOST */
    int64_t cpus_per_core;  /* what Slurm calls CPUs, >= 1 */
    int64_t gpus;           /* 0 to SLURM_GPUS_MOST, of whatever type */
    int64_t memory;         /* bytes that jobs may have */
    int64_t cpus_used;      /* by all jobs */
    int64_t gpus_used;      /* the same */
    int64_t memory_used;    /* bytes, the same */
    const char *partitions; /* separated by commas */
    const char *features;   /* the same, those that are active; "": none */
};

struct slurm_partition {
    const char *name;
    bool is_default;
    bool is_up; /* it takes jobs and starts them */
};

/* 0, or -1: it is no such line, or describes no node that could run something. */
int slurm_node_read(char *line, struct slurm_node *node);
int slurm_partition_read(char *line, struct slurm_partition *partition);

/* The GPUs of "gpu:2", "gpu:a100:4(S:0-1),shard:8", "gpu:1(IDX:0,2)", "(null)": SLURM_GPUS_MOST at most. */
int64_t slurm_count_gpus(const char *text);

/* Whether a list, separated by commas, has this name. */
bool slurm_list_has(const char *list, const char *name);

#endif
