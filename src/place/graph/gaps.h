/* When there is room for how many pieces of a request: gaps.
 *
 * A node with room for r(t) pieces at t has room for the least of r throughout a window. That is a count of
 * intervals: at each level of r, those as long as can be throughout which it is reached. A gap is such an
 * interval, and how many levels of how many nodes have it. The pieces that there are throughout a window,
 * each in one place all the time, are those of the gaps that it lies in.
 */
#ifndef PLACE_GAPS_H
#define PLACE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bounds.h"

struct gap {
    int64_t from, until; /* INT64_MAX: for ever */
    int64_t pieces;
};

/* No two have the same interval; all zeroes: none. */
struct gaps {
    struct gap *by_from;  /* and those that begin at once by until */
    struct gap *by_until; /* the same ones */
    uint32_t n, capacity;
    struct gap *late; /* not among these yet; pieces may be negative */
    uint32_t n_late, late_capacity;
    struct gap_latest *latest; /* by a hash of the interval; NULL */
    /* Those that lie over a time, of `by_from` and of `late`: an interval may be there more than once, and with pieces
     * that are negative.
     */
    struct gap *here;
    uint32_t n_here, here_capacity, here_most; /* of more than the most they are looked for again */
    bool is_here;                              /* they are known, */
    int64_t here_at;                           /* and over which time */
    int64_t begun;       /* when the last one of them has begun that there was */
    int64_t next;        /* before this, none of `late` begins that has not begun by then */
    struct gap_end *end; /* to look for the longest window: the memory is kept */
    uint32_t end_capacity;
};

/* When pieces end. */
struct gap_end {
    int64_t until, pieces;
};

/* Which late gap, and which of `here`, had an interval last. */
struct gap_latest {
    uint32_t late, here;
};

/* What room there is from a time until that of the next step, or for ever. */
struct room_step {
    int64_t at, pieces;
};

void gaps_clear(struct gaps *g);

/* Leave no gaps, but the memory that they had. */
void gaps_empty(struct gaps *g);

/* The gaps of 1 to GAPS_STEPS_MAX steps, of which the first is at 0: at most n, into gap. Returns their
 * number. O(n).
 */
uint32_t gaps_of(const struct room_step *step, uint32_t n, struct gap *gap);

/* Add pieces to an interval, or take them (< 0). Returns 0, or -1 with ENOMEM. O(1) amortised. */
int gaps_add(struct gaps *g, int64_t from, int64_t until, int64_t pieces);

/* Have what was added counted; to be called before questions. Returns 0, or -1 with ENOMEM. O(m log m + m log n)
 * for m added, and a copy of the n that there are.
 */
int gaps_settle(struct gaps *g);

/* The same if so much was added that questions for which late gaps count would take long. */
int gaps_settle_many(struct gaps *g);

/* Whether any gap begins after `from` and on or before `until`: a no is sure. What was added late counts as well. O(1) if
 * `until` is the time that was told last (gaps_stand), else O(log n + m).
 */
bool gaps_begin(const struct gaps *g, int64_t from, int64_t until);

/* The pieces that there are throughout [from, end). What was added late counts as well. O(gaps that begin by
 * then + m).
 */
int64_t gaps_within(const struct gaps *g, int64_t from, int64_t end);

/* Questions about windows that begin at a time, which is the same for many: it is told first, and may be told again
 * whatever was added meanwhile. Returns 0, or -1 with ENOMEM. O(1) if it is that of before, O(gaps over it, and those
 * that begin since + log n) if it is later and none of what was added late begins since, else O(n + m).
 */
int gaps_stand(struct gaps *g, int64_t at);

/* The pieces that there are throughout [at, end). O(gaps over that time). */
int64_t gaps_from_here(const struct gaps *g, int64_t end);

/* The longest window from there on, of `least` (at least 1) to `most`, throughout which there are so many pieces; 0: there is
 * none. O(gaps over that time).
 */
int64_t gaps_longest_here(struct gaps *g, int64_t least, int64_t most, int64_t pieces);

/* What was missing over time: before first[k] more than 2^k pieces; and before the end of the times that
 * were asked about one at least.
 */
struct gaps_lack {
    int64_t first[GAPS_LACKS]; /* falling */
};

/* The first time on or after `from` and before `before` from which on there are so many pieces for a
 * duration; -1: there is none. *lack (unless NULL) says how many are missing before. O(n).
 */
int64_t gaps_first(const struct gaps *g, int64_t duration, int64_t from, int64_t before,
                   int64_t pieces, struct gaps_lack *lack);

/* The same with other gaps beside them (NULL: none), whose pieces may be negative where these ones have them. */
int64_t gaps_first_beside(const struct gaps *g, const struct gaps *beside, int64_t duration,
                          int64_t from, int64_t before, int64_t pieces, struct gaps_lack *lack);

bool gaps_check(const struct gaps *g);

#endif
