#include "sched/waiting/usage_kept.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_snapshot.h"
#include "sched/queues.h"

#define PART_BITS  32                  /* of a usage, below its units */
#define USAGE_HIGH (UINT64_C(1) << 52) /* of the largest there is */

/* ---- What has changed ---- */

int usage_reserve(struct shares *shares, uint32_t node)
{
    size_t had = shares->cap_is_touched;
    if (array_grow((void **)&shares->touched, &shares->cap_touched, (size_t)node + 1,
                   sizeof(*shares->touched)) < 0 ||
        array_grow((void **)&shares->is_touched, &shares->cap_is_touched, (size_t)node + 1,
                   sizeof(*shares->is_touched)) < 0)
        return -1;
    if (shares->cap_is_touched > had)
        memset(shares->is_touched + had, 0,
               (shares->cap_is_touched - had) * sizeof(*shares->is_touched));
    return 0;
}

void usage_clear(struct shares *shares)
{
    free(shares->is_touched);
    free(shares->touched);
    free(shares->restored);
}

/* Whether a node is a class, or in one: what classes have used decides nothing, and is not kept. */
static bool is_of_class(const struct shares *shares, uint32_t node)
{
    if (node < shares->n_fixed)
        return shares->setup->shares.node[shares->setup_of[node]].is_class;
    return shares->leaf_of[node] != JOB_NONE &&
           shares->leaf[shares->leaf_of[node]].class != SETUP_NONE;
}

void usage_touch(struct shares *shares, uint32_t node)
{
    while (is_of_class(shares, node))
        node = share_parent(shares->tree, node);
    while (node != SHARE_NO_NODE && !shares->is_touched[node]) {
        shares->is_touched[node] = true;
        shares->touched[shares->n_touched++] = node;
        node = share_parent(shares->tree, node);
    }
}

static struct shares *shares_of(const sched_t *s)
{
    return s->queues ? s->queues->shares : NULL;
}

size_t sched_usages_changed(const sched_t *s, const uint32_t **nodes)
{
    const struct shares *shares = shares_of(s);
    *nodes = shares ? shares->touched : NULL;
    return shares ? shares->n_touched : 0;
}

void sched_usages_kept(sched_t *s)
{
    struct shares *shares = shares_of(s);
    for (size_t i = 0; shares && i < shares->n_touched; i++)
        shares->is_touched[shares->touched[i]] = false;
    if (shares)
        shares->n_touched = 0;
}

/* ---- Names ---- */

static const char *account_name(const struct setup *setup, uint32_t account)
{
    return account == SETUP_NONE ? NULL : intern_text(&setup->accounts.names, account);
}

/* What a node of the setup is called. */
static struct sched_share_name name_fixed(const struct setup *setup, uint32_t node)
{
    const struct setup_node *is = &setup->shares.node[node];
    if (is->queue != SETUP_NONE)
        return (struct sched_share_name){.queue = setup->queue[is->queue].name,
                                         .account = account_name(setup, is->account)};
    return (struct sched_share_name){
        .division = node == 0 ? NULL : setup->config->shares.divisions[node - 1].name};
}

static struct sched_share_name share_name_of(const struct shares *shares, uint32_t node)
{
    struct whose whose;
    if (!leaf_whose(shares, node, &whose))
        return name_fixed(shares->setup, shares->setup_of[node]);
    return (struct sched_share_name){.queue = shares->setup->queue[whose.queue].name,
                                     .account = account_name(shares->setup, whose.account),
                                     .user = whose.user};
}

static int64_t nobody(const char *what, const char *name, berth_error_t *err)
{
    return errtext_set(err, ENOENT, "no share is %s %.100s", what, name);
}

static int64_t find_user(sched_t *s, const struct sched_share_name *name, uint32_t queue,
                         uint32_t account, bool make, berth_error_t *err)
{
    const struct setup *setup = s->queues->setup;
    struct whose whose = {queue, account, SETUP_NONE, name->user};
    enum sched_share_by by = setup->queue[queue].config->by;
    if (by == SCHED_SHARE_NONE || by == SCHED_SHARE_CLASS ||
        (by == SCHED_SHARE_USER && name->account))
        return nobody("of user", name->user, err);
    int64_t node = leaf_node(s, &whose, make);
    if (node < 0 && !make)
        return nobody("of user", name->user, err);
    return node < 0 ? errtext_no_memory(err) : node;
}

/* The node of a name; that of a user may be made. -1 with ENOENT or ENOMEM and a text. */
static int64_t find_share_node(sched_t *s, const struct sched_share_name *name, bool make,
                               berth_error_t *err)
{
    const struct setup *setup = s->queues->setup;
    const struct shares *shares = s->queues->shares;
    if (name->division) {
        uint32_t division = setup_division_find(&setup->config->shares, name->division);
        return division == SETUP_NONE ? nobody("division", name->division, err)
                                      : shares->node[1 + division];
    }
    if (!name->queue)
        return name->account || name->user
                   ? errtext_set(err, ENOENT, "expected the queue of an account or a user")
                   : (int)SHARE_ROOT;
    uint32_t queue = setup_find(setup, name->queue), account = SETUP_NONE;
    if (queue == SETUP_NONE || setup->queue[queue].parent != queue)
        return nobody("queue", name->queue, err);
    if (name->account) {
        account = setup_account_find(&setup->accounts, name->account);
        if (account == SETUP_NONE || setup->queue[queue].config->by != SCHED_SHARE_ACCOUNT)
            return nobody("account", name->account, err);
    }
    if (name->user)
        return find_user(s, name, queue, account, make, err);
    return shares->node[account == SETUP_NONE ? setup_node_of_queue(setup, queue)
                                              : setup_node_of_account(setup, queue, account)];
}

/* ---- Kept ---- */

size_t sched_usages(const sched_t *s)
{
    const struct shares *shares = shares_of(s);
    return shares ? share_nodes(shares->tree) : 0;
}

int sched_usage(const sched_t *s, size_t i, struct sched_usage *usage)
{
    const struct shares *shares = shares_of(s);
    if (i >= sched_usages(s)) {
        errno = EINVAL;
        return -1;
    }
    if (is_of_class(shares, (uint32_t)i)) {
        errno = ENOENT;
        return -1;
    }
    usage->node = share_name_of(shares, (uint32_t)i);
    struct share_usage u = share_usage_saved(shares->tree, (uint32_t)i, &usage->at);
    if (usage->at < 0) /* nothing has ever run there */
        usage->at = 0;
    if (u.high > 0)
        snprintf(usage->amount, sizeof(usage->amount), "%" PRIx64 "%016" PRIx64, u.high, u.low);
    else
        snprintf(usage->amount, sizeof(usage->amount), "%" PRIx64, u.low);
    return 0;
}

/* Hexadecimal digits; false: they are none, or too many. */
static bool read_amount(const char *text, struct share_usage *usage)
{
    size_t n = strspn(text, "0123456789abcdef");
    *usage = (struct share_usage){0, 0};
    if (n == 0 || n > SCHED_USAGE_DIGITS || text[n])
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t digit = (uint64_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
        usage->high = usage->high << 4 | usage->low >> 60;
        usage->low = usage->low << 4 | digit;
    }
    return usage->high < USAGE_HIGH || (usage->high == USAGE_HIGH && usage->low == 0);
}

int sched_restore_usage(sched_t *s, const struct sched_usage *usage, berth_error_t *err)
{
    struct shares *shares = shares_of(s);
    struct share_usage value;
    if (!shares)
        return errtext_set(err, ENOENT, "there are no shares");
    if (!read_amount(usage->amount, &value) || usage->at < 0)
        return errtext_set(err, EINVAL, "expected a usage, found \"%.40s\"", usage->amount);
    if (array_grow((void **)&shares->restored, &shares->cap_restored, shares->n_restored + 1,
                   sizeof(*shares->restored)) < 0)
        return errtext_no_memory(err);
    int64_t node = find_share_node(s, &usage->node, true, err);
    if (node < 0)
        return -1;
    shares->restored[shares->n_restored++] =
        (struct restored_usage){(uint32_t)node, value, usage->at};
    usage_touch(shares, (uint32_t)node);
    return 0;
}

void usage_restored(sched_t *s)
{
    struct shares *shares = shares_of(s);
    if (!shares)
        return;
    for (size_t i = 0; i < shares->n_restored; i++) {
        const struct restored_usage *r = &shares->restored[i];
        share_usage_restore(shares->tree, r->node, r->usage, r->at < s->now ? r->at : s->now);
    }
    shares->n_restored = 0;
}

/* ---- Another configuration ---- */

/* Whose leaf a user of the old shares has in the new ones; false: nobody's, or one that only jobs make. */
static bool translate(const struct setup *to, const struct shares *old, uint32_t node,
                      struct whose *whose)
{
    const struct setup *from = old->setup;
    if (!leaf_whose(old, node, whose))
        return false;
    enum sched_share_by by = from->queue[whose->queue].config->by;
    uint32_t queue = setup_find(to, from->queue[whose->queue].name);
    if (queue == SETUP_NONE || to->queue[queue].config->by != by)
        return false;
    whose->queue = queue;
    if (by != SCHED_SHARE_ACCOUNT)
        return true;
    whose->account = setup_account_find(&to->accounts, account_name(from, whose->account));
    return whose->account != SETUP_NONE &&
           setup_member_find(&to->accounts, whose->account, whose->user);
}

int usage_inherit_users(sched_t *s, const struct shares *old)
{
    struct whose whose;
    if (!old || !s->queues->shares)
        return 0;
    for (uint32_t i = old->n_fixed; i < share_nodes(old->tree); i++)
        if (translate(s->queues->setup, old, i, &whose) && leaf_node(s, &whose, true) < 0)
            return -1;
    return 0;
}

void usage_inherit(sched_t *s, const struct shares *old, int64_t now)
{
    const struct share_usage nothing = {0, 0};
    struct shares *shares = s->queues->shares;
    if (!shares)
        return;
    for (uint32_t i = 0; i < share_nodes(shares->tree); i++) {
        share_usage_restore(shares->tree, i, nothing, now); /* what is new begins here */
        usage_touch(shares, i);
    }
    for (uint32_t i = 0; old && i < share_nodes(old->tree); i++) {
        if (is_of_class(old, i))
            continue;
        struct sched_share_name name = share_name_of(old, i);
        int64_t node = find_share_node(s, &name, false, NULL);
        if (node >= 0)
            share_usage_restore(shares->tree, (uint32_t)node, share_usage(old->tree, i, now), now);
    }
}

/* ---- Corrected ---- */

/* Whether a user who has had no job yet may have a share: in a queue by user, or as a user of an account. */
static bool may_be(const sched_t *s, const struct sched_share_name *name)
{
    const struct setup_accounts *accounts = &s->queues->setup->accounts;
    uint32_t account = setup_account_find(accounts, name->account);
    uint32_t queue = setup_find(s->queues->setup, name->queue);
    if (!name->user || queue == SETUP_NONE)
        return false;
    return s->queues->setup->queue[queue].config->by == SCHED_SHARE_USER ||
           (account != SETUP_NONE && setup_member_find(accounts, account, name->user));
}

int sched_share_set_usage(sched_t *s, int64_t now, const struct sched_share_name *node,
                          int64_t usage, uint32_t part, berth_error_t *err)
{
    struct shares *shares = shares_of(s);
    if (!shares)
        return errtext_set(err, ENOENT, "there are no shares");
    if (!time_is_good(s, now) || usage < 0)
        return errtext_set(err, EINVAL,
                           usage < 0 ? "expected a usage of at least 0" : "time goes back");
    int64_t number = find_share_node(s, node, may_be(s, node), err);
    if (number < 0)
        return -1;
    struct share_usage to = {(uint64_t)usage >> (64 - PART_BITS),
                             (uint64_t)usage << PART_BITS | part};
    if (share_usage_set(shares->tree, (uint32_t)number, to, now) < 0)
        return errtext_set(err, errno, "%s", "expected a smaller usage");
    usage_touch(shares, (uint32_t)number);
    return core_event(s, now);
}
