/* Inside the graph as a place (place/graph.h): its state, shared by bookings (graph.c), parts and their
 * calendars (part.c), classes of requests (class.c), what has room for their pieces (capacity.c, usage.c,
 * increases.c, aside.c, gaps.c), what was freed (freed.c, wake.c), changes of the machine (change.c), questions
 * (probe.c) and reasons (shortage.c).
 *
 * A booking's number is the matcher's number for its job. The matcher says what is free; a part's calendar
 * only counts, to rule out quickly what can't be: the cores taken of it at each instant, or nodes where
 * there are no cores. Counted is what bookings have to themselves, but for what is in nodes that are down,
 * which is no part of the capacity either, and but for bookings that were put where others are
 * (match_job_is_forced). So what a calendar says is free is never less than what is.
 */
#ifndef PLACE_GRAPH_PRIV_H
#define PLACE_GRAPH_PRIV_H

#include "base/bounds.h"
#include "base/strbuf.h"
#include "match/plan.h"
#include "place/core_set.h"
#include "place/graph.h"
#include "place/graph/gaps.h"
#include "resource/graph.h"
#include "resource/hosts.h"

#define PLACE_NONE UINT32_MAX
#define BOOKING_TEMP                                                                               \
    INT64_MAX /* the matcher's number for a booking that will take another's place */

/* What a booking has of a part. */
struct share {
    uint32_t part;
    int64_t all; /* units */
    int64_t up;  /* of them, those not in nodes that are down: what the calendar counts */
};

/* Why a reservation is no earlier, as found out when that was tried. */
struct held_note {
    enum {
        HELD_UNKNOWN,
        HELD_SHORT,   /* pieces were missing */
        HELD_NO_MATCH /* none by count, but there was no match */
    } kind;
    uint32_t class; /* for this one: with another configuration a job may be of another */
    int64_t duration;
    int64_t before; /* its time */
    uint64_t seen;  /* as of this increase, or this event of the log of what was freed */
    uint64_t epoch; /* of the increases */
    uint64_t tried; /* made in a trial: its number among these; 0: not */
    struct gaps_lack lack;
    int64_t left[GAPS_LACKS + 1]; /* what is missing, at least, from each time of `lack` on */
};

struct booking {
    struct held_note *note; /* of a reservation; NULL: nothing is known */
    bool used;
    bool counted;         /* in the calendars, not only with its points */
    bool is_aside;        /* lifted briefly */
    struct share first;   /* its shares: mostly there is only one, of the whole machine, */
    struct share *others; /* so those after it have memory of their own */
    uint32_t n, capacity; /* of all; of others */
    uint32_t next;        /* of the free ones */
    bool is_out;          /* out of the calendars while another one is taken up */
    bool is_best;         /* when it was chosen the policy preferred nothing else, for this ask */
    struct place_ask best_of;
    bool has_ids;      /* those below are known: */
    int64_t low, high; /* of the nodes that it holds anything of, */
    uint32_t *node;    /* these nodes, by vertex */
    uint32_t n_nodes, cap_nodes;
};

static inline struct share *booking_share(struct booking *b, uint32_t i)
{
    return i == 0 ? &b->first : &b->others[i - 1];
}

/* Nothing is known of a booking any more. */
void booking_forget_note(struct booking *b);

struct part {
    char *requires;
    struct jobspec_constraint *constraints;
    uint64_t *within;  /* NULL: all */
    int64_t low, high; /* the ids of its nodes are in between, or these */
    int64_t capacity;  /* units that are up */
    struct profile calendar;
    struct least { /* match_part_min_below, as far as it was asked for */
        uint16_t upper, type;
        int64_t least;
    } * least;
    uint32_t n_least;
};

/* The least that a node, or something else that is freed at once, must have for a request to become
 * possible.
 */
struct piece {
    bool any;   /* nothing is known */
    bool alone; /* nobody else may use it */
    uint32_t n;
    struct {
        uint16_t type;
        int64_t least;
    } need[PIECE_NEEDS];
};

/* What was found out of a class beside some blocks that last for ever, as of these changes. */
struct judgement {
    uint64_t blocks;
    uint64_t changes, block_changes;
    bool never;
};

/* Whether what is up could give it; as of n->changes + n->status_changes + 1, 0: it was not found out yet. */
struct up_judgement {
    uint64_t as_of;
    bool never;
};

/* On how few nodes something could be that names none (few.c), as of n->changes + 1; 0: it was not found out yet. */
struct fewest {
    uint64_t of;
    int64_t nodes;
};

struct class
{
    char *text; /* jobspec_canonical; NULL: the slot is free */
    jobspec_t *spec;
    uint32_t part;
    uint64_t kind; /* a number that no other one has had */
    uint32_t users;
    uint32_t hash, next; /* in its bucket, or of the free ones */
    int64_t cores;       /* the least that it takes of its part */
    uint64_t judged;     /* n->changes when `never` was found out */
    bool never;          /* even an idle machine could not */
    uint64_t counted;    /* n->changes + 1 when `most` was counted; 0: it was not yet */
    int64_t most;        /* as many there is room for on an idle machine (bundle_class.c) */
    struct fewest fewest;
    struct up_judgement up;

    struct judgement beside; /* the last one; of no blocks: none */

    struct piece *piece;
    uint32_t n_pieces;
    uint32_t capacity; /* of its pieces, or PLACE_NONE */
    int64_t pieces;    /* that it needs of it */
    bool by_node;      /* it asks for nodes and nothing above or beside them */
    bool is_exact;     /* it never holds more than pieces */
};

/* Numbers of cores (core_ids.c). */
struct core_ids {
    uint32_t *number; /* by vertex; PLACE_NONE: it is no core */
    uint32_t n;
    uint64_t version;    /* of the graph then */
    struct core_set ids; /* those that a booking holds, while they are listed */
    struct core_list list;
};

struct capacities;
struct bundles;

struct graph_place {
    struct place place;
    match_t *match;
    const struct graph *graph;
    bool has_unit;
    uint16_t unit;                          /* the type that calendars count */
    bool any_down;                          /* something was down once */
    uint64_t changes;                       /* of structure and properties so far */
    uint64_t status_changes, block_changes; /* so far */
    bool stale;                             /* parts and shares are those of an older machine */

    struct part *parts;
    uint32_t n_parts;

    struct class *classes;
    uint32_t n_classes, free_class, live_classes;
    size_t cap_classes;
    uint64_t kinds; /* numbers of classes that were given */
    uint32_t *bucket;
    uint32_t buckets; /* a power of two, or 0 */

    struct capacities *capacities; /* NULL: none yet */

    struct bundles *bundles; /* NULL: there was none yet (bundle.h) */

    struct booking *bookings;
    uint32_t n_bookings, free_booking;
    size_t cap_bookings;

    int64_t now;                    /* the latest that was told */
    int64_t turn;                   /* the first time after it at which a block begins or ends */
    struct freed_nodes freed_nodes; /* of place.freed */
    uint32_t *marked;               /* by vertex, the number of the marking that it was last in */
    uint32_t n_marked, mark;
    uint8_t *meets; /* match_job_mark */
    uint32_t n_meets;
    int64_t *units;            /* match_job_weigh */
    uint32_t n_units, weighed; /* bookings that are in it */
    uint64_t *
        among; /* a bit for each vertex: nodes that a booking is chosen among; all zero in between */
    size_t n_among; /* words */

    uint64_t *narrow; /* nodes that may be taken, by vertex (match_part), for a while, */
    uint32_t n_narrow;
    bool is_narrow;       /* now, */
    uint32_t narrow_part; /* in this part */
    uint64_t *outer; /* vertices that are no nodes, so many words, of a graph of so many vertices */
    uint32_t n_outer, outer_of;

    char *touched;            /* the resources that touches was asked about last */
    uint64_t *those;          /* match_vertex_set */
    uint64_t touched_version; /* of the graph then */

    struct core_ids given;
    struct hosts on; /* what a booking holds, by host */
    struct strbuf text;
};

static inline struct graph_place *graph_place_of(const struct place *place)
{
    return (struct graph_place *)place;
}

static inline const struct class *class_of(const struct graph_place *n, const struct place_ask *ask)
{
    return ask->class < n->n_classes && n->classes[ask->class].text ? &n->classes[ask->class]
                                                                    : NULL;
}

/* ---- Bookings (booking.c, adopt.c) ---- */

/* What is asked of one that is no bundle. */
extern const struct place_ops graph_place_ops;

/* Book it at a time at which it is known that there are pieces enough. As place_ops.book. */
int64_t graph_place_book_counted(struct graph_place *n, const struct place_ask *ask, int64_t at);

/* A booking that was made just now was for a try: it is gone as if it had never been there. */
void graph_place_unbook(struct graph_place *n, int64_t booking);

/* A slot for a booking; -1 with ENOMEM. And back: its array of shares is kept for the next one. */
int64_t graph_place_alloc_slot(struct graph_place *n);
void graph_place_free_slot(struct graph_place *n, int64_t slot);

/* So many more slots will be asked for: have memory for them at once. Returns 0, or -1 with ENOMEM and nothing changed. */
int graph_place_expect_slots(struct graph_place *n, uint32_t more);

/* Out of the calendars and into them again: rows, gaps and counts follow. */
void graph_place_lift_counted(struct graph_place *n, int64_t booking);
void graph_place_drop_counted(struct graph_place *n, int64_t booking);

/* As place_ops says. */
void graph_place_try(struct place *place, bool begin);
bool graph_place_try_one(struct place *place, const struct place_ask *ask);
void graph_place_lift(struct place *place, int64_t booking, bool briefly);
void graph_place_drop(struct place *place, const struct place_ask *ask, int64_t booking);
int64_t graph_place_when(const struct place *place, const struct place_ask *ask, int64_t from);
bool graph_place_fits(struct place *place, const struct place_ask *ask, int64_t booking);
bool graph_place_is_there(struct place *place, const struct place_ask *ask, int64_t booking);
int64_t graph_place_reserve(struct place *place, const struct place_ask *ask, int64_t from,
                            int64_t *at);
int64_t graph_place_book(struct place *place, const struct place_ask *ask, int64_t at);
void graph_place_release(struct place *place, int64_t booking);
void graph_place_undo(struct place *place, int64_t booking);
int graph_place_start(struct place *place, const struct place_ask *ask, int64_t booking,
                      int64_t now);
void graph_place_allocate(struct place *place, int64_t booking, int64_t now);
int64_t graph_place_pull(struct place *place, const struct place_ask *ask, int64_t booking,
                         struct place_pull *how);
int graph_place_extend(struct place *place, int64_t booking, int64_t end);
int64_t graph_place_adopt(struct place *place, const char *format, const char *text, size_t length,
                          int64_t at, int64_t end, bool reservation, berth_error_t *err);
int graph_place_give(struct place *place, int64_t booking, const char *ranks, berth_error_t *err);

/* ---- Parts ---- */

int64_t graph_place_part(struct place *place, const char *requires, berth_error_t *err);
size_t graph_place_rooms(const struct place *place, uint32_t part, int64_t at,
                         struct planner_room *room, size_t max);
int64_t graph_place_idle(const struct place *place, int64_t at);

/* Make parts and shares anew after the machine has changed. Returns 0, or -1 with ENOMEM, and they are
 * stale.
 */
int graph_place_refresh(struct graph_place *n);

/* Work out capacities and shares again after the status of some vertices (match_vertex_set) has changed. */
void graph_place_recount(struct graph_place *n, const uint64_t *those);

/* The least of a type below any vertex of another type of a part. */
int64_t graph_place_least(struct graph_place *n, uint32_t part, uint16_t upper, uint16_t type);

/* A booking's shares: work out and enter them, not counted; take them out; count them or not. They are for
 * the window that the matcher knows; move enters them for another. Returns 0, or -1 with ENOMEM and nothing
 * changed.
 */
int graph_place_enter(struct graph_place *n, int64_t job, struct booking *b);
void graph_place_leave(struct graph_place *n, int64_t job, struct booking *b);
void graph_place_count(struct graph_place *n, int64_t job, struct booking *b, bool count);
int graph_place_move(struct graph_place *n, int64_t job, struct booking *b, int64_t at,
                     int64_t end);

void graph_place_parts_clear(struct graph_place *n);
bool graph_place_parts_check(const struct graph_place *n);

/* ---- Classes ---- */

int graph_place_know(struct place *place, const jobspec_t *spec, uint32_t part, bool refuse,
                     uint32_t *class, int64_t *units, berth_error_t *err);
int graph_place_ever(struct place *place, const struct place_ask *ask, uint64_t blocks);
int graph_place_could_up(struct place *place, uint32_t class);
void graph_place_forget(struct place *place, uint32_t class);
int64_t graph_place_units(struct place *place, uint32_t class);
int64_t graph_place_wants(const struct place *place, uint32_t class, const char *type);
void graph_place_classes_clear(struct graph_place *n);

/* Reckon anew what follows from the machine. */
void graph_place_classes_renew(struct graph_place *n);

/* Whether what they ask for of the unit is known as it is. O(classes) */
bool graph_place_classes_check(struct graph_place *n);

/* What the matcher is asked. */
struct plan_ask graph_place_plan(const struct graph_place *n, const struct place_ask *ask);

/* What a node has of what pieces of a capacity need, taken or not. */
struct capacity_has {
    int64_t most; /* pieces */
    bool alone;
    uint32_t n;
    struct {
        int number; /* of the type in usages; -1: it is in none */
        int64_t units, least;
    } need[PIECE_NEEDS];
};

/* A class with all that has changed counted, for questions about one node after the other while nothing
 * changes.
 */
struct capacity_view {
    const struct graph_place *n;
    const struct capacity *capacity; /* NULL: nothing is known */
    uint32_t alike;                  /* the nodes that `has` is about; PLACE_NONE: none yet */
    struct capacity_has has;

    /* What was found for the last row, which holds for all that are counted the same (node_row.same). */
    bool is_found;
    uint64_t same;
    int64_t at, from;
    struct plan_lack lack;
};

/* The same with what gaps say; it points to itself. */
struct counted {
    struct plan_ask plan;
    struct graph_place *n;
    const struct class *class;
    bool is_viewed;
    struct capacity_view view;
};
void graph_place_plan_counted(struct counted *counted, struct graph_place *n,
                              const struct place_ask *ask);

/* The number of a type, or false if the machine has none. */
bool graph_place_type(const struct graph_place *n, const char *name, uint16_t *type);

/* Whether a resource of a class is for one job alone. */
bool graph_place_is_alone(const struct graph_place *n, const struct jobspec_resource *r);

/* Whether it asks for a GPU of which it only gets a part, so that the GPU itself is not counted as taken. */
bool graph_place_is_shared(const struct graph_place *n, const struct jobspec_resource *r);

/* ---- Capacities (capacity.c) ---- */

/* A new class enters, and leaves. Returns 0, or -1 with ENOMEM. */
int capacity_enter(struct graph_place *n, struct class *class);
void capacity_leave(struct graph_place *n, struct class *class);

/* What so many of a class need that are placed together. */
struct capacity_need {
    uint32_t capacity; /* PLACE_NONE: nothing is known */
    int64_t pieces;
    bool is_all; /* of all of them; else of each one, in nodes that they may share */
    bool is_own; /* it is not the class's capacity */
    struct fewest fewest;
};

/* The same for many together. The class is to be known for as long. The pieces that there is room for throughout
 * [at, at + duration), at most; INT64_MAX: that is not known.
 */
int capacity_enter_all(struct graph_place *n, const struct class *c, uint32_t count,
                       struct capacity_need *need);
void capacity_leave_all(struct graph_place *n, const struct capacity_need *need);
int64_t capacity_most(struct graph_place *n, const struct class *c, int64_t duration, int64_t at);

/* What a booking holds is taken in other ways than before, or soon will be: before the next question. */
void capacity_note(struct graph_place *n, int64_t job);

/* A pass begins: what nobody has asked for in a while is given up. O(capacities). */
void capacity_pass(struct graph_place *n);

/* The machine or its parts have changed; and the end. */
void capacity_reset(struct graph_place *n);
void capacity_clear(struct graph_place *n);

/* True if gaps are those of the rows. O(capacities * nodes). */
bool capacity_check(const struct graph_place *n);

/* Whether a node has room for a piece of a class throughout some window of a duration that begins before a
 * time, of which it may have something of its own from then on.
 */
bool capacity_could(struct graph_place *n, const struct class *c, uint32_t node, int64_t duration,
                    int64_t before);

/* For plan_ask.next, of a struct counted. */
int64_t capacity_next(void *context, int64_t from, int64_t before);

/* For plan_ask.node_from. O(steps of the node). */
int64_t capacity_node_from(void *context, uint32_t node, int64_t at, struct plan_lack *lack);

/* Of a class that has a capacity: whether it is short of pieces now. O(1) while its note holds, else O(gaps).
 */
bool capacity_short(struct graph_place *n, const struct class *c, int64_t duration, int64_t now,
                    struct place_note *note);

/* Of such a class: the longest that it could last from now on, of `least` to `most`, by the pieces that it has room for; 0:
 * there is none. O(gaps over now).
 */
int64_t capacity_longest(struct graph_place *n, const struct class *c, int64_t least, int64_t most,
                         int64_t now);

/* Whether what a note says of a reservation at `at` still holds. O(what has increased since). */
bool capacity_stuck(struct graph_place *n, const struct class *c, int64_t at,
                    struct held_note *note);

/* The first time from now on and before `before` at which a class lacks nothing by count, -1: there is
 * none. The note says what it lacks before, if anything is known. What is booked for it is to be lifted.
 * O(gaps).
 */
int64_t capacity_first(struct graph_place *n, const struct class *c, int64_t duration,
                       int64_t before, struct held_note *note);

/* Whether a class that is held at `at`, by one booking or by all of a bundle, lacks pieces at all times before: it is
 * reckoned what there would be if these were lifted. If so the note says what it lacks. False: no, or that is not
 * known. O(gaps + steps of the nodes that it holds).
 */
bool capacity_lacks_aside(struct graph_place *n, const struct class *c, const int64_t *booking,
                          uint32_t n_bookings, int64_t duration, int64_t at,
                          struct held_note *note);

/* What was held by two at a time is held by one less, or a node changes of which not all is known: no note
 * holds any more. O(capacities).
 */
void capacity_doubt(struct graph_place *n);

/* What has increased so far the note knows. */
void capacity_catch_up(struct graph_place *n, const struct class *c, struct held_note *note);

/* From try to tried: what changes meanwhile counts as an increase only as far as it is there in the end.
 * Nobody asks meanwhile but for the class (NULL: for any). O(nodes that changed). What is given back in a trial for any
 * (capacity_gave_back) may be no increase, and yet be news to notes made in trials before: they hold no more.
 */
void capacity_try(struct graph_place *n, const struct class *c);
void capacity_tried(struct graph_place *n);
bool capacity_is_tried(const struct graph_place *n);
void capacity_gave_back(struct graph_place *n);

/* ---- What may serve reservations (freed.c) ---- */

bool graph_place_is_short(struct place *place, const struct place_ask *ask, int64_t now,
                          struct place_note *note);
int64_t graph_place_longest(struct place *place, const struct place_ask *ask, int64_t least,
                            int64_t now);
bool graph_place_is_stuck(struct place *place, const struct place_ask *ask, int64_t booking,
                          int64_t at, bool apart);
bool graph_place_betters(struct place *place, const struct place_ask *ask, int64_t booking,
                         int64_t at, uint64_t since);

/* Whether something was freed since, in a node, that might serve a request for which there was no match. */
bool graph_place_is_helped(struct graph_place *n, const struct class *c, int64_t duration,
                           struct held_note *note);

/* Choose what a lifted booking holds anew at the time that it has: among what it holds and what was freed since
 * if it is known that the policy preferred nothing else then. As match_plan.
 */
int graph_place_choose_again(struct graph_place *n, const struct place_ask *ask,
                             const struct plan_ask *plan, int64_t booking, int64_t at,
                             uint64_t since);

/* ---- What was freed ---- */

bool graph_place_wakes(const struct place *place, uint32_t class, uint64_t since);
void graph_place_settle(struct place *place);

/* The pieces of a class. Returns 0, or -1 with ENOMEM. */
int graph_place_pieces(const struct graph_place *n, struct class *class);

/* Time is `now`. */
void graph_place_tell(struct graph_place *n, int64_t now);

/* What a booking holds is free during [from, to); a vertex is; everything may be. */
void graph_place_free_job(struct graph_place *n, int64_t job, int64_t from, int64_t to);
void graph_place_free(struct graph_place *n, uint32_t vertex, int64_t from, int64_t to);

/* ---- The machine ---- */

int graph_place_change(struct place *place, const struct place_change *change, berth_error_t *err);
int graph_place_touches(struct place *place, int64_t booking, const char *resources,
                        berth_error_t *err);
int graph_place_block(struct place *place, uint32_t number, const char *resources, int64_t start,
                      int64_t duration, int64_t every, berth_error_t *err);
int64_t graph_place_turn(const struct place *place, int64_t now);

/* ---- Questions (probe.c) ---- */

int64_t graph_place_probe(struct place *place, const struct place_ask *ask, int64_t at);

/* ---- A narrow choice (narrow.c) ---- */

int graph_place_mark(struct place *place, int64_t booking, bool on);
enum place_meet graph_place_meets(const struct place *place, int64_t booking);
bool graph_place_is_steady(struct place *place, const struct place_ask *ask);
int graph_place_weigh(struct place *place, int64_t booking, bool on);
int graph_place_keep_free(struct place *place, int64_t booking, int64_t at);
bool graph_place_next_shared(const struct place *place, int64_t booking, uint32_t *i,
                             uint32_t *node);
int graph_place_narrow(struct place *place, const struct place_ask *ask, bool all);
void graph_place_deny(struct place *place, int64_t booking);
void graph_place_allow(struct place *place, uint32_t node);
int graph_place_allow_few(struct place *place, const struct place_ask *ask, int64_t booking,
                          int64_t at, int64_t nodes, int64_t more);

int graph_place_ever_on(struct place *place, uint32_t class, int64_t nodes);

/* On how few nodes the pieces of so many of a class have room, were the machine idle, as far as that is known: 1 at
 * least. O(1) where it was found out and nothing has changed, else O(vertices).
 */
int64_t graph_place_fewest(struct graph_place *n, const struct class *c, uint32_t count,
                           struct fewest *known);

/* ---- What is withheld (withhold.c) ---- */

void graph_place_lay(struct place *place, int64_t booking);
int graph_place_shift(struct place *place, int64_t booking, int64_t at, int64_t end);
bool graph_place_stands(struct place *place, const struct place_ask *ask, int64_t booking,
                        int64_t now);
int graph_place_free_beside(struct place *place, const int64_t *bookings, size_t n, int64_t now,
                            int64_t *free);
const char *graph_place_withheld(struct place *place, int64_t booking, int64_t now, uint64_t blocks,
                                 int64_t *has, int64_t *of);

/* ---- Why ---- */

const char *graph_place_lacks(struct place *place, const struct place_ask *ask, int64_t at,
                              struct place_counts *counts);
int64_t graph_place_useful(struct place *place, const struct place_ask *ask, int64_t booking);
int64_t graph_place_amount(const struct place *place, int64_t booking, const char *type);
int64_t graph_place_clear(const struct place *place, int64_t booking, const char *type,
                          uint64_t blocks);
int64_t graph_place_total(const struct place *place, const char *type);
int64_t graph_place_up(const struct place *place, uint32_t part, const char *type, uint64_t blocks);
int graph_place_write(struct place *place, int64_t booking, const char *format, const char **text,
                      size_t *length);

/* ---- What it has ---- */

int64_t graph_place_given(struct place *place, int64_t booking,
                          const struct resource_range **ranges, const struct resource_host **hosts);
void core_ids_clear(struct graph_place *n);

int graph_place_hints(struct place *place, const char **text, size_t *length);
int graph_place_take_hints(struct place *place, const char *text, size_t length,
                           berth_error_t *err);

#endif
