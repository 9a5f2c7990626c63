/* Jobs as others can keep them (restore.c). */
#include <errno.h>

#include "berth/sched_snapshot.h"
#include "sched/controllers/limiter.h"
#include "sched/queues.h"
#include "sched/record_stopped.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang_array.h"
#include "sched/waiting/lane.h"

/* Texts that a record has, one after the other in the scheduler's text buffer. */
struct texts {
    size_t dependency, indices, waiting, awaited_by;
};

static void put_waiting(struct strbuf *out, const struct members *m)
{
    struct idset waiting = members_waiting(m);
    idset_encode_steps(&waiting, out);
}

/* The id without the member, the dependencies that are not met yet, which members there are, and which wait here.
 * Returns 0, or -1 with ENOMEM.
 */
static int put_texts(sched_t *s, uint32_t slot, struct sched_record *record)
{
    struct queues *n = s->queues;
    const struct details *d = s->jobs[slot].details;
    struct strbuf *text = &n->text;
    struct texts at = {0};
    strbuf_reset(text);
    strbuf_puts(text, d->is_nameless ? "" : depend_base_id(n->depend, slot));
    strbuf_putc(text, '\0');
    at.dependency = text->len;
    if (!d->is_nameless)
        depend_expression(n->depend, slot, text);
    strbuf_putc(text, '\0');
    at.indices = text->len;
    if (d->of && d->of->has_all)
        idset_encode_steps(&d->of->all, text);
    strbuf_putc(text, '\0');
    at.waiting = text->len;
    if (is_entry(s, slot))
        put_waiting(text, d->of);
    strbuf_putc(text, '\0');
    at.awaited_by = text->len;
    stopped_put_ids(s, slot, text);
    const char *all = strbuf_text(text);
    if (text->failed) {
        errno = ENOMEM;
        return -1;
    }
    record->request.id = all;
    record->request.dependency = all[at.dependency] ? all + at.dependency : NULL;
    record->request.indices = all[at.indices] ? all + at.indices : NULL;
    record->waiting = all[at.waiting] ? all + at.waiting : NULL;
    return stopped_tell(s, slot, all + at.awaited_by, record);
}

/* Why a holder stands beside the depth of its lane, as text in the buffer for answers: the limit that keeps it, or that
 * it was starving.
 */
static const char *kept_text(sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    struct sched_reason why = {.kind = SCHED_REASON_STARVING};
    if (!d->is_relieved)
        why = limit_reason(s, &d->over);
    return sched_reason_text(&why, s->queues->answer);
}

static void record_roles(sched_t *s, const struct gang *gang, struct sched_record *record)
{
    struct sched_role *to = s->queues->role_answer;
    for (uint32_t i = 0; i < gang->n_roles && gang->role[i].text; i++) {
        const struct gang_role *role = &gang->role[i];
        to[i] = (struct sched_role){role->name, role->text->text, role->text->entry.length,
                                    role->members, role->min};
        record->role_succeeded[i] = role->done;
        record->request.n_roles = i + 1;
        record->request.roles = to;
    }
}

/* Whether nothing that may serve a reservation is new since a pass looked at it. */
static bool has_seen_all(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return job->state == SCHED_RESERVED && !job->is_claiming && job->seen > 0 &&
           freed_since(&s->place->freed, job->seen) == INT64_MAX && !held_again(s, slot);
}

static void record_gang(sched_t *s, const struct gang *gang, struct sched_record *record)
{
    if (!gang)
        return;
    record->request.min = gang->min;
    record->request.failure = gang->failure;
    record->request.gangs = gang_array_name(gang, &record->request.gangs_at_once);
    record->succeeded = gang->done;
    record_roles(s, gang, record);
    record->replaced = gang->replaced;
    record->gang_up = gang_is_up(gang);
    record->gang_over =
        gang->is_over ? sched_reason_text(&gang->why, s->queues->gang_answer) : NULL;
}

int sched_record(sched_t *s, sched_job_t handle, struct sched_record *record)
{
    uint32_t slot = job_in_queue(s, handle);
    if (slot == JOB_NONE) {
        errno = EINVAL;
        return -1;
    }
    const struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    *record = (struct sched_record){
        .member = d->member,
        .state = (enum sched_state)state_told(job),
        .claim = job->is_claiming,
        .submitted = job->submitted,
        .since = d->since,
        .at = job->at,
        .until = job->is_claiming ? INT64_MAX : until_told(s, job),
        .how = d->how,
        .held = d->blocked & BLOCK_HOLD,
        .reason = d->never ? sched_reason_text(d->never, s->queues->answer) : d->told,
        .fresh =
            job->is_fresh || depth_lets_in(s, slot) ||
            (d->blocked & BLOCK_LIMIT && (limit_is_due(s, job) || class_order_rises(s, slot))) ||
            (d->displaced >= 0 && s->queues->is_back && job->state != SCHED_BLOCKED),
        .displaced = d->displaced >= 0,
        .promised = d->displaced,
        .untold = d->is_untold,
        .expected = d->is_expected_told,
        .waits = d->waits,
        .seen = has_seen_all(s, slot),
        .limit = job->is_kept && !job->is_claiming ? kept_text(s, slot) : NULL,
        .stopping = d->is_stopping,
        .dismissed = d->is_dismissed,
        .cleared = d->is_cleared,
        .leaving = d->is_leaving,
        .preempts = job->state == SCHED_RESERVED && job->is_preempting};
    record->request = (struct sched_request){.duration = d->limit,
                                             .estimate = estimate_told(s, d),
                                             .priority = d->priority,
                                             .tag = job->tag,
                                             .jobspec = d->jobspec->text,
                                             .jobspec_length = d->jobspec->entry.length,
                                             .queue = s->queues->setup->queue[d->queue].name,
                                             .account = d->account,
                                             .user = d->user,
                                             .groups = d->groups,
                                             .n_groups = d->n_groups,
                                             .name = d->name,
                                             .begin = d->begin,
                                             .hold = record->held,
                                             .preemptible_after = d->preemptible_after,
                                             .deadline = d->deadline,
                                             .members = d->of ? d->of->size : 1,
                                             .max_running = d->of ? (uint32_t)d->of->most : 0};
    record_gang(s, gang_of(s, slot), record);
    if ((record->state == SCHED_RUNNING || record->state == SCHED_RESERVED || record->claim) &&
        s->place->ops->write(s->place, job->booking, "jgf", &record->resources,
                             &record->resources_length) < 0)
        return -1;
    if (record->resources_length == 0)
        record->resources = NULL; /* nothing of it is there any more */
    return put_texts(s, slot, record);
}

uint32_t sched_enough(const sched_t *s, const char *id)
{
    return depend_enough_of(s->queues->depend, id);
}

int sched_hints(sched_t *s, const char **text, size_t *length)
{
    return s->place->ops->hints(s->place, text, length);
}
