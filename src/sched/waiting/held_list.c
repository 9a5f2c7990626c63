/* The list of all that hold reservations (held_list.h). */
#include <stdlib.h>

#include "base/array.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"

/* How often what lanes hold has changed. */
static uint64_t held_changes(const sched_t *s)
{
    uint64_t changes = 0;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        changes += queue_changes(s->lanes[i].held) + queue_changes(s->lanes[i].kept);
    return changes;
}

static int compare_entries(const void *a, const void *b)
{
    const struct queue_entry *x = a, *y = b;
    return queue_before(x->key, y->key) ? -1 : queue_before(y->key, x->key);
}

static int add_held(struct held_list *h, const struct queue *q)
{
    struct queue_entry entry;
    for (bool any = queue_first(q, &entry); any; any = queue_after(q, &entry.key, &entry)) {
        if (array_grow((void **)&h->v, &h->capacity, h->n + 1, sizeof(*h->v)) < 0)
            return -1;
        h->v[h->n++] = entry;
    }
    return 0;
}

/* Have the list of now. Returns 0, or -1 with ENOMEM. */
static int list_holders(const sched_t *s, struct held_list *h)
{
    uint64_t changes = held_changes(s);
    if (h->is_known && h->changes == changes)
        return 0;
    h->is_known = false;
    h->n = h->next = 0;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        if (add_held(h, s->lanes[i].held) < 0 || add_held(h, s->lanes[i].kept) < 0)
            return -1;
    if (h->n > 1)
        qsort(h->v, h->n, sizeof(*h->v), compare_entries);
    h->is_known = true;
    h->changes = changes;
    return 0;
}

/* The first one behind a key. */
static size_t first_behind(const struct held_list *h, struct queue_key key)
{
    size_t low = 0, high = h->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (queue_before(key, h->v[middle].key))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* As held_next, of one queue after the other. */
static uint32_t search_held(const sched_t *s, bool begun, struct queue_key after)
{
    struct queue_entry entry, best = {.item = JOB_NONE};
    for (uint32_t i = 0; i < 2 * s->n_lanes; i++) {
        const struct lane *lane = &s->lanes[i / 2];
        if (queue_after(i % 2 ? lane->kept : lane->held, begun ? &after : NULL, &entry) &&
            (best.item == JOB_NONE || queue_before(entry.key, best.key)))
            best = entry;
    }
    return best.item;
}

uint32_t held_next(const sched_t *s, bool begun, struct queue_key after)
{
    struct held_list *h = &s->queues->all_held;
    if (list_holders(s, h) < 0)
        return search_held(s, begun, after);
    bool follows =
        begun && h->next > 0 && h->next <= h->n && queue_same(h->v[h->next - 1].key, after);
    size_t i = !begun ? 0 : follows ? h->next : first_behind(h, after);
    h->next = i + 1;
    return i < h->n ? h->v[i].item : JOB_NONE;
}

bool held_list_check(const sched_t *s)
{
    const struct held_list *h = &s->queues->all_held;
    size_t n = 0;
    if (!h->is_known || h->changes != held_changes(s))
        return true;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        n += queue_size(s->lanes[i].held) + queue_size(s->lanes[i].kept);
    for (size_t i = 0; i < h->n; i++) {
        const struct job *job = &s->jobs[h->v[i].item];
        if (!queue_same(job->key, h->v[i].key) ||
            (i > 0 && !queue_before(h->v[i - 1].key, h->v[i].key)))
            return false;
    }
    return n == h->n;
}
