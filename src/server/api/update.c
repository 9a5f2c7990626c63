/* Changes of jobs, or of members of arrays by themselves: hold, release, priority, limit, estimate, queue; and of plain jobs
 * when they begin. What waiting jobs ask for is rewrite.c's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "config/keys.h"
#include "server/api/api.h"
#include "server/api/job_read.h"
#include "server/api/rewrite.h"
#include "server/core/job_text.h"
#include "server/core/machine.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/work.h"

/* ---- What is asked for ---- */

static const struct key change_keys[] = {
    KEY_OF(struct api_change, priority, KEY_WHOLE, .min = -SCHED_PRIORITY_MAX,
           .max = SCHED_PRIORITY_MAX),
    KEY_AS(struct api_change, limit, "duration", KEY_DURATION, .max = JOB_DURATION_MAX,
           .word = "unlimited"),
    KEY_AS(struct api_change, limit, "limit", KEY_DURATION, .max = JOB_DURATION_MAX,
           .word = "unlimited"),
    KEY_AS(struct api_change, estimate, "estimate", KEY_DURATION, .max = JOB_DURATION_MAX,
           .word = "unknown"),
    KEY_OF(struct api_change, queue, KEY_TEXT),
    KEY_OF(struct api_change, first, KEY_BOOL),
    KEY_AS(struct api_change, begin_at, "begin", KEY_ANY),
    KEY_OF(struct api_change, hold, KEY_ANY),
};

static int read_change(struct call *c, struct api_change *to)
{
    const struct key_table table = {"", change_keys, sizeof(change_keys) / sizeof(*change_keys)};
    const struct key_place place = {"request", 0};
    berth_error_t why = {""};
    if (!json_is_object(c->body))
        return api_refuse(c, 400, NULL, "expected an object");
    if (keys_read(c->body, &table, &place, to, &why) < 0)
        return api_wrong(c, &why);
    to->has_priority = json_is_integer(json_object_get(c->body, "priority"));
    if (to->hold && !json_is_boolean(to->hold)) {
        keys_wrong(&place, "", "hold", to->hold, "true or false", &why);
        return api_wrong(c, &why);
    }
    if (to->first && to->has_priority)
        return api_refuse(c, 400, "first", "expected either first or a priority");
    to->has_begin = to->begin_at != NULL;
    if (to->begin_at && !begin_read(c->s, to->begin_at, &to->begin)) {
        keys_wrong(&place, "", "begin", to->begin_at, BEGIN_EXPECTED, &why);
        return api_wrong(c, &why);
    }
    if (to->queue && !machine_queue(c->s, to->queue))
        return api_refuse(c, 400, "queue", "there is no queue \"%.100s\"", to->queue);
    return 0;
}

int api_change_check(struct call *c)
{
    struct api_change to = {0};
    if (api_is_rewrite(c->body))
        return api_rewrite_check(c);
    return read_change(c, &to);
}

/* The priority that puts a job before all others that wait in its queue: what it has, if that does. O(jobs). */
static int64_t first_priority(const server_t *s, const struct job *job, const char *queue)
{
    int64_t most = -SCHED_PRIORITY_MAX, least, limit;
    for (size_t i = 0; i < s->table.n; i++) {
        const struct job *other = s->table.jobs[i].job;
        bool waits = other && other != job && other->counts[STORE_PENDING] > 0;
        if (waits && strcmp(other->queue, queue) == 0 && other->priority > most)
            most = other->priority;
    }
    if (job->priority > most)
        return job->priority;
    sched_priorities(s->sched, &least, &limit);
    return most < limit ? most + 1 : most;
}

static void find_first(const server_t *s, const struct job *job, struct api_change *to)
{
    if (!to->first)
        return;
    to->has_priority = true;
    to->priority = first_priority(s, job, to->queue ? to->queue : job->queue);
}

/* Check that the change is allowed, before anything is changed: of a job with a priority and a limit. */
static int check_change(struct call *c, const struct api_change *to, int64_t priority,
                        int64_t limit, bool waits, bool runs)
{
    bool rules = c->s->options.for_all && !c->admin;
    if ((to->has_priority || to->queue || to->hold || to->has_begin) && !waits)
        return api_refuse(c, 409, NULL, "job %s is already running", c->rest);
    if (to->queue && c->member >= 0)
        return api_refuse(c, 400, "queue",
                          "the members of an array are in one queue: name job %lld",
                          (long long)c->id);
    if (to->queue && runs)
        return api_refuse(c, 409, "queue", "job %s has members that are already running", c->rest);
    if (to->has_begin && (c->member >= 0 || job_lookup(c->s, c->id)->members > 1))
        return api_refuse(c, 400, "begin", "expected a job that is no array");
    if (rules && to->has_priority && to->priority > 0 && to->priority > priority)
        return api_refuse(c, 403, "priority", "only administrators may raise a priority above 0");
    if (rules && runs && to->limit > limit)
        return api_refuse(c, 403, "duration",
                          "only administrators may give a running job more time");
    return 0;
}

static bool changes_time(const struct api_change *to)
{
    return to->limit > 0 || to->estimate > 0;
}

/* A limit alone is the estimate too, as it is of a job that is submitted with it. */
static void set_times(struct job *job, const struct api_change *to)
{
    if (to->limit > 0)
        job->limit = to->limit;
    if (to->estimate > 0)
        job->estimate = to->estimate;
    else if (to->limit > 0 && to->limit < SCHED_UNLIMITED)
        job->estimate = to->limit;
}

static int refuse_priority(const server_t *s, berth_error_t *why)
{
    int64_t least, most;
    if (errno != EINVAL)
        return errtext_set(why, errno, "%s", strerror(errno));
    sched_priorities(s->sched, &least, &most);
    return errtext_set(why, EINVAL, "expected a number from %lld to %lld", (long long)least,
                       (long long)most);
}

/* Apply the changed properties of a job, or of a member, to a handle of it. Returns 0, or -1 with a text and
 * its key.
 */
static int change_in_core(server_t *s, const struct job *job, const struct member *m,
                          sched_job_t handle, bool waits, const struct api_change *to,
                          const char **key, berth_error_t *why)
{
    int64_t limit = member_limit(job, m), estimate = member_estimate(job, m);
    *key = NULL;
    if (handle < 0)
        return 0;
    if (waits && to->queue && sched_set_queue(s->sched, s->clock.now, handle, job->queue, why) < 0)
        return -1;
    if (changes_time(to) &&
        sched_set_duration(s->sched, s->clock.now, handle, limit, estimate, why) < 0)
        return -1;
    *key = "priority";
    if (waits && to->has_priority &&
        sched_prioritize(s->sched, s->clock.now, handle, member_priority(job, m)) < 0)
        return refuse_priority(s, why);
    *key = "hold";
    if (waits && to->hold &&
        (member_held(job, m) ? sched_hold(s->sched, s->clock.now, handle)
                             : sched_release(s->sched, s->clock.now, handle)) < 0)
        return errtext_set(why, errno, "out of memory");
    *key = "begin";
    if (waits && to->has_begin && sched_set_begin(s->sched, s->clock.now, handle, to->begin) < 0)
        return errtext_set(why, errno, "%s", strerror(errno));
    return 0;
}

/* The same for all members that wait in an array's entry. */
static int change_entry(server_t *s, struct job *job, const struct api_change *to, const char **key,
                        berth_error_t *why)
{
    static const struct member alike;
    int rc = change_in_core(s, job, &alike, job->entry, true, to, key, why);
    int saved = errno;
    entry_follow(s, job); /* the reservation that the core dropped must leave the store */
    errno = saved;
    return rc;
}

/* The same for a member, unless it waits in the entry. */
static int change_member(server_t *s, struct job *job, uint32_t i, const struct api_change *to,
                         const char **key, berth_error_t *why)
{
    struct member *m = member_record(job, i);
    *key = NULL;
    if (!m || !member_is_live(m) || member_is_in_entry(job, i))
        return 0;
    if (m->unstarted)
        return errtext_no_memory(why);
    bool waits = m->state == STORE_PENDING;
    if (change_in_core(s, job, m, m->handle, waits, to, key, why) < 0)
        return -1;
    if (waits && to->hold && !member_held(job, m))
        member_changed(s, job, i); /* it waits since now */
    if (waits && to->has_begin)
        member_changed(s, job, i); /* the store keeps it */
    if (changes_time(to) && m->run) {
        member_changed(s, job, i);
        run_arm_timer(s, m->run);
    }
    if (waits && m->reserved && sched_state(s->sched, m->handle) != SCHED_RESERVED) {
        member_changed(s, job, i); /* as above */
        m->reserved = false;
        m->at = -1;
    }
    return 0;
}

static void set_held(server_t *s, struct job *job, bool held)
{
    s->table.n_held -= job_held(job);
    job->held = held;
    s->table.n_held += job_held(job);
}

/* ---- Changes of a member by itself ---- */

/* What a member has of its own after a change. */
static struct own changed_own(const struct job *job, const struct member *m,
                              const struct api_change *to)
{
    struct own own = own_of(m);
    struct job times = {.limit = member_limit(job, m), .estimate = member_estimate(job, m)};
    set_times(&times, to);
    if (to->has_priority)
        own.priority = to->priority;
    if (to->hold)
        own.held = json_is_true(to->hold);
    own.has_priority = own.has_priority || to->has_priority;
    own.has_hold = own.has_hold || to->hold;
    if (changes_time(to)) {
        own.has_times = true;
        own.limit = times.limit;
        own.estimate = times.estimate;
    }
    return own;
}

static void tell_job_change(struct call *c, const struct api_change *to)
{
    server_t *s = c->s;
    if (to->hold)
        server_event(s, c->id, c->member, json_is_true(to->hold) ? "held" : "released",
                     api_event_by(c));
    if (to->queue || changes_time(to) || to->has_priority || to->has_begin)
        api_event_body(c, "changed", NULL, NULL);
}

/* Whether it is so already: a member that nothing becomes of stays where it is. */
static bool changes_nothing(const struct job *job, const struct member *m,
                            const struct api_change *to)
{
    return !changes_time(to) && (!to->has_priority || to->priority == member_priority(job, m)) &&
           (!to->hold || json_is_true(to->hold) == member_held(job, m));
}

/* Change a member, which gets a record and a handle of its own. Returns 0, or -1 and the call is refused. */
static int change_alone(struct call *c, struct job *job, const struct api_change *to)
{
    server_t *s = c->s;
    uint32_t i = (uint32_t)c->member;
    const struct member *was = member_look(job, i);
    bool waits = was->state == STORE_PENDING;
    const char *key = NULL;
    berth_error_t why = {""};
    if (check_change(c, to, member_priority(job, was), member_limit(job, was), waits, !waits) < 0)
        return -1;
    if (changes_nothing(job, was, to))
        return 0;
    if (entry_find_parts(s, job) < 0)
        return api_refuse(c, 503, NULL, "out of memory");
    member_recover_handle(s, job, i);
    if (was->unstarted || (waits && member_split(s, job, i) < 0))
        return api_refuse(c, 503, NULL, "out of memory");
    struct member *m = member_record(job, i);
    struct own before = own_of(m), after = changed_own(job, m, to);
    if (own_set(s, job, m, &after) < 0)
        return api_refuse(c, 503, NULL, "out of memory");
    member_changed(s, job, i);
    if (change_member(s, job, i, to, &key, &why) == 0) {
        tell_job_change(c, to);
        return 0;
    }
    if (key || errno == ENOMEM)
        api_refuse(c, errno == ENOMEM ? 503 : 400, key, "%s", why.text);
    else
        api_wrong(c, &why);
    own_set(s, job, m, &before);
    change_member(s, job, i, to, &key, &why);
    return -1;
}

/* ---- Changes of a job ---- */

void progress_clear(struct progress *p)
{
    free(p->had);
}

/* A member goes by its job in what is changed of that. Returns 0, or -1 with ENOMEM. */
static int follow_job(server_t *s, struct job *job, struct progress *p, uint32_t i)
{
    struct member *m = member_record(job, i);
    const struct api_change *to = &p->to;
    struct own own = own_of(m);
    bool any = (own.has_hold && to->hold) || (own.has_priority && to->has_priority) ||
               (own.has_times && changes_time(to));
    if (!any || !member_is_live(m))
        return 0;
    if (array_grow((void **)&p->had, &p->cap_had, p->n_had + 1, sizeof(*p->had)) < 0)
        return -1;
    p->had[p->n_had++] = (struct had_own){i, own};
    own.has_hold = own.has_hold && !to->hold;
    own.has_priority = own.has_priority && !to->has_priority;
    own.has_times = own.has_times && !changes_time(to);
    own_set(s, job, m, &own);
    member_changed(s, job, i);
    return 0;
}

/* It goes by what it had of its own again, unless it was given other since. */
static void unfollow_job(server_t *s, struct job *job, struct progress *p, uint32_t i)
{
    struct member *m = member_record(job, i);
    if (p->n_had == 0 || p->had[p->n_had - 1].member != i)
        return;
    p->n_had--;
    if (!member_is_live(m))
        return;
    own_set(s, job, m, &p->had[p->n_had].own);
    member_changed(s, job, i);
}

/* Check the change, and change the job. Returns 0; 1: it was a member, and all is done; or -1 and the call is
 * refused.
 */
static int change_begin(struct call *c, struct progress *p)
{
    struct api_change *to = &p->to;
    struct job *job = api_job(c);
    if (!job || read_change(c, to) < 0)
        return -1;
    find_first(c->s, job, to);
    if (c->member >= 0)
        return change_alone(c, job, to) < 0 ? -1 : 1;
    if (check_change(c, to, job->priority, job->limit, job->counts[STORE_PENDING] > 0,
                     job_running(job) > 0) < 0)
        return -1;
    const char *queue = to->queue ? server_intern_name(c->s, to->queue) : NULL;
    if ((to->queue && !queue) || entry_find_parts(c->s, job) < 0)
        return api_refuse(c, 503, NULL, "out of memory");
    p->begun = true;
    p->was.queue = job->queue;
    p->was.priority = job->priority;
    p->was.limit = job->limit;
    p->was.estimate = job->estimate;
    p->was.held = job->held;
    to->queue = queue;
    if (queue)
        job->queue = queue;
    if (to->has_priority)
        job->priority = to->priority;
    set_times(job, to);
    if (to->hold)
        set_held(c->s, job, json_is_true(to->hold));
    job_changed(c->s, job); /* now, as the job may end before all its members are changed */
    return 0;
}

/* Undo the change of the job, except where it was changed again since. Its members follow. */
static void change_back(server_t *s, struct job *job, struct progress *p)
{
    const struct api_change *to = &p->to;
    p->goes_back = true;
    p->to.has_begin = false; /* it is changed last */
    if (to->queue && job->queue == to->queue)
        job->queue = p->was.queue;
    if (to->has_priority && job->priority == to->priority)
        job->priority = p->was.priority;
    struct job changed = {.limit = p->was.limit, .estimate = p->was.estimate};
    set_times(&changed, to);
    if (job->limit == changed.limit && job->estimate == changed.estimate) {
        job->limit = p->was.limit;
        job->estimate = p->was.estimate;
    }
    if (to->hold && job->held == json_is_true(to->hold))
        set_held(s, job, p->was.held);
    job_changed(s, job);
}

/* Go on to the next of those that are changed one by one: an array's entry first, and then the members that
 * have handles of their own. False: there are no more.
 */
static bool next_change(const struct job *job, struct progress *p)
{
    return !p->entry || (p->next = member_next_own(job, p->next)) < job->members;
}

static int change_next(server_t *s, struct job *job, struct progress *p, const char **key,
                       berth_error_t *why)
{
    if (!p->entry)
        return change_entry(s, job, &p->to, key, why);
    *key = NULL;
    if (follow_job(s, job, p, p->next) < 0)
        return errtext_no_memory(why);
    if (change_member(s, job, p->next, &p->to, key, why) == 0)
        return 0;
    int saved = errno;
    unfollow_job(s, job, p, p->next);
    errno = saved;
    return -1;
}

static void change_member_back(server_t *s, struct job *job, struct progress *p, uint32_t i)
{
    berth_error_t why;
    const char *key;
    if (i >= job->members || !member_record(job, i))
        return;
    unfollow_job(s, job, p, i);
    change_member(s, job, i, &p->to, &key, &why);
}

/* Change one member after the other; if one can't be changed, undo all before it. */
int api_change(struct call *c, struct progress *p, size_t *steps)
{
    berth_error_t why = {""};
    const char *key;
    if (!p->begun && api_is_rewrite(c->body)) {
        if (api_rewrite(c) == 0)
            api_done(c);
        return 1;
    }
    int rc = p->begun ? 0 : change_begin(c, p);
    if (rc > 0)
        api_done(c);
    if (rc != 0)
        return 1;
    struct job *job = job_lookup(c->s, c->id);
    for (; job && !p->goes_back && next_change(job, p); p->next += p->entry, p->entry = true) {
        if (*steps == 0)
            return 0;
        work_spend(steps, 1);
        if (change_next(c->s, job, p, &key, &why) == 0)
            continue;
        if (key || errno == ENOMEM)
            api_refuse(c, errno == ENOMEM ? 503 : 400, key, "%s", why.text);
        else
            api_wrong(c, &why);
        change_back(c->s, job, p);
        break;
    }
    for (; job && p->goes_back && p->next > 0; p->next--) {
        if (*steps == 0)
            return 0;
        work_spend(steps, p->next < job->members && member_record(job, p->next) ? 1 : 0);
        change_member_back(c->s, job, p, p->next);
    }
    if (job && p->goes_back) {
        change_member_back(c->s, job, p, 0);
        change_entry(c->s, job, &p->to, &key, &why);
    }
    if (p->goes_back)
        return 1;
    tell_job_change(c, &p->to);
    api_done(c);
    return 1;
}
