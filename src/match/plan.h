/* The matcher as a plan of bookings that name what they hold: the calls that src/place makes.
 *
 * A booking is a job of the matcher, a reservation or an allocation; both are in the same calendars. Only the
 * calendars say what is free when: unlike in match_run, an allocation whose time is over holds nothing, so a
 * job that overruns must be extended. Blocks (book/blocks.h) count in these calls, and only in these.
 */
#ifndef MATCH_PLAN_H
#define MATCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"
#include "base/strbuf.h"
#include "berth/match.h"
#include "planner/profile.h"

/* What is missing of a node for a request, from when until when. */
struct plan_lack {
    enum {
        PLAN_LACKS_NOTHING, /* or that is not known */
        PLAN_LACKS_ALL,     /* somebody has it to himself */
        PLAN_LACKS_WHOLE,   /* somebody uses it, and it is wanted whole */
        PLAN_LACKS_UNITS /* fewer than `units` are free of a type that filters count, by its number */
    } kind;
    int number;
    int64_t units;
    int64_t at, end;
};

struct plan_ask {
    const jobspec_t *spec; /* its duration is ignored */
    /* a bit for each vertex (match_part): nodes that it may have; NULL: all */
    const uint64_t *within;
    int64_t duration; /* ticks, >= 1 */
    uint64_t permits; /* a bit for each block that doesn't count */
    int64_t clear;    /* the others count for so many ticks from its start; 0: for all of them */
    /* match_plan_when skips times in whose window this is over `limit`; NULL: it skips none */
    const struct profile *calendar;
    int64_t limit;
    /* The first time in [from, before) that the caller doesn't rule out for reasons of its own, or -1 if it
     * rules out all of them; NULL: it rules out none.
     */
    int64_t (*next)(void *context, int64_t from, int64_t before);
    /* The first time on or after `at` from which a node may have something of what is asked for, for the whole
     * duration; INT64_MAX: never. If that is later, *lack says what it lacks at `at`, or soon after. NULL: any
     * node may.
     */
    int64_t (*node_from)(void *context, uint32_t node, int64_t at, struct plan_lack *lack);
    void *context;
    /* A number of the request that no other one has had: where nodes have no room is remembered (walk/no_room.h). 0: not */
    uint64_t kind;
    bool is_up; /* of match_plan_ever and match_plan_last: only what is up counts */
};

/* ---- Match ---- */

/* Match and book for [at, at + duration). Returns 0, or -1 with nothing changed: EBUSY if it is not free
 * then, EINVAL for a type that the machine doesn't have, EOVERFLOW for too many alternatives, ENOMEM.
 */
int match_plan(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t at,
               bool reservation);

/* Equal requests are matched for one time, one after the other, and nothing else becomes of the machine meanwhile; and they
 * have been. What was full for one is then passed by for the next at once: the results are the same.
 */
void match_plan_alike(struct match *m, bool begin);

/* The earliest time in [from, before) at which match_plan would succeed, or -1: ENOENT if there is none,
 * or if none was found in as many tries as the matcher has; else as match_plan.
 */
int64_t match_plan_when(struct match *m, const struct plan_ask *ask, int64_t from, int64_t before);

/* The same, and book it there. */
int64_t match_plan_first(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t from,
                         int64_t before, bool reservation);

/* How many times a search for the earliest one tries. */
uint64_t match_plan_tries(const struct match *m);

/* The first time in [from, before) that neither the calendar nor the caller rules out, or -1. */
int64_t match_plan_next(const struct match *m, const struct plan_ask *ask, int64_t from,
                        int64_t before);

/* What finds no room from `from` to this time finds none later, before `before`: by then all bookings are over that end
 * before that, and blocks that come again have done so as they always will. INT64_MAX: that is not known.
 * O(log bookings + blocks).
 */
int64_t match_plan_repeats(const struct match *m, int64_t from, int64_t before);

/* The first time after `at` at which a booking or a block begins or ends; INT64_MAX: none. */
int64_t match_plan_point(const struct match *m, int64_t at);

/* As match_plan, but nothing is booked, and the order of children (match_hints_write) does not change.
 * The job is only there to be measured (match_job_amount, match_job_nodes), until match_plan_forget,
 * which must be the next call that changes anything.
 */
int match_plan_probe(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t at);
void match_plan_forget(struct match *m, int64_t jobid);

/* Whether a request is given the first nodes that have room for it, in an order that stays, and the first of what it asks for
 * in them: so what others take of what it was not given does not change what it is given. It is so where policies go by ids
 * and each thing that is asked for is of one kind. False: it is not known. O(requests)
 */
bool match_plan_is_steady(struct match *m, const struct plan_ask *ask);

/* 0 if it could be booked on a machine that is idle, all up (but see is_up) and without blocks but for some, by number,
 * which last for ever; -1 with ENODEV if not, or as match_plan.
 */
int match_plan_ever(struct match *m, const struct plan_ask *ask, uint64_t blocks);

/* The same as a booking, for the last tick that calendars have, when the machine is idle but for others of these, and
 * without blocks but for some, by number. What policies go by that remember what was taken does not change. The caller
 * cancels it before anything else is asked.
 */
int match_plan_last(struct match *m, const struct plan_ask *ask, uint64_t blocks, int64_t jobid);

/* ---- Bookings; each jobid must exist ---- */

/* Give back what a job holds of some ranks (a set of ids); something else has to be left. It may be lifted. Returns 0, or -1:
 * ENOENT or EINVAL with a text, ENOMEM.
 */
int match_give_ranks(struct match *m, int64_t jobid, const char *ranks, berth_error_t *err);

/* Record that a job holds what a text says, as match_update. With `exact`, R (rv1exec) is taken at its word: of a node of which
 * it lists a part only that part is held, and the node may be anywhere in the machine. match_update holds such a node as
 * Fluxion does: others see it as taken in what counts nodes. Without a text it holds nothing.
 */
struct held_text {
    const char *format, *text;
    size_t length;
    bool exact;
};
int match_adopt(struct match *m, const struct held_text *held, int64_t jobid, int64_t at,
                int64_t duration, bool reserve, berth_error_t *err);

/* Take a booking out of the calendars, but leave its points there; and put it back, even if it is not
 * free any more. O(holds), and no memory is needed.
 */
void match_job_lift(struct match *m, int64_t jobid);
void match_job_drop(struct match *m, int64_t jobid);

/* Put it back over whatever is there, as forced. */
void match_job_lay(struct match *m, int64_t jobid);

/* Put it back exactly as it was, forced or not. Nothing else may have been booked since. */
void match_job_return(struct match *m, int64_t jobid);
bool match_job_is_lifted(const struct match *m, int64_t jobid);

/* True if it was put back where others hold the same. It is then not counted in filters. */
bool match_job_is_forced(const struct match *m, int64_t jobid);

/* Whether what a lifted booking holds is free during [at, end). And whether all of it exists, is up, is not
 * blocked then given the permits, and satisfies the constraints of the ask (ask.spec may be NULL); -1 with
 * ENOMEM.
 */
bool match_job_is_free(const struct match *m, int64_t jobid, int64_t at, int64_t end);
int match_job_still_fits(struct match *m, int64_t jobid, const struct plan_ask *ask, int64_t at,
                         int64_t end);

/* Change its window, whatever else is booked there; one that is in the calendars must be lifted first.
 * Returns 0, or -1 with ENOMEM.
 */
int match_job_move(struct match *m, int64_t jobid, int64_t at, int64_t end);
void match_job_window(const struct match *m, int64_t jobid, int64_t *at, int64_t *end);

/* Whether it is a reservation; and turn it into an allocation. */
bool match_job_is_reserved(const struct match *m, int64_t jobid);
void match_job_allocate(struct match *m, int64_t jobid);

/* Whether two hold the same at the same time. */
bool match_job_is_same(const struct match *m, int64_t a, int64_t b);

/* Put the booking `by` in place of another: it takes over the number, and the other is gone. */
void match_job_replace(struct match *m, int64_t jobid, int64_t by);

/* How much of a type it holds: everything below what it has to itself, and units of pools. `within`: only
 * what is in that part; `up`: nothing of nodes that are down or in something that is down.
 */
int64_t match_job_amount(const struct match *m, int64_t jobid, uint16_t type,
                         const uint64_t *within, bool up);

/* What it holds of a type, a node that it shares counting as one, in none of some blocks. O(holds), and what is below those
 * of which blocks have a part.
 */
int64_t match_job_clear(const struct match *m, int64_t jobid, uint16_t type, uint64_t blocks);

/* The same of several parts at once: all that it holds of each, and what is up. O(holds * n). */
struct match_amount {
    const uint64_t *within;
    int64_t all, up;
};
void match_job_amounts(const struct match *m, int64_t jobid, uint16_t type,
                       struct match_amount *part, size_t n);

/* The number of nodes of which it holds something. */
int64_t match_job_nodes(const struct match *m, int64_t jobid);

/* Iterate over what it holds, or holds some of: start with *i = 0. *alone: it has *vertex to itself, and not only all
 * that is in it. Returns false at the end.
 */
bool match_job_next_hold(const struct match *m, int64_t jobid, uint32_t *i, uint32_t *vertex,
                         bool *alone);

/* The same of nodes of which it holds something, but not all. */
bool match_job_next_shared(const struct match *m, int64_t jobid, uint32_t *i, uint32_t *node);

/* The same, of what is in calendars by itself: of a node of which it has all, the node alone. */
bool match_job_next_span(const struct match *m, int64_t jobid, uint32_t *i, uint32_t *vertex);

/* Mark what it holds in a byte for each vertex, all zero before, or take the marks away again. And what another has in
 * common with who is marked: the same, so that only one of them can be there at a time, or units of the same pool.
 * `units`, by vertex, are those that all have who are there at that time (match_job_weigh); where that is more than a
 * pool has which both share, it is as if they held the same. NULL: nobody has counted. O(holds).
 */
enum plan_meet { PLAN_APART, PLAN_BESIDE, PLAN_IN_WAY };
void match_job_mark(const struct match *m, int64_t jobid, uint8_t *marks, bool on);
enum plan_meet match_job_meets(const struct match *m, int64_t jobid, const uint8_t *marks,
                               const int64_t *units);

/* Until match_keep_free_end, what it holds counts as taken during [at, end), too, which are the same in all calls; but
 * for units of pools. Nothing else changes of the machine meanwhile than that something is booked. Returns 0, or -1
 * with ENOMEM: end it then, too. O(holds * log bookings).
 */
int match_keep_free(struct match *m, int64_t jobid, int64_t at, int64_t end);
void match_keep_free_end(struct match *m);

/* Add the units of pools that it holds to a sum for each vertex, or take them away again. O(holds). */
void match_job_weigh(const struct match *m, int64_t jobid, int64_t *units, bool on);

/* The blocks, by number, that contain a vertex, or with `any` something that is in it. */
uint64_t match_blocks_of(const struct match *m, uint32_t v, bool any);

/* The blocks, by number, that it holds something of. O(holds). */
uint64_t match_job_blocks(const struct match *m, int64_t jobid);

/* Whether it holds anything in the subtrees of a set of vertices. O(holds). And such a set, which the caller
 * frees; NULL with ENOMEM. O(vertices).
 */
bool match_job_touches(const struct match *m, int64_t jobid, const uint64_t *set);
uint64_t *match_vertex_set(const struct match *m, const uint32_t *vertices, size_t n);

/* ---- The machine ---- */

/* A part of the machine, as a bit for each vertex: everything except nodes and storage nodes that don't
 * satisfy the constraints, and except what is below those. The caller frees it. NULL with ENOMEM.
 * O(vertices).
 */
uint64_t *match_part(struct match *m, const struct jobspec_constraint *constraints);

static inline bool match_part_has(const uint64_t *part, uint32_t v)
{
    return !part || (part[v / 64] >> (v % 64) & 1);
}

/* Units of a type in a part; `up` as above. O(vertices). */
int64_t match_part_amount(const struct match *m, const uint64_t *part, uint16_t type, bool up);

/* Units of a type in a part that are of a kind (machine/kind.h), up or not. O(vertices times depth). */
int64_t match_part_of_kind(const struct match *m, const uint64_t *part, uint16_t type,
                           const char *property);

/* Units of a type in a part that are up and in none of some blocks, on or not. O(vertices). */
int64_t match_part_open(const struct match *m, const uint64_t *part, uint16_t type,
                        uint64_t blocks);

/* The smallest number of units of a type below any vertex of type `above` in a part; 0 if there is no such
 * vertex, or if one has nodes below it. O(vertices).
 */
int64_t match_part_min_below(const struct match *m, const uint64_t *part, uint16_t above,
                             uint16_t type);

/* True if the policy gives whole nodes. */
bool match_gives_whole_nodes(const struct match *m);

/* The graph itself. */
const struct graph *match_inner_graph(const struct match *m);

/* The largest size of a vertex of a type; 0 if there are none. O(types). */
int64_t match_type_size(const struct match *m, uint16_t type);

/* Whether resources of a type are pools, of which jobs get so many units. O(types). */
bool match_is_pool(const struct match *m, uint16_t type);

/* The vertex that v is in; PLAN_NO_VERTEX: none. */
#define PLAN_NO_VERTEX UINT32_MAX
uint32_t match_above(const struct match *m, uint32_t v);

/* The node that v is or is in; v itself if there is none. */
uint32_t match_node_of(const struct match *m, uint32_t v);

/* Whether at some instant of [at, end) no job uses anything of a vertex. And whether so many units of a
 * type may be free in it then, itself included, as far as filters say. O(log n).
 */
bool match_is_idle(const struct match *m, uint32_t v, int64_t at, int64_t end);
bool match_has_free(const struct match *m, uint32_t v, uint16_t type, int64_t units, int64_t at,
                    int64_t end);

/* Whether the node that a vertex is or is in is down, or something above that node; whether anything is, or may be; whether a
 * vertex by itself satisfies constraints; whether it has nodes below it, or anything of a type; and whether all
 * vertices of a type are in nodes.
 */
bool match_node_is_down(const struct match *m, uint32_t v);
bool match_is_any_down(const struct match *m);
bool match_satisfies(struct match *m, const struct jobspec_constraint *constraints, uint32_t v);
bool match_has_nodes(const struct match *m, uint32_t v);
bool match_has_below(const struct match *m, uint32_t v, uint16_t type);
bool match_all_in_nodes(const struct match *m, uint16_t type);

/* All vertices of type node, in their order, the removed ones among them, and how many: until the structure changes. O(1). */
const uint32_t *match_nodes(const struct match *m, uint32_t *n);

/* The usage of a vertex over time, as steps: what is taken from `at` until the next step, as far as
 * filters count it. taken[] is by match_usage_type. The first step is at 0. Returns the number of steps,
 * <= max >= 1. If there are more, the last step says that nothing is taken.
 */
enum plan_use { PLAN_IDLE, PLAN_SHARED, PLAN_FULL };
struct plan_usage {
    int64_t at;
    int64_t use; /* enum plan_use; no padding */
    int64_t taken[PLAN_USAGE_TYPES];
};
uint32_t match_usage(const struct match *m, uint32_t v, struct plan_usage *step, uint32_t max);

/* What a booking takes of a node, as filters count it: of the node that its i-th hold, from 0 on, is in, or of the next one.
 * Returns 1, and *i is behind that; 0 if there is no more; -1 if it has something else to itself, or units of a pool in a
 * node. Its holds in a node follow each other. O(holds) for all of them.
 */
int match_job_next_usage(const struct match *m, int64_t jobid, uint32_t *i, uint32_t *node,
                         struct plan_usage *usage);

/* The index of a type in plan_usage.taken, or -1 if it is not there. */
int match_usage_type(const struct match *m, uint16_t type);

/* Whether no vertex is reached in two ways. */
bool match_is_tree(const struct match *m);

/* 1 if the policy prefers low ids for the top of a request, -1 if it prefers high ids, 0 if it goes by
 * something else or by more than ids.
 */
int match_id_order(const struct match *m);

/* The end of the plan. */
int64_t match_end(const struct match *m);

/* True if the policy's order depends on what was taken before. */
bool match_order_is_dynamic(const struct match *m);

/* Units of a type in a vertex and below it; 0 where it has been removed. And the number of its class: vertices of a class
 * have the same below them.
 */
int64_t match_units_at(const struct match *m, uint32_t v, uint16_t type);
uint32_t match_class_of(const struct match *m, uint32_t v);

/* How many units of a type are free in the ask's part throughout [at, at + duration), but at most
 * `enough`, each vertex looked at by itself. `alone`: only what no other job uses. O(vertices).
 */
int64_t match_part_free(struct match *m, const struct plan_ask *ask, uint16_t type, bool alone,
                        int64_t at, int64_t enough);

/* As the public calls, but by vertex, and all or nothing. Errors: ENOMEM; to remove the root is EINVAL with a
 * text. A property with value NULL is removed where there is one.
 */
bool match_is_down(const struct match *m, uint32_t v);
int match_set_down(struct match *m, const uint32_t *v, size_t n, bool down);
int match_set_properties(struct match *m, const uint32_t *v, size_t n, const char *key,
                         const char *value);
int match_remove(struct match *m, const uint32_t *v, size_t n, berth_error_t *err);

/* ---- Blocks ---- */

/* Set the block with a number < BLOCKS_MAX: its vertices are set aside during
 * [start + k * every, + duration) for all k >= 0 (every 0: only for k = 0). n = 0 removes the block. The
 * matcher takes over the array. Returns 0, or -1 with ENOMEM, nothing changed and the array still the
 * caller's.
 */
int match_block(struct match *m, uint32_t number, uint32_t *vertices, size_t n, int64_t start,
                int64_t duration, int64_t every);

/* The first time after `now` at which a block begins or ends; INT64_MAX if none does. */
int64_t match_block_next_change(const struct match *m, int64_t now);

/* ---- The order of children ---- */

/* Write and restore the order in which first-fit policies look at children, since it depends on what was
 * taken before. Restore it on a machine of the same vertices once all bookings are there. Writing is
 * O(vertices), restoring O(children) for each child. Return 0, or -1: ENOMEM; EINVAL with a text, and a
 * part may have been restored.
 */
int match_hints_write(const struct match *m, struct strbuf *out);
int match_hints_read(struct match *m, const char *text, size_t length, berth_error_t *err);

#endif
