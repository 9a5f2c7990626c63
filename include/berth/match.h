/* Matching: which resources of a graph fit a job, now or from when on; and who holds what.
 *
 * The operations, the policies and their results are Fluxion's (flux-sched's resource-query);
 * doc/fluxion.md lists every difference. Times are ticks of the caller's length, from 0 to the end of the
 * plan. A job is known by a number of the caller's. All calls return 0, or -1 with errno and, where a
 * person will read it, an error text; a call that fails changes nothing.
 *
 * A job gets whole vertices: of a pool of 16 units, all 16 for a count of 3. A pool that is divisible
 * gives exactly the units asked for, to many jobs at once: those that the reader of this machine marks
 * (memory), and those that have the property `divisible` when the matcher is made or they are attached.
 *
 * What the last match_run, match_update or match_find has found is kept until the next and written with
 * match_write.
 */
#ifndef BERTH_MATCH_H
#define BERTH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "berth/jobspec.h"
#include "berth/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct match match_t;

/* The end of the plan, ticks, unless match_options_t says another: the longest duration, and that of a
 * job that names none.
 */
#define MATCH_END INT64_C(3153600000)

#define MATCH_END_MAX (INT64_MAX / 4)

/* How to match. NULL in any field: the default. */
typedef struct {
    /* first, firstnodex, low, high, lonode, hinode, lonodex, hinodex, locality, variation, or options
     * such as "policy=low node_centric=true"; first
     */
    const char *policy;
    const char *traverser; /* simple, flexible; simple */
    const char *filters;   /* pruning filters, "ALL:core,rack:node"; "ALL:core,ALL:node" */
    const char *matcher;   /* subsystems: CA, IBA, PA, C+PA, ..., ALL; CA */
    /* of the plan, up to MATCH_END_MAX, for ticks shorter than a second; 0: MATCH_END */
    int64_t end;
} match_options_t;

/* A matcher over a graph, which it owns from then on, also when the call fails. Returns NULL with EINVAL
 * (a wrong option), ENOTSUP (no root in a subsystem) or ENOMEM.
 */
match_t *match_create(resource_graph_t *graph, const match_options_t *options, berth_error_t *err);
void match_destroy(match_t *m);

const resource_graph_t *match_graph(const match_t *m);

/* True if a vertex type is known to the graph, as a jobspec's types must be. `m` is the matcher, so that
 * this can be given to jobspec_parse as its predicate.
 */
bool match_knows_type(const void *m, const char *type);

typedef enum {
    MATCH_ALLOCATE,                  /* now */
    MATCH_ALLOCATE_ORELSE_RESERVE,   /* now, or from the earliest time */
    MATCH_ALLOCATE_W_SATISFIABILITY, /* now, or say whether it ever could */
    MATCH_SATISFIABILITY,            /* could it ever, were the machine idle and up */
    MATCH_WITHOUT_ALLOCATING,        /* as MATCH_ALLOCATE, recording nothing */
    MATCH_WITHOUT_ALLOCATING_FUTURE  /* as MATCH_ALLOCATE_ORELSE_RESERVE, recording nothing */
} match_op_t;

/* The operation of that name ("allocate_orelse_reserve", "satisfiability", ...), or -1. */
int match_op_parse(const char *name);

/* What a match cost and gave. */
typedef struct {
    int64_t at;       /* its start */
    int64_t duration; /* ticks */
    uint64_t visits;  /* vertices looked at */
    uint64_t tries;   /* times tried */
} match_result_t;

/* Match a job. Errors: EBUSY not now (nor, for ORELSE_RESERVE, at any time while things are down); ENODEV
 * never; EINVAL a wrong job (duration, contradicting exclusivity); EEXIST the job number is in use;
 * ENOMEM.
 */
int match_run(match_t *m, match_op_t op, const jobspec_t *spec, int64_t jobid, int64_t now,
              match_result_t *result, berth_error_t *err);

/* Record for a job what a text says it holds. Formats: jgf, jgf_shorthand, rv1exec. EINVAL if the text is
 * wrong, names what is not there, or what is not free.
 */
int match_update(match_t *m, const char *format, const char *text, size_t length, int64_t jobid,
                 int64_t at, int64_t duration, bool reserve, berth_error_t *err);

/* Give back all a job holds (ENOENT: no such job), or only what a text names; formats jgf and rv1exec.
 * *full says if nothing is left of it. `visits` may be NULL.
 */
int match_cancel(match_t *m, int64_t jobid, uint64_t *visits, berth_error_t *err);
int match_partial_cancel(match_t *m, int64_t jobid, const char *format, const char *text,
                         size_t length, bool *full, uint64_t *visits, berth_error_t *err);

/* Search by an expression such as "status=down or jobid-alloc=3". What filters count (agfilter) is told
 * as it is at `now` or, where nothing is taken then, at time 0. EINVAL: a wrong expression.
 */
int match_find(match_t *m, const char *criteria, int64_t now, berth_error_t *err);

/* Text of what was found last, in format simple, pretty_simple, rlite, rv1, rv1_nosched, rv1_shorthand,
 * jgf or jgf_shorthand. *text belongs to the matcher and holds until its next call. EINVAL, ENOENT,
 * ENOMEM (emission.h).
 */
int match_write(match_t *m, const char *format, const char **text, size_t *length);

/* Change the machine. attach: a subgraph in JGF. remove: what is at a path, or all of some ranks (an
 * idset); jobs that hold something of it hold the rest on.
 */
int match_attach(match_t *m, const char *text, size_t length, berth_error_t *err);
int match_remove_path(match_t *m, const char *path, berth_error_t *err);
int match_remove_ranks(match_t *m, const char *ranks, berth_error_t *err);

/* Status of the vertices at a path, or of the topmost vertex of each rank ("all": every rank). ENOENT: no
 * such path.
 */
int match_set_status(match_t *m, const char *path, bool up, berth_error_t *err);
int match_get_status(match_t *m, const char *path, bool *up, berth_error_t *err);
int match_set_rank_status(match_t *m, const char *ranks, bool up, berth_error_t *err);

/* Properties of the vertices at a path. ENOENT: no such path (or, to remove, no such property). */
int match_set_property(match_t *m, const char *path, const char *key, const char *value,
                       berth_error_t *err);
int match_remove_property(match_t *m, const char *path, const char *key, berth_error_t *err);

/* Call back for each vertex at the path (with its unique id) and each of its properties, in order of key;
 * a vertex without any gets one call with key NULL.
 */
int match_get_properties(match_t *m, const char *path,
                         void (*each)(void *context, int64_t uniq_id, const char *key,
                                      const char *value),
                         void *context, berth_error_t *err);

/* True if all structures agree with one another. For tests. */
bool match_check(const match_t *m);

#ifdef __cplusplus
}
#endif

#endif
