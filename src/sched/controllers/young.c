/* Running jobs that have not run for a second, or may not be stopped yet (young.h). */
#include "sched/controllers/young.h"

#include "base/array.h"
#include "base/bounds.h"
#include "sched/controllers/victims.h"
#include "sched/queues.h"

int64_t young_until(const sched_t *s, const struct job *job)
{
    int64_t from = preemptible_from(s, job), second = s->queues->setup->second;
    return job->at < INT64_MAX - second && job->at + second > from ? job->at + second : from;
}

static bool is_young(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return job->state == SCHED_RUNNING && young_until(s, job) > s->now;
}

void young_forget(sched_t *s)
{
    s->queues->young.is_known = false;
    s->queues->young.n = 0;
}

/* One more. Without memory they are not known. */
static void list_young(sched_t *s, uint32_t slot)
{
    struct young *y = &s->queues->young;
    if (array_grow((void **)&y->slot, &y->cap, y->n + 1, sizeof(*y->slot)) < 0)
        young_forget(s);
    else
        y->slot[y->n++] = slot;
}

static void drop_old(sched_t *s)
{
    struct young *y = &s->queues->young;
    size_t kept = 0;
    for (size_t i = 0; i < y->n; i++)
        if (is_young(s, y->slot[i]))
            y->slot[kept++] = y->slot[i];
    y->n = kept;
    y->as_of = s->now;
}

void young_started(sched_t *s, uint32_t slot)
{
    struct young *y = &s->queues->young;
    if (!y->is_known)
        return;
    if (y->n == y->cap)
        drop_old(s);
    list_young(s, slot);
}

void young_settle(sched_t *s)
{
    struct young *y = &s->queues->young;
    const struct heap *running = &s->queues->ends;
    if (y->is_known) {
        drop_old(s);
        return;
    }
    y->n = 0;
    y->is_known = YOUNG_KEPT;
    y->as_of = s->now;
    for (uint32_t i = 0; i < running->n && y->is_known; i++)
        if (is_young(s, running->v[i].item))
            list_young(s, running->v[i].item);
}

const uint32_t *young_list(const sched_t *s, int64_t as_of, size_t *n)
{
    const struct young *y = &s->queues->young;
    *n = y->n;
    return y->is_known && y->as_of <= as_of ? y->slot : NULL;
}

bool young_check(const sched_t *s)
{
    const struct young *y = &s->queues->young;
    const struct heap *running = &s->queues->ends;
    bool right = true;
    for (uint32_t i = 0; y->is_known && i < running->n && right; i++) {
        const struct job *job = &s->jobs[running->v[i].item];
        right = job->state != SCHED_RUNNING || young_until(s, job) <= y->as_of;
        for (size_t k = 0; k < y->n && !right; k++)
            right = y->slot[k] == running->v[i].item;
    }
    return right;
}
