/* Which open jobs are worth a look, by group (finder.h, job_group.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/controllers/claims.h"
#include "sched/controllers/loans.h"
#include "sched/queues.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/job_group_priv.h"
#include "sched/waiting/shares.h"

static void fill_remove(sched_t *s, struct job_group *g)
{
    if (g->in_fill)
        queue_remove(job_group_line(s, g)->fill, g->key);
    g->in_fill = false;
}

/* Have fill say of a group what is so. Returns 0, or -1 with ENOMEM and, where no job has left the group, nothing
 * changed.
 */
static int fill_show(sched_t *s, uint32_t group)
{
    struct job_group *g = &s->queues->job_groups.v[group];
    struct queue_entry first;
    if (!g->open || !queue_first(g->open, &first)) {
        fill_remove(s, g);
        return 0;
    }
    int64_t shortest = s->queues->job_groups.near[group].shortest;
    struct queue_entry entry = {first.key, g->units, shortest, group};
    bool is_there =
        g->in_fill && !queue_before(g->key, first.key) && !queue_before(first.key, g->key);
    if (is_there && g->least == entry.value)
        return 0;
    struct queue *fill = job_group_line(s, g)->fill;
    bool comes_first = g->in_fill && queue_before(first.key, g->key);
    if (g->in_fill && !comes_first)
        queue_remove(fill, g->key); /* what is there finds room again where it was */
    if (queue_insert(fill, &entry) < 0) {
        g->in_fill = comes_first;
        return -1;
    }
    if (comes_first)
        queue_remove(fill, g->key);
    g->in_fill = true;
    g->key = entry.key;
    g->least = entry.value;
    return 0;
}

static int reserve_in(struct job_group *g)
{
    if (!g->open)
        g->open = queue_create(1);
    g->is_reserved = g->open && queue_reserve(g->open) == 0;
    return g->is_reserved ? 0 : -1;
}

static int reserve_open_job(sched_t *s, uint32_t slot)
{
    struct job_group *g = job_group_of(s, slot), *part = job_group_part_of(s, slot);
    return reserve_in(g) < 0 || (part != g && reserve_in(part) < 0) ||
                   queue_reserve(job_group_line(s, g)->fill) < 0
               ? -1
               : 0;
}

static int put_open(struct job_groups *t, uint32_t group, const struct queue_entry *entry)
{
    struct job_group *g = &t->v[group];
    struct job_group_near *near = &t->near[group];
    if (!g->open) {
        g->open = queue_create(1);
        if (!g->open)
            return -1;
    }
    if (queue_insert(g->open, entry) < 0)
        return -1;
    g->is_reserved = false;
    near->shortest = entry->value < near->shortest ? entry->value : near->shortest;
    return 0;
}

/* A job is open no more. What it asks for may have grown since it was put there, as a claim has no end. */
static void take_open(struct job_groups *t, uint32_t group, struct queue_key key)
{
    struct job_group *g = &t->v[group];
    queue_remove(g->open, key);
    t->near[group].shortest = queue_least(g->open);
    if (queue_size(g->open) > 0)
        return;
    g->least_limit = INT64_MAX;
    g->any_unlimited = false;
    if (g->is_reserved)
        return;
    queue_destroy(g->open);
    g->open = NULL;
}

/* Into the list of its part. Returns 0, or -1 with ENOMEM. */
static int part_add(sched_t *s, uint32_t slot, const struct queue_entry *entry)
{
    uint32_t number = s->jobs[slot].details->job_group;
    struct job_group *part = job_group_part_of(s, slot);
    if (job_group_whole_of(s, slot) == number)
        return 0;
    if (put_open(&s->queues->job_groups, number, entry) < 0)
        return -1;
    if (queue_size(part->open) == 1)
        job_group_link(&s->queues->job_groups, &job_group_line(s, part)->parts, number);
    return 0;
}

static void part_remove(sched_t *s, uint32_t slot)
{
    uint32_t number = s->jobs[slot].details->job_group;
    struct job_group *part = job_group_part_of(s, slot);
    if (job_group_whole_of(s, slot) == number)
        return;
    if (queue_size(part->open) == 1)
        job_group_unlink(&s->queues->job_groups, &job_group_line(s, part)->parts, number);
    take_open(&s->queues->job_groups, number, s->jobs[slot].key);
}

static int add_open_job(sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    struct job_group *g = job_group_of(s, slot);
    struct job_groups *t = &s->queues->job_groups;
    struct queue_entry entry = {job->key, 1, job->ask.duration, slot};
    if (put_open(t, job_group_whole_of(s, slot), &entry) < 0)
        return -1;
    if (part_add(s, slot, &entry) == 0) {
        if (fill_show(s, job_group_whole_of(s, slot)) == 0) {
            job_group_note_limit(s, slot);
            job_kind_opened(job_group_kind(s, g), job->ask.duration);
            return 0;
        }
        part_remove(s, slot);
    }
    queue_remove(g->open, job->key);
    t->near[job_group_whole_of(s, slot)].shortest = queue_least(g->open);
    errno = ENOMEM;
    return -1;
}

/* There is no memory to show a group in fill: none of its jobs are looked at until the next pass shows all. */
static void show_or_lose(sched_t *s, uint32_t group)
{
    if (fill_show(s, group) < 0)
        s->queues->wake_all = true;
}

static void remove_job(sched_t *s, uint32_t slot)
{
    struct job_group *g = job_group_of(s, slot);
    part_remove(s, slot);
    take_open(&s->queues->job_groups, job_group_whole_of(s, slot), s->jobs[slot].key);
    job_kind_closed(job_group_kind(s, g), s->jobs[slot].ask.duration);
    show_or_lose(s, job_group_whole_of(s, slot));
}

static void give(sched_t *s, uint32_t slot, uint32_t to)
{
    struct job_group *g = job_group_of(s, slot), *part = job_group_part_of(s, slot);
    queue_give(g->open, s->jobs[to].key, to);
    if (part != g)
        queue_give(part->open, s->jobs[to].key, to);
}

static bool sleeps(const sched_t *s, uint32_t slot)
{
    return s->jobs[slot].ask.duration >= job_kind_of(s, slot)->fails;
}

/* The least duration of all open jobs of a kind, if it is not known. O(its groups). */
static void set_least(const struct job_groups *t, struct job_kind *k)
{
    if (!k->is_less)
        return;
    k->least = INT64_MAX;
    for (uint32_t i = k->first; i != JOB_GROUP_NONE; i = t->near[i].beside)
        if (t->near[i].shortest < k->least)
            k->least = t->near[i].shortest;
    k->is_less = false;
}

static void failed_one(sched_t *s, uint32_t slot)
{
    struct job_kind *k = job_kind_of(s, slot);
    const struct place_ask *ask = &s->jobs[slot].ask;
    k->fails = ask->duration < k->fails ? ask->duration : k->fails;
}

/* The first job of the group after `after` that lasts no longer than `within`. */
static bool job_group_first(const struct job_group *g, const struct queue_key *after,
                            int64_t within, struct queue_entry *entry)
{
    struct queue_bound bound = {1, within};
    return g->open && queue_match(g->open, after, &bound, 1, entry);
}

void job_groups_measure(sched_t *s)
{
    struct job_groups *t = &s->queues->job_groups;
    if (s->queues->shares)
        shares_measure(s);
    for (uint32_t i = 0; i < t->n; i++) {
        struct job_group *g = &t->v[i];
        if (g->jobs == 0)
            continue;
        g->units = s->place->ops->units(s->place, g->class);
        if (t->near[i].whole == i) {
            job_group_kind(s, g)->units = g->units;
            fill_remove(s, g); /* it is shown again with what it has now */
        }
    }
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following)
        if (s->jobs[slot].details->job_group != JOB_GROUP_NONE)
            s->jobs[slot].ask.units = t->v[s->jobs[slot].details->job_group].units;
    if (s->queues->shares)
        shares_measure_jobs(s);
    s->queues->wake_all = true;
}

static void wake(sched_t *s, bool all)
{
    all |= s->queues->wake_all;
    s->queues->wake_all = false;
    struct job_groups *t = &s->queues->job_groups;
    const struct place_ops *ops = s->place->ops;
    if (!all && s->place->freed.next == s->queues->seen)
        return;
    all |= claims_are_behind(s);
    for (uint32_t i = 0; i < t->kinds.n; i++) {
        struct job_kind *k = &t->kinds.v[i];
        if (k->groups == 0 || k->fails == INT64_MAX)
            continue;
        set_least(t, k);
        if (all || job_kind_may_fit(s, k))
            job_kind_wake(k);
    }
    for (uint32_t i = 0; all && i < t->n; i++)
        if (t->v[i].jobs > 0 && t->near[i].whole == i)
            show_or_lose(s, i);
    ops->settle(s->place);
    s->queues->seen = s->place->freed.next;
}

static void fill_begin(struct lane *lane, struct line *line)
{
    line->fill_begun = line->scans = line->scan_begun = false;
    lane->rooms_as_of = UINT64_MAX;
    while (line->candidates.n > 0)
        heap_take(&line->candidates, line->candidates.v[0].item);
}

/* What is free now for how long, as of what is booked: often another lane of the same part has asked just before. */
static void rooms_update(sched_t *s, struct lane *lane)
{
    const struct lane *last = &s->lanes[s->queues->asked_rooms];
    struct planner_room room[FILL_ROOMS_MAX];
    if (lane->rooms_as_of == s->booked)
        return;
    if (last->part == lane->part && last->rooms_as_of == s->booked) {
        memcpy(lane->bound, last->bound, last->n_bounds * sizeof(*last->bound));
        lane->n_bounds = last->n_bounds;
        lane->rooms_as_of = s->booked;
        return;
    }
    s->queues->asked_rooms = (uint32_t)(lane - s->lanes);
    lane->n_bounds = s->place->ops->rooms(s->place, lane->part, s->now, room, FILL_ROOMS_MAX);
    for (size_t i = 0; i < lane->n_bounds; i++)
        lane->bound[i] = (struct queue_bound){room[i].free, room[i].within};
    lane->rooms_as_of = s->booked;
}

/* How long a job of so many units could last; 0: it has no room. */
static int64_t within_of(const struct lane *lane, int64_t units)
{
    int64_t within = 0;
    for (size_t i = 0; i < lane->n_bounds; i++)
        if (lane->bound[i].units >= units && lane->bound[i].value > within)
            within = lane->bound[i].value;
    return within;
}

/* How long a job of a group could last that may fit, or that room may be made for (`in_turn`: job_group.h); 0: there is none. */
static int64_t within_now(sched_t *s, const struct lane *lane, const struct job_group *g,
                          bool in_turn)
{
    int64_t within = within_of(lane, g->units);
    int64_t made = job_group_made_within(s, lane, g, in_turn);
    struct job_kind *k = job_group_kind(s, g);
    if (made == INT64_MAX - 1) /* whatever there is room for */
        return made;
    if (within >= g->least && k->fails > g->least && !claims_are_open(s, lane) &&
        !claims_are_behind(s))
        job_kind_count(s, k, within);
    if (k->fails <= within)
        within = k->fails - 1;
    return made > within ? made : within;
}

/* Whether jobs of a lane may be looked at only to have their turn after others, as they borrow. */
static bool may_be_put_off(const sched_t *s, const struct lane *lane)
{
    return lane->makes_room && s->queues->shares && !s->pass.lends;
}

/* Make the next job of the group after `after` that may fit a candidate. Returns 0, or -1 with ENOMEM. */
static int candidate_put(sched_t *s, const struct lane *lane, struct line *line, uint32_t group,
                         const struct queue_key *after)
{
    struct job_group *g = &s->queues->job_groups.v[group];
    struct queue_entry entry;
    int64_t within = within_now(s, lane, g, false);
    if (within < g->least || !job_group_first(g, after, within, &entry))
        return 0;
    g->candidate = entry.item;
    return heap_put_by(&line->candidates, group, entry.key.rank, entry.key.brevity, entry.key.seq);
}

/* Take in the groups that may have a job before the first candidate. */
static int candidates_gather(sched_t *s, const struct lane *lane, struct line *line)
{
    struct queue_entry entry;
    while (queue_match(line->fill, line->fill_begun ? &line->fill_after : NULL, lane->bound,
                       lane->n_bounds, &entry)) {
        const struct heap *heap = &line->candidates;
        if (heap->n > 0) {
            struct queue_key first = {heap->v[0].key, heap->v[0].order, heap->v[0].then};
            if (queue_before(first, entry.key))
                return 0;
        }
        line->fill_begun = true;
        line->fill_after = entry.key;
        if (!heap_has(heap, entry.item) &&
            candidate_put(s, lane, line, entry.item, line->begun ? &line->after : NULL) < 0)
            return -1;
    }
    return 0;
}

/* Whether the walk looks at a job of a group, whose turn it is: it may fit, or room may be made for it; or, where that
 * could be at another time, it borrows what others wait for, so that its leaf has its turn after them (share_walk.c).
 */
static bool is_to_be_looked_at(sched_t *s, const struct lane *lane, const struct job_group *g,
                               uint32_t slot)
{
    int64_t duration = s->jobs[slot].ask.duration;
    return duration <= within_now(s, lane, g, true) ||
           (may_be_put_off(s, lane) && duration <= within_now(s, lane, g, false) &&
            loan_is_wanted(s, slot) != 0);
}

/* Whether the walk looks at no job of any group of a line, as it is now: all last too long. Else it is not known. O(groups of
 * the line).
 */
static bool none_is_to_be_looked_at(sched_t *s, const struct lane *lane, const struct line *line)
{
    struct queue_cursor c;
    if (may_be_put_off(s, lane))
        return false;
    for (bool any = queue_begin(line->fill, &c); any; any = queue_next(&c)) {
        const struct job_group *g = &s->queues->job_groups.v[queue_item(&c)];
        if (s->queues->job_groups.near[queue_item(&c)].shortest <= within_now(s, lane, g, true))
            return false;
    }
    return true;
}

/* Room may be made for jobs of all groups of a line: take them all in. Returns 0, or -1 with ENOMEM. O(groups of the line). */
static int candidates_all(sched_t *s, const struct lane *lane, struct line *line)
{
    struct queue_cursor c;
    const struct queue_key *after = line->begun ? &line->after : NULL;
    if (line->fill_begun)
        return 0;
    if (line->scans)
        after = line->scan_begun ? &line->scan_after : NULL;
    for (bool any = queue_begin(line->fill, &c); any; any = queue_next(&c))
        if (!heap_has(&line->candidates, queue_item(&c)) &&
            candidate_put(s, lane, line, queue_item(&c), after) < 0)
            return -1;
    line->fill_begun = true;
    return 0;
}

/* Whether any job of a lane is a candidate, whatever there is room for, so that they are in queue order. */
static bool any_may_be_tried(const sched_t *s, const struct lane *lane)
{
    return SCANS_QUEUES && lane->makes_room &&
           s->queues->setup->queue[lane->queue].any_preempts != 0;
}

/* The next job of a line in queue order, if it is to be looked at; JOB_NONE: it is not, or there is none. *ends: so it is with all
 * that are left. No group is taken in for that.
 */
static uint32_t scan_next(sched_t *s, const struct lane *lane, struct line *line, bool *ends)
{
    struct queue_entry entry;
    if (!line->scans) {
        line->scans = true;
        line->scan_begun = line->begun;
        line->scan_after = line->after;
    }
    *ends = !queue_after(lane->open, line->scan_begun ? &line->scan_after : NULL, &entry);
    if (!*ends && is_to_be_looked_at(s, lane, job_group_of(s, entry.item), entry.item)) {
        line->scanned = entry.item;
        return entry.item;
    }
    *ends = *ends || none_is_to_be_looked_at(s, lane, line);
    return JOB_NONE;
}

/* Whether a walk goes through all jobs of a line in queue order. */
static bool scans(const sched_t *s, const struct line *line)
{
    return line->scans && !line->fill_begun && s->pass.phase == PASS_WALK;
}

static int fill_done(sched_t *s, uint32_t slot, struct queue_key key)
{
    struct lane *lane = lane_of(s, slot);
    struct line *line = &lane->line;
    uint32_t group = job_group_whole_of(s, slot);
    if (scans(s, line) && line->scanned == slot) {
        line->scan_begun = true;
        line->scan_after = key;
        return 0;
    }
    if (scans(s, line) && candidates_all(s, lane, line) < 0)
        return -1;
    if (s->queues->job_groups.v[group].candidate != slot || !heap_has(&line->candidates, group))
        return 0; /* of a part: the first of its group is still to be looked at */
    heap_take(&line->candidates, group);
    rooms_update(s, lane);
    return candidate_put(s, lane, line, group, &key);
}

/* Another job of its group may be first by now, or the only one that may fit, where the walk has taken in such groups already. */
static void choose_candidate_anew(sched_t *s, uint32_t slot)
{
    struct lane *lane = lane_of(s, slot);
    struct line *line = &lane->line;
    uint32_t group = job_group_whole_of(s, slot);
    const struct job_group *g = &s->queues->job_groups.v[group];
    if (scans(s, line) && candidates_all(s, lane, line) < 0)
        s->queues->wake_all = true;
    bool is_there = heap_has(&line->candidates, group);
    bool passed = lane->makes_room || !queue_before(line->fill_after, g->key);
    if (s->pass.phase != PASS_WALK || !(is_there || (line->fill_begun && passed)))
        return;
    if (is_there)
        heap_take(&line->candidates, group);
    rooms_update(s, lane);
    if (candidate_put(s, lane, line, group, line->begun ? &line->after : NULL) < 0)
        s->queues->wake_all = true; /* the next pass looks at it */
}

/* The first job of a line's parts that may fit, after those that were looked at. O(parts x log). */
static uint32_t part_next(sched_t *s, struct lane *lane, const struct line *line)
{
    const struct job_groups *t = &s->queues->job_groups;
    struct queue_entry entry;
    struct queue_key best = KEY_LAST;
    uint32_t slot = JOB_NONE;
    rooms_update(s, lane);
    for (uint32_t i = line->parts; i != JOB_GROUP_NONE; i = t->near[i].beside) {
        const struct job_group_near *near = &t->near[i];
        int64_t within = within_now(s, lane, &t->v[near->whole], false);
        if (near->shortest <= within &&
            job_group_first(&t->v[i], line->begun ? &line->after : NULL, within, &entry) &&
            (slot == JOB_NONE || queue_before(entry.key, best))) {
            slot = entry.item;
            best = entry.key;
        }
    }
    return slot;
}

static uint32_t fill_next(sched_t *s, struct lane *lane, struct line *line, bool *failed)
{
    bool asked_all = false;
    *failed = false;
    if (line != &lane->line)
        return part_next(s, lane, line);
    for (;;) {
        rooms_update(s, lane);
        bool ends = false;
        uint32_t next = JOB_NONE;
        if (!line->fill_begun && any_may_be_tried(s, lane))
            next = scan_next(s, lane, line, &ends);
        line->fill_begun |= ends;
        if (next != JOB_NONE)
            return next;
        if ((lane->makes_room ? candidates_all(s, lane, line) : candidates_gather(s, lane, line)) <
            0) {
            *failed = true;
            return JOB_NONE;
        }
        if (line->candidates.n == 0)
            return JOB_NONE;
        struct job_group *g = &s->queues->job_groups.v[line->candidates.v[0].item];
        if (is_to_be_looked_at(s, lane, g, g->candidate))
            return g->candidate;
        if (lane->makes_room && !asked_all && none_is_to_be_looked_at(s, lane, line)) {
            while (line->candidates.n > 0)
                heap_take(&line->candidates, line->candidates.v[0].item);
            return JOB_NONE;
        }
        asked_all = true;
        if (fill_done(s, g->candidate, s->jobs[g->candidate].key) < 0) {
            /* there is less room by now */
            *failed = true;
            return JOB_NONE;
        }
    }
}

/* List those of a group's. Returns how many are listed, or -1 if there are too many. */
static int list_fitting(const struct job_group *g, int64_t within, uint32_t *slots, int n)
{
    struct queue_entry entry;
    struct queue_key after = KEY_FIRST;
    for (; job_group_first(g, &after, within, &entry); after = entry.key) {
        if (n == MAY_FIT_MAX)
            return -1;
        slots[n++] = entry.item;
    }
    return n;
}

static int fill_list(sched_t *s, struct lane *lane, uint32_t *slots)
{
    const struct job_groups *t = &s->queues->job_groups;
    int n = 0;
    rooms_update(s, lane);
    for (uint32_t i = 0; n >= 0 && i < t->kinds.n; i++) {
        const struct job_kind *k = &t->kinds.v[i];
        if (k->groups == 0 || k->least >= k->fails || within_of(lane, k->units) < k->least)
            continue;
        const struct job_group *g = job_group_in_lane(t, i, (uint32_t)(lane - s->lanes));
        int64_t within = g && g->in_fill ? within_now(s, lane, g, true) : 0;
        if (g && within >= g->least)
            n = list_fitting(g, within, slots, n);
    }
    return n;
}

/* Whether fill says of a group what is so, where it is not to be shown again. */
static bool fill_check(const sched_t *s, const struct job_group *g)
{
    struct queue_entry first;
    bool any = g->open && queue_first(g->open, &first);
    if (s->queues->wake_all)
        return true;
    return g->in_fill == any &&
           (!any || (queue_same(g->key, first.key) && g->least == queue_least(g->open)));
}

/* Each open job is in its group and its kind. */
static bool job_group_check(const sched_t *s, uint32_t group)
{
    const struct job_group *g = &s->queues->job_groups.v[group];
    struct queue_cursor c;
    bool is_part = g->line != 0;
    if (!is_part && !fill_check(s, g))
        return false;
    if (s->queues->job_groups.near[group].shortest != (g->open ? queue_least(g->open) : INT64_MAX))
        return false;
    if (!g->open)
        return true;
    if (!queue_check(g->open))
        return false;
    for (bool any = queue_begin(g->open, &c); any; any = queue_next(&c)) {
        const struct job *job = &s->jobs[queue_item(&c)];
        uint32_t slot = queue_item(&c);
        if (job->state != SCHED_WAITING ||
            (is_part ? job_group_part_of(s, slot) : job_group_of(s, slot)) != g ||
            (!is_part && job->details->limit < g->least_limit) ||
            (!is_part && job->details->limit == SCHED_UNLIMITED && !g->any_unlimited) ||
            job->ask.class != g->class || job->ask.permits != g->permits || job->lane != g->lane ||
            line_of(s, slot) != job_group_line(s, job_group_part_of(s, slot)))
            return false;
        if (!is_part && job->ask.duration < job_group_kind(s, g)->least)
            return false;
    }
    return true;
}

static bool check(const sched_t *s)
{
    const struct job_groups *t = &s->queues->job_groups;
    size_t open = 0;
    size_t in_lanes = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->v[i].jobs == 0)
            continue;
        if (!job_group_check(s, i))
            return false;
        open += t->v[i].open && t->near[i].whole == i ? queue_size(t->v[i].open) : 0;
    }
    for (uint32_t i = 0; i < s->n_lanes; i++)
        in_lanes += queue_size(s->lanes[i].open);
    return open == in_lanes;
}

const struct finder finder_by_group = {
    .add = add_open_job,
    .reserve = reserve_open_job,
    .remove = remove_job,
    .give = give,
    .is_hopeless = sleeps,
    .failed = failed_one,
    .wake = wake,
    .begin = fill_begin,
    .next = fill_next,
    .done = fill_done,
    .moved = choose_candidate_anew,
    .list = fill_list,
    .check = check,
};
