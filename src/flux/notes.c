/* How sched-berth tells Flux what is decided. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_query.h"
#include "flux/module.h"

static int started(struct module *m, const struct flux_job *job, const struct sched_decision *d,
                   const char *r)
{
    struct sched_annotation a;
    const char *summary = NULL;

    (void)d;
    char *queue = sched_annotate(m->sched, job->handle, &a) == 0 ? strdup(a.queue) : NULL;
    if (sched_resources(m->sched, job->handle, &summary) < 0)
        summary = NULL;
    /* These stay in the job's events: what was said of its wait is gone. */
    int rc = schedutil_alloc_respond_success_pack(
        m->util, job->request, r, "{s:{s:n s:n s:s* s:s*}}", "sched", "t_estimate",
        "reason_pending", "resource_summary", summary, "queue", queue);
    free(queue);
    return rc;
}

static int reserved(struct module *m, const struct flux_job *job, const struct sched_decision *d)
{
    return schedutil_alloc_respond_annotate_pack(m->util, job->request, "{s:{s:f s:n}}", "sched",
                                                 "t_estimate", (double)d->at / (double)m->second,
                                                 "reason_pending");
}

static int waits(struct module *m, const struct flux_job *job, const char *reason)
{
    return schedutil_alloc_respond_annotate_pack(m->util, job->request, "{s:{s:n s:s}}", "sched",
                                                 "t_estimate", "reason_pending", reason);
}

static void denied(const struct sched_reason *reason, char *note, size_t size)
{
    char text[SCHED_REASON_TEXT];
    snprintf(note, size, "alloc denied: %s", sched_reason_text(reason, text));
}

const struct module_notes module_notes = {started, reserved, waits, denied, NULL, NULL};
