#include "sched/config/setup_accounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "sched/config/setup.h"
#include "sched/config/setup_check.h"

enum { ACCOUNTS_LISTED = 4 }; /* in a text */

/* ---- Checked and resolved ---- */

static int name_accounts(struct setup *setup, berth_error_t *err)
{
    const struct sched_config *c = setup->config;
    for (size_t i = 0; i < c->n_accounts; i++) {
        const char *name = c->accounts[i].name;
        uint32_t number;
        if (!name || name[0] == '\0')
            return errtext_set(err, EINVAL, "account %zu has no name", i + 1);
        if (intern_put(&setup->accounts.names, name, strlen(name), &number) < 0)
            return errtext_no_memory(err);
        if (number != i)
            return errtext_set(err, EINVAL, "account '%s': the name comes twice", name);
    }
    return 0;
}

static int find_parents(struct setup *setup, berth_error_t *err)
{
    struct setup_accounts *a = &setup->accounts;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct sched_account *c = &setup->config->accounts[i];
        a->v[i].parent = setup_account_find(a, c->under);
        if (c->under && a->v[i].parent == SETUP_NONE)
            return errtext_set(err, EINVAL, "account '%s': under: no account '%s'", c->name,
                               c->under);
        if (setup_check_account(c, err) < 0)
            return -1;
        if (c->weight < 0 || c->weight > SCHED_SHARE_WEIGHT_MAX)
            return errtext_set(err, EINVAL, "account '%s': weight: must be from 1 to %lld, is %lld",
                               c->name, (long long)SCHED_SHARE_WEIGHT_MAX, (long long)c->weight);
    }
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t above = i;
        for (int level = 0; level < SCHED_ACCOUNT_LEVELS && above != SETUP_NONE; level++)
            above = a->v[above].parent;
        if (above != SETUP_NONE)
            return errtext_set(err, EINVAL,
                               "account '%s': under: it is part of itself, or below %d others",
                               setup->config->accounts[i].name, SCHED_ACCOUNT_LEVELS - 1);
    }
    return 0;
}

static int compare_members(const void *a, const void *b)
{
    const struct setup_member *x = a, *y = b;
    return x->user < y->user ? -1 : x->user > y->user;
}

/* The users of an account, whose members begin at v[0]. Returns 0, or -1 with a text. */
static int list_members(struct setup *setup, uint32_t account, struct setup_member *v,
                        berth_error_t *err)
{
    const struct sched_account *c = &setup->config->accounts[account];
    struct setup_accounts *a = &setup->accounts;
    if (setup_check_texts(c->users, c->n_users, "account", c->name, "users", err) < 0)
        return -1;
    for (size_t i = 0; i < c->n_users; i++) {
        if (intern_put(&a->users, c->users[i], strlen(c->users[i]), &v[i].user) < 0)
            return errtext_no_memory(err);
        v[i].weight = 1;
        if (a->usual[v[i].user] == SETUP_NONE)
            a->usual[v[i].user] = account;
    }
    if (c->n_users > 0)
        qsort(v, c->n_users, sizeof(*v), compare_members);
    for (size_t i = 1; i < c->n_users; i++)
        if (v[i].user == v[i - 1].user)
            return errtext_set(err, EINVAL, "account '%s': users: '%s' comes twice", c->name,
                               intern_text(&a->users, v[i].user));
    a->v[account].member = v;
    a->v[account].n_members = (uint32_t)c->n_users;
    return 0;
}

static int weigh_members(struct setup *setup, uint32_t account, berth_error_t *err)
{
    const struct sched_account *c = &setup->config->accounts[account];
    const struct setup_account *a = &setup->accounts.v[account];
    for (size_t i = 0; i < c->n_weights; i++) {
        const char *user = c->weights[i].name;
        int64_t weight = c->weights[i].weight;
        const struct setup_member *m =
            user ? setup_member_find(&setup->accounts, account, user) : NULL;
        if (!m)
            return errtext_set(err, EINVAL, "account '%s': weights: '%s' is no user of it", c->name,
                               user ? user : "");
        if (weight < 1 || weight > SCHED_SHARE_WEIGHT_MAX)
            return errtext_set(err, EINVAL,
                               "account '%s': weights: must be from 1 to %lld, is %lld", c->name,
                               (long long)SCHED_SHARE_WEIGHT_MAX, (long long)weight);
        a->member[m - a->member].weight = weight;
    }
    return 0;
}

/* The accounts of users' jobs that name none, where it is said. */
static int name_usual(struct setup *setup, berth_error_t *err)
{
    const struct sched_config *config = setup->config;
    struct setup_accounts *a = &setup->accounts;
    bool *said = calloc((size_t)a->users.n + 1, sizeof(*said));
    int rc = said ? 0 : errtext_no_memory(err);
    for (uint32_t i = 0; i < a->n && rc == 0; i++) {
        const struct sched_account *c = &config->accounts[i];
        for (size_t k = 0; k < c->n_default_for && rc == 0; k++) {
            const char *user = c->default_for[k] ? c->default_for[k] : "";
            const struct setup_member *m = setup_member_find(a, i, user);
            if (!m)
                rc = errtext_set(err, EINVAL, "account '%s': default-for: '%s' is no user of it",
                                 c->name, user);
            else if (said[m->user])
                rc = errtext_set(err, EINVAL,
                                 "account '%s': default-for: account '%s' is that of '%s' already",
                                 c->name, intern_text(&a->names, a->usual[m->user]), user);
            else {
                a->usual[m->user] = i;
                said[m->user] = true;
            }
        }
    }
    int saved = errno;
    free(said);
    errno = saved;
    return rc;
}

int setup_resolve_accounts(struct setup *setup, berth_error_t *err)
{
    const struct sched_config *config = setup->config;
    struct setup_accounts *a = &setup->accounts;
    size_t members = 0;
    if (config->n_accounts == 0)
        return 0;
    if (config->n_accounts >= SETUP_NONE)
        return errtext_set(err, EINVAL, "accounts: too many");
    for (size_t i = 0; i < config->n_accounts; i++)
        members += config->accounts[i].n_users;
    a->n = (uint32_t)config->n_accounts;
    a->v = calloc(a->n, sizeof(*a->v));
    a->members = calloc(members + 1, sizeof(*a->members));
    a->usual = reallocarray(NULL, members + 1, sizeof(*a->usual));
    if (!a->v || !a->members || !a->usual)
        return errtext_no_memory(err);
    for (size_t i = 0; i < members; i++)
        a->usual[i] = SETUP_NONE;
    if (name_accounts(setup, err) < 0 || find_parents(setup, err) < 0)
        return -1;
    struct setup_member *v = a->members;
    for (uint32_t i = 0; i < a->n; v += config->accounts[i].n_users, i++)
        if (list_members(setup, i, v, err) < 0 || weigh_members(setup, i, err) < 0)
            return -1;
    return name_usual(setup, err);
}

void setup_clear_accounts(struct setup_accounts *accounts)
{
    intern_clear(&accounts->names);
    intern_clear(&accounts->users);
    free(accounts->v);
    free(accounts->members);
    free(accounts->usual);
}

/* ---- Asked ---- */

uint32_t setup_account_find(const struct setup_accounts *accounts, const char *name)
{
    uint32_t number;
    return name && intern_find(&accounts->names, name, strlen(name), &number) ? number : SETUP_NONE;
}

uint32_t setup_account_usual(const struct setup_accounts *accounts, const char *user)
{
    uint32_t number;
    return intern_find(&accounts->users, user, strlen(user), &number) ? accounts->usual[number]
                                                                      : SETUP_NONE;
}

const struct setup_member *setup_member_find(const struct setup_accounts *accounts,
                                             uint32_t account, const char *user)
{
    const struct setup_account *a = &accounts->v[account];
    struct setup_member key;
    if (a->n_members == 0 || !intern_find(&accounts->users, user, strlen(user), &key.user))
        return NULL;
    return bsearch(&key, a->member, a->n_members, sizeof(key), compare_members);
}

/* The names of some accounts that a user is in. */
static const char *list_accounts(const struct setup_accounts *accounts, const char *user,
                                 char text[ERRTEXT_LIST_MAX])
{
    const char *names[ACCOUNTS_LISTED + 2];
    size_t n = 0;
    for (uint32_t i = 0; i < accounts->n && n < ACCOUNTS_LISTED; i++)
        if (setup_member_find(accounts, i, user))
            names[n++] = intern_text(&accounts->names, i);
    if (n == ACCOUNTS_LISTED)
        names[n++] = "others";
    names[n] = NULL;
    return errtext_list(text, ERRTEXT_LIST_MAX, names, " or ");
}

int setup_account_choose(const struct setup_accounts *accounts, const char *name, const char *user,
                         uint32_t *account, berth_error_t *err)
{
    char list[ERRTEXT_LIST_MAX];
    *account = SETUP_NONE;
    if (accounts->n == 0)
        return name ? errtext_set(err, EINVAL, "account %.40s: no accounts are configured", name)
                    : 0;
    uint32_t usual = setup_account_usual(accounts, user);
    if (usual == SETUP_NONE)
        return errtext_set(err, EINVAL, "account: user %.30s is in none that is configured", user);
    *account = name ? setup_account_find(accounts, name) : usual;
    if (*account != SETUP_NONE && setup_member_find(accounts, *account, user))
        return 0;
    return errtext_set(err, EINVAL, "account %.40s: %s: expected one of user %.30s: %s", name,
                       *account == SETUP_NONE ? "not configured" : "not this user's", user,
                       list_accounts(accounts, user, list));
}
