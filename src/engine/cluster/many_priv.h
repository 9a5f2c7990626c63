/* What the files of the engine of several nodes share. */
#ifndef ENGINE_CLUSTER_MANY_PRIV_H
#define ENGINE_CLUSTER_MANY_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "engine/cluster/gate_start.h"
#include "engine/cluster/node.h"
#include "engine/cluster/proof.h"
#include "engine/cluster/spread.h"
#include "engine/engine.h"
#include "engine/told.h"

#define MANY_BATCH 256 /* events that are reported at once */

/* One of the engines. */
struct part {
    struct engine *engine;
    char *id; /* NULL: this machine */
    char *name;
    uint64_t pilot;
    struct node node;
    bool has_node;
    bool was_up, was_left;
    bool touched;          /* something is to be sent */
    uint64_t acknowledged; /* of its events, but for those that spreads keep back */
};

struct many {
    struct engine engine;
    struct part **v; /* v[0] is this machine */
    size_t n, cap;
    char *directory, *program;
    struct gate_process gate;
    bool wants_gate;
    int poll, timer;
    struct proofs proofs;
    int proof_timer;
    struct told_list told; /* `from` is a part; NULL: the run is on several, and known by its key */
    struct spreads spreads;
    struct engine_event batch[MANY_BATCH];
    struct engine_node *nodes;
    uint64_t change;
    uint64_t *keys;
    size_t cap_keys;
    struct strbuf text; /* what a gate says */
    berth_error_t trouble;
    char notice[400];
};

static inline struct many *many_of(struct engine *e)
{
    return (struct many *)(void *)e;
}

/* An engine by its node's id (NULL: this machine's); NULL: there is none. */
struct part *part_find(const struct many *m, const char *id);

/* Add an engine, and its end; NULL: it is not added, and still the caller's. */
struct part *part_add(struct many *m, struct engine *engine);
void part_close(struct part *p);

/* Have fd be readable for what owner stands for. */
int many_listen(const struct many *m, int fd, void *owner);

/* The server is to come back, in so many us. */
void many_come_back(const struct many *m, int64_t us);

/* An event of an engine, up to this number, is acknowledged. */
void part_acknowledge(struct part *p, uint64_t number);

/* The run, as it is sent to a node: with proofs of the folders of its output. */
struct engine_run many_proved(struct many *m, const struct engine_run *run);

/* Remember that an event is reported, as the n-th of the batch. 0, or -1 with ENOMEM. */
int many_tell(struct many *m, const struct told *told, const struct engine_event *event, size_t n);

/* ---- Nodes (many_nodes.c) ---- */

void many_take_gate(struct many *m);
void many_take_timer(struct many *m);
int many_invite(struct engine *e, uint64_t pilot, char *folder, berth_error_t *err);
void many_dismiss(struct engine *e, uint64_t pilot);
int many_expect(struct engine *e, uint64_t pilot, const char *name,
                const struct engine_expected *runs, size_t n);
size_t many_nodes(struct engine *e, const struct engine_node **nodes, uint64_t *change);
void many_lose(struct engine *e, const char *id);
int many_forget(struct engine *e, const char *id);

#endif
