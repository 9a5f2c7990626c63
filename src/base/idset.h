/* Sets of ids: non-negative numbers, such as ranks or the indices of cores, and their text as in Flux RFC 22.
 *
 * A set is kept as ranges, in ascending order, so "0-1000000000" costs no more than "7". A range may leave out
 * equally many ids between each two of its own: "0-999998:2", every other one, costs no more either. Such ranges
 * come from a text that has them, from a builder, and from sets that have them; else there are none. With r ranges
 * a question is O(log r); a change is O(log r) plus moving the ranges after it, which is O(1) if ids come in
 * ascending order. Memory is 12 bytes for each range.
 *
 * A text is the ids in ascending order with commas between them, consecutive ids as ranges: "1-3,5-6,42".
 * Brackets around all of it are optional; "" and "[]" are the empty set. As the RFC says, ids have no
 * leading zeros, the first id of a range is below its last, each id is above the one before, and there
 * are no blanks and no empty items. A text with steps may also have "0-8:2", which is 0,2,4,6,8.
 *
 * Calls that return int return 0, or -1 with errno and the set as it was: ENOMEM, or EINVAL if lo is
 * above hi or hi above IDSET_ID_MAX.
 */
#ifndef BASE_IDSET_H
#define BASE_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/error.h"

#define IDSET_ID_MAX INT32_MAX /* as in Flux */
#define IDSET_NONE   UINT32_MAX

struct idset_range {
    uint32_t lo; /* lo and hi are in the set too */
    uint32_t hi;
    uint32_t gap; /* ids that are left out between each two of it; 0: it has all from lo to hi */
};

struct idset {
    /* n ranges, each above the one before. Two without gaps have at least one missing id between them. Callers may
     * read them.
     */
    struct idset_range *v;
    uint32_t n;
    uint32_t cap;
    uint64_t count; /* the number of ids */
};

/* Make a set empty, which is all zeroes, and free its memory. Keeps errno. */
void idset_clear(struct idset *s);

/* Make the set empty, but keep its memory. */
void idset_reset(struct idset *s);

/* Have memory for n ranges in all: adding ids can't fail up to there. Each addition makes one more at most, or two
 * where it lies within a range that has gaps.
 */
int idset_reserve(struct idset *s, uint64_t n);

/* Make a set equal to another. */
int idset_copy(struct idset *s, const struct idset *from);

/* Add the ids from lo to hi; some may be in the set already. */
int idset_add_range(struct idset *s, uint32_t lo, uint32_t hi);

static inline int idset_add(struct idset *s, uint32_t id)
{
    return idset_add_range(s, id, id);
}

/* Add a range of which no id and nothing between two ids is in the set yet, which is not checked. */
int idset_add_apart(struct idset *s, struct idset_range range);

/* Remove the ids from lo to hi; some may not be in the set. This may split a range, and so need memory. */
int idset_remove_range(struct idset *s, uint32_t lo, uint32_t hi);

static inline int idset_remove(struct idset *s, uint32_t id)
{
    return idset_remove_range(s, id, id);
}

/* True if the id is in the set. */
bool idset_has(const struct idset *s, uint32_t id);

/* How many ids of the set are among n from one on. O(ranges). */
uint64_t idset_count_in(const struct idset *s, uint32_t from, uint32_t n);

/* The smallest and the largest id of a set; the next id above and below an id, which need not be in the
 * set. IDSET_NONE if there is none.
 */
uint32_t idset_first(const struct idset *s);
uint32_t idset_last(const struct idset *s);
uint32_t idset_next(const struct idset *s, uint32_t id);
uint32_t idset_prev(const struct idset *s, uint32_t id);

/* Make s the union of s and t, their intersection, or s without t. s and t may be the same. What is left of s is
 * pieces of its ranges: no gaps come from t. O(r) in the ranges of both; where two ranges with different gaps
 * overlap, or one with gaps is to be taken from another, O(ids) there.
 */
int idset_unite(struct idset *s, const struct idset *t);
int idset_intersect(struct idset *s, const struct idset *t);
int idset_subtract(struct idset *s, const struct idset *t);

/* Make s their intersection as well, but of pieces of t's ranges. */
int idset_pick(struct idset *s, const struct idset *t);

/* True if two sets have the same ids; and if they have at least one id in common. O(r), but O(ids) where ranges have
 * gaps and are not the same.
 */
bool idset_equal(const struct idset *s, const struct idset *t);
bool idset_meets(const struct idset *s, const struct idset *t);

/* True if s has all ids of t. The same. */
bool idset_covers(const struct idset *s, const struct idset *t);

/* Decode length bytes of text into s. EINVAL: it is not such a text; ERANGE: an id is above IDSET_ID_MAX.
 * The error text has the offset from 0, what is there, and what was expected. O(length).
 */
int idset_decode(struct idset *s, const char *text, size_t length, berth_error_t *err);

/* The same of a text with steps. Ids that are given one by one become ranges with gaps as well. */
int idset_decode_steps(struct idset *s, const char *text, size_t length, berth_error_t *err);

/* Append the text of a set. With `brackets`, sets of two ids or more are in brackets, as Flux writes
 * them. O(r), but O(ids) where ranges have gaps.
 */
void idset_encode(const struct idset *s, bool brackets, struct strbuf *out);

/* Append its text with steps, which the ids alone decide: consecutive ids are a range, and of the other ids three or
 * more at equal distances are one. O(r).
 */
void idset_encode_steps(const struct idset *s, struct strbuf *out);

/* Build a set, all zeroes at first, from ranges in ascending order, as a text with steps has them. Then finish it.
 * The set is to be cleared after a failure.
 */
struct idset_builder {
    struct idset set;
    struct idset_range open; /* may still grow */
    bool is_open;
    struct idset_range singles; /* ids without neighbours, at equal distances */
    uint32_t n_singles;
};
int idset_build(struct idset_builder *b, struct idset_range range);
int idset_finish(struct idset_builder *b);

/* True if the ranges are in order and the count is right. For tests. O(r). */
bool idset_check(const struct idset *s);

#endif
