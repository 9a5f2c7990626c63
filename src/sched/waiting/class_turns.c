#include "sched/waiting/class_turns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/controllers/blocks.h"
#include "sched/queues.h"
#include "sched/waiting/shares.h"

__extension__ typedef __int128 wide;

#define RANKS (INT64_C(1) << 20) /* parts of a count that ranks tell apart */

/* ---- For a setup ---- */

static struct class_turns *create(const struct setup_classes *setup)
{
    struct class_turns *turns = calloc(1, sizeof(*turns));
    if (!turns)
        return NULL;
    turns->setup = setup;
    turns->v = calloc(setup->n, sizeof(*turns->v));
    turns->load = calloc(setup->n, sizeof(*turns->load));
    return turns;
}

void class_turns_destroy(struct class_turns **turns, uint32_t n_queues)
{
    for (uint32_t q = 0; turns && q < n_queues; q++)
        if (turns[q]) {
            free(turns[q]->v);
            free(turns[q]->load);
            free(turns[q]->lent);
            free(turns[q]);
        }
    free(turns);
}

struct class_turns **class_turns_create(const struct setup *setup)
{
    struct class_turns **turns = calloc(setup->n_queues, sizeof(*turns));
    bool is_good = turns != NULL;
    for (uint32_t q = 0; is_good && q < setup->n_queues; q++) {
        const struct setup_classes *classes = setup_classes_of(setup, q);
        turns[q] = classes ? create(classes) : NULL;
        is_good = !classes || (turns[q] && turns[q]->v && turns[q]->load);
    }
    if (is_good)
        return turns;
    class_turns_destroy(turns, setup->n_queues);
    errno = ENOMEM;
    return NULL;
}

void class_turns_inherit(struct shares *shares, const struct shares *old)
{
    for (uint32_t q = 0; shares && old && q < shares->setup->n_queues; q++) {
        uint32_t was = setup_find(old->setup, shares->setup->queue[q].name);
        if (was == SETUP_NONE || !shares->turns[q] || !old->turns[was] ||
            !class_turns_rebalances(shares->turns[q]))
            continue;
        shares->turns[q]->timer = old->turns[was]->timer;
    }
}

void class_turns_measure(struct shares *shares)
{
    for (uint32_t q = 0; q < shares->setup->n_queues; q++)
        if (shares->turns[q])
            shares->turns[q]->is_measured = false;
}

/* ---- What classes have ---- */

static int64_t most_units(int64_t units)
{
    return units < CLASS_UNITS_MAX ? units : CLASS_UNITS_MAX;
}

int64_t class_turns_units(const struct class_turns *turns, const int64_t *amount)
{
    int64_t units = 1;
    for (uint32_t i = 0; i < SCHED_SHARE_RESOURCES; i++) {
        int64_t one = turns->setup->worker[i];
        int64_t needs = one > 0 && amount[i] > 0 ? (amount[i] - 1) / one + 1 : 0;
        units = needs > units ? needs : units;
    }
    return units;
}

void class_turns_tell(struct class_turns *turns, uint32_t class, uint8_t from, uint8_t to,
                      int64_t units)
{
    turns->v[class].units[from] -= units;
    turns->v[class].units[to] += units;
}

void class_turns_rest(struct class_turns *turns, uint32_t class, int64_t units)
{
    turns->v[class].rest += units;
}

static int64_t units_in_use(const struct class_turn *turn)
{
    return turn->units[SHARE_PROMISED] + turn->units[SHARE_RUNNING];
}

int64_t class_turns_find(const struct class_turns *turns, const char *user)
{
    struct classes_match match;
    return classes_find(turns->setup->settings, user, strlen(user), &match) < 0
               ? -1
               : (int64_t)match.index;
}

bool class_turns_is_shut(const struct class_turns *turns, uint32_t class)
{
    const struct classes_percent *list;
    classes_get_percents(turns->setup->settings, &list);
    return list[class].percent == 0;
}

/* ---- Workers ---- */

/* Queues that are confined to different parts of the machine don't share it, as far as their texts tell. */
static bool shares_with(const struct setup *setup, uint32_t a, uint32_t b)
{
    const char *one = setup->queue[a].requires, *other = setup->queue[b].requires;
    return !one || !other || strcmp(one, other) == 0;
}

/* What jobs run on in the part of a queue. */
static void held_in_part(const struct shares *shares, uint32_t queue, int64_t *held)
{
    const struct setup *setup = shares->setup;
    uint32_t n = setup->shares.n_resources;
    memset(held, 0, n * sizeof(*held));
    for (uint32_t q = 0; q < setup->n_queues; q++) {
        if (setup->queue[q].parent != q || !shares_with(setup, queue, q))
            continue;
        const int64_t *running =
            share_running(shares->tree, shares->node[setup_node_of_queue(setup, q)]);
        for (uint32_t i = 0; i < n; i++)
            held[i] += running[i];
    }
}

static int64_t limit_in(const struct sched_limit *list, size_t n, const char *what)
{
    int64_t most = SCHED_UNLIMITED;
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].what, what) == 0 && list[i].most < most)
            most = list[i].most;
    return most;
}

/* What the queue may have of a resource. */
static int64_t queue_limit_of(const struct sched_queue_config *c, const char *what)
{
    int64_t limit = limit_in(c->limits.queue, c->limits.n_queue, what);
    int64_t capability = limit_in(c->share.capability, c->share.n_capability, what);
    return limit < capability ? limit : capability;
}

/* The blocks that are on and not for the queue: their resources are no workers of it. */
static uint64_t blocks_on(const sched_t *s, uint32_t queue)
{
    const struct queues *n = s->queues;
    uint64_t on = blocks_during(n, n->blocks_set, s->now, s->now + 1);
    for (uint64_t left = on; left; left &= left - 1) {
        const struct sched_block *b = n->block[__builtin_ctzll(left)].block;
        if (setup_permits(n->setup, b, queue, NULL, NULL))
            on &= ~(left & -left);
    }
    return on;
}

static void measure_workers(const sched_t *s, struct class_turns *turns, uint32_t queue)
{
    const struct setup_shares *is = &s->queues->setup->shares;
    uint32_t part = s->lanes[s->queues->lane_of[queue]].part;
    uint64_t blocks = blocks_on(s, queue);
    if (turns->is_measured && turns->blocks == blocks)
        return;
    for (uint32_t i = 0; i < is->n_resources; i++)
        if (turns->setup->worker[i] > 0)
            turns->total[i] = s->place->ops->up(s->place, part, is->resource[i], blocks);
    turns->blocks = blocks;
    turns->is_measured = true;
}

/* What jobs that run hold within these blocks is in no worker of the queue: either they may, or they ran before. O(running),
 * and what those hold.
 */
static void leave_blocks(const sched_t *s, uint32_t queue, uint64_t blocks, int64_t *held)
{
    const struct setup *setup = s->queues->setup;
    const struct place_ops *ops = s->place->ops;
    const struct heap *running = &s->queues->ends;
    for (uint32_t i = 0; blocks && i < running->n; i++) {
        uint32_t slot = running->v[i].item;
        const struct job *job = &s->jobs[slot];
        if (job->state != SCHED_RUNNING || !shares_with(setup, queue, lane_of(s, slot)->queue) ||
            !(ops->blocks(s->place, job->booking) & blocks))
            continue;
        for (uint32_t k = 0; k < setup->shares.n_resources; k++) {
            const char *what = setup->shares.resource[k];
            held[k] -= ops->amount(s->place, job->booking, what) -
                       ops->clear(s->place, job->booking, what, blocks);
        }
    }
}

/* Workers that are idle and that the queue may have. */
static int64_t idle_workers(const sched_t *s, struct class_turns *turns, uint32_t queue)
{
    const struct shares *shares = s->queues->shares;
    const struct setup *setup = shares->setup;
    const int64_t *own =
        share_running(shares->tree, shares->node[setup_node_of_queue(setup, queue)]);
    int64_t held[SHARE_DIMENSIONS_MAX], idle = CLASS_UNITS_MAX;
    measure_workers(s, turns, queue);
    held_in_part(shares, queue, held);
    leave_blocks(s, queue, turns->blocks, held);
    for (uint32_t i = 0; i < setup->shares.n_resources; i++) {
        if (turns->setup->worker[i] == 0)
            continue;
        int64_t limit = queue_limit_of(setup->queue[queue].config, setup->shares.resource[i]);
        int64_t free = turns->total[i] - held[i];
        free = limit - own[i] < free ? limit - own[i] : free;
        int64_t units = free > 0 ? free / turns->setup->worker[i] : 0;
        idle = units < idle ? units : idle;
    }
    return idle;
}

/* ---- Counts ---- */

static uint32_t node_of(const struct shares *shares, const struct class_turns *turns,
                        uint32_t class)
{
    return shares->node[turns->setup->first + class];
}

/* A class that has used a smaller part of what it may start goes first; one that has used it up goes last. */
static void rank(struct shares *shares, struct class_turns *turns, uint32_t class)
{
    const struct class_turn *turn = &turns->v[class];
    int64_t used = units_in_use(turn) - turn->had;
    used = used > 0 ? used : 0;
    int64_t rank = used < turn->start ? (int64_t)((wide)used * RANKS / turn->start) : INT64_MAX;
    share_rank(shares->tree, node_of(shares, turns, class), rank, class);
}

int64_t class_turns_now(const sched_t *s, struct class_turns *turns, uint32_t queue)
{
    int64_t idle = idle_workers(s, turns, queue), workers = idle;
    share_class_loads(turns->setup->settings, turns->load);
    for (uint32_t i = 0; i < turns->setup->n; i++) {
        struct class_load *load = &turns->load[i];
        load->running = most_units(units_in_use(&turns->v[i]));
        load->waiting = most_units(turns->v[i].units[SHARE_WAITING]);
        workers += load->percent > 0 ? turns->v[i].units[SHARE_RUNNING] : 0;
    }
    class_set_targets(turns->load, turns->setup->n, most_units(workers));
    return idle;
}

void class_turns_less(const sched_t *s, const struct class_turns *turns, uint32_t queue)
{
    const struct shares *shares = s->queues->shares;
    const struct lane *lane = &s->lanes[s->queues->lane_of[queue]];
    for (size_t i = 0; i < s->queues->n_victims; i++) {
        uint32_t slot = s->queues->victims[i];
        if (lane_of(s, slot) == lane && is_being_stopped(s, slot))
            turns->load[shares->leaf[shares->job[slot].leaf].class].running -=
                shares->job[slot].units;
    }
}

/* What others are stopped for runs soon. */
static void load_more(const sched_t *s, const struct class_turns *turns, uint32_t queue)
{
    const struct shares *shares = s->queues->shares;
    const struct lane *lane = &s->lanes[s->queues->lane_of[queue]];
    for (uint32_t i = 0; i < s->due.n && lane->preempting > 0; i++) {
        uint32_t slot = s->due.v[i].item;
        const struct share_of_job *job = &shares->job[slot];
        if (lane_of(s, slot) != lane || job->state != SHARE_PROMISED ||
            !s->jobs[slot].is_preempting)
            continue;
        struct class_load *load = &turns->load[shares->leaf[job->leaf].class];
        load->running += job->units;
        load->waiting -= job->units;
    }
}

int64_t class_turns_load(const sched_t *s, uint32_t queue, bool whole)
{
    struct class_turns *turns = s->queues->shares->turns[queue];
    int64_t workers = class_turns_now(s, turns, queue);
    for (uint32_t i = 0; i < turns->setup->n; i++) {
        const int64_t *units = turns->v[i].units;
        turns->load[i].running = most_units(units[SHARE_RUNNING]);
        turns->load[i].waiting = most_units(units[SHARE_WAITING] + units[SHARE_PROMISED] +
                                            (whole ? turns->v[i].rest : 0));
        workers += turns->load[i].percent > 0 ? units[SHARE_RUNNING] : 0;
    }
    class_turns_less(s, turns, queue);
    load_more(s, turns, queue);
    return workers;
}

/* Only classes with a job that may be looked at count as waiting. */
static void count_starts(sched_t *s, struct class_turns *turns, uint32_t queue)
{
    struct shares *shares = s->queues->shares;
    int64_t idle = class_turns_now(s, turns, queue);
    class_turns_less(s, turns, queue);
    for (uint32_t i = 0; i < turns->setup->n; i++) {
        struct class_load *load = &turns->load[i];
        bool has_offer = share_has_offer(shares->tree, node_of(shares, turns, i));
        load->waiting = has_offer && load->waiting == 0 ? 1 : has_offer ? load->waiting : 0;
    }
    class_count_starts(turns->load, turns->setup->n, idle > 0 ? idle : 1);
    for (uint32_t i = 0; i < turns->setup->n; i++) {
        turns->v[i].start = turns->load[i].start;
        turns->v[i].had = units_in_use(&turns->v[i]);
        rank(shares, turns, i);
    }
    turns->is_counted = true;
}

/* ---- In a walk ---- */

void class_turns_begin(struct shares *shares)
{
    for (uint32_t q = 0; q < shares->setup->n_queues; q++)
        if (shares->turns[q])
            shares->turns[q]->is_counted = false;
}

bool class_turns_are_due(sched_t *s, uint32_t leaf)
{
    const struct leaf *is = &s->queues->shares->leaf[leaf];
    uint32_t queue = s->lanes[is->lane].queue;
    struct class_turns *turns = s->queues->shares->turns[queue];
    if (!turns)
        return true;
    const struct class_turn *turn = &turns->v[is->class];
    if (turns->is_counted && units_in_use(turn) - turn->had < turn->start)
        return true;
    count_starts(s, turns, queue);
    return false;
}

void class_turns_looked(sched_t *s, uint32_t leaf)
{
    struct shares *shares = s->queues->shares;
    const struct leaf *is = &shares->leaf[leaf];
    struct class_turns *turns = shares->turns[s->lanes[is->lane].queue];
    if (turns)
        rank(shares, turns, is->class);
}

/* ---- For tests ---- */

bool class_turns_check(const sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t q = 0; q < shares->setup->n_queues; q++) {
        const struct class_turns *turns = shares->turns[q];
        for (uint32_t i = 0; turns && i < turns->setup->n; i++) {
            int64_t units[SHARE_RUNNING + 1] = {0}, rest = 0;
            for (uint32_t slot = s->queues->first; slot != JOB_NONE;
                 slot = s->jobs[slot].details->following) {
                if (s->jobs[slot].state == SCHED_REJECTED) /* nothing need be known of it */
                    continue;
                const struct share_of_job *job = &shares->job[slot];
                const struct leaf *leaf = &shares->leaf[job->leaf];
                if (s->lanes[leaf->lane].queue != q || leaf->class != i)
                    continue;
                units[job->state] += job->units;
                rest += job->rest.n > 0 ? job->rest.units : 0;
            }
            if (rest != turns->v[i].rest ||
                memcmp(units + SHARE_WAITING, turns->v[i].units + SHARE_WAITING,
                       SHARE_RUNNING * sizeof(*units)) != 0 ||
                !share_classes_check(turns->setup->settings))
                return false;
        }
    }
    return true;
}
