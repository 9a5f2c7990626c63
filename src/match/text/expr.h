/* Expressions that say which vertices to find: "status=down or jobid-alloc=3".
 *
 *     expression  = operand { [ "and" | "or" ] operand }, from left to right: neither binds tighter
 *     operand     = "(" expression ")" | key "=" value
 *
 * Operands and words are separated by blanks or tabs only; two operands with nothing else between them
 * mean "and". A value ends at a blank, or at the end of the parentheses around it.
 *
 *     status=up|down
 *     sched-now=allocated|free
 *     sched-future=reserved|free
 *     jobid-alloc=ID, jobid-span=ID, jobid-tag=ID, jobid-reserved=ID   a job id in any form (base/jobid.h)
 *     names=HOSTS                 a list of names of vertices (base/hostlist.h)
 *     property=NAME
 *     agfilter=true|t|false|f     as a condition true or false; it is there to switch on what filters count
 *
 * The case of words among the values does not matter; names and properties are compared as they are written.
 */
#ifndef MATCH_EXPR_H
#define MATCH_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hostlist.h"
#include "berth/error.h"

#define EXPR_DEPTH_MAX      60   /* nested parentheses */
#define EXPR_PREDICATES_MAX 4096 /* operands other than parentheses */

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

/* Evaluate an expression. `test` says whether a predicate holds for ctx; it is not called for agfilter,
 * and only while the result depends on it.
 */
bool expr_eval(const struct expr *e, bool (*test)(void *ctx, const struct expr_predicate *p),
               void *ctx);

/* True if the last agfilter asks for the counts of the pruning filters. */
bool expr_has_agfilter(const struct expr *e);

/* Give the last job id in the expression. Returns false if there is none. */
bool expr_jobid(const struct expr *e, uint64_t *id);

#endif
