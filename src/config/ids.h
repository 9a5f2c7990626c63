/* Jobs as people name them: "17", "17[2]", "17.2", "3-7", "17[0-3,8]", "17[0-8:2]". */
#ifndef CONFIG_IDS_H
#define CONFIG_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idset.h"
#include "berth/error.h"

struct ids_range {
    int64_t first, last; /* jobs */
    bool has_members;    /* only these members of a single job */
    struct idset members;
};

struct ids {
    struct ids_range *v;
    size_t n;
};

/* Read words. Returns 0, or -1 with EINVAL or ENOMEM and a text. */
int ids_read(struct ids *ids, char *const *words, size_t n, berth_error_t *err);

/* Read one job or one member of a job; *member is -1 for the whole job. EINVAL. */
int ids_read_one(const char *word, int64_t *id, int64_t *member, berth_error_t *err);

/* Call back for each in turn, with member -1 for a whole job, until that returns nonzero, and return that.
 * `ranged`: it is one of several that were named at once, as in "3-7", so some of them need not exist.
 */
int ids_each(const struct ids *ids,
             int (*visit)(void *context, int64_t id, int64_t member, bool ranged), void *context);

/* True if a member of a job (-1: it has none) is among them. */
bool ids_has(const struct ids *ids, int64_t id, int64_t member);

void ids_clear(struct ids *ids);

#endif
