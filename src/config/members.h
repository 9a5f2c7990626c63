/* The members of an array as people give them: how many, or which indices, and how many at once.
 *
 *   10          ten members, 0 to 9
 *   1-100       the members 1 to 100
 *   0-8:2,17    0, 2, 4, 6, 8 and 17
 *   1-100%5     1 to 100, at most 5 of them at once
 *
 * Items may stand in any order. A number alone is how many members there are; among indices it is an index. A set of
 * indices takes as much memory as its text with steps has items (base/idset.h).
 */
#ifndef CONFIG_MEMBERS_H
#define CONFIG_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/idset.h"
#include "berth/error.h"

#define MEMBERS_MAX   1000000 /* members of an array, and one above the largest index */
#define BULK_JOBS_MAX 100000  /* jobs that are submitted together, as the gangs of an array are */

/* What is expected where something else is given. */
#define MEMBERS_EXPECTED "a number of members such as 10, or their indices such as 0-8:2,17"

struct members {
    struct idset indices;
    uint32_t most; /* so many at once; 0: no bound */
};

/* Read such a text. Returns 0, or -1 with EINVAL or ENOMEM, one line that says what is wrong, and nothing
 * to clear. O(length), but O(length + members) where indices do not ascend.
 */
int members_read(struct members *members, const char *text, size_t length, berth_error_t *err);

/* The same for "so many". */
int members_count(struct members *members, uint32_t n);

void members_clear(struct members *members);

#endif
