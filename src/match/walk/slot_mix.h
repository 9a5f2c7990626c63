/* Mixes of alternative slots: which alternatives to fill, one after the other, to get the largest number of
 * slots.
 *
 * The answer depends only on how much there is of each type, so it is kept for every combination of
 * amounts that was met, and hosts with the same amounts share it. The number of combinations grows with
 * the product of how often each alternative fits, so the work for one jobspec is bounded by
 * SLOT_MIX_EFFORT_MAX.
 */
#ifndef MATCH_SLOT_MIX_H
#define MATCH_SLOT_MIX_H

#include <stddef.h>
#include <stdint.h>

#include "berth/jobspec.h"

#define SLOT_MIX_NONE UINT32_MAX
/* Combinations x alternatives x types. A jobspec that takes more is refused, for the reason that VARIANTS_MAX
 * has (request.h).
 */
#define SLOT_MIX_EFFORT_MAX ((uint64_t)1 << 22)

/* What an alternative takes of one type. */
struct slot_mix_need {
    uint32_t type; /* index into the amounts, below JOBSPEC_TYPES_MAX */
    const struct jobspec_count *count;
};

struct slot_mix_option {
    const struct slot_mix_need *need;
    uint32_t n; /* 0: it never fits */
};

/* The best mix for some amounts. */
struct slot_mix {
    uint32_t slots;  /* how many can be filled */
    uint32_t choice; /* the alternative for the next slot */
    uint32_t next;   /* the mix for what is left after that */

    uint32_t set; /* of alternatives */
    uint32_t types;
    size_t amounts;   /* index of the first amount */
    uint32_t tried;   /* alternatives looked at so far */
    uint32_t waiting; /* the mix to be settled after this one */
};

/* Empty if all zeroes. */
struct slot_mixes {
    struct slot_mix *v;
    uint32_t n, capacity;
    uint32_t *amount;
    size_t amounts, amounts_capacity;
    uint32_t *place; /* hash table: mix + 1 */
    uint32_t places;
    uint64_t effort;
};

void slot_mixes_clear(struct slot_mixes *m);

/* Find the best mix of n alternatives for some amounts; `set` is the number of this set of alternatives.
 * Among equal mixes, the one that fills the first alternative first wins. Returns 0 and the mix's index
 * in m->v, or -1 with ENOMEM, or EOVERFLOW if it is too much work.
 */
int slot_mixes_find(struct slot_mixes *m, uint32_t set, const struct slot_mix_option *slots,
                    uint32_t n, const uint32_t *amounts, uint32_t types, uint32_t *best);

#endif
