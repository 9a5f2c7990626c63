/* Gangs: members of an array of which so many start together.
 *
 * While a gang is down, none of its members runs and fewer than `min` have succeeded. Then one slot, the leader, waits
 * for the whole, which is as many as are missing: it asks for a bundle of these (place.h, gather). All others are
 * blocked. The leader is the entry of the array, or where there is none a member that waits in a slot of its own. It
 * stands in its lane as any job, is promised a time, moved and preempted for as one. When it starts the bundle is
 * split, and each member has its own booking (pass/start_gang.c).
 *
 * While a gang is up, its members wait, start and end as those of any array. When the last one that runs ends, and
 * too few have succeeded, it is down again.
 *
 * A gang that is over starts nobody any more: its running members are stopped, those that wait are rejected.
 */
#ifndef SCHED_GANG_H
#define SCHED_GANG_H

#include "sched/queues.h"

/* Why a member is not there to start with the others; limits speak of all of them. */
enum { GANG_AWAY = BLOCK_HOLD | BLOCK_DEPEND | BLOCK_BEGIN };

struct gang {
    uint32_t min;
    enum sched_gang_failure failure;
    uint32_t running, done; /* members that run, and that have succeeded */
    uint32_t stopping;      /* of those that run: they have been told to stop for others */
    uint64_t listed;        /* when it was listed last (controllers/lots.h) */
    uint32_t replaced;      /* how often one that failed has waited again */
    uint32_t first,
        last;        /* slots of members, in the order of these; the others are in the details */
    uint32_t leader; /* while it is down, beside the entry; JOB_NONE */
    bool was_up;     /* where it was kept from; not all that run are known yet */
    bool is_over;
    struct sched_reason why; /* it is over */

    /* In the list of gangs that the next pass looks at; link NULL: it is not. */
    struct gang **link, *next;
};

/* The gang of a request with a min; NULL with ENOMEM. NULL is fine to destroy. */
struct gang *gang_create(const struct sched_request *request);
void gang_destroy(struct gang *gang);

/* A slot is one of its gang's, if it has one, and is so no more; and is of another first member. O(1) where members
 * come one after the other.
 */
void gang_link(sched_t *s, uint32_t slot);
void gang_unlink(sched_t *s, uint32_t slot);
void gang_relink(sched_t *s, uint32_t slot);

/* A job's gang; NULL. */
static inline struct gang *gang_of(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    return d && d->of ? d->of->gang : NULL;
}

static inline bool gang_is_up(const struct gang *gang)
{
    return gang->running > 0 || gang->done >= gang->min || gang->was_up;
}

/* How many are to start together. */
static inline uint32_t gang_need(const struct gang *gang)
{
    return gang_is_up(gang) ? 1 : gang->min - gang->done;
}

/* Whether a job asks for several members together. */
static inline bool gang_asks_whole(const sched_t *s, uint32_t slot)
{
    return s->place->ops->members && s->place->ops->members(s->place, s->jobs[slot].ask.class) > 1;
}

/* Where a job that asks for one member is to ask for the whole of its gang, it does. Returns 0, or -1 as the machine's
 * know, and it asks for nothing any more.
 */
int gang_gather(sched_t *s, uint32_t slot, bool refuse, berth_error_t *err);

/* What one member of a gang asks for, and the group of those who do, each with a user more. Returns 0, or -1 with
 * ENOMEM. And with one less.
 */
int gang_know_one(sched_t *s, uint32_t slot, struct place_ask *ask, uint32_t *group);
void gang_forget(sched_t *s, const struct place_ask *ask, uint32_t group);

/* A job, in no lane, asks for that instead, and nobody for what it did. */
void gang_ask(sched_t *s, uint32_t slot, const struct place_ask *ask, uint32_t group);

/* Whether a running job may be stopped for others: it is of no gang, or its gang has more that run, or have
 * succeeded, than its min, and is not left by those that are to be stopped before it. These are the last ones.
 * O(members).
 */
bool gang_spares(const sched_t *s, uint32_t slot);

/* Whether a gang goes as a whole: so many that run are being stopped that the others are too few. Nobody of it starts
 * until they have ended.
 */
static inline bool gang_leaves(const struct gang *gang)
{
    return gang->stopping > 0 && gang->running - gang->stopping + gang->done < gang->min;
}

/* Whether a start is still under way, for which there was no memory: some run, and the leader holds what is left of their
 * bundle.
 */
bool gang_is_starting(const sched_t *s, const struct gang *gang);

/* A running job has been told to stop for another one. */
void gang_stops(sched_t *s, uint32_t slot);

/* Whether a job is needed for its gang's min, beside those that run, and others whose victims are being stopped. It
 * is, if it is of none. O(1) where enough run, else O(members).
 */
bool gang_lacks(const sched_t *s, uint32_t slot);

/* The next pass looks at a gang. */
void gang_due(sched_t *s, struct gang *gang);

/* A gang's state has changed, of those that are due: it is over, down or up. STEP_FAILED: it is due still. */
enum step gang_settle(sched_t *s);

#endif
