/* A configuration as a whole. */
#include "config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_config.h"
#include "config/read.h"

/* A caller has a pointer to its beginning. */
struct whole {
    struct config config;
    struct arena arena;
};

#define SECOND_MAX 1000000000

enum top_key {
    RESOURCES,
    LICENSES,
    MATCH,
    DEFAULT_QUEUE,
    DEFAULT_DURATION,
    DEFAULT_LIMIT,
    STARVATION_THRESHOLD,
    CLAIMS,
    SLA_WAITING_TIME,
    ACTIONS,
    PASSES,
    USERS,
    SHARES,
    ACCOUNTS,
    QUEUES,
    BLOCKS,
    BOUNDS,
    TRACE,
    SERVER,
    PILOTS,
    ENGINE,
    TOP_KEYS
};
static const char *const top_names[] = {"resources",
                                        "licenses",
                                        "match",
                                        "default-queue",
                                        "default-duration",
                                        "default-limit",
                                        "starvation-threshold",
                                        "claims",
                                        "sla-waiting-time",
                                        "actions",
                                        "passes",
                                        "users",
                                        "shares",
                                        "accounts",
                                        "queues",
                                        "blocks",
                                        "bounds",
                                        "trace",
                                        "server",
                                        "pilots",
                                        "engine"};
static const struct doc_keys top_keys = {"a configuration", top_names, TOP_KEYS, 0};

enum passes_key { MIN_INTERVAL, MAX_EVENTS, PASSES_KEYS };
static const char *const passes_names[] = {"min-interval", "max-events"};
static const struct doc_keys passes_keys = {"the passes", passes_names, PASSES_KEYS, 0};

enum bounds_key { ENDED_JOBS, PROMISE_TRIES, WHAT_IF_HOLDERS, WHAT_IF_TRIES, BOUNDS_KEYS };
static const char *const bounds_names[] = {"ended-jobs", "promise-tries", "what-if-holders",
                                           "what-if-tries"};
static const struct doc_keys bounds_keys = {"the bounds", bounds_names, BOUNDS_KEYS, 0};

/* What answers may cost. */
static int read_bounds(struct reading *r, uint32_t i)
{
    struct sched_config *sched = &r->config->sched;
    int64_t *bound[BOUNDS_KEYS] = {&sched->ended_jobs, &r->config->match.tries,
                                   &sched->what_if_holders, &sched->what_if_tries};
    uint32_t value[BOUNDS_KEYS];

    sched->ended_jobs = SCHED_ENDED_JOBS;
    r->config->match.tries = MATCH_TRIES;
    sched->what_if_holders = SCHED_WHAT_IF_HOLDERS;
    sched->what_if_tries = SCHED_WHAT_IF_TRIES;
    if (i == DOC_NONE)
        return 0;
    if (doc_fields(&r->doc, i, &bounds_keys, value) < 0)
        return -1;
    for (uint32_t k = 0; k < BOUNDS_KEYS; k++)
        if (value_number(r, value[k], bounds_names[k], 1, COUNT_MAX, false, bound[k]) < 0)
            return -1;
    return 0;
}

const char *const config_actions[] = {"reclaim", "allocate", "preempt", "backfill", NULL};

/* Each action for all jobs, one after the other; "together": job by job. */
static int read_actions(struct reading *r, uint32_t i)
{
    struct sched_config *sched = &r->config->sched;
    const struct doc *d = &r->doc;
    unsigned seen = 0;

    if (i == DOC_NONE || (doc_is_text(d, i) && doc_is(d, i, "together")))
        return 0;
    if (d->node[i].kind != DOC_LIST)
        return doc_expected(d, i, "actions", "together or a list as in [allocate, backfill]");
    if (d->node[i].count == 0)
        return doc_fault(
            d, i, "key \"actions\": expected at least one action, as in [allocate, backfill]");
    for (uint32_t x = i + 1; x < d->node[i].end; x = d->node[x].end) {
        size_t action = 0;
        if (value_word(r, x, "actions", config_actions, &action) < 0)
            return -1;
        if (seen >> action & 1)
            return doc_expected(d, x, "actions", "each action once");
        seen |= 1u << action;
        sched->actions[sched->n_actions++] = (enum sched_action)action;
    }
    return 0;
}

static int read_passes(struct reading *r, uint32_t i)
{
    struct sched_config *sched = &r->config->sched;
    uint32_t value[PASSES_KEYS];

    if (i == DOC_NONE)
        return 0;
    if (doc_fields(&r->doc, i, &passes_keys, value) < 0 ||
        value_time(r, value[MIN_INTERVAL], "min-interval", TIME_ZERO_TOO, &sched->min_interval) < 0)
        return -1;
    return value_number(r, value[MAX_EVENTS], "max-events", 0, COUNT_MAX, false,
                        &sched->max_events);
}

static int read_default_queue(struct reading *r, uint32_t i)
{
    struct sched_config *sched = &r->config->sched;
    uint32_t queue = 0;

    if (i == DOC_NONE && sched->n_queues > 1)
        return 0;
    if (value_queue(r, i, "default-queue", &queue) < 0)
        return -1;
    sched->default_queue = sched->queues[queue].name;
    return 0;
}

/* In this order, each section finds what it needs from others. */
static int read_sections(struct reading *r)
{
    struct sched_config *sched = &r->config->sched;
    uint32_t value[TOP_KEYS];

    if (doc_fields(&r->doc, 0, &top_keys, value) < 0)
        return -1;
    sched->second = r->second;
    sched->default_duration = 3600 * r->second;
    sched->default_limit = sched->starvation_threshold = sched->sla_waiting_time = SCHED_UNLIMITED;
    sched->claims = 1;
    if (read_engine(r, value[ENGINE], value[RESOURCES]) < 0 ||
        read_licenses(r, value[LICENSES]) < 0 || read_match(r, value[MATCH]) < 0 ||
        value_time(r, value[DEFAULT_DURATION], "default-duration", TIME_OR_UNKNOWN,
                   &sched->default_duration) < 0 ||
        value_time(r, value[DEFAULT_LIMIT], "default-limit", TIME_OR_UNLIMITED,
                   &sched->default_limit) < 0 ||
        value_time(r, value[STARVATION_THRESHOLD], "starvation-threshold", TIME_OR_NONE,
                   &sched->starvation_threshold) < 0 ||
        value_number(r, value[CLAIMS], "claims", 1, COUNT_MAX, false, &sched->claims) < 0 ||
        value_time(r, value[SLA_WAITING_TIME], "sla-waiting-time", TIME_OR_NONE,
                   &sched->sla_waiting_time) < 0 ||
        read_actions(r, value[ACTIONS]) < 0 || read_passes(r, value[PASSES]) < 0 ||
        read_bounds(r, value[BOUNDS]) < 0 || read_users(r, value[USERS]) < 0 ||
        read_shares(r, value[SHARES]) < 0 || read_accounts(r, value[ACCOUNTS]) < 0 ||
        read_queues(r, value[QUEUES]) < 0 || read_default_queue(r, value[DEFAULT_QUEUE]) < 0 ||
        read_blocks(r, value[BLOCKS]) < 0 || read_trace(r, value[TRACE]) < 0)
        return -1;
    return read_server(r, value[SERVER]) < 0 ? -1 : read_pilots(r, value[PILOTS]);
}

/* What the scheduler checks: several keys together, such as a capability beside a limit. */
static int check_scheduler(const char *name, const struct config *config, berth_error_t *err)
{
    berth_error_t why;

    if (sched_check_config(&config->sched, &why) == 0)
        return 0;
    if (errno == ENOMEM)
        return errtext_no_memory(err);
    return errtext_set(err, errno, "%s%s%s", name ? name : "", name && *name ? ": " : "", why.text);
}

struct config *config_read(const char *name, const char *text, size_t length, int64_t second,
                           berth_error_t *err)
{
    struct whole *whole;
    struct reading r = {.second = second};

    if (second < 1 || second > SECOND_MAX) {
        errtext_set(err, EINVAL, "expected 1 to %d ticks in a second", SECOND_MAX);
        return NULL;
    }
    whole = calloc(1, sizeof(*whole));
    if (!whole) {
        errtext_no_memory(err);
        return NULL;
    }
    r.arena = &whole->arena;
    r.config = &whole->config;
    int rc = doc_read_yaml(&r.doc, text, length, name, err);
    if (rc == 0) {
        rc = read_sections(&r);
        doc_clear(&r.doc);
        intern_clear(&r.queues);
        intern_clear(&r.divisions);
        intern_clear(&r.accounts);
    }
    if (rc == 0)
        rc = check_scheduler(name, &whole->config, err);
    if (rc == 0)
        return &whole->config;
    config_destroy(&whole->config);
    return NULL;
}

void config_destroy(struct config *config)
{
    struct whole *whole = (struct whole *)config;
    int saved = errno;

    if (!whole)
        return;
    arena_clear(&whole->arena);
    free(whole);
    errno = saved;
}

const struct config_user *config_user(const struct config *config, const char *name)
{
    for (size_t i = 0; name && i < config->n_users; i++)
        if (strcmp(config->users[i].name, name) == 0)
            return &config->users[i];
    return NULL;
}
