/* Mixes of alternative slots: which of them to fill, one after the other, so that there are the most in all.
 *
 * The answer depends on nothing but how much there is of each type, so it is kept for every amount that
 * was met; hosts that have the same share it. The number of amounts grows with the product of how often
 * each alternative fits: the work done for one jobspec has a bound.
 */
#ifndef MATCH_SLOT_MIX_H
#define MATCH_SLOT_MIX_H

#include <stddef.h>
#include <stdint.h>

#include "berth/jobspec.h"

#define SLOT_MIX_NONE       UINT32_MAX
#define SLOT_MIX_EFFORT_MAX ((uint64_t)1 << 22) /* amounts by alternatives by types */

/* What an alternative takes of one type. */
struct slot_mix_need {
    uint32_t type; /* place among the amounts, below JOBSPEC_TYPES_MAX */
    const struct jobspec_count *count;
};

struct slot_mix_option {
    const struct slot_mix_need *need;
    uint32_t n; /* 0: it never fits */
};

/* What is best for some amounts. */
struct slot_mix {
    uint32_t slots;  /* that can be filled */
    uint32_t choice; /* alternative for the next of them */
    uint32_t next;   /* mix for what is left then */

    uint32_t set; /* of alternatives */
    uint32_t types;
    size_t amounts;   /* place of the first */
    uint32_t tried;   /* alternatives looked at so far */
    uint32_t waiting; /* mix that can be settled after this one */
};

/* All zeroes is empty. */
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

/* The best mix of n alternatives; `set` tells them from others. Among equals the first alternative goes
 * first. Returns 0 and its place in m->v, or -1 with ENOMEM, or EOVERFLOW if it is too much work.
 */
int slot_mixes_find(struct slot_mixes *m, uint32_t set, const struct slot_mix_option *slots,
                    uint32_t n, const uint32_t *amounts, uint32_t types, uint32_t *best);

#endif
