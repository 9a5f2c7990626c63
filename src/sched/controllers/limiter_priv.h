/* What the files of limiter.h share. */
#ifndef SCHED_LIMITER_PRIV_H
#define SCHED_LIMITER_PRIV_H

#include "sched/controllers/limits.h"
#include "sched/sched_priv.h"

/* The job at hand: what its class asks for, or a booking. */
struct measured {
    const sched_t *s;
    int64_t booking;
    uint32_t class;
    bool is_shared; /* others of its user or queue have nodes that it might have, too */
    struct limits_nodes nodes;
};

/* For the ledger, of a struct measured: what a booking holds; what a class asks for, and what that adds at
 * least to what user and queue have.
 */
limits_amount_f measure_held, measure_wanted, measure_added;

/* To measure what a job, in this class, asks for. */
struct measured measure_request(const sched_t *s, uint32_t slot, uint32_t class);

/* The nodes that what is measured shares with others, or those of a list (NULL: none), for the ledger. They
 * are in `m`. NULL: there are none, or nobody counts nodes.
 */
const struct limits_nodes *measure_shared(struct measured *m, uint32_t slot);
const struct limits_nodes *measure_listed(struct measured *m, struct limits_list *list);

/* How limits are asked about the job at hand. */
struct limits_ask {
    limits_amount_f *amount;
    void *arg; /* for tail_meets, a struct measured */
    const struct limits_nodes *nodes;
};

/* A job that is promised a time at which one that has this window by its estimate may still be there, while limits of both
 * have no room for it then, beside all who may be there; JOB_NONE. `over` as for limits_start. O(jobs that are promised a
 * time), and if any is meant O(jobs that run) besides, where jobs have tails and limits.
 */
uint32_t tail_meets(const sched_t *s, uint32_t slot, struct limits_window window,
                    const struct limits_ask *ask, struct limits_over *over);

/* A window for what a job's booking holds, or (-1) for what it asks for. */
struct limits_window limits_window_of(const sched_t *s, uint32_t slot, int64_t booking, int64_t at,
                                      int64_t until);

/* As the controller's narrow and rethink: a choice among those nodes that user and queue have already and as many others as
 * may be, and when what they have changes.
 */
int narrow_nodes(sched_t *s, uint32_t slot, int64_t booking, int64_t at);
int64_t narrow_next(const sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t next);

/* Whether what a holder has may have been chosen so, or may be chosen on fewer nodes: these are limited, and it shares some, or
 * was refused more than it needs. O(what it holds).
 */
bool may_be_narrow(const sched_t *s, uint32_t slot);

/* As the controller's open, close, enter and put_back; and what a job has counts no more, where `open`
 * means that it may come back.
 */
int count_open(sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t until);
void count_close(sched_t *s, uint32_t slot, int64_t at, int64_t until);
int count_enter(sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t until);
void count_again(sched_t *s, uint32_t slot);
void count_leave(sched_t *s, uint32_t slot, int64_t booking, bool open);

#endif
