#include "sched/controllers/awaited.h"

#include "base/array.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"

int awaited_reserve(struct queues *n, size_t more)
{
    return array_grow((void **)&n->awaited, &n->cap_awaited, n->n_awaited + more,
                      sizeof(*n->awaited));
}

void awaited_add(sched_t *s, uint32_t victim, uint32_t holder)
{
    struct queues *n = s->queues;
    n->awaited[n->n_awaited++] = (struct awaited_pair){victim, holder};
    s->jobs[victim].details->awaited_by++;
    s->jobs[holder].details->victims++;
}

void awaited_end(sched_t *s, uint32_t victim)
{
    struct queues *n = s->queues;
    size_t kept = 0;
    if (!is_awaited(s, victim))
        return;
    for (size_t i = 0; i < n->n_awaited; i++) {
        const struct awaited_pair a = n->awaited[i];
        struct job *holder = &s->jobs[a.holder];
        if (a.victim != victim)
            n->awaited[kept++] = a;
        else if (--holder->details->victims == 0)
            heap_move(&s->due, a.holder, holder->at, holder->key.seq);
    }
    n->n_awaited = kept;
    s->jobs[victim].details->awaited_by = 0;
}

void awaited_let_go(sched_t *s, uint32_t holder)
{
    struct queues *n = s->queues;
    size_t kept = 0;
    if (s->jobs[holder].details->victims == 0)
        return;
    for (size_t i = 0; i < n->n_awaited; i++)
        if (n->awaited[i].holder == holder)
            s->jobs[n->awaited[i].victim]
                .details->awaited_by--; /* it is being stopped all the same */
        else
            n->awaited[kept++] = n->awaited[i];
    n->n_awaited = kept;
    s->jobs[holder].details->victims = 0;
}

int awaited_put_off(sched_t *s)
{
    const struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_awaited; i++)
        if (held_late(s, n->awaited[i].holder) < 0)
            return -1;
    return 0;
}

bool is_awaited(const sched_t *s, uint32_t victim)
{
    return s->jobs[victim].details->awaited_by > 0;
}

bool is_awaited_by(const sched_t *s, uint32_t victim, uint32_t holder)
{
    const struct queues *n = s->queues;
    bool is = false;
    for (size_t i = 0; i < n->n_awaited && !is && is_awaited(s, victim); i++)
        is = n->awaited[i].victim == victim && n->awaited[i].holder == holder;
    return is;
}

uint32_t awaited_first(const sched_t *s, uint32_t victim)
{
    const struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_awaited && is_awaited(s, victim); i++)
        if (n->awaited[i].victim == victim)
            return n->awaited[i].holder;
    return JOB_NONE;
}
