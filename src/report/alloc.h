/* Which cores each job of a schedule was given.
 *
 * Ranges are kept as the gap before each and its length, in as many bytes as these numbers need: mostly
 * two. A job's ranges stand together, ended by a length of 0.
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
    size_t *at; /* by job: where its ranges begin, plus 1; 0: none */
    size_t n;   /* jobs */
};

/* A record for n jobs, none of which has any. Returns 0, or -1 with ENOMEM. */
int alloc_init(struct alloc *a, size_t n);
void alloc_clear(struct alloc *a);

/* Note what a job was given. Returns 0, or -1 with ENOMEM. */
int alloc_add(struct alloc *a, size_t job, const struct resource_range *ranges, size_t n);

/* Where a job's ranges are read. */
struct alloc_cursor {
    const uint8_t *next; /* NULL: no more */
    uint32_t end;        /* of the range before, plus 1 */
};

struct alloc_cursor alloc_read(const struct alloc *a, size_t job);

/* The next range; false if there is none. */
bool alloc_next(struct alloc_cursor *c, struct resource_range *range);

#endif
