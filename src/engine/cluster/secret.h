/* The files in DIRECTORY/pilots, by which a server and its agents find and know each other.
 *
 * N/key      the secret of pilot N: 32 bytes
 * server     where the gate listens: a line with the port, then lines with addresses; replaced by renaming
 *
 * Both are for the user alone; a file that others may read or write, or have made, is not used.
 */
#ifndef ENGINE_CLUSTER_SECRET_H
#define ENGINE_CLUSTER_SECRET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "berth/error.h"
#include "engine/cluster/noise.h"

#define ADDRESSES_MOST 64

/* Which file it was: each writing makes another one. All 0: none. */
struct addresses_version {
    ino_t inode;
    time_t seconds;
    long nanoseconds;
};

struct addresses {
    struct sockaddr_storage v[ADDRESSES_MOST];
    socklen_t length[ADDRESSES_MOST];
    size_t n;
};

/* The path of a pilot's file; "": of its folder. `path` has room for PATH_MAX bytes. 0, or -1 with ENAMETOOLONG. */
int secret_path(char *path, const char *directory, uint64_t pilot, const char *name);

/* Write a file that is not there yet, for the user alone. 0, or -1 with errno. */
int secret_write(const char *path, const void *bytes, size_t n);

/* Make the folder of a pilot and a new secret in it; `directory` is the folder of all pilots. 0, or -1 with a
 * text; EEXIST: there is one already.
 */
int secret_make(const char *directory, uint64_t pilot, berth_error_t *err);

/* Remove them. */
void secret_remove(const char *directory, uint64_t pilot);

/* Read a pilot's secret. 0, or -1 with a text; ENOENT: there is none. */
int secret_read(const char *directory, uint64_t pilot, uint8_t key[NOISE_KEY], berth_error_t *err);

/* Write where the gate listens: at this port, on each address that this host has. 0, or -1 with a text. */
int addresses_write(const char *directory, uint16_t port, berth_error_t *err);

/* Read it, and decode such a text of n bytes. 0, or -1 with a text (EINVAL: it is not well-formed). */
int addresses_read(const char *directory, struct addresses *to, berth_error_t *err);
int addresses_decode(const char *text, size_t n, struct addresses *to, berth_error_t *err);

/* Whether there are addresses other than the ones seen; they are then the ones seen. */
bool addresses_changed(const char *directory, struct addresses_version *seen);

#endif
