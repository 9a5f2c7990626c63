/* A load profile: how much is taken of something at each instant, as a step function of time.
 *
 * A profile is an ordered set of points. A point's load holds from its time until the next point's, the last
 * one's for ever. Points are counted: profile_hold makes one or shares it, profile_drop gives it back, and a
 * point that nobody holds is gone. So points stand exactly where a caller put them, even where the load does
 * not change, which is what planner.h promises of candidate times.
 *
 * It is a B+ tree. Inner nodes carry, for each child, the largest and smallest load below it and an addition
 * that applies to all below it and is never pushed down: a value is what is stored plus the additions on the
 * way to it. With n points, every call is O(log n), however many points it covers. A cursor moves on from
 * where it stands and climbs only as far as it must, so that a gap of a few points costs a few comparisons.
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

struct profile_node;

struct profile {
    struct profile_node *root;
    uint32_t height; /* levels of inner nodes above the leaves */
    size_t n;        /* points */
};

/* A profile with one point, at base, held once, with load 0. Returns 0, or -1 with ENOMEM. */
int profile_init(struct profile *p, int64_t base);

/* Free all points. */
void profile_clear(struct profile *p);

/* Make *to a copy of *from. Returns 0, or -1 with ENOMEM and *to untouched. O(n). */
int profile_copy(struct profile *to, const struct profile *from);

/* Hold the point at `at`, made with the load of the one before it if there is none; `at` must not lie before
 * the first point. Returns 0, or -1 with ENOMEM and nothing changed.
 */
int profile_hold(struct profile *p, int64_t at);

/* Undo one profile_hold of the point at `at`, which must exist. The last one removes the point; its load
 * must by then be that of the point before it.
 */
void profile_drop(struct profile *p, int64_t at);

/* Add delta to the load of all points in [from, to); both must be points. */
void profile_add(struct profile *p, int64_t from, int64_t to, int64_t delta);

/* Take `count` during [from, to), from < to, holding the point at either end; from must not lie before
 * the first point. Returns 0, or -1 with ENOMEM and nothing changed. And give it back.
 */
int profile_book(struct profile *p, int64_t from, int64_t to, int64_t count);
void profile_unbook(struct profile *p, int64_t from, int64_t to, int64_t count);

/* Move what takes `count` during [old, old + duration), held at both ends, to an earlier start, held
 * there instead. Returns 0, or -1 with ENOMEM and nothing changed.
 */
int profile_advance(struct profile *p, int64_t old, int64_t duration, int64_t start, int64_t count);

/* Load at time `at`, which must not lie before the first point. */
int64_t profile_at(const struct profile *p, int64_t at);

/* Largest load during [from, to), from < to, from not before the first point. */
int64_t profile_max(const struct profile *p, int64_t from, int64_t to);

/* A place in a profile; any change of the profile ends its validity. */
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

/* Put the cursor on the point that holds at time `at`: the last one that is not after it. */
void profile_seek(struct profile_cursor *c, const struct profile *p, int64_t at);

/* Move to the next point; false at the end, where the cursor stays. */
bool profile_next(struct profile_cursor *c);

int64_t profile_cursor_time(const struct profile_cursor *c);
int64_t profile_cursor_load(const struct profile_cursor *c);
uint32_t profile_cursor_holds(const struct profile_cursor *c);

/* Move to the first point, this one included, whose load is over limit; false if there is none before time
 * `stop`, and then the cursor's place is undefined.
 */
bool profile_next_over(struct profile_cursor *c, int64_t limit, int64_t stop);

/* From the cursor's point on, the first time at which a window of the given duration begins that has a load
 * of at most limit throughout, as long as the window begins before `stop`; the load from `stop` on counts as
 * none. A window begins at a point, or at `from` where the cursor's point lies before that. Returns false if
 * there is none; otherwise its time is in *at. The cursor's place is undefined afterwards. O((g + 1) log n)
 * for g gaps that are too short, a short one costing what its own points cost.
 */
bool profile_fit(struct profile_cursor *c, int64_t from, int64_t duration, int64_t limit,
                 int64_t stop, int64_t *at);

/* True if profile_fit with these arguments, from a cursor at `from`, would find a window. Looks at the last
 * instants that rule windows out, each of which does so for a whole duration: with w = stop - from,
 * O((1 + w / duration) log n), however many gaps there are.
 */
bool profile_fits(const struct profile *p, int64_t from, int64_t duration, int64_t limit,
                  int64_t stop);

/* True if the points are in order, what nodes say of their children is right and occupancy is in bounds. */
bool profile_check(const struct profile *p);

/* A profile over storage of the caller's, for step functions of at most PROFILE_VIEW_MAX points that are
 * made to be asked and thrown away. Times must ascend.
 */
#define PROFILE_VIEW_MAX 9
struct profile_view {
    struct profile profile;
    int64_t storage[1 + 3 * PROFILE_VIEW_MAX];
};
void profile_view_init(struct profile_view *view);
void profile_view_push(struct profile_view *view, int64_t at, int64_t load, uint32_t holds);

#endif
