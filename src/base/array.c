#include "base/array.h"

#include <stdlib.h>

int array_enlarge(void **array, size_t *capacity, size_t n, size_t size)
{
    size_t more = *capacity + *capacity / 2 + 16;
    more = more < n ? n : more;
    void *grown = reallocarray(*array, more, size);
    if (!grown)
        return -1;
    *array = grown;
    *capacity = more;
    return 0;
}
