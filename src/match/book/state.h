/* What is taken of a vertex when. A vertex that nothing has ever been taken of has no state.
 *
 * `users` counts who uses the vertex or something below it: each job counts 1, a job that has it to
 * itself counts STATE_EXCLUSIVE. So a window with no load is free for anybody, and one below
 * STATE_EXCLUSIVE may be shared.
 */
#ifndef MATCH_STATE_H
#define MATCH_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "planner/profile.h"

#define STATE_EXCLUSIVE (INT64_C(1) << 40)

/* The order in which policies that take what is found first look at a vertex's children. */
struct weight {
    uint64_t weight;
    int64_t uniq_id;
    uint32_t child; /* vertex */
};

/* Where it is known, a time during which nothing of a child is free, or little of a type that it counts,
 * or not all of it; else empty.
 */
enum { FULL_FOR_ALL = -1, FULL_FOR_ONE = -2 };
struct full_window {
    int64_t at, end;
    int32_t number; /* of the pruning type, or of those */
    int64_t left;   /* that much of it is free at most */
};

struct state {
    struct profile users;
    struct profile units; /* of a divisible pool: units taken */
    /* by place in the vertex's prune_list: units taken below; NULL: none yet */
    struct profile *counts;
    uint32_t n_counts;
    uint32_t n_allocated;  /* jobs that have it to themselves, from now on */
    uint32_t n_reserved;   /* or from later on */
    uint32_t n_jobs;       /* jobs that hold it or something below it from now on */
    uint32_t n_counted;    /* jobs booked in counts */
    uint32_t n_down;       /* vertices of its subtree that are down, itself included */
    uint64_t blocks;       /* blocks that the vertex itself belongs to, by number (book/blocks.h) */
    uint64_t blocks_below; /* or anything of its subtree, itself included */
    /* of its children, the first to look at first; NULL: by descending unique id */
    struct weight *weight;
    uint32_t n_weights;
    struct full_window *full; /* of its children; NULL: nothing is known */
    /* among its parent's children from 1, where something is known of it there; else 0 */
    uint32_t place;
};

/* Largest number of users during [at, end); s may be NULL. */
static inline int64_t state_load(const struct state *s, int64_t at, int64_t end)
{
    return s && s->users.n > 1 ? profile_max(&s->users, at, end) : 0;
}

/* Largest count of the i-th type of the vertex's list during [at, end). */
static inline int64_t state_count(const struct state *s, uint32_t i, int64_t at, int64_t end)
{
    return s && s->counts && s->counts[i].n > 1 ? profile_max(&s->counts[i], at, end) : 0;
}

/* Book during [at, end), or give back. Returns 0, or -1 with ENOMEM and nothing changed. */
int state_book(struct profile *p, int64_t at, int64_t end, int64_t amount);
void state_unbook(struct profile *p, int64_t at, int64_t end, int64_t amount);

/* Profiles for n counted types, if there are none yet. Returns 0, or -1 with ENOMEM. */
int state_need_counts(struct state *s, uint32_t n);
void state_drop_counts(struct state *s);

void state_destroy(struct state *s);

bool state_check(const struct state *s);

#endif
