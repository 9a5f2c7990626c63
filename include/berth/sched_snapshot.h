/* Keeping the state of a scheduler with named queues (berth/sched_config.h), and restoring it in another
 * process.
 *
 * A scheduler that is made with the same machine and configuration is told, in this order: what has ended
 * (sched_restore_ended), what shares have used (sched_restore_usage), all jobs in the order of sched_first and
 * sched_next (sched_restore), for how long classes have been uneven (sched_restore_uneven), when the last pass was
 * (sched_restore_passed) and the matcher's hints (sched_restore_hints). Then events and passes go on, and it decides
 * as the other would have.
 */
#ifndef BERTH_SCHED_SNAPSHOT_H
#define BERTH_SCHED_SNAPSHOT_H

#include "berth/sched_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A job that waits for the end of another one: its id, and of an array the member's index. */
struct sched_awaiting {
    const char *id;
    uint32_t member;
};

/* A job as another scheduler needs to know it. */
struct sched_record {
    /* Of an array, `members`, `indices` and `max_running` are those of the whole. */
    struct sched_request request;
    uint32_t member;

    /* Of an array's handle: which members wait under it, as `indices`. NULL: it is one job or member. */
    const char *waiting;
    enum sched_state state;

    /* When it was submitted, and since when it has been pending: submitted, released, requeued last. 0: then. */
    int64_t submitted, since;

    /* Of a waiting job that starves: it claims `resources` from `at` on, without an end. */
    bool claim;

    /* Of a running or reserved job, or of a claim: when it starts, when it is expected to end (INT64_MAX: nobody
     * knows), and what it holds, in a format of match_update (NULL: jgf); of members that are promised a start
     * together, a list of that in JGF. What sched_record says is in JGF. NULL resources: a running job holds nothing of
     * this machine (any more).
     */
    int64_t at, until;
    const char *resources;
    size_t resources_length;
    const char *format;
    enum sched_how how;

    /* Of a reserved job that stands beside its queue's depth: why, as text (sched_reason_text), which is the limit
     * that alone keeps it, or that it was starving; else NULL.
     */
    const char *limit;

    /* Of a member of a gang: how many have succeeded, and how often one was replaced. The text of why it is over;
     * NULL: it is not.
     */
    uint32_t succeeded, replaced;
    uint32_t role_succeeded[SCHED_ROLES_MAX]; /* of these, of each of its roles */
    bool gang_up;                             /* one of them runs, or enough have succeeded */
    const char *gang_over;

    /* Of a running job: the shell has been told to stop it for others (SCHED_PREEMPT), and which of these wait for its end,
     * the first one first. None: they do so no more, or it is not known.
     */
    bool stopping;
    const struct sched_awaiting *awaited_by;
    size_t n_awaited_by;

    /* Of a running job: the shell has been told to stop it as its gang is over (SCHED_STOP). */
    bool dismissed;

    /* Of a running job without a limit: a block has begun for which it is stopped. */
    bool cleared;

    /* Of a running job: the shell stops it by itself (sched_leave). */
    bool leaving;

    /* Of a reserved job: others are stopped for it, and `resources` are what they still use, or have left to it. */
    bool preempts;

    /* Of a reserved job: its start is expected, not promised (sched_decision); and it waits for limits. */
    bool expected, waits;

    /* Of a reserved job: nothing was freed since a pass looked at it. Else the next pass with an end does so. */
    bool seen;

    /* By sched_hold or request.hold. */
    bool held;

    /* As text (sched_reason_text): why a waiting job waits, as last told; why a rejected one is. */
    const char *reason;

    /* No pass has looked at it since it was submitted, raised or released. */
    bool fresh;

    /* Of a waiting job: it was promised a start at that time until the machine took that away, or could be
     * promised none as too much was down (then `promised` is later than any time). When something comes back, the
     * job is placed by its rank. If `fresh` too, something has.
     */
    bool displaced;
    int64_t promised;

    /* The next pass tells why it waits, if that is not `reason`; without a reason it does so anyway. */
    bool untold;
};

/* What sched_restore needs of a job, as it is after a pass; what pointers lead to belongs to the core and
 * is valid until its next call. EINVAL: no such job; ENOMEM.
 */
int sched_record(sched_t *s, sched_job_t job, struct sched_record *record);

/* Restore a job. Returns its handle. EINVAL with a text: it can't be restored: what it holds is not there
 * or not free, its queue is gone; ENOMEM. A running job may be in the way of a reservation, if it was given
 * more time since the last pass: both are restored as they were, and the next pass moves the reservation.
 * Of a scheduler whose pass was cut off (sched_pass_some) two reservations may be in each other's way: the
 * second one can't be restored, but its job can, as one that waits and is fresh.
 */
sched_job_t sched_restore(sched_t *s, int64_t now, const struct sched_record *record,
                          berth_error_t *err);

/* A job has ended before; for those that depend on it. EINVAL: a job of this id and member is known;
 * ENOMEM.
 */
int sched_restore_ended(sched_t *s, const char *id, uint32_t member, uint32_t members, bool ok);

/* The same for many members of an array, of which nothing is known yet. Sets are texts as `indices`; "": none.
 * EINVAL also: such a text is wrong, or names others than there are.
 */
struct sched_ended {
    const char *id;
    uint32_t members;
    const char *indices; /* NULL: all up to `members` */
    const char *ok, *failed;
};
int sched_restore_ended_members(sched_t *s, const struct sched_ended *ended);

/* Such an array was a gang whose others go on when a member fails (or is replaced): for those that depend on it it has
 * ended well where so many members have.
 */
void sched_restore_enough(sched_t *s, const char *id, uint32_t enough);

/* What sched_restore_enough is to say of an array, by its id, as long as others may depend on it; 0: nothing, as all of it
 * are needed. Of a gang of several roles that is all where one of them has too few left. O(1).
 */
uint32_t sched_enough(const sched_t *s, const char *id);

/* What a node of the tree of shares has used (berth/sched_config.h), decayed, as of a time. */
#define SCHED_USAGE_DIGITS 32
struct sched_usage {
    struct sched_share_name node;
    int64_t at;

    /* The usage times 2^32, in hexadecimal digits. */
    char amount[SCHED_USAGE_DIGITS + 1];
};

/* How many nodes there are, 0 without shares, and what one of them has used: the names are the core's and valid
 * until its next configuration. EINVAL: there is none of this number; ENOENT: it is a class, or in one, of which
 * nothing is kept. O(1).
 */
size_t sched_usages(const sched_t *s);
int sched_usage(const sched_t *s, size_t i, struct sched_usage *usage);

/* Tell what a node had used; before all jobs, and nodes in the order in which sched_usage has them. It holds once
 * sched_restore_passed is called, and what ran is then counted to the digit as in the other scheduler. ENOENT with a
 * text: there is no such node any more; EINVAL: it is no amount or no time; ENOMEM.
 */
int sched_restore_usage(sched_t *s, const struct sched_usage *usage, berth_error_t *err);

/* The numbers of the nodes of which sched_usage says something else than it did when they were kept last
 * (sched_usages_kept), or which are new: *nodes belongs to the core and is valid until its next call. Returns how
 * many. Another configuration numbers nodes anew, and then all are among them.
 */
size_t sched_usages_changed(const sched_t *s, const uint32_t **nodes);
void sched_usages_kept(sched_t *s);

/* The running jobs whose expected end (`until`) the last call of sched_pass or sched_pass_some has put off, as they run on
 * after it: a record made before is no longer what they are. A job that goes on is among them ever more rarely, each time
 * after about as long as it has overrun so far. *jobs belongs to the core and is valid until the next pass. Returns how
 * many. O(1).
 */
size_t sched_extended(const sched_t *s, const sched_job_t **jobs);

/* Classes of a queue have been too far from their percentages since a time, at each pass (berth/classes.h). If nobody
 * could be stopped when that was so last, and nothing has happened since, it rests until a time (INT64_MAX: as long as
 * nothing happens), else 0.
 */
struct sched_uneven {
    const char *queue;
    int64_t since, rests;
};

/* Write the first `most` of the queues of which that is so; the names are valid until the next configuration. Returns
 * how many there are. And tell that it was so, after all jobs. ENOENT: there is no such queue any more, or it doesn't
 * rebalance; EINVAL: it is no time. O(queues).
 */
size_t sched_unevens(const sched_t *s, struct sched_uneven *list, size_t most);
int sched_restore_uneven(sched_t *s, const struct sched_uneven *uneven);

/* What the last pass has left to the next one. Restored after all jobs. EINVAL: a time before -1 or after `now`. */
struct sched_passed {
    int64_t at;      /* when it was; -1: never */
    uint64_t events; /* how many there were since */

    /* Even if there were none, the next one tries again whether others can be stopped for those who hold reservations,
     * and what starving jobs can be given.
     */
    bool tries_holders, tries_starving;
};
void sched_passed(const sched_t *s, struct sched_passed *passed);
int sched_restore_passed(sched_t *s, int64_t now, const struct sched_passed *passed);

/* Match policies that take what they find first (first, firstnodex, locality, ...) go by what was taken
 * before. A text of that, valid until the next call; and take it up, on a machine that was made and changed
 * alike. EINVAL with a text: it is of another machine; ENOMEM.
 */
int sched_hints(sched_t *s, const char **text, size_t *length);
int sched_restore_hints(sched_t *s, const char *text, size_t length, berth_error_t *err);

#ifdef __cplusplus
}
#endif

#endif
