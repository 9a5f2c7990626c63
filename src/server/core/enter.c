/* Jobs are handed to the core: at once, or, of an array, its first members at once and the others in
 * slices. Those that the core has not yet have their places in its order already. They wait, as any
 * other; what is changed of the job meanwhile is so of them when they come.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_snapshot.h"
#include "server/core/job_text.h"
#include "server/core/work.h"

enum { AT_ONCE = 1024 }; /* members that the core is given with one call */

/* The rest of an array, which goes on until the core has it, or the job is no more. */
struct entering {
    struct server_work work;
    struct job *job; /* NULL: it is no more */
    uint32_t next;   /* members before this one have been looked at */
    bool is_started;
    char request[];
};

/* Numbers are given in the order in which requests came, whenever it is that the core hears of a member. */
uint64_t enter_order(const struct job *job)
{
    _Static_assert(SERVER_MEMBERS_MAX <= 1 << 20, "members of a job have places of its own");
    return (uint64_t)job->id << 20;
}

/* What the core is to know of whom a job waits for. A job that history has dropped since its first
 * members came is over.
 */
static int tell_dependency(server_t *s, const struct job *job, struct job_request *q, bool is_first,
                           berth_error_t *err)
{
    int64_t unknown;
    if (!is_first && server_leave_dropped(s, q->dependency) < 0)
        return -1;
    if (!*q->dependency)
        q->request.dependency = NULL;
    if (server_tell_ended(s, q->dependency, job->id, &unknown) < 0)
        return -1;
    /* The core may remember a job of this number that was taken back. */
    return unknown == 0 ? 0
                        : errtext_set(err, EINVAL, "dependency %" PRId64 ": no such job", unknown);
}

/* Give the core some members. Returns 0, or -1 with errno, perhaps a text, and nothing changed. */
static int give(server_t *s, struct job *job, const char *request, uint32_t from, uint32_t n,
                bool hold, berth_error_t *err)
{
    sched_job_t handles[AT_ONCE];
    struct job_request q;
    struct job_parts parts;
    job_parts(request, &parts);
    if (job_request_read(job, user_find(s, job->uid), &parts, &q) < 0)
        return -1;
    q.request.order = enter_order(job);
    q.request.submitted = job->submitted < s->clock.now ? job->submitted : s->clock.now;
    q.request.hold = q.request.hold || hold;
    int rc = q.dependency ? tell_dependency(s, job, &q, from == 0, err) : 0;
    if (rc == 0)
        rc = sched_submit_members(s->sched, s->clock.now, &q.request, from, n, handles);
    job_request_clear(&q);
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        job->member[from + i].handle = handles[i];
    return rc;
}

/* Members from *next on that wait and that the core has not, at most n in a row. Returns how many. */
static uint32_t next_unknown(const struct job *job, uint32_t *next, uint32_t n)
{
    const struct member *m = job->member;
    uint32_t count = 0;
    while (*next < job->members && (m[*next].state != STORE_PENDING || m[*next].handle >= 0))
        ++*next;
    while (count < n && *next + count < job->members && m[*next + count].state == STORE_PENDING &&
           m[*next + count].handle < 0)
        count++;
    return count;
}

static int go_on(struct server_work *work, size_t *steps)
{
    struct entering *e = (struct entering *)work;
    server_t *s = work->s;
    while (e->job && *steps > 0) {
        uint32_t n = *steps < AT_ONCE ? (uint32_t)*steps : AT_ONCE;
        n = next_unknown(e->job, &e->next, n);
        if (n == 0) {
            e->job->entering = NULL;
            e->job = NULL;
            return 1;
        }
        if (give(s, e->job, e->request, e->next, n, false, NULL) < 0)
            return -1;
        e->next += n;
        work_spend(steps, n);
    }
    return !e->job;
}

static void clear(struct server_work *work)
{
    struct entering *e = (struct entering *)work;
    if (e->job)
        e->job->entering = NULL;
}

int enter_keep(server_t *s, struct job *job, uint32_t next)
{
    size_t length = strlen(job->request);
    struct entering *e = (struct entering *)work_make_behind(s, job->uid, sizeof(*e) + length + 1);
    if (!e)
        return -1;
    e->work.go = go_on;
    e->work.clear = clear;
    e->job = job;
    e->next = next;
    memcpy(e->request, job->request, length + 1);
    job->entering = e;
    return 0;
}

void enter_rest(server_t *s, struct job *job)
{
    if (!job->entering || job->entering->is_started)
        return;
    job->entering->is_started = true;
    work_start_behind(s, &job->entering->work);
}

uint32_t enter_known(const struct job *job)
{
    return job->entering ? job->entering->next : job->members;
}

void enter_forget(struct job *job)
{
    struct entering *e = job->entering;
    job->entering = NULL;
    if (e)
        e->job = NULL;
    if (e && !e->is_started)
        work_drop(&e->work);
}

int enter_member(server_t *s, struct job *job, uint32_t i)
{
    if (!job->entering)
        return 0;
    return give(s, job, job->entering->request, i, 1, false, NULL) < 0 ? -1 : 0;
}

/* What the core says of a job when it has the first of it: queue and duration. */
static int look(server_t *s, struct job *job, berth_error_t *err)
{
    sched_job_t first = job->member[0].handle;
    struct sched_record r;
    if (sched_record(s->sched, first, &r) < 0)
        return errtext_set(err, errno, "%s", strerror(errno));
    if (sched_state(s->sched, first) == SCHED_REJECTED)
        return errtext_set(err, EINVAL, "%s", r.reason && *r.reason ? r.reason : "refused");
    job->duration = r.request.duration;
    job->queue = server_name(s, r.request.queue);
    return job->queue ? 0 : errtext_set(err, ENOMEM, "out of memory");
}

int64_t enter_first(server_t *s, struct job *job, size_t most, bool hold, berth_error_t *err)
{
    size_t n = most < 1 ? 1 : most < AT_ONCE ? most : AT_ONCE;
    if (n > job->members)
        n = job->members;
    if (give(s, job, job->request, 0, (uint32_t)n, hold, err) < 0)
        return err->text[0] ? -1 : errtext_set(err, errno, "%s", strerror(errno));
    if (look(s, job, err) == 0)
        return (int64_t)n;
    int saved = errno;
    enter_back(s, job);
    errno = saved;
    return -1;
}

void enter_back(server_t *s, struct job *job)
{
    enter_forget(job);
    for (uint32_t i = job->members; i-- > 0;) {
        member_take_up(s, job, i);
        sched_job_t handle = job->member[i].handle;
        if (handle >= 0 && sched_withdraw(s->sched, s->clock.now, handle) < 0)
            sched_cancel(s->sched, s->clock.now, handle);
        job->member[i].handle = -1;
    }
}
