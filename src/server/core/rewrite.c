#include "server/core/rewrite.h"

#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/users.h"

/* The same of how many members run at once, which concerns those that wait. */
static const char *at_once_hindrance(const struct job *job)
{
    return job->members == 1                 ? "is no array"
           : job->roles || job->gang.min > 0 ? "is a gang: so many of it run as have room"
           : job->counts[STORE_PENDING] == 0 ? "has no members that wait"
                                             : NULL;
}

const char *rewrite_hindrance(const struct job *job, enum rewrite_what what)
{
    if (what == REWRITE_AT_ONCE)
        return at_once_hindrance(job);
    if (job->roles || job->gang.min > 0)
        return "is a gang: what its members ask for stays";
    if (job->live < member_count(job) || job->counts[STORE_PENDING] < job->live)
        return job->members > 1 ? "has members that are already running" : "is already running";
    if (job->is_behind || (job->members > 1 && member_next_own(job, 0) < job->members))
        return "has members that were changed by themselves";
    return NULL;
}

/* Append a name to a request. NULL with ENOMEM. */
static char *with_name(char *request, const char *name)
{
    struct strbuf text = {0};
    struct json_out out = {.text = &text};
    json_put_text(&out, "named", name);
    struct strbuf whole = {0};
    strbuf_put(&whole, request, strlen(request) - 1);
    strbuf_putc(&whole, ',');
    strbuf_put(&whole, text.data, text.len);
    strbuf_putc(&whole, '}');
    strbuf_clear(&text);
    return strbuf_steal(&whole);
}

static int change_in_core(server_t *s, sched_job_t handle, const struct job *job,
                          const struct job_request *q, enum rewrite_what what, berth_error_t *err)
{
    int64_t now = s->clock.now;
    if (what == REWRITE_ACCOUNT)
        return sched_set_account(s->sched, now, handle, q->account, err);
    if (what == REWRITE_AT_ONCE)
        return handle < 0
                   ? 0
                   : sched_set_max_running(s->sched, now, handle, q->request.max_running, err);
    if (what == REWRITE_ASKED)
        return sched_set_jobspec(s->sched, now, handle, q->request.jobspec,
                                 q->request.jobspec_length, err);
    if (q->dependency && dependency_restore(s, q->dependency, job->id, err) < 0)
        return -1;
    return sched_set_dependency(s->sched, now, handle, q->dependency, err);
}

/* A handle of a job in the core: of an array its entry's, or that of a member that waits or runs by itself; -1: it has none. */
static sched_job_t handle_of_job(const struct job *job)
{
    sched_job_t handle = job->members > 1 ? job->entry : member_record(job, 0)->handle;
    for (uint32_t i = 0; handle < 0 && (i = member_next_own(job, i)) < job->members; i++)
        if (member_is_live(member_record(job, i)))
            handle = member_record(job, i)->handle;
    return handle;
}

/* The core is told what is otherwise now. */
static int tell_core(server_t *s, struct job *job, const struct job *by, enum rewrite_what what,
                     berth_error_t *err)
{
    struct job_parts parts;
    struct job_request q;
    job_parts(by->request, &parts);
    if (job_request_read(by, user_find(s, job->uid), &parts, &q) < 0)
        return errtext_no_memory(err);
    int rc = change_in_core(s, handle_of_job(job), job, &q, what, err);
    int saved = errno;
    job_request_clear(&q);
    errno = saved;
    return rc;
}

/* The core dropped a reservation, which must leave the store. */
static void drop_promise(server_t *s, struct job *job)
{
    struct member *m = job->members > 1 ? NULL : member_record(job, 0);
    if (!m) {
        entry_follow(s, job);
    } else if (m->reserved && sched_state(s->sched, m->handle) != SCHED_RESERVED) {
        member_changed(s, job, 0);
        m->reserved = false;
        m->at = -1;
    }
}

static void swap_text(char **a, char **b)
{
    char *text = *a;
    *a = *b;
    *b = text;
}

int job_rewrite(server_t *s, struct job *job, struct job *by, enum rewrite_what what,
                const char *named, berth_error_t *err)
{
    struct job_parts parts;
    if (strcmp(named, by->name) != 0) {
        char *request = with_name(by->request, named);
        if (!request)
            return errtext_no_memory(err);
        free(by->request);
        by->request = request;
    }
    if (tell_core(s, job, by, what, err) < 0)
        return -1;
    swap_text(&job->name, &by->name);
    swap_text(&job->row, &by->row);
    swap_text(&job->request, &by->request);
    job->nodes = by->nodes;
    job->cores = by->cores;
    job->gpus = by->gpus;
    job_parts(job->request, &parts);
    job_shape_read(job, &parts);
    user_charge(s, job->uid, 0, (int64_t)by->bytes - (int64_t)job->bytes, 0);
    job->bytes = by->bytes;
    drop_promise(s, job);
    job_changed(s, job);
    job_discard(s, by);
    return 0;
}
