#include "sched/waiting/finder.h"

/* The next open job with units and duration within what is free for so long. */
static uint32_t units_next(sched_t *s, struct lane *lane, struct line *line, bool *failed)
{
    struct planner_room room[UNITS_ROOMS_MAX];
    struct queue_bound bound[UNITS_ROOMS_MAX];
    struct queue_entry entry;
    (void)failed;
    if (queue_size(lane->open) == 0)
        return JOB_NONE;
    size_t n = s->place->ops->rooms(s->place, 0, s->now, room, UNITS_ROOMS_MAX);
    for (size_t i = 0; i < n; i++)
        bound[i] = (struct queue_bound){room[i].free, room[i].within};
    if (!queue_match(lane->open, line->begun ? &line->after : NULL, bound, n, &entry))
        return JOB_NONE;
    return entry.item;
}

/* Nothing is remembered of jobs. */
static int units_add(sched_t *s, uint32_t slot)
{
    (void)s, (void)slot;
    return 0;
}

static void units_nothing(sched_t *s, uint32_t slot)
{
    (void)s, (void)slot;
}

static bool units_is_hopeless(const sched_t *s, uint32_t slot)
{
    (void)s, (void)slot;
    return false;
}

static void units_wake(sched_t *s, bool all)
{
    (void)s, (void)all;
}

static void units_begin(struct lane *lane, struct line *line)
{
    (void)lane, (void)line;
}

static void units_give(sched_t *s, uint32_t slot, uint32_t to)
{
    (void)s, (void)slot, (void)to;
}

static int units_done(sched_t *s, uint32_t slot, struct queue_key key)
{
    (void)s, (void)slot, (void)key;
    return 0;
}

static int units_list(sched_t *s, struct lane *lane, uint32_t *slots)
{
    (void)s, (void)lane, (void)slots;
    return -1;
}

static bool units_check(const sched_t *s)
{
    (void)s;
    return true;
}

const struct finder finder_by_units = {
    .add = units_add,
    .reserve = units_add,
    .remove = units_nothing,
    .give = units_give,
    .is_hopeless = units_is_hopeless,
    .failed = units_nothing,
    .wake = units_wake,
    .begin = units_begin,
    .next = units_next,
    .done = units_done,
    .moved = units_nothing,
    .list = units_list,
    .check = units_check,
};
