/* Gangs: what the core does not keep of them when the server ends. */
#include <string.h>

#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "config/seconds.h"
#include "server/core/gang.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/roles.h"

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

int64_t gang_leader(const server_t *s, const struct job *job)
{
    sched_job_t handle = job->gang.min > 0 ? gang_handle(job, UINT32_MAX) : -1;
    sched_job_t leader = handle < 0 ? -1 : sched_gang_leader(s->sched, handle);
    if (leader >= 0 && leader == job->entry)
        return sched_index(s->sched, leader);
    for (uint32_t k = 0; leader >= 0 && (k = member_next_own(job, k)) < job->members; k++)
        if (member_record(job, k)->handle == leader)
            return k;
    return -1;
}

static const char again[] = "a member that started with it could not be started";

bool gang_stops_for(const char *reason)
{
    return reason && strcmp(reason, again) == 0;
}

bool gang_start_again(server_t *s, struct job *job, uint32_t member)
{
    int64_t at = member_record(job, member)->at;
    bool any = false;
    for (uint32_t k = 0; job->gang.min > 0 && (k = member_next_own(job, k)) < job->members; k++) {
        struct member *m = member_record(job, k);
        if (k == member || !m->run || !m->run->in_engine || m->at != at || m->cancelled ||
            m->timed_out || m->preempted || m->dismissed)
            continue;
        m->preempted = m->requeue = any = true;
        text_assign(&m->reason, again);
        member_changed(s, job, k);
        run_stop_by_server(s, m->run);
    }
    return any;
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
    int64_t left = why.n_roles > 0 ? why.role[0].have : why.gang.have;
    job->gang.left = why.kind == SCHED_REASON_GANG_LEFT ? (uint32_t)left : 0;
}

/* Of several roles, the one of the member by whose end it is over has too few. */
static const char *over_text(const struct job *job, char text[SCHED_REASON_TEXT])
{
    const struct job_gang *gang = &job->gang;
    struct sched_reason why = {.kind = SCHED_REASON_GANG_LEFT, .gang = {gang->left, gang->min}};
    const struct job_role *role = job_role_of(job, gang->by);
    if (role) {
        why.gang = (struct sched_reason_gang){0};
        why.role[why.n_roles++] = (struct sched_reason_role){role->name, gang->left, role->min};
    }
    if (gang->failure == SCHED_FAIL_ALL)
        why = (struct sched_reason){.kind = SCHED_REASON_GANG_FAILED, .gang.have = gang->by};
    return sched_reason_text(&why, text);
}

/* Whether as many have succeeded as start together, of each role. */
static bool has_enough(const struct sched_record *r, const struct job *job)
{
    if (!job->roles)
        return r->succeeded >= job->gang.min;
    for (size_t i = 0; i < job->roles->n; i++)
        if (r->role_succeeded[i] < job->roles->role[i].min)
            return false;
    return true;
}

bool gang_grows_apart(const struct job *job)
{
    struct sched_record r;
    if (!job->roles)
        return false;
    job_roles_count(job, r.role_succeeded);
    return job_running(job) > 0 || has_enough(&r, job);
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
    r->gang_up = job_running(job) > 0 || has_enough(r, job);
    r->gang_over = job->gang.is_over ? over_text(job, texts->over) : NULL;
    r->reason = NULL;
    if (r->gang_up || r->waiting || r->held || is_promised)
        return;
    r->state = SCHED_BLOCKED;
    r->reason = sched_reason_text(&waits, texts->waits);
}
