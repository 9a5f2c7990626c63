/* The gate: what agents dial, on the server's host. It listens, shakes hands, and passes on bytes between the
 * agents that are known and the server, which never sees the network.
 *
 * The server gives it a socket (SOCK_SEQPACKET) at descriptor GATE_CONTROL. For each agent that has said what
 * its node is, the gate sends there eight bytes, the pilot's number (little-endian), and the node's description,
 * with a descriptor: a stream to that node's keeper. When the server closes the socket, the gate ends.
 */
#ifndef ENGINE_CLUSTER_GATE_H
#define ENGINE_CLUSTER_GATE_H

#include "berth/error.h"

#define GATE_CONTROL   3
#define GATE_STRANGERS 64   /* connections that are not known yet */
#define GATE_PATIENCE  5000 /* ms until one of them is closed */

/* Listen, write where into DIRECTORY/server, and go on until the server has gone. 0, or -1 with a text. */
int gate_run(const char *directory, int control, berth_error_t *err);

#endif
