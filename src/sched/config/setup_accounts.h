/* The accounts of a configuration, by number, and their users. */
#ifndef SCHED_SETUP_ACCOUNTS_H
#define SCHED_SETUP_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "berth/error.h"
#include "berth/sched_config.h"

struct setup;

/* A user of an account, and what the user counts for among those below it. */
struct setup_member {
    uint32_t user;
    int64_t weight; /* >= 1 */
};

struct setup_account {
    uint32_t parent;             /* SETUP_NONE */
    struct setup_member *member; /* by user */
    uint32_t n_members;
};

struct setup_accounts {
    uint32_t n;          /* 0: there are none, and jobs are of none */
    struct intern names; /* by number */
    struct setup_account *v;
    struct setup_member *members; /* of all accounts */
    struct intern users;          /* of any account, */
    uint32_t *usual;              /* and the account of those of their jobs that name none */
};

/* Check the accounts of a setup's configuration and resolve them. Returns 0, or -1 with EINVAL or ENOMEM and a
 * text.
 */
int setup_resolve_accounts(struct setup *setup, berth_error_t *err);
void setup_clear_accounts(struct setup_accounts *accounts);

/* An account by its name (NULL: none), or SETUP_NONE. */
uint32_t setup_account_find(const struct setup_accounts *accounts, const char *name);

/* The account of a user's jobs that name none; SETUP_NONE. */
uint32_t setup_account_usual(const struct setup_accounts *accounts, const char *user);

/* A user of an account, or NULL. O(log users). */
const struct setup_member *setup_member_find(const struct setup_accounts *accounts,
                                             uint32_t account, const char *user);

/* The account of a new job that names one, or none (NULL): SETUP_NONE where there are no accounts. Returns 0, or -1
 * with EINVAL and a text: there is no such account, or it is not for the user.
 */
int setup_account_choose(const struct setup_accounts *accounts, const char *name, const char *user,
                         uint32_t *account, berth_error_t *err);

#endif
