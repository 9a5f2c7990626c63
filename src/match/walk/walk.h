/* The walk that looks for a job's resources.
 *
 * It descends from the root and matches vertices with the levels of the request. A request may begin at
 * any depth, but below that no level of the tree may be left out of it. A vertex that satisfies a request
 * is a candidate, with a score. Sinks collect candidates, and the policy's order of scores decides which
 * are taken.
 *
 * The walk leaves out what can't matter:
 *   - Candidates among the children of a vertex come in the policy's order, so a sink that has enough ends
 *     the search.
 *   - A subtree is not entered if its best possible score is no better than what a full sink holds.
 *   - Whether a subtree that is idle throughout the window can satisfy a request is found out once for each
 *     class (topo.h).
 *   - A candidate is only known to fit. What it takes below itself is chosen after it has been selected.
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
    uint64_t order;               /* of discovery */
    uint32_t count;               /* units */
    uint32_t vertex;              /* VERTEX_NONE for a slot */
    const struct slot_part *part; /* of a slot */
    uint32_t n_parts;
    uint32_t host;    /* of a slot: the vertex whose children fill it */
    uint32_t request; /* of a slot: its request */
    bool exclusive;
    uint32_t last_child; /* of a run: the index of its last child among the host's */
    bool is_run; /* `count` slots of the host, with scores from `score` on, not filled yet */
};

/* What a slot takes of a vertex. */
struct slot_part {
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
    uint64_t units; /* found; if bounded: kept */
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

struct plan_ask;

struct walk {
    struct match *m;
    const struct topo *t;
    const struct policy *policy;
    const jobspec_t *spec;
    const struct requests *requests;
    const struct request *rq;
    uint32_t top;               /* first request of the variant that is tried */
    int64_t at, end;            /* the window */
    const uint64_t *within;     /* a bit for each vertex: nodes that may be given; NULL: all */
    const struct plan_ask *ask; /* with node_from; NULL: without */
    bool *whole;                /* by type: given whole (walk_whole_types); NULL: no type is */
    /* blocks that overlap [at, clear) and for which the job has no permit */
    uint64_t blocks;
    int64_t clear;
    bool guard;      /* match for now: what a job holds is not free, even if its time is over */
    bool any_status; /* what is down counts as up */
    /* by vertex: whether an allocation holds it whose time is over or yet to come; NULL: not yet needed */
    uint8_t *overrun;
    bool out_of_memory;
    /* the reason for out_of_memory is that there are too many alternatives to compare */
    bool too_much;
    /* by set of properties, where constraints depend on nothing else: whether it satisfies them: 2 yes, 1
     * no, 0 not known
     */
    uint8_t *by_props;
    uint64_t order;     /* of the next discovery */
    uint64_t order_end; /* discoveries in this subtree come before this */
    uint64_t visits, tries;
    /* nothing that was in the way is free before this; INT64_MAX: nothing was in the way */
    int64_t retry;
    bool wants_retry;  /* find out `retry` */
    uint64_t search;   /* of the earliest time; 0: none */
    bool uncounted;    /* an obstacle could not be remembered, as memory ran out */
    uint64_t found;    /* units found for the first request, if that was not enough */
    struct mark *mark; /* mark[0] is none, mark[1] the root's */
    uint32_t n_marks, marks_capacity;
    bool is_silent;    /* nobody is told what is taken (match_emit) */
    uint32_t *mark_of; /* by vertex: its mark, perhaps of an earlier walk, so it must be checked */
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
    uint32_t request; /* the one it matches, or REQUEST_NONE */
    uint32_t slot;    /* ROLE_SLOT: whose shape, or that of an alternative, its children have */
    bool exclusive;   /* the job would have it to itself */
    bool idle;        /* nothing in its subtree is taken, down or blocked during the window */
    int64_t avail;    /* units that are free */
};

/* Compare a vertex with a level, which is named by its first request, and see whether the vertex may be
 * entered. `pristine`: no vertex above has matched yet. `exclusive`: something above is the job's alone.
 * Returns false if not.
 */
bool walk_enter(struct walk *w, uint32_t v, uint32_t level, bool pristine, bool exclusive,
                struct role *s);

/* True if more than `limit` is taken of the i-th type that a vertex counts at some time of [at, end). */
bool walk_is_over(const struct state *s, uint32_t i, int64_t at, int64_t end, int64_t limit);

/* True if a vertex may answer a request beside the slots of its level, and fills none from its children: it is only
 * given in units, or the level asks for something below one of its type and says that it is shared (exclusive: false).
 * In Fluxion nothing is matched beside a slot. O(the level).
 */
bool walk_is_beside(const struct walk *w, uint32_t v, uint32_t level);

/* Only the comparison, whatever is taken. */
enum role_kind walk_compare(struct walk *w, uint32_t v, uint32_t level, bool pristine,
                            struct role *s);

/* The score of a vertex, given the factor that the node above it adds; and the factor for what is below v. */
int64_t walk_score(const struct walk *w, uint32_t v, int64_t factor);
int64_t walk_factor(const struct walk *w, uint32_t v, int64_t factor);

/* Make the sinks of a level: one for each request, in order. The sink of a request that isn't its own bin
 * stays empty. NULL if memory runs out.
 */
struct sink *sinks_make(struct walk *w, uint32_t level, enum policy_order order, bool keep);
void sink_add(struct walk *w, struct sink *s, const struct candidate *c);
bool sink_wants(const struct sink *s, int64_t score, uint64_t order);
void sink_sort(struct sink *s);

/* For ORDER_RUNS: the runs in a sink are made of its own scores and of those in the sinks before it. Replace
 * each score by the lowest of its run.
 */
void sinks_join_runs(struct walk *w, struct sink *sinks, uint32_t n);

static inline bool sink_has_enough(const struct sink *s)
{
    return s->units >= s->want;
}

/* True if every request of a level has its minimum count. */
bool sinks_suffice(const struct walk *w, struct sink *sinks, uint32_t level);

/* The sink of a request, among the sinks of its level. */
struct sink *sink_of(const struct walk *w, struct sink *sinks, uint32_t level, uint32_t request);

/* Look for candidates for a level among v's children and, for slots, among their children. */
void explore(struct walk *w, uint32_t v, uint32_t level, bool exclusive, int64_t factor,
             struct sink *sinks);

/* The same at any depth below v, where nothing has matched yet. */
void explore_pristine(struct walk *w, uint32_t v, uint32_t level, bool exclusive, int64_t factor,
                      struct sink *sinks);

/* Look at a child of a vertex that has matched: it may be a candidate for the level itself, or a host of
 * slots.
 */
void explore_child(struct walk *w, uint32_t v, uint32_t host, uint32_t level, bool exclusive,
                   int64_t factor, struct sink *sinks);

/* The leaves among a host's children, where one request of a level is for their type and for nothing below them. */
struct leaves {
    struct sink *sink;
    int64_t factor;
    uint16_t type;
    bool exclusive;
    bool filled; /* at some time of the window a job has all of them */
    bool held;   /* an allocation has, whenever */
};

/* Make *l for a level. Returns false if its request is another one. */
bool leaves_begin(const struct walk *w, uint32_t host, uint32_t level, bool exclusive,
                  int64_t factor, struct sink *sink, struct leaves *l);

/* Look at a child: true if it is a candidate, and is in the sink, or if it is taken for some of the window and nobody
 * wants to know until when. False: explore_child finds out.
 */
bool leaves_take(struct walk *w, const struct leaves *l, uint32_t v, uint32_t host);

/* Look at the children of a host of slots for what a level requests beside slots. */
void explore_beside(struct walk *w, uint32_t host, uint32_t level, bool exclusive, int64_t factor,
                    struct sink *sinks);

/* Look at v's children in their turns, until the sinks have that many shares of every
 * request.
 */
void explore_first(struct walk *w, uint32_t v, uint32_t level, uint64_t shares, struct sink *sinks,
                   void (*look)(struct walk *w, uint32_t child, uint32_t host, void *arg),
                   void *arg);

/* A vertex's children, one after the other, as first-fit policies look at them: by how full they are (book/fill.h), by what
 * was free of them when something was last taken, or in the reverse of the topology's order where nothing ever was.
 */
struct turns {
    bool by_fill;
    struct fill_walk fill;
    const struct weight *weights;
    const uint32_t *children;
    uint32_t n, taken;
};

/* Begin with the first, for a level of the request. Returns false if memory runs out. And the next one; false at the end. */
bool turns_begin(struct walk *w, uint32_t v, uint32_t level, struct turns *t);
bool turns_next(struct turns *t, uint32_t *child);

/* The best score that anything below v could have for the sink; false if there is nothing of its
 * request's type below v. It goes by v's class and the factor alone.
 */
bool subtree_best(const struct walk *w, uint32_t v, const struct sink *s, int64_t factor,
                  int64_t *best);

/* Whether there is something of each type that its request asks for below v. */
bool subtree_has(const struct walk *w, uint32_t v, const struct sink *s);

/* True if a vertex that was entered has below it what its request wants there. */
bool walk_satisfies(struct walk *w, uint32_t v, const struct role *s, int64_t factor);

/* Fill slots from a host's children, and add them to the sink. */
void slots_find(struct walk *w, uint32_t host, uint32_t slot, int64_t factor, struct sink *sink);

/* The same for ORDER_RUNS where each child of the host fills a slot, with a score next to the one before:
 * the slots of a run are one candidate until slot_runs_fill. Returns false, with nothing added, if the
 * host is not like that.
 */
bool slot_runs_find(struct walk *w, uint32_t host, const struct role *s, int64_t factor,
                    struct sink *sink);

/* Replace the runs in a sorted sink by their slots, until `want` slots are there. */
void slot_runs_fill(struct walk *w, struct sink *sink, uint64_t want);

/* Children of v of a type in an order: an array in the arena, or a view of the graph's, which is read
 * backwards if `backward`.
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

/* True if some nodes may not be given. */
static inline bool walk_is_constrained(const struct walk *w)
{
    return w->spec->constraints || w->within;
}

/* The part that vertices of a type must be in, a bit for each; NULL: they may be anywhere. What is outside is
 * in nobody's way: it is skipped before anything else is asked of it.
 */
static inline const uint64_t *walk_part_for(const struct walk *w, uint16_t type)
{
    return type == TYPE_NODE || type == TYPE_STORAGE_NODE ? w->within : NULL;
}

/* True if a node may be given: it is in the part and satisfies the jobspec's constraints. Sets
 * w->out_of_memory if memory runs out.
 */
bool constraint_holds(struct walk *w, uint32_t v);

/* By type, whether it is given whole while the jobspec is matched, because the jobspec asks for it
 * exclusively or the policy gives it so. From the arena; NULL with ENOMEM.
 */
bool *walk_whole_types(struct walk *w);

/* Make w->by_props if constraints depend only on properties. Returns 0, or -1 with ENOMEM. */
int walk_note_props(struct walk *w);

/* Note that a vertex is in the way at least until a time; INT64_MAX: for ever. And the earliest time at which
 * the match may succeed, given all that was noted: if it takes several vertices, the time at which as many as
 * are missing may be free.
 */
void walk_note_obstacle(struct walk *w, uint32_t v, int64_t until);
int64_t walk_retry_time(struct walk *w);

/* Remember of a vertex that this search finds nothing in it before a time (book/state.h). */
void full_cache_none(struct walk *w, uint32_t v, uint32_t level, int64_t before);

/* The same where what is known of a vertex is kept. */
void full_window_none(const struct walk *w, struct full_window *kept, uint32_t level,
                      int64_t before);

/* Make room for the first mark. Returns 0, or -1 with ENOMEM. */
int walk_start_marks(struct walk *w);

/* The children of v of a type, if they are consecutive and alike but for consecutive ids; or NULL. */
const struct class_run *walk_row_of(const struct walk *w, uint32_t v, uint16_t type);

/* Mark a vertex to be taken, which is reached from `source` (VERTEX_NONE for the root), and mark what
 * leads to it as shared. NULL if memory has run out.
 */
struct mark *walk_mark(struct walk *w, uint32_t v, uint32_t source, int64_t needs, bool exclusive,
                       const char *label);

/* Find everything that the job asks for, and mark what is taken. Returns 0, or -1 with EBUSY, EOVERFLOW (too
 * many alternatives) or ENOMEM.
 */
int walk_select(struct walk *w);

#endif
