/* Carries bytes between a channel on the network and a socket of this machine, both ways. */
#ifndef ENGINE_CLUSTER_PUMP_H
#define ENGINE_CLUSTER_PUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "engine/cluster/channel.h"

#define PUMP_PING   10000 /* ms of silence after which a side says that it is there */
#define PUMP_SILENT 40000 /* ms of silence after which the other side counts as gone */

struct pump;

/* The other side has described its node: gives the socket to carry to. -1: it is not welcome. */
typedef int pump_node(struct pump *p, const void *bytes, size_t n);

/* The other side wants a stream: it is taken over, and the pump is over. */
typedef void pump_stream(struct pump *p, const void *bytes, size_t n);

struct pump {
    int net;   /* not blocking; -1: closed */
    int local; /* the same; -1: none yet */
    struct channel channel;
    size_t sent; /* bytes of the channel's output */
    struct strbuf to;
    size_t to_sent;
    int64_t heard, said; /* ms of the steady clock */
    bool local_ended;    /* no more comes from the socket; what came is still carried */
    bool deaf;           /* nothing more is carried to the socket */
    pump_node *node;
    pump_stream *stream;
    void *context;
};

/* Begin with a socket; the channel has begun. */
void pump_begin(struct pump *p, int net, int64_t now);

/* Carry what can be carried without waiting. 0, or -1: it is over. */
int pump_carry(struct pump *p, int64_t now);

/* What poll is to look for at the two sockets, as of the last pump_carry. */
void pump_wants(const struct pump *p, short *net, short *local);

/* All that came from the socket has been sent. */
bool pump_empty(const struct pump *p);

/* Close both sockets, forget the keys. */
void pump_end(struct pump *p);

#endif
