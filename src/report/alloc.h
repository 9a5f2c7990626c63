/* The cores that each job of a schedule was given.
 *
 * A range is kept as the gap before it and its length, in as many bytes as these numbers need, mostly
 * two. The ranges of a job are consecutive, and end with a length of 0.
 */
#ifndef REPORT_ALLOC_H
#define REPORT_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/resource.h"

struct alloc {
    uint8_t *bytes;
    size_t used, size;
    size_t *at; /* by job: the offset of its ranges plus 1; 0: it has none */
    size_t n;   /* jobs */
};

/* Make a record for n jobs, all without cores. Returns 0, or -1 with ENOMEM. */
int alloc_init(struct alloc *a, size_t n);
void alloc_clear(struct alloc *a);

/* Record what a job was given. Returns 0, or -1 with ENOMEM. */
int alloc_add(struct alloc *a, size_t job, const struct resource_range *ranges, size_t n);

/* A position in a job's ranges. */
struct alloc_cursor {
    const uint8_t *next; /* NULL: no more */
    uint32_t end;        /* the last id of the range before, plus 1 */
};

struct alloc_cursor alloc_read(const struct alloc *a, size_t job);

/* The next range; false if there is none. */
bool alloc_next(struct alloc_cursor *c, struct resource_range *range);

#endif
