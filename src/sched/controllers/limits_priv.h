/* What the files of limits.h share. */
#ifndef SCHED_LIMITS_PRIV_H
#define SCHED_LIMITS_PRIV_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "berth/sched_config.h"
#include "planner/profile.h"
#include "sched/controllers/limits.h"

/* What is limited, as a number: these, and resource types from RESOURCE on. */
enum { RUNNING, PENDING, DURATION, RESOURCE };

struct rule {
    uint32_t what;
    int64_t most; /* never SCHED_UNLIMITED: such rules are left out */
};

struct rules {
    struct rule *v;
    uint32_t n;
};

/* RUNNING and types from RESOURCE on, each once. */
struct whats {
    uint32_t *v;
    uint32_t n;
};

/* What a virtual queue leaves to its parent, for a user under some terms of that. */
struct above {
    const struct above *next; /* of the same terms of the virtual queue */
    uint32_t terms;           /* of the parent */
    struct rules rules;
    struct whats whats; /* the calendars there in which its jobs count */
    bool has_pending;   /* and pending jobs, too */
};

/* What holds for a user: terms[0] for most, terms[i + 1] for those of exception i. */
struct terms {
    struct rules job;
    struct rules user;         /* of a virtual queue: what it names itself */
    const struct above *above; /* that have been needed */
};

/* What is held when: of one thing, by a user in a queue, by a queue, by the queues of a division, or by an account. */
struct calendar {
    struct profile profile;
    struct limits_promises promises;
    struct limits_promises *of_queue; /* of a division or an account instead, by queue; else NULL */
};

/* A node that jobs of one holder share with others: how many of them hold it when. */
struct shared_node {
    uint32_t node;
    uint32_t users; /* windows that are open */
    struct profile profile;
};

/* In ascending order. */
struct shared {
    struct shared_node *v;
    uint32_t n, cap;
};

struct tally {
    struct shared shared; /* if nodes are limited */
    int64_t pending;
    int64_t
        covered; /* pending jobs of virtual queues that the limits of their parent's user cover */
    uint32_t *calendar;    /* by what; NULL: nothing was entered yet */
    int64_t last_decrease; /* number of the last one of what it counts; 0: none yet */
    uint64_t giving;       /* limits.giving when `giver` was counted */
    struct limits_giver giver;
};

/* A division, or an account, that holds its jobs to something: no more of it is of interest here. */
struct held {
    struct rules rules;
    struct whats whats; /* what the rules name */
    struct tally tally;
};

struct line {
    struct terms *terms;
    size_t n_terms;
    struct rules rules;
    struct whats of_user;  /* what the user rules of any terms name: its users' calendars */
    struct whats of_queue; /* what the queue rules name */
    bool is_measured;      /* types are among these, or among those of the parent */
    struct tally tally;
    uint32_t
        *division; /* those that it is part of and that hold it to something, inner ones first */
    uint32_t n_divisions;
};

struct party {
    uint32_t queue;
    uint32_t holder;
    uint32_t above_holder;     /* of a virtual queue: the user in its parent, */
    const struct above *above; /* and what is limited there; else NULL */
    uint32_t account;          /* SETUP_NONE */
    const struct terms *terms;
};

struct limits {
    const struct setup *setup;
    struct arena arena; /* what the lines lead to */
    struct intern what; /* RUNNING and so on, then types */
    struct line *line;  /* of each queue */
    struct held *division;
    uint32_t n_divisions;
    struct held *account;       /* of each account; NULL: none is limited */
    bool are_accounts_measured; /* a type of resources is */
    struct intern holders;      /* queue and user */
    struct tally *tally;        /* of each holder */
    uint32_t tallies;
    struct intern names; /* queue, account, terms and user: parties */
    struct party *party;
    uint32_t parties;
    struct strbuf key;
    uint32_t node;     /* what "node" is; UINT32_MAX: nobody limits that */
    int64_t decreases; /* of tallies so far */
    uint64_t giving;   /* when it was counted who may be stopped; 0: never */
    struct calendar *calendar;
    uint32_t n_calendars, cap_calendars;
};

/* The tallies that a job counts in, with the rules that hold for each and what each has calendars of. */
struct side {
    enum sched_whose whose;
    const struct rules *rules;
    const struct whats *whats;
    struct tally *tally;
    uint32_t account; /* SETUP_NONE, unless it is an account's */
};

enum { SIDES_MAX = 4 + SCHED_DIVISION_LEVELS + SCHED_ACCOUNT_LEVELS };

/* The sides of a party, and their number. */
size_t limits_sides(const struct limits *limits, uint32_t party, struct side side[SIDES_MAX]);

/* Say which rule it is that a job is over; false, so that an answer can end with it. */
bool limits_refuse(const struct limits *limits, const struct side *side, const struct rule *rule,
                   struct sched_reason_limit *over);

/* The calendar of something that a tally counts; NO_CALENDAR. */
uint32_t limits_calendar_of(const struct tally *tally, uint32_t what);

/* ---- limits_nodes.c ---- */

/* Have a window's ends in the profiles of nodes (NULL: none), or give them up. Returns 0, or -1 with ENOMEM
 * and nothing changed.
 */
int shared_open(struct shared *s, const struct limits_nodes *nodes, struct limits_window window);
void shared_close(struct shared *s, const struct limits_nodes *nodes, struct limits_window window);

/* A job has these nodes during a window, or (sign -1) no more: in the profiles, and in the calendar of
 * nodes.
 */
void shared_add(struct shared *s, const struct limits_nodes *nodes, struct limits_window window,
                struct profile *calendar, int64_t sign);

/* Whether a holder may have these nodes beside what it has, and `alone` that nobody else has, during a
 * window; and the first time from which on, in [window.from, before), for as long; INT64_MAX: there is none.
 */
bool shared_fits(const struct shared *s, const struct profile *calendar, int64_t most,
                 const struct limits_nodes *nodes, int64_t alone, struct limits_window window);
int64_t shared_when(const struct shared *s, const struct profile *calendar, int64_t most,
                    const struct limits_nodes *nodes, int64_t alone, struct limits_window window,
                    int64_t before);

void shared_clear(struct shared *s);
bool shared_check(const struct shared *s);

/* True if a calendar is in order and nothing in it is below 0. */
bool limits_calendar_check(const struct limits *limits, const struct calendar *calendar);

void limits_calendar_clear(struct calendar *calendar);

/* Room for one more in a list. Returns 0, or -1 with ENOMEM. */
int limits_grow(void **v, uint32_t *cap, uint32_t n, size_t size);

/* Resolve the rules of all queues. limits->setup is set, and all else empty. Returns 0, or -1 with part of
 * it done.
 */
int limits_make_lines(struct limits *limits);

/* Resolve what divisions hold their queues to, and have each line know its own (limits_divisions.c). The lines
 * are there. Returns 0, or -1 with ENOMEM and part of it done.
 */
int limits_make_divisions(struct limits *limits);

/* Resolve what accounts hold their jobs to. Returns 0, or -1 with ENOMEM and part of it done. */
int limits_make_accounts(struct limits *limits);

/* The rules of a list. Returns 0, or -1 with ENOMEM. */
int limits_make_rules(struct limits *limits, struct rules *rules, const struct sched_limit *list,
                      size_t n);

/* Add what rules have calendars of to a list, in which there is room for all that is limited. */
void limits_name(struct whats *whats, const struct rules *rules);

/* Whether a type of resources is among these. */
bool limits_has_types(const struct whats *whats);

/* What a virtual queue leaves to its parent, for a user under these terms of the one and of the other.
 * NULL with ENOMEM.
 */
const struct above *limits_above(struct limits *limits, uint32_t queue, uint32_t terms,
                                 uint32_t of_parent);

#endif
