/* A jobspec's resources as a match needs them: types as the graph's numbers, and for each how much of the
 * types that pruning filters count its children want at least.
 */
#ifndef MATCH_REQUEST_H
#define MATCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "berth/jobspec.h"
#include "resource/graph.h"

#define REQUEST_NONE UINT32_MAX

struct request {
    const struct jobspec_count *count;
    const char *label; /* NULL: none */
    int64_t *below;    /* by number of pruning type (prune.h): units its children want at least */
    bool *wanted;      /* by the same number: `below` was counted */
    uint32_t min;      /* the least acceptable count, not 0 */
    uint32_t max;      /* the greatest */
    uint32_t next;     /* sibling, or REQUEST_NONE */
    uint32_t with;     /* first child, or REQUEST_NONE */
    uint32_t bin;   /* whose sink takes its candidates: its own, or of alternatives the last one */
    uint32_t first; /* of a bin: its alternatives, or itself alone */
    uint32_t other; /* the next alternative, or REQUEST_NONE */
    uint32_t shape; /* of a slot that is a bin: what is looked for among the children of a host */
    uint16_t type;
    enum jobspec_kind kind;
    bool is_slot;   /* of any kind */
    bool exclusive; /* asked for */
    bool shared;    /* asked not to be exclusive */
    bool has_below; /* some of `below` was counted */
};

struct prune;

struct requests {
    struct request *v;
    uint32_t n;          /* of the jobspec; what is derived from them comes after */
    uint32_t *variant;   /* to be tried in order: first requests of what satisfies the whole */
    uint32_t n_variants; /* 1 unless there are xor_slots */
    int64_t *total;      /* by number of pruning type: what the whole request wants at least */
    int64_t nodes;       /* of type node, if that is a pruning type */
    bool labelled;       /* a resource that is no slot has a label */
    /* a slot may take more or less: then less that is free may be enough for more slots */
    bool moldable;
};

/* Make the requests of a jobspec; memory from the arena. `flexible`: slots side by side are alternatives,
 * and one of the xor_slots side by side is taken for all. Returns 0, or -1 with ENOMEM, EINVAL for a type
 * that the graph doesn't know, or EOVERFLOW for more than VARIANTS_MAX variants.
 */
int requests_make(struct requests *r, const jobspec_t *spec, const struct graph *g,
                  const struct prune *prune, bool flexible, struct arena *arena);

/* Variants of a jobspec with xor_slots, and requests that all of them have together. */
#define VARIANTS_MAX         1000
#define VARIANT_REQUESTS_MAX ((uint64_t)1 << 18)

/* The flexible part of that (variants.c): make the variants, join alternatives to bins. */
int requests_vary(struct requests *r, struct arena *arena);

#endif
