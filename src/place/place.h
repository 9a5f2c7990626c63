/* Where jobs are placed: what the scheduling core asks of a machine.
 *
 * The core knows jobs and time; what a job asks for and whether it fits is the machine's affair. Allocations
 * and reservations are bookings in the same calendars, so that backfill is a question to the calendar and
 * never a comparison of jobs with jobs. Times are ticks.
 *
 * There are three machines: so many units (flat.h), the cores of a resource graph as such units (cores.h),
 * and a resource graph whose every booking names its resources (graph.h). Of the first two a job asks for a
 * number of units, and what they have in common is in counted.h; what follows "only a graph has" below they
 * lack but for that.
 */
#ifndef PLACE_PLACE_H
#define PLACE_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/blocks.h"
#include "berth/error.h"
#include "berth/jobspec.h"
#include "berth/resource.h"
#include "place/freed.h"
#include "planner/planner_ext.h"

struct place;

#define PLACE_NO_CLASS UINT32_MAX
#define PLACE_ALL      "all" /* as the resources of a block */

/* What two bookings have in common: nothing; units of the same pool, so that there may be enough for both; or what only one of
 * them can have at a time.
 */
enum place_meet { PLACE_APART, PLACE_BESIDE, PLACE_IN_WAY };

struct place_ask {
    int64_t units;    /* >= 1. On a graph: a lower bound, which rooms goes by */
    int64_t duration; /* ticks, >= 1 */
    uint32_t class;   /* on a graph: what is asked for, from place_ops.know; else PLACE_NO_CLASS */
    uint32_t part;    /* on a graph: of the machine, from place_ops.part; else 0 */
    uint64_t permits; /* on a graph: by number, the blocks that it may use */
    int64_t
        clear; /* on a graph: blocks count for so many ticks from its start; 0: for all of them */
};

struct place_pull {
    int64_t at;   /* where the booking starts */
    int64_t from; /* and where it may start at the earliest */
    bool anew;
    /* On a graph: as of which event of the log of what was freed it is known that nothing else is preferred to
     * what it holds, as far as the machine knows that itself; UINT64_MAX: of none.
     */
    uint64_t since;
    /* On a graph: whether it may hold what would take its place from a time on, which `amount` tells of under
     * this number; NULL: whatever it is.
     */
    bool (*may_hold)(void *arg, int64_t booking, int64_t at);
    /* On a graph: told of what it may not hold; if the choice becomes narrow by that, it is made once more, for earlier times
     * or for its own, as that was.
     */
    void (*narrow)(void *arg, int64_t booking, int64_t at);
    void *arg;
    int64_t
        freed; /* told by the call: from when on something is free that it held; INT64_MAX: it holds all it did */
};

/* What a graph knows of what an ask lacks to start now; all zeroes: nothing. */
struct place_note {
    int64_t missing;  /* pieces of the request */
    int64_t duration; /* for so long */
    int64_t now;      /* at this time */
    uint64_t seen;    /* as of this increase of its capacity, */
    uint64_t epoch;   /* where places begin anew with each */
};

/* What a graph has counted for `lacks` while nothing is booked, given back or changed, at one time. All zeroes:
 * nothing. Where there is room for no more, the oldest goes.
 */
enum { PLACE_COUNTS = 128 };
struct place_counts {
    uint32_t n, oldest;
    struct place_count {
        uint32_t part, class; /* PLACE_NO_CLASS: whoever asks in this part */
        uint64_t permits;
        uint16_t type;
        bool alone;
        bool is_all; /* there is no more; else it may be more */
        int64_t duration, count;
    } v[PLACE_COUNTS];
};

/* Some that are placed together, so many of a class, with a number of the caller's. */
struct place_role {
    uint32_t class;
    uint32_t count;
    uint32_t number;
};

/* How a machine changes, as the calls of berth/sched.h say. */
struct place_change {
    enum { PLACE_STATUS, PLACE_PROPERTY, PLACE_ATTACH, PLACE_REMOVE } kind;
    const char *resources; /* of all but PLACE_ATTACH */
    enum resource_status status;
    const char *key, *value; /* of PLACE_PROPERTY; no value: it is taken away */
    const char *jgf;         /* of PLACE_ATTACH */
    size_t length;
};

struct place_ops {
    /* It is now: what is reserved from a later time on does not say so. NULL where that does not matter. */
    void (*tell)(struct place *place, int64_t now);

    /* Units that are free at an instant. */
    int64_t (*idle)(const struct place *place, int64_t at);

    /* The earliest time on or after `from` at which it can start; -1 with ENOENT if there is none. A graph
     * may take the memory they need (ENOMEM).
     */
    int64_t (*when)(const struct place *place, const struct place_ask *ask, int64_t from);

    /* Book it from `at` on. Returns a booking, >= 0, or -1: EBUSY if it does not fit then, ENOMEM. On a
     * graph, the booking is a reservation until `start`.
     */
    int64_t (*book)(struct place *place, const struct place_ask *ask, int64_t at);

    /* Give a booking back. */
    void (*release)(struct place *place, int64_t booking);

    /* The same of one that was made for a try, of which nobody has learned meanwhile that anything of it was taken: nothing is
     * freed by it. It may be lifted.
     */
    void (*undo)(struct place *place, int64_t booking);

    /* Its job starts: choose which parts of the machine it gets. Returns 0, or -1 and nothing is changed:
     * EBUSY if the booking has run out and there are not enough, ENOMEM. NULL where parts have no names. On
     * a graph the booking becomes an allocation: for [now, now + duration), or as it is if it lasts that
     * long. What it holds is looked at anew: EBUSY if it is blocked during that time, down, gone, or no
     * longer satisfies the constraints, or if somebody else has it too, then or, if the booking is kept as
     * it is, at this instant.
     */
    int (*start)(struct place *place, const struct place_ask *ask, int64_t booking, int64_t now);

    /* The same for a booking from `now` on that was made after the last change of the machine: nothing is checked. NULL:
     * `start` is called instead.
     */
    void (*allocate)(struct place *place, int64_t booking, int64_t now);

    /* What a booking whose job has started was given: its cores as ranges of ids, numbered over the whole
     * machine; or, of a graph's booking, started or not, all of it by host. One of both is asked for, and the
     * other is NULL. Returns their number, or -1: ENOMEM; EINVAL (there are no hosts, or one has no rank).
     * They hold until the next call. NULL where parts have no names.
     */
    int64_t (*given)(struct place *place, int64_t booking, const struct resource_range **ranges,
                     const struct resource_host **hosts);

    /* Book it at the earliest time on or after `from`, as when and book would. Returns a booking, with its
     * time, or -1 as these.
     */
    int64_t (*reserve)(struct place *place, const struct place_ask *ask, int64_t from, int64_t *at);

    /* Take a booking out of the calendars for a while, keeping what it holds; and put it in again, whatever
     * else has been booked meanwhile. Neither fails. A lifted booking can be released. One that is lifted
     * briefly is put in again just as it was, and until then nothing is asked of the machine but probe and
     * amount.
     */
    void (*lift)(struct place *place, int64_t booking, bool briefly);
    void (*drop)(struct place *place, const struct place_ask *ask, int64_t booking);

    /* Whether a lifted booking could be put in again without harm: all it holds is free during its time, from now on
     * (tell), up, permitted.
     */
    bool (*fits)(struct place *place, const struct place_ask *ask, int64_t booking);

    /* Move a booking, which starts at `at`, to the earliest time on or after `from` if that is before; what
     * it holds itself counts as free. Returns its time, moved or not, or -1 with ENOMEM.
     *
     * On a graph: if `anew`, what it holds is chosen anew even if it does not move; if there is nothing for
     * it there any more, or it may not hold what is chosen, it keeps what it held (which in the first case
     * fits is false of). A lifted booking is put in again.
     */
    int64_t (*pull)(struct place *place, const struct place_ask *ask, int64_t booking,
                    struct place_pull *how);

    /* Bounds on what can start at `at` in a part: nothing that fits no step can (planner_rooms). */
    size_t (*rooms)(const struct place *place, uint32_t part, int64_t at, struct planner_room *room,
                    size_t max);

    /* True if the calendars are in order. */
    bool (*check)(const struct place *place);

    void (*destroy)(struct place *place);

    /* What follows only a graph has; on other machines it is NULL. */

    /* ---- What is asked for ---- */

    /* The part of the machine that a constraint picks (RFC 31, JSON; NULL: all of it). Equal texts are one
     * part, which stays. Returns its number, or -1: EINVAL with a text, ENOMEM.
     */
    int64_t (*part)(struct place *place, const char *requires, berth_error_t *err);

    /* Know what a jobspec asks for in a part: *class and *units of an ask. Equal requests (resources,
     * counts, exclusivity, constraints) in the same part are one class, which is counted by users: each
     * know is to be followed by a forget. Without a jobspec, *class is one that somebody knows already.
     * Returns 0, or -1: EINVAL with a text: what the matcher can't understand; ENODEV with one, if
     * `refuse`: even an idle machine, all up, could not; ENOMEM.
     */
    int (*know)(struct place *place, const jobspec_t *spec, uint32_t part, bool refuse,
                uint32_t *class, int64_t *units, berth_error_t *err);
    void (*forget)(struct place *place, uint32_t class);

    /* Know what several ask for in the same part who are placed together or not at all, as one class (a bundle).
     * Its booking is a list of theirs, in the order of the roles, which all begin and end together and of which
     * each is chosen after those before it. Their classes are known by it as long as it is. Else as `know`.
     */
    int (*gather)(struct place *place, const struct place_role *role, size_t n, uint32_t part,
                  bool refuse, uint32_t *class, int64_t *units, berth_error_t *err);

    /* Whether a class is a bundle; for how many of one that is none there is room on an idle machine, all up, at most
     * (INT64_MAX: that is not known); how many a class, or a booking, is of: 1 unless it is a bundle. How many of a bundle
     * there is room for at a time, each role with as many as there is room for of those before it: in all (-1 with
     * ENOMEM), and, unless NULL, of the role with each number.
     */
    bool (*is_bundle)(uint32_t class);
    int64_t (*at_most)(struct place *place, uint32_t class);
    uint32_t (*members)(const struct place *place, uint32_t class);
    uint32_t (*holds)(const struct place *place, int64_t booking);
    int64_t (*room)(struct place *place, const struct place_ask *ask, int64_t at,
                    uint32_t *of_role);

    /* The booking of the first of a bundle, of a class, and the number of its role; and it becomes one of its own. The
     * booking of the bundle goes with the last one.
     */
    int64_t (*first)(const struct place *place, int64_t booking);
    uint32_t (*first_role)(const struct place *place, uint32_t class, int64_t booking);
    int64_t (*detach)(struct place *place, int64_t booking);

    /* Whether an idle machine, all up, could give it beside some blocks, by number and at least one, which
     * last for ever. Returns 0, or -1: ENODEV if not, ENOMEM. O(1) where it was the last question of a class.
     */
    int (*ever)(struct place *place, const struct place_ask *ask, uint64_t blocks);

    /* Whether what is up could give a class, were it idle. Returns 0, or -1: ENODEV if not, ENOMEM. O(1) where nothing
     * has changed since the last question of a class.
     */
    int (*could_up)(struct place *place, uint32_t class);

    /* The units of a class as they are now. They may become fewer or more when the machine changes: attach,
     * remove, property. 1 more than the cores it takes at least, so that who takes none always fits rooms.
     */
    int64_t (*units)(struct place *place, uint32_t class);

    /* Those that wait have been looked at: counts that nobody has asked for in a while are given up. */
    void (*settle)(struct place *place);

    /* Whether counts rule out that it starts now: a yes is sure. The note is of one ask. O(1) while so
     * little has been freed since that the note still holds; else O(gaps), and what has been booked since
     * the last question.
     */
    bool (*is_short)(struct place *place, const struct place_ask *ask, int64_t now,
                     struct place_note *note);

    /* The longest that it could last, of `least` (at least 1) to its duration, if it started now, as far as counts say: that
     * it can't last longer is sure. 0: it can't last so long. O(gaps over now), and what has been booked since the last
     * question.
     */
    int64_t (*longest)(struct place *place, const struct place_ask *ask, int64_t least,
                       int64_t now);

    /* Whether a reservation, which starts at `at`, could not be earlier when it was tried last, and nothing
     * has been freed since that changes that, as far as counts say: a yes is sure. O(what was freed since). `apart`: when it
     * was tried others were out of the calendars that are out of them now, but have been in them meanwhile, so that what was
     * counted then holds no more. O(gaps + nodes that it holds).
     */
    bool (*is_stuck)(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                     bool apart);

    /* Whether it could be booked at `at`: a booking that is in no calendar, only to be measured (amount)
     * until it is released, which is to be the next call that changes anything. -1: EBUSY if it does not
     * fit then, ENOMEM. Time isn't told by it.
     */
    int64_t (*probe)(struct place *place, const struct place_ask *ask, int64_t at);

    /* Whether what was freed since an event of the log may let a reservation from `at` on hold something
     * else, where it is: no is sure. Of what was freed since event 0 nothing is known, so that it may.
     *
     * Without a reservation (booking -1): whether what was freed since, moved away, came up or changed a
     * property may let a job start at `at`, which is now, that could not and lasts as long as the ask or
     * longer. Now is the latest time that was given to tell, rooms, idle, turn or start, which also notice that a
     * block has ended. What a lifted booking holds counts as freed once it is released or moved. O(what was
     * freed), or O(1).
     */
    bool (*betters)(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                    uint64_t since);

    /* The least of a type that a class asks for ("node", "core", ...). */
    int64_t (*wants)(const struct place *place, uint32_t class, const char *type);

    /* ---- Bookings ---- */

    /* Whether all that a lifted booking holds is up and permitted during its time, whoever else holds it. */
    bool (*is_there)(struct place *place, const struct place_ask *ask, int64_t booking);

    /* Many bookings are lifted from here on (`begin`), and have been put in again or elsewhere: only what
     * is free in the end counts as freed for is_short.
     */
    void (*try)(struct place *place, bool begin);

    /* The same for one ask: until try ends it, there is no question of any other. False: it is part of a try that has begun
     * before, which is to end later. NULL: all is counted in any case.
     */
    bool (*try_one)(struct place *place, const struct place_ask *ask);

    /* What is withheld for a job whose start nobody knows (sched/controllers/claims.h). Put a lifted booking in
     * again over whatever is there: counts know nothing of it, calendars do. Another window for one that is lifted,
     * from `now` on at the earliest (0, or -1 with ENOMEM). Whether all it holds is up and permitted at an instant,
     * whoever else holds it.
     */
    void (*lay)(struct place *place, int64_t booking);
    int (*shift)(struct place *place, int64_t booking, int64_t at, int64_t end);
    bool (*stands)(struct place *place, const struct place_ask *ask, int64_t booking, int64_t now);

    /* For each of some bookings, the least that is free now in a node of which it holds something: cores, or what the
     * machine has instead. Returns 0, or -1 with ENOMEM. O(vertices + what all bookings hold).
     */
    int (*free_beside)(struct place *place, const int64_t *bookings, size_t n, int64_t now,
                       int64_t *free);

    /* How much of a type a booking holds, and how much of that nobody else does now and some blocks, by number, don't have.
     * The type is "node" for one that has whole nodes, else cores or what the machine has instead. Returns the type, or
     * NULL with ENOMEM. O(vertices + what all bookings hold).
     */
    const char *(*withheld)(struct place *place, int64_t booking, int64_t now, uint64_t blocks,
                            int64_t *has, int64_t *of);

    /* Another end of a booking, whatever else is booked there. Returns 0, or -1 with ENOMEM. */
    int (*extend)(struct place *place, int64_t booking, int64_t end);

    /* Book what a text in a format (match_update's) names during [at, end), as a reservation or an
     * allocation. Returns a booking, or -1: EINVAL with a text, ENOMEM. The one may be in the way of the
     * other, as by another end of an allocation. Without a text (NULL) it holds nothing.
     */
    int64_t (*adopt)(struct place *place, const char *format, const char *text, size_t length,
                     int64_t at, int64_t end, bool reservation, berth_error_t *err);

    /* Give back what an allocation holds of some ranks (a set of ids, RFC 22); something else has to be left. Returns
     * 0, or -1 and nothing is changed: EINVAL with a text, ENOMEM.
     */
    int (*give)(struct place *place, int64_t booking, const char *ranks, berth_error_t *err);

    /* Mark what a booking holds (the same number as in probe and pull is allowed), or take the marks away
     * again, before that or the machine changes; -1 with ENOMEM. And what another booking has in common with that.
     */
    int (*mark)(struct place *place, int64_t booking, bool on);
    enum place_meet (*meets)(const struct place *place, int64_t booking);

    /* For one booking, what others hold counts as taken at an instant, too, but for units of pools: begin with it or go on,
     * end it with -1. Else nothing changes meanwhile. -1 with ENOMEM: it has ended. O(holds * log bookings).
     */
    int (*keep_free)(struct place *place, int64_t booking, int64_t at);

    /* Count what a booking has of pools, or don't any more, before anything changes; -1 with ENOMEM, at first only. While
     * some is counted, `meets` also finds those in each other's way who share a pool of which more is counted than there
     * is. O(holds).
     */
    int (*weigh)(struct place *place, int64_t booking, bool on);

    /* The blocks, by number, of which a booking holds something. O(what it holds). */
    uint64_t (*blocks)(const struct place *place, int64_t booking);

    /* The same of the i-th of a bundle, from 0 on; a booking that is none is the first. */
    uint64_t (*blocks_of_one)(const struct place *place, int64_t booking, uint32_t i);

    /* How much of a type a booking holds: all that is below what it has to itself, and "node": nodes that
     * it holds anything of.
     */
    int64_t (*amount)(const struct place *place, int64_t booking, const char *type);

    /* The same of the i-th of a bundle, from 0 on; a booking that is none is the first. */
    int64_t (*amount_of_one)(const struct place *place, int64_t booking, uint32_t i,
                             const char *type);

    /* The same of what is in none of some blocks, by number. */
    int64_t (*clear)(const struct place *place, int64_t booking, const char *type, uint64_t blocks);

    /* The next node, from *i on, which is 0 at first, of which it holds something but not all; false: there is none. */
    bool (*next_shared)(const struct place *place, int64_t booking, uint32_t *i, uint32_t *node);

    /* Until the next call, with no ask, or the next pull: the choice is narrow, and nothing is taken but of
     * nodes that are allowed (at first `all`, or none) and of what is in no node. -1 with ENOMEM. O(vertices).
     * Nodes of which a booking holds something are denied: O(holds).
     */
    int (*narrow)(struct place *place, const struct place_ask *ask, bool all);
    void (*allow)(struct place *place, uint32_t node);
    void (*deny)(struct place *place, int64_t booking);

    /* Of the nodes that are allowed by now and others, allow only so many (`nodes`, of which `more` others) as have
     * room for the ask from `at` on beside all bookings but this one, or have it the soonest; of others those that
     * the booking has or the policy prefers. Where no nodes are known to have the room, some are allowed all the
     * same. Returns 0, or -1 with ENOMEM. O(vertices + nodes * (steps of each + log nodes)).
     */
    int (*allow_few)(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                     int64_t nodes, int64_t more);

    /* Whether a class could be on so many nodes of an idle machine, all up: 1, 0, or -1 with ENOMEM. Where its pieces
     * are not counted, on those of most units. O(vertices * sizes of nodes), and a match for each member.
     */
    int (*ever_on)(struct place *place, uint32_t class, int64_t nodes);

    /* How much of a type there is, whatever is down. On a graph; O(vertices). */
    int64_t (*total)(const struct place *place, const char *type);

    /* How much of a type a part has that is up, and in none of some blocks, by number. O(vertices). */
    int64_t (*up)(const struct place *place, uint32_t part, const char *type, uint64_t blocks);

    /* What it holds, as a short text ("node[0-1]/core[0-3]") if format is NULL, else in that of
     * match_write; of a bundle a list of such texts, which adopt takes. Valid until the next call. Returns 0, or -1:
     * EINVAL (no such format), ENOMEM.
     */
    int (*write)(struct place *place, int64_t booking, const char *format, const char **text,
                 size_t *length);

    /* What the machine remembers of what was taken before, where its choice depends on that; and to take it
     * up, when all bookings are there. The text is valid until the next call. Return 0, or -1: EINVAL with
     * a text, ENOMEM.
     */
    int (*hints)(struct place *place, const char **text, size_t *length);
    int (*take_hints)(struct place *place, const char *text, size_t length, berth_error_t *err);

    /* ---- Why not ---- */

    /* The type of which too little is free for an ask at `at`, such as "core", or "node" where it is the
     * whole shape; a constant or the machine's own text. `counts` is kept by who asks for many jobs, while
     * nothing changes, and may be NULL.
     */
    const char *(*lacks)(struct place *place, const struct place_ask *ask, int64_t at,
                         struct place_counts *counts);

    /* Whether a booking of an ask would be of the same resources if others took more, but none of these. False: it is not
     * known. O(requests of the ask)
     */
    bool (*is_steady)(struct place *place, const struct place_ask *ask);

    /* To mend a booking of several whose ask is_steady. may_mend: whether members can be moved one by one, so that all fit if
     * and only if those do that have to move. loosen: members that hold something of another booking leave this one; 0, or -1
     * with ENOMEM. mend: book the members that are missing, at that time; 0, or -1 with EBUSY or ENOMEM, when some may be
     * missing still. NULL: never.
     */
    bool (*may_mend)(struct place *place, const struct place_ask *ask);
    int (*loosen)(struct place *place, int64_t booking, int64_t other);
    int (*mend)(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at);

    /* How many resources a booking holds that are up and that an ask could use. O(what it holds). */
    int64_t (*useful)(struct place *place, const struct place_ask *ask, int64_t booking);

    /* ---- The machine changes ---- */

    /* Returns 0; 1 if all had this status before; or -1 and nothing is changed: EINVAL or ENOENT with a text, ENOMEM. */
    int (*change)(struct place *place, const struct place_change *change, berth_error_t *err);

    /* Whether a booking (-1: none) holds something of these resources; -1 with EINVAL/ENOENT and a text,
     * ENOMEM.
     */
    int (*touches)(struct place *place, int64_t booking, const char *resources, berth_error_t *err);

    /* Set a block, number 0 to BLOCKS_MAX - 1, or change it: during [start + k * every, + duration) for k
     * >= 0 (every 0: k = 0 only) its resources, or all there are (PLACE_ALL), are for asks that permit it alone. No booking is changed.
     * Without resources it ends, which can't fail. Returns 0, or -1: EINVAL or ENOENT with a text, ENOMEM.
     */
    int (*block)(struct place *place, uint32_t number, const char *resources, int64_t start,
                 int64_t duration, int64_t every, berth_error_t *err);

    /* The next time after `now` at which a block ends or begins; INT64_MAX: never. One that has come is noted in the log of
     * what was freed, as something of all nodes.
     */
    int64_t (*turn)(const struct place *place, int64_t now);
};

/* What every implementation begins with. */
struct place {
    const struct place_ops *ops;
    int64_t most; /* units that a job can ever ask for; on a graph, know says more */

    /* Units are all there is: none has a name, goes down or is set aside, and counts say what fits. */
    bool is_counted;

    /* Resources have names, and which are given depends on what is free alone, not on what was taken
     * before.
     */
    bool is_fixed;

    /* Ticks for which somebody is booked whose end is unknown: as good as for ever. What can't begin within as
     * many from time 0 on waits for such an end.
     */
    int64_t endless;

    struct freed freed; /* what was freed: the core notes times, a graph notes nodes */
};

#endif
