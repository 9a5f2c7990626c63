/* What the files of the engine `slurm` share. */
#ifndef ENGINE_SLURM_SLURM_PRIV_H
#define ENGINE_SLURM_SLURM_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "engine/cluster/node.h"
#include "engine/engine.h"
#include "engine/slurm/directed.h"
#include "engine/slurm/talk.h"

#define SLURM_BATCH 256 /* events that are reported at once */

/* A node, and what the engine says of it. */
struct ruled_node {
    struct node brings;
    struct engine_ruled ruled;
    char *id, *properties, *reason;
    bool up, left, is_new;
};

/* An event that was reported, until it is acknowledged. */
struct told {
    uint64_t number, key;
    bool end;
};

struct slurm {
    struct engine engine;
    int runs;
    char *directory, *helper, *run, *tag, *partition, *options;
    int link, poll, timer;
    pid_t pid;
    struct strbuf in, out;
    size_t in_at;  /* what is before it has been reported */
    size_t out_at; /* what is before it has been sent, of the first message */
    struct ruled_node **nodes;
    size_t n_nodes, cap_nodes;
    struct engine_node *list;
    uint64_t change;
    struct told *told;
    size_t n_told, cap_told;
    uint64_t number;
    struct engine_event batch[SLURM_BATCH];
    uint64_t *keys;
    bool met; /* something was heard since the engine was opened */
    char trouble[sizeof(((berth_error_t *)NULL)->text)];
};

static inline struct slurm *slurm_of(struct engine *e)
{
    return (struct slurm *)(void *)e;
}

/* ---- Nodes (slurm_nodes.c) ---- */

void slurm_clear_node(struct ruled_node *n);

/* Take those that are told: the ones that Slurm has no more leave. 0, or -1: the bytes are none. */
int slurm_take_nodes(struct slurm *s, struct wire *w);

/* engine_ops.nodes and forget. */
size_t slurm_get_nodes(struct engine *e, const struct engine_node **nodes, uint64_t *change);
int slurm_forget_node(struct engine *e, const char *id);

#endif
