/* R_lite: which cores and gpus of which ranks, ranks with the same ones together (Flux RFC 20). */
#ifndef RESOURCE_WRITERS_RLITE_H
#define RESOURCE_WRITERS_RLITE_H

#include "base/idset.h"
#include "base/intern.h"
#include "base/json_out.h"
#include "resource/emission.h"

/* Ranks that have something in common, and its text. */
struct rlite_group {
    const char *text;
    uint32_t length;
    uint32_t number; /* in the table of texts */
    struct idset ranks;
    struct idset cores, gpus; /* of children: what the text says */
};

struct rlite_groups {
    struct intern texts;
    struct rlite_group *v; /* in the order of their texts' bytes */
    uint32_t n;
    size_t cap;
};

/* A node with something on it. */
struct rlite_host {
    int32_t rank;
    uint32_t vertex;
    uint32_t group;    /* its group's number, later its place */
    uint32_t sequence; /* its place in the emission, among hosts */
    int64_t memory;    /* units */
    struct rlite_gpus {
        size_t shared;  /* GPUs that are not given whole */
        int64_t memory; /* units of the memory of all of them */
    } gpus;
};

struct rlite {
    struct rlite_groups children; /* texts: {"core": "0-3", "gpu": "0"} */
    struct rlite_host *host;      /* by rank */
    size_t n;
    size_t cap;
};

/* Gather what an emission has, up to the first core or gpu with an id that can't be in an idset. Returns
 * 0, or -1 with ENOMEM, or EINVAL for such a rank; then there is nothing to clear.
 */
int rlite_gather(struct rlite *r, const struct emission *e, const struct graph *g);
void rlite_clear(struct rlite *r);

/* Put the list of groups; "nodelist"; and where there are any, "properties". Each returns 0, or -1 with
 * ENOMEM, or EINVAL for a name that is no host's.
 */
void rlite_put(const struct rlite *r, struct json_out *out, const char *key);
int rlite_put_nodelist(const struct rlite *r, const struct graph *g, struct json_out *out);
int rlite_put_properties(const struct rlite *r, const struct graph *g, struct json_out *out);

#endif
