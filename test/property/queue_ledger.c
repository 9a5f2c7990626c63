/* The laws that hold in every scene, by a ledger that knows only requests, decisions and what jobs say they
 * hold.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "queue_inner.h"
#include "told.h"

/* ---- Order and events ---- */

/* Between two priorities so many arrays are told apart by what is held of them, where a queue has classes and no order of its own
 * (doc/classes.md).
 */
static int64_t ranks_of_priority(const struct scene *c)
{
    bool any = false;
    for (size_t q = 0; q < c->config.config.n_queues; q++)
        any |= c->config.queue[q].by == SCHED_SHARE_CLASS &&
               strcmp(c->config.queue[q].policy, "ageing") != 0;
    return any ? 2048 : 1;
}

/* In the order of its queue's policy; the least goes first. */
static int64_t rank_of(const struct scene *c, const struct scene_job *j)
{
    const char *policy = c->config.queue[scene_lane(c, j->queue)].policy;
    if (strcmp(policy, "ageing") == 0)
        return j->submitted / c->config.config.second - 3600 * j->priority;
    return (-1 - j->priority) * ranks_of_priority(c);
}

bool scene_before(const struct scene *c, const struct scene_job *a, const struct scene_job *b)
{
    int64_t qa = c->config.queue[a->queue].priority, qb = c->config.queue[b->queue].priority;
    if (qa != qb)
        return qa > qb;
    int64_t ra = rank_of(c, a), rb = rank_of(c, b);
    return ra != rb ? ra < rb : a < b;
}

void ledger_excuse_all(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++)
        c->job[i].excused = true;
}

void ledger_came(struct scene *c, const struct scene_job *job)
{
    for (int i = 0; i < c->jobs; i++)
        if (&c->job[i] != job && scene_before(c, job, &c->job[i]))
            c->job[i].excused = true;
}

/* Who has lost a time, or has had a turn and could be promised nothing, has it by rank again. */
void ledger_returned(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *j = &c->job[i];
        if (!j->gone && !j->running && (j->put_back || j->state == SCHED_WAITING))
            ledger_came(c, j);
    }
}

void ledger_submitted(struct scene *c, struct scene_job *j)
{
    j->could = ledger_could_ever(c, j);
    SCENE_CHECK(c, j->could || j->state == SCHED_REJECTED);
    ledger_came(c, j);
}

/* Jobs may have become such as can never start, and stay so. */
void ledger_looked(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++) {
        struct scene_job *j = &c->job[i];
        if (!j->gone && !j->running)
            j->could &= ledger_could_ever(c, j);
    }
}

/* ---- A start ---- */

static bool dependency_met(const struct scene *c, const struct scene_job *j)
{
    const char *colon = strchr(j->dependency, ':');
    bool failed = false;
    if (!colon)
        return true;
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *on = &c->job[i];
        if (strcmp(on->id, colon + 1) != 0)
            continue;
        bool met = strncmp(j->dependency, "after:", 6) == 0     ? on->started || on->gone
                   : strncmp(j->dependency, "afterok:", 8) == 0 ? on->gone && on->ok
                                                                : on->gone;
        failed |= !on->ok;
        if (!met)
            return false;
    }
    return failed || strncmp(j->dependency, "afternotok:", 11) != 0;
}

static void check_holding(const struct scene *c, const struct scene_job *j)
{
    const struct holding *h = &j->holding;
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *k = &c->job[i];
        for (int v = 0; v < c->nodes && k != j && k->running; v++) {
            SCENE_CHECK(c, (h->cores[v] & k->holding.cores[v]) == 0);
            SCENE_CHECK(c, (h->gpus[v] & k->holding.gpus[v]) == 0);
            if (j->kind >= ASK_WHOLE || k->kind >= ASK_WHOLE)
                SCENE_CHECK(c, !(h->node[v] && k->holding.node[v]));
        }
    }
    for (int v = 0; v < c->nodes; v++)
        SCENE_CHECK(c, !h->node[v] || (!c->node[v].down && scene_in_part(c, j->queue, v)));
    SCENE_CHECK(c, holding_satisfies(c, j, h));
    SCENE_CHECK(c, !holding_over(c, j, h));
    SCENE_CHECK(c, !holding_over_job(c, j, h));
}

static bool is_of_lane(const struct scene *c, const struct scene_job *j, int lane)
{
    return !j->gone && scene_lane(c, j->queue) == lane;
}

static int64_t depth_of(const struct sched_queue_config *q)
{
    int64_t depth = INT64_MAX;
    if (strcmp(q->policy, "fcfs") == 0)
        return 0;
    if (strcmp(q->policy, "easy") == 0 || strcmp(q->policy, "ageing") == 0)
        return 1;
    if (strcmp(q->policy, "hybrid") == 0)
        depth = q->reservation_depth > 0 ? q->reservation_depth : 64;
    if (q->max_reservation_depth > 0 && q->max_reservation_depth < depth)
        depth = q->max_reservation_depth;
    return depth;
}

static int64_t queue_depth_of(const struct sched_queue_config *q)
{
    int64_t depth = q->queue_depth > 0 ? q->queue_depth : INT64_MAX;
    return q->max_queue_depth > 0 && q->max_queue_depth < depth ? q->max_queue_depth : depth;
}

/* Whether a limit may hold a job, in its queue or the one above it. */
static bool has_limits(const struct scene *c, const struct scene_job *j)
{
    const struct sched_queue_config *q = &c->config.queue[j->queue];
    const struct sched_queue_config *lane = &c->config.queue[scene_lane(c, j->queue)];
    return q->limits.n_user + q->limits.n_queue + q->n_exceptions + lane->limits.n_user +
               lane->limits.n_queue + lane->n_exceptions >
           0;
}

/* Whether a holder has another reservation at the end of this pass than it was promised. */
static bool is_promised_anew(const struct scene *c, const struct scene_job *j)
{
    return j->before == SCHED_RESERVED && j->state == SCHED_RESERVED &&
           sched_start_time(c->sched, j->handle) != j->promise;
}

/* Whether a job waits with one of its array that goes before it, which is the one that counts. */
static bool is_behind_another(const struct scene *c, const struct scene_job *j)
{
    for (int i = 0; i < c->jobs && j->entry >= 0; i++) {
        const struct scene_job *k = &c->job[i];
        if (k < j && !k->gone && !k->running && k->entry == j->entry)
            return true;
    }
    return false;
}

/* Whether a job holds a promise of a limit, beside the depth of its queue; which one in *limit. */
static bool is_kept(const struct scene *c, const struct scene_job *j,
                    struct sched_reason_limit *limit)
{
    struct sched_annotation a;
    if (j->gone || j->handle < 0 || sched_state(c->sched, j->handle) != SCHED_RESERVED)
        return false;
    SCENE_CHECK(c, sched_annotate(c->sched, j->handle, &a) == 0);
    *limit = a.reason.limit;
    return a.reason.kind == SCHED_REASON_LIMIT;
}

/* Whether what a job was promised in this pass may be a limit's promise, which counts for no depth, also if it starts by it. */
static bool may_be_kept(const struct scene *c, const struct scene_job *j)
{
    return j->promised && j->before == SCHED_WAITING && has_limits(c, j);
}

/* Whether of a job's array as many may have been promised a time in this pass as may hold one, which some have lost again. */
static bool may_be_full(const struct scene *c, const struct scene_job *j)
{
    bool has_most = j->most > 0 || strcmp(j->dependency, "singleton") == 0;
    for (int i = 0; i < c->jobs && has_most; i++)
        if (c->job[i].promised && strcmp(c->job[i].id, j->id) == 0)
            return true;
    return false;
}

/* Whether a waiting job has its turn later in this pass: a limit may have held it, as long as a reservation
 * behind it stood, when another one started. Where one was taken back it may wait again. The same goes for a
 * holder that something has come in the way of: it gives its reservation back, and a limit may hold it until
 * others behind it have given theirs.
 */
static bool has_turn_later(const struct scene *c, const struct scene_job *j)
{
    if (is_promised_anew(c, j))
        return j->nth == 0 && !j->preempts && c->gave_back && has_limits(c, j);
    return j->before == SCHED_WAITING && j->nth == 0 && !j->preempts &&
           (j->state != SCHED_WAITING || c->gave_back) && has_limits(c, j);
}

/* Whether somebody had a reservation when a pass began, or got one in it, and waits without one now. */
static bool gave_back(const struct scene *c, const struct sched_decision *d, size_t n)
{
    for (int i = 0; i < c->jobs; i++)
        if (!c->job[i].gone && c->job[i].before == SCHED_RESERVED &&
            c->job[i].state != SCHED_RESERVED && c->job[i].state != SCHED_RUNNING)
            return true;
    for (size_t i = 0; i < n; i++) {
        const struct scene_job *j = &c->job[d[i].tag + d[i].member];
        if (d[i].kind == SCHED_RESERVE && j->state != SCHED_RESERVED && j->state != SCHED_RUNNING)
            return true;
    }
    return false;
}

/* Whether a job that waits before and after a pass may have been kept by a limit in it, so that it stopped no queue: what
 * somebody of its lane was promised in the pass was given back again, for another time, or for one before it.
 */
static bool was_kept_meanwhile(const struct scene *c, const struct scene_job *k)
{
    if (k->before != SCHED_WAITING || k->state != SCHED_WAITING || !has_limits(c, k))
        return false;
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *j = &c->job[i];
        bool has_lost = j->promised && j->state == SCHED_WAITING;
        if ((j->promised_anew || has_lost) && is_of_lane(c, j, scene_lane(c, k->queue)))
            return true;
    }
    return false;
}

/* Who was eligible when the pass began and is so still goes first where nobody is promised anything, and
 * counts for the depth of the queue.
 */
static void check_order(const struct scene *c, const struct scene_job *j)
{
    int lane = scene_lane(c, j->queue);
    const struct sched_queue_config *q = &c->config.queue[lane];
    int64_t rank = 0;
    if (q->by == SCHED_SHARE_CLASS)
        return; /* another order */
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *k = &c->job[i];
        struct sched_reason_limit limit;
        if (k == j || !is_of_lane(c, k, lane) || k->running || !scene_before(c, k, j) ||
            is_behind_another(c, k) || k->limited || is_kept(c, k, &limit))
            continue;
        bool eligible =
            (k->before == SCHED_WAITING || k->before == SCHED_RESERVED) &&
            (k->state == SCHED_WAITING || k->state == SCHED_RESERVED || k->state == SCHED_RUNNING);
        rank += eligible && !has_turn_later(c, k) && !may_be_kept(c, k) && !may_be_full(c, k) &&
                !scene_needs_down(c, k);
        if (j->before !=
            SCHED_RESERVED) /* as who has preempted others is, also there: it has what it needs */
            SCENE_CHECK(c, depth_of(q) > 0 || !eligible || k->state == SCHED_RESERVED ||
                               (k->before == SCHED_RESERVED && k->preempts) ||
                               was_kept_meanwhile(c, k));
    }
    if (j->before != SCHED_RESERVED)
        SCENE_CHECK(c, rank < queue_depth_of(q));
}

/* What it holds by host is what R says. */
static void check_hosts(struct scene *c, const struct scene_job *j)
{
    struct sched_allocation given;
    const char *text;
    size_t length;
    SCENE_CHECK(c, sched_allocation(c->sched, j->handle, &given) == 0);
    char *held = told_hosts(given.hosts, given.n_hosts);
    SCENE_CHECK(c, sched_write(c->sched, j->handle, "rv1_nosched", &text, &length) == 0);
    char *said = told_hosts_of_r(text, length);
    SCENE_CHECK(c, strcmp(held, said) == 0);
    free(held);
    free(said);
}

/* Not more of an array run at a time than may. */
static void check_array(const struct scene *c, const struct scene_job *j)
{
    int running = 1;
    for (int i = 0; i < c->jobs; i++)
        running += c->job[i].running && j->members > 1 && strcmp(c->job[i].id, j->id) == 0;
    SCENE_CHECK(c, j->most == 0 || running <= j->most);
}

static void start(struct scene *c, struct scene_job *j, const struct sched_decision *d)
{
    SCENE_CHECK(c, !j->running && !j->gone && !j->held && j->begin <= c->now);
    SCENE_CHECK(c, !c->stopped[scene_lane(c, j->queue)]);
    SCENE_CHECK(c, d->at == c->now);
    SCENE_CHECK(c, d->until == (j->duration < SCENE_UNKNOWN ? c->now + j->duration : INT64_MAX));
    SCENE_CHECK(c, dependency_met(c, j));
    SCENE_CHECK(c, j->promise < 0 || j->excused || c->now <= j->promise);
    check_order(c, j);
    check_array(c, j);
    j->handle = d->job;
    j->running = j->started = true;
    j->preempts = false;
    j->start = c->now;
    j->until = d->until;
    j->end = c->now + j->lasts;
    j->promise = -1;
    j->expected = j->stopped = false;
    j->leaves_since = -1;
    const char *text;
    SCENE_CHECK(c, sched_resources(c->sched, j->handle, &text) == 0);
    holding_read(c, &j->holding, text);
    check_holding(c, j);
    check_hosts(c, j);
    holding_check_blocks(c, j);
    c->starts++;
}

/* The job that a victim is stopped for, or which waits for its end, has its resources from now on. */
static struct scene_job *waits_for_victim(struct scene *c, const struct sched_decision *d, int nth)
{
    int i = 0;
    while (i < c->jobs && (c->job[i].gone || c->job[i].handle != d->other))
        i++;
    SCENE_CHECK(c, i < c->jobs);
    c->job[i].preempts = true;
    c->job[i].nth = nth;
    return &c->job[i];
}

static void awaited(struct scene *c, const struct scene_job *j, const struct sched_decision *d,
                    int nth)
{
    bool is_out_of_time = j->limit < SCHED_UNLIMITED && c->now - j->start >= j->limit;
    SCENE_CHECK(c, j->running &&
                       (j->preempted || j->stopped || j->leaves_since >= 0 || is_out_of_time));
    waits_for_victim(c, d, nth);
}

static void preempted(struct scene *c, struct scene_job *j, const struct sched_decision *d, int nth)
{
    const struct sched_queue_config *q = &c->config.queue[scene_lane(c, j->queue)];
    const struct scene_job *by = waits_for_victim(c, d, nth);
    const struct sched_queue_config *other = &c->config.queue[scene_lane(c, by->queue)];
    SCENE_CHECK(c, j->running && c->now - j->start >= j->preemptible_after);
    SCENE_CHECK(c, c->now - j->start >= c->config.config.second);
    bool rebalances = q == other && q->classes.rebalance_threshold > 0;
    SCENE_CHECK(c, rebalances || q->preemptible != SCHED_NOT_PREEMPTIBLE);
    SCENE_CHECK(c, rebalances || other->preemptible == SCHED_NOT_PREEMPTIBLE);
    SCENE_CHECK(c, d->requeue == (q->preemptible != SCHED_PREEMPT_CANCEL));
    int64_t end = c->now + random_between(&c->random, 0, 2);
    j->end = end < j->end ? end : j->end;
    j->preempted = true;
    j->requeue = d->requeue;
    j->preempted_at = c->now;
    c->preemptions++;
}

static void rejected(struct scene *c, struct scene_job *j, const struct sched_decision *d)
{
    SCENE_CHECK(c, d->reason && d->reason->kind != SCHED_REASON_NONE);
    SCENE_CHECK(c, !j->running);
    if (d->reason->kind == SCHED_REASON_UNSATISFIABLE || d->reason->kind == SCHED_REASON_BLOCK)
        SCENE_CHECK(c, !j->could);
    sched_job_t handle = j->handle;
    for (int i = 0; i < c->jobs; i++)
        if (!c->job[i].gone && c->job[i].handle == handle) {
            scene_ended(c, &c->job[i], false);
            c->job[i].rejected = true;
        }
    c->rejections++;
}

/* ---- A pass ---- */

/* Whether a job waits whose queue is higher: what lower ones are promised gives way to it. */
static bool gives_way(const struct scene *c, const struct scene_job *j)
{
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *k = &c->job[i];
        if (!k->gone && !k->running &&
            c->config.queue[k->queue].priority > c->config.queue[j->queue].priority)
            return true;
    }
    return false;
}

/* Whether a job has no limit, has taken longer than its estimate, and a block is on that it may not use. */
static bool is_shut_out(const struct scene *c, const struct scene_job *j)
{
    if (j->limit < SCHED_UNLIMITED || c->now < j->start + j->duration)
        return false;
    for (int k = 0; k <= SCENE_BLOCKS; k++) {
        const struct scene_block *b = &c->block[k];
        if (!b->there || block_permits(c, &b->block, j) ||
            !block_is_in_way(&b->block, c->now, c->now + 1))
            continue;
        for (int i = b->node; i < b->node + b->nodes; i++)
            if (j->holding.node[i])
                return true;
    }
    return false;
}

void ledger_before_pass(struct scene *c)
{
    ledger_looked(c);
    for (int i = 0; i < c->jobs; i++) {
        struct scene_job *j = &c->job[i];
        bool is_over = c->now - j->start >= j->limit || j->stopped || is_shut_out(c, j);
        if (j->running && j->until <= c->now && is_over)
            ledger_excuse_all(
                c); /* else those are in time that are promised a start, not only expected */
        j->excused |= j->expected;
        j->promised = j->promised_anew = false;
        j->nth = 0;
        j->kept = j->promise;
        j->excused |= !j->gone && gives_way(c, j);
        if (!j->gone)
            j->before = scene_state(c, j);
        j->entry = scene_together(c, j) ? j->handle : -1;
        j->late = !j->gone && j->before == SCHED_RESERVED &&
                  sched_start_time(c->sched, j->handle) < c->now;
        struct sched_reason_limit limit;
        j->limited = is_kept(c, j, &limit);
        j->preempts &= j->before == SCHED_RESERVED;
        if (j->preempts && j->late)
            ledger_excuse_all(c); /* who has preempted others starts as late as these stop */
    }
}

/* Whether a job is behind more than its queue considers, when a pass has begun or has ended. */
static bool is_beyond_depth(const struct scene *c, const struct scene_job *k, bool begun)
{
    int lane = scene_lane(c, k->queue);
    int64_t before = 0;
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *j = &c->job[i];
        int state = begun ? j->before : j->state;
        before += !j->gone && scene_lane(c, j->queue) == lane && scene_before(c, j, k) &&
                  (state == SCHED_WAITING || state == SCHED_RESERVED);
    }
    return before >= queue_depth_of(&c->config.queue[lane]);
}

/* A pass has ended: which jobs it has left beyond their queue's depth, and before a holder of the queue. */
static void note_beyond(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++) {
        struct scene_job *j = &c->job[i];
        bool is_before = false;
        for (int k = 0; k < c->jobs; k++)
            is_before |= !c->job[k].gone && c->job[k].state == SCHED_RESERVED &&
                         scene_lane(c, c->job[k].queue) == scene_lane(c, j->queue) &&
                         scene_before(c, j, &c->job[k]);
        j->too_deep =
            is_before && !j->gone && j->state == SCHED_WAITING && is_beyond_depth(c, j, false);
    }
}

/* Whether a job that has become eligible in this pass may have gone before another since that was promised
 * a time in it: one that was blocked when the pass began, or beyond the depth of its queue, that limits may have kept
 * until something was given back, or that could not start where it was promised to as the pass came late. Or a job of a
 * higher queue.
 */
static bool is_passed_since(const struct scene *c, const struct scene_job *j)
{
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *k = &c->job[i];
        if (k->nth > j->nth && scene_before(c, k, j) &&
            (has_limits(c, k) || k->late || k->before == SCHED_BLOCKED ||
             is_beyond_depth(c, k, true)))
            return true;
    }
    return gives_way(c, j);
}

static void decide(struct scene *c, const struct sched_decision *d, int nth)
{
    struct scene_job *j = &c->job[d->tag + d->member];
    SCENE_CHECK(c, !j->gone && (j->members > 1 || d->job == j->handle));
    switch (d->kind) {
    case SCHED_START:
        start(c, j, d);
        break;
    case SCHED_RESERVE:
        SCENE_CHECK(c, d->at >= c->now);
        /* What a limit promises is behind those before it that a limit keeps, as it is given for these. */
        SCENE_CHECK(c, j->kept < 0 || j->excused || d->at <= j->kept ||
                           (j->limited && is_passed_since(c, j)));
        /* One that had preempted others, and must move as its queue has other nodes, gives way like others
         * then. So does one that only a limit kept, if the limit does so no more at the other time: it counts
         * for its queue's depth then, and may be beyond that. Classes are promised times in another order than they
         * keep them in. One whose time has passed before the pass is put off as others are. What is no later than
         * before the pass is nothing lost, nor is anything where limits are apart from estimates to one that may lose what
         * it was promised before.
         */
        SCENE_CHECK(c, !j->promised || j->expected || d->at <= j->promise || j->preempts ||
                           j->limited || is_passed_since(c, j) || c->options.classes ||
                           (c->options.apart && j->excused) ||
                           (j->kept >= 0 && (j->kept < c->now || d->at <= j->kept)));
        c->excused += j->promise >= 0 && d->at > j->promise;
        j->put_back |= j->promise >= 0 && d->at > j->promise;
        j->promise = d->at;
        j->expected = d->expected;
        j->promised = true;
        c->promises++;
        break;
    case SCHED_PREEMPT:
        preempted(c, j, d, nth);
        break;
    case SCHED_AWAIT:
        awaited(c, j, d, nth);
        break;
    case SCHED_REJECT:
        rejected(c, j, d);
        break;
    case SCHED_STOP:
        SCENE_CHECK(c, j->running && !j->stopped && is_shut_out(c, j));
        j->stopped = true;
        j->end = c->now;
        break;
    default:
        SCENE_CHECK(c, d->reason);
    }
    if (d->kind != SCHED_START && d->kind != SCHED_RESERVE)
        return;
    if (j->too_deep) /* it has come within the depth, and is new */
        ledger_came(c, j);
    j->too_deep = false;
    j->nth = nth;
}

/* Whether a limit of a queue reads as one of the queue that it is a virtual queue of: there are two then. */
static bool is_twofold(const struct scene *c, const struct scene_job *j,
                       const struct sched_reason_limit *limit)
{
    const struct sched_limits *a = &c->config.queue[j->queue].limits,
                              *b = &c->config.queue[scene_lane(c, j->queue)].limits;
    int64_t own, parents;
    return limit->whose == SCHED_OF_QUEUE && a != b &&
           limit_rule_of(a->queue, a->n_queue, NULL, 0, limit->what, &own) &&
           limit_rule_of(b->queue, b->n_queue, NULL, 0, limit->what, &parents) && own == parents;
}

/* Of the jobs that a limit keeps, it has promised a time to no more than the queue's policy would. */
static void check_kept(const struct scene *c, const struct scene_job *j)
{
    struct sched_reason_limit limit, other;
    int64_t n = 0, depth = depth_of(&c->config.queue[scene_lane(c, j->queue)]);
    if (!is_kept(c, j, &limit))
        return;
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *k = &c->job[i];
        n += k->queue == j->queue && !is_behind_another(c, k) && is_kept(c, k, &other) &&
             other.whose == limit.whose && (limit.whose == SCHED_OF_QUEUE || k->user == j->user) &&
             other.most == limit.most && strcmp(other.what, limit.what) == 0;
    }
    int64_t most = depth > 1 ? depth : 1;
    SCENE_CHECK(c, n <= most || (is_twofold(c, j, &limit) && n - most <= most));
}

static void check_lanes(const struct scene *c)
{
    int64_t held[SCENE_QUEUES] = {0}, preempting[SCENE_QUEUES] = {0};
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *j = &c->job[i];
        struct sched_annotation a;
        if (j->gone || j->state != SCHED_RESERVED)
            continue;
        SCENE_CHECK(c, sched_annotate(c->sched, j->handle, &a) == 0);
        check_kept(c, j);
        if (a.reason.kind == SCHED_REASON_PREEMPTING)
            preempting[scene_lane(c, j->queue)]++;
        else if (a.reason.kind != SCHED_REASON_LIMIT)
            held[scene_lane(c, j->queue)]++;
    }
    for (size_t q = 0; q < c->config.config.n_queues; q++)
        SCENE_CHECK(c, c->config.queue[q].parent || held[q] <= depth_of(&c->config.queue[q]));
}

static bool is_over_limit(const struct scene *c, const struct scene_job *j)
{
    struct sched_annotation a;
    SCENE_CHECK(c, sched_annotate(c->sched, j->handle, &a) == 0);
    return a.reason.kind == SCHED_REASON_LIMIT;
}

/* Whether a job that a limit had promised a time may have lost that to one before it. */
static bool gave_way(const struct scene *c, const struct scene_job *j)
{
    for (int i = 0; i < c->jobs && j->limited; i++) {
        const struct scene_job *k = &c->job[i];
        struct sched_reason_limit limit;
        if (k != j && k->promised && is_of_lane(c, k, scene_lane(c, j->queue)) &&
            scene_before(c, k, j) && is_kept(c, k, &limit))
            return true;
    }
    return false;
}

/* What a job is promised is what it was when that was told last. */
static void check_place(struct scene *c, struct scene_job *j)
{
    const char *text;
    if (sched_resources(c->sched, j->handle, &text) < 0)
        return;
    SCENE_CHECK(c, j->promised || strncmp(text, j->place, sizeof(j->place) - 1) == 0);
    snprintf(j->place, sizeof(j->place), "%s", text);
}

static void check_promises(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++) {
        struct scene_job *j = &c->job[i];
        if (j->gone)
            continue;
        SCENE_CHECK(c, (j->state == SCHED_RUNNING) == j->running);
        if (j->state == SCHED_RESERVED && j->promise >= 0) {
            int64_t at = sched_start_time(c->sched, j->handle);
            SCENE_CHECK(c, at <= j->promise || j->excused);
            if (at == j->promise && at > c->now) /* else it preempts others to start now */
                check_place(c, j);
        } else if (j->promise >= 0 && j->before == SCHED_WAITING &&
                   c->config.config.min_interval > 0) {
            continue; /* it was raised, and the pass that places it is yet to come */
        } else if (j->promise >= 0) {
            /* It may hold something else when it moves to an earlier time, and be over a limit then. Or it
             * was promised that in this very pass, and one before it had its turn later.
             */
            SCENE_CHECK(c, j->excused || is_over_limit(c, j) || gave_way(c, j) ||
                               (j->kept < 0 && is_passed_since(c, j)));
            j->promise = -1;
            j->put_back = true;
        }
        if (j->promised)
            j->excused = false;
    }
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Decisions as lines; reasons told come in any order. */
static void log_decisions(struct scene *c, const struct sched_decision *d, size_t n)
{
    static const char *const kinds[] = {"start",   "reserve", "reject", "wait",
                                        "preempt", "stop",    "await"};
    char **line = calloc(n + 1, sizeof(*line));
    size_t lines = 0;
    assert_non_null(line);
    for (size_t i = 0; i < n; i++) {
        struct scene_job *j = &c->job[d[i].tag + d[i].member];
        char text[300], reason[SCHED_REASON_TEXT];
        const char *resources = "";
        if ((d[i].kind == SCHED_START || d[i].kind == SCHED_RESERVE) && !j->gone &&
            sched_resources(c->sched, j->handle, &resources) < 0)
            resources = "";
        snprintf(text, sizeof(text), "%" PRId64 " %s %s.%u %" PRId64 " %" PRId64 " %d %d %s %s\n",
                 c->now, kinds[d[i].kind], j->id, j->member, d[i].at, d[i].until,
                 d[i].kind == SCHED_START && !c->options.starts_only ? (int)d[i].how : 0,
                 d[i].requeue || d[i].expected, sched_reason_text(d[i].reason, reason), resources);
        if ((d[i].kind == SCHED_WAIT && c->options.no_reasons) ||
            (d[i].kind == SCHED_RESERVE && c->options.starts_only))
            continue;
        if (d[i].kind == SCHED_RESERVE && d[i].at == j->logged)
            continue; /* other resources at the same time */
        j->logged = d[i].kind == SCHED_RESERVE ? d[i].at : -1;
        if (d[i].kind == SCHED_WAIT)
            line[lines++] = strdup(text);
        else
            strbuf_puts(&c->log, text);
        if (d[i].kind == SCHED_START && c->options.handles)
            scene_note(c, "as %" PRId64 "\n", d[i].job);
    }
    qsort(line, lines, sizeof(*line), compare_lines);
    for (size_t i = 0; i < lines; i++) {
        strbuf_puts(&c->log, line[i]);
        free(line[i]);
    }
    free(line);
}

void ledger_pass(struct scene *c, const struct sched_decision *d, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (d[i].kind == SCHED_START)
            c->job[d[i].tag + d[i].member].handle = d[i].job;
    scene_handles(c);
    for (int i = 0; i < c->jobs; i++) {
        struct scene_job *j = &c->job[i];
        if (j->gone)
            continue;
        int state = scene_state(c, j);
        /* The next member of an array may have been blocked by a limit, and let go on, in this very pass. Behind
         * one that a limit has promised a time, and that has started, it has its turn as a new job, and may start.
         */
        bool came_forward = j->entry >= 0 && j->before == SCHED_WAITING &&
                            ((state == SCHED_RESERVED && has_limits(c, j)) ||
                             (state == SCHED_RUNNING && j->limited));
        if (((j->before == SCHED_BLOCKED || j->state == SCHED_BLOCKED) && state != SCHED_BLOCKED) ||
            came_forward)
            ledger_came(c, j);
        j->state = state;
    }
    c->gave_back = gave_back(c, d, n);
    for (size_t i = 0; i < n; i++) {
        struct scene_job *j = &c->job[d[i].tag + d[i].member];
        j->promised_anew |= d[i].kind == SCHED_RESERVE && j->state == SCHED_RESERVED &&
                            sched_start_time(c->sched, j->handle) != d[i].at;
    }
    log_decisions(c, d, n);
    for (size_t i = 0; i < n; i++)
        decide(c, &d[i], (int)i + 1);
    note_beyond(c);
    check_promises(c);
    check_lanes(c);
    for (int i = 0; i < c->jobs && c->options.disturbed;
         i++) /* whose turn the pass was cut off before */
        if (!c->job[i].gone && c->job[i].before == SCHED_BLOCKED &&
            c->job[i].state == SCHED_WAITING)
            ledger_came(c, &c->job[i]);
    for (int i = 0; i < c->jobs; i++)
        SCENE_CHECK(c, !c->job[i].running || c->job[i].stopped || c->job[i].preempted ||
                           !is_shut_out(c, &c->job[i]));
    for (int i = 0; i < c->jobs && c->config.config.min_interval == 0; i++)
        SCENE_CHECK(c, c->job[i].gone || c->job[i].running || c->job[i].could);
}

/* ---- The end ---- */

static bool waits_for_stuck(const struct scene *c, const struct scene_job *j)
{
    const char *colon = strchr(j->dependency, ':');
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *k = &c->job[i];
        if (k == j || k->gone)
            continue;
        if (colon ? strcmp(k->id, colon + 1) == 0 : k->user == j->user)
            return true;
    }
    return false;
}

void ledger_end(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *j = &c->job[i];
        struct sched_annotation a;
        char text[SCHED_REASON_TEXT];
        if (j->gone)
            continue;
        SCENE_CHECK(c, sched_annotate(c->sched, j->handle, &a) == 0);
        if (!c->options.no_reasons)
            strbuf_puts(&c->log, sched_reason_text(&a.reason, text));
        if (a.state == SCHED_BLOCKED && a.reason.kind == SCHED_REASON_DEPENDENCY) {
            SCENE_CHECK(c, waits_for_stuck(c, j));
            continue;
        }
        if (a.state == SCHED_BLOCKED) {
            SCENE_CHECK(c, a.reason.kind == SCHED_REASON_LIMIT && scene_limited(c, j));
            continue;
        }
        SCENE_CHECK(c, a.state == SCHED_WAITING);
        int lane = scene_lane(c, j->queue);
        bool behind = false;
        for (int k = 0; k < c->jobs; k++)
            behind |= k != i && is_of_lane(c, &c->job[k], lane) && scene_before(c, &c->job[k], j);
        const struct sched_queue_config *q = &c->config.queue[lane];
        bool cut = behind && (depth_of(q) == 0 || queue_depth_of(q) < INT64_MAX);
        SCENE_CHECK(c, cut || !ledger_could_ever(c, j) || c->block[SCENE_BLOCKS].there);
    }
}
