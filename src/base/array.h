/* Arrays that grow. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/* Give an array a capacity of n elements or more. Returns 0, or -1 with ENOMEM and nothing changed. */
int array_enlarge(void **array, size_t *capacity, size_t n, size_t size);

/* Make room in an array for n elements of a size in bytes. Returns 0, or -1 with ENOMEM and nothing
 * changed. O(1) per element on average. Inline, as there mostly is room.
 */
static inline int array_grow(void **array, size_t *capacity, size_t n, size_t size)
{
    return n <= *capacity ? 0 : array_enlarge(array, capacity, n, size);
}

#endif
