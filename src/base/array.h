/* Arrays that grow. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/* Memory for an array of elements of a size that is to have room for n of them. Returns 0, or -1 with
 * ENOMEM, and all is as it was. O(1) an element on average.
 */
int array_grow(void **array, size_t *capacity, size_t n, size_t size);

#endif
