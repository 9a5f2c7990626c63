#include "sched/record_stopped.h"

#include <string.h>

#include "base/array.h"
#include "sched/controllers/awaited.h"
#include "sched/queues.h"

void stopped_put_ids(const sched_t *s, uint32_t slot, struct strbuf *text)
{
    const struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_awaited && is_awaited(s, slot); i++) {
        if (n->awaited[i].victim != slot)
            continue;
        strbuf_puts(text, depend_base_id(n->depend, n->awaited[i].holder));
        strbuf_putc(text, '\0');
    }
}

int stopped_tell(sched_t *s, uint32_t slot, const char *ids, struct sched_record *record)
{
    struct queues *n = s->queues;
    size_t most = s->jobs[slot].details->awaited_by;
    if (array_grow((void **)&n->awaiting, &n->cap_awaiting, most, sizeof(*n->awaiting)) < 0)
        return -1;
    record->awaited_by = n->awaiting;
    for (size_t i = 0; i < n->n_awaited && record->n_awaited_by < most; i++) {
        if (n->awaited[i].victim != slot)
            continue;
        n->awaiting[record->n_awaited_by++] =
            (struct sched_awaiting){ids, s->jobs[n->awaited[i].holder].details->member};
        ids += strlen(ids) + 1;
    }
    return 0;
}

int stopped_note(sched_t *s, uint32_t slot, const struct sched_record *r)
{
    struct queues *n = s->queues;
    if (r->state != SCHED_RUNNING || r->n_awaited_by == 0)
        return 0;
    if (array_grow((void **)&n->stopped, &n->cap_stopped, n->n_stopped + r->n_awaited_by,
                   sizeof(*n->stopped)) < 0 ||
        awaited_reserve(n, n->n_stopped + r->n_awaited_by) < 0 || victims_reserve(n, s->n_jobs) < 0)
        return -1;
    for (size_t i = 0; i < r->n_awaited_by; i++) {
        const char *id = queues_text(n, r->awaited_by[i].id);
        if (!id)
            return -1;
        n->stopped[n->n_stopped++] =
            (struct stopped){job_handle(s, slot), r->awaited_by[i].member, id};
    }
    return 0;
}

/* A running job is being stopped for a holder, which is due when the last of these has ended. */
static void wait_for_victim(sched_t *s, uint32_t victim, uint32_t holder)
{
    struct job *job = &s->jobs[holder];
    awaited_add(s, victim, holder);
    victim_add(s, victim); /* there is room for all slots */
    if (job->details->victims == 1)
        heap_move(&s->due, holder, INT64_MAX, job->key.seq);
}

void stopped_resolve(sched_t *s)
{
    struct queues *n = s->queues;
    size_t kept = 0;
    for (size_t i = 0; i < n->n_stopped; i++) {
        const struct stopped *stopped = &n->stopped[i];
        int64_t other = depend_find(n->depend, stopped->id, stopped->member);
        uint32_t slot = job_in_queue(s, stopped->job);
        if (slot == JOB_NONE || s->jobs[slot].state != SCHED_RUNNING)
            continue; /* it has ended by now */
        if (other >= 0 && s->jobs[other].state == SCHED_RESERVED && s->jobs[other].is_preempting)
            wait_for_victim(s, slot, (uint32_t)other);
        else
            n->stopped[kept++] = *stopped;
    }
    n->n_stopped = kept;
}

void preempting_restored(sched_t *s, uint32_t slot)
{
    s->jobs[slot].is_preempting = true;
    lane_of(s, slot)->preempting++;
    stopped_resolve(s);
}
