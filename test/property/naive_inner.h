/* What the two halves of the naive matcher share: naive_match.c looks for what a request may have,
 * naive_book.c keeps what was taken.
 */
#ifndef NAIVE_INNER_H
#define NAIVE_INNER_H

#include "naive_match.h"

#define NONE UINT32_MAX

enum order { ASCENDING, DESCENDING, RUNS };

struct rules {
    const char *name;
    enum order within, slots, graph;
    bool node_centric, node_exclusive, first, performance;
    enum { IGNORED, FULLEST, EMPTIEST } fill; /* what first fit looks at first */
    int64_t by_use, by_balance;
};

/* What a job has of a vertex: it is one user; exclusive ones have its units; counts are of what is below. */
struct taking {
    int64_t job, at, end;
    bool exclusive, reserved;
    int64_t needs;
    int64_t *counts; /* by type; NULL: none were counted */
};

struct spot {
    struct taking *v;
    size_t n;
    uint64_t weight; /* of the edge to it */
    uint64_t marked; /* sequence of the selection that marked the edge to it */
    int64_t needs;
    bool exclusive;
    uint64_t labelled;
    const char *label;
};

struct naive {
    const struct graph *g;
    const struct rules *rules;
    char *filters;
    uint32_t types;
    bool *tracks;   /* by type of the vertex and type below it */
    bool *every;    /* by type below: every vertex tracks it, unless it is of that type */
    bool *pruning;  /* by type */
    int64_t *total; /* by vertex and type */
    struct spot *spot;
    uint32_t spots;
    int64_t nodes_up;
    struct naive_job *job;
    size_t n_jobs;
    struct emission found;
    char *queue;
    void **pool; /* memory of one run */
    size_t pooled;
    uint64_t sequence;

    /* One run. */
    const jobspec_t *spec;
    uint16_t *rtype; /* by resource */
    int64_t *wants;  /* by resource and type: at least, below */
    int64_t *all;    /* by type */
    bool *whole;     /* by type: given with all that is below */
    int64_t now, at, end;
    bool any_status, allocates, guard;
    int64_t factor;
};

/* Memory of one run, of zeros; and all of it given back. */
void *naive_draw(struct naive *n, size_t size);
void naive_drain(struct naive *n);

uint32_t naive_parent(const struct naive *n, uint32_t v);

/* Whether a vertex satisfies the constraint of the jobspec, and whether it has a property, or says nothing of its family
 * and what it is in has it.
 */
bool naive_satisfies_constraint(const struct naive *n, uint32_t v);
bool naive_is_of_kind(const struct naive *n, uint32_t v, const char *property);

/* True if v's filter counts a type. */
bool naive_tracks(const struct naive *n, uint32_t v, uint32_t type);

/* Largest load in a window: it is reached where the window begins, or where some taking does. what: 0
 * users, 1 units, 2 + type counts of a type.
 */
int64_t naive_load(const struct spot *s, int64_t at, int64_t end, uint32_t what);

/* Units of v that are free throughout a window. */
int64_t naive_avail(const struct naive *n, uint32_t v, int64_t at, int64_t end);

/* The first instant after `after` at which a job starts or ends; -1: none. */
int64_t naive_next_point(const struct naive *n, int64_t after);

/* Tell what was marked, and take it if the run allocates. Returns 0, or EBUSY. */
int naive_finish(struct naive *n, int64_t jobid, int64_t duration);

#endif
