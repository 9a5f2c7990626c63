/* What was changed of one member of an array by itself: it is held, has another priority, or may take longer.
 * In the rest it goes by its job; and a change of the whole job, which comes later, is for all members.
 */
#include <stdlib.h>

#include "server/core/members.h"

bool member_held(const struct job *job, const struct member *m)
{
    return m->own && m->own->has_hold ? m->own->held : job->held;
}

int64_t member_priority(const struct job *job, const struct member *m)
{
    return m->own && m->own->has_priority ? m->own->priority : job->priority;
}

int64_t member_limit(const struct job *job, const struct member *m)
{
    return m->own && m->own->has_times ? m->own->limit : job->limit;
}

int64_t member_estimate(const struct job *job, const struct member *m)
{
    return m->own && m->own->has_times ? m->own->estimate : job->estimate;
}

uint32_t job_held(const struct job *job)
{
    return job->held ? job->counts[STORE_PENDING] - job->own_waiting[false]
                     : job->own_waiting[true];
}

/* Count a member among those that wait and are held, or let go on, by themselves. */
static void count_waiting(struct job *job, const struct member *m, bool counts)
{
    if (m->state != STORE_PENDING || !m->own || !m->own->has_hold)
        return;
    if (counts)
        job->own_waiting[m->own->held]++;
    else
        job->own_waiting[m->own->held]--;
}

void own_state(struct job *job, struct member *m, enum store_state state)
{
    count_waiting(job, m, false);
    m->state = (uint8_t)state;
    count_waiting(job, m, true);
}

int own_set(server_t *s, struct job *job, struct member *m, const struct own *to)
{
    bool any = to->has_hold || to->has_priority || to->has_times;
    struct own *own = m->own;
    if (any && !own && !(own = malloc(sizeof(*own))))
        return -1;
    s->table.n_held -= job_held(job);
    count_waiting(job, m, false);
    if (any)
        *own = *to;
    else
        free(m->own);
    m->own = any ? own : NULL;
    count_waiting(job, m, true);
    s->table.n_held += job_held(job);
    return 0;
}

struct own own_of(const struct member *m)
{
    return m->own ? *m->own : (struct own){0};
}
