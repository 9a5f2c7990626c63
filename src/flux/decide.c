/* What a pass decides, as messages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_query.h"
#include "flux/module.h"
#include "flux/r.h"

/* A start that is put off by less than this since Flux was told is not told: jobs overrun by a second or two, and each
 * annotation goes to all who watch the job.
 */
#define LATE 5 /* seconds */

/* R of a job that starts, as text to free; NULL with errno: ENODATA, there is nothing to run on. */
static char *write_r(struct module *m, const struct flux_job *job, const struct sched_decision *d)
{
    struct sched_annotation a;
    const char *text;
    size_t length;
    char *result = NULL;

    if (sched_annotate(m->sched, job->handle, &a) < 0)
        return NULL;
    int64_t end = module_end_of(m, d->at, a.limit);
    if (sched_write(m->sched, job->handle, m->match_format, &text, &length) < 0)
        return NULL;
    if (length == 0) {
        errno = ENODATA;
        return NULL;
    }
    json_t *r = json_loadb(text, length, 0, NULL);
    errno = EINVAL;
    if (r && r_set_times(r, m->second, d->at, end) == 0 && !(result = json_dumps(r, JSON_COMPACT)))
        errno = ENOMEM;
    json_decref(r);
    return result;
}

/* What can't be carried out is taken back, which asks for another pass at this time. */
static void deny_alloc(struct module *m, struct flux_job *job, const char *why)
{
    char note[200];

    snprintf(note, sizeof(note), "alloc denied: %s", why);
    if (schedutil_alloc_respond_deny(m->util, job->request, note) < 0)
        flux_log_error(m->h, "%s: deny", job_f58(job->id).text);
    sched_cancel(m->sched, m->now, job->handle);
    flux_jobs_remove(&m->jobs, job);
    m->is_passed = false;
    m->is_due = true;
}

static void start_alloc(struct module *m, struct flux_job *job, const struct sched_decision *d)
{
    char *r;

    job->handle = d->job;
    r = write_r(m, job, d);
    if (!r) {
        const char *error = strerror(errno);
        if (errno == ENODATA)
            error = "it asks for no cores or GPUs to run on";
        else
            flux_log(m->h, LOG_ERR, "%s: R: %s", job_f58(job->id).text, error);
        deny_alloc(m, job, error);
        return;
    }
    if (m->notes->started(m, job, d, r) < 0)
        flux_log_error(m->h, "%s: alloc", job_f58(job->id).text);
    free(r);
    flux_job_answered(job);
}

static void tell_reservation(struct module *m, struct flux_job *job, const struct sched_decision *d)
{
    if (job->told_start >= 0 && d->at >= job->told_start &&
        d->at - job->told_start < LATE * m->second)
        return;
    if (m->notes->reserved(m, job, d) < 0)
        flux_log_error(m->h, "%s: annotate", job_f58(job->id).text);
    job->told_start = d->at;
    free(job->told_reason);
    job->told_reason = NULL;
}

static void wait(struct module *m, struct flux_job *job, const struct sched_decision *d)
{
    char text[SCHED_REASON_TEXT];

    sched_reason_text(d->reason, text);
    if (job->told_start < 0 && job->told_reason && strcmp(job->told_reason, text) == 0)
        return;
    if (m->notes->waits(m, job, text) < 0)
        flux_log_error(m->h, "%s: annotate", job_f58(job->id).text);
    job->told_start = -1;
    free(job->told_reason);
    job->told_reason = strdup(text); /* without memory it is told again */
}

static void reject_alloc(struct module *m, struct flux_job *job, const struct sched_decision *d)
{
    char note[SCHED_REASON_TEXT + 64];

    m->notes->denied(d->reason, note, sizeof(note));
    if (schedutil_alloc_respond_deny(m->util, job->request, note) < 0)
        flux_log_error(m->h, "%s: deny", job_f58(job->id).text);
    flux_jobs_remove(&m->jobs, job);
}

/* A running job has to go; its resources come back by sched.free. */
static void stop(struct module *m, const struct flux_job *job, const struct sched_decision *d)
{
    char text[SCHED_REASON_TEXT], note[SCHED_REASON_TEXT + 64];
    struct sched_annotation a;
    flux_future_t *f;

    if (d->kind == SCHED_STOP)
        snprintf(note, sizeof(note), "its estimate is over, and: %s",
                 sched_reason_text(d->reason, text));
    else
        snprintf(note, sizeof(note), "for job %s",
                 sched_annotate(m->sched, d->other, &a) == 0 ? job_f58(a.tag).text : "?");
    f = flux_job_raise(m->h, job->id, "preempt", 0, note);
    if (!f)
        flux_log_error(m->h, "%s: exception", job_f58(job->id).text);
    flux_future_destroy(f);
}

void module_decided(struct module *m, const struct sched_decision *d, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct flux_job *job = flux_jobs_find(&m->jobs, d[i].tag);
        if (!job || !job->request != (d[i].kind == SCHED_PREEMPT || d[i].kind == SCHED_STOP ||
                                      d[i].kind == SCHED_AWAIT))
            continue;
        record_decision(m, &d[i]);
        switch (d[i].kind) {
        case SCHED_START:
            start_alloc(m, job, &d[i]);
            break;
        case SCHED_RESERVE:
            tell_reservation(m, job, &d[i]);
            break;
        case SCHED_WAIT:
            wait(m, job, &d[i]);
            break;
        case SCHED_REJECT:
            reject_alloc(m, job, &d[i]);
            break;
        case SCHED_PREEMPT:
        case SCHED_STOP:
            stop(m, job, &d[i]);
            break;
        case SCHED_AWAIT: /* it has its exception */
            break;
        }
    }
}
