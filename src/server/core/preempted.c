/* What is told of a member that is stopped for another job: for whom, why this one, and what is lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"

/* By which rule, for programs. */
static const char *const rules[] = {[SCHED_MAY_PREEMPTIBLE] = "preemptible",
                                    [SCHED_MAY_PRIORITY] = "priority",
                                    [SCHED_MAY_SHARE] = "share",
                                    [SCHED_MAY_RICHER] = "richer",
                                    [SCHED_MAY_CLASS] = "class"};

static char *event_data(const struct member *m, const struct sched_reason *why)
{
    struct strbuf data = {0};
    struct json_out out = {.text = &data};
    json_open(&out, NULL, '{');
    json_key(&out, "for");
    if (why->n_jobs > 0)
        job_put_id(&data, strtoll(why->job[0].id, NULL, 10), why->job[0].member);
    else
        strbuf_puts(&data, "null");
    json_put_bool(&out, "requeue", m->requeue);
    json_put_text(&out, "why", rules[why->may]);
    json_put_bool(&out, "spare", why->spare);
    json_put_int(&out, "lost", why->has);
    json_close(&out, '}');
    return strbuf_steal(&data);
}

void preempted_note(server_t *s, struct job *job, uint32_t i, const struct sched_reason *why)
{
    struct member *m = member_record(job, i);
    char reason[SCHED_REASON_TEXT];
    member_event(s, job, i, "preempted", event_data(m, why));
    text_assign(&m->reason, sched_reason_text(why, reason));
    member_changed(s, job, i);
}

void awaited_note(server_t *s, struct job *job, uint32_t i, int64_t by, int64_t member)
{
    struct strbuf data = {0};
    struct json_out out = {.text = &data};
    json_open(&out, NULL, '{');
    json_key(&out, "for");
    job_put_id(&data, by, member);
    json_close(&out, '}');
    member_event(s, job, i, "awaited", strbuf_steal(&data));
    member_changed(s, job, i);
}

bool preempted_why(const char *reason, struct sched_reason *why, char text[SCHED_REASON_TEXT])
{
    if (!reason || strlen(reason) >= SCHED_REASON_TEXT)
        return false;
    snprintf(text, SCHED_REASON_TEXT, "%s", reason);
    sched_reason_read(why, text, SERVER_SECOND);
    return why->kind == SCHED_REASON_PREEMPTED;
}
