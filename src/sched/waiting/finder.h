/* Finding the open jobs of a lane that may fit what is free now.
 *
 * On a machine that counts units, what a job asks for says whether it fits: finder_by_units looks a lane's open
 * jobs through by units and duration (queue.h). On a graph it does not: finder_by_group goes by what has been
 * learned of jobs that ask for the same (job_group.h).
 */
#ifndef SCHED_FINDER_H
#define SCHED_FINDER_H

#include "sched/sched_priv.h"

struct finder {
    /* An open job is there, and is no more. add returns 0, or -1 with ENOMEM; reserve has memory for add,
     * also if a job is removed before: 0, or -1 with ENOMEM.
     */
    int (*add)(sched_t *s, uint32_t slot);
    int (*reserve)(sched_t *s, uint32_t slot);
    void (*remove)(sched_t *s, uint32_t slot);

    /* A job's place is another's, which asks for the same. */
    void (*give)(sched_t *s, uint32_t slot, uint32_t to);

    /* Whether it is known that a job does not fit now; and it has been found that it does not. */
    bool (*is_hopeless)(const sched_t *s, uint32_t slot);
    void (*failed)(sched_t *s, uint32_t slot);

    /* Look again at what happened since the last call may have let fit, or at all. */
    void (*wake)(sched_t *s, bool all);

    /* A walk: the next job of a line of a lane in queue order, after those that this walk has had, that may fit
     * beside all reservations now; JOB_NONE if there is none, or -1 through *failed with ENOMEM. And it has
     * been looked at under a key: on to the next. Returns 0, or -1 with ENOMEM.
     */
    void (*begin)(struct lane *lane, struct line *line);
    uint32_t (*next)(sched_t *s, struct lane *lane, struct line *line, bool *failed);
    int (*done)(sched_t *s, uint32_t slot, struct queue_key key);

    /* An open job that this walk has not had in its new place has got another key, or asks for something else: it was removed and
     * added.
     */
    void (*moved)(sched_t *s, uint32_t slot);

    /* The open jobs of a lane that may fit beside all reservations now, whether or not the walk has had them, in no order.
     * Returns how many there are, or -1 if there are more than MAY_FIT_MAX or it is not known. O(kinds + such jobs *
     * log open).
     */
    int (*list)(sched_t *s, struct lane *lane, uint32_t *slots);

    bool (*check)(const sched_t *s);
};

extern const struct finder finder_by_units, finder_by_group;

#endif
