/* A job is admitted to the core as a whole: the members of an array wait there as one entry, under one
 * handle, until they start or something happens to one of them alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "config/members.h"
#include "report/reason_words.h"
#include "server/core/entry.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/pilots_auto.h"
#include "server/core/priv.h"
#include "server/core/users.h"

/* Ranks follow the order of requests. */
uint64_t job_order(const struct job *job)
{
    _Static_assert(MEMBERS_MAX <= 1 << 20, "members of a job have places of its own");
    return (uint64_t)job->id << 20;
}

int dependency_restore(server_t *s, const char *dependency, int64_t job, berth_error_t *err)
{
    int64_t unknown;
    if (dependency_restore_ended(s, dependency, job, &unknown) < 0)
        return errtext_set(err, errno, "%s", strerror(errno));
    /* The core may remember a job of this id that was undone. */
    return unknown == 0 ? 0
                        : errtext_set(err, EINVAL, "dependency %" PRId64 ": no such job", unknown);
}

/* The core has taken it under a handle: that of its only member, or of an array's entry. */
static void job_entered(struct job *job, sched_job_t handle)
{
    if (job->members > 1)
        job->entry = handle;
    else
        member_record(job, 0)->handle = handle;
}

/* Submit a job to the core. Returns its handle, or -1 with errno, maybe a text, and nothing changed. */
static sched_job_t submit_to_core(server_t *s, struct job *job, bool hold, berth_error_t *err)
{
    struct job_request q;
    struct job_parts parts;
    job_parts(job->request, &parts);
    job_shape_read(job, &parts);
    if (job_request_read(job, user_find(s, job->uid), &parts, &q) < 0)
        return -1;
    q.request.order = job_order(job);
    q.request.submitted = job->submitted < s->clock.now ? job->submitted : s->clock.now;
    q.request.hold = q.request.hold || hold;
    sched_job_t handle = -1;
    if (!q.dependency || dependency_restore(s, q.dependency, job->id, err) == 0)
        handle = sched_submit(s->sched, s->clock.now, &q.request);
    int saved = errno;
    job_request_clear(&q);
    errno = saved;
    return handle;
}

/* What of the machine has not come yet, or how to get more. */
static void put_pilot_to_come(const server_t *s, struct strbuf *text)
{
    size_t i;
    const json_t *pilot;
    json_array_foreach (pilots_list(s), i, pilot) {
        int64_t number = entry_number(pilot, "pilot");
        bool counts = pilot_counts(s, number);
        if (!counts &&
            (pilot_has_nodes(s, number) || json_is_true(json_object_get(pilot, "ending"))))
            continue;
        strbuf_puts(text, counts ? ", with the nodes of pilot " : "; what pilot ");
        strbuf_put_int(text, number);
        strbuf_puts(text, counts
                              ? " that have not come yet"
                              : " brings is known once its nodes have come: submit it again then");
        return;
    }
    if (json_array_size(pilots_list(s)) == 0 && s->platform.has_slurm &&
        s->platform.engine->ops->invite && s->config->resources.source != CONFIG_SLURM)
        strbuf_puts(text, "; berth pilot add borrows nodes from Slurm");
}

/* Say why it can't be admitted. Returns -1. */
static int refused(const server_t *s, sched_job_t handle, const struct sched_record *r,
                   berth_error_t *err)
{
    struct strbuf text = {0};
    struct sched_annotation a;
    if (sched_annotate(s->sched, handle, &a) == 0)
        reason_put_refusal(&text, &a.reason, r->request.duration, r->request.user,
                           r->request.queue);
    if (text.len > 0 && a.reason.kind == SCHED_REASON_UNSATISFIABLE)
        put_pilot_to_come(s, &text);
    errtext_set(err, EINVAL, "%s", text.len > 0 ? strbuf_text(&text) : "refused");
    strbuf_clear(&text);
    return -1;
}

/* Take the queue and the duration that the core gave it. */
static int read_admitted(server_t *s, struct job *job, sched_job_t handle, berth_error_t *err)
{
    struct sched_record r;
    if (sched_record(s->sched, handle, &r) < 0)
        return errtext_set(err, errno, "%s", strerror(errno));
    if (sched_state(s->sched, handle) == SCHED_REJECTED)
        return refused(s, handle, &r, err);
    job->limit = r.request.duration;
    job->estimate = r.request.estimate;
    job->queue = server_intern_name(s, r.request.queue);
    return job->queue ? 0 : errtext_no_memory(err);
}

int admit_job(server_t *s, struct job *job, bool hold, berth_error_t *err)
{
    sched_job_t handle = submit_to_core(s, job, hold, err);
    if (handle < 0)
        return err->text[0] ? -1 : errtext_set(err, errno, "%s", strerror(errno));
    job_entered(job, handle);
    if (read_admitted(s, job, handle, err) == 0)
        return 0;
    int saved = errno;
    job_withdraw(s, job);
    errno = saved;
    return -1;
}

static void withdraw(server_t *s, sched_job_t handle)
{
    if (handle >= 0 && sched_withdraw(s->sched, s->clock.now, handle) < 0)
        sched_cancel(s->sched, s->clock.now, handle);
}

void job_withdraw(server_t *s, struct job *job)
{
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++) {
        struct member *m = member_record(job, i);
        member_recover_handle(s, job, i);
        if (m->handle != job->entry)
            withdraw(s, m->handle);
        m->handle = -1;
    }
    withdraw(s, job->entry);
    job->entry = -1;
}
