/* Allocators that fail when a test says so. They take the place of the C library's in a test that is linked
 * with --wrap for each of them (meson.build).
 */
#ifndef TEST_FAILING_ALLOC_H
#define TEST_FAILING_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

extern int64_t until_failure; /* allocations that still succeed; negative: all do */
extern bool
    failures_last; /* those after a failed one fail too, until until_failure is negative again */
extern bool allocation_failed; /* one did; the test sets it back */

#endif
