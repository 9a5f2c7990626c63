/* Who goes before a job by shares, and by what (berth/sched_shares.h).
 *
 * All leaves of the job's level that have an open job are offered to the tree at once, which then compares them
 * as it does in a pass. Afterwards those are offered that were before: a pass may be at work.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/members.h"
#include "sched/waiting/shares.h"
#include "sched/waiting/shares_told.h"
#include "sched/waiting/shut_class.h"
#include "sched/waiting/turns.h"

/* What was found of a node of the tree. */
struct turn_node {
    /* The leaf in it that goes first, of those before the job; JOB_NONE: none does. */
    uint32_t best;

    /* The leaf in it with the first job, for which an inner node stands; JOB_NONE. */
    uint32_t stands;

    uint8_t by;  /* enum share_by: what puts it before what stands for the job beside it */
    bool is_own; /* the job is below it, or of it */
};

struct turn_search {
    sched_t *s;
    struct shares *shares;
    struct told_link *link; /* by node */
    struct turn_node *node;
    uint32_t *offered;  /* by leaf: the job that it is offered with; JOB_NONE */
    bool *was_offered;  /* by leaf, before the question */
    bool *was_closed;   /* likewise by lane */
    uint32_t slot, own; /* the job, and its leaf */
    int64_t now;
    size_t n_turns;
};

/* ---- Offers ---- */

/* The first open job of a leaf that may be looked at, of the level of the job; JOB_NONE. */
static uint32_t first_of_leaf(const struct turn_search *f, uint32_t number)
{
    const struct leaf *leaf = &f->shares->leaf[number];
    struct lane *lane = &f->s->lanes[leaf->lane];
    const struct line *line = line_at(lane, leaf->line);
    const struct queue_key key = f->s->jobs[f->slot].key;
    struct queue_entry entry;
    if (lane->is_stopped || leaf_is_shut(f->s, leaf) ||
        !queue_first(line->open ? line->open : lane->open, &entry) ||
        !is_considered(f->s, lane, entry.key))
        return JOB_NONE;
    struct queue_key last = level_last(entry.key), own = level_last(key);
    return queue_before(last, own) || queue_before(own, last) ? JOB_NONE : entry.item;
}

static void offer_all(struct turn_search *f)
{
    struct share_tree *tree = f->shares->tree;
    for (uint32_t i = 0; i < f->s->n_lanes; i++) {
        f->was_closed[i] = share_is_closed(tree, turns_node(f->s, &f->s->lanes[i]));
        turns_open(f->s, &f->s->lanes[i], true);
    }
    for (uint32_t i = 0; i < f->shares->names.n; i++) {
        f->offered[i] = first_of_leaf(f, i);
        f->was_offered[i] = share_is_offered(tree, f->shares->leaf[i].node);
        turns_try(f->s, i, f->offered[i]);
    }
}

static void offer_as_before(struct turn_search *f)
{
    for (uint32_t i = 0; i < f->shares->names.n; i++)
        turns_again(f->s, i, f->was_offered[i]);
    for (uint32_t i = 0; i < f->s->n_lanes; i++)
        turns_open(f->s, &f->s->lanes[i], !f->was_closed[i]);
}

/* ---- Who goes first ---- */

static bool goes_first(const struct turn_search *f, uint32_t a, uint32_t b, enum share_by *by,
                       uint32_t *where)
{
    const struct leaf *leaf = f->shares->leaf;
    return share_compare(f->shares->tree, leaf[a].node, leaf[b].node, f->now, by, where) < 0;
}

/* The leaf that goes first in a node is one that goes first of all its leaves. */
static void note_best(struct turn_search *f, struct turn_node *node, uint32_t leaf)
{
    enum share_by by;
    if (node->best == JOB_NONE || goes_first(f, leaf, node->best, &by, NULL))
        node->best = leaf;
}

/* A leaf that may go before the job: note it where the two part, and in all that is above both. */
static void look_at_leaf(struct turn_search *f, uint32_t leaf)
{
    enum share_by by;
    uint32_t where;
    if (f->offered[leaf] == JOB_NONE || leaf == f->own || !goes_first(f, leaf, f->own, &by, &where))
        return;
    uint32_t i = f->shares->leaf[leaf].node;
    while (f->link[i].parent != where)
        i = f->link[i].parent;
    f->node[i].by = (uint8_t)by;
    note_best(f, &f->node[i], leaf);
    for (i = where; i != SHARE_ROOT; i = f->link[i].parent)
        note_best(f, &f->node[i], leaf);
}

/* ---- Turns ---- */

static sched_job_t first_job_of_leaf(const struct turn_search *f, uint32_t leaf)
{
    return job_handle(f->s, f->shares->leaf[leaf].first);
}

/* Whether a node is beside one of the job's and goes before it. */
static bool is_before(const struct turn_search *f, uint32_t node, uint32_t own)
{
    return f->link[node].parent == f->link[own].parent && !f->node[node].is_own &&
           f->node[node].best != JOB_NONE;
}

/* Put a node among those of a turn that are told by name, in their order. */
static void put_first(struct turn_search *f, struct sched_share_turn *turn,
                      uint32_t best[SCHED_TURN_FIRST], uint32_t node)
{
    enum share_by by;
    uint32_t leaf = f->node[node].best;
    size_t had = turn->n < SCHED_TURN_FIRST ? turn->n : SCHED_TURN_FIRST, i = had;
    while (i > 0 && goes_first(f, leaf, best[i - 1], &by, NULL))
        i--;
    turn->n++;
    if (i == SCHED_TURN_FIRST)
        return;
    size_t moved = (had < SCHED_TURN_FIRST ? had : SCHED_TURN_FIRST - 1) - i;
    memmove(&best[i + 1], &best[i], moved * sizeof(*best));
    memmove(&turn->first[i + 1], &turn->first[i], moved * sizeof(*turn->first));
    memmove(&turn->first_job[i + 1], &turn->first_job[i], moved * sizeof(*turn->first_job));
    best[i] = leaf;
    turn->first[i] = f->link[node].index;
    turn->first_job[i] = first_job_of_leaf(f, f->node[node].stands);
}

/* The turn of those who go before a node of the job's by one comparator. Returns 0, or -1 with ENOMEM. */
static int put_turn(struct turn_search *f, uint32_t own, enum share_by by)
{
    struct shares *shares = f->shares;
    uint32_t best[SCHED_TURN_FIRST];
    struct sched_share_turn turn = {.own = f->link[own].index, .by = shares_comparator(by)};
    turn.own_job = first_job_of_leaf(f, f->node[own].stands);
    for (uint32_t i = 1; i < share_nodes(shares->tree); i++) {
        const struct turn_node *other = &f->node[i];
        if (is_before(f, i, own) && other->by == by)
            put_first(f, &turn, best, i);
    }
    if (turn.n == 0)
        return 0;
    if (array_grow((void **)&shares->turn, &shares->cap_turns, f->n_turns + 1,
                   sizeof(*shares->turn)) < 0)
        return -1;
    shares->turn[f->n_turns++] = turn;
    return 0;
}

/* Which comparators put somebody before a node of the job's, as bits. */
static unsigned comparators_before(const struct turn_search *f, uint32_t own)
{
    unsigned by = 0;
    for (uint32_t i = 1; i < share_nodes(f->shares->tree); i++)
        if (is_before(f, i, own))
            by |= 1u << f->node[i].by;
    return by;
}

/* Those from a node up to the machine, this last. Returns 0, or -1 with ENOMEM. */
static int put_turns(struct turn_search *f, uint32_t own)
{
    if (own == SHARE_ROOT)
        return 0;
    if (put_turns(f, f->link[own].parent) < 0)
        return -1;
    unsigned by = comparators_before(f, own);
    for (int i = 0; i < SHARE_BYS; i++)
        if (by >> i & 1 && put_turn(f, own, (enum share_by)i) < 0)
            return -1;
    return 0;
}

/* Returns 0, or -1 with ENOMEM. */
static int search(struct turn_search *f)
{
    uint32_t node = f->shares->leaf[f->own].node;
    int rc = 0;
    for (uint32_t i = 0; i < share_nodes(f->shares->tree); i++) {
        uint32_t first = share_first_below(f->shares->tree, i);
        uint32_t leaf = first == SHARE_NO_NODE ? JOB_NONE : f->shares->leaf_of[first];
        f->node[i] = (struct turn_node){.best = JOB_NONE, .stands = leaf};
    }
    for (uint32_t i = node; i != SHARE_ROOT; i = f->link[i].parent)
        f->node[i].is_own = true;
    offer_all(f);
    if (f->offered[f->own] != JOB_NONE) {
        int64_t before = share_set_time(f->shares->tree, f->now);
        for (uint32_t i = 0; i < f->shares->names.n; i++)
            look_at_leaf(f, i);
        rc = put_turns(f, node);
        share_set_time(f->shares->tree, before);
    }
    offer_as_before(f);
    return rc;
}

/* How many of its own leaf stand before a job. */
static uint64_t own_before(const struct turn_search *f)
{
    const struct leaf *leaf = &f->shares->leaf[f->own];
    struct lane *lane = &f->s->lanes[leaf->lane];
    const struct line *line = line_at(lane, leaf->line);
    return queue_rank(line->open ? line->open : lane->open, f->s->jobs[f->slot].key);
}

static int find_turns(struct turn_search *f, struct sched_share_turns *turns)
{
    struct shares *shares = f->shares;
    struct sched_share_report report;
    if (shares_tell(f->s, f->now, &report, &f->link) < 0)
        return -1;
    f->node = reallocarray(NULL, share_nodes(shares->tree), sizeof(*f->node));
    f->offered = reallocarray(NULL, (size_t)shares->names.n + 1, sizeof(*f->offered));
    f->was_offered = calloc((size_t)shares->names.n + 1, sizeof(*f->was_offered));
    f->was_closed = calloc(f->s->n_lanes, sizeof(*f->was_closed));
    int rc = f->node && f->offered && f->was_offered && f->was_closed ? search(f) : -1;
    if (rc == 0)
        *turns = (struct sched_share_turns){.report = report,
                                            .turns = shares->turn,
                                            .n_turns = f->n_turns,
                                            .n_own = own_before(f),
                                            .is_user = leaf_user(shares, f->own)[0] != '\0'};
    free(f->node);
    free(f->offered);
    free(f->was_offered);
    free(f->was_closed);
    free(f->link);
    return rc;
}

int sched_share_turns(sched_t *s, int64_t now, sched_job_t job, struct sched_share_turns *turns)
{
    uint32_t slot = job_in_queue(s, job);
    *turns = (struct sched_share_turns){0};
    if (slot == JOB_NONE) {
        errno = EINVAL;
        return -1;
    }
    struct shares *shares = s->queues->shares;
    if (!shares || s->jobs[slot].state != SCHED_WAITING ||
        shares->leaf[shares->job[slot].leaf].class != SETUP_NONE) /* counts decide among classes */
        return 0;
    struct turn_search f = {.s = s,
                            .shares = shares,
                            .slot = slot,
                            .own = shares->job[slot].leaf,
                            .now = now > s->now ? now : s->now};
    if (find_turns(&f, turns) == 0)
        return 0;
    errno = ENOMEM;
    return -1;
}

bool sched_share_may_take(sched_t *s, sched_job_t job, sched_job_t running)
{
    uint32_t slot = job_in_queue(s, job), other = job_in_queue(s, running);
    if (slot == JOB_NONE || other == JOB_NONE || !s->queues->shares ||
        s->jobs[slot].state != SCHED_WAITING || s->jobs[other].state != SCHED_RUNNING)
        return false;
    struct shares *shares = s->queues->shares;
    const struct share_of_job *taker = &shares->job[slot], *giver = &shares->job[other];
    struct share_sum sum;
    shares_together(s, slot, &sum);
    return share_may_reclaim(shares->tree, shares->leaf[taker->leaf].node, sum.amount,
                             shares->leaf[giver->leaf].node, giver->amount, NULL);
}
