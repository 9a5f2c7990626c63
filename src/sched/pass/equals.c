/* The tree of shares (waiting/turns.h) is offered the first of the equals of each leaf, and chooses among these alone.
 * A start or a promise counts for the next choice.
 */
#include "sched/pass/equals.h"

#include <stdlib.h>

#include "base/array.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"
#include "sched/waiting/turns.h"

/* ---- The list ---- */

bool equals_may_be(const sched_t *s)
{
    return s->queues->shares && s->turns.v[0].order & TURN_OF_NEW;
}

/* List the equals of the first job from an entry of the heap on, as far as they still wait: those above one are equals,
 * too. Returns 0, or -1 with ENOMEM.
 */
static int list_from(sched_t *s, uint32_t i)
{
    struct shares *shares = s->queues->shares;
    const struct heap_entry *entry = &s->turns.v[i];
    if (i >= s->turns.n || entry->key != s->turns.v[0].key)
        return 0;
    if (array_grow((void **)&shares->equal, &shares->cap_equals, shares->n_equals + 1,
                   sizeof(*shares->equal)) < 0)
        return -1;
    if (s->jobs[entry->item].state == SCHED_WAITING)
        shares->equal[shares->n_equals++] =
            (struct equal){shares->job[entry->item].leaf, entry->item, s->jobs[entry->item].key};
    for (uint32_t k = 1; k <= HEAP_ARITY; k++)
        if (list_from(s, HEAP_ARITY * i + k) < 0)
            return -1;
    return 0;
}

static bool any_from(const sched_t *s, uint32_t i, bool (*is)(const sched_t *s, uint32_t slot))
{
    if (i >= s->turns.n || s->turns.v[i].key != s->turns.v[0].key)
        return false;
    bool any = is(s, s->turns.v[i].item);
    for (uint32_t k = 1; k <= HEAP_ARITY && !any; k++)
        any = any_from(s, HEAP_ARITY * i + k, is);
    return any;
}

bool equals_any(const sched_t *s, bool (*is)(const sched_t *s, uint32_t slot))
{
    return equals_may_be(s) ? any_from(s, 0, is) : is(s, s->turns.v[0].item);
}

/* By leaf, and of one by their order. */
static int compare_equals(const void *a, const void *b)
{
    const struct equal *x = a, *y = b;
    if (x->leaf != y->leaf)
        return x->leaf < y->leaf ? -1 : 1;
    return queue_before(x->key, y->key) ? -1 : 1;
}

/* Each leaf knows its first one; the others take no part. */
static void offer(sched_t *s)
{
    struct shares *shares = s->queues->shares;
    for (uint32_t i = 0; i < shares->names.n; i++) {
        shares->leaf[i].equal = shares->n_equals;
        turns_skip(s, i);
    }
    for (size_t i = shares->n_equals; i-- > 0;)
        shares->leaf[shares->equal[i].leaf].equal = i;
    for (size_t i = 0; i < shares->n_equals; i++)
        if (i == 0 || shares->equal[i].leaf != shares->equal[i - 1].leaf)
            turns_offer(s, shares->equal[i].leaf, shares->equal[i].slot);
}

/* Returns 0, or -1 with ENOMEM. */
static int list_equals(sched_t *s)
{
    struct shares *shares = s->queues->shares;
    equals_end(s);
    shares->equal_rank = s->turns.v[0].key;
    if (list_from(s, 0) < 0) {
        shares->n_equals = 0;
        return -1;
    }
    qsort(shares->equal, shares->n_equals, sizeof(*shares->equal), compare_equals);
    if (shares->n_equals > 1) {
        turns_restore(s, NULL); /* a walk that was cut off has left queues out, perhaps */
        offer(s);
    }
    return 0;
}

void equals_end(sched_t *s)
{
    struct shares *shares = s->queues->shares;
    if (!shares || shares->n_equals == 0)
        return;
    shares->n_equals = 0;
    turns_restore(s, NULL);
}

/* ---- The choice ---- */

/* The first one of a leaf that has not had its turn; JOB_NONE. */
static uint32_t first_equal_of(const sched_t *s, uint32_t number)
{
    struct shares *shares = s->queues->shares;
    struct leaf *leaf = &shares->leaf[number];
    for (; leaf->equal < shares->n_equals; leaf->equal++) {
        const struct equal *equal = &shares->equal[leaf->equal];
        if (equal->leaf != number)
            return JOB_NONE;
        if (heap_has(&s->turns, equal->slot) && s->jobs[equal->slot].state == SCHED_WAITING)
            return equal->slot;
    }
    return JOB_NONE;
}

static void swap(struct equal *a, struct equal *b)
{
    struct equal was = *a;
    *a = *b;
    *b = was;
}

void equals_rekeyed(sched_t *s, uint32_t slot)
{
    struct shares *shares = s->queues->shares;
    if (!shares || shares->n_equals == 0)
        return;
    uint32_t leaf = shares->job[slot].leaf;
    size_t first = shares->leaf[leaf].equal, i = first;
    struct equal *equal = shares->equal;
    while (i < shares->n_equals && equal[i].leaf == leaf && equal[i].slot != slot)
        i++;
    if (i >= shares->n_equals || equal[i].slot != slot)
        return;
    equal[i].key = s->jobs[slot].key;
    for (; i + 1 < shares->n_equals && compare_equals(&equal[i + 1], &equal[i]) < 0; i++)
        swap(&equal[i], &equal[i + 1]);
    for (; i > first && compare_equals(&equal[i], &equal[i - 1]) < 0; i--)
        swap(&equal[i], &equal[i - 1]);
}

uint32_t equals_next(sched_t *s)
{
    struct shares *shares = s->queues->shares;
    uint32_t first = s->turns.v[0].item;
    if (!equals_may_be(s))
        return first;
    if ((shares->n_equals == 0 || shares->equal_rank != s->turns.v[0].key) && list_equals(s) < 0)
        return JOB_NONE;
    while (shares->n_equals > 1) {
        uint32_t node = share_next(shares->tree, s->now);
        if (node == SHARE_NO_NODE)
            return first; /* it waits no more */
        uint32_t number = shares->leaf_of[node], slot = first_equal_of(s, number);
        if (slot == JOB_NONE)
            turns_skip(s, number);
        else if (!turns_is_offered_as(s, number, slot))
            turns_offer(s, number, slot);
        else
            return slot;
    }
    return first;
}
