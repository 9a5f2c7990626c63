/* The ledger of limits: parties, questions and tallies. */
#include "sched/controllers/limits.h"

#include <errno.h>
#include <stdlib.h>

#include "berth/sched_config.h"
#include "sched/controllers/limits_priv.h"

struct limits *limits_create(const struct setup *setup)
{
    struct limits *limits = calloc(1, sizeof(*limits));
    if (limits) {
        limits->setup = setup;
        if (limits_make_lines(limits) == 0)
            return limits;
    }
    limits_destroy(limits);
    errno = ENOMEM;
    return NULL;
}

static void tally_clear(struct tally *tally)
{
    free(tally->calendar);
    shared_clear(&tally->shared);
}

void limits_destroy(struct limits *limits)
{
    int saved = errno;
    if (limits) {
        for (uint32_t i = 0; limits->line && i < limits->setup->n_queues; i++)
            tally_clear(&limits->line[i].tally);
        for (uint32_t i = 0; i < limits->n_divisions; i++)
            tally_clear(&limits->division[i].tally);
        for (uint32_t i = 0; limits->account && i < limits->setup->accounts.n; i++)
            tally_clear(&limits->account[i].tally);
        for (uint32_t i = 0; i < limits->holders.n; i++)
            tally_clear(&limits->tally[i]);
        for (uint32_t i = 0; i < limits->n_calendars; i++)
            limits_calendar_clear(&limits->calendar[i]);
        free(limits->calendar);
        free(limits->line);
        free(limits->division);
        free(limits->account);
        free(limits->tally);
        free(limits->party);
        arena_clear(&limits->arena);
        intern_clear(&limits->what);
        intern_clear(&limits->holders);
        intern_clear(&limits->names);
        strbuf_clear(&limits->key);
        free(limits);
    }
    errno = saved;
}

/* ---- Parties ---- */

static uint32_t find_terms(const struct sched_queue_config *c, const char *user,
                           const char *const *groups, size_t n_groups)
{
    for (uint32_t i = 0; i < c->n_exceptions; i++) {
        const struct sched_exception *e = &c->exceptions[i];
        bool holds = text_is_listed(e->users, e->n_users, user);
        for (size_t k = 0; k < n_groups && !holds; k++)
            holds = text_is_listed(e->groups, e->n_groups, groups[k]);
        if (holds)
            return i + 1;
    }
    return 0;
}

int limits_grow(void **v, uint32_t *cap, uint32_t n, size_t size)
{
    if (n < *cap)
        return 0;
    uint32_t more = *cap ? *cap + *cap / 2 : 8;
    void *grown = reallocarray(*v, more, size);
    if (!grown)
        return -1;
    *v = grown;
    *cap = more;
    return 0;
}

/* What tells parties apart, beside their users. */
struct party_key {
    uint32_t queue, account;
    uint32_t terms, parents; /* there, and in its parent */
};

static int put_key(struct limits *limits, struct intern *table, const struct party_key *of,
                   const char *user, uint32_t *number)
{
    struct strbuf *key = &limits->key;
    strbuf_reset(key);
    strbuf_put(key, (const char *)of, sizeof(*of));
    strbuf_puts(key, user);
    return key->failed ? -1 : intern_put(table, key->data, key->len, number);
}

/* A tally of a user in a queue, which is there already or is made. Returns 0, or -1 with ENOMEM. */
static int find_holder(struct limits *limits, uint32_t queue, const char *user, uint32_t *holder)
{
    uint32_t holders = limits->holders.n;
    void *tally = limits->tally;
    int rc = limits_grow(&tally, &limits->tallies, holders, sizeof(*limits->tally));
    limits->tally = tally;
    if (rc < 0 ||
        put_key(limits, &limits->holders, &(struct party_key){.queue = queue}, user, holder) < 0)
        return -1;
    if (*holder == holders)
        limits->tally[*holder] = (struct tally){0};
    return 0;
}

int64_t limits_party(struct limits *limits, uint32_t queue, const char *account, const char *user,
                     const char *const *groups, size_t n_groups)
{
    const struct setup_queue *q = &limits->setup->queue[queue];
    const char *name = user ? user : "";
    uint32_t parents = find_terms(limits->setup->queue[q->parent].config, name, groups, n_groups);
    uint32_t terms =
        q->config->has_parents_exceptions ? parents : find_terms(q->config, name, groups, n_groups);
    uint32_t holders = limits->holders.n, parties = limits->names.n;
    struct party_key key = {.queue = queue,
                            .account = limits->account
                                           ? setup_account_find(&limits->setup->accounts, account)
                                           : SETUP_NONE,
                            .terms = terms,
                            .parents = parents};
    uint32_t holder, above_holder, number;
    const struct above *above = NULL;
    void *party = limits->party;
    int rc = limits_grow(&party, &limits->parties, parties, sizeof(*limits->party));
    limits->party = party;
    if (rc < 0 || find_holder(limits, queue, name, &holder) < 0 ||
        find_holder(limits, q->parent, name, &above_holder) < 0 ||
        (q->parent != queue && !(above = limits_above(limits, queue, terms, parents))) ||
        put_key(limits, &limits->names, &key, name, &number) < 0) {
        intern_shrink(&limits->holders, holders);
        errno = ENOMEM;
        return -1;
    }
    if (number == parties)
        limits->party[number] = (struct party){
            queue, holder, above_holder, above, key.account, &limits->line[queue].terms[terms]};
    return number;
}

/* ---- Questions ---- */

bool limits_refuse(const struct limits *limits, const struct side *side, const struct rule *rule,
                   struct sched_reason_limit *over)
{
    const struct intern *accounts = &limits->setup->accounts.names;
    if (over)
        *over = (struct sched_reason_limit){
            side->whose, intern_text(&limits->what, rule->what), rule->most,
            side->account == SETUP_NONE ? NULL : intern_text(accounts, side->account)};
    return false;
}

bool limits_job(const struct limits *limits, uint32_t party, int64_t duration,
                limits_amount_f *amount, void *arg, struct sched_reason_limit *over)
{
    const struct rules *rules = &limits->party[party].terms->job;
    for (uint32_t i = 0; i < rules->n; i++) {
        const struct rule *rule = &rules->v[i];
        int64_t is =
            rule->what == DURATION ? duration : amount(arg, intern_text(&limits->what, rule->what));
        if (is > rule->most)
            return limits_refuse(
                limits, &(struct side){.whose = SCHED_OF_JOB, .account = SETUP_NONE}, rule, over);
    }
    return true;
}

int64_t limits_longest(const struct limits *limits, uint32_t party)
{
    const struct rules *rules = &limits->party[party].terms->job;
    for (uint32_t i = 0; i < rules->n; i++)
        if (rules->v[i].what == DURATION)
            return rules->v[i].most;
    return SCHED_UNLIMITED;
}

size_t limits_sides(const struct limits *limits, uint32_t party, struct side side[SIDES_MAX])
{
    const struct party *a = &limits->party[party];
    struct line *line = &limits->line[a->queue];
    struct line *parent = &limits->line[limits->setup->queue[a->queue].parent];
    size_t n = 0;
    side[n++] = (struct side){SCHED_OF_USER, &a->terms->user, &line->of_user,
                              &limits->tally[a->holder], SETUP_NONE};
    if (a->above)
        side[n++] = (struct side){SCHED_OF_USER, &a->above->rules, &a->above->whats,
                                  &limits->tally[a->above_holder], SETUP_NONE};
    side[n++] =
        (struct side){SCHED_OF_QUEUE, &line->rules, &line->of_queue, &line->tally, SETUP_NONE};
    if (parent != line)
        side[n++] = (struct side){SCHED_OF_QUEUE, &parent->rules, &parent->of_queue, &parent->tally,
                                  SETUP_NONE};
    for (uint32_t i = 0; i < parent->n_divisions; i++) {
        struct held *d = &limits->division[parent->division[i]];
        side[n++] = (struct side){SCHED_OF_DIVISION, &d->rules, &d->whats, &d->tally, SETUP_NONE};
    }
    for (uint32_t i = a->account; i != SETUP_NONE; i = limits->setup->accounts.v[i].parent) {
        struct held *d = &limits->account[i];
        side[n++] = (struct side){SCHED_OF_ACCOUNT, &d->rules, &d->whats, &d->tally, i};
    }
    return n;
}

bool limits_ever(const struct limits *limits, uint32_t party, limits_amount_f *amount, void *arg,
                 struct sched_reason_limit *over)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].rules->n; i++) {
            const struct rule *rule = &side[s].rules->v[i];
            if (rule->what >= RESOURCE &&
                amount(arg, intern_text(&limits->what, rule->what)) > rule->most)
                return limits_refuse(limits, &side[s], rule, over);
        }
    return true;
}

bool limits_together(const struct limits *limits, uint32_t party, int64_t jobs,
                     struct sched_reason_limit *over)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].rules->n; i++) {
            const struct rule *rule = &side[s].rules->v[i];
            if (rule->what == RUNNING && jobs > rule->most)
                return limits_refuse(limits, &side[s], rule, over);
        }
    return true;
}

bool limits_pending(const struct limits *limits, uint32_t party, uint32_t n,
                    struct sched_reason_limit *over)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].rules->n; i++) {
            const struct rule *rule = &side[s].rules->v[i];
            if (rule->what == PENDING && n > 0 &&
                side[s].tally->pending + side[s].tally->covered > rule->most - (int64_t)n)
                return limits_refuse(limits, &side[s], rule, over);
        }
    return true;
}

bool limits_measures(const struct limits *limits, uint32_t party)
{
    const struct party *a = &limits->party[party];
    const struct rules *job = &a->terms->job;
    for (uint32_t i = 0; i < job->n; i++)
        if (job->v[i].what >= RESOURCE)
            return true;
    return limits->line[a->queue].is_measured;
}

bool limits_share(const struct limits *limits, uint32_t a, uint32_t b)
{
    struct side of_a[SIDES_MAX], of_b[SIDES_MAX];
    size_t n_a = limits_sides(limits, a, of_a), n_b = limits_sides(limits, b, of_b);
    for (size_t i = 0; i < n_a; i++)
        for (size_t k = 0; k < n_b; k++)
            if (of_a[i].tally == of_b[k].tally && of_a[i].rules->n > 0)
                return true;
    return false;
}

/* ---- Who may be stopped ---- */

bool limits_begin_givers(struct limits *limits, uint64_t round)
{
    bool is_new = limits->giving != round;
    limits->giving = round;
    return is_new;
}

void limits_add_giver(struct limits *limits, uint32_t party, struct limits_giver giver)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t i = 0; i < sides; i++) {
        struct tally *tally = side[i].tally;
        struct limits_giver *is = &tally->giver;
        if (tally->giving != limits->giving)
            *is = giver;
        tally->giving = limits->giving;
        is->priority = giver.priority < is->priority ? giver.priority : is->priority;
        is->lane = giver.lane == is->lane ? is->lane : UINT32_MAX;
        is->leaf = giver.leaf == is->leaf ? is->leaf : UINT32_MAX;
    }
}

bool limits_has_giver(const struct limits *limits, uint32_t party, struct limits_giver taker,
                      bool lanes, bool leaves)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t i = 0; i < sides; i++) {
        const struct limits_giver *is = &side[i].tally->giver;
        if (side[i].rules->n == 0 || side[i].tally->giving != limits->giving)
            continue;
        if (is->priority < taker.priority || is->priority == INT64_MIN ||
            (lanes && is->lane != taker.lane) || (leaves && is->leaf != taker.leaf))
            return true;
    }
    return false;
}

/* ---- Entries ---- */

void limits_wait(struct limits *limits, uint32_t party, int64_t n)
{
    const struct above *above = limits->party[party].above;
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        if (!above || side[s].rules != &above->rules)
            side[s].tally->pending += n;
        else if (above->has_pending)
            side[s].tally->covered += n;
}

void limits_note_decrease(struct limits *limits, uint32_t party)
{
    const struct above *above = limits->party[party].above;
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    limits->decreases++;
    for (size_t s = 0; s < sides; s++)
        if (!above || side[s].rules != &above->rules || above->whats.n > 0)
            side[s].tally->last_decrease = limits->decreases;
}

int64_t limits_last_decrease(const struct limits *limits, uint32_t party)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    int64_t last = 0;
    for (size_t s = 0; s < sides; s++)
        if (side[s].rules->n > 0 && side[s].tally->last_decrease > last)
            last = side[s].tally->last_decrease;
    return last;
}

/* ---- Checking ---- */

/* A queue has no pending jobs but those of its users and virtual queues, some of which its users cover. */
static bool check_line(const struct limits *limits, uint32_t queue)
{
    const struct setup *setup = limits->setup;
    int64_t rest = limits->line[queue].tally.pending, virtual = 0, covered = 0;
    bool fine = true;
    for (uint32_t i = 0; i < limits->holders.n; i++) {
        const struct tally *tally = &limits->tally[i];
        uint32_t of;
        memcpy(&of, intern_text(&limits->holders, i), sizeof(of));
        if (of != queue)
            continue;
        fine = fine && tally->pending >= 0 && tally->covered >= 0;
        rest -= tally->pending;
        covered += tally->covered;
    }
    for (uint32_t i = 0; i < setup->n_queues; i++)
        if (i != queue && setup->queue[i].parent == queue)
            virtual += limits->line[i].tally.pending;
    return fine && rest == virtual && covered <= virtual;
}

bool limits_check(const struct limits *limits)
{
    if (!intern_check(&limits->what) || !intern_check(&limits->holders) ||
        !intern_check(&limits->names))
        return false;
    for (uint32_t i = 0; i < limits->names.n; i++)
        if (limits->party[i].holder >= limits->holders.n ||
            limits->party[i].above_holder >= limits->holders.n)
            return false;
    for (uint32_t i = 0; i < limits->setup->n_queues; i++)
        if (!check_line(limits, i) || !shared_check(&limits->line[i].tally.shared))
            return false;
    for (uint32_t i = 0; i < limits->n_divisions; i++)
        if (!shared_check(&limits->division[i].tally.shared))
            return false;
    for (uint32_t i = 0; limits->account && i < limits->setup->accounts.n; i++)
        if (limits->account[i].tally.pending < 0 || !shared_check(&limits->account[i].tally.shared))
            return false;
    for (uint32_t i = 0; i < limits->n_calendars; i++)
        if (!limits_calendar_check(limits, &limits->calendar[i]))
            return false;
    for (uint32_t i = 0; i < limits->holders.n; i++)
        if (!shared_check(&limits->tally[i].shared))
            return false;
    return true;
}
