/* The ledger of limits: accounts, questions and tallies. */
#include "sched/controllers/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

void limits_destroy(struct limits *limits)
{
    int saved = errno;
    if (limits) {
        for (uint32_t i = 0; limits->line && i < limits->setup->n_queues; i++)
            free(limits->line[i].tally.held);
        for (uint32_t i = 0; i < limits->holders.n; i++)
            free(limits->tally[i].held);
        free(limits->line);
        free(limits->tally);
        free(limits->account);
        arena_clear(&limits->arena);
        intern_clear(&limits->what);
        intern_clear(&limits->holders);
        intern_clear(&limits->names);
        strbuf_clear(&limits->key);
        free(limits);
    }
    errno = saved;
}

/* ---- Accounts ---- */

static bool has(const char *const *texts, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

static uint32_t find_terms(const struct sched_queue_config *c, const char *user,
                           const char *const *groups, size_t n_groups)
{
    for (uint32_t i = 0; i < c->n_exceptions; i++) {
        const struct sched_exception *e = &c->exceptions[i];
        bool holds = has(e->users, e->n_users, user);
        for (size_t k = 0; k < n_groups && !holds; k++)
            holds = has(e->groups, e->n_groups, groups[k]);
        if (holds)
            return i + 1;
    }
    return 0;
}

static int grow(void **v, uint32_t *cap, uint32_t n, size_t size)
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

/* Two numbers and a user as the key of a table. */
static int put_key(struct limits *limits, struct intern *table, uint32_t queue, uint32_t terms,
                   const char *user, uint32_t *number)
{
    struct strbuf *key = &limits->key;
    strbuf_reset(key);
    strbuf_put(key, (const char *)&queue, sizeof(queue));
    strbuf_put(key, (const char *)&terms, sizeof(terms));
    strbuf_puts(key, user);
    return key->failed ? -1 : intern_put(table, key->data, key->len, number);
}

int64_t limits_account(struct limits *limits, uint32_t queue, const char *user,
                       const char *const *groups, size_t n_groups)
{
    const struct sched_queue_config *c = limits->setup->queue[queue].config;
    const char *name = user ? user : "";
    uint32_t terms = find_terms(c, name, groups, n_groups);
    uint32_t holders = limits->holders.n;
    uint32_t holder, number;
    uint32_t accounts = limits->names.n;
    void *tally = limits->tally;
    void *account = limits->account;
    bool room = grow(&tally, &limits->tallies, holders, sizeof(*limits->tally)) == 0;
    limits->tally = tally;
    room = room && grow(&account, &limits->accounts, accounts, sizeof(*limits->account)) == 0;
    limits->account = account;
    if (!room || put_key(limits, &limits->holders, queue, 0, name, &holder) < 0) {
        errno = ENOMEM;
        return -1;
    }
    if (put_key(limits, &limits->names, queue, terms, name, &number) < 0) {
        intern_shrink(&limits->holders, holders);
        errno = ENOMEM;
        return -1;
    }
    if (holder == holders)
        limits->tally[holder] = (struct tally){0};
    if (number == accounts)
        limits->account[number] =
            (struct account){queue, holder, &limits->line[queue].terms[terms]};
    return number;
}

/* ---- Questions ---- */

/* Say which rule it is; false, so that an answer can end with it. */
static bool refuse(const struct limits *limits, enum sched_whose whose, const struct rule *rule,
                   struct sched_reason_limit *over)
{
    if (over)
        *over =
            (struct sched_reason_limit){whose, intern_text(&limits->what, rule->what), rule->most};
    return false;
}

bool limits_job(const struct limits *limits, uint32_t account, int64_t duration,
                limits_amount_f *amount, void *arg, struct sched_reason_limit *over)
{
    const struct rules *rules = &limits->account[account].terms->job;
    for (uint32_t i = 0; i < rules->n; i++) {
        const struct rule *rule = &rules->v[i];
        int64_t is =
            rule->what == DURATION ? duration : amount(arg, intern_text(&limits->what, rule->what));
        if (is > rule->most)
            return refuse(limits, SCHED_OF_JOB, rule, over);
    }
    return true;
}

/* The tallies that a job counts in, with the rules that hold for each. */
struct side {
    enum sched_whose whose;
    const struct rules *rules;
    struct tally *tally;
};

static size_t sides_of(const struct limits *limits, uint32_t account, struct side side[3])
{
    const struct account *a = &limits->account[account];
    struct line *line = &limits->line[a->queue];
    struct line *parent = &limits->line[limits->setup->queue[a->queue].parent];
    side[0] = (struct side){SCHED_OF_USER, &a->terms->user, &limits->tally[a->holder]};
    side[1] = (struct side){SCHED_OF_QUEUE, &line->rules, &line->tally};
    side[2] = (struct side){SCHED_OF_QUEUE, &parent->rules, &parent->tally};
    return parent == line ? 2 : 3;
}

bool limits_ever(const struct limits *limits, uint32_t account, limits_amount_f *amount, void *arg,
                 struct sched_reason_limit *over)
{
    struct side side[3];
    size_t sides = sides_of(limits, account, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].rules->n; i++) {
            const struct rule *rule = &side[s].rules->v[i];
            if (rule->what >= RESOURCE &&
                amount(arg, intern_text(&limits->what, rule->what)) > rule->most)
                return refuse(limits, side[s].whose, rule, over);
        }
    return true;
}

/* Whether n more of what is counted in jobs are within the limits. */
static bool admits(const struct limits *limits, uint32_t account, uint32_t what, uint32_t n,
                   struct sched_reason_limit *over)
{
    struct side side[3];
    size_t sides = sides_of(limits, account, side);
    for (size_t s = 0; s < sides; s++) {
        int64_t have = what == RUNNING ? side[s].tally->running : side[s].tally->pending;
        for (uint32_t i = 0; i < side[s].rules->n; i++) {
            const struct rule *rule = &side[s].rules->v[i];
            if (rule->what == what && n > 0 && have > rule->most - (int64_t)n)
                return refuse(limits, side[s].whose, rule, over);
        }
    }
    return true;
}

bool limits_pending(const struct limits *limits, uint32_t account, uint32_t n,
                    struct sched_reason_limit *over)
{
    return admits(limits, account, PENDING, n, over);
}

bool limits_open(const struct limits *limits, uint32_t account, struct sched_reason_limit *over)
{
    return admits(limits, account, RUNNING, 1, over);
}

bool limits_start(const struct limits *limits, uint32_t account, limits_amount_f *amount, void *arg,
                  struct sched_reason_limit *over)
{
    struct side side[3];
    size_t sides = sides_of(limits, account, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].rules->n; i++) {
            const struct rule *rule = &side[s].rules->v[i];
            int64_t more, have;
            if (rule->what == RUNNING) {
                more = 1;
                have = side[s].tally->running;
            } else if (rule->what >= RESOURCE) {
                more = amount(arg, intern_text(&limits->what, rule->what));
                have = side[s].tally->held ? side[s].tally->held[rule->what] : 0;
            } else {
                continue;
            }
            if (more > 0 && have > rule->most - more)
                return refuse(limits, side[s].whose, rule, over);
        }
    return true;
}

bool limits_measures(const struct limits *limits, uint32_t account)
{
    const struct account *a = &limits->account[account];
    const struct rules *job = &a->terms->job;
    for (uint32_t i = 0; i < job->n; i++)
        if (job->v[i].what >= RESOURCE)
            return true;
    return limits->line[a->queue].n_measured > 0;
}

/* ---- Entries ---- */

void limits_wait(struct limits *limits, uint32_t account, int64_t n)
{
    struct side side[3];
    size_t sides = sides_of(limits, account, side);
    for (size_t s = 0; s < sides; s++)
        side[s].tally->pending += n;
}

/* Enter a job `sign` times. */
static void enter(struct limits *limits, uint32_t account, limits_amount_f *amount, void *arg,
                  int64_t sign)
{
    const struct line *line = &limits->line[limits->account[account].queue];
    struct side side[3];
    size_t sides = sides_of(limits, account, side);
    for (size_t s = 0; s < sides; s++)
        side[s].tally->running += sign;
    for (uint32_t i = 0; i < line->n_measured; i++) {
        uint32_t what = line->measured[i];
        int64_t more = sign * amount(arg, intern_text(&limits->what, what));
        for (size_t s = 0; s < sides; s++)
            side[s].tally->held[what] += more;
    }
}

int limits_add(struct limits *limits, uint32_t account, limits_amount_f *amount, void *arg)
{
    const struct account *a = &limits->account[account];
    struct tally *tally = &limits->tally[a->holder];
    if (!tally->held && limits->line[a->queue].n_measured > 0) {
        tally->held = calloc(limits->what.n, sizeof(*tally->held));
        if (!tally->held) {
            errno = ENOMEM;
            return -1;
        }
    }
    enter(limits, account, amount, arg, 1);
    return 0;
}

void limits_sub(struct limits *limits, uint32_t account, limits_amount_f *amount, void *arg)
{
    enter(limits, account, amount, arg, -1);
}

void limits_note_decrease(struct limits *limits, uint32_t account)
{
    struct side side[3];
    size_t sides = sides_of(limits, account, side);
    limits->decreases++;
    for (size_t s = 0; s < sides; s++)
        side[s].tally->last_decrease = limits->decreases;
}

int64_t limits_last_decrease(const struct limits *limits, uint32_t account)
{
    struct side side[3];
    size_t sides = sides_of(limits, account, side);
    int64_t last = 0;
    for (size_t s = 0; s < sides; s++)
        if (side[s].rules->n > 0 && side[s].tally->last_decrease > last)
            last = side[s].tally->last_decrease;
    return last;
}

/* ---- Checking ---- */

/* Take off a sum what a part of it has; false where the part has less than nothing. */
static bool take_off(struct tally *sum, const struct tally *part, uint32_t n)
{
    bool fine = part->pending >= 0 && part->running >= 0;
    sum->pending -= part->pending;
    sum->running -= part->running;
    for (uint32_t i = 0; part->held && i < n; i++) {
        fine = fine && part->held[i] >= 0;
        sum->held[i] -= part->held[i];
    }
    return fine;
}

static bool is_nothing(const struct tally *tally, uint32_t n)
{
    bool nothing = tally->pending == 0 && tally->running == 0;
    for (uint32_t i = 0; i < n; i++)
        nothing = nothing && tally->held[i] == 0;
    return nothing;
}

/* A queue without what its users and virtual queues have has nothing. */
static bool check_line(const struct limits *limits, uint32_t queue)
{
    const struct setup *setup = limits->setup;
    uint32_t n = limits->what.n;
    struct tally rest = limits->line[queue].tally;
    bool fine = rest.pending >= 0 && rest.running >= 0;
    int64_t *held = calloc(n, sizeof(*held));
    if (!held)
        return true; /* it can't be told */
    memcpy(held, rest.held, n * sizeof(*held));
    rest.held = held;
    for (uint32_t i = 0; i < limits->holders.n; i++) {
        uint32_t of;
        memcpy(&of, intern_text(&limits->holders, i), sizeof(of));
        fine = fine && (of != queue || take_off(&rest, &limits->tally[i], n));
    }
    for (uint32_t i = 0; i < setup->n_queues; i++)
        if (i != queue && setup->queue[i].parent == queue)
            fine = take_off(&rest, &limits->line[i].tally, n) && fine;
    fine = fine && is_nothing(&rest, n);
    free(held);
    return fine;
}

bool limits_check(const struct limits *limits)
{
    if (!intern_check(&limits->what) || !intern_check(&limits->holders) ||
        !intern_check(&limits->names))
        return false;
    for (uint32_t i = 0; i < limits->names.n; i++)
        if (limits->account[i].holder >= limits->holders.n)
            return false;
    for (uint32_t i = 0; i < limits->setup->n_queues; i++)
        if (!check_line(limits, i))
            return false;
    return true;
}
