/* What shares say now, told as a tree (berth/sched_shares.h). */
#include "sched/waiting/shares_told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sched/queues.h"
#include "sched/waiting/shares.h"

__extension__ typedef __int128 wide;

const char *sched_share_kind_name(enum sched_share_kind kind)
{
    static const char *const names[] = {"machine", "division", "queue", "account", "user", "class"};
    return names[kind];
}

/* ---- In which order ---- */

static void link_nodes(const struct shares *shares, struct told_link *link, uint32_t n)
{
    const struct setup_shares *setup = &shares->setup->shares;
    struct share_view view;
    for (uint32_t i = 0; i < n; i++)
        link[i] = (struct told_link){SHARE_NO_NODE, SHARE_NO_NODE, SHARE_NO_NODE, SETUP_NONE, 0};
    for (uint32_t i = n; i-- > 1;) {
        share_look(shares->tree, i, &view);
        link[i].parent = view.parent;
        link[i].next = link[view.parent].first;
        link[view.parent].first = i;
    }
    for (uint32_t i = 0; i < setup->n_nodes; i++)
        if (shares->node[i] != SHARE_NO_NODE)
            link[shares->node[i]].setup = i;
    for (uint32_t q = 0; q < shares->setup->n_queues; q++) {
        const struct setup_classes *classes = setup_classes_of(shares->setup, q);
        for (uint32_t i = 0; classes && i < classes->n; i++) /* what is below is told with it */
            link[shares->node[classes->first + i]].first = SHARE_NO_NODE;
    }
}

/* The node that is told after another one, or SHARE_NO_NODE. */
static uint32_t told_after(const struct told_link *link, uint32_t node)
{
    if (link[node].first != SHARE_NO_NODE)
        return link[node].first;
    while (node != SHARE_ROOT && link[node].next == SHARE_NO_NODE)
        node = link[node].parent;
    return node == SHARE_ROOT ? SHARE_NO_NODE : link[node].next;
}

/* ---- What is told of a node ---- */

static void put_amounts(struct sched_share_amounts *to, const int64_t *amount, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to->of[i] = amount[i];
}

/* In which resource it has the part of what it deserves that share_of found. */
static uint32_t dominant_of(const struct share_view *view, struct share_fraction share, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t received = view->received[i], deserved = view->deserved[i];
        bool is = deserved > 0
                      ? (wide)received * share.denominator == (wide)share.numerator * deserved
                      : received > 0 && share.numerator == share.denominator;
        if (is && (deserved > 0 || received > 0))
            return i;
    }
    return 0;
}

/* The machine deserves what is asked for of what there is, as all below it do together: the tree has all there is for
 * it to divide. Returns its share of that.
 */
static struct share_fraction of_machine(struct share_view *view, uint32_t n)
{
    struct share_fraction share = {0, 1};
    for (uint32_t i = 0; i < n; i++) {
        int64_t *deserved = &view->deserved[i];
        if (*deserved > view->demand[i])
            *deserved = view->demand[i];
        if (*deserved > 0 &&
            (wide)view->received[i] * share.denominator > (wide)share.numerator * *deserved)
            share = (struct share_fraction){view->received[i], *deserved};
    }
    return share;
}

static void put_received(struct shares *shares, uint32_t node, int64_t now,
                         struct sched_share_node *told)
{
    uint32_t n = shares->setup->shares.n_resources;
    struct share_view view;
    share_look(shares->tree, node, &view);
    struct share_fraction share =
        node == SHARE_ROOT ? of_machine(&view, n) : share_of(shares->tree, node);
    struct share_usage usage = share_usage(shares->tree, node, now);
    put_amounts(&told->deserved, view.deserved, n);
    put_amounts(&told->received, view.received, n);
    put_amounts(&told->running, view.running, n);
    put_amounts(&told->demand, view.demand, n);
    told->weight = view.settings.weight;
    told->n_running = view.jobs[SHARE_RUNNING];
    told->n_promised = view.jobs[SHARE_PROMISED];
    told->n_open = view.jobs[SHARE_WAITING];
    told->usage = usage.high >> 31 ? INT64_MAX : (int64_t)(usage.high << 32 | usage.low >> 32);
    told->usage_part = (uint32_t)usage.low;
    told->dominant = dominant_of(&view, share, n);
    told->share_of = share.numerator;
    told->share_out_of = share.denominator;
    told->error = view.received[told->dominant] - view.deserved[told->dominant];
}

/* Which account a node is, that is one. */
static uint32_t account_of(const struct setup *setup, uint32_t node)
{
    uint32_t first = node;
    for (uint32_t q = 0; q < setup->n_queues; q++) {
        uint32_t of = setup->shares.node[setup_node_of_queue(setup, q)].accounts;
        if (of > 0 && of <= node && node - of < setup->accounts.n)
            first = of;
    }
    return node - first;
}

/* The name of the class that a node is; NULL: it is none. */
static const char *class_name_of(const struct setup *setup, uint32_t node)
{
    for (uint32_t q = 0; q < setup->n_queues; q++) {
        const struct setup_classes *classes = setup_classes_of(setup, q);
        const struct classes_percent *list;
        if (!classes || node < classes->first || node - classes->first >= classes->n)
            continue;
        classes_get_percents(classes->settings, &list);
        return list[node - classes->first].name;
    }
    return NULL;
}

static void put_account(const struct setup *setup, uint32_t account, struct sched_share_node *told)
{
    const struct sched_account *is = &setup->config->accounts[account];
    told->kind = SCHED_SHARE_OF_ACCOUNT;
    told->name = is->name;
    told->limits = is->limits;
    told->n_limits = is->n_limits;
}

static void put_configured(sched_t *s, uint32_t node, struct sched_share_node *told)
{
    const struct setup *setup = s->queues->shares->setup;
    const struct setup_shares *shares = &setup->shares;
    put_amounts(&told->guarantee, shares->node[node].guarantee, shares->n_resources);
    if (node != 0 && node < shares->first_queue + setup->n_queues)
        put_amounts(&told->capability, shares->node[node].capability, shares->n_resources);
    if (node == 0) {
        told->kind = SCHED_SHARE_OF_MACHINE;
        told->name = "";
        for (uint32_t i = 0; i < shares->n_resources; i++)
            told->capability.of[i] = s->place->ops->total(s->place, shares->resource[i]);
    } else if (node < shares->first_queue) {
        told->kind = SCHED_SHARE_OF_DIVISION;
        told->name = setup->config->shares.divisions[node - 1].name;
    } else if (class_name_of(setup, node)) {
        told->kind = SCHED_SHARE_OF_CLASS;
        told->name = class_name_of(setup, node);
    } else if (node >= shares->first_queue + setup->n_queues) {
        put_account(setup, account_of(setup, node), told);
    } else {
        told->kind = SCHED_SHARE_OF_QUEUE;
        told->name = setup->queue[node - shares->first_queue].name;
    }
}

static void put_told(sched_t *s, uint32_t node, struct told_link *link, int64_t now,
                     struct sched_share_node *told)
{
    struct shares *shares = s->queues->shares;
    *told = (struct sched_share_node){.kind = SCHED_SHARE_OF_USER};
    for (size_t i = 0; i < SCHED_SHARE_RESOURCES; i++)
        told->capability.of[i] = SCHED_UNLIMITED;
    if (link->setup != SETUP_NONE)
        put_configured(s, link->setup, told);
    else
        told->name = leaf_user(shares, shares->leaf_of[node]);
    put_received(shares, node, now, told);
}

/* Tell the nodes from the machine down. Returns their number. */
static size_t tell_nodes(sched_t *s, int64_t now, struct told_link *link)
{
    struct shares *shares = s->queues->shares;
    size_t told = 0;
    for (uint32_t i = SHARE_ROOT; i != SHARE_NO_NODE; i = told_after(link, i)) {
        struct sched_share_node *to = &shares->told[told];
        put_told(s, i, &link[i], now, to);
        link[i].index = told++;
        if (i != SHARE_ROOT) {
            to->above = link[link[i].parent].index;
            to->depth = shares->told[to->above].depth + 1;
        }
    }
    return told;
}

int shares_tell(sched_t *s, int64_t now, struct sched_share_report *report, struct told_link **link)
{
    struct shares *shares = s->queues->shares;
    const struct setup_shares *is = &shares->setup->shares;
    uint32_t n = share_nodes(shares->tree);
    *link = reallocarray(NULL, n, sizeof(**link));
    if (!*link ||
        array_grow((void **)&shares->told, &shares->cap_told, n, sizeof(*shares->told)) < 0) {
        free(*link);
        errno = ENOMEM;
        return -1;
    }
    link_nodes(shares, *link, n);
    *report = (struct sched_share_report){.resources = is->resource,
                                          .n_resources = is->n_resources,
                                          .half_life = is->half_life,
                                          .nodes = shares->told,
                                          .n_nodes = tell_nodes(s, now, *link)};
    return 0;
}

int sched_shares_now(sched_t *s, int64_t now, struct sched_share_report *report)
{
    struct told_link *link;
    *report = (struct sched_share_report){0};
    if (!s->queues || !s->queues->shares)
        return 0;
    if (shares_tell(s, now, report, &link) < 0)
        return -1;
    free(link);
    return 0;
}
