/* How full vertices are, and how evenly, and the order of children by that: for the policies pack, spread and balance.
 *
 * A vertex is as full as jobs hold of it: of each type that its pruning filter counts (cores, unless filters say more), what
 * they hold over what there is, in millionths, rounded down; and the sum of these over the types. It is known of what
 * allocations hold, and of what is promised by reservations, whatever their times: the calendars are not asked, so nothing
 * becomes fuller or emptier as time passes, but by a booking alone. What is lifted counts as nothing.
 *
 *     full(v)   = sum over types of floor (10^6 * held / total)        of allocations; promised(v) likewise
 *     part(v)   = floor (10^6 * held / total) + floor (10^6 * wanted / total)   for each type of which there is any
 *     use(v)    = sum over types of part(v)
 *     uneven(v) = floor (sqrt (n * sum of part(v)^2 - (sum of part(v))^2))      for n types, parts over 10^6 as 10^6
 *
 * `wanted` is what one piece of the request wants below v at least. For one type, use(v) is the score of Volcano's plugin
 * binpack, (used + request) / allocatable with equal weights, and mostrequested of kube-batch's plugin nodeorder; less than
 * all, it is leastrequested turned round. There only types that are requested count, in hundredths or tenths. uneven(v) is n
 * times the standard deviation of the parts, of two types what is between them: balancedresource turned round.
 *
 * Children whose use(v) is over 10^6 for each type have no room now, and come after the others. Then those are preferred
 * whose score is larger under pack, smaller under spread and balance: by weights that the policy has, all 1 under its name,
 *
 *     pack    by_use * use(v) - by_balance * uneven(v)
 *     spread  by_use * use(v) + by_balance * uneven(v)        balance: by_use is 0
 *
 * Of equal scores pack prefers the more, the others the less promised(); then the smaller id; then the order of vertices.
 *
 * Children of the same type and size are a group, a tree in that order, which no request changes: a booking moves a child in
 * it, O(log children) expected; a walk merges the groups, O(log groups) a child after O(groups + log children). How even a
 * child is, a request does change: where that weighs, children that count several types are a group each, as all are if
 * nothing else weighs. Children that count nothing are in no group. All but a walk is made with the matcher: no booking needs
 * memory.
 */
#ifndef MATCH_FILL_H
#define MATCH_FILL_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct hold;
struct job;
struct match;
struct request;

#define FILL_NONE    UINT32_MAX
#define FILL_OF_TYPE 1000000 /* the score of a vertex of whose only type all is held */

/* A vertex that has children. */
struct fill {
    int64_t full, promised;
    uint32_t vertex;
    uint32_t group;            /* FILL_NONE: none */
    uint32_t up, left, right;  /* in the tree of its group */
    uint32_t groups, n_groups; /* those of its children, which lie next to each other */
    uint32_t n_grouped;        /* children that are in one of them */
};

struct fills {
    uint32_t *of; /* by vertex: its fill, or FILL_NONE; NULL: the policy asks for none */
    struct fill *v;
    uint32_t n;
    int64_t
        *held; /* by fill, then by index in its prune_list: of allocations, then of reservations */
    uint32_t *root; /* by group: of its tree */
};

/* Make them for a matcher that has no jobs, if its policy goes by them. Returns 0, or -1 with ENOMEM.
 * O(vertices log vertices).
 */
int fills_make(struct match *m);
void fills_clear(struct fills *f);

/* Add what a job counts by a hold, or take it away again. O(log children) expected. */
void fills_note(struct match *m, const struct job *job, const struct hold *h, int sign);

/* A walk over children in their order, those in no group last. Nothing is booked meanwhile. */
struct fill_walk {
    const struct match *m;
    struct fill_head *head; /* a heap: where each group has got to */
    uint32_t n, parent, next;
};

/* Begin one for a request whose pieces are looked for in or below v's children. Returns 0, or -1 with ENOMEM. */
int fill_walk_begin(struct fill_walk *walk, struct match *m, uint32_t v, const struct request *q);

/* The next child; false at the end. */
bool fill_walk_next(struct fill_walk *walk, uint32_t *child);

/* True if all this is as a count of all holds says. For tests. */
bool fills_check(const struct match *m);

#endif
