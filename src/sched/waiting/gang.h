/* Gangs: members of an array of which so many start together.
 *
 * Members are of one role or of several, each of which has its own min and what its members ask for. The members of a
 * role follow each other, and those of the next one follow them.
 *
 * While a gang is down, none of its members runs and fewer than `min` of some role have succeeded. Then one slot, the
 * leader, waits for the whole, which is as many of each role as are missing: it asks for a bundle of these (place.h,
 * gather). All others are blocked. The leader is the entry of the array, or where there is none a member that waits in
 * a slot of its own. It stands in its lane as any job, is promised a time, moved and preempted for as one. When it
 * starts the bundle is split, and each member has its own booking (pass/start_gang.c). Those of a gang of several roles
 * that are left then have slots of their own, as each role grows by itself.
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

/* Members that are alike. */
struct gang_role {
    const char *name;         /* NULL: it is the only one, */
    struct shared_text *text; /* and its members ask for what the job does */
    uint32_t first, members;
    uint32_t min;
    uint32_t running, done; /* members that run, and that have succeeded */
    uint32_t stopping;      /* of those that run: they have been told to stop for others */
};

/* What a gang of an array of gangs does (gang_array.h): too few of it are there to start, or enough, or it has begun. */
enum gang_stands { GANG_ABSENT, GANG_WAITS, GANG_RUNS };

/* And its place among those that wait. */
struct gang_place {
    uint32_t number; /* in the array */
    enum gang_stands stands;
    bool may_go; /* it does not wait for others of the array to end */
    int64_t priority;
    uint64_t order;
};

struct gang_array;

struct gang {
    uint32_t min; /* of all roles, */
    enum sched_gang_failure failure;
    uint32_t running, done, stopping; /* and of these */
    uint64_t listed;                  /* when it was listed last (controllers/lots.h) */
    uint32_t replaced;                /* how often one that failed has waited again */
    uint32_t first,
        last;        /* slots of members, in the order of these; the others are in the details */
    uint32_t leader; /* while it is down, beside the entry; JOB_NONE */
    bool was_up;     /* where it was kept from; not all that run are known yet */
    bool is_over;
    struct sched_reason why; /* it is over */

    /* In a list of gangs that the next pass looks at; link NULL: it is in none. */
    struct gang **link, *next;

    /* Likewise of those whose open jobs have another place (gang_order.h); they have got theirs by whether it had its min. */
    struct gang **moved_link, *moved_next;
    bool had_min;

    struct gang_array *array; /* NULL: it is of none */
    struct gang_place place;

    uint32_t n_roles;
    struct gang_role role[];
};

/* The gang of a request with a min, of so many members at most; NULL with ENOMEM. NULL is fine to destroy. */
struct gang *gang_create(sched_t *s, const struct sched_request *request, uint32_t size);
void gang_destroy(sched_t *s, struct gang *gang);

/* ---- Roles (gang_role.c) ---- */

/* A request with roles as one that says as well what follows from these. Returns 0, or -1 with EINVAL: there are no such
 * roles.
 */
int gang_roles_read(const struct sched_request *request, struct sched_request *meant);

/* Have the jobspecs of all roles read. Returns 0, or -1 as jobspec_parse. And the call is over that needs what a job and
 * the roles of its gang ask for.
 */
int gang_texts_read(struct gang *gang, berth_error_t *err);
void gang_texts_rest(const sched_t *s, uint32_t slot);

/* The role of a member. O(log roles). */
struct gang_role *gang_role_of(struct gang *gang, uint32_t member);

/* What a job's members ask for, or of an array the first one. */
struct shared_text *gang_text(const sched_t *s, uint32_t slot);

/* How many of a role are missing at its min, when nobody runs. */
static inline uint32_t role_missing(const struct gang_role *role)
{
    return role->min > role->done ? role->min - role->done : 0;
}

/* How many of a role run, and go on, or have succeeded. */
static inline uint32_t role_has(const struct gang_role *role)
{
    return role->running - role->stopping + role->done;
}

/* How many of all roles are missing at their mins, when nobody runs. O(roles), as what follows. */
uint32_t gang_missing(const struct gang *gang);

/* The first role of which fewer than its min run or have succeeded; NULL. */
const struct gang_role *gang_short_of(const struct gang *gang);

/* The same, without those that are being stopped for others; NULL. And so many of a role are left, too few. */
const struct gang_role *gang_lost_min(const struct gang *gang);
struct sched_reason gang_left_reason(const struct gang_role *role, uint64_t left);

/* Those who depend on a gang of several roles need as many of each that end well as its min: where too few of one are left,
 * with these that end badly now, no number of all is enough any more. O(roles).
 */
void gang_see_needed(sched_t *s, uint32_t slot, const struct idset *badly);

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
    return gang->running > 0 || gang->was_up || gang_missing(gang) == 0;
}

/* How many are to start together. */
static inline uint32_t gang_need(const struct gang *gang)
{
    return gang_is_up(gang) ? 1 : gang_missing(gang);
}

/* Whether its members start together, so that one slot waits for all of these. */
static inline bool gang_waits_whole(const struct gang *gang)
{
    return !gang_is_up(gang) && (gang->n_roles > 1 || gang_missing(gang) > 1);
}

/* Whether a job asks for several members together, or for one of a gang of several roles as if they were. */
static inline bool gang_asks_whole(const sched_t *s, uint32_t slot)
{
    return s->place->ops->is_bundle && s->place->ops->is_bundle(s->jobs[slot].ask.class);
}

/* Where a job that asks for one member is to ask for the whole of its gang, it does. So does the entry of several roles,
 * also where another slot waits for these: what one of its members asks for is not what the others do. Returns 0, or -1 as
 * the machine's know, and it asks for nothing any more.
 */
int gang_gather(sched_t *s, uint32_t slot, bool refuse, berth_error_t *err);

/* The slot that asks for those of a slot's gang that are to start together, as it was settled last: its leader; of one
 * that waits one by one, its entry. JOB_NONE.
 */
uint32_t gang_asking(const sched_t *s, uint32_t slot);

/* The number of the role of a slot's gang that is placed last of those that are missing; UINT32_MAX with ENOMEM. */
uint32_t gang_last_role(sched_t *s, uint32_t slot);

/* What one member of a slot's gang asks for, and the group of those who do, each with a user more. Returns 0, or -1 with
 * ENOMEM. And with one less.
 */
int gang_know_one(sched_t *s, uint32_t slot, uint32_t member, struct place_ask *ask,
                  uint32_t *group);
void gang_forget(sched_t *s, const struct place_ask *ask, uint32_t group);

/* A job, in no lane, asks for that instead, and nobody for what it did. */
void gang_ask(sched_t *s, uint32_t slot, const struct place_ask *ask, uint32_t group);

/* What the slot asks for that is to start a gang that is down, whichever slot that is: with a user more. Returns 0, or -1 with
 * ENOMEM.
 */
int gang_know_whole(sched_t *s, uint32_t slot, struct place_ask *whole);

/* Whether a leader asks for the whole as it is now; -1 with ENOMEM. */
int gang_asks_right(sched_t *s, uint32_t slot);

/* A slot asks for what it should by now: one member, or the whole. It is blocked. Returns 0, or -1 with ENOMEM. */
int gang_ask_again(sched_t *s, uint32_t slot);

/* How many more of a role run, and go on, or have succeeded than its min. O(members). */
int64_t gang_role_more(const sched_t *s, struct gang *gang, const struct gang_role *role);

/* Whether a running job may be stopped for others: it is of no gang, or more of its role run, or have succeeded, than
 * the role's min, and those that are to be stopped before it leave it so. These are the last ones. O(members); O(roles) where
 * no more of it are.
 */
bool gang_spares(const sched_t *s, uint32_t slot);

/* Whether a member that waits, or all that are to start together, may be needed by their gang when they run, so that nobody
 * may stop them for others by themselves. O(roles).
 */
bool gang_may_need(const sched_t *s, uint32_t slot);

/* Whether a gang goes as a whole: so many of a role that run are being stopped that the others are too few. Nobody of it
 * starts until they have ended.
 */
bool gang_leaves(const struct gang *gang);

/* Whether a start is still under way, for which there was no memory: some run, and the leader holds what is left of their
 * bundle.
 */
bool gang_is_starting(const sched_t *s, const struct gang *gang);

/* Whether enough of each role wait for nothing but resources to start a gang of which nobody runs. O(its slots x roles). */
bool gang_has_enough_free(const sched_t *s, const struct gang *gang);

/* How many members of a role wait for nothing but their gang and resources. O(its slots). */
uint64_t gang_waits_free(const sched_t *s, const struct gang *gang, const struct gang_role *role);

/* A running job has been told to stop for another one. */
void gang_stops(sched_t *s, uint32_t slot);

/* Of a gang of several roles that is up, each member that waits has a slot of its own, and waits for itself. The slot is the
 * entry of the others, if there are any. Returns 0, or -1 with ENOMEM: some may be left in it, blocked.
 */
int gang_scatter(sched_t *s, uint32_t slot);

/* Whether a job is needed for its gang's min, beside those that run, and others whose victims are being stopped. It
 * is, if it is of none. O(1) where enough run, else O(members).
 */
bool gang_lacks(const sched_t *s, uint32_t slot);

/* The next pass looks at a gang; at all of several roles, as the machine has changed, and so may have the order in which
 * these are placed.
 */
void gang_due(sched_t *s, struct gang *gang);
void gang_look_all(sched_t *s);

/* Whether it will. */
static inline bool gang_is_due(const struct gang *gang)
{
    return gang->link != NULL;
}

/* A gang's state has changed, of those that are due: it is over, down or up. Of those that are due at once, the one that was
 * submitted first is looked at first. STEP_FAILED: it is due still. O(its slots), and O(n log n) for all n that are due.
 */
enum step gang_settle(sched_t *s);

/* A gang has just started: members that waited for that take their turn in the same walk, before jobs behind them. Where
 * there is no memory for that, the gang is due. O(its slots).
 */
void gang_settle_started(sched_t *s, struct gang *gang);

#endif
