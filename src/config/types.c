/* The types of resources that limits and shares name. */
#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "config/machine_open.h"

/* Whether a type may be limited: the machine has it, or GPUs or memory, so that one configuration does for unlike machines. */
static bool may_limit(const match_t *machine, const char *type)
{
    return match_knows_type(machine, type) || strcmp(type, "gpu") == 0 ||
           strcmp(type, "memory") == 0 || strcmp(type, "gpu-memory") == 0;
}

static int check_limits(const char *of, const char *name, const struct sched_limit *limits,
                        size_t n, const match_t *machine, berth_error_t *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *what = limits[i].what;
        if (strcmp(what, "duration") != 0 && strcmp(what, "running") != 0 &&
            strcmp(what, "pending") != 0 && !may_limit(machine, what))
            return errtext_set(err, EINVAL,
                               "%s \"%s\": limits: key \"%s\": expected a type of resources "
                               "that the machine has, such as core",
                               of, name, what);
    }
    return 0;
}

static int check_queue(const struct sched_queue_config *queue, const match_t *machine,
                       berth_error_t *err)
{
    const struct sched_limits *l = &queue->limits;

    if (check_limits("queue", queue->name, l->job, l->n_job, machine, err) < 0 ||
        check_limits("queue", queue->name, l->user, l->n_user, machine, err) < 0 ||
        check_limits("queue", queue->name, l->queue, l->n_queue, machine, err) < 0)
        return -1;
    for (size_t i = 0; i < queue->n_exceptions; i++) {
        l = &queue->exceptions[i].limits;
        if (check_limits("queue", queue->name, l->job, l->n_job, machine, err) < 0 ||
            check_limits("queue", queue->name, l->user, l->n_user, machine, err) < 0)
            return -1;
    }
    return 0;
}

static int check_named_types(const struct config *config, const match_t *machine,
                             berth_error_t *err)
{
    const struct sched_config *sched = &config->sched;

    for (size_t i = 0; i < sched->n_queues; i++)
        if (check_queue(&sched->queues[i], machine, err) < 0)
            return -1;
    for (size_t i = 0; i < sched->n_accounts; i++) {
        const struct sched_account *account = &sched->accounts[i];
        if (check_limits("account", account->name, account->limits, account->n_limits, machine,
                         err) < 0)
            return -1;
    }
    for (size_t i = 0; i < sched->shares.n_resources; i++)
        if (!may_limit(machine, sched->shares.resources[i]))
            return errtext_set(err, EINVAL,
                               "shares: key \"resources\": expected types of resources that the "
                               "machine has, such as core, got \"%s\"",
                               sched->shares.resources[i]);
    return 0;
}

int config_check_types(const struct config *config, const match_t *machine, const char *name,
                       berth_error_t *err)
{
    berth_error_t why;
    if (!name)
        return check_named_types(config, machine, err);
    return check_named_types(config, machine, &why) == 0
               ? 0
               : errtext_set(err, EINVAL, "%s: %s", name, why.text);
}
