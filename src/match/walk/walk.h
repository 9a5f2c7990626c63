/* The walk that looks for a job's resources.
 *
 * It descends from the root, matching vertices with the levels of the request: levels above the request's
 * first may be left out of it, later ones not. What satisfies a request at a vertex is a candidate, with
 * a score; sinks collect candidates, and the policy's order of scores says which are taken.
 *
 * Nothing is looked at that can't matter. Candidates among the children of a vertex come in the policy's
 * order, so that a sink that has enough ends the search; a subtree whose best possible score is no better
 * than what a full sink holds isn't entered; and whether a subtree that is idle throughout the window can
 * satisfy a request is asked once for each class (topo.h). A candidate is first only found fit; what is
 * to be taken below it is chosen once it is taken.
 */
#ifndef MATCH_WALK_H
#define MATCH_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "match/inner.h"
#include "match/walk/request.h"

/* Something that satisfies a request: a vertex, or for a slot the vertices that fill it. */
struct candidate {
    int64_t score;
    uint64_t order;          /* of discovery */
    uint32_t count;          /* units */
    uint32_t vertex;         /* VERTEX_NONE for a slot */
    const struct part *part; /* of a slot */
    uint32_t n_parts;
    uint32_t host;    /* of a slot: the vertex whose children fill it */
    uint32_t request; /* of a slot */
    bool exclusive;
    uint32_t last_child; /* of a run: the place of its last child among the host's */
    bool is_run; /* `count` slots of the host, with scores from `score` on, not filled yet */
};

/* What a slot takes of a vertex. */
struct part {
    uint32_t vertex;
    uint32_t request; /* of the slot's shape */
    int64_t needs;
};

/* Candidates for one request. */
struct sink {
    uint32_t request;
    enum policy_order order; /* by which they are preferred */
    bool keep;               /* the candidates, not only their count */
    bool bounded;            /* keep only the best */
    bool full;      /* bounded: enough are kept, and others must be better than the worst */
    uint64_t want;  /* units that are enough */
    uint64_t units; /* found, or kept if bounded */
    int64_t worst;
    uint64_t worst_order;
    struct candidate *v;
    uint32_t n, capacity, trim;
};

/* A vertex that is to be taken. */
struct mark {
    uint32_t vertex;
    bool exclusive;
    bool shown_only; /* emitted as exclusive, but booked as shared */
    int64_t needs;
    const char *label;
    uint32_t first, next; /* marks of its children, by vertex where topo is ascending; 0: none */
};

struct walk {
    struct match *m;
    const struct topo *t;
    const struct policy *policy;
    const jobspec_t *spec;
    const struct requests *requests;
    const struct request *rq;
    uint32_t top;           /* first request of the variant that is tried */
    int64_t at, end;        /* the window */
    const uint64_t *within; /* by vertex, a bit: nodes that may be given; NULL: all */
    bool *whole;            /* by type: given whole; NULL: none is looked at */
    uint64_t blocks;        /* blocks that keep others from the window */
    bool guard;             /* now: what a job holds isn't free, even if its time is over */
    bool any_status;        /* what is down counts as up */
    /* by vertex: what allocations hold whose time isn't now; NULL: none was met */
    uint8_t *overrun;
    bool out_of_memory;
    bool too_much; /* alternatives to compare: goes with out_of_memory, and is the reason */
    /* whether a set of properties satisfies the constraints, if only that matters: 2 yes, 1 no */
    uint8_t *by_props;
    uint64_t order;     /* of the next discovery */
    uint64_t order_end; /* those of this subtree's come before */
    uint64_t visits, tries;
    int64_t retry;     /* no earlier than this will what was busy be free; INT64_MAX: nothing was */
    bool wants_retry;  /* find that out */
    bool uncounted;    /* not all that was in the way could be remembered */
    uint64_t found;    /* units of the first request, where not enough was found */
    struct mark *mark; /* mark[0] is none, mark[1] the root's */
    uint32_t n_marks, marks_capacity;
    uint32_t *mark_of; /* by vertex; what it says must be checked */
};

enum role_kind {
    ROLE_NONE,     /* the level can't be matched here */
    ROLE_PRISTINE, /* the request begins further down */
    ROLE_RESOURCE, /* the vertex matches a request of the level */
    ROLE_SLOT      /* its children fill a slot */
};

/* What a vertex is to a level of the request. */
struct role {
    enum role_kind kind;
    uint32_t request; /* that it matches, or REQUEST_NONE */
    uint32_t slot;    /* ROLE_SLOT: whose shape, or that of an alternative, its children have */
    bool exclusive;   /* it would be given to the job alone */
    bool idle;        /* nothing below is taken or down during the window */
    int64_t avail;    /* units */
};

/* Compare a vertex with a level (its first request; pristine: nothing above has matched) and look whether
 * it may be entered. False if not.
 */
bool walk_enter(struct walk *w, uint32_t v, uint32_t level, bool pristine, bool exclusive,
                struct role *s);

/* True if the i-th type that a vertex counts has more than a limit at some time of a window. */
bool walk_is_over(const struct state *s, uint32_t i, int64_t at, int64_t end, int64_t limit);

/* The comparison alone. */
enum role_kind walk_compare(struct walk *w, uint32_t v, uint32_t level, bool pristine,
                            struct role *s);

/* Score of a vertex under the factor of the nodes above it, and the factor for what is below it. */
int64_t walk_score(const struct walk *w, uint32_t v, int64_t factor);
int64_t walk_factor(const struct walk *w, uint32_t v, int64_t factor);

/* Sinks for a level: one for each request, in order. That of a request that isn't its own bin stays empty. */
struct sink *sinks_make(struct walk *w, uint32_t level, enum policy_order order, bool keep);
void sink_add(struct walk *w, struct sink *s, const struct candidate *c);
bool sink_wants(const struct sink *s, int64_t score, uint64_t order);
void sink_sort(struct sink *s);

/* Where runs of scores are preferred: those of a sink are the runs of its scores and of those before it. */
void sinks_join_runs(struct walk *w, struct sink *sinks, uint32_t n);

static inline bool sink_has_enough(const struct sink *s)
{
    return s->units >= s->want;
}

/* True if all requests of a level have their least count. */
bool sinks_suffice(const struct walk *w, struct sink *sinks, uint32_t level);

/* The sink of a request among those of its level. */
struct sink *sink_of(const struct walk *w, struct sink *sinks, uint32_t level, uint32_t request);

/* Look for candidates of a level among v's children, and among theirs for slots. */
void explore(struct walk *w, uint32_t v, uint32_t level, bool exclusive, int64_t factor,
             struct sink *sinks);

/* The same where nothing has matched yet, all the way down. */
void explore_pristine(struct walk *w, uint32_t v, uint32_t level, bool exclusive, int64_t factor,
                      struct sink *sinks);

/* A child that may answer a level whose parent has matched: as a candidate itself, or as a host of slots. */
void explore_child(struct walk *w, uint32_t v, uint32_t host, uint32_t level, bool exclusive,
                   int64_t factor, struct sink *sinks);

/* Look at v's children, where most is free first, until the sinks have that many shares of every request. */
void explore_first(struct walk *w, uint32_t v, uint32_t level, uint64_t shares, struct sink *sinks,
                   void (*look)(struct walk *w, uint32_t child, uint32_t host, void *arg),
                   void *arg);

/* Children in the order of a policy that takes what it finds first; their number. *weights is NULL where
 * that is the reverse of their own.
 */
uint32_t children_by_weight(const struct walk *w, uint32_t v, const struct weight **weights);

/* The best score that something below v may have for the sink; false if there is nothing of its request's
 * type.
 */
bool subtree_best(const struct walk *w, uint32_t v, const struct sink *s, int64_t factor,
                  int64_t *best);

/* True if a vertex that was entered has what is below it in its request. */
bool walk_satisfies(struct walk *w, uint32_t v, const struct role *s, int64_t factor);

/* Fill slots from a host's children, into the sink. */
void slots_find(struct walk *w, uint32_t host, uint32_t slot, int64_t factor, struct sink *sink);

/* The same where runs of scores are sought and each child fills a slot, with a score next to the one
 * before: those in a row are one candidate for the time being. False if the host isn't like that.
 */
bool slot_runs_find(struct walk *w, uint32_t host, const struct role *s, int64_t factor,
                    struct sink *sink);

/* Replace the runs in a sorted sink by their slots, until `want` slots are there. */
void slot_runs_fill(struct walk *w, struct sink *sink, uint64_t want);

/* Children of v of a type in an order, as an array in the arena (or a view of the graph's, then backward
 * says how to read it).
 */
struct children {
    const uint32_t *v;
    uint32_t n;
    bool backward;
};
bool children_ordered(struct walk *w, uint32_t v, uint16_t type, enum policy_order order,
                      struct children *children);

static inline uint32_t children_at(const struct children *k, uint32_t i)
{
    return k->v[k->backward ? k->n - 1 - i : i];
}

/* True if not every node may be given. */
static inline bool walk_is_constrained(const struct walk *w)
{
    return w->spec->constraints || w->within;
}

/* True if a node satisfies the jobspec's constraints and may be given. If memory runs out w notes it. */
bool constraint_holds(struct walk *w, uint32_t v);

/* By type, whether it is given whole while the jobspec is matched, as it wants it exclusive or the policy
 * does; from the arena, NULL with ENOMEM.
 */
bool *walk_whole_types(struct walk *w);

/* Room for answers by set of properties, where constraints ask for nothing else. Returns 0, or -1 with
 * ENOMEM.
 */
int walk_note_props(struct walk *w);

/* Note that a vertex is in the way until then at least; INT64_MAX: for ever. And the earliest time at
 * which the match may succeed, by all that was noted: where it takes several vertices, when as many as
 * are missing may be free.
 */
void walk_note_obstacle(struct walk *w, uint32_t v, int64_t until);
int64_t walk_retry_time(struct walk *w);

/* Room for the first mark. Returns 0, or -1 with ENOMEM. */
int walk_start_marks(struct walk *w);

/* Mark a vertex as to be taken, reached from source (VERTEX_NONE for the root), and as shared what leads
 * to it. NULL if memory has run out.
 */
struct mark *walk_mark(struct walk *w, uint32_t v, uint32_t source, int64_t needs, bool exclusive,
                       const char *label);

/* Find all and mark what is taken. Returns 0, or -1 with EBUSY, or ENOMEM. */
int walk_select(struct walk *w);

#endif
