/* Standard input or a terminal of a task on another node: what passes through the descriptor that a client of the
 * server passes on (engine_run.attach) is carried to the node, and back.
 *
 * A stream has a connection of its own, which the node's agent makes when the task asks for it, and a process at each
 * end. So it outlives a restart of the server, of its gate and of the agent, and one that is slow delays nobody
 * else. It ends with the task, or with the client. When the connection is cut, the task is sent SIGHUP: an input
 * must not seem to end where it was cut.
 */
#ifndef ENGINE_CLUSTER_STREAM_H
#define ENGINE_CLUSTER_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "engine/cluster/channel.h"
#include "engine/engine.h"

#define STREAM_ASK_MOST                                                                            \
    200 /* bytes: what the descriptor is to be, and the path of the client's socket */

/* Carry, as the process at the server's end, until it is over; `bytes` is what the agent has asked for. Every other
 * descriptor is closed, and the process ends.
 */
void stream_at_gate(int net, struct channel *channel, const void *bytes, size_t n)
    __attribute__((noreturn));

/* The same as the process at the node's end, for a task that has connected at `task`. */
void stream_at_node(int task, const char *pilots, uint64_t pilot, const uint8_t key[NOISE_KEY])
    __attribute__((noreturn));

/* Listen for tasks in the folder of a keeper: a descriptor, not blocking; or -1 with a text. */
int stream_listen(int folder, berth_error_t *err);

#endif
