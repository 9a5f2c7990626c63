/* Bundles: several requests that are placed together or not at all (place.h, gather).
 *
 * The class of a bundle is a list of roles, so many bookings of a class each, and its booking a list of bookings
 * that are the graph's as any other. What is asked of a bundle is asked of each of these. So whoever moves a
 * booking moves a bundle as a whole, and knows nothing of it.
 *
 * At a time the members are chosen one after the other, in the order of the roles, each as the policy would with
 * those before it in place. The earliest time is found by trying: times are skipped in which one member alone would
 * not fit, or by count not all pieces of a role, and then the next one is when anything begins or ends.
 *
 * Their numbers have a bit that those of other classes and bookings lack.
 */
#ifndef PLACE_BUNDLE_H
#define PLACE_BUNDLE_H

#include "place/graph/graph_priv.h"

#define BUNDLE_CLASS   (UINT32_C(1) << 31)
#define BUNDLE_BOOKING (INT64_C(1) << 40)

struct bundle_class {
    uint32_t users; /* 0: the slot is free */
    uint32_t part;
    uint32_t n;      /* roles */
    uint32_t total;  /* members */
    uint64_t judged; /* n->changes when it was found that an idle machine could; if it was */
    bool is_judged;
    struct place_role *role;
    struct capacity_need *need; /* for each role */
    uint64_t tried;             /* n->changes + 1 when `never` was found out; 0: it was not yet */
    bool never;                 /* they don't fit together on an idle machine */
    struct up_judgement up;
    struct judgement beside; /* the last one; of no blocks: none */
};

/* What a bundle lacks before a time while it is in no calendar. */
struct bundle_lack {
    struct held_note note;
    uint32_t role; /* by what this one needs; of no role anything is known if the note is not */
    int64_t first; /* the first time at which it lacks nothing; -1: there is none */
};

struct bundle {
    bool used;
    bool is_try;       /* it is there to be measured only */
    uint32_t first, n; /* those before the first one have been detached */
    int64_t *v;
    struct bundle_lack lack; /* before its time */
};

struct bundles {
    struct bundle_class *class;
    uint32_t n_classes;
    size_t cap_classes;
    struct bundle *bundle;
    uint32_t n_bundles;
    size_t cap_bundles;
    uint32_t *node; /* of the bundle that was asked about last: nodes, ascending */
    size_t n_nodes, cap_nodes;
    struct strbuf text;
};

static inline bool is_bundle_class(uint32_t class)
{
    return class != PLACE_NO_CLASS && class & BUNDLE_CLASS;
}

static inline bool is_bundle(int64_t booking)
{
    return booking >= 0 && booking != BOOKING_TEMP && booking & BUNDLE_BOOKING;
}

static inline const struct bundle_class *bundle_class_of(const struct place *place, uint32_t class)
{
    return &graph_place_of(place)->bundles->class[class & ~BUNDLE_CLASS];
}

static inline struct bundle *bundle_of(const struct place *place, int64_t booking)
{
    return &graph_place_of(place)->bundles->bundle[booking & ~BUNDLE_BOOKING];
}

/* What the members of a role ask for. */
struct place_ask bundle_role_ask(const struct place *place, const struct place_ask *ask,
                                 uint32_t role);

/* The same of the member with a number, of `left` that are left. */
struct place_ask bundle_member_ask(const struct place *place, const struct place_ask *ask,
                                   uint32_t member, uint32_t left);

/* The cores that all take at least; where the machine has none, the nodes that one of them is on. */
int64_t bundle_cores(const struct graph_place *n, const struct bundle_class *b);

/* ---- From when on there may be room (bundle_when.c) ---- */

/* The first time in [from, before) that is not ruled out by counts; -1 with ENOENT. */
int64_t bundle_next(struct place *place, const struct place_ask *ask, int64_t from, int64_t before);

/* At a time that counts don't rule out there was no room for a member of a role: the first one after it that may
 * be tried. -1 with ENOENT, or as match_plan_when.
 */
int64_t bundle_retry(struct place *place, const struct place_ask *ask, uint32_t role, int64_t at,
                     int64_t before);

/* The members of a role that there is room for at a time, at most; INT64_MAX: that is not known. */
int64_t bundle_most(struct place *place, const struct place_ask *ask, uint32_t role, int64_t at);

/* Begin and end to try times: only what is there in the end counts as freed, or as taken. Begin returns whether this is
 * the outermost try.
 */
bool bundle_try_begin(struct place *place, const struct place_ask *ask);
void bundle_try_end(struct graph_place *n, bool outermost);

/* Find that out. Then a search from now on has found it room at a time (at < 0: at none): what of the note is true. */
void bundle_lack(struct place *place, const struct place_ask *ask, int64_t before,
                 struct bundle_lack *lack);
void bundle_lack_found(struct place *place, const struct place_ask *ask, int64_t before, int64_t at,
                       struct bundle_lack *lack);

/* A booking has what it lacks noted; what changed until now it has seen. */
void bundle_lack_keep(struct place *place, const struct place_ask *ask,
                      const struct bundle_lack *lack, struct bundle *b);

bool bundle_is_short(struct place *place, const struct place_ask *ask, int64_t now,
                     struct place_note *note);
int64_t bundle_longest(struct place *place, const struct place_ask *ask, int64_t least,
                       int64_t now);
bool bundle_is_stuck(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                     bool apart);

/* ---- Bookings (bundle.c) ---- */

int64_t bundle_when(const struct place *place, const struct place_ask *ask, int64_t from);
int64_t bundle_book(struct place *place, const struct place_ask *ask, int64_t at);
int64_t bundle_reserve(struct place *place, const struct place_ask *ask, int64_t from, int64_t *at);
int64_t bundle_probe(struct place *place, const struct place_ask *ask, int64_t at);
int bundle_loosen(struct place *place, int64_t booking, int64_t other);
int bundle_mend(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at);
int64_t bundle_room(struct place *place, const struct place_ask *ask, int64_t at,
                    uint32_t *of_role);
void bundle_release(struct place *place, int64_t booking);
void bundle_undo(struct place *place, int64_t booking);
void bundle_lift(struct place *place, int64_t booking, bool briefly);
void bundle_drop(struct place *place, const struct place_ask *ask, int64_t booking);
bool bundle_fits(struct place *place, const struct place_ask *ask, int64_t booking);
void bundle_lay(struct place *place, int64_t booking);
int bundle_shift(struct place *place, int64_t booking, int64_t at, int64_t end);
bool bundle_stands(struct place *place, const struct place_ask *ask, int64_t booking, int64_t now);
bool bundle_is_there(struct place *place, const struct place_ask *ask, int64_t booking);
int bundle_start(struct place *place, const struct place_ask *ask, int64_t booking, int64_t now);
void bundle_allocate(struct place *place, int64_t booking, int64_t now);
int bundle_extend(struct place *place, int64_t booking, int64_t end);
int bundle_give(struct place *place, int64_t booking, const char *ranks, berth_error_t *err);
int64_t bundle_pull(struct place *place, const struct place_ask *ask, int64_t booking,
                    struct place_pull *how);
int64_t bundle_detach(struct place *place, int64_t booking);
int bundle_narrow(struct place *place, const struct place_ask *ask, bool all);
void bundle_deny(struct place *place, int64_t booking);
bool bundle_betters(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                    uint64_t since);
const char *bundle_lacks(struct place *place, const struct place_ask *ask, int64_t at,
                         struct place_counts *counts);
int64_t bundle_adopt(struct place *place, const char *format, const char *text, size_t length,
                     int64_t at, int64_t end, bool reservation, berth_error_t *err);

/* ---- Classes (bundle_class.c) ---- */

int bundle_gather(struct place *place, const struct place_role *role, size_t n, uint32_t part,
                  bool refuse, uint32_t *class, int64_t *units, berth_error_t *err);
int bundle_know(struct place *place, const jobspec_t *spec, uint32_t part, bool refuse,
                uint32_t *class, int64_t *units, berth_error_t *err);
void bundle_forget(struct place *place, uint32_t class);
int64_t bundle_units(struct place *place, uint32_t class);
int64_t bundle_wants(const struct place *place, uint32_t class, const char *type);
uint32_t bundle_members(const struct place *place, uint32_t class);
bool bundle_is(uint32_t class);
uint32_t bundle_first_role(const struct place *place, uint32_t class, int64_t booking);
int64_t bundle_at_most(struct place *place, uint32_t class);

/* Whether all fit together on an idle machine, all up: 1, 0, or -1 with ENOMEM (bundle_ever.c). O(members) matches, once
 * for each change of the machine.
 */
int bundle_fits_ever(struct graph_place *n, struct bundle_class *b);

/* The same among some vertices, a bit for each (match_part); NULL: all of the part. */
int bundle_fits_within(struct graph_place *n, const struct bundle_class *b, const uint64_t *within);

/* As place.h says. O(members) matches where blocks or the machine have changed, or other blocks were asked about. */
int bundle_ever(struct place *place, const struct place_ask *ask, uint64_t blocks);
int bundle_could_up(struct place *place, uint32_t class);

/* ---- What bundles hold (bundle_holds.c) ---- */

int64_t bundle_amount(const struct place *place, int64_t booking, const char *type);
int64_t bundle_amount_of_one(const struct place *place, int64_t booking, uint32_t i,
                             const char *type);
int64_t bundle_clear(const struct place *place, int64_t booking, const char *type, uint64_t blocks);
bool bundle_next_shared(const struct place *place, int64_t booking, uint32_t *i, uint32_t *node);
int bundle_mark(struct place *place, int64_t booking, bool on);
enum place_meet bundle_meets(const struct place *place, int64_t booking);
bool bundle_is_steady(struct place *place, const struct place_ask *ask);
bool bundle_may_mend(struct place *place, const struct place_ask *ask);
int bundle_weigh(struct place *place, int64_t booking, bool on);
int bundle_keep_free(struct place *place, int64_t booking, int64_t at);
uint64_t bundle_blocks(const struct place *place, int64_t booking);
uint64_t bundle_blocks_of_one(const struct place *place, int64_t booking, uint32_t i);
int bundle_touches(struct place *place, int64_t booking, const char *resources, berth_error_t *err);
int64_t bundle_useful(struct place *place, const struct place_ask *ask, int64_t booking);
int bundle_write(struct place *place, int64_t booking, const char *format, const char **text,
                 size_t *length);
int64_t bundle_given(struct place *place, int64_t booking, const struct resource_range **ranges,
                     const struct resource_host **hosts);
uint32_t bundle_holds(const struct place *place, int64_t booking);
int64_t bundle_first(const struct place *place, int64_t booking);

/* All bundles are gone. */
void bundles_clear(struct graph_place *n);

#endif
