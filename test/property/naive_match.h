/* A matcher that is obviously right: it looks at everything, keeps lists of all it finds, sorts them, and
 * asks every job for what it holds. It shares the graph with the matcher that it is compared with, and
 * nothing else of that room.
 */
#ifndef NAIVE_MATCH_H
#define NAIVE_MATCH_H

#include "berth/match.h"
#include "resource/emission.h"

struct naive;

/* Policies by their names; filters as in match_options_t. */
struct naive *naive_create(const struct graph *g, const char *policy, const char *filters);
void naive_destroy(struct naive *n);

/* Returns 0 or an errno. *at is the start. */
int naive_run(struct naive *n, match_op_t op, const jobspec_t *spec, int64_t jobid, int64_t now,
              int64_t *at);

/* What the last run found. */
const struct emission *naive_found(const struct naive *n);

void naive_cancel(struct naive *n, int64_t jobid);

/* Status was set: v is up or down now, though it was not before. */
void naive_marked(struct naive *n, uint32_t v, bool up);

/* The graph's structure has changed: what is gone is held no more. */
void naive_changed(struct naive *n);

/* What jobs hold, in the order in which it was told. */
struct naive_hold {
    uint32_t vertex;
    int64_t needs;
    bool exclusive;
};

struct naive_job {
    int64_t id, at, end;
    bool reserved;
    struct naive_hold *hold;
    size_t n;
};

size_t naive_jobs(const struct naive *n, const struct naive_job **jobs);

#endif
