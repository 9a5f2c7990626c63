/* Stored jobs go back to the core, with what their members hold, were promised, or wait for. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_snapshot.h"
#include "server/core/awaited_store.h"
#include "server/core/gang.h"
#include "server/core/job_text.h"
#include "server/core/load.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/roles.h"
#include "server/core/users.h"

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

/* What a running member holds is not there any more, or not free: it runs on, and holds nothing for the core. What it had is
 * kept, as it may be there again the next time. Returns its handle, or -1.
 */
static sched_job_t restore_outside(server_t *s, struct run *run, struct sched_record *r)
{
    berth_error_t unknown;
    run->outside = strdup(r->resources);
    if (!run->outside)
        return -1;
    r->resources = NULL;
    r->resources_length = 0;
    return sched_restore(s->sched, s->clock.now, r, &unknown);
}

/* Restore a member as it was, or else without its reservation, or the entry of which it is the first. Returns
 * the handle, or -1 with a text; with the handle of one that runs there is a text if the core knows of nothing that it holds.
 */
static sched_job_t restore_member(server_t *s, struct job *job, uint32_t i, struct sched_record *r,
                                  const struct promise *p, berth_error_t *why)
{
    struct member *m = member_record(job, i);
    struct gang_texts texts;
    void *awaited = NULL;
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
        r->cleared = runs && m->timed_out && r->request.duration == SCHED_UNLIMITED;
        r->leaving = runs && m->cancelled;
        r->preempts = !runs && p->preempts;
        if (runs && p->stopped_for > 0 && !(awaited = awaited_from_store(p, r)))
            return errtext_no_memory(why);
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
    if (handle < 0 && r->state == SCHED_RUNNING && errno != ENOMEM)
        handle = restore_outside(s, m->run, r);
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
    r->claim = r->preempts = r->stopping = r->cleared = r->leaving = false;
    r->fresh = r->displaced = r->expected = r->waits = false;
    r->awaited_by = NULL;
    r->n_awaited_by = 0;
    free(awaited);
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
    struct idset_builder members = {0};
    int rc = 0;
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
        if (!promised && rc == 0)
            rc = idset_build(&members, (struct idset_range){i, i, 0});
    }
    if (rc == 0)
        rc = idset_finish(&members);
    e->members = members.set;
    if (rc < 0 || (e->members.count > 0 && first < idset_first(&e->members) &&
                   idset_add(&e->members, first) < 0))
        return -1;
    idset_encode_steps(&e->members, &e->text);
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
    char name[JOB_NAME_SIZE];
    job_member_name(job->id, job->members > 1 ? (int64_t)i : -1, name);
    if (l->failed++ < 10)
        server_notice(s,
                      member_look(job, i)->state == STORE_PENDING
                          ? "job %s could not be restored and has failed: %s"
                          : "job %s could not be restored and runs outside the schedule: %s",
                      name, why);
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
        *why.text = '\0';
        sched_job_t handle = restore_member(s, job, i, r, p, &why);
        if (handle >= 0 && is_in)
            entry_restored(job, e, handle);
        if (handle >= 0 && *why.text && member_look(job, i)->state != STORE_PENDING)
            report_unrestored(l, job, i, why.text);
        if (handle >= 0)
            continue;
        if (errno == ENOMEM)
            return -1;
        for (uint32_t k = i; k < job->members; k = is_in ? idset_next(&e->members, k) : IDSET_NONE)
            report_unrestored(l, job, k, why.text);
    }
    return 0;
}

int load_job(struct loading *l, struct job *job, const struct job_parts *parts)
{
    server_t *s = l->s;
    struct job_request q;
    struct waiting_entry e = {{0}, {0}};
    struct user *user = user_find(s, job->uid);
    if (job_request_read(job, user, parts, &q) < 0)
        return errtext_no_memory(l->err);
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
    return rc < 0 ? errtext_no_memory(l->err) : 0;
}
