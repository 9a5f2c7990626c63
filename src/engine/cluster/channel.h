/* A stream of boxes between an agent and the gate of a server, over any stream of bytes.
 *
 * The agent begins with 64 bytes: a magic text with the version, the number of its pilot, and the first
 * message of the handshake; the gate answers with the second, of 48 bytes. Then each side sends a length in
 * four bytes (little-endian) and a box. A box holds a kind and up to CHANNEL_MOST bytes.
 *
 * A first message may be one that was overheard and is said again. So who dials is known only once its first
 * box has been opened (`known`). Whatever comes in, a channel takes at most 64 KiB for it, and once something
 * was wrong it stays broken.
 */
#ifndef ENGINE_CLUSTER_CHANNEL_H
#define ENGINE_CLUSTER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "engine/cluster/noise.h"

#define CHANNEL_MOST   65000 /* bytes in a box */
#define CHANNEL_FIRST  64    /* bytes that an agent begins with */
#define CHANNEL_SECOND 48

enum channel_kind {
    CHANNEL_PING = 1,
    CHANNEL_NODE, /* what the agent says first: a description (node.h) */
    CHANNEL_DATA, /* bytes between the engine and the keeper, or of a stream */
    /* what an agent says first on a connection for a stream (stream.h), and what the gate answers; then: no more comes
     * from this side; and the size of a terminal
     */
    CHANNEL_STREAM,
    CHANNEL_END,
    CHANNEL_SIZE,
    CHANNEL_LAST = CHANNEL_SIZE
};

/* Find the key of a pilot. False: there is no such pilot. */
typedef bool channel_key(void *context, uint64_t pilot, uint8_t key[NOISE_KEY]);

struct channel {
    enum { CHANNEL_WAITS, CHANNEL_OPEN, CHANNEL_BROKEN } stage;
    bool is_agent;
    bool known; /* the other side has said something under keys that only the two have */
    uint64_t pilot;
    channel_key *key; /* of a gate */
    void *context;
    struct noise_hand hand;
    struct noise_cipher send, receive;
    struct strbuf in,
        out; /* bytes from and to the stream: the caller appends to `in`, and takes from `out` */
    size_t in_at; /* bytes of `in` that have been taken */
};

/* Begin as an agent, or as a gate. The channel may hold anything before. */
void channel_begin_agent(struct channel *c, uint64_t pilot, const uint8_t key[NOISE_KEY]);
void channel_begin_gate(struct channel *c, channel_key *key, void *context);

/* Send n bytes in as many boxes as that takes; before the channel is open, nothing is sent. 0, or -1 with
 * ENOTCONN, EPROTO or ENOMEM.
 */
int channel_put(struct channel *c, enum channel_kind kind, const void *bytes, size_t n);

/* Take what has come in: 1 and the next box's kind and bytes, which are the channel's until its next call;
 * 0: nothing yet; -1 with EPROTO or ENOMEM: the channel is broken.
 */
int channel_take(struct channel *c, enum channel_kind *kind, const uint8_t **bytes, size_t *n);

/* Give back what it has, and forget its keys. */
void channel_clear(struct channel *c);

#endif
