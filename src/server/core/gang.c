/* Gangs: what the core does not keep of them when the server ends. */
#include "berth/sched_snapshot.h"
#include "config/seconds.h"
#include "server/core/priv.h"

sched_job_t gang_handle(const struct job *job, uint32_t but)
{
    if (job->entry >= 0)
        return job->entry;
    for (uint32_t k = 0; (k = member_next_own(job, k)) < job->members; k++) {
        const struct member *m = member_record(job, k);
        if (k != but && member_is_live(m) && m->handle >= 0)
            return m->handle;
    }
    return -1;
}

/* Where memory is short it is not noted. After a restart the gang goes on then. */
void gang_note_end(server_t *s, struct job *job, uint32_t member)
{
    struct sched_record r;
    struct sched_reason why;
    char text[SCHED_REASON_TEXT];
    sched_job_t other = job->gang.min > 0 && !job->gang.is_over ? gang_handle(job, member) : -1;
    if (other < 0 || sched_record(s->sched, other, &r) < 0 || !r.gang_over)
        return;
    snprintf(text, sizeof(text), "%s", r.gang_over);
    sched_reason_read(&why, text, SECONDS_TICKS);
    job->gang.is_over = true;
    job->gang.by = member;
    job->gang.left = why.kind == SCHED_REASON_GANG_LEFT ? (uint32_t)why.gang.have : 0;
}

static const char *over_text(const struct job *job, char text[SCHED_REASON_TEXT])
{
    const struct job_gang *gang = &job->gang;
    struct sched_reason why = {.kind = SCHED_REASON_GANG_LEFT, .gang = {gang->left, gang->min}};
    if (gang->failure == SCHED_FAIL_ALL)
        why = (struct sched_reason){.kind = SCHED_REASON_GANG_FAILED, .gang.have = gang->by};
    return sched_reason_text(&why, text);
}

/* A gang is up while a member runs, or enough have succeeded. Of one that is down, members that wait for themselves and
 * were promised nothing wait for the others until the core has chosen who waits for all.
 */
void gang_record(struct sched_record *r, const struct job *job, bool is_promised,
                 struct gang_texts *texts)
{
    static const struct sched_reason waits = {.kind = SCHED_REASON_GANG_WAITS};
    if (job->gang.min == 0)
        return;
    r->succeeded = job->counts[STORE_DONE];
    r->replaced = job->gang.replaced;
    r->gang_up = job_running(job) > 0 || r->succeeded >= job->gang.min;
    r->gang_over = job->gang.is_over ? over_text(job, texts->over) : NULL;
    r->reason = NULL;
    if (r->gang_up || r->waiting || r->held || is_promised)
        return;
    r->state = SCHED_BLOCKED;
    r->reason = sched_reason_text(&waits, texts->waits);
}
