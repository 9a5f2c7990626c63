/* The driver: a scheduler in virtual time.
 *
 * It has the clock and knows which jobs run until when. At each instant jobs end, the shell's events happen,
 * and passes are run until none is due; it tells the shell what ended and what was decided. The replay of a
 * trace and the player of a scenario are its shells.
 *
 * Calls return 0, or -1 with errno. Jobs are small numbers that the shell chooses.
 */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "berth/error.h"
#include "berth/sched.h"

/* What a shell does. The first argument is its own. */
struct driver_shell {
    /* The next event happens: report it to the core, and set the time of the one that follows. Sets a text
     * if it fails.
     */
    int (*event)(void *shell, berth_error_t *err);

    /* The time has come at which a running job ends: call driver_finish. */
    int (*end)(void *shell, uint32_t job);

    /* A pass has decided: call driver_start for each job that starts; then, since a preempted job gives back
     * what it holds only after all else, driver_requeue or driver_finish for each of those.
     */
    int (*decided)(void *shell, const struct sched_decision *decision, size_t n);

    /* The instant is over; or NULL. */
    int (*settled)(void *shell);
};

struct driver {
    sched_t *sched;
    const struct driver_shell *shell;
    void *arg;
    bool per_event; /* a pass after each event: submissions first, then ends (doc/simulator.md) */

    int64_t now;
    int64_t event; /* when the shell's next event happens; INT64_MAX: there is none */
    int64_t also;  /* the same of what it does by itself, after which nothing else has to be told */
    int64_t live;  /* jobs that wait or run, if the shell counts them; else -1 */
    uint64_t passes, starts;

    struct heap ends; /* running jobs by their end and the order of their starts */
    int64_t due;      /* sched_next_time, as of the last pass */
    int64_t last;     /* sched_last_time, if nothing has happened since; -1: not known */
};

/* A driver at time 0, without events. It owns the scheduler. */
void driver_init(struct driver *d, sched_t *sched, const struct driver_shell *shell, void *arg);
void driver_clear(struct driver *d);

/* When to stop. */
enum driver_end {
    DRIVER_TO_END,    /* when no job can start or end any more */
    DRIVER_TO_EVENTS, /* after the instant of the last event */
    DRIVER_TO_TIME    /* after what happens at a time, which is then the present */
};

/* Let time pass. A text tells what failed. */
int driver_run(struct driver *d, enum driver_end end, int64_t until, berth_error_t *err);

/* A job starts now and will end at a time, unless something else ends it. */
int driver_start(struct driver *d, uint32_t job, int64_t end);

/* The job ends now: it was done or failed, is cancelled, or waits again. The core is told. */
int driver_finish(struct driver *d, uint32_t job, sched_job_t handle, bool ok);
int driver_cancel(struct driver *d, uint32_t job, sched_job_t handle);
int driver_requeue(struct driver *d, uint32_t job, sched_job_t handle);

#endif
