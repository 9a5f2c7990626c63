/* Expressions that say which vertices to find: "status=down or jobid-alloc=3".
 *
 *     expression  = operand { [ "and" | "or" ] operand }, from left to right: neither binds closer
 *     operand     = "(" expression ")" | key "=" value
 *
 * Blanks or tabs stand between operands and words, and nothing else does; between two operands alone they
 * mean "and". A value ends at a blank, or where the parentheses around it do.
 *
 *     status=up|down
 *     sched-now=allocated|free
 *     sched-future=reserved|free
 *     jobid-alloc=ID, jobid-span=ID, jobid-tag=ID, jobid-reserved=ID   a job id in any form (base/jobid.h)
 *     names=HOSTS                                                      a list of vertices' names (base/hostlist.h)
 *     property=NAME
 *     agfilter=true|t|false|f     as a condition true or false; it is there to switch on what filters count
 *
 * The words among the values may have capitals; names and properties are compared as they are written.
 */
#ifndef MATCH_EXPR_H
#define MATCH_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hostlist.h"
#include "berth/error.h"

#define EXPR_DEPTH_MAX      60   /* parentheses within each other */
#define EXPR_PREDICATES_MAX 4096 /* operands that are no parentheses */

enum expr_key {
    EXPR_STATUS,
    EXPR_SCHED_NOW,
    EXPR_SCHED_FUTURE,
    EXPR_JOBID_ALLOC,
    EXPR_JOBID_SPAN,
    EXPR_JOBID_TAG,
    EXPR_JOBID_RESERVED,
    EXPR_NAMES,
    EXPR_PROPERTY,
    EXPR_AGFILTER
};

struct expr_predicate {
    enum expr_key key;
    bool yes;              /* down, allocated, reserved, true; else up, free, false */
    uint64_t jobid;        /* of the jobid keys */
    char *property;        /* of EXPR_PROPERTY */
    struct hostlist names; /* of EXPR_NAMES */
};

struct expr;

/* Read an expression. Returns NULL with EINVAL or ENOMEM. */
struct expr *expr_parse(const char *text, berth_error_t *err);
void expr_destroy(struct expr *e);

/* Evaluate an expression for whatever ctx is. `test` says if a predicate holds; it isn't called for
 * agfilter, and only as long as the result depends on it.
 */
bool expr_eval(const struct expr *e, bool (*test)(void *ctx, const struct expr_predicate *p),
               void *ctx);

/* True if what filters count shall be told: the last agfilter says so. */
bool expr_has_agfilter(const struct expr *e);

/* Give the last job id that the expression names, or return false. */
bool expr_jobid(const struct expr *e, uint64_t *id);

#endif
