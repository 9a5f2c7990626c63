/* Jobs are admitted to the core: all of a job at once, or the first members of an array at once and the
 * rest in slices. Members not yet admitted have their rank in the order already and count as pending; a
 * change of the job applies to them when they are admitted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_snapshot.h"
#include "config/members.h"
#include "server/core/job_text.h"
#include "server/core/work.h"

enum { AT_ONCE = 1024 }; /* members per call of the core */

/* The members of an array that are yet to be admitted. */
struct admission {
    struct server_work work;
    struct job *job; /* NULL: the job is gone */
    uint32_t next;   /* all members before this one are admitted */
    bool is_started;
    char request[];
};

/* Ranks follow the order of requests, no matter when a member is admitted. */
uint64_t job_order(const struct job *job)
{
    _Static_assert(MEMBERS_MAX <= 1 << 20, "members of a job have places of its own");
    return (uint64_t)job->id << 20;
}

/* Restore the jobs that this one depends on. A job that history has dropped since the first members were
 * admitted has ended.
 */
static int restore_dependency(server_t *s, const struct job *job, struct job_request *q,
                              bool is_first, berth_error_t *err)
{
    int64_t unknown;
    if (!is_first && dependency_remove_dropped(s, q->dependency) < 0)
        return -1;
    if (!*q->dependency)
        q->request.dependency = NULL;
    if (dependency_restore_ended(s, q->dependency, job->id, &unknown) < 0)
        return -1;
    /* The core may remember a job of this id that was undone. */
    return unknown == 0 ? 0
                        : errtext_set(err, EINVAL, "dependency %" PRId64 ": no such job", unknown);
}

/* Submit n members to the core. Returns 0, or -1 with errno, maybe a text, and nothing changed. */
static int submit_members(server_t *s, struct job *job, const char *request, uint32_t from,
                          uint32_t n, bool hold, berth_error_t *err)
{
    sched_job_t handles[AT_ONCE];
    struct member *m;
    struct job_request q;
    struct job_parts parts;
    job_parts(request, &parts);
    if (job_request_read(job, user_find(s, job->uid), &parts, &q) < 0)
        return -1;
    q.request.order = job_order(job);
    q.request.submitted = job->submitted < s->clock.now ? job->submitted : s->clock.now;
    q.request.hold = q.request.hold || hold;
    int rc = q.dependency ? restore_dependency(s, job, &q, from == 0, err) : 0;
    if (rc == 0)
        rc = sched_submit_members(s->sched, s->clock.now, &q.request, from, n, handles);
    job_request_clear(&q);
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        if ((m = member_record(job, from + i)))
            m->handle = handles[i];
    return rc;
}

/* A member behind `next` that has a record was admitted on its own; that of a plain job has one always. */
static bool is_admitted(const struct job *job, uint32_t i)
{
    const struct member *m = member_look(job, i);
    return m->state != STORE_PENDING || (job->members == 1 ? m->handle >= 0 : m->is_own);
}

/* How many members in a row are not admitted, up to n. */
static uint32_t count_unknown(const struct job *job, uint32_t first, uint32_t n)
{
    uint32_t count = 0;
    while (count < n && member_exists(job, (int64_t)first + count) &&
           !is_admitted(job, first + count))
        count++;
    return count;
}

/* Advance *next to the next pending member that is not admitted, and count those in a row there, up to n. */
static uint32_t next_unknown(const struct job *job, uint32_t *next, uint32_t n)
{
    while ((*next = member_next(job, *next)) < job->members && is_admitted(job, *next))
        ++*next;
    return count_unknown(job, *next, n);
}

static int admit_slice(struct server_work *work, size_t *steps)
{
    struct admission *e = (struct admission *)work;
    server_t *s = work->s;
    while (e->job && *steps > 0) {
        uint32_t n = *steps < AT_ONCE ? (uint32_t)*steps : AT_ONCE;
        n = next_unknown(e->job, &e->next, n);
        if (n == 0) {
            e->job->admission = NULL;
            e->job = NULL;
            return 1;
        }
        if (submit_members(s, e->job, e->request, e->next, n, false, NULL) < 0)
            return -1;
        e->next += n;
        work_spend(steps, n);
    }
    return !e->job;
}

static void admission_clear(struct server_work *work)
{
    struct admission *e = (struct admission *)work;
    if (e->job)
        e->job->admission = NULL;
}

int admit_keep_rest(server_t *s, struct job *job, uint32_t next)
{
    size_t length = strlen(job->request);
    struct admission *e =
        (struct admission *)work_create_background(s, job->uid, sizeof(*e) + length + 1);
    if (!e)
        return -1;
    e->work.go = admit_slice;
    e->work.clear = admission_clear;
    e->job = job;
    e->next = next;
    memcpy(e->request, job->request, length + 1);
    job->admission = e;
    return 0;
}

void admit_rest(server_t *s, struct job *job)
{
    if (!job->admission || job->admission->is_started)
        return;
    job->admission->is_started = true;
    work_start_background(s, &job->admission->work);
}

uint32_t admitted_members(const struct job *job)
{
    return job->admission ? job->admission->next : job->members;
}

void admit_stop(struct job *job)
{
    struct admission *e = job->admission;
    job->admission = NULL;
    if (e)
        e->job = NULL;
    if (e && !e->is_started)
        work_destroy(&e->work);
}

int admit_member(server_t *s, struct job *job, uint32_t i)
{
    if (!job->admission)
        return 0;
    return submit_members(s, job, job->admission->request, i, 1, false, NULL) < 0 ? -1 : 0;
}

/* Take the queue, the limit and the estimate that the core gave the first member. */
static int read_admitted(server_t *s, struct job *job, berth_error_t *err)
{
    sched_job_t first = member_handle(s, job, member_next(job, 0));
    struct sched_record r;
    if (sched_record(s->sched, first, &r) < 0)
        return errtext_set(err, errno, "%s", strerror(errno));
    if (sched_state(s->sched, first) == SCHED_REJECTED)
        return errtext_set(err, EINVAL, "%s", r.reason && *r.reason ? r.reason : "refused");
    job->limit = r.request.duration;
    job->estimate = r.request.estimate;
    job->queue = server_intern_name(s, r.request.queue);
    return job->queue ? 0 : errtext_set(err, ENOMEM, "out of memory");
}

static int tell_gaps(server_t *s, const struct job *job)
{
    char id[24];
    snprintf(id, sizeof(id), "%" PRId64, job->id);
    return dependency_restore_gaps(s, id, job->members, &job->indices);
}

int64_t admit_first(server_t *s, struct job *job, size_t most, bool hold, berth_error_t *err)
{
    size_t n = most < 1 ? 1 : most < AT_ONCE ? most : AT_ONCE;
    uint32_t first = member_next(job, 0);
    n = count_unknown(job, first, (uint32_t)n);
    if (submit_members(s, job, job->request, first, (uint32_t)n, hold, err) < 0 ||
        tell_gaps(s, job) < 0)
        return err->text[0] ? -1 : errtext_set(err, errno, "%s", strerror(errno));
    if (read_admitted(s, job, err) == 0)
        return (int64_t)first + (int64_t)n;
    int saved = errno;
    job_withdraw(s, job);
    errno = saved;
    return -1;
}

void job_withdraw(server_t *s, struct job *job)
{
    admit_stop(job);
    for (int64_t i = job->members; (i = member_previous(job, i - 1)) >= 0;) {
        member_recover_handle(s, job, (uint32_t)i);
        sched_job_t handle = member_handle(s, job, (uint32_t)i);
        struct member *m = member_record(job, (uint32_t)i);
        if (handle >= 0 && sched_withdraw(s->sched, s->clock.now, handle) < 0)
            sched_cancel(s->sched, s->clock.now, handle);
        if (m)
            m->handle = -1;
    }
}
