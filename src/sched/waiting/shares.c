#include "sched/waiting/shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sched/controllers/arrays.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/may_fit.h"
#include "sched/waiting/turns.h"
#include "sched/waiting/usage_kept.h"

/* ---- The tree ---- */

static const uint8_t compares[SCHED_COMPARATORS] = {
    [SCHED_BY_PRIORITY] = SHARE_BY_JOB_PRIORITY,
    [SCHED_BY_SHARE] = SHARE_BY_SHARE,
    [SCHED_BY_DRF] = SHARE_BY_DRF,
    [SCHED_BY_USAGE] = SHARE_BY_USAGE,
    [SCHED_BY_AGE] = SHARE_BY_AGE,
    [SCHED_BY_FEWEST_RUNNING] = SHARE_BY_FEWEST_RUNNING,
    [SCHED_BY_SUBMIT] = SHARE_BY_SUBMIT,
    [SCHED_BY_DEADLINE] = SHARE_BY_DEADLINE,
    [SCHED_BY_GANG] = SHARE_BY_GANG,
};

int shares_comparator(enum share_by by)
{
    for (int i = 0; i < SCHED_COMPARATORS && by != SHARE_BY_END; i++)
        if (compares[i] == by)
            return i;
    return -1;
}

static struct share_settings settings_of(const struct setup_shares *shares, uint32_t node)
{
    const struct setup_node *is = &shares->node[node];
    struct share_settings settings;
    share_default_settings(&settings);
    settings.weight = node == 0 ? 1 : (int32_t)is->weight;
    for (uint32_t i = 0; i < shares->n_resources && node != 0; i++) {
        settings.guarantee[i] = is->guarantee[i];
        settings.capability[i] = is->capability[i];
        settings.deserved[i] = is->deserved[i] == SETUP_BY_WEIGHT ? SHARE_UNSET : is->deserved[i];
    }
    for (size_t i = 0; i < is->order.n; i++)
        settings.by[i] = compares[is->order.by[i]];
    if (is->order.n == 0) {
        settings.by[0] = SHARE_BY_RANK;
        settings.by[1] = SHARE_BY_SUBMIT;
    }
    return settings;
}

/* Have memory for what is known of a node. Returns 0, or -1 with ENOMEM. */
static int node_reserve(struct shares *shares, uint32_t node)
{
    return array_grow((void **)&shares->leaf_of, &shares->cap_nodes, (size_t)node + 1,
                      sizeof(*shares->leaf_of)) < 0
               ? -1
               : usage_reserve(shares, node);
}

/* Add a node of the setup below its parent, which is added before. Returns 0, or -1 with ENOMEM. */
static int add_setup_node(struct shares *shares, uint32_t node)
{
    const struct setup_shares *is = &shares->setup->shares;
    uint32_t parent = is->node[node].parent;
    if (shares->node[node] != SHARE_NO_NODE || parent == SETUP_NONE)
        return 0;
    if (add_setup_node(shares, parent) < 0)
        return -1;
    struct share_settings settings = settings_of(is, node);
    if (node_reserve(shares, share_nodes(shares->tree)) < 0)
        return -1;
    shares->node[node] = share_add(shares->tree, shares->node[parent], &settings);
    if (shares->node[node] == SHARE_NO_NODE)
        return -1;
    shares->leaf_of[shares->node[node]] = JOB_NONE;
    shares->setup_of[shares->node[node]] = node;
    return 0;
}

static void totals(const struct place *place, const struct setup *setup, int64_t *total)
{
    for (uint32_t i = 0; i < setup->shares.n_resources; i++)
        total[i] = place->ops->total(place, setup->shares.resource[i]);
}

static int make_tree(struct shares *shares, const struct place *place)
{
    const struct setup_shares *is = &shares->setup->shares;
    uint32_t n = is->n_nodes;
    int64_t total[SHARE_DIMENSIONS_MAX];
    struct share_usage_rule rule = {.half_life = SHARE_HALF_LIFE_MAX};
    totals(place, shares->setup, total);
    if (is->half_life < rule.half_life)
        rule.half_life = is->half_life;
    for (uint32_t i = 0; i < is->n_resources; i++)
        rule.weights[i] = 1;
    shares->tree = share_new(is->n_resources, total, &rule);
    shares->node = reallocarray(NULL, n, sizeof(*shares->node));
    shares->setup_of = calloc(n, sizeof(*shares->setup_of));
    if (!shares->tree || !shares->node || !shares->setup_of || node_reserve(shares, 0) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        shares->node[i] = SHARE_NO_NODE;
    shares->node[0] = SHARE_ROOT;
    shares->leaf_of[0] = JOB_NONE;
    struct share_settings root = settings_of(is, 0);
    if (share_set(shares->tree, SHARE_ROOT, &root) < 0)
        return -1;
    for (uint32_t i = 1; i < n; i++)
        if (add_setup_node(shares, i) < 0)
            return -1;
    shares->n_fixed = share_nodes(shares->tree);
    return 0;
}

struct shares *shares_create(const struct place *place, const struct setup *setup)
{
    struct shares *shares = calloc(1, sizeof(*shares));
    if (!shares)
        return NULL;
    shares->setup = setup;
    shares->turns = class_turns_create(setup);
    if (shares->turns && make_tree(shares, place) == 0)
        return shares;
    shares_destroy(shares);
    errno = ENOMEM;
    return NULL;
}

void shares_destroy(struct shares *shares)
{
    if (!shares)
        return;
    int saved = errno;
    class_turns_destroy(shares->turns, shares->setup->n_queues);
    share_free(shares->tree);
    intern_clear(&shares->names);
    free(shares->node);
    free(shares->leaf);
    free(shares->moved);
    free(shares->leaf_of);
    free(shares->setup_of);
    usage_clear(shares);
    free(shares->job);
    free(shares->moved_jobs);
    free(shares->told);
    free(shares->turn);
    free(shares->equal);
    free(shares->classes);
    free(shares);
    errno = saved;
}

void shares_measure(sched_t *s)
{
    struct shares *shares = s->queues->shares;
    int64_t total[SHARE_DIMENSIONS_MAX];
    totals(s->place, shares->setup, total);
    share_set_total(shares->tree, total);
    class_turns_measure(shares);
}

/* ---- Leaves ---- */

/* Returns 0, or -1 with ENOMEM. */
static int find_whose(const struct shares *shares, const struct details *d, struct whose *whose)
{
    const struct setup *setup = shares->setup;
    uint32_t queue = setup->queue[d->queue].parent;
    enum sched_share_by by = setup->queue[queue].config->by;
    *whose = (struct whose){queue, SETUP_NONE, SETUP_NONE, NULL};
    if (by == SCHED_SHARE_CLASS) {
        int64_t class = class_turns_find(shares->turns[queue], d->user);
        whose->class = (uint32_t) class;
        return class < 0 ? -1 : 0;
    }
    if (by == SCHED_SHARE_ACCOUNT)
        whose->account = setup_account_find(&setup->accounts, d->account);
    if (by != SCHED_SHARE_NONE)
        whose->user = d->user;
    return 0;
}

/* What stands for a user among those who are beside it. */
static int64_t weight_of(const struct setup *setup, const struct whose *whose)
{
    if (whose->account == SETUP_NONE)
        return setup_weight(setup->queue[whose->queue].config, whose->user);
    const struct setup_member *m = setup_member_find(&setup->accounts, whose->account, whose->user);
    return m ? m->weight : 1;
}

/* A node of its own, and a line, for a user, or in a class. Returns 0, or -1 with ENOMEM. */
static int add_line(sched_t *s, struct leaf *leaf, const struct whose *whose)
{
    struct shares *shares = s->queues->shares;
    const struct setup *setup = shares->setup;
    struct lane *lane = &s->lanes[leaf->lane];
    struct share_settings settings;
    share_default_settings(&settings);
    if (whose->user)
        settings.weight = (int32_t)weight_of(setup, whose);
    if (whose->class != SETUP_NONE)
        leaf->node = shares->node[setup_classes_of(setup, whose->queue)->first + whose->class];
    else if (whose->account != SETUP_NONE)
        leaf->node = shares->node[setup_node_of_account(setup, whose->queue, whose->account)];
    if (node_reserve(shares, share_nodes(shares->tree)) < 0 || lane_add_line(lane) < 0)
        return -1;
    leaf->line = lane->n_more;
    leaf->node = share_add(shares->tree, leaf->node, &settings);
    return leaf->node == SHARE_NO_NODE ? -1 : 0;
}

/* Where in its leaf's name a user is, behind the queue and the account. */
#define OF_USER (2 * sizeof(uint32_t))

static int intern_whose(struct shares *shares, const struct whose *whose, uint32_t *number)
{
    struct strbuf key = {0};
    strbuf_put(&key, (const char *)&whose->queue, sizeof(whose->queue));
    uint32_t part = whose->class != SETUP_NONE ? whose->class : whose->account;
    strbuf_put(&key, (const char *)&part, sizeof(part));
    strbuf_puts(&key, whose->user ? whose->user : "");
    int rc = key.failed ? -1 : intern_put(&shares->names, key.data, key.len, number);
    strbuf_clear(&key);
    return rc;
}

bool leaf_whose(const struct shares *shares, uint32_t node, struct whose *whose)
{
    uint32_t leaf = shares->leaf_of[node];
    if (node < shares->n_fixed || leaf == JOB_NONE || shares->leaf[leaf].class != SETUP_NONE)
        return false;
    const char *name = intern_text(&shares->names, leaf);
    memcpy(&whose->queue, name, sizeof(whose->queue));
    memcpy(&whose->account, name + sizeof(whose->queue), sizeof(whose->account));
    whose->class = SETUP_NONE;
    whose->user = name + OF_USER;
    return true;
}

/* The number of a leaf; -1 with ENOMEM. */
static int64_t find_leaf(sched_t *s, const struct whose *whose)
{
    struct shares *shares = s->queues->shares;
    uint32_t n = shares->names.n, number;
    if (array_grow((void **)&shares->leaf, &shares->cap_leaves, (size_t)n + 1,
                   sizeof(*shares->leaf)) < 0 ||
        array_grow((void **)&shares->moved, &shares->cap_moved, (size_t)n + 1,
                   sizeof(*shares->moved)) < 0 ||
        intern_whose(shares, whose, &number) < 0)
        return -1;
    if (number < n)
        return (int64_t)number;
    struct leaf leaf = {.node = shares->node[setup_node_of_queue(shares->setup, whose->queue)],
                        .lane = s->queues->lane_of[whose->queue],
                        .class = whose->class,
                        .first = JOB_NONE};
    bool has_line = whose->user || whose->class != SETUP_NONE;
    if (has_line && add_line(s, &leaf, whose) < 0) {
        intern_shrink(&shares->names, n);
        return -1;
    }
    shares->leaf[number] = leaf;
    shares->leaf_of[leaf.node] = number;
    if (whose->user)
        usage_touch(shares, leaf.node);
    return number;
}

const char *leaf_user(const struct shares *shares, uint32_t number)
{
    return intern_text(&shares->names, number) + OF_USER;
}

int64_t leaf_node(sched_t *s, const struct whose *whose, bool make)
{
    struct shares *shares = s->queues->shares;
    uint32_t there = shares->names.n, number;
    int64_t leaf = -1;
    if (make)
        leaf = find_leaf(s, whose);
    else if (intern_whose(shares, whose, &number) == 0)
        leaf = number < there ? (int64_t)number : -1;
    if (!make)
        intern_shrink(&shares->names, there);
    return leaf < 0 ? -1 : (int64_t)shares->leaf[leaf].node;
}

int shares_reserve(sched_t *s, uint32_t slot)
{
    struct shares *shares = s->queues->shares;
    size_t had = shares->cap_jobs;
    if (array_grow((void **)&shares->moved_jobs, &shares->cap_moved_jobs, (size_t)slot + 1,
                   sizeof(*shares->moved_jobs)) < 0 ||
        array_grow((void **)&shares->job, &shares->cap_jobs, (size_t)slot + 1,
                   sizeof(*shares->job)) < 0)
        return -1;
    memset(shares->job + had, 0, (shares->cap_jobs - had) * sizeof(*shares->job));
    return 0;
}

int shares_know(sched_t *s, uint32_t slot)
{
    struct whose whose;
    int64_t leaf = shares_reserve(s, slot) < 0 ||
                           find_whose(s->queues->shares, s->jobs[slot].details, &whose) < 0
                       ? -1
                       : find_leaf(s, &whose);
    if (leaf < 0) {
        errno = ENOMEM;
        return -1;
    }
    s->queues->shares->job[slot].leaf = (uint32_t)leaf;
    return 0;
}

/* ---- What jobs have ---- */

/* The classes of a leaf's queue; NULL. */
static struct class_turns *turns_of(const sched_t *s, const struct leaf *leaf)
{
    return s->queues->shares->turns[s->lanes[leaf->lane].queue];
}

/* A job has passed to another state in the tree. */
static void note_state(sched_t *s, struct share_of_job *job, enum share_state to)
{
    const struct leaf *leaf = &s->queues->shares->leaf[job->leaf];
    struct class_turns *turns = turns_of(s, leaf);
    if (turns)
        class_turns_tell(turns, leaf->class, job->state, (uint8_t)to, job->units);
    job->state = (uint8_t)to;
}

/* Of so many members that are alike, where there are classes. */
static int64_t units_of_members(const sched_t *s, const struct leaf *leaf, const int64_t *one,
                                int64_t members)
{
    const struct class_turns *turns = turns_of(s, leaf);
    int64_t units = turns ? class_turns_units(turns, one) : 0;
    return units > CLASS_UNITS_MAX / members ? CLASS_UNITS_MAX : units * members;
}

/* What so many members that are alike ask for, of one of which this is known. What would be more than the tree can add
 * up is not counted.
 */
static void multiply(const struct shares *shares, const int64_t *one, int64_t members,
                     int64_t *amount)
{
    for (uint32_t i = 0; i < shares->setup->shares.n_resources; i++)
        amount[i] = one[i] > SHARE_MOST / members ? SHARE_MOST : one[i] * members;
}

/* Tell the tree of so many members, for so many parts that are alike; `one` NULL: of what it was told last. */
static void tell_tree(sched_t *s, uint32_t slot, enum share_state to, uint64_t members,
                      const int64_t *one, int64_t parts)
{
    struct shares *shares = s->queues->shares;
    struct share_of_job *job = &shares->job[slot];
    const struct leaf *leaf = &shares->leaf[job->leaf];
    size_t size = shares->setup->shares.n_resources * sizeof(*job->amount);
    int64_t amount[SHARE_DIMENSIONS_MAX];
    if (one)
        multiply(shares, one, parts, amount);
    int64_t units = one ? units_of_members(s, leaf, one, parts) : job->units;
    bool same = !one || (members == job->members && units == job->units &&
                         memcmp(amount, job->amount, size) == 0);
    if (job->state == to && (same || to == SHARE_ABSENT))
        return;
    if (job->state == SHARE_RUNNING || to == SHARE_RUNNING)
        usage_touch(shares, leaf->node);
    if (!same && job->state != SHARE_ABSENT) {
        share_job(shares->tree, leaf->node, job->state, SHARE_ABSENT, job->members, job->amount,
                  s->now);
        note_state(s, job, SHARE_ABSENT);
    }
    if (!same) {
        memcpy(job->amount, amount, size);
        job->units = units;
        job->members = members;
    }
    if (job->state == to)
        return;
    if (share_job(shares->tree, leaf->node, job->state, to, job->members, job->amount, s->now) == 0)
        note_state(s, job, to);
}

/* Tell the tree of other members behind a promise, each of which asks for this; of none. */
static void tell_rest(sched_t *s, uint32_t slot, uint64_t members, const int64_t *one)
{
    struct shares *shares = s->queues->shares;
    struct share_of_job *job = &shares->job[slot];
    const struct leaf *leaf = &shares->leaf[job->leaf];
    struct class_turns *turns = turns_of(s, leaf);
    struct share_rest rest = {.n = members};
    if (members == 0 && job->rest.n == 0)
        return;
    if (members > 0) {
        multiply(shares, one, (int64_t)members, rest.amount);
        rest.units = units_of_members(s, leaf, one, (int64_t)members);
        if (share_job(shares->tree, leaf->node, SHARE_ABSENT, SHARE_WAITING, members, rest.amount,
                      s->now) < 0)
            rest.n = 0;
    }
    if (job->rest.n > 0)
        share_job(shares->tree, leaf->node, SHARE_WAITING, SHARE_ABSENT, job->rest.n,
                  job->rest.amount, s->now);
    if (turns)
        class_turns_rest(turns, leaf->class,
                         (rest.n > 0 ? rest.units : 0) - (job->rest.n > 0 ? job->rest.units : 0));
    job->rest = rest;
}

/* Whether it asks for members that are not alike. */
static bool is_mixed(const sched_t *s, uint32_t slot)
{
    return gang_asks_whole(s, slot) && gang_of(s, slot)->n_roles > 1;
}

int64_t shares_asked(const sched_t *s, uint32_t slot)
{
    return is_mixed(s, slot) ? 1 : s->place->ops->members(s->place, s->jobs[slot].ask.class);
}

int64_t shares_members(const sched_t *s, uint32_t slot)
{
    int64_t members = (int64_t)members_of(s, slot), asked = shares_asked(s, slot);
    return is_mixed(s, slot) || members < asked ? asked : members;
}

/* What one of its members asks for. */
static void wants(const sched_t *s, uint32_t slot, int64_t *one)
{
    const struct setup_shares *is = &s->queues->setup->shares;
    int64_t asks = shares_asked(s, slot); /* of a gang that is to start together */
    for (uint32_t i = 0; i < is->n_resources; i++)
        one[i] = s->place->ops->wants(s->place, s->jobs[slot].ask.class, is->resource[i]) / asks;
}

void shares_opened(sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    int64_t one[SHARE_DIMENSIONS_MAX];
    turns_changed(s, shares->job[slot].leaf);
    if (shares->job[slot].state > SHARE_WAITING)
        return; /* it is to give back what it holds */
    wants(s, slot, one);
    tell_tree(s, slot, SHARE_WAITING, members_of(s, slot), one, shares_members(s, slot));
    tell_rest(s, slot, 0, NULL);
    class_order_changed(s, slot);
}

void shares_closed(sched_t *s, uint32_t slot)
{
    turns_changed(s, s->queues->shares->job[slot].leaf);
    if (s->queues->shares->job[slot].state == SHARE_WAITING)
        tell_tree(s, slot, SHARE_ABSENT, 1, NULL, 1);
}

/* How many members of an entry that is promised a time may wait behind that. */
static uint64_t behind(const sched_t *s, uint32_t slot)
{
    if (s->queues->shares->job[slot].state != SHARE_PROMISED || !is_entry(s, slot) ||
        is_mixed(s, slot) || array_is_full(s, slot))
        return 0;
    uint64_t members = members_of(s, slot), asked = (uint64_t)shares_asked(s, slot);
    return members > asked ? members - asked : 0;
}

void shares_filled(sched_t *s, uint32_t slot)
{
    int64_t one[SHARE_DIMENSIONS_MAX];
    uint64_t n = behind(s, slot);
    if (n == s->queues->shares->job[slot].rest.n)
        return;
    wants(s, slot, one);
    tell_rest(s, slot, n, one);
}

void shares_hold(sched_t *s, uint32_t slot, int64_t booking, bool runs)
{
    const struct shares *shares = s->queues->shares;
    int64_t amount[SHARE_DIMENSIONS_MAX];
    for (uint32_t i = 0; i < shares->setup->shares.n_resources; i++)
        amount[i] = s->place->ops->amount(s->place, booking, shares->setup->shares.resource[i]);
    tell_tree(s, slot, runs ? SHARE_RUNNING : SHARE_PROMISED, 1, amount, 1);
    shares_filled(s, slot);
}

void shares_started(sched_t *s, uint32_t slot)
{
    if (s->queues->shares->job[slot].state == SHARE_PROMISED)
        tell_tree(s, slot, SHARE_RUNNING, 1, NULL, 1);
}

void shares_released(sched_t *s, uint32_t slot)
{
    tell_tree(s, slot, SHARE_ABSENT, 1, NULL, 1);
    tell_rest(s, slot, 0, NULL);
    if (s->jobs[slot].state == SCHED_WAITING)
        shares_opened(s, slot);
}

void shares_part(sched_t *s, uint32_t slot, uint32_t part, bool starts)
{
    struct share_of_job *job = s->queues->shares->job;
    bool is_moved = job[part].is_moved; /* it is listed, from whoever had the slot */
    tell_rest(s, slot, 0, NULL);
    job[part] = job[slot];
    job[part].is_moved = is_moved;
    if (starts) {
        job[slot].state = SHARE_ABSENT;
        return;
    }
    job[part].state = SHARE_ABSENT;
    if (job[slot].state == SHARE_WAITING)
        shares_opened(s, slot); /* as fewer */
    else
        shares_filled(s, slot);
}

bool leaf_is_shut(const sched_t *s, const struct leaf *leaf)
{
    const struct class_turns *turns = turns_of(s, leaf);
    return turns && class_turns_is_shut(turns, leaf->class);
}

const char *shares_shut_class(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    const struct leaf *leaf = shares ? &shares->leaf[shares->job[slot].leaf] : NULL;
    const struct classes_percent *list;
    if (!leaf || !leaf_is_shut(s, leaf))
        return NULL;
    classes_get_percents(turns_of(s, leaf)->setup->settings, &list);
    return list[leaf->class].name;
}

bool shares_first_open(const sched_t *s, const struct lane *lane, struct queue_entry *entry)
{
    const struct shares *shares = s->queues->shares;
    bool any = queue_first(lane->open, entry);
    if (!shares || !shares->turns[lane->queue])
        return any;
    while (any && shares_shut_class(s, entry->item)) {
        struct queue_key shut = entry->key;
        any = queue_after(lane->open, &shut, entry);
    }
    return any;
}

bool shares_is_shut(const sched_t *s, const struct lane *lane, const struct line *line)
{
    const struct shares *shares = s->queues->shares;
    const struct queue *open = lane->n_more > 0 ? line->open : lane->open;
    struct queue_entry first; /* all of a line are of one class */
    return shares && shares->turns[lane->queue] && open && queue_first(open, &first) &&
           shares_shut_class(s, first.item);
}

bool shares_by_priority(const sched_t *s, uint32_t slot)
{
    const struct setup *setup = s->queues->setup;
    uint32_t queue = setup->queue[s->jobs[slot].details->queue].parent;
    const struct sched_share_order *order =
        &setup->shares.node[setup->shares.first_queue + queue].order;
    size_t i = 0;
    while (i < order->n && order->by[i] != SCHED_BY_PRIORITY && order->by[i] != SCHED_BY_DEADLINE &&
           order->by[i] != SCHED_BY_GANG)
        i++;
    return i < order->n && order->by[i] == SCHED_BY_PRIORITY;
}

/* Each job is told of as what it is. */
static bool check_job(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    const struct share_of_job *job = &shares->job[slot];
    const struct leaf *leaf = &shares->leaf[job->leaf];
    uint8_t state = s->jobs[slot].state;
    uint8_t is = state == SCHED_WAITING    ? SHARE_WAITING
                 : state == SCHED_RESERVED ? SHARE_PROMISED
                 : state == SCHED_RUNNING  ? SHARE_RUNNING
                                           : SHARE_ABSENT;
    return job->state == is && leaf->lane == s->jobs[slot].lane && job->rest.n == behind(s, slot);
}

bool shares_check(const sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following)
        if (s->jobs[slot].state != SCHED_REJECTED && !check_job(s, slot))
            return false;
    return turns_check(s) && may_fit_check(s) && class_turns_check(s) && share_check(shares->tree);
}
