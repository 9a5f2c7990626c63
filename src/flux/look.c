/* What users ask: why a job waits, how queues and shares are, and when a job would start. Answers are those of the same
 * questions to berthd (berth-api(7)), so that they are shown in the same way.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "config/seconds.h"
#include "flux/module.h"
#include "flux/users.h"
#include "report/explained.h"
#include "report/queue_rows.h"

static struct explain_of of_module(const struct module *m)
{
    return (struct explain_of){.sched = m->sched, .now = module_clock(m), .memory_unit = 1};
}

static void respond_text(flux_t *h, const flux_msg_t *msg, struct strbuf *text)
{
    if ((text->failed ? flux_respond_error(h, msg, ENOMEM, NULL)
                      : flux_respond(h, msg, strbuf_text(text))) < 0)
        flux_log_error(h, "answer");
}

static void answer_error(flux_t *h, const flux_msg_t *msg, int error, const char *why)
{
    if (flux_respond_error(h, msg, error, why) < 0)
        flux_log_error(h, "answer");
}

/* ---- explain ---- */

/* The hosts that are not up, as text to free; NULL: there are none. */
static char *not_up(struct module *m)
{
    struct strbuf text = {0};
    json_t *r = module_find(m, "status=down"), *hosts = NULL, *host;
    size_t i;

    json_unpack(r, "{s:{s:o}}", "execution", "nodelist", &hosts);
    json_array_foreach (hosts, i, host) {
        strbuf_puts(&text, i > 0 ? "," : "");
        strbuf_puts(&text, json_string_value(host));
    }
    json_decref(r);
    return text.len > 0 ? strbuf_steal(&text) : NULL;
}

/* The jobs that are stopped for one, by name. */
static void name_victims(struct module *m, sched_job_t job, struct waiting *w,
                         struct victim victims[VICTIMS_TOLD])
{
    sched_job_t stopped[VICTIMS_TOLD];
    struct sched_annotation a;

    w->victims = victims;
    w->n_victims = sched_victims(m->sched, job, stopped, VICTIMS_TOLD);
    for (size_t i = 0; i < w->n_victims && i < VICTIMS_TOLD; i++) {
        const char *id = sched_annotate(m->sched, stopped[i], &a) == 0 ? a.id : "?";
        snprintf(victims[i].id, sizeof(victims[i].id), "%s", id);
    }
}

/* Of a job that waits, behind its id. */
static int put_waiting(struct module *m, const struct flux_job *job, struct json_out *out)
{
    struct explain_of of = of_module(m);
    struct strbuf text = {0}, members = {0};
    struct victim victims[VICTIMS_TOLD];
    struct sched_annotation a;
    struct explained e;

    if (explained_ask(of, job->handle, &e) < 0)
        return -1;
    char *down = not_up(m);
    char *queue = sched_annotate(m->sched, job->handle, &a) == 0 ? strdup(a.queue) : NULL;
    e.waiting.user = flux_users_name(m->users, job->user);
    e.waiting.queue = queue ? queue : "?";
    e.waiting.n_not_up = down != NULL;
    e.waiting.not_up[0] = (struct not_up){.resources = down, .status = "not up"};
    name_victims(m, job->handle, &e.waiting, victims);
    explain_waiting(&text, &e.waiting);
    explained_turns(&e, of, job->handle, &text, &members);
    json_put_string(out, "state", "pending");
    explained_put(out, of, &e, NULL, strbuf_text(&text));
    strbuf_put(out->text, members.data, members.len);
    out->text->failed |= text.failed || members.failed;
    strbuf_clear(&text);
    strbuf_clear(&members);
    explained_clear(&e);
    free(queue);
    free(down);
    return 0;
}

/* Of one that has resources. */
static int put_running(struct module *m, const struct flux_job *job, struct json_out *out)
{
    struct explain_of of = of_module(m);
    struct strbuf text = {0};
    struct sched_annotation a;
    sched_job_t other = sched_preemptor(m->sched, job->handle);

    if (sched_annotate(m->sched, job->handle, &a) < 0)
        return -1;
    strbuf_puts(&text, "It has been running for ");
    explain_span(&text, of.now - a.start);
    if (a.until == INT64_MAX) {
        strbuf_puts(&text, "; nobody knows until when.");
    } else {
        strbuf_puts(&text, ", and is expected to end ");
        strbuf_puts(&text, a.until > of.now ? "in " : "now");
        if (a.until > of.now)
            explain_span(&text, a.until - of.now);
        strbuf_putc(&text, '.');
    }
    if (other >= 0 && sched_annotate(m->sched, other, &a) == 0) {
        strbuf_puts(&text, " It is being preempted for job ");
        strbuf_puts(&text, a.id);
        strbuf_putc(&text, '.');
    }
    json_put_string(out, "state", "running");
    explained_put(out, of, NULL, NULL, strbuf_text(&text));
    out->text->failed |= text.failed;
    strbuf_clear(&text);
    return 0;
}

/* {"id"} -> {"id", "state", "reason", "text", ...}, for the job's owner and the instance's. */
void module_explain(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    struct strbuf text = {0};
    struct json_out out = {.text = &text};
    flux_jobid_t id;

    (void)mh;
    if (flux_msg_unpack(msg, "{s:I}", "id", &id) < 0) {
        answer_error(h, msg, EPROTO, NULL);
        return;
    }
    const struct flux_job *job = flux_jobs_find(&m->jobs, id);
    if (!job) {
        answer_error(h, msg, ENOENT, "no such job waits for resources or has any");
        return;
    }
    if (flux_msg_authorize(msg, job->user) < 0) {
        answer_error(h, msg, EPERM, "it is another user's job");
        return;
    }
    json_open(&out, NULL, '{');
    json_put_string(&out, "id", job_f58(id).text);
    if ((job->request ? put_waiting(m, job, &out) : put_running(m, job, &out)) < 0)
        text.failed = true;
    json_close(&out, '}');
    respond_text(h, msg, &text);
    strbuf_clear(&text);
}

/* ---- queues and shares ---- */

void module_queues(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    struct strbuf text = {0};

    (void)mh;
    text.failed = queue_rows_put(&text, m->sched, module_clock(m), &m->config->sched, 1) < 0;
    respond_text(h, msg, &text);
    strbuf_clear(&text);
}

void module_shares(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    struct strbuf text = {0};

    (void)mh;
    text.failed = share_rows_put(&text, m->sched, module_clock(m), 1) < 0;
    respond_text(h, msg, &text);
    strbuf_clear(&text);
}

/* ---- what-if ---- */

static void put_start_answer(struct module *m, sched_job_t job, struct json_out *out)
{
    char words[SCHED_REASON_TEXT];
    struct sched_annotation a;
    bool known = sched_annotate_new(m->sched, job, &a) == 0;
    bool now = known && a.start >= 0 && a.start <= m->now;

    json_open(out, NULL, '{');
    json_put_bool(out, "now", now);
    json_put_seconds(out, "start", known ? a.start : -1);
    json_put_bool(out, "never", known && a.state == SCHED_REJECTED);
    json_put_bool(out, "not_before", known && a.not_before);
    json_put_bool(out, "expected", known && a.expected);
    json_put_text(out, "reason",
                  known && !now && a.reason.kind != SCHED_REASON_NONE
                      ? sched_reason_text(&a.reason, words)
                      : NULL);
    json_close(out, '}');
}

/* {"jobspec"} -> {"now", "start", ...}: a job is submitted as any other, looked at, and withdrawn. */
void module_what_if(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    struct strbuf text = {0};
    struct json_out out = {.text = &text};
    uint32_t user;
    json_t *jobspec;

    (void)mh;
    if (flux_msg_unpack(msg, "{s:o}", "jobspec", &jobspec) < 0 ||
        flux_msg_get_userid(msg, &user) < 0) {
        answer_error(h, msg, EPROTO, NULL);
        return;
    }
    module_event(m);
    sched_job_t job = module_try(m, jobspec, user);
    if (job < 0) {
        answer_error(h, msg, errno, errno == ENOENT ? "there is no such queue" : NULL);
        return;
    }
    put_start_answer(m, job, &out);
    sched_withdraw(m->sched, m->now, job);
    respond_text(h, msg, &text);
    strbuf_clear(&text);
}
