/* Capacities: for each piece that classes ask for many of, how many there is room for when, as gaps in each
 * part of the machine.
 *
 * A class that asks for so many nodes, or slots that are each in a node, can be only where that many pieces
 * find room, each in one place all the time. Gaps (gaps.h) count the pieces that nodes have room
 * for, so that what can't be, now or for a reservation, is ruled out without a match. Nodes that are down
 * have no room; those that are blocked or don't satisfy constraints count as if they did, so gaps may
 * promise too much, never too little.
 *
 * Of each node it is remembered what was taken of it when it was last counted (rows). Nodes of which a
 * booking has changed are listed, and counted again before the next question: O(nodes that changed), each in
 * all capacities of its parts; nodes that changed alike are counted at once. Where memory runs out nothing is
 * known until all is counted again.
 *
 * A capacity lists by how much it has increased, and when. A request that lacked pieces is looked at again
 * only when the increases that could serve it are as many (struct place_note).
 *
 * Why this is not the class of a request: requests for 1, 2 and 500 of the same nodes are three classes, and
 * their pieces are counted once.
 */
#ifndef PLACE_CAPACITY_H
#define PLACE_CAPACITY_H

#include "place/graph/gaps.h"
#include "place/graph/graph_priv.h"

/* In windows in [from, until) that begin before `before` there is room for more pieces than there was,
 * these at most.
 */
struct increase {
    int64_t from, until, before, pieces;
};

struct capacity {
    uint32_t users; /* classes; 0: the slot is free */
    uint32_t part;
    bool is_node; /* a node is one piece, however much it has */
    bool filled;
    struct piece piece;
    struct gaps gaps;
    uint64_t asked; /* in which pass */
    uint64_t epoch; /* changes when something is no increase of these, and more all the same */
    uint64_t first_increase; /* number of the first one in the list; older ones are forgotten */
    uint32_t n_increases;
    uint32_t unseen; /* from this one on nobody has seen them */
    uint64_t batch;  /* if this is capacities.batch */
    struct increase increase[INCREASES_MAX];
    bool has_known; /* what nodes of one class have of what the pieces need */
    uint32_t has_alike;
    struct capacity_has has;
};

struct node_row {
    uint32_t vertex, alike;
    uint32_t n;    /* steps; 0: nothing is taken */
    uint64_t same; /* rows with one number have the same steps */
    bool dirty;
    bool tried;
    uint64_t parts; /* that it belongs to, by number */
    struct plan_usage *step;
    uint32_t n_was; /* if it is tried: what it was when the trial began */
    struct plan_usage *was;
};

/* Nodes that have changed alike. */
struct change {
    const struct node_row *sample;
    int64_t count;
    uint32_t n_old, n_new;
    struct plan_usage old[GAPS_STEPS_MAX], new[GAPS_STEPS_MAX];
};

/* What changes of a node for capacities of a kind. */
struct capacity_change {
    struct room_step old[GAPS_STEPS_MAX], new[GAPS_STEPS_MAX];
    struct gap was[GAPS_STEPS_MAX], is[GAPS_STEPS_MAX];
    uint32_t n_old, n_new, n_was, n_is;
    struct gap differ[2 * GAPS_STEPS_MAX]; /* gaps with the pieces that each has more */
    uint32_t n_differ;
    struct increase increase[GAPS_STEPS_MAX];
    uint32_t n_increases;
};

enum { ROW_BLOCK = 8 }; /* a few bytes for each vertex would be more than all rows have */

struct capacities {
    struct capacity *v;
    uint32_t n;
    /* All that have users, by what their pieces need: what changes for a node is mostly the same for those side by side, and
     * is worked out once.
     */
    struct capacity **order;
    uint32_t n_order;
    bool is_ordered; /* `order` is that of now */
    bool ready;      /* the rows are there */
    bool trial;
    uint32_t
        only; /* in a trial: the one that is asked, others learn of it in the end; PLACE_NONE: all may be */
    uint64_t tries,
        given_back; /* notes in trials so far; of these, before the last release in one */
    struct node_row *row;
    uint32_t n_rows;
    uint32_t
        *row_from; /* by block of ROW_BLOCK vertices: the first row of these or of those after */
    uint32_t *dirty;
    uint32_t n_dirty;
    uint32_t *tried;
    uint32_t n_tried;
    uint64_t passes;
    int64_t now;    /* the latest time that somebody was short of something at (capacity_short) */
    uint64_t batch; /* how often nodes were counted anew */
    uint64_t epochs;
    struct change change;
    struct gaps aside; /* of a question (aside.c): its memory is kept for the next one */
    uint64_t sames;    /* numbers given to rows */
    uint32_t last_put; /* the row that got the last one */
};

/* ---- Rows (usage.c) ---- */

/* The number of a note that is made now among those of trials; 0: there is none. */
uint64_t capacity_note_tried(struct capacities *all);

/* Count anew what has changed. False if nothing is known. */
bool usage_settle(struct graph_place *n);

/* Whether the same is taken of two nodes that have the same. */
bool usage_is_alike(const struct node_row *a, const struct node_row *b);

/* The row of a node; n_rows if there is none. O(1): at most ROW_BLOCK rows are looked at. */
static inline uint32_t usage_row_of(const struct capacities *h, uint32_t vertex)
{
    uint32_t i = h->row_from[vertex / ROW_BLOCK];

    while (i < h->n_rows && h->row[i].vertex < vertex)
        i++;
    return i < h->n_rows && h->row[i].vertex == vertex ? i : h->n_rows;
}

/* ---- Capacities (capacity.c) ---- */

/* The capacity of a class, with what has changed among its gaps or late; NULL: nothing is known. The same with all that has
 * changed counted. And one of which gaps may be late, with the pieces that there are throughout [at, end): O(gaps over that
 * time) if it is now.
 */
struct capacity *capacity_counted(struct graph_place *n, const struct class *c);
struct capacity *capacity_ready(struct graph_place *n, const struct class *c);
struct capacity *capacity_within(struct graph_place *n, const struct class *c, int64_t at,
                                 int64_t end, int64_t *pieces);

/* Begin to ask about nodes: what has changed is counted. */
void capacity_view(struct capacity_view *view, struct graph_place *n, const struct class *c);

/* Whether a node has room for a piece throughout [at, end), as far as is known. Of one view the end follows from
 * `at`. O(1) where the node before it had the same steps, else O(steps).
 */
bool capacity_view_finds(struct capacity_view *view, uint32_t node, int64_t at, int64_t end);

/* What a view has found holds for a row that is counted the same, if it was asked for the same time. */
static inline bool capacity_view_knows(const struct capacity_view *view, const struct node_row *row,
                                       int64_t at)
{
    return view->is_found && view->same == row->same && view->at == at && view->alike == row->alike;
}

static inline bool capacity_view_has(struct capacity_view *view, uint32_t node, int64_t at,
                                     int64_t end)
{
    const struct capacities *all = view->n->capacities;
    uint32_t i = view->is_found ? usage_row_of(all, node) : 0;

    return view->is_found && i < all->n_rows && capacity_view_knows(view, &all->row[i], at)
               ? view->from == at
               : capacity_view_finds(view, node, at, end);
}

/* Nodes have changed: count their gaps and, but in a trial, what has increased. Or, when a trial is over,
 * that and the gaps of those who have not learned of it. Return 0, or -1 with ENOMEM.
 */
int capacity_change(struct graph_place *n, const struct change *c);
int capacity_change_late(struct graph_place *n, const struct change *c);

/* What a node has of what a capacity's pieces need. And the pieces that it has room for when so much is taken of it. */
struct capacity_has capacity_has_of(const struct graph_place *n, const struct capacity *h,
                                    uint32_t vertex);
int64_t capacity_room_of(const struct capacity_has *has, const struct plan_usage *step);

/* The room that steps leave over time: at most so many steps, one at least. Returns their number. */
uint32_t capacity_rooms_of(const struct capacity_has *has, const struct plan_usage *step,
                           uint32_t steps, struct room_step *room);

/* How many pieces so many of a class ask for that are placed together, and whether each is a node of its own; 0: that
 * is not known. Whether there is a capacity for them makes no difference.
 */
int64_t capacity_pieces(const struct graph_place *n, const struct class *c, uint32_t count,
                        bool *is_node);

/* What changes of a node for capacities like this one, increases left out; false: nothing. */
bool capacity_compare(const struct graph_place *n, struct capacity *h, const struct change *c,
                      struct capacity_change *x);

/* ---- Increases (increases.c) ---- */

/* As capacity_first, with gaps beside those that there are. */
int64_t capacity_first_beside(struct graph_place *n, const struct class *c,
                              const struct gaps *beside, int64_t duration, int64_t before,
                              struct held_note *note);

/* Work out what the node has more room for: for changes that are told with that. */
void capacity_find_increases(struct capacity_change *x);

/* List what `count` nodes that change so have more room for. */
void capacity_note_increases(struct capacities *all, struct capacity *h,
                             const struct capacity_change *x, int64_t count);

/* The end of a gap as seen by a job that holds part of it itself from `own` on. */
int64_t capacity_gap_end(const struct capacity *h, int64_t until, int64_t own);

#endif
