/* What was freed since when: a log that remembers only what still matters.
 *
 * Each time something is freed, the log takes the instants from which on and until when it is free. Asked
 * for a place in the log, it says the earliest such instant noted since. A later note with an earlier
 * instant makes those before it pointless, so that what is kept ascends; where too many are left, two are
 * taken together, which only makes the answer earlier.
 */
#ifndef SCHED_FREED_H
#define SCHED_FREED_H

#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"

struct freed {
    uint64_t place; /* notes ever taken */
    size_t n;
    struct {
        uint64_t place;
        int64_t from;
        int64_t until;
    } note[FREED_MAX]; /* ascending in place and from */
};

/* Something is free during [from, until). */
void freed_add(struct freed *log, int64_t from, int64_t until);

/* The earliest instant of the notes taken at or after this place; INT64_MAX if there are none. */
static inline int64_t freed_since(const struct freed *log, uint64_t place)
{
    if (log->n == 0 || log->note[log->n - 1].place < place)
        return INT64_MAX;
    size_t i = 0; /* the last one's place is late enough */
    while (log->note[i].place < place)
        i++;
    return log->note[i].from;
}

/* The latest end of the notes taken at or after this place, or of more; INT64_MIN if there are none. */
int64_t freed_until(const struct freed *log, uint64_t place);

/* Nobody will ask for a place before this one again. */
void freed_forget(struct freed *log, uint64_t place);

#endif
