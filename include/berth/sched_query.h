/* Questions to a scheduler: which jobs it has, why they wait, what they hold, and what would let them
 * start. But for sched_cores they are for schedulers with named queues (berth/sched_config.h), and fail
 * with EINVAL on others.
 */
#ifndef BERTH_SCHED_QUERY_H
#define BERTH_SCHED_QUERY_H

#include "berth/resource.h"
#include "berth/sched.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Jobs ---- */

/* All jobs, in the order of submission; -1: there is none, or no more. O(1). */
sched_job_t sched_first(const sched_t *s);
sched_job_t sched_next(const sched_t *s, sched_job_t job);

/* A job's handle by its id (and member; 0 if it is no array), or -1 with ENOENT. */
sched_job_t sched_find(const sched_t *s, const char *id, uint32_t member);

/* The handle of an array's member of index i, by the handle of any: its own, or the array's, under which those wait
 * that have none. -1 with EINVAL. It is valid until that member is forgotten.
 */
sched_job_t sched_member(sched_t *s, sched_job_t array, uint32_t i);

/* Which member of an array a handle is of; of those that wait under the array's, the first. 0: it is no array. -1 with
 * EINVAL. And all that wait under it, as a set of ids as in `indices`, "" where it is one job or member's own: *text
 * belongs to the core and is valid until its next call. Returns their number, 1 for that, or -1 with EINVAL or
 * ENOMEM.
 */
int64_t sched_index(const sched_t *s, sched_job_t job);
int64_t sched_members(sched_t *s, sched_job_t job, const char **text);

/* The account that a new job of a user would be of, which may name one (else NULL): *account is a text of the core's,
 * valid until the next configuration, or NULL where there are no accounts. EINVAL with a text: there is no such
 * account, or it is not the user's.
 */
int sched_account(sched_t *s, const char *user, const char *name, const char **account,
                  berth_error_t *err);

/* What a user wants to know of a job. */
struct sched_annotation {
    enum sched_state state;
    uint64_t tag;
    const char *id, *queue, *user;
    const char *account; /* NULL: it is of none */
    uint32_t member, members;
    int64_t priority;
    int64_t submitted;

    /* Of a running job; when a waiting one, also one that only a limit keeps, will start as far as can be said
     * now; -1: unknown.
     */
    int64_t start;

    /* `start` is the earliest fit beside all that is booked, of a waiting job that is promised nothing: it
     * starts no sooner unless jobs end early, and later if those that stand before it take the room.
     */
    bool not_before;

    /* Of a reserved job: `start` is expected, not promised (sched_decision). */
    bool expected;

    /* Of a running or reserved job: when it is expected to have ended, INT64_MAX if nobody knows; else -1. */
    int64_t until;

    /* Ticks; SCHED_UNLIMITED: it has none. Of a job that is rejected, without meaning. */
    int64_t limit;

    /* Why it waits or is rejected; of kind SCHED_REASON_NONE for others. */
    struct sched_reason reason;

    /* Of a running job. */
    enum sched_how how;

    /* Of a job that waits for resources: the jobs that hold such, in the order of their ends; of one that has
     * preempted jobs, those.
     */
    const sched_job_t *holders;
    size_t n_holders;
};

/* *annotation points to what belongs to the core and is valid until its next call. EINVAL: no such job;
 * ENOMEM. For a job without a reservation the start is that of the earliest fit beside all that is booked:
 * a match. Of the first job of a queue that promises nothing, where lower queues have jobs that wait, it is
 * the time up to which these leave it room: a booking, but no promise.
 */
int sched_annotate(sched_t *s, sched_job_t job, struct sched_annotation *annotation);

/* The same of a job that no pass has looked at yet: where its queue has a promise for it, `start` is what the next pass
 * would promise it or, if `expected` is true, expect of it, unless it then starts sooner by having others stopped.
 * `not_before` is false then. So it is where limits keep it, which promise it a time, and where shares or actions say whose
 * turn it is, if no other job has yet to be looked at, and the promises of all others stand: where one
 * becomes only expected, all have another turn in that pass, and where one is lost or put off, the new job may be promised what
 * is only expected here. A limit that has no room only as it counts a job that is being stopped, and the job that waits for its end
 * as well, does not keep the new job: it is told that it starts now. A match for each time that is tried, and O(reservations + running jobs that may be stopped).
 */
int sched_annotate_new(sched_t *s, sched_job_t job, struct sched_annotation *annotation);

/* How ready a gang is: enough of it run, have succeeded or have room; they would have if all were gone that run and may
 * be stopped for it (jobs of preemptible queues that their gangs can spare); or not even then.
 */
enum sched_readiness { SCHED_NOT_READY, SCHED_CONDITIONALLY_READY, SCHED_READY };

struct sched_role_now {
    const char *name; /* valid as long as the job is there */
    uint32_t min, running, succeeded, allocated, conditional;
};

struct sched_gang_now {
    uint32_t min, running, succeeded;

    /* While fewer than min run or have succeeded: of those that are to start together, how many there is room for now,
     * whatever it is promised itself; and how many more there would be room for if those were gone. 0 where it waits for
     * something else than room.
     */
    uint32_t allocated, conditional;
    enum sched_readiness readiness;

    /* The same of each role, if it has some; it is as ready as the one that is least so. */
    struct sched_role_now role[SCHED_ROLES_MAX];
    size_t n_roles;
};

/* What is so of the gang of a job, by any of its handles; a job of none is one of one member. EINVAL: there is no such
 * job; ENOMEM. O(victims) and two matches for each member.
 */
int sched_gang_look(sched_t *s, sched_job_t job, struct sched_gang_now *now);

/* The handle that asks for all of the gang of a job that are to start together: its reason, its estimate and what it is
 * promised are those of the gang, and each other one has SCHED_REASON_GANG_WAITS. -1: there is no such job, it is of no gang,
 * or its members wait one by one. O(1).
 */
sched_job_t sched_gang_leader(const sched_t *s, sched_job_t job);

/* Whether a member of a job's gang is one of those that start together with what the gang is promised, or claims: as many
 * of its role as are missing, those first that wait by themselves. O(slots of the gang).
 */
bool sched_gang_starts(const sched_t *s, sched_job_t job, uint32_t member);

/* The jobs that are being stopped for a waiting one, which starts when the last of them has ended: how many,
 * of which up to `most` handles are written, in no particular order. 0 also where there is no such job. O(1)
 * for a job that has preempted none, else O(running preemptible jobs).
 */
size_t sched_victims(const sched_t *s, sched_job_t job, sched_job_t *victims, size_t most);

/* The first of the jobs that wait for the end of a running one, which is being stopped; -1: nobody waits for that. O(running
 * jobs that are being stopped).
 */
sched_job_t sched_preemptor(const sched_t *s, sched_job_t job);

/* Whether a job that waits, or an array's entry, has a claim: resources that are withheld for it, whose start nobody knows
 * (starvation-threshold in berth-config(5)). O(1).
 */
bool sched_claims(const sched_t *s, sched_job_t job);

/* Whether a running job is backfilled: it runs on what others may have, as its queue is preemptible, its preemptible-after is
 * over and its gang can spare it, or as it has come to a claim that admits jobs of unknown end. What is idle of a node and
 * what such jobs hold is accessible. O(members of its gang); where claims admit such jobs, O(what it and all claims hold).
 */
bool sched_is_filling(const sched_t *s, sched_job_t job);

/* Of a job that is promised nothing and waits for resources, or that limits alone keep, its annotation's start: it starts no
 * sooner unless jobs end early. -1: of any other, or unknown; ENOMEM. A match, which sched_annotate makes as well.
 */
int64_t sched_not_before(sched_t *s, sched_job_t job);

/* The time by which a job is to have started, that it or its jobspec names or that follows from its queue, whether or
 * not its queue goes by deadlines; SCHED_UNLIMITED: none, or there is no such job. O(1).
 */
int64_t sched_deadline(const sched_t *s, sched_job_t job);

/* When a job without a limit is stopped for a block (SCHED_STOP) unless it has ended by then, and for which. For a running
 * job this follows from what it holds and from its estimate. For a waiting job it is the first block that begins after the job
 * may have started and its estimate is over, whatever the job will hold. -1: for none, or there is no such job.
 * O(blocks + what it holds); of one that waits and is promised nothing also a match, as for sched_not_before.
 */
int64_t sched_stop_time(sched_t *s, sched_job_t job, const char **block);

/* Counts of a queue's jobs by state (enum sched_state) now, and of what has been decided. ENOENT: no such
 * queue.
 */
struct sched_queue_stats {
    size_t now[SCHED_BLOCKED + 1];
    uint64_t submitted, started, finished, cancelled, rejected, preempted, reprioritized;
    bool enabled, started_up;
};
int sched_queue_stats(const sched_t *s, const char *queue, struct sched_queue_stats *stats);

/* ---- What a job holds ---- */

struct sched_allocation {
    const struct resource_host *hosts;
    size_t n_hosts;
};

/* What a running or reserved job holds, by host, as R says it (RFC 20), but in the order of their names, n2 before
 * n10: hosts on which it has cores or GPUs. It belongs to the core and is valid until its next call. EINVAL: it holds
 * nothing, or a host has no rank; ENOMEM.
 */
int sched_allocation(sched_t *s, sched_job_t job, struct sched_allocation *allocation);

/* All that such a job holds, as text: a short one for people, "node[0-1]/core[0-3]", or in one of
 * match_write's formats. *text belongs to the core and is valid until its next call.
 */
int sched_resources(sched_t *s, sched_job_t job, const char **text);
int sched_write(sched_t *s, sched_job_t job, const char *format, const char **text, size_t *length);

/* The number that such a job's resources have in the matcher (berth/match.h), by which match_find knows it. -1 with EINVAL: it
 * holds nothing. O(1).
 */
int64_t sched_booking(const sched_t *s, sched_job_t job);

/* How much of a resource type such a job really holds: of a node that it has to itself, all that is in it; of
 * type "node", the nodes on which it holds anything. -1 with EINVAL: it holds nothing. O(what it holds).
 */
int64_t sched_amount(const sched_t *s, sched_job_t job, const char *type);

/* The cores that a running job has, of a scheduler made by sched_create_match or sched_create: *n ranges,
 * ascending, with gaps between them, that belong to the core and are valid until its next call. Cores are
 * numbered from 0 over the whole machine, those that are down too, in the order in which a walk from the
 * root that enters each vertex before its next sibling meets them. On a flat machine *n is 0. Returns 0, or
 * -1 with EINVAL (the job isn't running) or ENOMEM. O(cores of the job).
 */
int sched_cores(sched_t *s, sched_job_t job, const struct resource_range **ranges, size_t *n);

/* ---- What if it asked for less ---- */

/* What a waiting job would ask for in place of its request. */
struct sched_instead {
    /* Of its text the resources and constraints count; NULL: its own. */
    const char *jobspec;
    size_t jobspec_length;

    /* Ticks, at most its own estimate, which would be its limit as well; 0: its own limit and estimate. */
    int64_t duration;
};

/* How much could it ask for? The largest n from `least` to `most` with which it would start. */
struct sched_question {
    /* What it asks for with n; what `instead` points to is valid until the next call. It calls nothing of
     * the scheduler's. Returns 0, or -1 with errno.
     */
    int (*make)(void *context, int64_t n, struct sched_instead *instead);
    void *context;
    int64_t least, most;

    /* The answer; least - 1: with none of them, or there is none. */
    int64_t found;
};

/* If a waiting job asked for less, would it start in a pass at `now`, at its place in the order, as if it
 * had just been submitted again with that request? What a pass goes by counts: what runs, what is promised
 * to others and which of these it goes before, its queue (policy, depth, stopped), limits, blocks, and what
 * else it waits for. That it might preempt others does not.
 *
 * Nothing is changed, and no pass is run: all decisions to come are the same as without the question.
 * Answers hold if nothing has happened since the last pass and none is due. Then a job for which the answer
 * is yes starts, unless it has a promise, and as soon as that is not in its way a job before it preempts others,
 * or gets an earlier time than it was promised or other resources. One for which it is no might start all the same where a job
 * before it in the order would take its turn, because this one gives up its promise, which that one may be
 * given, or because limits let that one go on, or refuse what it would get, so that its queue considers another
 * one in its place; where another member of its array is promised a time, and it goes before that; where
 * a promise to another leaves it room by choosing other resources or an earlier time; where a limit of nodes
 * lets it start only on other nodes than those that the policy would choose; where it waits for others that are
 * being stopped, or has a claim, of which the answer is no; or where more promises
 * to jobs behind it are in its way, or more jobs before it are to be asked, than the configuration has
 * (what_if_holders, what_if_tries). Answers are found by halves: less is taken to find room where more does,
 * and to be within limits.
 *
 * Returns 0, or -1 with a text: EINVAL (no such job waits, now is before the last call's, a duration is too
 * long, a jobspec is wrong or names a type that the machine doesn't have), what `make` failed with, ENOMEM.
 * Then the answers are undefined.
 *
 * O(log (most - least)) matches for each question; but for that, promises to jobs behind it which start
 * while it would run, and if it has one itself, the kinds of jobs (sched_pass) before it.
 */
int sched_what_if(sched_t *s, int64_t now, sched_job_t job, struct sched_question *questions,
                  size_t n, berth_error_t *err);

#ifdef __cplusplus
}
#endif

#endif
