/* Inside the scheduling core: its state, shared by events (sched.c), sweeps (sweep.c) and passes (pass.c).
 *
 * A waiting job is in one of two queues: `held` if it holds a reservation, `open` if not. Both are in queue
 * order, and an entry's value is the job's duration.
 *
 * Invariants:
 *  1. A job is in `open`, in `held`, running or rejected, and no more are held than the policy's depth allows.
 *  2. Each held job, and no other, is in the heap `due` under its reservation's time.
 *  3. Each held or running job has a booking, from its reservation or start on, and no other has one.
 *  4. After a pass without `more`, no open job within the queue depth could hold a reservation.
 *
 * sched_check verifies the first two. The others show in decisions, which test/property/prop_sched.c compares with
 * a naive scheduler's.
 */
#ifndef SCHED_SCHED_PRIV_H
#define SCHED_SCHED_PRIV_H

#include "base/heap.h"
#include "berth/sched.h"
#include "sched/freed.h"
#include "sched/place.h"
#include "sched/queue.h"

#define JOB_FREE 255 /* beside enum sched_state: a slot without a job */
#define JOB_NONE UINT32_MAX

struct job {
    struct queue_key key;
    struct place_ask ask;
    int64_t at;      /* reserved or started */
    int64_t booking; /* of a held or running job */
    uint64_t tag;
    uint64_t seen; /* of a held job: place in the log of what was freed when it was last tried */
    uint32_t generation; /* how often the slot was used: the upper half of the handle */
    uint32_t next;       /* in the list of free or of rejected jobs */
    uint8_t state;
    uint8_t shape; /* slot in the table of shapes */
};

/* What a sweep knows of all jobs that ask for the same (sweep.c). */
struct shape {
    struct place_ask ask;
    int64_t none_before; /* no window for it begins before this, */
    int64_t needs;       /* even if nothing were held from here on, */
    uint64_t seen;       /* as of this place in the log of what was freed */
};

/* The table has 2^8 slots, so that a byte names one; of more shapes at once some are forgotten. */
#define SHAPE_BITS 8

/* A held job whose time has come. */
struct due {
    struct queue_key key;
    uint32_t slot;
};

struct sched {
    struct place *place;
    int64_t depth;       /* jobs that may hold a reservation */
    int64_t queue_depth; /* waiting jobs a pass considers */
    enum sched_order order;

    struct job *jobs;
    uint32_t n_jobs; /* slots ever used */
    uint32_t cap_jobs;
    uint32_t free_job;
    uint32_t rejected; /* jobs that the next pass rejects, last one first */
    size_t running;
    uint64_t seq; /* of the next submission */
    int64_t now;

    struct queue *open;
    struct queue *held;
    struct heap due;
    struct due *due_list; /* room for all of the heap */
    size_t cap_due;

    bool swept;          /* no end since the last sweep */
    bool woken;          /* something else than a submission since the last pass */
    int64_t fresh_least; /* least units of the jobs submitted since; INT64_MAX: none */
    struct freed freed;
    struct shape shapes[1 << SHAPE_BITS];

    struct sched_decision *decisions;
    size_t n_decisions;
    size_t cap_decisions;
};

static inline sched_job_t job_handle(const sched_t *s, uint32_t slot)
{
    return (int64_t)((uint64_t)s->jobs[slot].generation << 32 | slot);
}

/* Make room for a decision, so that what follows can't fail for want of it: 0, or -1 with ENOMEM. */
int decision_reserve(sched_t *s);
void decision_add(sched_t *s, enum sched_decision_kind kind, uint32_t slot, int64_t at,
                  const char *reason);

/* Forget a job: its slot is free for another. */
void job_free(sched_t *s, uint32_t slot);

/* Take a job out of the held ones and give its booking back, noting what became free. */
void held_release(sched_t *s, uint32_t slot);

/* The slot for what is known of jobs that ask for this. */
uint8_t shape_slot(const struct place_ask *ask);

/* Move each reservation, in queue order, to its earliest time. 0, or -1 with ENOMEM: a part has been moved. */
int sweep(sched_t *s);

#endif
