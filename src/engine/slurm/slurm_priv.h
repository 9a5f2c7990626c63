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
#include "engine/told.h"

#define SLURM_BATCH 256     /* events that are reported at once */
#define SLURM_RETRY 1000000 /* us until a berth-slurm that has gone is started again */

/* A node, and what the engine says of it. */
struct ruled_node {
    struct node brings;
    struct engine_ruled ruled;
    char *id, *properties, *reason;
    bool up, left, is_new;
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
    struct told_list told;
    struct engine_event batch[SLURM_BATCH];
    uint64_t *keys;
    bool met; /* something was heard since the engine was opened */
    char trouble[sizeof(((berth_error_t *)NULL)->text)];
};

static inline struct slurm *slurm_of(struct engine *e)
{
    return (struct slurm *)(void *)e;
}

/* ---- The way to berth-slurm (slurm_link.c) ---- */

/* Start it. 0, or -1 with errno and a text. */
int slurm_start_helper(struct slurm *s, berth_error_t *err);

/* Read what there is, without waiting. */
void slurm_read_link(struct slurm *s);

/* engine_ops.flush. */
int slurm_flush(struct engine *e);

/* The server is to come back, in so many us. */
void slurm_come_back(const struct slurm *s, int64_t us);

/* ---- Nodes (slurm_nodes.c) ---- */

void slurm_clear_node(struct ruled_node *n);

/* Take those that are told: the ones that Slurm has no more leave. 0, or -1: the bytes are none. */
int slurm_take_nodes(struct slurm *s, struct wire *w);

/* engine_ops.nodes, lose and forget. */
size_t slurm_get_nodes(struct engine *e, const struct engine_node **nodes, uint64_t *change);
void slurm_lose_node(struct engine *e, const char *id);
int slurm_forget_node(struct engine *e, const char *id);

#endif
