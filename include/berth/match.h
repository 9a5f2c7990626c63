/* Matching: which resources of a graph fit a job, now or at the earliest time; and which job holds what.
 *
 * The operations, the policies and their results are Fluxion's (flux-sched's resource-query);
 * doc/fluxion.md lists every difference. Times are in ticks, from 0 to the end of the plan; the caller
 * chooses how long a tick is, and gives each job a number. All calls return 0, or -1 with errno and, where
 * a person will read it, an error text. A call that fails changes nothing.
 *
 * A job gets whole vertices: a request for 3 units gets all 16 of a pool of 16. Only a divisible pool gives
 * exactly what is asked for, and so serves many jobs at once. The reader of this machine marks memory as
 * divisible; other pools are divisible if they have the property `divisible` when the matcher is made or
 * when they are attached.
 *
 * The matcher keeps what the last match_run, match_update or match_find found; match_write writes it.
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

/* The default end of the plan, in ticks. It is the longest duration a job can have, and the duration of a job
 * that gives none.
 */
#define MATCH_END INT64_C(3153600000)

#define MATCH_END_MAX (INT64_MAX / 4)

/* Times that are tried, unless match_options_t says another number. */
#define MATCH_TRIES 20000

/* How to match. A NULL or 0 stands for the default. */
typedef struct {
    /* first, firstnodex, low, high, lonode, hinode, lonodex, hinodex, locality, variation, pack (or
     * binpack), spread, balance, weights such as "spread=1 balance=1" (or nodeorder), or options such as
     * "policy=low node_centric=true"; default first
     */
    const char *policy;
    const char *traverser; /* simple or flexible; default simple */
    const char *filters;   /* pruning filters, "ALL:core,rack:node"; default "ALL:core,ALL:node" */
    const char *matcher;   /* subsystems: CA, IBA, PA, C+PA, ..., ALL; default CA */
    /* end of the plan, up to MATCH_END_MAX, for ticks shorter than a second; default MATCH_END. A scheduler
     * promises starts in the first half alone: what has no known end is booked for as long as that. Where
     * ticks are seconds since 1970, ask for twice as much.
     */
    int64_t end;

    /* How many times a scheduler's search for the earliest one tries, of those that counts don't rule out.
     * Beyond them the answer is that there is none yet: the job waits without a promise, and the next pass
     * searches again. Default MATCH_TRIES.
     */
    int64_t tries;
} match_options_t;

/* Make a matcher over a graph. The matcher owns the graph from then on, even if the call fails. Returns NULL
 * with EINVAL (a wrong option), ENOTSUP (a subsystem has no root) or ENOMEM.
 */
match_t *match_create(resource_graph_t *graph, const match_options_t *options, berth_error_t *err);
void match_destroy(match_t *m);

const resource_graph_t *match_graph(const match_t *m);

/* True if the graph has a vertex type. `m` is the matcher: this can be the predicate knows_type of
 * jobspec_parse.
 */
bool match_knows_type(const void *m, const char *type);

typedef enum {
    MATCH_ALLOCATE,                  /* now */
    MATCH_ALLOCATE_ORELSE_RESERVE,   /* now, or from the earliest time */
    MATCH_ALLOCATE_W_SATISFIABILITY, /* now, or say whether it could ever be matched */
    MATCH_SATISFIABILITY,     /* whether it could be matched if the machine were idle and up */
    MATCH_WITHOUT_ALLOCATING, /* as MATCH_ALLOCATE, but nothing is recorded */
    MATCH_WITHOUT_ALLOCATING_FUTURE /* as MATCH_ALLOCATE_ORELSE_RESERVE, but nothing is recorded */
} match_op_t;

/* Look up an operation by name ("allocate_orelse_reserve", "satisfiability", ...). Returns -1 if there is
 * none.
 */
int match_op_parse(const char *name);

/* When a match starts, and what it cost. */
typedef struct {
    int64_t at;       /* start, in ticks */
    int64_t duration; /* in ticks */
    uint64_t visits;  /* vertices looked at */
    uint64_t tries;   /* start times tried */
} match_result_t;

/* Match a job. Errors: EBUSY it can't be matched now (for ORELSE_RESERVE: nor at any time while resources are
 * down); ENODEV it can never be matched; EINVAL the job is wrong (duration, contradictory exclusivity);
 * EEXIST the job number is in use; ENOMEM.
 */
int match_run(match_t *m, match_op_t op, const jobspec_t *spec, int64_t jobid, int64_t now,
              match_result_t *result, berth_error_t *err);

/* Record that a job holds what a text says, in format jgf, jgf_shorthand or rv1exec. EINVAL: the text is
 * wrong, or names a resource that does not exist or is not free.
 */
int match_update(match_t *m, const char *format, const char *text, size_t length, int64_t jobid,
                 int64_t at, int64_t duration, bool reserve, berth_error_t *err);

/* Give back all that a job holds, or only what a text in format jgf or rv1exec names; then *full says
 * whether the job holds nothing any more. `visits` may be NULL. ENOENT: no such job.
 */
int match_cancel(match_t *m, int64_t jobid, uint64_t *visits, berth_error_t *err);
int match_partial_cancel(match_t *m, int64_t jobid, const char *format, const char *text,
                         size_t length, bool *full, uint64_t *visits, berth_error_t *err);

/* Search by an expression such as "status=down or jobid-alloc=3". With agfilter, the result includes the
 * counts of the pruning filters at `now` or, where nothing is taken then, at time 0. EINVAL: a wrong
 * expression.
 */
int match_find(match_t *m, const char *criteria, int64_t now, berth_error_t *err);

/* Write what was found last, in format simple, pretty_simple, rlite, rv1, rv1_nosched, rv1_shorthand, jgf or
 * jgf_shorthand. *text belongs to the matcher and is valid until the next call. EINVAL: no such format, rlite
 * and nothing was found, or a rank that must be written is negative; ENOENT: a graph format, and there are
 * vertices without edges or edges without vertices; ENOMEM.
 */
int match_write(match_t *m, const char *format, const char **text, size_t *length);

/* Attach a subgraph in JGF; remove what is at a path, or what has one of some ranks (an idset). Jobs that
 * hold something that is removed keep the rest.
 */
int match_attach(match_t *m, const char *text, size_t length, berth_error_t *err);
int match_remove_path(match_t *m, const char *path, berth_error_t *err);
int match_remove_ranks(match_t *m, const char *ranks, berth_error_t *err);

/* The status of the vertices at a path, or of the topmost vertex of each rank ("all": every rank). ENOENT:
 * no such path.
 */
int match_set_status(match_t *m, const char *path, bool up, berth_error_t *err);
int match_get_status(match_t *m, const char *path, bool *up, berth_error_t *err);
int match_set_rank_status(match_t *m, const char *ranks, bool up, berth_error_t *err);

/* Set or remove a property of the vertices at a path. ENOENT: no such path or, when removing, no such
 * property.
 */
int match_set_property(match_t *m, const char *path, const char *key, const char *value,
                       berth_error_t *err);
int match_remove_property(match_t *m, const char *path, const char *key, berth_error_t *err);

/* Call each() for every property of every vertex at a path, in order of key, with the vertex's unique id. A
 * vertex without properties gets one call with key NULL. ENOENT: no such path.
 */
int match_get_properties(match_t *m, const char *path,
                         void (*each)(void *context, int64_t uniq_id, const char *key,
                                      const char *value),
                         void *context, berth_error_t *err);

/* True if the matcher's structures agree with each other. For tests. */
bool match_check(const match_t *m);

#ifdef __cplusplus
}
#endif

#endif
