/* What a node brings: as its agent sees it there, and as it says it to the server. */
#ifndef ENGINE_CLUSTER_NODE_H
#define ENGINE_CLUSTER_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/error.h"

#define NODE_NAME_MOST  64
#define NODE_CORES_MOST 4096
#define NODE_GPUS_MOST  256

struct node {
    char *name; /* letters, digits, '-', '_' and '.' */
    char *boot; /* differs for each boot of the node; "": unknown */
    char *job;  /* the number of the job in which it is lent, as the lender names it; "": unknown */
    char *address;  /* its own on the way to the server, "10.0.0.7", "fe80::1"; "": unknown */
    int64_t memory; /* bytes for runs */
    int64_t end;    /* when it is taken back, us since 1970; 0: unknown */
    char **cores;   /* of each core its CPUs, "0,8", numbered as the system does; "": any */
    size_t n_cores; /* >= 1 */
    char **gpus;    /* of each what CUDA_VISIBLE_DEVICES calls it */
    size_t n_gpus;
};

/* Look at this node, as one who may use what this process may, in the environment of a job of Slurm's. 0, or
 * -1 with a text.
 */
int node_look(struct node *node, berth_error_t *err);

/* Write the description of a node, and read one: 0, or -1 with EPROTO or ENOMEM, whatever the bytes are. The
 * buffer remembers a failure.
 */
void node_put(struct strbuf *to, const struct node *node);
int node_read(struct node *node, const void *bytes, size_t n);

/* Give back what it has. Keeps errno. */
void node_clear(struct node *node);

#endif
