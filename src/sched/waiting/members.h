/* Members of arrays.
 *
 * A job has members, of which some wait, are promised a time, run, or have ended. Those that wait, and that
 * nothing was said of one by one, are one entry: a slot with details, one place in a lane, at most one
 * reservation, which is the first member's. It costs a set of indices, however many they are. When the first
 * starts it gets a slot of its own (its part), and the entry goes on with the next. So does one that is to
 * wait for itself: because it is held, say, or has preempted others. The last of an entry keeps the slot.
 *
 * Members stand in the order by their indices: the key of one is the array's number plus its index, that of
 * the entry its first member's.
 */
#ifndef SCHED_MEMBERS_H
#define SCHED_MEMBERS_H

#include "base/idset.h"
#include "sched/sched_priv.h"

/* What the entry of an array and the parts share. */
struct members {
    uint32_t records;     /* slots that know it */
    uint32_t entry;       /* slot; JOB_NONE: none waits in one */
    uint32_t size;        /* one above the largest index */
    bool has_all;         /* not all up to `size` exist */
    struct idset all;     /* which do then */
    struct idset waiting; /* in the entry; */
    uint32_t used;        /* but so many ranges at the beginning are used up */
    uint64_t order;       /* of index 0 */
    int64_t most;         /* so many may hold something at a time; 0: any number */
    int64_t holding;      /* do; */
    int64_t aside;        /* and so many others, but for what is asked at the moment */
    bool is_singleton;    /* by its dependency, one at a time */
    const char **groups;  /* of the user; interned */
    size_t n_groups;
    struct gang *gang; /* NULL: it is none */
};

/* The members of a request, of which one slot will know. `waiting`: those that wait in it; NULL: one that has
 * the slot for itself. NULL with ENOMEM. And they are known by one slot less.
 */
struct members *members_create(sched_t *s, const struct sched_request *request, uint32_t size,
                               const struct idset *all, const struct idset *waiting);
void members_leave(sched_t *s, struct members *m);

/* Those that wait in the entry; a view that is valid until they change. */
struct idset members_waiting(const struct members *m);

/* Whether a slot is an entry, also of one member; and of how many members a slot is. */
bool is_entry(const sched_t *s, uint32_t slot);
uint64_t members_of(const sched_t *s, uint32_t slot);

/* Have memory for a slot of its own for a member of an entry, if others are left in it. Returns the slot that it
 * will get, which is this one for the last and where a slot is no entry, or JOB_NONE with ENOMEM. Slots may
 * be elsewhere in memory then.
 */
uint32_t part_reserve(sched_t *s, uint32_t slot);

/* So many members will leave their entries one after the other: have memory for their slots at once. Returns 0, or -1 with
 * ENOMEM and nothing changed that anybody sees.
 */
int parts_expect(sched_t *s, uint32_t n);

/* The first member of an entry leaves it as it is now, with what it holds; the entry, which is in no lane, goes on
 * with the next one, as an open job that is not new, or is blocked if no more members may hold anything. There
 * is memory for both (part_reserve). Returns its slot.
 */
uint32_t part_first(sched_t *s, uint32_t slot);

/* The same of the leaving alone, of any member: the entry, if any are left, is in no lane and has the key of the first
 * that is left.
 */
uint32_t part_leave(sched_t *s, uint32_t slot, uint32_t member);

/* A member of an entry gets a slot of its own, to wait as the entry does. A reservation stays the entry's. Returns
 * the slot, or JOB_NONE: EINVAL (it does not wait there), ENOMEM.
 */
uint32_t part_any(sched_t *s, uint32_t slot, uint32_t member);

bool members_check(const sched_t *s);

#endif
