/* What classes have now, and which one has the next worker, for people (berth/sched_shares.h). */
#include <errno.h>

#include "base/array.h"
#include "berth/sched_shares.h"
#include "sched/queues.h"
#include "sched/waiting/shares.h"

static void put_now(const sched_t *s, struct class_turns *turns, uint32_t queue,
                    struct sched_class_now *to)
{
    const struct classes_percent *list;
    classes_get_percents(turns->setup->settings, &list);
    class_turns_now(s, turns, queue);
    for (uint32_t i = 0; i < turns->setup->n; i++) {
        const struct class_turn *turn = &turns->v[i];
        int64_t running = turn->units[SHARE_RUNNING], target = turns->load[i].target;
        bool borrows = list[i].percent > 0 && running > target;
        to[i] = (struct sched_class_now){.queue = s->queues->setup->queue[queue].name,
                                         .name = list[i].name,
                                         .percent = list[i].percent,
                                         .target = target,
                                         .running = running,
                                         .promised = turn->units[SHARE_PROMISED],
                                         .waiting = turn->units[SHARE_WAITING] + turn->rest,
                                         .borrowed = borrows ? running - target : 0};
    }
}

int sched_classes_now(sched_t *s, const struct sched_class_now **classes, size_t *n)
{
    struct shares *shares = s->queues ? s->queues->shares : NULL;
    *classes = NULL;
    *n = 0;
    for (uint32_t q = 0; shares && q < shares->setup->n_queues; q++) {
        struct class_turns *turns = shares->turns[q];
        if (!turns)
            continue;
        if (array_grow((void **)&shares->classes, &shares->cap_classes, *n + turns->setup->n,
                       sizeof(*shares->classes)) < 0)
            return -1;
        put_now(s, turns, q, shares->classes + *n);
        *n += turns->setup->n;
        *classes = shares->classes;
    }
    return 0;
}

/* Open jobs of the same class that stand before one. O(open). */
static uint64_t before_in_class(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    const struct leaf *own = &shares->leaf[shares->job[slot].leaf];
    const struct lane *lane = lane_of(s, slot);
    struct queue_cursor c;
    uint64_t n = 0;
    for (bool any = queue_begin(lane->open, &c); any && queue_item(&c) != slot;
         any = queue_next(&c)) {
        const struct leaf *leaf = &shares->leaf[shares->job[queue_item(&c)].leaf];
        n += leaf->lane == own->lane && leaf->class == own->class;
    }
    return n;
}

/* The class that would have the next worker, of those that have open jobs; one has. */
static uint32_t next_class(const sched_t *s, struct class_turns *turns, uint32_t queue)
{
    int64_t idle = class_turns_now(s, turns, queue);
    uint32_t i = 0;
    class_turns_less(s, turns, queue);
    class_count_starts(turns->load, turns->setup->n, idle > 0 ? idle : 1);
    while (i + 1 < turns->setup->n && turns->load[i].start == 0)
        i++;
    return i;
}

int sched_class_turn(sched_t *s, sched_job_t job, struct sched_class_turn *turn)
{
    uint32_t slot = job_in_queue(s, job);
    struct shares *shares = slot == JOB_NONE ? NULL : s->queues->shares;
    *turn = (struct sched_class_turn){0};
    if (slot == JOB_NONE) {
        errno = EINVAL;
        return -1;
    }
    const struct leaf *leaf = shares ? &shares->leaf[shares->job[slot].leaf] : NULL;
    if (!leaf || leaf->class == SETUP_NONE || s->jobs[slot].state != SCHED_WAITING)
        return 0;
    uint32_t queue = s->lanes[leaf->lane].queue;
    struct class_turns *turns = shares->turns[queue];
    if (class_turns_is_shut(turns, leaf->class))
        return 0;
    if (array_grow((void **)&shares->classes, &shares->cap_classes, turns->setup->n,
                   sizeof(*shares->classes)) < 0)
        return -1;
    uint32_t next = next_class(s, turns, queue);
    put_now(s, turns, queue, shares->classes);
    *turn = (struct sched_class_turn){&shares->classes[leaf->class], &shares->classes[next],
                                      before_in_class(s, slot), shares->classes, turns->setup->n};
    return 0;
}
