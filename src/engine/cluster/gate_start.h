/* The server's side of the gate: starting it, and taking in whom it introduces. */
#ifndef ENGINE_CLUSTER_GATE_START_H
#define ENGINE_CLUSTER_GATE_START_H

#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "berth/error.h"

struct gate_process {
    pid_t pid;
    int control; /* not blocking; -1: there is none */
};

/* Start the program. 0, or -1 with a text. */
int gate_start(struct gate_process *g, const char *program, const char *directory,
               berth_error_t *err);

/* Whom it introduces: 1, with the pilot's number, a stream in *fd, and the node's description in the buffer; 0:
 * nobody at present; -1: the gate has gone.
 */
int gate_take(struct gate_process *g, uint64_t *pilot, int *fd, struct strbuf *description);

/* Have it end. */
void gate_end(struct gate_process *g);

#endif
