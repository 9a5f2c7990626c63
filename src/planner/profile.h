/* A load profile: how much of something is taken at each instant, as a step function of time.
 *
 * A profile is an ordered set of points. A point's load lasts from its time to the next point's; the last
 * point's lasts for ever. Points are counted: profile_hold makes a point or shares it, profile_drop
 * releases it, and a point without holders is removed. So there are points exactly where callers put
 * them, even where the load does not change; planner.h promises this of candidate times.
 *
 * The profile is a B+ tree. For each child, an inner node has the largest and smallest load below it, and
 * an addition that applies to everything below it and is never pushed down: a load is what is stored plus
 * the additions on the way to it. With n points, every call is O(log n), however many points it covers. A
 * cursor moves on from where it is and climbs only as far as it must, so a gap of a few points costs a
 * few comparisons.
 *
 * Nodes grow from a dozen entries to NODE_MAX, so that a small profile is a single small allocation.
 */
#ifndef PLANNER_PROFILE_H
#define PLANNER_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_NODE_MAX   64 /* entries in a node */
#define PROFILE_HEIGHT_MAX 16 /* levels above the leaves; at a quarter full, 16^16 leaves */

/* What is in it is for those who walk a profile and change it (profile_node.h). */
struct profile_node {
    uint32_t n;
    uint32_t cap;
    int64_t word[]; /* of a leaf: `cap` times, as many loads */
};

struct profile {
    struct profile_node *root;
    uint32_t height; /* levels of inner nodes above the leaves */
    uint32_t n;      /* points */
};

/* Make a profile with one point, at base, held once, with load 0. Returns 0, or -1 with ENOMEM. */
int profile_init(struct profile *p, int64_t base);

/* The same with a booking (profile_book), in one go. */
int profile_init_booked(struct profile *p, int64_t base, int64_t from, int64_t to, int64_t count);

/* Free all points. */
void profile_clear(struct profile *p);

/* Make *to a copy of *from. Returns 0, or -1 with ENOMEM and *to untouched. O(n). */
int profile_copy(struct profile *to, const struct profile *from);

/* Hold the point at `at`. If there is none, make one with the load of the point before it; `at` must not
 * be before the first point. Returns 0, or -1 with ENOMEM and nothing changed.
 */
int profile_hold(struct profile *p, int64_t at);

/* Undo one profile_hold of the point at `at`, which must exist. The last one removes the point, whose
 * load must then equal that of the point before it.
 */
void profile_drop(struct profile *p, int64_t at);

/* Add delta to the load of all points in [from, to); both must be points. */
void profile_add(struct profile *p, int64_t from, int64_t to, int64_t delta);

/* Take `count` during [from, to), from < to, and hold the points at both ends; or undo that. `from` must
 * not be before the first point. Booking returns 0, or -1 with ENOMEM and nothing changed.
 */
int profile_book(struct profile *p, int64_t from, int64_t to, int64_t count);
void profile_unbook(struct profile *p, int64_t from, int64_t to, int64_t count);

/* Move a booking of `count` during [old, old + duration) to an earlier start. Returns 0, or -1 with
 * ENOMEM and nothing changed.
 */
int profile_advance(struct profile *p, int64_t old, int64_t duration, int64_t start, int64_t count);

/* The load at time `at`, which must not be before the first point. */
int64_t profile_at(const struct profile *p, int64_t at);

/* The largest load during [from, to), from < to, `from` not before the first point. */
int64_t profile_max(const struct profile *p, int64_t from, int64_t to);

/* A position in a profile; invalid after any change of the profile. */
struct profile_cursor {
    const struct profile *profile;
    struct {
        const struct profile_node *node;
        uint32_t i;
        int64_t sum; /* additions above this node's entries */
    } path[PROFILE_HEIGHT_MAX];
    const struct profile_node *leaf;
    uint32_t i;
    int64_t sum;
};

/* Put the cursor on the last point that is not after `at`. */
void profile_seek(struct profile_cursor *c, const struct profile *p, int64_t at);

/* Move to the next point; false at the end, where the cursor stays. And the same from the last point of a leaf. */
bool profile_next_leaf(struct profile_cursor *c);

static inline bool profile_next(struct profile_cursor *c)
{
    if (c->i + 1 == c->leaf->n)
        return profile_next_leaf(c);
    c->i++;
    return true;
}

static inline int64_t profile_cursor_time(const struct profile_cursor *c)
{
    return c->leaf->word[c->i];
}

static inline int64_t profile_cursor_load(const struct profile_cursor *c)
{
    return (int64_t)((uint64_t)c->leaf->word[c->leaf->cap + c->i] + (uint64_t)c->sum);
}

uint32_t profile_cursor_holds(const struct profile_cursor *c);

/* Move to the first point, starting with this one, whose load is over limit. False if there is none
 * before time `stop`; the cursor's position is then undefined.
 */
bool profile_next_over(struct profile_cursor *c, int64_t limit, int64_t stop);

/* Find the first window of a duration, from the cursor's point on, throughout which the load is at most
 * limit. The window must begin before `stop`; from `stop` on the load counts as 0. It begins at a point,
 * or at `from` if the cursor's point is before that. Returns false if there is none, else its start in
 * *at. The cursor's position is undefined afterwards. O((g + 1) log n) for g gaps that are too short; a
 * short gap costs what its own points cost.
 */
bool profile_fit(struct profile_cursor *c, int64_t from, int64_t duration, int64_t limit,
                 int64_t stop, int64_t *at);

/* True if profile_fit would find a window, with these arguments and a cursor at `from`. It looks for the
 * last instants that rule out windows, and each rules out a whole duration: O((1 + w / duration) log n)
 * with w = stop - from, however many gaps there are.
 */
bool profile_fits(const struct profile *p, int64_t from, int64_t duration, int64_t limit,
                  int64_t stop);

/* True if the points are in order, and the nodes are right about their children and neither too full nor
 * too empty. For tests.
 */
bool profile_check(const struct profile *p);

/* A profile in the caller's storage, for a step function of at most PROFILE_VIEW_MAX points that is asked
 * a question and thrown away. Times must ascend.
 */
#define PROFILE_VIEW_MAX 9
struct profile_view {
    struct profile profile;
    int64_t storage[1 + 3 * PROFILE_VIEW_MAX];
};
void profile_view_init(struct profile_view *view);
void profile_view_push(struct profile_view *view, int64_t at, int64_t load, uint32_t holds);

#endif
