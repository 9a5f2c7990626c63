/* Proofs that a node has the folders that the server's host has: a file in the folder of a run's output, with a name by
 * chance, made when a run on a node is asked for, and removed when no run there was for a minute. A node that looks for
 * it later takes the folder for another one, and sends the output, which the server writes into the same file.
 *
 * Which there are is noted in a file of the server's directory, a path in each line, so the next server removes what
 * one that was killed has left.
 */
#ifndef ENGINE_CLUSTER_PROOF_H
#define ENGINE_CLUSTER_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/engine.h"

#define PROOFS_MOST 64 /* folders at a time */
#define PROOF_KEPT  60 /* s */

struct proof {
    char *folder;
    char name[32];
    char text[64]; /* "NAME:INODE" */
    int64_t used;  /* ms of the steady clock */
};

struct proofs {
    struct proof v[PROOFS_MOST]; /* the one used last first */
    size_t n;
    char first[64]; /* what a run's output has, where its errors have another file */
    char *list;     /* where they are noted */
    bool has_read;  /* what servers before have left is gone */
};

/* For a run on a node: of the files of its output those that the server can make for it; what it has then is valid until
 * the next call. Files below /dev, and folders where the server can make nothing, are the node's. O(folders).
 */
void proofs_give(struct proofs *p, struct engine_run *run);

/* Remove those that were not used for PROOF_KEPT; true: there are others. */
bool proofs_expire(struct proofs *p);

/* Remove all. */
void proofs_clear(struct proofs *p);

#endif
