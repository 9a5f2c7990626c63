/* Sets of ids: non-negative numbers, such as ranks or the indices of cores, and their text as in Flux RFC 22.
 *
 * A set is kept as its ranges, in ascending order and never touching each other, so that "0-1000000000"
 * costs no more than "7". With r ranges a question is O(log r) and a change O(log r) and the moving of
 * the ranges behind it: O(1) where ids come in ascending order. Memory is 8 bytes a range.
 *
 * Text is the ids in ascending order with commas between them, consecutive ones written as ranges:
 * "1-3,5-6,42". Brackets around the whole are optional, "" and "[]" are the empty set. As the RFC has it,
 * ids have no leading zeros; a range has its first id below its last; each id is above the one before;
 * there are no blanks, and nothing is left out between commas.
 *
 * Calls that return int return 0, or -1 with errno and the set as it was: ENOMEM, or EINVAL for a range
 * that is none or has an id above IDSET_ID_MAX.
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
    uint32_t lo; /* both are in the set */
    uint32_t hi;
};

struct idset {
    /* to be read by anybody: n ranges, with at least one id left out between two */
    struct idset_range *v;
    uint32_t n;
    uint32_t cap;
    uint64_t count; /* ids in all */
};

/* An empty set is all zeroes. Clearing gives its memory back and keeps errno. */
void idset_clear(struct idset *s);

/* Make the set empty, but keep its memory. */
void idset_reset(struct idset *s);

/* Make a set equal to another. */
int idset_copy(struct idset *s, const struct idset *from);

/* Put the ids from lo to hi in, whether they were there or not. */
int idset_add_range(struct idset *s, uint32_t lo, uint32_t hi);

static inline int idset_add(struct idset *s, uint32_t id)
{
    return idset_add_range(s, id, id);
}

/* Take the ids from lo to hi out, whether they were there or not. It may split a range, and so need
 * memory.
 */
int idset_remove_range(struct idset *s, uint32_t lo, uint32_t hi);

static inline int idset_remove(struct idset *s, uint32_t id)
{
    return idset_remove_range(s, id, id);
}

/* True if the id is in the set. */
bool idset_has(const struct idset *s, uint32_t id);

/* Of a set, the least id and the greatest; the next above an id and the next below it, which need not be
 * in the set. IDSET_NONE where there is none.
 */
uint32_t idset_first(const struct idset *s);
uint32_t idset_last(const struct idset *s);
uint32_t idset_next(const struct idset *s, uint32_t id);
uint32_t idset_prev(const struct idset *s, uint32_t id);

/* Make s what is in s or in t, in both, or in s and not in t. O(r) in the ranges of both; s and t may be
 * the same.
 */
int idset_unite(struct idset *s, const struct idset *t);
int idset_intersect(struct idset *s, const struct idset *t);
int idset_subtract(struct idset *s, const struct idset *t);

/* True if the two have the same ids, or at least one in common. O(r). */
bool idset_equal(const struct idset *s, const struct idset *t);
bool idset_meets(const struct idset *s, const struct idset *t);

/* Make s the set that the length bytes of text say. EINVAL: they say none; ERANGE: an id is above
 * IDSET_ID_MAX. The error text has the offset of what was read there, from 0, and what was expected.
 * O(length).
 */
int idset_decode(struct idset *s, const char *text, size_t length, berth_error_t *err);

/* Append the text of a set. With brackets, they stand around sets of two ids or more, as Flux writes
 * them. O(r).
 */
void idset_encode(const struct idset *s, bool brackets, struct strbuf *out);

/* True if the ranges are in order and the count is right. O(r). */
bool idset_check(const struct idset *s);

#endif
