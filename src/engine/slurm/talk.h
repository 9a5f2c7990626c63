/* What the server's side of the engine and berth-slurm say to each other, over a stream of messages (engine/local/wire.h).
 *
 * The engine sends START, SIGNAL, FORGET and LOSE. berth-slurm sends NODES, the events of runs, and TROUBLE.
 */
#ifndef ENGINE_SLURM_TALK_H
#define ENGINE_SLURM_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "engine/local/wire.h"

#define TALK_FD 3 /* the descriptor of berth-slurm */

enum talk_kind {
    TALK_START = 1, /* a key: its folder is there */
    TALK_SIGNAL,    /* a key and a signal, which is in its folder */
    TALK_FORGET,    /* a key: its end is recorded, and the folder may go */
    TALK_NODES,     /* all nodes there are, in place of those before */
    TALK_EVENT,     /* of a run */
    TALK_TROUBLE,   /* a text: why Slurm does not answer; "": it does */
    TALK_LOSE,      /* a node: somebody knows that nothing runs there any more */
};

struct talk_node {
    const char *name, *address, *properties, *reason;
    bool up, drained;
    uint32_t cores, gpus, cores_taken, gpus_taken;
    int64_t memory, memory_taken; /* bytes */
};

/* Append a message of a kind, with a key unless it is 0. */
void talk_put_key(struct strbuf *to, enum talk_kind kind, uint64_t key);
void talk_put_signal(struct strbuf *to, uint64_t key, int signal);
void talk_put_text(struct strbuf *to, enum talk_kind kind, const char *text);
void talk_put_nodes(struct strbuf *to, const struct talk_node *nodes, size_t n);

/* Read a node of the n that follow: false, the bytes are none. */
bool talk_node(struct wire *w, struct talk_node *node);

#endif
