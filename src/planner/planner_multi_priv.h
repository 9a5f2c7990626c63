/* How a multi planner is stored, for the files that change its types (planner_multi.c) and its spans
 * (planner_multi_spans.c).
 *
 * Everything is in one block of words: the request of the running iteration and the planner of each type,
 * then a row for each span, with its id and the id of its part in each planner. A machine has as many
 * multi planners as racks and nodes, most of them with a span or two, so the block of such a multi
 * planner is in the structure itself. Rows are ordered and removed as the spans of a planner are
 * (spans.h).
 */
#ifndef PLANNER_PLANNER_MULTI_PRIV_H
#define PLANNER_PLANNER_MULTI_PRIV_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/planner_multi.h"

#pragma GCC visibility push(hidden)

enum {
    NEAR_ROWS = 2,   /* rows with room in the structure */
    PART_GONE = -1,  /* the span has nothing of the type any more */
    ROW_REMOVED = -2 /* in place of the first part: the row is no span */
};

_Static_assert(sizeof(planner_t *) <= sizeof(int64_t), "a planner's address must fit a word");

struct planner_multi_t {
    int64_t counter; /* ids given out, so the next one */
    int64_t visited; /* the span iteration's last id */
    int64_t on_or_after;
    int64_t from; /* candidates before this are done with; INT64_MAX: all are */
    uint64_t duration;
    int64_t *block;
    uint32_t types;
    uint32_t n;    /* rows, removed ones included */
    uint32_t cap;  /* rows that the block has room for */
    uint32_t live; /* spans */
    uint32_t room; /* words in here */
    bool querying;
    int64_t here[];
};

static inline int planner_multi_fail(int errnum)
{
    errno = errnum;
    return -1;
}

static inline void *planner_multi_fail_null(int errnum)
{
    errno = errnum;
    return NULL;
}

/* Words of a row. Even without types there is one part, to mark a removed row. */
static inline size_t planner_multi_row_words(uint32_t types)
{
    return 1 + (size_t)(types ? types : 1);
}

/* Requests are kept as the bits of an unsigned number. */
static inline int64_t *planner_multi_requests(const planner_multi_t *m)
{
    return m->block;
}

static inline planner_t **planner_multi_planners(const planner_multi_t *m)
{
    return (planner_t **)(m->block + m->types);
}

static inline int64_t *planner_multi_rows_of(const planner_multi_t *m)
{
    return m->block + 2 * (size_t)m->types;
}

static inline int64_t *planner_multi_row_at(const planner_multi_t *m, uint32_t i)
{
    return planner_multi_rows_of(m) + i * planner_multi_row_words(m->types);
}

static inline bool planner_multi_row_live(const int64_t *row)
{
    return row[1] != ROW_REMOVED;
}

/* Index of the first span at or after row i, or n. */
uint32_t planner_multi_rows_live(const planner_multi_t *m, uint32_t i);

/* Room for one more row. Returns 0, or -1 with ENOMEM. */
int planner_multi_rows_reserve(planner_multi_t *m);

/* Pack the rows once most are removed, and give back memory that is mostly idle, if possible. */
void planner_multi_rows_settle(planner_multi_t *m);

#pragma GCC visibility pop

#endif
