/* What was freed since when: a log that remembers only what still matters.
 *
 * Each time something is freed, the log takes the instant from which on it is free. Asked for a place in the
 * log, it says the earliest such instant noted since. A later note with an earlier instant makes those before
 * it pointless, so that what is kept ascends; where too many are left, two are taken together, which only
 * makes the answer earlier.
 */
#ifndef SCHED_FREED_H
#define SCHED_FREED_H

#include <stddef.h>
#include <stdint.h>

#define FREED_MAX 64

struct freed {
    uint64_t place; /* notes ever taken */
    size_t n;
    struct {
        uint64_t place;
        int64_t from;
    } note[FREED_MAX]; /* ascending in both */
};

void freed_add(struct freed *log, int64_t from);

/* The earliest instant of the notes taken at or after this place; INT64_MAX if there are none. */
int64_t freed_since(const struct freed *log, uint64_t place);

/* Nobody will ask for a place before this one again. */
void freed_forget(struct freed *log, uint64_t place);

#endif
