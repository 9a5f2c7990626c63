/* Changing jobs, queues and the machine of a scheduler with named queues (berth/sched_config.h).
 *
 * On another scheduler these calls fail with EINVAL. Those with an error text fail with EINVAL or ENOENT
 * for what does not exist or can't be, and ENOMEM. Each is an event: the next pass looks at what it may
 * concern.
 */
#ifndef BERTH_SCHED_ADMIN_H
#define BERTH_SCHED_ADMIN_H

#include "berth/resource.h"
#include "berth/sched_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Jobs ---- */

/* A member of an array that waits under the array's handle gets its own, to be held, cancelled or changed by itself.
 * What is done to the array's handle concerns all that wait under it. Its state and its place in the order are
 * what they were; what the array is promised is then for the next of those that are left. Of the last one the
 * handle is the array's, as is that of a member that has one already its own. EINVAL: there is no such member,
 * or it was rejected; ENOMEM. O(log n).
 */
sched_job_t sched_split(sched_t *s, int64_t now, sched_job_t array, uint32_t member);

/* Take back a job that has neither started nor been promised anything, as if it had never been submitted:
 * its id may be used again, and jobs that wait for it never start. EINVAL: there is no such job, or it is
 * too late. O(log n).
 */
int sched_withdraw(sched_t *s, int64_t now, sched_job_t job);

/* A running job has been stopped, as SCHED_PREEMPT with `requeue` asks for or for the shell's own reasons,
 * and waits again, with the place in the queue that it had; what it held is free. EINVAL: it isn't running;
 * ENOMEM. O(log n).
 */
int sched_requeue(sched_t *s, int64_t now, sched_job_t job);

/* The shell has begun to stop a running job for reasons of its own, as it was cancelled, say, and tells its end when it has
 * stopped. Until then it holds what it has. Who may have others stopped waits for what it leaves, as for jobs that were told
 * to stop (SCHED_AWAIT), and has others stopped only for what it lacks beside that; the job is told to stop for nobody. Where no
 * job may have others stopped nothing changes. EINVAL: it isn't running, or there are no named queues; ENOMEM. O(1).
 */
int sched_leave(sched_t *s, int64_t now, sched_job_t job);

/* Whether a running job that fails is to wait again, in place of itself: then the shell requeues it (sched_requeue)
 * and does not finish it. So a gang may have it, as often as it has members: each requeue of one counts. O(1).
 */
bool sched_replaces(const sched_t *s, sched_job_t job);

/* Hold a waiting job until it is released; its reservation is given up. EINVAL: it doesn't wait. */
int sched_hold(sched_t *s, int64_t now, sched_job_t job);
int sched_release(sched_t *s, int64_t now, sched_job_t job);

/* A waiting job starts at `begin` at the earliest, whatever it was submitted with; a reservation that it has is given up
 * if that is later than now. It is none of those that wait under an array's handle (sched_split). EINVAL: it doesn't
 * wait, or the time is none; ENOMEM. O(log n).
 */
int sched_set_begin(sched_t *s, int64_t now, sched_job_t job, int64_t begin);

/* Change the limit and the estimate (sched_request) of a waiting job, or of a running one, which is then
 * expected to end that long after its start, now at the earliest. Limit 0: it stays; estimate 0: the limit if
 * that is given and there is one, else it stays. Reservations that are in the way of a longer one move.
 * EINVAL: there is no such job, limit or estimate, or a waiting one could never start then; ENOMEM.
 */
int sched_set_duration(sched_t *s, int64_t now, sched_job_t job, int64_t limit, int64_t estimate,
                       berth_error_t *err);

/* Move a waiting job to another queue, with its time of submission. EINVAL: it does not wait, or the queue
 * does not take it, as it would not take a new one; ENOENT: there is no such queue; ENOMEM.
 */
int sched_set_queue(sched_t *s, int64_t now, sched_job_t job, const char *queue,
                    berth_error_t *err);

/* Let a waiting job ask for something else, with the place in its queue that it has; what it was promised is given up. Its
 * limit, estimate, queue and account stay, whatever the jobspec says of them. Of an array's handle it is that of all that wait
 * under it. EINVAL with a text: it doesn't wait, is a gang, the jobspec is wrong, or the queue would not take a new job that
 * asks for that; ENOMEM. O(length), else as sched_submit.
 */
int sched_set_jobspec(sched_t *s, int64_t now, sched_job_t job, const char *jobspec, size_t length,
                      berth_error_t *err);

/* From now on at most so many members of a job's array hold something at a time (sched_request's max_running; 0: any number).
 * Where there may be more, those that wait go on; where there may be fewer, none that runs is stopped, nor one for which others
 * are being stopped, and the last ones lose what they are promised. EINVAL with a text: it is of no array that is not over, or of
 * an array of gangs; a singleton's members run one at a time; so many of a gang start together. O(slots of the array).
 */
int sched_set_max_running(sched_t *s, int64_t now, sched_job_t job, uint32_t max_running,
                          berth_error_t *err);

/* Have a waiting job wait for others than before (sched_request's dependency; NULL or "": for nobody), and no longer for those.
 * What it was promised is given up if it has to wait. Of an array's handle it is that of all that wait under it. EINVAL with a
 * text: it doesn't wait, is a gang; there is no such job, or it was submitted later; what it would wait for can never come
 * about; of an array, whether it is a singleton changes; ENOMEM. O(length).
 */
int sched_set_dependency(sched_t *s, int64_t now, sched_job_t job, const char *dependency,
                         berth_error_t *err);

/* Charge a waiting job to another account (NULL: to the usual one of its user), in the place that it has; what it was promised
 * is given up. Of an array's handle it is that of all that wait under it. EINVAL with a text: it doesn't wait, is a gang, there
 * is no such account or it is not for the user, or its limits would not take a new job; ENOMEM. As sched_set_queue.
 */
int sched_set_account(sched_t *s, int64_t now, sched_job_t job, const char *account,
                      berth_error_t *err);

/* ---- Queues ---- */

/* Whether a queue takes new jobs (else they are rejected), and whether its waiting jobs may start. A
 * drained queue takes none and lets those that it has start; a stopped one starts none.
 */
int sched_queue_set(sched_t *s, int64_t now, const char *queue, bool enabled, bool started,
                    berth_error_t *err);

/* ---- Shares ---- */

/* Correct what a node of the tree of shares has used, decayed, as of now: to usage + part / 2^32, in the units of the
 * resources that count, which are added up. What is above it changes by as much, at least to 0; what is below it
 * does not. ENOENT with a text: there is no such node, nor a user who may have one; EINVAL; ENOMEM.
 */
int sched_share_set_usage(sched_t *s, int64_t now, const struct sched_share_name *node,
                          int64_t usage, uint32_t part, berth_error_t *err);

/* ---- The machine: jobs that can never start any more are rejected by the next pass (sched_submit) ---- */

/* Resources go down, are drained, or come up. Running jobs go on. */
int sched_set_status(sched_t *s, int64_t now, const char *resources, enum resource_status status,
                     berth_error_t *err);

/* Set a property of resources; value NULL: remove it. */
int sched_set_property(sched_t *s, int64_t now, const char *resources, const char *key,
                       const char *value, berth_error_t *err);

/* Add resources, a subgraph in JGF; and remove some: jobs keep the rest of what they hold. */
int sched_attach(sched_t *s, int64_t now, const char *jgf, size_t length, berth_error_t *err);
int sched_remove(sched_t *s, int64_t now, const char *resources, berth_error_t *err);

/* The running jobs that hold something of these resources: *n handles that belong to the core, valid until
 * its next call.
 */
int sched_holders(sched_t *s, const char *resources, const sched_job_t **jobs, size_t *n,
                  berth_error_t *err);

/* A running job needs some ranks no more (a set of ids, RFC 22): what it held of them is free, and it goes on with the
 * rest. EINVAL with a text: it isn't running, holds nothing of one of them, or nothing else, so that it is to be ended;
 * ENOMEM. O(vertices), and what the job holds.
 */
int sched_free_ranks(sched_t *s, int64_t now, sched_job_t job, const char *ranks,
                     berth_error_t *err);

/* Add a block, or change or remove the one of that name. Reservations that are in its way move, and
 * jobs that need more time than one that comes again leaves are rejected by the next pass (sched_submit).
 * Jobs that run go on; one without a limit whose estimate is over is stopped once a block is on (SCHED_STOP).
 */
int sched_block(sched_t *s, int64_t now, const struct sched_block *block, berth_error_t *err);
int sched_unblock(sched_t *s, int64_t now, const char *name, berth_error_t *err);

#ifdef __cplusplus
}
#endif

#endif
