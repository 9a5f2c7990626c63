/* What the store knows, taken up again: jobs that run are adopted, those that wait keep their order and
 * their promises.
 *
 * First all is read, then the core is told of members that have ended and that others may depend on, then
 * it is given the jobs in the order of their submission. What can't be given back to it fails, with the
 * reason.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_snapshot.h"
#include "server/core/job_text.h"
#include "server/core/json_parts.h"
#include "server/core/lists.h"

/* What is only needed until the core has the job. */
struct loading {
    server_t *s;
    struct job *job; /* the last one read */
    struct promise { /* what members hold or are promised */
        struct job *job;
        uint32_t member;
        int64_t at, until;
        char *resources;
    } * promises;
    size_t n_promises, cap_promises, next;
    struct job_parts *parts; /* of each job in the table */
    size_t cap_parts;
    size_t failed;
    berth_error_t *err;
};

static int load_job(void *context, const struct store_job *from)
{
    struct loading *l = context;
    server_t *s = l->s;
    struct job *job = job_make(from->id, from->members > 0 ? from->members : 1);
    l->job = NULL;
    if (!job ||
        array_grow((void **)&l->parts, &l->cap_parts, s->table.n + 1, sizeof(*l->parts)) < 0) {
        job_discard(s, job);
        return -1;
    }
    job->uid = from->uid;
    job->gid = from->gid;
    job->user = server_name(s, from->user);
    job->queue = server_name(s, from->queue);
    job->name = strdup(from->name);
    job->request = strdup(from->request);
    struct job_parts *parts = &l->parts[s->table.n];
    *parts = (struct job_parts){0};
    if (job->request)
        job_parts(job->request, parts);
    struct json_part shown = parts->shown;
    job->row = shown.length > 2 ? strndup(shown.at + 1, shown.length - 2) : strdup("");
    job->priority = from->priority;
    job->held = from->held;
    job->duration = from->duration;
    job->submitted = from->submitted;
    job->submitted_wall = from->submitted_wall;
    job->nodes = from->nodes;
    job->cores = from->cores;
    job->gpus = from->gpus;
    job->requeue = parts->requeue.length == 4; /* true */
    job->limited = parts->limited.length == 4;
    job->bytes = job->request ? strlen(job->request) : 0;
    if (!job->user || !job->queue || !job->name || !job->row || !job->request ||
        job_enter(s, job) < 0) {
        job_discard(s, job);
        errno = ENOMEM;
        return -1;
    }
    l->job = job;
    return 0;
}

static int load_promise(struct loading *l, const struct store_member *from)
{
    if (array_grow((void **)&l->promises, &l->cap_promises, l->n_promises + 1,
                   sizeof(*l->promises)) < 0)
        return -1;
    char *resources = strdup(from->resources);
    if (!resources)
        return -1;
    l->promises[l->n_promises++] =
        (struct promise){l->job, from->member, from->at, from->until, resources};
    return 0;
}

static int load_run(struct loading *l, struct member *m, const struct store_member *from)
{
    /* Of which of two that have a key the engine tells, nobody knows; without one it tells of none. */
    if (from->key == 0 || from->key > ENGINE_KEY_MAX || run_lookup(l->s, from->key))
        return errtext_set(l->err, EINVAL,
                           "%s/berth.db: the file is damaged: job %" PRId64 ": the key of a run",
                           l->s->directory, from->job);
    m->run = run_create(l->s, l->job, from->member, from->key);
    if (!m->run)
        return -1;
    m->run->start_wall = from->start_wall;
    member_text(&m->run->resources, from->held_resources);
    if (from->key >= l->s->runs.next_key)
        l->s->runs.next_key = from->key + 1;
    return 0;
}

static int load_member(void *context, const struct store_member *from)
{
    struct loading *l = context;
    server_t *s = l->s;
    if (!l->job || from->job != l->job->id || from->member >= l->job->members) {
        server_notice(s, "job %" PRId64 ": a member of it that can't be is left out", from->job);
        return 0;
    }
    struct member *m = &l->job->member[from->member];
    m->attempts = from->attempts;
    m->how = (int8_t)from->how;
    m->cancelled = from->cancelled;
    m->timed_out = from->timed_out;
    m->preempted = from->preempted;
    m->requeue = from->requeue;
    m->at = from->at;
    if (from->reason)
        member_text(&m->reason, from->reason);
    if (from->state != STORE_PENDING)
        member_state(s, l->job, from->member, from->state);
    if (m->dirty) { /* it isn't: that is what the store has */
        m->dirty = false;
        s->dirty.n_members--;
    }
    bool runs = from->state == STORE_STARTING || from->state == STORE_RUNNING;
    if (runs && load_run(l, m, from) < 0)
        return -1;
    if (from->resources && (runs || from->state == STORE_PENDING))
        return load_promise(l, from);
    return 0;
}

/* ---- Dependencies on what has ended ---- */

/* 1: the members of a job of the store that have ended are known to the core; 0: there is no such job; -1. */
static int tell_members(server_t *s, int64_t id, const char *name)
{
    struct store_job job;
    struct store_member member;
    if (store_read_job(s->store, id, &job, NULL) < 0)
        return errno == ENOENT ? 0 : -1;
    uint32_t members = job.members;
    for (uint32_t i = 0; i < members; i++) {
        if (store_read_member(s->store, id, i, &member, NULL) < 0) {
            if (errno == ENOENT)
                continue;
            return -1;
        }
        if (member.state >= STORE_DONE &&
            sched_restore_ended(s->sched, name, i, members, member.state == STORE_DONE) < 0 &&
            errno != EINVAL)
            return -1;
    }
    return 1;
}

/* 1: the core has been told of a job of the store; 0: there is no such job; -1. */
static int tell_job(server_t *s, int64_t id)
{
    char name[24];
    uint32_t number;
    snprintf(name, sizeof(name), "%" PRId64, id);
    if (intern_find(&s->told, name, strlen(name), &number))
        return 1;
    int rc = id < s->table.next ? tell_members(s, id, name) : 0;
    if (rc > 0 && intern_put(&s->told, name, strlen(name), &number) < 0)
        return -1;
    return rc;
}

/* The ids in "afterok:1:2[3],singleton". */
int server_tell_ended(server_t *s, const char *dependency, int64_t job, int64_t *unknown)
{
    int64_t first = lists_first(s, job);
    *unknown = 0;
    for (const char *at = dependency; at && *at; at += strcspn(at, ":,")) {
        bool is_id = *at == ':';
        at += *at == ':' || *at == ',';
        char *end;
        errno = 0;
        int64_t id = is_id ? strtoll(at, &end, 10) : 0;
        if (!is_id || errno != 0 || id < 1 || (id >= first && id < job) || job_lookup(s, id))
            continue;
        int rc = tell_job(s, id);
        if (rc < 0)
            return -1;
        if (rc == 0 && *unknown == 0)
            *unknown = id;
    }
    return 0;
}

/* 1: the job of an id was dropped, long after its end; 0; -1. */
static int was_dropped(server_t *s, const char *id)
{
    struct store_job job;
    int64_t number = strtoll(id, NULL, 10);
    if (job_lookup(s, number) || store_read_job(s->store, number, &job, NULL) == 0)
        return 0;
    return errno == ENOENT ? 1 : -1;
}

int server_leave_dropped(server_t *s, char *dependency)
{
    char *to = dependency;
    for (const char *at = dependency; at && *at; at += *at == ',') {
        char *type = to;
        size_t n = strcspn(at, ":,");
        if (to > dependency)
            *to++ = ',';
        memmove(to, at, n);
        to += n;
        at += n;
        bool any = *at != ':';
        for (; *at == ':'; at += n) {
            int dropped = was_dropped(s, at + 1);
            if (dropped < 0)
                return -1;
            n = 1 + strcspn(at + 1, ":,");
            if (dropped)
                continue;
            any = true;
            memmove(to, at, n);
            to += n;
        }
        if (!any)
            to = type;
    }
    if (to)
        *to = '\0';
    return 0;
}

static int tell_ended(server_t *s, struct job *job, const struct job_parts *parts)
{
    char id[24];
    char *dependency;
    snprintf(id, sizeof(id), "%" PRId64, job->id);
    for (uint32_t i = 0; job->live < job->members && i < job->members; i++)
        if (!member_is_live(&job->member[i]) &&
            sched_restore_ended(s->sched, id, i, job->members, job->member[i].state == STORE_DONE) <
                0)
            return -1;
    if (json_part_copy(parts->dependency, &dependency) < 0)
        return -1;
    int64_t unknown;
    int rc = dependency ? server_tell_ended(s, dependency, job->id, &unknown) : 0;
    free(dependency);
    return rc;
}

/* ---- Back to the core ---- */

static struct promise *promise_of(struct loading *l, const struct job *job, uint32_t member)
{
    if (l->next >= l->n_promises)
        return NULL;
    struct promise *p = &l->promises[l->next];
    if (p->job != job || p->member != member)
        return NULL;
    l->next++;
    return p;
}

/* A member has no promise: the store isn't to have one either. */
static void not_promised(server_t *s, struct job *job, uint32_t i)
{
    job->member[i].at = -1;
    member_mark(s, job, i);
}

/* Whether the store's promise is one of the job as it is: a change of an array that a crash has cut off
 * may not have come to this member.
 */
static bool is_promised(const struct job *job, const struct promise *p)
{
    return !job->held && p->until - p->at >= job->duration;
}

/* Restore a member as it was, or else as one that waits if it does. Returns 0, or -1 with a text. */
static int restore(server_t *s, struct job *job, uint32_t i, struct sched_record *r,
                   const struct promise *p, berth_error_t *why)
{
    struct member *m = &job->member[i];
    bool runs = m->state != STORE_PENDING;
    if (p && !runs && !is_promised(job, p)) {
        not_promised(s, job, i);
        p = NULL;
    }
    r->member = i;
    r->state = job->held ? SCHED_BLOCKED : SCHED_WAITING;
    if (p) {
        r->state = runs ? SCHED_RUNNING : SCHED_RESERVED;
        r->at = p->at;
        r->until = p->until;
        r->resources = p->resources;
        r->resources_length = strlen(p->resources);
    } else if (runs) {
        return errtext_set(why, EINVAL, "what it holds is not known");
    }
    m->handle = sched_restore(s->sched, s->clock.now, r, why);
    m->reserved = m->handle >= 0 && r->state == SCHED_RESERVED;
    if (m->handle < 0 && r->state == SCHED_RESERVED && errno != ENOMEM) {
        r->state = SCHED_WAITING;
        r->fresh = true; /* it goes before those that it went before */
        m->handle = sched_restore(s->sched, s->clock.now, r, why);
        not_promised(s, job, i);
    }
    r->resources = NULL;
    r->at = r->until = 0;
    r->fresh = false;
    return m->handle < 0 ? -1 : 0;
}

static void not_restored(struct loading *l, struct job *job, uint32_t i, const char *why)
{
    server_t *s = l->s;
    if (l->failed++ < 10)
        server_notice(s,
                      job->member[i].state == STORE_PENDING
                          ? "job %" PRId64 " could not be restored and has failed: %s"
                          : "job %" PRId64
                            " could not be restored and runs outside the schedule: %s",
                      job->id, why);
    if (job->member[i].state == STORE_PENDING) {
        member_end(s, job, i, STORE_FAILED, why);
        server_event(s, job->id, job->members > 1 ? (int64_t)i : -1, "failed", NULL);
    }
}

static int restore_job(struct loading *l, struct job *job, const struct job_parts *parts)
{
    server_t *s = l->s;
    berth_error_t why = {""};
    struct job_request q;
    struct user *user = user_find(s, job->uid);
    bool nomem = false;
    if (job_request_read(job, user, parts, &q) < 0)
        return errtext_set(l->err, ENOMEM, "out of memory");
    if (server_leave_dropped(s, q.dependency) < 0) {
        job_request_clear(&q);
        return errtext_set(l->err, errno, "the store can't be read: %s", strerror(errno));
    }
    if (q.dependency && !*q.dependency)
        q.request.dependency = NULL;
    q.request.order = enter_order(job);
    struct sched_record r = {.request = q.request, .submitted = job->submitted, .held = job->held};
    for (uint32_t i = 0; i < job->members; i++) {
        struct promise *p = promise_of(l, job, i);
        if (!member_is_live(&job->member[i]))
            continue;
        if (restore(s, job, i, &r, p, &why) == 0)
            continue;
        nomem = errno == ENOMEM;
        if (nomem)
            break;
        not_restored(l, job, i, why.text);
    }
    job_request_clear(&q);
    return nomem ? errtext_set(l->err, ENOMEM, "out of memory") : 0;
}

/* ---- Runs ---- */

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void lost(server_t *s, struct run *run)
{
    struct engine_event e = {.what = ENGINE_LOST,
                             .key = run->key,
                             .at = s->clock.wall,
                             .peak_memory = -1,
                             .cpu_time = -1};
    server_engine_event(s, &e);
}

/* Go on with a run as the engine knows it, or not. */
static int take_up(server_t *s, struct run *run, const uint64_t *keys, size_t n, bool forgot)
{
    struct member *m = &run->job->member[run->member];
    run->told = bsearch(&run->key, keys, n, sizeof(*keys), compare_keys) != NULL;
    /* Where the engine's records are gone, as those of another boot may be, what was about to start may
     * have.
     */
    if (!run->told && (m->state == STORE_RUNNING || s->clock.other_boot || forgot))
        lost(s, run);
    else if (m->cancelled || m->timed_out || m->preempted)
        run_stop(s, run);
    else if (run->told)
        run_watch(s, run);
    else
        return start_later(s, run->job, run->member);
    return 0;
}

int server_runs(server_t *s, berth_error_t *err)
{
    const struct engine_ops *ops = s->world.engine->ops;
    const uint64_t *given;
    size_t n;
    if (ops->runs(s->world.engine, &given, &n) < 0)
        return errno == EAGAIN ? 0
                               : errtext_set(err, errno, "the engine can't tell what runs: %s",
                                             strerror(errno));
    uint64_t *keys = malloc((n + 1) * sizeof(*keys));
    if (!keys)
        return errtext_set(err, ENOMEM, "out of memory");
    if (n > 0)
        memcpy(keys, given, n * sizeof(*keys));
    qsort(keys, n, sizeof(*keys), compare_keys);
    s->ledger.is_known = true;
    int rc = strays_find(s, keys, n);
    bool forgot = s->ledger.heard_key > ops->last_key(s->world.engine);
    for (size_t i = 0; rc == 0 && i < s->runs.n; i++) {
        struct run *run = s->runs.v[i];
        if (run && run->key > 0 && member_is_live(&run->job->member[run->member]))
            rc = take_up(s, run, keys, n, forgot);
    }
    free(keys);
    if (rc == 0)
        return 0;
    s->ledger.is_known = false; /* all of it is done again */
    return errtext_set(err, ENOMEM, "out of memory");
}

/* Until the engine has said what runs, what has started or may have does. */
static void assume_runs(const struct loading *l)
{
    const server_t *s = l->s;
    for (size_t i = 0; i < s->runs.n; i++) {
        struct run *run = s->runs.v[i];
        if (!run || run->key == 0)
            continue;
        run->told = true;
        job_warning_read(&l->parts[job_place(s, run->job->id)], run);
    }
}

/* Keys go on above all that were ever used, as far as the store and the engine remember, and from the
 * present time on: so the runs of two stores that have the engine by turns have keys of their own, even
 * where it has forgotten those of one.
 */
static void choose_keys(server_t *s)
{
    if (s->clock.wall > 0 && s->clock.wall < INT64_MAX / 4 &&
        s->runs.next_key < (uint64_t)s->clock.wall)
        s->runs.next_key = (uint64_t)s->clock.wall;
    s->ledger.first_key = server_next_key(s);
}

static int restore_all(struct loading *l)
{
    server_t *s = l->s;
    for (size_t i = 0; i < s->table.n; i++)
        if (tell_ended(s, s->table.jobs[i].job, &l->parts[i]) < 0)
            return errtext_set(l->err, errno, "the store can't be read: %s", strerror(errno));
    for (size_t i = 0; i < s->table.n; i++)
        if (restore_job(l, s->table.jobs[i].job, &l->parts[i]) < 0)
            return -1;
    if (l->failed > 10)
        server_notice(s, "%zu more jobs could not be restored", l->failed - 10);
    return sched_restore_passed(s->sched, s->clock.now, -1, 1);
}

int server_load(server_t *s, berth_error_t *err)
{
    struct loading l = {.s = s, .err = err};
    struct store_visitor visitor = {&l, load_job, load_member};
    const char *text;
    s->runs.next_key = 1;
    s->table.next = store_last_job(s->store) + 1;
    int rc = store_get(s->store, "next-key", &text, err);
    if (rc == 0 && text)
        s->runs.next_key = s->runs.stored_key = strtoull(text, NULL, 10);
    s->runs.next_key += s->runs.next_key == 0;
    if (rc == 0)
        rc = store_get(s->store, "heard-key", &text, err);
    if (rc == 0 && text)
        s->ledger.heard_key = s->ledger.stored_heard = strtoull(text, NULL, 10);
    if (rc == 0)
        rc = lists_drop(s, err);
    if (rc == 0)
        rc = store_load(s->store, &visitor, err);
    choose_keys(s);
    if (rc == 0)
        rc = restore_all(&l);
    if (rc == 0) {
        assume_runs(&l);
        rc = server_runs(s, err);
    }
    if (rc == 0)
        lists_load(s);
    for (size_t i = 0; i < s->table.n; i++) {
        free(s->table.jobs[i].job->request); /* the store has it */
        s->table.jobs[i].job->request = NULL;
    }
    for (size_t i = 0; i < l.n_promises; i++)
        free(l.promises[i].resources);
    free(l.promises);
    free(l.parts);
    return rc;
}
