/* Arrays that grow. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/* Make room in an array for n elements of a size in bytes. Returns 0, or -1 with ENOMEM and nothing
 * changed. O(1) per element on average.
 */
int array_grow(void **array, size_t *capacity, size_t n, size_t size);

#endif
