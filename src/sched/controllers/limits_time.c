/* The calendars of limits: what is held and promised when, and when there is room for more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/controllers/limits_priv.h"

/* How much the job at hand takes of what a rule limits over time; 0: of what it does not. */
static int64_t takes(const struct limits *limits, uint32_t what, int64_t jobs,
                     limits_amount_f *amount, void *arg)
{
    if (what < RESOURCE)
        return what != RUNNING ? 0 : jobs > 1 ? jobs : 1;
    return amount(arg, intern_text(&limits->what, what));
}

uint32_t limits_calendar_of(const struct tally *tally, uint32_t what)
{
    return tally->calendar ? tally->calendar[what] : NO_CALENDAR;
}

/* Whether a tally has room for so much more during a window under a rule; of nodes, these among them. */
static bool has_room_under_rule(const struct limits *limits, const struct side *side,
                                const struct rule *rule, int64_t more,
                                const struct limits_nodes *nodes, struct limits_window window)
{
    uint32_t calendar = limits_calendar_of(side->tally, rule->what);
    if (more == 0)
        return true;
    if (more > rule->most || calendar == NO_CALENDAR)
        return more <= rule->most;
    if (nodes && rule->what == limits->node)
        return shared_fits(&side->tally->shared, &limits->calendar[calendar].profile, rule->most,
                           nodes, more - nodes->n, window);
    return profile_max(&limits->calendar[calendar].profile, window.from, window.until) <=
           rule->most - more;
}

/* The sides of a party, and where only limits are asked in which another party's jobs count, those of that. */
struct sides {
    struct side v[SIDES_MAX], others[SIDES_MAX];
    size_t n, n_others;
    bool is_beside;
};

/* Whether the jobs of the other party count in what a rule of one of these sides limits. */
static bool counts_both(const struct sides *sides, const struct side *side, const struct rule *rule)
{
    for (size_t s = 0; s < sides->n_others; s++)
        for (uint32_t i = 0; i < sides->others[s].whats->n; i++)
            if (sides->others[s].tally == side->tally && sides->others[s].whats->v[i] == rule->what)
                return true;
    return !sides->is_beside;
}

/* Numbers of jobs come first, for which nothing is measured. */
static bool sides_have_room(const struct limits *limits, const struct sides *sides,
                            struct limits_window window, limits_amount_f *amount, void *arg,
                            const struct limits_nodes *nodes, struct limits_over *over)
{
    for (int measured = 0; measured < 2; measured++)
        for (size_t s = 0; s < sides->n; s++)
            for (uint32_t i = 0; i < sides->v[s].rules->n; i++) {
                const struct side *side = &sides->v[s];
                const struct rule *rule = &side->rules->v[i];
                if ((rule->what >= RESOURCE) != (bool)measured || !counts_both(sides, side, rule) ||
                    has_room_under_rule(limits, side, rule,
                                        takes(limits, rule->what, window.jobs, amount, arg), nodes,
                                        window))
                    continue;
                if (over)
                    over->calendar = limits_calendar_of(side->tally, rule->what);
                return limits_refuse(limits, side, rule, over ? &over->limit : NULL);
            }
    return true;
}

bool limits_start(const struct limits *limits, uint32_t party, struct limits_window window,
                  limits_amount_f *amount, void *arg, const struct limits_nodes *nodes,
                  struct limits_over *over)
{
    struct sides sides;
    sides.n = limits_sides(limits, party, sides.v);
    sides.n_others = 0;
    sides.is_beside = false;
    return sides_have_room(limits, &sides, window, amount, arg, nodes, over);
}

bool limits_start_beside(const struct limits *limits, uint32_t party, uint32_t other,
                         struct limits_window window, limits_amount_f *amount, void *arg,
                         const struct limits_nodes *nodes, struct limits_over *over)
{
    struct sides sides;
    sides.n = limits_sides(limits, party, sides.v);
    sides.n_others = limits_sides(limits, other, sides.others);
    sides.is_beside = true;
    return sides_have_room(limits, &sides, window, amount, arg, nodes, over);
}

/* The first time from which on a calendar has room for so much under a rule; INT64_MAX: never. */
static int64_t room_from(const struct limits *limits, const struct side *side,
                         const struct rule *rule, int64_t more, const struct limits_nodes *nodes,
                         int64_t from, int64_t duration)
{
    uint32_t calendar = limits_calendar_of(side->tally, rule->what);
    struct profile_cursor c;
    int64_t at;
    if (more == 0 || (more <= rule->most && calendar == NO_CALENDAR))
        return from;
    if (more > rule->most)
        return INT64_MAX;
    if (nodes && rule->what == limits->node)
        return shared_when(&side->tally->shared, &limits->calendar[calendar].profile, rule->most,
                           nodes, more - nodes->n, (struct limits_window){from, from + duration, 0},
                           INT64_MAX);
    profile_seek(&c, &limits->calendar[calendar].profile, from);
    return profile_fit(&c, from, duration, rule->most - more, INT64_MAX, &at) ? at : INT64_MAX;
}

int64_t limits_when(const struct limits *limits, uint32_t party, struct limits_window window,
                    limits_amount_f *amount, void *arg, const struct limits_nodes *nodes)
{
    int64_t from = window.from, duration = window.until - window.from;
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    int64_t before;
    do {
        before = from;
        for (size_t s = 0; s < sides && from < INT64_MAX; s++)
            for (uint32_t i = 0; i < side[s].rules->n && from < INT64_MAX; i++) {
                const struct rule *rule = &side[s].rules->v[i];
                int64_t more = takes(limits, rule->what, window.jobs, amount, arg);
                from = room_from(limits, &side[s], rule, more, nodes, from, duration);
            }
    } while (from > before && from < INT64_MAX);
    return from;
}

/* ---- Entries ---- */

void limits_calendar_clear(struct calendar *calendar)
{
    profile_clear(&calendar->profile);
    free(calendar->of_queue);
}

/* Have a calendar. Returns 0, or -1 with ENOMEM. */
static int make_calendar(struct limits *limits, const struct side *side, uint32_t what)
{
    struct tally *tally = side->tally;
    static const int64_t before_all = INT64_MIN / 2;
    uint32_t n = limits->n_calendars;
    void *grown = limits->calendar;
    if (!tally->calendar) {
        tally->calendar = reallocarray(NULL, limits->what.n, sizeof(*tally->calendar));
        for (uint32_t i = 0; tally->calendar && i < limits->what.n; i++)
            tally->calendar[i] = NO_CALENDAR;
    }
    if (!tally->calendar)
        return -1;
    if (tally->calendar[what] != NO_CALENDAR)
        return 0;
    int rc = limits_grow(&grown, &limits->cap_calendars, n, sizeof(*limits->calendar));
    limits->calendar = grown;
    if (rc < 0)
        return -1;
    struct calendar *calendar = &limits->calendar[n];
    *calendar = (struct calendar){0};
    if (side->whose == SCHED_OF_DIVISION || side->whose == SCHED_OF_ACCOUNT) {
        calendar->of_queue = calloc(limits->setup->n_queues, sizeof(*calendar->of_queue));
        if (!calendar->of_queue)
            return -1;
    }
    if (profile_init(&calendar->profile, before_all) < 0) {
        free(calendar->of_queue);
        return -1;
    }
    tally->calendar[what] = n;
    limits->n_calendars++;
    return 0;
}

/* Hold both ends of a window in a calendar. Returns 0, or -1 with ENOMEM and nothing changed. */
static int hold_ends(struct limits *limits, const struct side *side, uint32_t what,
                     const struct limits_nodes *nodes, struct limits_window window)
{
    struct tally *tally = side->tally;
    if (make_calendar(limits, side, what) < 0)
        return -1;
    struct profile *calendar = &limits->calendar[tally->calendar[what]].profile;
    if (profile_book(calendar, window.from, window.until, 0) < 0)
        return -1;
    if (what != limits->node || shared_open(&tally->shared, nodes, window) == 0)
        return 0;
    profile_unbook(calendar, window.from, window.until, 0);
    errno = ENOMEM;
    return -1;
}

static void drop_ends(struct limits *limits, struct tally *tally, uint32_t what,
                      const struct limits_nodes *nodes, struct limits_window window)
{
    profile_unbook(&limits->calendar[tally->calendar[what]].profile, window.from, window.until, 0);
    if (what == limits->node)
        shared_close(&tally->shared, nodes, window);
}

int limits_open(struct limits *limits, uint32_t party, struct limits_window window,
                const struct limits_nodes *nodes)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].whats->n; i++) {
            if (hold_ends(limits, &side[s], side[s].whats->v[i], nodes, window) == 0)
                continue;
            for (size_t k = 0; k <= s; k++)
                for (uint32_t j = 0; j < (k < s ? side[k].whats->n : i); j++)
                    drop_ends(limits, side[k].tally, side[k].whats->v[j], nodes, window);
            errno = ENOMEM;
            return -1;
        }
    return 0;
}

void limits_close(struct limits *limits, uint32_t party, struct limits_window window,
                  const struct limits_nodes *nodes)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].whats->n; i++)
            drop_ends(limits, side[s].tally, side[s].whats->v[i], nodes, window);
}

/* Enter a job `sign` times. */
static void enter_in_calendars(struct limits *limits, uint32_t party, struct limits_window window,
                               limits_amount_f *amount, void *arg, const struct limits_nodes *nodes,
                               int64_t sign)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].whats->n; i++) {
            uint32_t what = side[s].whats->v[i];
            struct profile *calendar = &limits->calendar[side[s].tally->calendar[what]].profile;
            int64_t more = takes(limits, what, window.jobs, amount, arg);
            if (nodes && what == limits->node) {
                shared_add(&side[s].tally->shared, nodes, window, calendar, sign);
                more -= nodes->n;
            }
            if (more != 0)
                profile_add(calendar, window.from, window.until, sign * more);
        }
}

void limits_add(struct limits *limits, uint32_t party, struct limits_window window,
                limits_amount_f *amount, void *arg, const struct limits_nodes *nodes)
{
    enter_in_calendars(limits, party, window, amount, arg, nodes, 1);
}

void limits_sub(struct limits *limits, uint32_t party, struct limits_window window,
                limits_amount_f *amount, void *arg, const struct limits_nodes *nodes)
{
    enter_in_calendars(limits, party, window, amount, arg, nodes, -1);
}

struct limits_promises *limits_promises(const struct limits *limits, uint32_t calendar,
                                        uint32_t queue)
{
    struct calendar *c = &limits->calendar[calendar];
    return c->of_queue ? &c->of_queue[queue] : &c->promises;
}

static const char *account_of(const struct limits *limits, const struct side *side)
{
    return side->account == SETUP_NONE ? ""
                                       : intern_text(&limits->setup->accounts.names, side->account);
}

uint32_t limits_calendar(const struct limits *limits, uint32_t party,
                         const struct sched_reason_limit *limit)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].rules->n; i++) {
            const struct rule *rule = &side[s].rules->v[i];
            bool is_other =
                limit->account && strcmp(limit->account, account_of(limits, &side[s])) != 0;
            if (side[s].whose == limit->whose && !is_other && rule->most == limit->most &&
                (rule->what == RUNNING || rule->what >= RESOURCE) &&
                strcmp(intern_text(&limits->what, rule->what), limit->what) == 0)
                return limits_calendar_of(side[s].tally, rule->what);
        }
    return NO_CALENDAR;
}

bool limits_count_in(const struct limits *limits, uint32_t party, uint32_t calendar)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].whats->n; i++)
            if (limits_calendar_of(side[s].tally, side[s].whats->v[i]) == calendar)
                return true;
    return false;
}

bool limits_calendar_check(const struct limits *limits, const struct calendar *calendar)
{
    struct profile_cursor c;
    bool fine = profile_check(&calendar->profile) && calendar->promises.n >= 0;
    for (uint32_t i = 0; calendar->of_queue && i < limits->setup->n_queues; i++)
        fine = fine && calendar->of_queue[i].n >= 0;
    profile_seek(&c, &calendar->profile, INT64_MIN / 2);
    do
        fine = fine && profile_cursor_load(&c) >= 0;
    while (fine && profile_next(&c));
    return fine;
}
