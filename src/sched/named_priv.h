/* Inside the named place (named_place.h): its state, shared by bookings (named_place.c), parts and their calendars
 * (named_part.c), classes of requests (named_class.c), what was freed (named_stir.c), changes of the machine
 * (named_machine.c) and reasons (named_why.c).
 *
 * A booking's number is the matcher's number for its job. The matcher says what is free; a part's calendar only counts,
 * to rule out quickly what can't be: the cores taken of it at each instant, or nodes where there are no cores. Counted is
 * what bookings have to themselves, but for what is in nodes that are down, which is no part of the capacity either, and
 * but for bookings that were put where others are (match_job_is_forced). So what a calendar says is free is never less
 * than what is.
 */
#ifndef SCHED_NAMED_PRIV_H
#define SCHED_NAMED_PRIV_H

#include "base/strbuf.h"
#include "match/plan.h"
#include "resource/graph.h"
#include "sched/cores.h"
#include "sched/named_gaps.h"
#include "sched/named_place.h"

#define NAMED_NONE  UINT32_MAX
#define NAMED_TEMP  INT64_MAX /* the matcher's number for a booking that will take another's place */
#define FREED_NODES 256       /* that are remembered one by one */
#define NEAR_MAX    32768     /* that sweeps remember */
#define PIECE_NEEDS 8         /* types that a piece of a request may need */

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
    uint64_t heard; /* as of this place among gains, or in the log of what was freed */
    uint64_t epoch; /* of the gains */
    struct gaps_lack lack;
    int64_t left[GAPS_LACKS + 1]; /* what is missing, at least, from each time of `lack` on */
};

struct booking {
    struct held_note note;
    bool used;
    bool counted; /* in the calendars, not only with its points */
    struct share *share;
    uint32_t n, capacity;
    uint32_t next;     /* of the free ones */
    bool has_ids;      /* those below are known: */
    int64_t low, high; /* of the nodes that it holds anything of */
};

struct part {
    char *requires;
    struct jobspec_constraint *constraints;
    uint64_t *within; /* NULL: all */
    int64_t capacity; /* units that are up */
    struct profile calendar;
    struct least { /* match_part_least, as far as it was asked for */
        uint16_t upper, type;
        int64_t least;
    } * least;
    uint32_t n_least;
};

/* The least that a node, or something else that is freed at once, must have for a request to become possible. */
struct piece {
    bool any;   /* nothing is known */
    bool alone; /* nobody else may use it */
    uint32_t n;
    struct {
        uint16_t type;
        int64_t least;
    } need[PIECE_NEEDS];
};

struct class
{
    char *text; /* jobspec_canonical; NULL: the slot is free */
    jobspec_t *spec;
    uint32_t part;
    uint32_t users;
    uint32_t hash, next; /* in its bucket, or of the free ones */
    int64_t cores;       /* the least that it takes of its part */
    uint64_t judged;     /* n->changes when `never` was found out */
    bool never;          /* even an idle machine could not */
    struct piece *piece;
    uint32_t n_pieces;
    uint32_t host;  /* of its pieces, or NAMED_NONE */
    int64_t pieces; /* that it needs of it */
    bool by_node;   /* it asks for nodes and nothing above or beside them */
    bool is_exact;  /* it never holds more than pieces */
};

struct freed_node {
    uint32_t vertex;
    int64_t from, to;
};

/* Numbers of cores (named_given.c). */
struct named_given {
    uint32_t *number; /* by vertex; NAMED_NONE: it is no core */
    uint32_t n;
    uint64_t version; /* of the graph then */
    struct cores ids; /* those that a booking holds, while they are listed */
    struct core_list list;
};

struct hosts;

struct named {
    struct place place;
    match_t *match;
    const struct graph *graph;
    bool has_unit;
    uint16_t unit;    /* the type that calendars count */
    bool any_down;    /* something was down once */
    uint64_t changes; /* of structure and properties so far */
    bool stale;       /* parts and shares are those of an older machine */

    struct part *parts;
    uint32_t n_parts;

    struct class *classes;
    uint32_t n_classes, cap_classes, free_class, live_classes;
    uint32_t *bucket;
    uint32_t buckets; /* a power of two, or 0 */

    struct hosts *hosts; /* NULL: none yet */

    struct booking *bookings;
    uint32_t n_bookings, cap_bookings, free_booking;

    int64_t now;  /* the latest that was told */
    int64_t turn; /* the first time after it at which a block begins or ends */
    struct freed_node freed[FREED_NODES];
    uint32_t n_freed;
    bool all_freed;
    struct near { /* named_near.c */
        uint64_t base, all, marked;
        uint32_t n;
        struct freed_node v[NEAR_MAX];
    } near;
    uint64_t frees;   /* jobs that have let something go so far */
    uint32_t *marked; /* by vertex, the number of the marking that it was last in */
    uint32_t n_marked, mark;

    char *touched;            /* the resources that touches was asked about last */
    uint64_t *those;          /* match_those */
    uint64_t touched_version; /* of the graph then */

    struct named_given given;
    struct strbuf text;
};

static inline struct named *named_of(const struct place *place)
{
    return (struct named *)place;
}

static inline const struct class *class_of(const struct named *n, const struct place_ask *ask)
{
    return ask->class < n->n_classes && n->classes[ask->class].text ? &n->classes[ask->class]
                                                                    : NULL;
}

/* ---- Parts ---- */

int64_t named_part(struct place *place, const char *requires, berth_error_t *err);
size_t named_rooms(const struct place *place, uint32_t part, int64_t at, struct planner_room *room,
                   size_t max);
int64_t named_idle(const struct place *place, int64_t at);

/* Make parts and shares anew after the machine has changed. Returns 0, or -1 with ENOMEM, and they are stale. */
int named_freshen(struct named *n);

/* Reckon capacities and shares anew after the status of some vertices (match_those) has changed. */
void named_recount(struct named *n, const uint64_t *those);

/* The least of a type below any vertex of another type of a part. */
int64_t named_least(struct named *n, uint32_t part, uint16_t upper, uint16_t type);

/* A booking's shares: reckon and enter them, not counted; take them out; count them or not. They are for the window that
 * the matcher knows; move enters them for another. Returns 0, or -1 with ENOMEM and nothing changed.
 */
int named_enter(struct named *n, int64_t job, struct booking *b);
void named_leave(struct named *n, int64_t job, struct booking *b);
void named_count(struct named *n, int64_t job, struct booking *b, bool count);
int named_move(struct named *n, int64_t job, struct booking *b, int64_t at, int64_t end);

void named_parts_clear(struct named *n);
bool named_parts_check(const struct named *n);

/* ---- Classes ---- */

int named_know(struct place *place, const jobspec_t *spec, uint32_t part, bool refuse,
               uint32_t *class, int64_t *units, berth_error_t *err);
void named_forget(struct place *place, uint32_t class);
int named_know_again(struct place *place, uint32_t class, bool refuse, int64_t *units,
                     berth_error_t *err);
int64_t named_units(struct place *place, uint32_t class);
int64_t named_wants(const struct place *place, uint32_t class, const char *type);
void named_classes_clear(struct named *n);

/* Reckon anew what follows from the machine. */
void named_classes_renew(struct named *n);

/* What the matcher is asked. */
struct plan_ask named_plan(const struct named *n, const struct place_ask *ask);

/* The same with what gaps say; it points to itself. */
struct counted {
    struct plan_ask plan;
    struct named *n;
    const struct class *class;
};
void named_plan_counted(struct counted *counted, struct named *n, const struct place_ask *ask);

/* The number of a type, or false if the machine has none. */
bool named_type(const struct named *n, const char *name, uint16_t *type);

/* Whether a resource of a class is for one job alone. */
bool named_is_alone(const struct named *n, const struct jobspec_resource *r);

/* ---- Hosts (named_hosts.c) ---- */

/* A new class enters, and leaves. Returns 0, or -1 with ENOMEM. */
int named_hosts_enter(struct named *n, struct class *class);
void named_hosts_leave(struct named *n, struct class *class);

/* What a booking holds is taken in other ways than before, or soon will be: before the next question. */
void named_hosts_note(struct named *n, int64_t job);

/* A pass begins: what nobody has asked for in a while is given up. O(hosts). */
void named_hosts_pass(struct named *n);

/* The machine or its parts have changed; and the end. */
void named_hosts_reset(struct named *n);
void named_hosts_clear(struct named *n);

/* True if gaps are those of the rows. O(hosts * nodes). */
bool named_hosts_check(const struct named *n);

/* Whether a node has room for a piece of a class throughout some window of a duration that begins before a time, of which it
 * may have something of its own from then on.
 */
bool named_hosts_could(struct named *n, const struct class *c, uint32_t node, int64_t duration,
                       int64_t before);

/* For plan_ask.next, of a struct counted. */
int64_t named_hosts_next(void *context, int64_t from);

/* Of a class that has a host: whether it is short of pieces now; O(1) while its note holds, else O(gaps). */
bool named_hosts_short(struct named *n, const struct class *c, int64_t duration, int64_t now,
                       struct place_note *note);

/* Whether what a note says of a reservation at `at` still holds. O(what was gained since). */
bool named_hosts_stuck(struct named *n, const struct class *c, int64_t at, struct held_note *note);

/* The first time from now on and before `before` at which a class lacks nothing by count, -1: there is none. The note says what it
 * lacks before, if anything is known. What is booked for it is to be lifted. O(gaps).
 */
int64_t named_hosts_first(struct named *n, const struct class *c, int64_t duration, int64_t before,
                          struct held_note *note);

/* What was held by two at a time is held by one less: no note holds any more. O(hosts). */
void named_hosts_doubt(struct named *n);

/* What was gained so far the note knows. */
void named_hosts_hear(struct named *n, const struct class *c, struct held_note *note);

/* From try to tried: what changes meanwhile counts as gained only as far as it is there in the end. Nobody asks meanwhile but for
 * the class (NULL: for any). O(nodes that changed).
 */
void named_hosts_try(struct named *n, const struct class *c);
void named_hosts_tried(struct named *n);

/* Whether a node has room for a piece of a class throughout [at, end), as far as is known. */
bool named_hosts_has(struct named *n, const struct class *c, uint32_t node, int64_t at,
                     int64_t end);

/* ---- What may serve reservations (named_near.c) ---- */

void named_near_note(struct named *n, uint32_t node, int64_t from, int64_t to);
void named_near_all(struct named *n);
uint64_t named_freed(struct place *place);
void named_forget_freed(struct place *place, uint64_t since);
bool named_is_short(struct place *place, const struct place_ask *ask, int64_t now,
                    struct place_note *note);
bool named_is_stuck(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at);
bool named_betters(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                   uint64_t since);
bool named_is_fixed(const struct place *place);

/* ---- What was freed ---- */

bool named_stirs(const struct place *place, uint32_t class);
void named_settle(struct place *place);
uint64_t named_frees(const struct place *place);

/* The pieces of a class. Returns 0, or -1 with ENOMEM. */
int named_pieces(const struct named *n, struct class *class);

/* Time is `now`. */
void named_tell(struct named *n, int64_t now);

/* What a booking holds is free during [from, to); a vertex is; everything may be. */
void named_free_job(struct named *n, int64_t job, int64_t from, int64_t to);
void named_free(struct named *n, uint32_t vertex, int64_t from, int64_t to);
void named_free_all(struct named *n);

/* ---- The machine ---- */

int named_status(struct place *place, const char *resources, enum sched_status status,
                 berth_error_t *err);
int named_property(struct place *place, const char *resources, const char *key, const char *value,
                   berth_error_t *err);
int named_attach(struct place *place, const char *jgf, size_t length, berth_error_t *err);
int named_remove(struct place *place, const char *resources, berth_error_t *err);
int named_touches(struct place *place, int64_t booking, const char *resources, berth_error_t *err);
int named_block(struct place *place, uint32_t number, const char *resources, int64_t start,
                int64_t duration, int64_t every, berth_error_t *err);
void named_unblock(struct place *place, uint32_t number);
int64_t named_turn(const struct place *place, int64_t now);

/* ---- Questions (named_probe.c) ---- */

int64_t named_probe(struct place *place, const struct place_ask *ask, int64_t at);
void named_unprobe(struct place *place, int64_t booking);
void named_set_aside(struct place *place, int64_t booking);
void named_put_back(struct place *place, int64_t booking);

/* ---- Why ---- */

const char *named_lacks(struct place *place, const struct place_ask *ask, int64_t at);
bool named_bars(struct place *place, const struct place_ask *ask, int64_t booking);
int64_t named_amount(const struct place *place, int64_t booking, const char *type);
int named_write(struct place *place, int64_t booking, const char *format, const char **text,
                size_t *length);

/* ---- Cores by number ---- */

int64_t named_given(struct place *place, int64_t booking, const struct sched_range **ranges);
void named_given_clear(struct named *n);

int named_hints(struct place *place, const char **text, size_t *length);
int named_take_hints(struct place *place, const char *text, size_t length, berth_error_t *err);

#endif
