/* Requests: a jobspec's resources as a match needs them. Types are the graph's numbers, and each request
 * knows the minimum that it wants below itself of each type that pruning filters count.
 */
#ifndef MATCH_REQUEST_H
#define MATCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "berth/jobspec.h"
#include "match/machine/topo.h"
#include "resource/graph.h"

#define REQUEST_NONE UINT32_MAX

struct request {
    const struct jobspec_count *count;
    const char *label;    /* NULL: none */
    const char *property; /* that each vertex has; NULL: none */
    /* by number of pruning type (prune.h): units that its children want at least */
    int64_t *below;
    bool *wanted;  /* by the same number: `below` was counted */
    uint32_t min;  /* the smallest acceptable count that is not 0 */
    uint32_t max;  /* the largest acceptable count */
    uint32_t next; /* next sibling, or REQUEST_NONE */
    uint32_t with; /* first child, or REQUEST_NONE */
    /* the request whose sink takes its candidates: itself or, of alternatives, the last one */
    uint32_t bin;
    uint32_t first; /* of a bin: the first of its alternatives, or itself */
    uint32_t other; /* the next alternative, or REQUEST_NONE */
    /* of a slot that is a bin: the first request of what is looked for among a host's children */
    uint32_t shape;
    uint16_t type;
    enum jobspec_kind kind;
    bool is_slot;   /* of any kind */
    bool exclusive; /* the jobspec says exclusive: true */
    bool shared;    /* the jobspec says exclusive: false */
    bool has_below; /* `below` was counted for some type */
    /* a vertex may count as several of what is asked for below, with one set of things in it: `below` may be too much */
    bool pools_below;
};

struct prune;

struct requests {
    struct request *v;
    uint32_t n; /* requests of the jobspec; those derived from them come after */
    /* the first request of each variant, in the order in which they are tried */
    uint32_t *variant;
    uint32_t n_variants; /* 1 unless there are xor_slots */
    int64_t *total; /* by number of pruning type: units that the whole jobspec wants at least */
    int64_t nodes;  /* the same of type node, if that is a pruning type */
    bool labelled;  /* a resource other than a slot has a label */
    bool
        by_property; /* some vertices have to have a property, which those of a class need not have alike */
    /* a slot may take more or less, so that more slots may fit where less is free */
    bool moldable;
};

/* Make the requests of a jobspec, in memory of the arena. `flexible`: sibling slots are alternatives, and of
 * sibling xor_slots one is used for the whole job. Returns 0, or -1 with ENOMEM, EINVAL for a type that the
 * graph doesn't have, or EOVERFLOW for more than VARIANTS_MAX variants.
 */
int requests_make(struct requests *r, const jobspec_t *spec, const struct topo *t,
                  const struct prune *prune, bool flexible, struct arena *arena);

/* How many variants a jobspec with xor_slots may have, and how many requests all of them together. A job
 * with more is refused where it is submitted, so that no match takes longer than a few thousand plain ones:
 * users can ask for less, and a parameter would only move what one request may cost everybody.
 */
#define VARIANTS_MAX         1000
#define VARIANT_REQUESTS_MAX ((uint64_t)1 << 18)

/* The part of requests_make for `flexible` (variants.c): make the variants and join alternatives to bins. */
int requests_vary(struct requests *r, struct arena *arena);

#endif
