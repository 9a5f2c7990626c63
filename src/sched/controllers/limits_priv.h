/* What the files of limits.h share. */
#ifndef SCHED_LIMITS_PRIV_H
#define SCHED_LIMITS_PRIV_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/strbuf.h"
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

/* What holds for a user: terms[0] for most, terms[i + 1] for those of exception i. */
struct terms {
    struct rules job;
    struct rules user;
};

struct tally {
    int64_t pending;
    int64_t running;
    int64_t *held; /* by type; NULL: nothing ran yet. Only what its queue measures is counted */
    int64_t last_decrease; /* number of the last one of what it counts; 0: none yet */
};

struct line {
    struct terms *terms;
    struct rules rules;
    uint32_t *measured; /* types of the user and queue rules, and of the parent's queue rules */
    uint32_t n_measured;
    struct tally tally;
};

struct account {
    uint32_t queue;
    uint32_t holder;
    const struct terms *terms;
};

struct limits {
    const struct setup *setup;
    struct arena arena;    /* what the lines lead to */
    struct intern what;    /* RUNNING and so on, then types */
    struct line *line;     /* of each queue */
    struct intern holders; /* queue and user */
    struct tally *tally;   /* of each holder */
    uint32_t tallies;
    struct intern names; /* queue, terms and user: accounts */
    struct account *account;
    uint32_t accounts;
    struct strbuf key;
    int64_t decreases; /* of tallies so far */
};

/* Resolve the rules of all queues. limits->setup is set, and all else empty. Returns 0, or -1 with part of
 * it done.
 */
int limits_make_lines(struct limits *limits);

#endif
