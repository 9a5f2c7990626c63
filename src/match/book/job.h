/* Jobs, and what each of them holds. */
#ifndef MATCH_JOB_H
#define MATCH_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

enum {
    HOLD_EXCLUSIVE = 1, /* has the vertex to itself */
    HOLD_COVERED =
        2, /* the same job has its parent to itself, which books it too: not booked again */
    HOLD_UNITS = 4,  /* has some units of a divisible pool */
    HOLD_SHOWN = 8,  /* emitted, and counted above, as if it had the vertex to itself */
    HOLD_SPARE = 16, /* not asked for, but given because something above is given whole */
    /* Of a node that is shared, but of which the job has all that is in it to itself, and of what is in it: booked once,
     * with the node (match_book). */
    HOLD_FILLS = 32,
    HOLD_WITH_NODE = 64,
    /* times the number of its label in job.texts, from 1; 0: it has none */
    HOLD_LABEL = 256
};

/* The texts of a job. Copies of the job share them. */
struct job_texts {
    uint32_t users;
    char *queue; /* NULL: none */
    struct intern labels;
};

/* A vertex of which, or of what is below it, a job holds something; or several that are numbered one after the other, if
 * they are held alike and bare (below): of a node that is given whole, all that is in it. Holds are in the order in which
 * the match emitted them: children first.
 */
struct hold {
    uint32_t vertex;
    uint32_t flags;
    int64_t needs;
    union {
        /* index in job.counts of what is booked in the vertex's filter */
        uint32_t counts;
        /* of one that is bare: so many vertices from this one on; of one that is booked with its node: so many holds from
         * this one on */
        uint32_t run;
    };
    uint32_t n_counts;
};

/* Whether nothing is booked of a hold: what is above it books it too, and it has no filter. */
static inline bool hold_is_bare(const struct hold *h)
{
    return (h->flags & HOLD_COVERED) && h->n_counts == 0;
}

struct job {
    int64_t id;
    int64_t at, end; /* holds during [at, end) */
    bool reserved;   /* a reservation, not an allocation */
    bool cut;        /* something that it asked for has been removed */
    bool lifted;     /* nothing of it is counted, but its points are still in the calendars */
    /* others may hold the same: above what it holds only its points are in the calendars */
    bool forced;
    bool hidden; /* its holds are not emitted */
    struct hold *hold;
    uint32_t n, capacity;
    int64_t *counts;
    uint32_t n_counts, counts_capacity;
    /* by hold: the vertex from which it was reached; NULL: all were reached from their parents */
    uint32_t *source;
    struct job_texts *texts; /* NULL: no queue and no labels */
};

/* All jobs, by number. */
struct jobs {
    struct job **slot; /* open addressing */
    uint32_t slots, n;
};

struct job *jobs_find(const struct jobs *t, int64_t id); /* NULL: there is none */
struct job *jobs_at(const struct jobs *t, int64_t id);   /* there must be one */

/* Add a job, whose id must be new. Returns 0, or -1 with ENOMEM. */
int jobs_add(struct jobs *t, struct job *job);
void jobs_remove(struct jobs *t, int64_t id);

struct job *job_new(int64_t id, int64_t at, int64_t end, bool reserved);

/* Make a job like this one, but without its holds. NULL with ENOMEM. */
struct job *job_like(const struct job *job);
void job_destroy(struct job *job);

/* Add a hold with n counts, which may be NULL if n is 0. Returns 0, or -1 with ENOMEM. */
int job_hold(struct job *job, uint32_t vertex, uint32_t flags, int64_t needs, const int64_t *counts,
             uint32_t n);

/* As job_hold, of something that is covered and has no filter: it joins the hold before it if that is of the vertex
 * before and alike. Not of a job with sources.
 */
static inline int job_hold_bare(struct job *job, uint32_t vertex, uint32_t flags, int64_t needs)
{
    struct hold *last = job->n > 0 ? &job->hold[job->n - 1] : NULL;

    if (!last || !hold_is_bare(last) || last->vertex + last->run != vertex ||
        last->flags != flags || last->needs != needs)
        return job_hold(job, vertex, flags, needs, NULL, 0);
    last->run++;
    return 0;
}

/* So many vertices a hold is of, which begin with its own. */
static inline uint32_t hold_vertices(const struct hold *h)
{
    return hold_is_bare(h) ? h->run : 1;
}

/* So many vertices a job has holds of. O(holds). */
uint32_t job_vertices(const struct job *job);

/* A copy of a job, each of whose holds is of one vertex. NULL with ENOMEM. O(vertices). */
struct job *job_unfolded(const struct job *job);

/* The first hold from i on of which something is booked; n: there is none. */
static inline uint32_t job_next_booked(const struct job *job, uint32_t i)
{
    while (i < job->n && hold_is_bare(&job->hold[i]))
        i++;
    return i;
}

/* As job_next_booked, but what is booked with its node is jumped over, too. */
static inline uint32_t job_next_span(const struct job *job, uint32_t i)
{
    while (i < job->n && (hold_is_bare(&job->hold[i]) || job->hold[i].flags & HOLD_WITH_NODE))
        i += job->hold[i].flags & HOLD_WITH_NODE ? job->hold[i].run : 1;
    return i;
}

/* Set from which vertex the last hold was reached; if it is set for one hold, it must be for all. Returns
 * 0, or -1 with ENOMEM.
 */
int job_source(struct job *job, uint32_t source);

/* Set its queue; and give the number of a label, for HOLD_LABEL. Each returns 0, or -1 with ENOMEM. */
int job_set_queue(struct job *job, const char *queue);
int job_label(struct job *job, const char *label, uint32_t *number);

static inline const char *job_queue(const struct job *job)
{
    return job->texts ? job->texts->queue : NULL;
}

/* The label of a hold, or NULL. */
static inline const char *job_label_of(const struct job *job, const struct hold *h)
{
    return h->flags >= HOLD_LABEL ? intern_text(&job->texts->labels, h->flags / HOLD_LABEL - 1)
                                  : NULL;
}

void jobs_clear(struct jobs *t);

#endif
