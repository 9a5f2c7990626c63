/* The matcher as a plan of bookings that each name what they hold: what src/sched asks of it.
 *
 * A booking is a job of the matcher, a reservation or an allocation, in the same calendars. These alone
 * say what is free when: unlike in match_run, an allocation whose time is over holds nothing, so that who
 * overruns must be extended. Blocks (book/blocks.h) count here, and only here.
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

struct plan_ask {
    const jobspec_t *spec;  /* its duration is not looked at */
    const uint64_t *within; /* by vertex, a bit (match_part): nodes that it may have; NULL: all */
    int64_t duration;       /* ticks, >= 1 */
    uint64_t permits;       /* blocks that don't count, by number */
    /* for when: no time is looked at in whose window this has more than */
    const struct profile *calendar;
    int64_t limit; /* that; NULL: there is none such */
    /* The first time on or after `from` that something else doesn't rule out, -1 if it rules out all;
     * NULL: there is none such.
     */
    int64_t (*next)(void *context, int64_t from);
    void *context;
};

/* ---- Match ---- */

/* Book for [at, at + duration). Returns 0, or -1 with nothing changed: EBUSY if it is not free then,
 * EINVAL for a type that the machine doesn't know, EOVERFLOW for too many alternatives, ENOMEM.
 */
int match_plan(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t at,
               bool reservation);

/* The earliest time on or after `from` and before `before` at which match_plan would succeed, or -1:
 * ENOENT if there is none, or none was found in PLAN_TRIES_MAX tries; else as match_plan.
 */
#define PLAN_TRIES_MAX 20000
int64_t match_plan_when(struct match *m, const struct plan_ask *ask, int64_t from, int64_t before);

/* The same, and book it there. */
int64_t match_plan_first(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t from,
                         int64_t before, bool reservation);

/* As match_plan, but nothing is booked, and nothing is remembered of it (match_hints_write): only what it
 * would hold is there to be measured (match_job_amount, match_job_nodes), until it is forgotten, which is
 * to be the next call that changes anything.
 */
int match_plan_probe(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t at);
void match_plan_forget(struct match *m, int64_t jobid);

/* 0 if it could be booked on an idle machine that is all up and without blocks; -1 with ENODEV if not, or
 * as match_plan.
 */
int match_plan_ever(struct match *m, const struct plan_ask *ask);

/* ---- Bookings; all exist ---- */

/* Take it out of the calendars, its points left there; and put it in again, even if it is not free.
 * O(holds), no memory.
 */
void match_job_lift(struct match *m, int64_t jobid);
void match_job_drop(struct match *m, int64_t jobid);

/* Put it in again just as it was, forced or not, when nothing else has been booked meanwhile. */
void match_job_return(struct match *m, int64_t jobid);
bool match_job_is_lifted(const struct match *m, int64_t jobid);

/* True if it was dropped where others hold the same; it is then not counted in filters. */
bool match_job_is_forced(const struct match *m, int64_t jobid);

/* Whether what a lifted booking holds is free during [at, end); and whether it is all there, up, not
 * blocked then for who has these permits, and satisfies the ask's constraints (ask.spec may be NULL). -1:
 * ENOMEM.
 */
bool match_job_is_free(const struct match *m, int64_t jobid, int64_t at, int64_t end);
int match_job_still_fits(struct match *m, int64_t jobid, const struct plan_ask *ask, int64_t at,
                         int64_t end);

/* Another window, whatever else is there; a dropped one must be lifted first. Returns 0, or -1 with
 * ENOMEM.
 */
int match_job_move(struct match *m, int64_t jobid, int64_t at, int64_t end);
void match_job_window(const struct match *m, int64_t jobid, int64_t *at, int64_t *end);

/* A reservation becomes an allocation; and whether it is still one. */
bool match_job_is_reserved(const struct match *m, int64_t jobid);
void match_job_allocate(struct match *m, int64_t jobid);

/* Whether two hold the same at the same time. */
bool match_job_is_same(const struct match *m, int64_t a, int64_t b);

/* A booking takes another's place and number, and the other is gone. */
void match_job_replace(struct match *m, int64_t jobid, int64_t by);

/* How much of a type it has: all that is below what it has to itself, and units of pools. With `within`,
 * only of what is in there; `up`: not of nodes that are down, themselves or with what they are in.
 */
int64_t match_job_amount(const struct match *m, int64_t jobid, uint16_t type,
                         const uint64_t *within, bool up);

/* Nodes that it holds something of. */
int64_t match_job_nodes(const struct match *m, int64_t jobid);

/* The i-th thing that it has, or has some of: *vertex, and whether it has it to itself. False past the
 * last.
 */
bool match_job_next_hold(const struct match *m, int64_t jobid, uint32_t *i, uint32_t *vertex,
                         bool *alone);

/* Whether it holds anything in the subtree of one of some vertices; and these, for that question: the
 * caller frees them. NULL with ENOMEM. O(holds), and O(vertices).
 */
bool match_job_touches(const struct match *m, int64_t jobid, const uint64_t *set);
uint64_t *match_vertex_set(const struct match *m, const uint32_t *vertices, size_t n);

/* ---- The machine ---- */

/* By vertex, a bit for what constraints let through: all but nodes and storage nodes that don't satisfy
 * them, and what is below those. The caller frees it. NULL with ENOMEM. O(vertices).
 */
uint64_t *match_part(struct match *m, const struct jobspec_constraint *constraints);

static inline bool match_part_has(const uint64_t *part, uint32_t v)
{
    return !part || (part[v / 64] >> (v % 64) & 1);
}

/* Units of a type in a part, and vertices of it; `up` as above. O(vertices). */
int64_t match_part_amount(const struct match *m, const uint64_t *part, uint16_t type, bool up);

/* The least of a type that any vertex of another type has below it, of those in a part; 0 if there are
 * none or if some of them has nodes below. O(vertices).
 */
int64_t match_part_min_below(const struct match *m, const uint64_t *part, uint16_t above,
                             uint16_t type);

/* Whether the policy gives whole nodes. */
bool match_gives_whole_nodes(const struct match *m);

/* The graph itself. */
const struct graph *match_inner_graph(const struct match *m);

/* The largest size of a vertex of a type; 0 if there are none. O(types). */
int64_t match_type_size(const struct match *m, uint16_t type);

/* The node that a vertex is, or is in; or itself if there is none. */
uint32_t match_node_of(const struct match *m, uint32_t v);

/* Whether at some instant of [at, end) nobody uses anything of a vertex; whether so much of a type may be
 * free in it, itself included, as far as filters say. O(log n).
 */
bool match_is_idle(const struct match *m, uint32_t v, int64_t at, int64_t end);
bool match_has_free(const struct match *m, uint32_t v, uint16_t type, int64_t units, int64_t at,
                    int64_t end);

/* Whether a vertex is in a node that is down, itself or with what it is in; satisfies constraints by
 * itself; is above nodes. And whether all vertices of a type are in nodes.
 */
bool match_node_is_down(const struct match *m, uint32_t v);
bool match_satisfies(struct match *m, const struct jobspec_constraint *constraints, uint32_t v);
bool match_has_nodes(const struct match *m, uint32_t v);
bool match_has_below(const struct match *m, uint32_t v, uint16_t type);
bool match_all_in_nodes(const struct match *m, uint16_t type);

/* What is taken of a vertex from `at` until the next step, as far as filters count it: of types by
 * match_usage_type. The first step is at 0. Returns the number of steps, <= max >= 1; if there are more,
 * of the last nothing seems taken.
 */
enum plan_use { PLAN_IDLE, PLAN_SHARED, PLAN_FULL };
struct plan_usage {
    int64_t at;
    int64_t use; /* enum plan_use; no padding */
    int64_t taken[PLAN_USAGE_TYPES];
};
uint32_t match_usage(const struct match *m, uint32_t v, struct plan_usage *step, uint32_t max);

/* The place of a type in steps, or -1: it is not there. */
int match_usage_type(const struct match *m, uint16_t type);

/* Whether the policy prefers lower ids among what the top of a request may take (1), higher ones (-1), or
 * goes by something else or more (0).
 */
int match_id_order(const struct match *m);

/* Whether the policy's order depends on what was taken before. */
bool match_order_is_dynamic(const struct match *m);

/* Units of a type of a vertex and what is below it. And a number that vertices share with nothing else
 * below them.
 */
int64_t match_units_at(const struct match *m, uint32_t v, uint16_t type);
uint32_t match_class_of(const struct match *m, uint32_t v);

/* How much of a type could be had in a part during [at, end), each thing by itself: at most `enough`.
 * `alone`: only what nobody else uses. O(vertices).
 */
int64_t match_part_free(struct match *m, const struct plan_ask *ask, uint16_t type, bool alone,
                        int64_t at, int64_t enough);

/* As the public calls, by vertex: all or nothing. ENOMEM; remove: EINVAL with a text for the root. A
 * property with value NULL is removed where it is.
 */
int match_set_down(struct match *m, const uint32_t *v, size_t n, bool down);
int match_set_properties(struct match *m, const uint32_t *v, size_t n, const char *key,
                         const char *value);
int match_remove(struct match *m, const uint32_t *v, size_t n, berth_error_t *err);

/* ---- Blocks ---- */

/* Shut vertices, an array that the matcher takes over, during [start + k * every, + duration) for all k
 * >= 0 (every 0: for k = 0); n = 0: no more. number < 64. Returns 0, or -1 with ENOMEM, nothing changed
 * and the array still the caller's.
 */
int match_block(struct match *m, uint32_t number, uint32_t *vertices, size_t n, int64_t start,
                int64_t duration, int64_t every);

/* The first time after now at which a block begins or ends; INT64_MAX: none. */
int64_t match_block_next_change(const struct match *m, int64_t now);

/* ---- What is remembered ---- */

/* Write in which order policies that take what is found first look at children, which depends on what was
 * taken before; and take it up again on a machine of the same vertices, once all bookings are there.
 * O(vertices), and O(children) for each child. Return 0, or -1: ENOMEM; EINVAL with a text, and a part
 * may have been taken up.
 */
int match_hints_write(const struct match *m, struct strbuf *out);
int match_hints_read(struct match *m, const char *text, size_t length, berth_error_t *err);

#endif
