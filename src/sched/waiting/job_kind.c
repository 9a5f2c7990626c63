/* Kinds by class and permits, and whether what was freed may let one fit (job_kind.h). */
#include "sched/waiting/job_kind.h"

#include <stdlib.h>

#include "base/array.h"
#include "sched/queues.h"

void job_kinds_clear(struct job_kinds *t)
{
    free(t->v);
    free(t->of_class);
    *t = (struct job_kinds){0};
}

/* Where the list of a class is: classes count from 0, and those that are of several have the highest bit besides. */
static uint32_t list_of(uint32_t class)
{
    return class << 1 | class >> 31;
}

/* Have a list for a class. Returns 0, or -1 with ENOMEM. */
static int reserve_class(struct job_kinds *t, uint32_t class)
{
    uint32_t list = list_of(class);
    if (list < t->classes)
        return 0;
    uint32_t classes = list < 32 ? 64 : list * 2;
    uint32_t *of_class = reallocarray(t->of_class, classes, sizeof(*of_class));
    if (!of_class)
        return -1;
    for (uint32_t i = t->classes; i < classes; i++)
        of_class[i] = JOB_KIND_NONE;
    t->of_class = of_class;
    t->classes = classes;
    return 0;
}

/* A slot for a new kind; JOB_KIND_NONE with ENOMEM. */
static uint32_t job_kind_alloc(struct job_kinds *t)
{
    if (t->cap > 0 && t->free != JOB_KIND_NONE) {
        uint32_t i = t->free;
        t->free = t->v[i].next;
        return i;
    }
    if (array_grow((void **)&t->v, &t->cap, (size_t)t->n + 1, sizeof(*t->v)) < 0)
        return JOB_KIND_NONE;
    t->free = JOB_KIND_NONE;
    return t->n++;
}

int64_t job_kind_enter(struct job_kinds *t, const struct place_ask *ask, uint32_t apart)
{
    if (reserve_class(t, ask->class) < 0)
        return -1;
    uint32_t *link = &t->of_class[list_of(ask->class)];
    for (uint32_t i = *link; i != JOB_KIND_NONE; i = t->v[i].next)
        if (t->v[i].permits == ask->permits && t->v[i].apart == apart) {
            t->v[i].groups++;
            return i;
        }
    uint32_t i = job_kind_alloc(t);
    if (i == JOB_KIND_NONE)
        return -1;
    t->v[i] = (struct job_kind){.class = ask->class,
                                .part = ask->part,
                                .permits = ask->permits,
                                .apart = apart,
                                .units = ask->units,
                                .groups = 1,
                                .first = JOB_GROUP_NONE,
                                .next = *link,
                                .fails = INT64_MAX,
                                .counted_as_of = UINT64_MAX,
                                .least = INT64_MAX};
    *link = i;
    return i;
}

void job_kind_leave(struct job_kinds *t, uint32_t kind)
{
    struct job_kind *k = &t->v[kind];
    if (--k->groups > 0)
        return;
    uint32_t *link = &t->of_class[list_of(k->class)];
    while (*link != kind)
        link = &t->v[*link].next;
    *link = k->next;
    k->next = t->free;
    t->free = kind;
}

void job_kind_opened(struct job_kind *k, int64_t duration)
{
    k->least = duration < k->least ? duration : k->least;
}

void job_kind_closed(struct job_kind *k, int64_t duration)
{
    k->is_less |= duration == k->least;
}

bool job_kind_may_fit(sched_t *s, struct job_kind *k)
{
    const struct place_ops *ops = s->place->ops;
    struct place_ask ask = {.units = k->units,
                            .duration = k->least,
                            .class = k->class,
                            .part = k->part,
                            .permits = k->permits};
    if (k->least == INT64_MAX)
        return true;
    bool is_short = ops->is_short(s->place, &ask, s->now, &k->note);
    if (ask.duration > k->fails)
        k->fails = ask.duration;
    ask.duration = k->fails; /* who sleeps lasts as long or longer */
    return !is_short && ops->betters(s->place, &ask, -1, s->now, s->queues->seen);
}

void job_kind_count(sched_t *s, struct job_kind *k, int64_t within)
{
    struct place_ask ask = {.units = k->units,
                            .duration = within < k->fails ? within : k->fails - 1,
                            .class = k->class,
                            .part = k->part,
                            .permits = k->permits};
    if (ask.duration < k->least || (k->counted_as_of == s->booked && ask.duration <= k->counted))
        return;
    k->counted_as_of = s->booked;
    k->counted = ask.duration;
    int64_t longest = s->place->ops->longest(s->place, &ask, k->least, s->now);
    if (longest < ask.duration)
        k->fails = longest < k->least ? k->least : longest + 1;
}
