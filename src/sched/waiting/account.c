/* The account that a job is of (sched/config/setup_accounts.h). */
#include <errno.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "sched/queues.h"

/* Returns 0, or -1 with ENOMEM. */
static int become_of(sched_t *s, uint32_t slot, uint32_t account, berth_error_t *err)
{
    const struct intern *names = &s->queues->setup->accounts.names;
    const char *text =
        account == SETUP_NONE ? NULL : queues_text(s->queues, intern_text(names, account));
    if (account != SETUP_NONE && !text)
        return errtext_no_memory(err);
    s->jobs[slot].details->account = text;
    return 0;
}

int account_choose(sched_t *s, uint32_t slot, const char *name, berth_error_t *err)
{
    const struct details *d = s->jobs[slot].details;
    uint32_t account;
    if (setup_account_choose(&s->queues->setup->accounts, name ? name : d->jobspec->account,
                             d->user, &account, err) < 0)
        return -1;
    return become_of(s, slot, account, err);
}

int account_keep(sched_t *s, uint32_t slot, const char *name, berth_error_t *err)
{
    struct details *d = s->jobs[slot].details;
    if (!name)
        return become_of(s, slot, setup_account_usual(&s->queues->setup->accounts, d->user), err);
    const char *text = queues_text(s->queues, name);
    if (!text)
        return errtext_no_memory(err);
    d->account = text;
    return 0;
}

int sched_account(sched_t *s, const char *user, const char *name, const char **account,
                  berth_error_t *err)
{
    const struct setup_accounts *accounts = &s->queues->setup->accounts;
    uint32_t number;
    if (setup_account_choose(accounts, name, user, &number, err) < 0)
        return -1;
    *account = number == SETUP_NONE ? NULL : intern_text(&accounts->names, number);
    return 0;
}
