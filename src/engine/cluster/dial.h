/* Dialling the gate of a server: where it is stands in a file of the server's directory. */
#ifndef ENGINE_CLUSTER_DIAL_H
#define ENGINE_CLUSTER_DIAL_H

#include <stdint.h>
#include <sys/socket.h>

#include "engine/cluster/channel.h"

#define DIAL_PATIENCE 5000 /* ms for one address, and for a handshake */

/* Begin to connect: a socket that does not block, which is writable once that is decided; or -1. */
int dial_begin(const struct sockaddr_storage *to, socklen_t length);

/* Whether it is connected, once it is decided: 0, or -1 with errno. */
int dial_end(int fd);

/* Reach the server at one of its addresses, as an agent of a pilot, and shake hands: a connected socket, with the
 * channel open; or -1. Waits.
 */
int dial_server(const char *pilots, uint64_t pilot, const uint8_t key[NOISE_KEY],
                struct channel *channel);

#endif
