/* The section `accounts`. */
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_config.h"
#include "config/read.h"

enum { ACCOUNTS_MAX = 65536 };

enum account_key { UNDER, WEIGHT, USERS, WEIGHTS, DEFAULT_FOR, LIMITS, ACCOUNT_KEYS };
static const char *const account_names[] = {"under",   "weight",      "users",
                                            "weights", "default-for", "limits"};
static const struct doc_keys account_keys = {"an account", account_names, ACCOUNT_KEYS, 0};

static int name_accounts(struct reading *r, uint32_t i, struct sched_account *accounts)
{
    const struct doc *d = &r->doc;
    uint32_t n;

    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
        const char *name;
        if (value_name(r, key, "accounts", &name) < 0)
            return -1;
        if (intern_put(&r->accounts, name, d->node[key].length, &n) < 0)
            return errtext_no_memory(d->err);
        accounts[n].name = name;
    }
    return 0;
}

/* The name of another account. What `under` leads to is checked when all are read. */
static int read_under(struct reading *r, uint32_t i, const char **ret)
{
    uint32_t number;

    if (i == DOC_NONE)
        return 0;
    if (!doc_is_text(&r->doc, i) ||
        !intern_find(&r->accounts, doc_text(&r->doc, i), r->doc.node[i].length, &number))
        return doc_expected(&r->doc, i, "under", "the name of an account");
    *ret = r->config->sched.accounts[number].name;
    return 0;
}

static int put_users(struct reading *r, const struct sched_account *a, struct intern *users)
{
    for (size_t i = 0; i < a->n_users; i++) {
        uint32_t number;
        if (intern_put(users, a->users[i], strlen(a->users[i]), &number) < 0)
            return errtext_no_memory(r->doc.err);
    }
    return 0;
}

/* The keys of a mapping, or the values of a list, are users of the account. */
static int expect_users(struct reading *r, uint32_t i, const char *key, const struct intern *users)
{
    const struct doc *d = &r->doc;
    bool is_mapping = i != DOC_NONE && d->node[i].kind == DOC_MAPPING;
    uint32_t number;

    for (uint32_t x = i + 1; i != DOC_NONE && x < d->node[i].end;
         x = d->node[is_mapping ? x + 1 : x].end)
        if (!intern_find(users, doc_text(d, x), d->node[x].length, &number))
            return doc_expected(d, x, key, "users of the account");
    return 0;
}

static int check_users(struct reading *r, const uint32_t *value, const struct sched_account *a)
{
    struct intern users = {0};
    bool has_none = value[WEIGHTS] == DOC_NONE && value[DEFAULT_FOR] == DOC_NONE;
    int rc = has_none ? 0 : put_users(r, a, &users);

    if (rc == 0)
        rc = expect_users(r, value[WEIGHTS], "weights", &users);
    if (rc == 0)
        rc = expect_users(r, value[DEFAULT_FOR], "default-for", &users);
    intern_clear(&users);
    return rc;
}

static int read_account(struct reading *r, const uint32_t *value, struct sched_account *a)
{
    if (read_under(r, value[UNDER], &a->under) < 0 ||
        value_number(r, value[WEIGHT], "weight", 1, SCHED_SHARE_WEIGHT_MAX, false, &a->weight) <
            0 ||
        value_names(r, value[USERS], "users", &a->users, &a->n_users) < 0 ||
        read_weights(r, value[WEIGHTS], &a->weights, &a->n_weights) < 0 ||
        value_names(r, value[DEFAULT_FOR], "default-for", &a->default_for, &a->n_default_for) < 0 ||
        read_account_limits(r, value[LIMITS], a) < 0)
        return -1;
    return check_users(r, value, a);
}

/* How many accounts one is part of; SCHED_ACCOUNT_LEVELS: too many, or it is part of itself. */
static int levels_above(const struct reading *r, const struct sched_account *a)
{
    int levels = 0;
    uint32_t number;

    for (; a->under && levels < SCHED_ACCOUNT_LEVELS; levels++) {
        intern_find(&r->accounts, a->under, strlen(a->under), &number);
        a = &r->config->sched.accounts[number];
    }
    return levels;
}

int read_accounts(struct reading *r, uint32_t i)
{
    struct sched_config *sched = &r->config->sched;
    const struct doc *d = &r->doc;
    struct sched_account *accounts;
    uint32_t value[ACCOUNT_KEYS], n = 0;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_MAPPING || d->node[i].count == 0 || d->node[i].count > ACCOUNTS_MAX)
        return doc_expected(d, i, "accounts", "1 to 65536 accounts as NAME: {users: [u1]}");
    accounts = reading_array(r, d->node[i].count, sizeof(*accounts));
    if (!accounts)
        return -1;
    sched->accounts = accounts;
    sched->n_accounts = d->node[i].count;
    if (name_accounts(r, i, accounts) < 0)
        return -1;
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end, n++) {
        accounts[n].weight = 1;
        if (doc_is_null(d, key + 1))
            continue;
        if (doc_fields(d, key + 1, &account_keys, value) < 0 ||
            read_account(r, value, &accounts[n]) < 0)
            return -1;
        if (levels_above(r, &accounts[n]) >= SCHED_ACCOUNT_LEVELS)
            return doc_fault(d, value[UNDER],
                             "key \"under\": expected at most %d accounts above, and not itself",
                             SCHED_ACCOUNT_LEVELS - 1);
    }
    return 0;
}
