/* Loading the store when the server starts: running jobs are adopted, waiting jobs keep their order and
 * their reservations.
 *
 * First everything is read. Then the core learns of ended members on which others may depend, and then it
 * gets the jobs in the order of their submission. A job that cannot be restored fails with the reason.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_snapshot.h"
#include "server/core/bulk.h"
#include "server/core/job_text.h"
#include "server/core/notify.h"
#include "server/core/retry.h"
#include "server/core/roles.h"
#include "server/core/shares_kept.h"

/* What is needed only while loading. */
struct loading {
    server_t *s;
    struct job *job; /* the last one read */
    struct promise { /* what members hold or have reserved, or that they wait apart */
        struct job *job;
        uint32_t member;
        int64_t at, until;
        char *resources; /* NULL: it only was promised some */
        bool stopping, displaced, expected, waits, claims, apart, preempts;
        int64_t promised, since, begin, stopped_for;
        uint32_t stopped_for_member;
    } * promises;
    size_t n_promises, cap_promises, next;
    struct job_parts *parts; /* by index in the table */
    size_t cap_parts;
    size_t failed;
    berth_error_t *err;
};

static int load_indices(const struct loading *l, const struct store_job *from,
                        struct idset *indices)
{
    uint32_t members = from->members > 0 ? from->members : 1;
    if (!from->indices)
        return idset_add_range(indices, 0, members - 1);
    if (idset_decode(indices, from->indices, strlen(from->indices), NULL) < 0 && errno == ENOMEM)
        return -1;
    if (indices->count > 0 && idset_last(indices) + 1 == members)
        return 0;
    idset_clear(indices);
    return errtext_set(l->err, EINVAL,
                       "%s/berth.db: the file is damaged: job %" PRId64 ": invalid indices",
                       l->s->directory, from->id);
}

static int load_stored_job(void *context, const struct store_job *from)
{
    struct loading *l = context;
    server_t *s = l->s;
    struct idset indices = {0};
    l->job = NULL;
    if (load_indices(l, from, &indices) < 0)
        return -1;
    struct job *job = job_create(s, from->id, &indices);
    idset_clear(&indices);
    if (!job ||
        array_grow((void **)&l->parts, &l->cap_parts, s->table.n + 1, sizeof(*l->parts)) < 0) {
        job_discard(s, job);
        return -1;
    }
    job->uid = from->uid;
    job->gid = from->gid;
    job->user = server_intern_name(s, from->user);
    job->queue = server_intern_name(s, from->queue);
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
    job->limit = from->limit;
    job->estimate = from->estimate;
    job->submitted = from->submitted;
    job->submitted_wall = from->submitted_wall;
    job->nodes = from->nodes;
    job->cores = from->cores;
    job->gpus = from->gpus;
    job->requeue = parts->requeue.length == 4; /* true */
    job->gang = job_gang_read(parts);
    job_shape_read(job, parts);
    bool retried = job->request && job_roles_read(parts->roles, &job->roles) == 0 &&
                   retry_load(job, parts->retry, parts->max_fails) == 0 &&
                   notify_load(job, parts->notify) == 0;
    job->bytes =
        (job->request ? strlen(job->request) : 0) + job->indices.n * sizeof(*job->indices.v);
    if (!job->user || !job->queue || !job->name || !job->row || !retried ||
        job_insert(s, job) < 0) {
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
    char *resources = from->resources ? strdup(from->resources) : NULL;
    if (from->resources && !resources)
        return -1;
    l->promises[l->n_promises++] = (struct promise){.job = l->job,
                                                    .member = from->member,
                                                    .at = from->at,
                                                    .until = from->until,
                                                    .resources = resources,
                                                    .stopping = from->stopping,
                                                    .displaced = from->displaced,
                                                    .expected = from->expected,
                                                    .waits = from->waits,
                                                    .claims = from->claims,
                                                    .apart = from->apart,
                                                    .preempts = from->preempts && resources,
                                                    .stopped_for = from->stopped_for,
                                                    .stopped_for_member = from->stopped_for_member,
                                                    .since = from->since,
                                                    .promised = from->promised,
                                                    .begin = from->begin};
    return 0;
}

static int load_run(struct loading *l, struct member *m, const struct store_member *from)
{
    /* Without a key of its own a run cannot be recognised in the engine's reports. */
    if (from->key == 0 || from->key > ENGINE_KEY_MAX || run_lookup(l->s, from->key))
        return errtext_set(l->err, EINVAL,
                           "%s/berth.db: the file is damaged: job %" PRId64
                           ": invalid key of a run",
                           l->s->directory, from->job);
    m->run = run_create(l->s, l->job, from->member, from->key);
    if (!m->run)
        return -1;
    m->run->start_wall = from->start_wall;
    m->run->holds = (struct amounts){from->nodes, from->cores, from->gpus};
    text_assign(&m->run->resources, from->held_resources);
    if (from->key >= l->s->runs.next_key)
        l->s->runs.next_key = from->key + 1;
    return 0;
}

static int load_own(struct loading *l, struct member *m, const struct store_member *from)
{
    struct own own = {from->own_hold, from->held,  from->own_priority, from->own_times,
                      from->priority, from->limit, from->estimate};
    return own_set(l->s, l->job, m, &own);
}

static int load_stored_member(void *context, const struct store_member *from)
{
    struct loading *l = context;
    server_t *s = l->s;
    if (!l->job || from->job != l->job->id || !member_exists(l->job, from->member)) {
        server_notice(s, "job %" PRId64 ": ignored a member with an invalid number", from->job);
        return 0;
    }
    if (from->last > from->member && from->last < l->job->members)
        return mass_load(s, l->job, from);
    struct member *m = member_make(s, l->job, from->member);
    if (!m)
        return -1;
    m->attempts = from->attempts;
    m->retries = (uint8_t)from->retries;
    m->how = (int8_t)from->how;
    m->cancelled = from->cancelled;
    m->timed_out = from->timed_out;
    m->preempted = from->preempted;
    m->requeue = from->requeue;
    m->replaced = from->replaced;
    m->at = from->claims || from->preempts ? -1 : from->at;
    l->job->gang.replaced += from->replaced;
    if (from->broke) {
        l->job->gang.is_over = true;
        l->job->gang.by = from->member;
        l->job->gang.left = from->left;
    }
    if (from->reason)
        text_assign(&m->reason, from->reason);
    if (load_own(l, m, from) < 0)
        return -1;
    if (from->state != STORE_PENDING)
        member_set_state(s, l->job, from->member, from->state);
    if (m->unsaved) { /* it is as stored */
        m->unsaved = false;
        s->unsaved.n_members--;
    }
    bool runs = from->state == STORE_STARTING || from->state == STORE_RUNNING;
    if (runs && load_run(l, m, from) < 0)
        return -1;
    bool waits = from->state == STORE_PENDING;
    bool matters = from->displaced || from->begin || from->since > 0 || from->apart;
    if ((from->resources && (runs || waits)) || (matters && waits))
        return load_promise(l, from);
    return 0;
}

/* ---- Dependencies on what has ended ---- */

/* What a job's members have come to, for those that depend on it. */
struct outcomes {
    struct idset ok, failed;
    const struct job_roles *roles; /* of its gang; NULL */
    bool is_short;                 /* one of them has too few left */
};

/* Of those in a range that exist. */
static int outcome_add(struct outcomes *o, uint32_t first, uint32_t last, enum store_state state)
{
    return idset_add_range(state == STORE_DONE ? &o->ok : &o->failed, first, last);
}

/* Tell the core; the outcomes are cleared. Returns 0, or -1 with errno. */
static int outcomes_restore(server_t *s, const char *id, uint32_t members, const char *indices,
                            struct outcomes *o)
{
    struct strbuf ok = {0}, failed = {0};
    struct idset all = {0};
    bool lacks =
        indices && (idset_decode(&all, indices, strlen(indices), NULL) < 0 ||
                    idset_intersect(&o->ok, &all) < 0 || idset_intersect(&o->failed, &all) < 0);
    idset_clear(&all);
    failed.failed = lacks;
    idset_encode(&o->ok, false, &ok);
    idset_encode(&o->failed, false, &failed);
    o->is_short = o->roles && job_roles_short(o->roles, &o->failed);
    struct sched_ended ended = {.id = id, .members = members, .indices = indices};
    ended.ok = strbuf_text(&ok);
    ended.failed = strbuf_text(&failed);
    int rc = -1;
    if (members == 1)
        rc = sched_restore_ended(s->sched, id, 0, 1, o->ok.n > 0);
    else if (!ok.failed && !failed.failed)
        rc = sched_restore_ended_members(s->sched, &ended);
    int saved = ok.failed || failed.failed ? ENOMEM : errno;
    strbuf_clear(&ok);
    strbuf_clear(&failed);
    idset_clear(&o->ok);
    idset_clear(&o->failed);
    errno = saved;
    return rc < 0 && errno != EINVAL ? -1 : 0;
}

/* Read what the members of a stored job have come to. Returns 0, or -1 with errno. */
static int read_outcomes(server_t *s, int64_t id, struct outcomes *o)
{
    const struct store_query query = {.uid = -1,
                                      .job = id,
                                      .since_wall = -1,
                                      .after_job = -1,
                                      .after_member = -1,
                                      .members_only = true};
    struct store_member member;
    struct store_cursor *cursor = store_find(s->store, &query, NULL);
    int rc = cursor ? 1 : -1;
    while (rc > 0) {
        rc = store_next(cursor, NULL, &member, NULL);
        uint32_t last = member.last > member.member ? member.last : member.member;
        if (rc < 0 && errno == EAGAIN)
            rc = 1;
        else if (rc > 0 && outcome_add(o, member.member, last, member.state) < 0)
            rc = -1;
    }
    int saved = errno;
    store_cursor_close(cursor);
    errno = saved;
    return rc;
}

/* A gang whose others go on has ended well where enough of its members have. */
static void restore_enough(server_t *s, const char *id, struct job_gang gang, bool is_short)
{
    if (gang.min > 0 && !is_short && gang.failure != SCHED_FAIL_ALL)
        sched_restore_enough(s->sched, id, gang.min);
}

/* Restore the ended members of a stored job. 1: done; 0: there is no such job; -1. */
static int restore_ended_members(server_t *s, int64_t id, const char *name)
{
    struct store_job job;
    struct outcomes o = {0};
    if (store_read_job(s->store, id, &job, NULL) < 0)
        return errno == ENOENT ? 0 : -1;
    uint32_t members = job.members;
    char *indices = job.indices ? strdup(job.indices) : NULL;
    struct job_parts parts;
    job_parts(job.request, &parts);
    struct job_gang gang = job_gang_read(&parts);
    struct job_roles *roles;
    int rc = job_roles_read(parts.roles, &roles);
    o.roles = roles;
    if (rc == 0)
        rc = job.indices && !indices ? -1 : read_outcomes(s, id, &o);
    if (rc == 0)
        rc = outcomes_restore(s, name, members, indices, &o);
    if (rc == 0)
        restore_enough(s, name, gang, o.is_short);
    free(roles);
    int saved = errno;
    idset_clear(&o.ok);
    idset_clear(&o.failed);
    free(indices);
    errno = saved;
    return rc < 0 ? -1 : 1;
}

/* Restore an ended job, once. 1: the core knows it; 0: there is no such job; -1. */
static int restore_ended_job(server_t *s, int64_t id)
{
    char name[24];
    uint32_t number;
    snprintf(name, sizeof(name), "%" PRId64, id);
    if (intern_find(&s->ended_ids, name, strlen(name), &number))
        return 1;
    int rc = id < s->table.next ? restore_ended_members(s, id, name) : 0;
    if (rc > 0 && intern_put(&s->ended_ids, name, strlen(name), &number) < 0)
        return -1;
    return rc;
}

/* The ids in "afterok:1:2[3],singleton". */
int dependency_restore_ended(server_t *s, const char *dependency, int64_t job, int64_t *unknown)
{
    int64_t first = bulk_first_id(s, job);
    *unknown = 0;
    for (const char *at = dependency; at && *at; at += strcspn(at, ":,")) {
        bool is_id = *at == ':';
        at += *at == ':' || *at == ',';
        char *end;
        errno = 0;
        int64_t id = is_id ? strtoll(at, &end, 10) : 0;
        if (!is_id || errno != 0 || id < 1 || (id >= first && id < job) || job_lookup(s, id))
            continue;
        int rc = restore_ended_job(s, id);
        if (rc < 0)
            return -1;
        if (rc == 0 && *unknown == 0)
            *unknown = id;
    }
    return 0;
}

/* 1: history has dropped the job; 0: it has not; -1. */
static int was_dropped(server_t *s, const char *id)
{
    struct store_job job;
    int64_t number = strtoll(id, NULL, 10);
    if (job_lookup(s, number) || store_read_job(s->store, number, &job, NULL) == 0)
        return 0;
    return errno == ENOENT ? 1 : -1;
}

int dependency_remove_dropped(server_t *s, char *dependency)
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

/* Restore what members of a live job have come to. */
static int restore_outcomes(server_t *s, const struct job *job, const char *id)
{
    struct outcomes o = {.roles = job->roles};
    struct strbuf indices = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && (i = member_next_own(job, i)) < job->members; i++)
        if (!member_is_live(member_record(job, i)))
            rc = outcome_add(&o, i, i, (enum store_state)member_record(job, i)->state);
    for (const struct mass *mass = job->masses; rc == 0 && mass; mass = mass->next)
        for (uint32_t k = 0; rc == 0 && k < mass->spans.n; k++)
            rc = outcome_add(&o, mass->spans.v[k].lo, mass->spans.v[k].hi,
                             (enum store_state)mass->as.state);
    idset_encode(&job->indices, false, &indices);
    if (rc == 0 && !indices.failed)
        rc = outcomes_restore(s, id, job->members,
                              job->indices.n > 0 ? strbuf_text(&indices) : NULL, &o);
    else
        rc = -1;
    if (rc == 0)
        restore_enough(s, id, job->gang, o.is_short);
    int saved = indices.failed ? ENOMEM : errno;
    idset_clear(&o.ok);
    idset_clear(&o.failed);
    strbuf_clear(&indices);
    errno = saved;
    return rc;
}

static int restore_ended(server_t *s, struct job *job, const struct job_parts *parts)
{
    char id[24];
    char *dependency;
    snprintf(id, sizeof(id), "%" PRId64, job->id);
    if (job->live < member_count(job) && restore_outcomes(s, job, id) < 0)
        return -1;
    if (json_part_copy(parts->dependency, &dependency) < 0)
        return -1;
    int64_t unknown;
    int rc = dependency ? dependency_restore_ended(s, dependency, job->id, &unknown) : 0;
    free(dependency);
    return rc;
}

/* ---- Back to the core ---- */

static struct promise *next_promise(struct loading *l, const struct job *job, uint32_t member)
{
    if (l->next >= l->n_promises)
        return NULL;
    struct promise *p = &l->promises[l->next];
    if (p->job != job || p->member != member)
        return NULL;
    l->next++;
    return p;
}

/* The member has no reservation, and the store must not have one either. */
static void forget_promise(server_t *s, struct job *job, uint32_t i)
{
    member_record(job, i)->at = -1;
    member_changed(s, job, i);
}

/* Whether a stored reservation fits the job. It may not if a crash cut off a change of an array before it
 * reached this member.
 */
static bool promise_fits(const struct job *job, const struct member *m, const struct promise *p)
{
    int64_t estimate = member_estimate(job, m);
    return !member_held(job, m) &&
           (p->claims || estimate == SCHED_UNLIMITED || p->until - p->at >= estimate);
}

/* Have a record say what a member goes by. */
static void record_own(struct sched_record *r, const struct job *job, const struct member *m)
{
    r->held = member_held(job, m);
    r->request.hold = r->held;
    r->request.priority = member_priority(job, m);
    r->request.duration = member_limit(job, m);
    r->request.estimate = member_estimate(job, m);
}

/* Restore a member as it was, or else without its reservation, or the entry of which it is the first. Returns
 * the handle, or -1 with a text.
 */
static sched_job_t restore_member(server_t *s, struct job *job, uint32_t i, struct sched_record *r,
                                  const struct promise *p, berth_error_t *why)
{
    struct member *m = member_record(job, i);
    struct gang_texts texts;
    char other[24];
    bool runs = m && m->state != STORE_PENDING;
    if (p && p->resources && !runs && !promise_fits(job, m, p)) {
        forget_promise(s, job, i);
        p = NULL;
    }
    int64_t begin = r->request.begin;
    if (p && p->begin > 0)
        r->request.begin = p->begin;
    r->member = i;
    record_own(r, job, member_look(job, i));
    r->since = p && !runs ? p->since : 0;
    r->state = r->held ? SCHED_BLOCKED : SCHED_WAITING;
    gang_record(r, job, p && p->resources, &texts);
    if (p && p->displaced && !runs) { /* what is there by now is not known to be what was lost */
        r->displaced = r->fresh = true;
        r->promised = p->promised;
    }
    if (p && p->resources) {
        r->claim = p->claims && !runs;
        r->state = runs ? SCHED_RUNNING : r->claim ? SCHED_WAITING : SCHED_RESERVED;
        r->stopping = runs && p->stopping;
        r->preempts = !runs && p->preempts;
        if (runs && p->stopped_for > 0) {
            snprintf(other, sizeof(other), "%" PRId64, p->stopped_for);
            r->stopped_for = other;
            r->stopped_for_member = p->stopped_for_member;
        }
        r->at = p->at;
        r->until = p->until;
        r->expected = !runs && p->expected;
        r->waits = !runs && p->waits;
        r->resources = p->resources;
        r->resources_length = strlen(p->resources);
        r->limit = runs ? NULL : m->reason; /* of one that a limit keeps it says which */
    } else if (runs) {
        return errtext_set(why, EINVAL, "no resources are stored for it");
    }
    sched_job_t handle = sched_restore(s->sched, s->clock.now, r, why);
    if (m) {
        m->reserved = handle >= 0 && r->state == SCHED_RESERVED && !r->preempts;
        m->preempts = handle >= 0 && r->preempts;
        m->claims = handle >= 0 && r->claim;
        m->expected = m->reserved && r->expected;
    }
    if (handle < 0 && (r->state == SCHED_RESERVED || r->claim) && errno != ENOMEM) {
        r->state = SCHED_WAITING;
        r->claim = r->preempts = false;
        r->fresh = true; /* it goes before those that it went before */
        handle = sched_restore(s->sched, s->clock.now, r, why);
        forget_promise(s, job, i);
    }
    r->resources = r->limit = NULL;
    r->request.begin = begin;
    r->at = r->until = r->since = 0;
    r->claim = r->preempts = r->stopping = false;
    r->fresh = r->displaced = r->expected = r->waits = false;
    r->stopped_for = NULL;
    r->stopped_for_member = 0;
    if (m)
        m->handle = handle;
    if (runs && m->run && m->run->holds.nodes < 0) /* an older version has stored it */
        run_measure(s, m->run);
    return handle;
}

/* Which members wait in an array's entry: those that neither wait apart nor were promised anything, and the first that was,
 * if it goes before them. An older version has not stored who waits apart: none that has something of its own is in there.
 */
struct waiting_entry {
    struct idset members;
    struct strbuf text;
};

static void entry_clear(struct waiting_entry *e)
{
    idset_clear(&e->members);
    strbuf_clear(&e->text);
}

static int entry_find(const struct loading *l, const struct job *job, struct waiting_entry *e)
{
    uint32_t first = IDSET_NONE;
    size_t at = l->next;
    bool grows_apart = gang_grows_apart(job); /* each waits for itself */
    for (uint32_t i = 0; job->members > 1 && (i = member_next(job, i)) < job->members; i++) {
        bool promised =
            at < l->n_promises && l->promises[at].job == job && l->promises[at].member == i;
        bool apart = grows_apart || (promised && l->promises[at].apart);
        at += promised;
        const struct member *m = member_look(job, i);
        if (m->state != STORE_PENDING || m->own || m->retries > 0 || apart)
            continue;
        if (promised && first == IDSET_NONE)
            first = i;
        if (!promised && idset_add(&e->members, i) < 0)
            return -1;
    }
    if (e->members.count > 0 && first < idset_first(&e->members) &&
        idset_add(&e->members, first) < 0)
        return -1;
    idset_encode(&e->members, false, &e->text);
    return e->text.failed ? -1 : 0;
}

/* The entry is restored under a handle. */
static void entry_restored(struct job *job, struct waiting_entry *e, sched_job_t handle)
{
    job->entry = handle;
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++)
        if (idset_has(&e->members, i))
            member_record(job, i)->handle = handle;
    uint32_t first = idset_first(&e->members);
    const struct member *m = member_look(job, first);
    job->promised = m->reserved || m->claims || m->preempts ? (int64_t)first : -1;
}

static void report_unrestored(struct loading *l, struct job *job, uint32_t i, const char *why)
{
    server_t *s = l->s;
    if (l->failed++ < 10)
        server_notice(s,
                      member_look(job, i)->state == STORE_PENDING
                          ? "job %" PRId64 " could not be restored and has failed: %s"
                          : "job %" PRId64
                            " could not be restored and runs outside the schedule: %s",
                      job->id, why);
    if (member_look(job, i)->state == STORE_PENDING && member_make(s, job, i)) {
        member_end(s, job, i, STORE_FAILED, why);
        member_event(s, job, i, "failed", NULL);
    }
}

/* Restore the members of a job. Returns 0, or -1 with ENOMEM. */
static int restore_members(struct loading *l, struct job *job, struct sched_record *r,
                           struct waiting_entry *e)
{
    berth_error_t why = {""};
    server_t *s = l->s;
    for (uint32_t i = 0; (i = member_next(job, i)) < job->members; i++) {
        const struct promise *p = next_promise(l, job, i);
        bool is_in = idset_has(&e->members, i);
        if (!member_is_live(member_look(job, i)) || (is_in && i != idset_first(&e->members)))
            continue;
        r->waiting = is_in ? strbuf_text(&e->text) : NULL;
        sched_job_t handle = restore_member(s, job, i, r, p, &why);
        if (handle >= 0 && is_in)
            entry_restored(job, e, handle);
        if (handle >= 0)
            continue;
        if (errno == ENOMEM)
            return -1;
        for (uint32_t k = i; k < job->members; k = is_in ? idset_next(&e->members, k) : IDSET_NONE)
            report_unrestored(l, job, k, why.text);
    }
    return 0;
}

static int restore_stored_job(struct loading *l, struct job *job, const struct job_parts *parts)
{
    server_t *s = l->s;
    struct job_request q;
    struct waiting_entry e = {{0}, {0}};
    struct user *user = user_find(s, job->uid);
    if (job_request_read(job, user, parts, &q) < 0)
        return errtext_set(l->err, ENOMEM, "out of memory");
    if (dependency_remove_dropped(s, q.dependency) < 0) {
        job_request_clear(&q);
        return errtext_set(l->err, errno, "cannot read the store: %s", strerror(errno));
    }
    if (q.dependency && !*q.dependency)
        q.request.dependency = NULL;
    q.request.order = job_order(job);
    struct sched_record r = {.request = q.request, .submitted = job->submitted, .held = job->held};
    job_roles_count(job, r.role_succeeded);
    int rc = entry_find(l, job, &e);
    if (rc == 0)
        rc = restore_members(l, job, &r, &e);
    entry_clear(&e);
    job_request_clear(&q);
    return rc < 0 ? errtext_set(l->err, ENOMEM, "out of memory") : 0;
}

/* ---- Runs ---- */

static int compare_run_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void run_lost(server_t *s, struct run *run)
{
    struct engine_event e = {.what = ENGINE_LOST,
                             .key = run->key,
                             .at = s->clock.wall,
                             .peak_memory = -1,
                             .cpu_time = -1};
    server_engine_event(s, &e);
}

/* It is not known whether a node of a pilot was asked: it is asked again, under the same key. If that can't be done it
 * tells whether it was.
 */
static void start_again(server_t *s, struct run *run)
{
    berth_error_t why;
    run_start(s, run, &why);
    run_arm_timer(s, run);
}

/* Continue with a run, whether the engine has it or not. */
static int resume_run(server_t *s, struct run *run, const uint64_t *keys, size_t n, bool forgot)
{
    struct member *m = member_record(run->job, run->member);
    run->in_engine = bsearch(&run->key, keys, n, sizeof(*keys), compare_run_keys) != NULL;
    /* Where the engine's records are lost, as after a reboot, a run that was about to start may have
     * started.
     */
    bool elsewhere = pilots_have(s, m->handle);
    if (!run->in_engine &&
        (m->state == STORE_RUNNING || (!elsewhere && (s->clock.other_boot || forgot))))
        run_lost(s, run);
    else if (m->cancelled || m->timed_out || m->preempted)
        run_stop(s, run);
    else if (run->in_engine && elsewhere && m->state == STORE_STARTING)
        start_again(s, run);
    else if (run->in_engine)
        run_arm_timer(s, run);
    else
        return start_enqueue(s, run->job, run->member);
    return 0;
}

int runs_reconcile(server_t *s, berth_error_t *err)
{
    const struct engine_ops *ops = s->platform.engine->ops;
    const uint64_t *given;
    size_t n;
    if (ops->runs(s->platform.engine, &given, &n) < 0)
        return errno == EAGAIN ? 0
                               : errtext_set(err, errno, "the engine cannot list its runs: %s",
                                             strerror(errno));
    uint64_t *keys = malloc((n + 1) * sizeof(*keys));
    if (!keys)
        return errtext_set(err, ENOMEM, "out of memory");
    if (n > 0)
        memcpy(keys, given, n * sizeof(*keys));
    qsort(keys, n, sizeof(*keys), compare_run_keys);
    s->engine.is_known = true;
    int rc = orphans_kill(s, keys, n);
    bool forgot = s->engine.heard_key > ops->last_key(s->platform.engine);
    for (size_t i = 0; rc == 0 && i < s->runs.n; i++) {
        struct run *run = s->runs.v[i];
        if (run && run->key > 0 && member_is_live(member_record(run->job, run->member)))
            rc = resume_run(s, run, keys, n, forgot);
    }
    free(keys);
    if (rc == 0)
        return 0;
    s->engine.is_known = false; /* so that all of it is repeated */
    return errtext_set(err, ENOMEM, "out of memory");
}

/* Until the engine has listed its runs, assume that it has all that may have started. */
static void assume_runs(const struct loading *l)
{
    const server_t *s = l->s;
    for (size_t i = 0; i < s->runs.n; i++) {
        struct run *run = s->runs.v[i];
        if (!run || run->key == 0)
            continue;
        run->in_engine = true;
        job_warning_read(&l->parts[job_index(s, run->job->id)], run);
    }
}

/* New keys are above all that the store and the engine remember, and at least the present time: so runs of
 * two stores that use the engine in turn have different keys, even if it has forgotten some.
 */
static void choose_keys(server_t *s)
{
    if (s->clock.wall > 0 && s->clock.wall < INT64_MAX / 4 &&
        s->runs.next_key < (uint64_t)s->clock.wall)
        s->runs.next_key = (uint64_t)s->clock.wall;
    s->engine.first_key = server_next_key(s);
}

static int restore_all(struct loading *l)
{
    server_t *s = l->s;
    for (size_t i = 0; i < s->table.n; i++)
        if (restore_ended(s, s->table.jobs[i].job, &l->parts[i]) < 0)
            return errtext_set(l->err, errno, "cannot read the store: %s", strerror(errno));
    if (shares_load(s, l->err) < 0)
        return -1;
    for (size_t i = 0; i < s->table.n; i++)
        if (restore_stored_job(l, s->table.jobs[i].job, &l->parts[i]) < 0)
            return -1;
    if (l->failed > 10)
        server_notice(s, "%zu more jobs could not be restored", l->failed - 10);
    struct sched_passed passed = {.at = -1, .events = 1};
    return uneven_load(s, l->err) < 0 ? -1 : sched_restore_passed(s->sched, s->clock.now, &passed);
}

int server_load(server_t *s, berth_error_t *err)
{
    struct loading l = {.s = s, .err = err};
    struct store_visitor visitor = {&l, load_stored_job, load_stored_member};
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
        s->engine.heard_key = s->engine.stored_heard = strtoull(text, NULL, 10);
    if (rc == 0)
        rc = bulk_delete_incomplete(s, err);
    if (rc == 0)
        rc = store_load(s->store, &visitor, err);
    choose_keys(s);
    if (rc == 0)
        rc = restore_all(&l);
    if (rc == 0) {
        assume_runs(&l);
        rc = pilots_expect(s, err);
    }
    if (rc == 0) {
        rc = runs_reconcile(s, err);
    }
    if (rc == 0) {
        bulk_recover(s);
        fails_look_all(s);
    }
    for (size_t i = 0; i < s->table.n; i++) {
        free(s->table.jobs[i].job->request); /* stored */
        s->table.jobs[i].job->request = NULL;
    }
    for (size_t i = 0; i < l.n_promises; i++)
        free(l.promises[i].resources);
    free(l.promises);
    free(l.parts);
    return rc;
}
