/* The matcher's own structures and calls, for the files of this room. */
#ifndef MATCH_INNER_H
#define MATCH_INNER_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "berth/match.h"
#include "match/book/blocks.h"
#include "match/book/fill.h"
#include "match/book/job.h"
#include "match/book/state.h"
#include "match/machine/prune.h"
#include "match/machine/topo.h"
#include "match/text/name_index.h"
#include "match/walk/policy.h"
#include "match/walk/slot_mix.h"
#include "resource/emission.h"
#include "resource/graph.h"

#define MATCHER_NAME_MAX 16

struct mark;
struct walk;

struct match {
    struct graph *g;
    struct topo topo;
    struct prune prune;
    struct policy policy;
    bool flexible;     /* or_slot and xor_slot are alternatives */
    bool any_class;    /* a vertex has the property perf_class */
    uint64_t version;  /* the graph's, when topo and prune were made */
    int64_t end;       /* of the plan */
    uint64_t tries;    /* of a search for a time (plan.h) */
    uint64_t searches; /* of these, so far */
    struct match_blocks blocks;
    int64_t nodes_up; /* nodes that are up, as match_set_status counts them */
    uint32_t *node;   /* vertices of type node */
    uint32_t n_nodes;
    uint32_t *of_rank;         /* by rank: how many vertices below the root have it */
    uint32_t n_ranks;          /* length of that array */
    struct state **state;      /* by vertex; NULL: nothing was ever taken of it */
    uint32_t states;           /* length of that array */
    struct arena state_memory; /* of all of them: there may be many, and none goes alone */
    bool *exclusive;           /* by type: given whole, with everything below */
    struct fills fills;
    struct profile times; /* a point wherever a job starts or ends */
    bool has_orphans;     /* a job may hold something below a vertex that it has given back */
    struct jobs jobs;
    struct arena arena;        /* for one call */
    struct emission last;      /* what was found last */
    struct arena emitted_text; /* its labels and other texts */
    uint32_t *mark_of;         /* for walks, by vertex */
    struct mark *marks;
    uint32_t marks_capacity;
    struct strbuf text; /* and its text */
    struct memo {
        uint64_t *key;
        int32_t *value;
        uint32_t size, used;
    } memo;                       /* answers by class, for one jobspec */
    struct slot_mixes slot_mixes; /* of alternative slots, for one jobspec */
    struct obstacles {
        struct obstacle {
            int64_t until, weight;
        } * v;
        uint32_t n, capacity;
    } obstacles; /* of a match that failed (walk/retry.c) */
    /* Several equal requests are booked in one window, one after the other, and nothing is given back between them: of a
     * run of children of a vertex, so many at the beginning are known to be full.
     */
    struct alike {
        bool is;
        bool backward;
        uint32_t host, first, level;
        int64_t at, end;
        uint32_t full;
    } alike;
    /* What the first ones of these took of a node that was idle, one after the other (walk/repeat.h). */
    struct repeat {
        struct repeat_shape {
            const struct job *job;
            uint32_t
                held; /* so many of its holds, the first ones, are of the node and what is below it */
        } * shape;
        uint32_t n;
        size_t capacity;
        bool is_whole; /* another node was taken after these */
        uint32_t node; /* of which the shapes are */
        uint32_t
            host; /* of which the last one has something, and which was idle too; VERTEX_NONE */
        uint32_t given; /* so many have something of that */
    } repeat;
    struct no_room *no_room; /* walk/no_room.h; NULL: nothing is noted yet */
    struct name_index names; /* made when first asked for */
    /* What is kept free for one search (book/keep_free.c): by a job that is not among the others. Bits by vertex say
     * of which it holds something, and `words` later of which all.
     */
    struct kept_free {
        struct job *job;
        uint64_t *seen;
        uint32_t words;
    } kept_free;
};

/* The state of a vertex, which is made if there is none. NULL with ENOMEM. */
struct state *match_state(struct match *m, uint32_t v);

/* Make what a state says of units and of what is below, if there is none. Returns 0, or -1 with ENOMEM. */
int match_need_below(struct match *m, struct state *s);

/* Book a job and add it to the jobs of the matcher, which then owns it. Returns 0, or -1 with ENOMEM. */
int match_record(struct match *m, struct job *job);

/* As match_record, of one of which it is noted what is booked with its node, as another was recorded that it is like. */
int match_record_like(struct match *m, struct job *job);

/* Add `sign` to the counts of what is down, in v and in all that is above it. Returns 0, or -1 with
 * ENOMEM.
 */
int match_add_down(struct match *m, uint32_t v, int sign);

/* How many vertices below the root have a rank. */
uint32_t match_rank_size(const struct match *m, int32_t rank);

/* The topmost vertices of the ranks that a set of ids names ("all": of every rank), by rank, in an array that the
 * caller frees; ranks that nothing has are left out. Returns 0, or -1: EINVAL or ERANGE with a text, ENOMEM.
 * O(vertices).
 */
int match_rank_tops(const struct match *m, const char *text, uint32_t **v, size_t *n,
                    berth_error_t *err);

/* Forget the answers by class and by slot mix, which are for one jobspec. */
void match_clear_memo(struct match *m);

/* Begin a new emission, for the window [at, end), in place of the last. queue may be NULL. Returns 0, or -1
 * with ENOMEM.
 */
int match_emit_begin(struct match *m, int64_t at, int64_t end, const char *queue);

/* Make what a job holds the last emission. Returns 0, or -1 with ENOMEM and an empty emission. */
int match_emit_job(struct match *m, const struct job *job);

/* Add a vertex to the emission. Returns 0, or -1 with ENOMEM. */
int match_emit(struct match *m, const struct emitted *item);

/* Turn what a walk has marked into the last emission and, unless job is NULL, into the job's holds. Returns
 * the number of vertices given; 0 if the request gives nothing to any job, -1 with ENOMEM.
 */
int64_t match_commit(struct walk *w, struct job *job);

/* What a hold counts in `users` of its vertex. */
static inline int64_t hold_load(const struct hold *h)
{
    return h->flags & HOLD_EXCLUSIVE ? STATE_EXCLUSIVE : h->flags & HOLD_FILLS ? STATE_FULL + 1 : 1;
}

/* The state of the node that v is directly in, if jobs may book v with it; else NULL. v has nothing below it. */
static inline const struct state *match_filled(const struct match *m, uint32_t v)
{
    const struct topo *t = &m->topo;
    uint32_t above =
        !t->is_tree || v == t->root || !topo_is_leaf(t, v) ? VERTEX_NONE : t->parent[v];

    return above == VERTEX_NONE || m->g->v[above].type != TYPE_NODE ? NULL : m->state[above];
}

/* The largest load of a vertex during [at, end); STATE_EXCLUSIVE where a job has all that is in its node. */
static inline int64_t match_load(const struct match *m, uint32_t v, int64_t at, int64_t end)
{
    int64_t load = state_load(m->state[v], at, end);

    return load < STATE_EXCLUSIVE && state_load(match_filled(m, v), at, end) >= STATE_FULL
               ? STATE_EXCLUSIVE
               : load;
}

/* Book everything that a job holds, or give it back. Returns 0, or -1 with ENOMEM and nothing booked. What the job has of
 * nodes of which it has all is booked with the node; which that are is found out by match_book, and again by match_recount.
 */
int match_book(struct match *m, struct job *job);
int match_book_again(struct match *m,
                     const struct job *job); /* one that is booked, for another time */
void match_unbook(struct match *m, struct job *job);

/* Make the index of names if there is none. Returns 0, or -1 with ENOMEM. */
int match_need_names(struct match *m);

/* The vertex that v is in, in the tree of what contains what; VERTEX_NONE: none, or there is no such tree. */
static inline uint32_t vertex_above(const struct match *m, uint32_t v)
{
    return m->topo.parent ? m->topo.parent[v] : VERTEX_NONE;
}

/* True if v is of the machine as it is now: not gone, and reached from the root. */
static inline bool vertex_is_there(const struct match *m, uint32_t v)
{
    return !m->g->v[v].gone && m->topo.class_of[v] != CLASS_NONE;
}

/* The vertex from which v is reached first. This makes a tree, even where the topology is not one.
 * VERTEX_NONE for the root, and for a vertex that is not in the topology.
 */
static inline uint32_t match_parent(const struct match *m, uint32_t v)
{
    const struct topo *t = &m->topo;

    if (v == t->root || t->class_of[v] == CLASS_NONE)
        return VERTEX_NONE;
    return t->owner ? t->owner[v] : t->parent[v];
}

/* True if a child of v is below v in that tree. */
static inline bool match_owns(const struct match *m, uint32_t v, uint32_t child)
{
    return !m->topo.owner || m->topo.owner[child] == v;
}

/* The number of vertices below v in that tree. */
static inline uint64_t match_count_below(const struct match *m, uint32_t v)
{
    const struct class *c = topo_class(&m->topo, v);
    uint64_t count = 0;

    for (uint32_t i = 0; i < c->n_sums; i++)
        count += m->topo.sum[c->sum + i].count;
    return count;
}

/* The vertex that a vertex of a JGF text stands for, or VERTEX_NONE with EINVAL or ENOMEM. */
struct jgf_vertex;
uint32_t match_find_jgf(struct match *m, const struct jgf_vertex *x, berth_error_t *err);

/* Compute again what a job's holds count in the pruning filters. With `uncover`, every hold is then booked by
 * itself. Returns a new job with the same holds except those of removed vertices, or NULL with ENOMEM.
 * Nothing is booked.
 */
struct job *match_recount(struct match *m, const struct job *job, bool uncover);

/* Remember that a vertex is full at some time of [at, end), so that a walk over its parent's children can
 * pass it by: a job has the vertex to itself, too little is left below it of a type that the request wants,
 * or it is used at all. And forget that.
 */
struct plan_lack;
struct request;
void full_cache_note(struct match *m, uint32_t v, const struct request *q, int64_t at, int64_t end);

/* The same of what the caller has found out (plan.h). */
void full_cache_lack(struct match *m, uint32_t v, const struct plan_lack *lack);

/* The same where what is known of a vertex is kept, and the state of what it is in. */
void full_window_lack(struct state *above, struct full_window *kept, const struct plan_lack *lack);

/* What is known of FULL_BLOCK children from one on that is the first of such a block, of a vertex of which something is
 * known. O(1), or O(FULL_BLOCK) after a change.
 */
const struct full_block *full_block_of(struct match *m, const struct state *above,
                                       const uint32_t *children, uint32_t first);

/* Whether what blocks say is so of each of their children. */
bool full_block_check(const struct match *m, const struct state *above, const uint32_t *children,
                      uint32_t n);

/* The same for who counts units of a type, of which all below it are taken. */
void full_cache_note_count(struct match *m, uint32_t v, uint16_t type, int64_t at, int64_t end);

/* Note in the state of a vertex when in a window a job has it to itself. */
void full_cache_take(struct state *s, int64_t at, int64_t end);

/* Something of a vertex is given back: forget when it was full or taken. */
void full_cache_forget(struct match *m, uint32_t v);

/* Add one of a job's holds to the counts of a vertex (sign 1), or subtract it (-1). Does nothing if the job
 * is lifted.
 */
void match_note_hold(struct match *m, const struct job *job, const struct hold *h, int sign);

/* A job, which is a reservation still, becomes an allocation: one of its holds is to count as such. The same. */
void match_note_allocated(struct match *m, struct job *job, const struct hold *h);

/* As match_book, for one hold. */
int match_book_hold(struct match *m, const struct job *job, const struct hold *h);

/* Update the order in which first-fit policies look at children, along the last emission: the children with
 * the most free now come first or, if `now` < 0, last. Returns 0, or -1 with ENOMEM.
 */
int match_reweigh(struct match *m, int64_t now);
int match_need_weights(struct match *m, uint32_t v);
void match_put_weight(struct match *m, uint32_t parent, const struct weight *new);

/* Mark as divisible the vertices with numbers >= `from` that have the property `divisible`. */
void match_mark_divisible(struct graph *g, uint32_t from);

/* Rebuild topology, filters, states and jobs after the graph's structure has changed. Returns 0, or -1 with
 * ENOMEM, ENOTSUP or ELOOP (topo.h) and the matcher as it was; it can be used again once the caller has put
 * its graph back (graph_restore).
 */
int match_rebuild(struct match *m);

/* Make states and everything else that follows from the topology and the filters, without jobs; and drop it
 * all again.
 */
int match_make_states(struct match *m);
void match_drop_states(struct match *m);

#endif
