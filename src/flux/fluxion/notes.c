/* How decisions are told as Fluxion tells them: t_estimate and selection_type, nothing else. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "flux/fluxion/resource.h"

static const char *const how_names[] = {[SCHED_IMMEDIATE] = "immediate",
                                        [SCHED_BACKFILLED] = "backfill",
                                        [SCHED_PROMISED] = "reserved"};

static int answer_start(struct module *m, const struct flux_job *job,
                        const struct sched_decision *d, const char *r)
{
    return schedutil_alloc_respond_success_pack(m->util, job->request, r, "{s:{s:n s:s}}", "sched",
                                                "t_estimate", "selection_type", how_names[d->how]);
}

static int annotate_reservation(struct module *m, const struct flux_job *job,
                                const struct sched_decision *d)
{
    return schedutil_alloc_respond_annotate_pack(m->util, job->request, "{s:{s:f s:s}}", "sched",
                                                 "t_estimate", (double)d->at, "selection_type",
                                                 "reserved");
}

static int annotate_wait(struct module *m, const struct flux_job *job, const char *reason)
{
    (void)reason;
    if (job->told_start < 0)
        return 0;
    return schedutil_alloc_respond_annotate_pack(m->util, job->request, "{s:{s:n s:n}}", "sched",
                                                 "t_estimate", "selection_type");
}

static void denied(const struct sched_reason *reason, char *note, size_t size)
{
    char text[SCHED_REASON_TEXT];

    if (reason->kind == SCHED_REASON_UNSATISFIABLE)
        snprintf(note, size, "alloc denied due to type=\"unsatisfiable\"");
    else if (reason->kind == SCHED_REASON_UNKNOWN_QUEUE)
        snprintf(note, size, "queue (%s) doesn't exist", reason->queue);
    else
        snprintf(note, size, "alloc denied due to type=\"match error\": %s",
                 sched_reason_text(reason, text));
}

static void restored(struct module *m, uint64_t id, const char *queue)
{
    char line[160];
    snprintf(line, sizeof(line), "requeue success (queue=%.80s id=%" PRIu64 ")", queue, id);
    queues_log(OF_MODULE(m), line);
}

static void tell_changed_ranks(struct module *m, const char *up, const char *down, const char *gone,
                               double expiration)
{
    queues_changed(OF_MODULE(m), up, down, gone, expiration);
    if (expiration >= 0)
        flux_log(m->h, LOG_INFO, "resource expiration updated to %.2f", expiration);
}

const struct module_notes fluxion_notes = {
    answer_start, annotate_reservation, annotate_wait, denied, restored, tell_changed_ranks};
