/* Controllers: who has a say in when a job starts, beside the machine and the order of the queues. Each is
 * a row of a table, in a file of its own; the rest of the core asks all rows and knows none of them. A
 * scheduler without queues has no rows.
 *
 * Rows are asked in the order of the table (controller.c). An entry that is NULL has nothing to do then.
 */
#ifndef SCHED_CONTROLLER_H
#define SCHED_CONTROLLER_H

#include "sched/sched_priv.h"

struct controller {
    const char *name;
    uint8_t
        block; /* the reason for which it keeps a job out of its lane (BLOCK_HOLD ...); 0: none */

    /* ---- A job's way ---- */

    /* Whether a job that is submitted is to wait for the controller; -1: ENOMEM. And it is in its queue. */
    int (*waits)(sched_t *s, uint32_t slot, const struct sched_request *request);
    void (*entered)(sched_t *s, uint32_t slot);

    /* Have memory for what `started` notes. Returns 0, or -1 with ENOMEM. */
    int (*prepare)(sched_t *s, uint32_t slot);
    void (*started)(sched_t *s, uint32_t slot, enum sched_how how);

    /* What it holds or is promised is about to be given back. */
    void (*released)(sched_t *s, uint32_t slot);

    /* A member of an array gets a slot of its own, in which it is blocked as the entry is: have memory for what that
     * notes. Returns 0, or -1 with ENOMEM. And it has it.
     */
    int (*part)(sched_t *s, uint32_t slot, uint32_t part);
    void (*parted)(sched_t *s, uint32_t part);

    /* It ran, and waits again; has ended in whatever way; is forgotten. */
    void (*requeued)(sched_t *s, uint32_t slot);
    void (*ended)(sched_t *s, uint32_t slot, enum job_end end);
    void (*forgotten)(sched_t *s, uint32_t slot);

    /* Something has ended: let go one of those that waited for that, or reject it. STEP_FAILED: the next call
     * goes on.
     */
    enum step (*resolve)(sched_t *s);

    /* ---- May it go on? ---- */

    /* Whether an open job may: STEP_BUSY if so; STEP_KEPT: not now; STEP_DONE: it is blocked, also where it might
     * be promised a later time; STEP_FAILED: no memory. And what becomes of one that is kept: STEP_DONE: it is
     * blocked; STEP_BUSY: it may be promised a time beside the depth of its lane; STEP_FAILED.
     */
    enum step (*gate)(sched_t *s, uint32_t slot);
    enum step (*keep)(sched_t *s, uint32_t slot);

    /* The first time on or after `from` from which on it may, by what it asks for at least, or by what a
     * booking holds (-1: none); INT64_MAX: never.
     */
    int64_t (*when)(const sched_t *s, uint32_t slot, int64_t booking, int64_t from);

    /* Measure a booking from `at` on and count it. STEP_BUSY if that is done; STEP_KEPT: it may not hold it
     * then; STEP_DONE: it never may, and is rejected: the booking of an open job is the caller's still, that
     * of a held one is given back; STEP_FAILED.
     */
    enum step (*count)(sched_t *s, uint32_t slot, int64_t booking, int64_t at);
    void (*uncount)(sched_t *s, uint32_t slot, int64_t booking);

    /* What is counted of a held or running job counts for a while no more; and is counted again as it was, of
     * what its booking holds by now. Neither fails.
     */
    void (*set_aside)(sched_t *s, uint32_t slot);
    void (*put_back)(sched_t *s, uint32_t slot);

    /* Whether it may be, beside what is counted by now. */
    bool (*may_return)(const sched_t *s, uint32_t slot);

    /* Something that a held or running job had is free now. */
    void (*freed)(sched_t *s, uint32_t slot);

    /* What a booking from `at` on holds it may not hold then: narrow the machine's choice (place.h) to what
     * it may rather hold. 1, 0 if it doesn't know better, or -1 with ENOMEM. And the first time after `at` at
     * which it might know better, at most `next`.
     */
    int (*narrow)(sched_t *s, uint32_t slot, int64_t booking, int64_t at);
    int64_t (*rethink)(const sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t next);

    /* Have memory to count a job with this booking during [at, until); and give that up. Returns 0, or -1
     * with ENOMEM.
     */
    int (*open)(sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t until);
    void (*close)(sched_t *s, uint32_t slot, int64_t at, int64_t until);

    /* Count a booking during [at, until), which was not counted or is elsewhere now, whatever it holds.
     * Returns 0, or -1 with ENOMEM and nothing changed.
     */
    int (*enter)(sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t until);

    /* Whether a job that is not counted could go on at a time if it asked for this instead, and hold a booking during
     * [at, at + duration).
     */
    bool (*may_ask)(const sched_t *s, uint32_t slot, const struct place_ask *ask, int64_t at);
    bool (*may_hold)(const sched_t *s, uint32_t slot, int64_t duration, int64_t booking,
                     int64_t at);

    /* Why a job waits that it keeps out of its lane. */
    void (*reason)(const sched_t *s, uint32_t slot, struct sched_reason *why);

    /* ---- In a pass ---- */

    /* What has come with time, or has changed: as steps, of one job each where there may be many. */
    enum step (*turn)(sched_t *s);

    /* Let jobs go on that are blocked for no reason any more, one by one; `again`: at the end of the pass,
     * which is to look at them again for that (pass.let counts them).
     */
    enum step (*settle)(sched_t *s, bool again);

    /* An open job can't start, or a job holds a reservation for later: make room for it, so that it starts
     * now or as soon as that is there. STEP_BUSY: that can't be done. It needs not be tried again until
     * something was freed, or `more_preemptible` counts on (queues.h).
     */
    enum step (*make_room)(sched_t *s, uint32_t slot);
    enum step (*make_room_for_holder)(sched_t *s, uint32_t slot);

    /* Whether it may make room for jobs of a lane. */
    bool (*may_make_room)(const sched_t *s, const struct lane *lane);

    /* A pass is over that was not cut off. */
    void (*passed)(sched_t *s);

    /* The next time at which it makes a pass due; INT64_MAX: none. */
    int64_t (*next_time)(const sched_t *s);
};

/* The rows of a scheduler with queues, and of one without; NULL ends them. */
extern const struct controller *const controllers_all[];
extern const struct controller *const controllers_none[];

#endif
