/* The state of a vertex: what is taken of it when. A vertex of which nothing was ever taken has no state.
 *
 * `users` counts the jobs that use the vertex or something below it: a job counts 1, a job that has the
 * vertex to itself counts STATE_EXCLUSIVE. So a window in which the load is 0 is free for any job, and
 * one in which it is below STATE_EXCLUSIVE may be shared. A job that shares a node, but has each thing in it to itself,
 * counts STATE_FULL more there, and nothing in what is in the node: of that nothing is free where the node's load is
 * STATE_FULL or more (match_load).
 */
#ifndef MATCH_STATE_H
#define MATCH_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bounds.h"
#include "planner/profile.h"

#define STATE_EXCLUSIVE (INT64_C(1) << 46)
#define STATE_FULL      (INT64_C(1) << 26)

/* The order in which first-fit policies look at a vertex's children. */
struct weight {
    uint64_t weight;
    int64_t uniq_id;
    uint32_t child; /* vertex */
};

/* A window in which a child is known to be full: nothing of it is free (FULL_FOR_ALL), it is not free as
 * a whole (FULL_FOR_ONE), or at most `left` is free of a type that it counts. Empty if nothing is known.
 * And what one search for a time has found out: before when there is nothing in the child for its job.
 */
enum { FULL_FOR_ALL = -1, FULL_FOR_ONE = -2 };
struct full_window {
    int64_t at, end;
    int32_t number; /* number of the pruning type, or FULL_FOR_... */
    uint32_t level; /* of the job's request, of which a search knows that there is nothing yet */
    int64_t left;   /* units of that type that are free at most */
    uint64_t search;
    int64_t none_before;
};

/* What all of FULL_BLOCK children next to each other are known to be full for, so that they are passed over at once. Worked
 * out anew when it is asked for after a change of one of them. What rules out all is what rules out each: a window that
 * overlaps all of theirs, and a request that none has enough for.
 */
struct full_block {
    bool is_known;      /* else it is to be worked out */
    bool any_for_one;   /* some are FULL_FOR_ONE, */
    bool any_divisible; /* and of these one is divisible, or has its own type below it */
    int32_t number;  /* of those that are full for a pruning type; FULL_FOR_ALL: there are none */
    int64_t left;    /* the most of that type that is free of one of them */
    int64_t at, end; /* the latest at, the earliest end; empty if nothing is known of some child */
};

/* Of a vertex that has others below it, or is a pool. A core has none of it. */
struct state_below {
    struct profile units; /* of a divisible pool: units taken */
    /* by index in the vertex's prune_list: units taken below; NULL: none yet */
    struct profile *counts;
    uint32_t n_counts;
    uint32_t n_counted; /* jobs that are booked in counts */
    /* of a node: those that share it and have each thing in it to themselves */
    uint32_t n_filled_allocated, n_filled_reserved;
    /* its children in the order to look at them; NULL: by descending unique id */
    struct weight *weight;
    struct full_window *full;      /* by child; NULL: nothing is known of any */
    struct full_block *full_block; /* of each FULL_BLOCK children, where there is `full` */
    uint32_t n_weights;
};

struct state {
    struct profile users; /* has no root before there are two bookings at a time */
    union {
        /* without a root: the only booking and its load; empty: there is none */
        struct {
            int64_t at, end, load;
        } only;
        /* with one: a time during which a job is known to have it to itself; empty: nothing is known */
        struct {
            int64_t at, end;
        } taken;
    };
    uint32_t n_allocated; /* allocations that have it to themselves */
    uint32_t n_reserved;  /* reservations that have it to themselves */
    /* a bit for each block that contains anything in its subtree, itself included */
    uint64_t blocks_below;
    /* a bit for each block that contains the vertex itself (book/blocks.h) */
    uint64_t blocks;
    struct state_below *below; /* NULL: all of it is zero */
    uint32_t n_jobs;           /* allocations that hold it or something below it */
    uint32_t n_down;           /* vertices in its subtree that are down, itself included */
    uint32_t given_back;       /* so often something of it was given back, or came up */
    /* its index + 1 among its parent's children, if something is in the parent's `full`; else 0 */
    uint32_t place;
};

/* That of a vertex, or all zero; s may be NULL. */
static inline const struct state_below *state_below(const struct state *s)
{
    static const struct state_below nothing;

    return s && s->below ? s->below : &nothing;
}

/* The largest load of `users` during [at, end); s may be NULL. */
static inline int64_t state_load(const struct state *s, int64_t at, int64_t end)
{
    if (!s)
        return 0;
    if (!s->users.root)
        return s->only.at < end && at < s->only.end ? s->only.load : 0;
    return s->users.n > 1 ? profile_max(&s->users, at, end) : 0;
}

/* Whether it was noted that a job has it to itself at some time of [at, end). */
static inline bool state_is_known_taken(const struct state *s, int64_t at, int64_t end)
{
    return s->users.root && s->taken.at < end && at < s->taken.end;
}

/* `users` as a profile, in the caller's view where there is none. */
const struct profile *state_users(const struct state *s, struct profile_view *view);

/* Count a load in `users` during [at, end), or take it away again. Returns 0, or -1 with ENOMEM and nothing
 * changed. And change what is counted of one that is booked there.
 */
int state_book_load(struct state *s, int64_t at, int64_t end, int64_t load);
void state_unbook_load(struct state *s, int64_t at, int64_t end, int64_t load);
void state_add_load(struct state *s, int64_t at, int64_t end, int64_t delta);

/* The largest count of the i-th type of the vertex's prune_list during [at, end); s may be NULL. */
static inline int64_t state_count(const struct state *s, uint32_t i, int64_t at, int64_t end)
{
    const struct profile *counts = state_below(s)->counts;

    return counts && counts[i].n > 1 ? profile_max(&counts[i], at, end) : 0;
}

/* Add an amount to a profile during [at, end), or take it away again. Returns 0, or -1 with ENOMEM and
 * nothing changed.
 */
int state_book(struct profile *p, int64_t at, int64_t end, int64_t amount);
void state_unbook(struct profile *p, int64_t at, int64_t end, int64_t amount);

/* Make the profiles of n counted types if there are none yet. Returns 0, or -1 with ENOMEM. */
int state_need_counts(struct state_below *b, uint32_t n);

/* Free what it has, but not itself; s may be NULL. */
void state_clear(struct state *s);

bool state_check(const struct state *s);

#endif
