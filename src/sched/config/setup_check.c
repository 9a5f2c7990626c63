/* Checks of a queue's configuration (setup_check.h). */
#include "sched/config/setup_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_config.h"
#include "sched/config/deadlines.h"

int setup_check_texts(const char *const *texts, size_t n, const char *of, const char *name,
                      const char *key, berth_error_t *err)
{
    for (size_t i = 0; i < n; i++)
        if (!texts[i] || texts[i][0] == '\0')
            return errtext_set(err, EINVAL, "%s '%s': %s: an empty name", of, name, key);
    return 0;
}

static int check_policy(const struct sched_queue_config *queue, berth_error_t *err)
{
    if (!queue->policy || sched_policy_find(queue->policy))
        return 0;
    char names[ERRTEXT_LIST_MAX];
    return errtext_set(err, EINVAL, "queue '%s': policy: expected one of %s, found '%s'",
                       queue->name, errtext_list(names, sizeof(names), sched_policies(), ", "),
                       queue->policy);
}

static int check_preempts(const struct sched_queue_config *queue, berth_error_t *err)
{
    const unsigned alone = SCHED_PREEMPTS_NOBODY,
                   all = SCHED_PREEMPTS_LOWER | SCHED_PREEMPTS_BORROWERS | SCHED_PREEMPTS_RICHER;
    const unsigned either = SCHED_PREEMPTS_LOWER | SCHED_PREEMPTS_RICHER;
    unsigned is = queue->preempts;
    if (is != alone && ((is & ~all) != 0 || (is & either) == either))
        return errtext_set(err, EINVAL, "queue '%s': preempts: no such way: %u", queue->name, is);
    return 0;
}

static int check_numbers(const struct sched_queue_config *queue, berth_error_t *err)
{
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"queue-depth", queue->queue_depth},
        {"max-queue-depth", queue->max_queue_depth},
        {"reservation-depth", queue->reservation_depth},
        {"max-reservation-depth", queue->max_reservation_depth},
        {"default-duration", queue->default_duration},
        {"default-limit", queue->default_limit},
        {"starvation-threshold", queue->starvation_threshold},
        {"claims", queue->claims},
        {"sla-waiting-time", queue->sla_waiting_time},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (numbers[i].value < 0)
            return errtext_set(err, EINVAL, "queue '%s': %s: must not be negative, is %lld",
                               queue->name, numbers[i].key, (long long)numbers[i].value);
    int how = (int)queue->preemptible;
    if (how < SCHED_NOT_PREEMPTIBLE || how > SCHED_PREEMPT_REQUEUE)
        return errtext_set(err, EINVAL, "queue '%s': preemptible: no such way: %d", queue->name,
                           how);
    return check_preempts(queue, err);
}

/* Whose limits a list is: where messages say it stands, and what may not be in it. */
struct place_of {
    const char *kind, *name; /* "queue", "batch" */
    const char *where;       /* "limits" or "exception 1: limits" */
    const char *list;
    const char *misplaced[2];
};

static int check_list(const struct place_of *of, const struct sched_limit *list, size_t n,
                      berth_error_t *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *what = list[i].what;
        if (!what || what[0] == '\0')
            return errtext_set(err, EINVAL, "%s '%s': %s of %s: an empty name", of->kind, of->name,
                               of->where, of->list);
        for (size_t k = 0; k < 2; k++)
            if (of->misplaced[k] && strcmp(what, of->misplaced[k]) == 0)
                return errtext_set(err, EINVAL, "%s '%s': %s of %s: '%s' is not one of %s limits",
                                   of->kind, of->name, of->where, of->list, what, of->list);
        if (list[i].most < 0)
            return errtext_set(err, EINVAL, "%s '%s': %s of %s: %s: must not be negative, is %lld",
                               of->kind, of->name, of->where, of->list, what,
                               (long long)list[i].most);
        for (size_t k = 0; k < i; k++)
            if (strcmp(list[k].what, what) == 0)
                return errtext_set(err, EINVAL, "%s '%s': %s of %s: %s comes twice", of->kind,
                                   of->name, of->where, of->list, what);
    }
    return 0;
}

int setup_check_account(const struct sched_account *account, berth_error_t *err)
{
    const struct place_of of = {"account", account->name, "limits", "account", {"duration"}};
    return check_list(&of, account->limits, account->n_limits, err);
}

static int check_limits(const struct sched_queue_config *queue, const char *where,
                        const struct sched_limits *limits, berth_error_t *err)
{
    const struct place_of job = {"queue", queue->name, where, "job", {"running", "pending"}};
    const struct place_of user = {"queue", queue->name, where, "user", {"duration"}};
    return check_list(&job, limits->job, limits->n_job, err) < 0 ||
                   check_list(&user, limits->user, limits->n_user, err) < 0
               ? -1
               : 0;
}

static int check_exceptions(const struct sched_queue_config *queue, berth_error_t *err)
{
    for (size_t i = 0; i < queue->n_exceptions; i++) {
        const struct sched_exception *e = &queue->exceptions[i];
        char where[40];
        snprintf(where, sizeof(where), "exception %zu", i + 1);
        if (e->n_users == 0 && e->n_groups == 0)
            return errtext_set(err, EINVAL, "queue '%s': %s: names no users and no groups",
                               queue->name, where);
        if (setup_check_texts(e->users, e->n_users, "queue", queue->name, where, err) < 0 ||
            setup_check_texts(e->groups, e->n_groups, "queue", queue->name, where, err) < 0)
            return -1;
        snprintf(where, sizeof(where), "exception %zu: limits", i + 1);
        if (check_limits(queue, where, &e->limits, err) < 0)
            return -1;
    }
    return 0;
}

int setup_check_queue(const struct sched_queue_config *queue, berth_error_t *err)
{
    if (queue->priority > SCHED_QUEUE_PRIORITY_MAX || queue->priority < -SCHED_QUEUE_PRIORITY_MAX)
        return errtext_set(err, EINVAL, "queue '%s': priority: must be from -%lld to %lld, is %lld",
                           queue->name, (long long)SCHED_QUEUE_PRIORITY_MAX,
                           (long long)SCHED_QUEUE_PRIORITY_MAX, (long long)queue->priority);
    const struct place_of of = {"queue", queue->name, "limits", "queue", {"duration"}};
    if (check_policy(queue, err) < 0 || check_numbers(queue, err) < 0 ||
        setup_check_texts(queue->users, queue->n_users, "queue", queue->name, "users", err) < 0 ||
        setup_check_texts(queue->groups, queue->n_groups, "queue", queue->name, "groups", err) <
            0 ||
        check_limits(queue, "limits", &queue->limits, err) < 0 ||
        check_list(&of, queue->limits.queue, queue->limits.n_queue, err) < 0)
        return -1;
    bool by_user = queue->by == SCHED_SHARE_USER || queue->by == SCHED_SHARE_ACCOUNT;
    if (queue->preempts & SCHED_PREEMPTS_RICHER && !queue->parent && !by_user)
        return errtext_set(err, EINVAL,
                           "queue '%s': preempts: richer: its users or accounts take no turns",
                           queue->name);
    if (queue->by == SCHED_SHARE_NONE && deadlines_check_order(queue, err) < 0)
        return -1;
    return check_exceptions(queue, err);
}
