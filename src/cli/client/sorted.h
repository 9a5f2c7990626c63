/* Jobs of a list in the order of a column. All are kept until the last has come. */
#ifndef CLI_CLIENT_SORTED_H
#define CLI_CLIENT_SORTED_H

#include "cli/client/chosen.h"

struct sorted_row;

struct sorted {
    const struct chosen_key *key; /* NULL: as they come */
    bool down;                    /* the greatest first */
    struct sorted_row *v;
    size_t n, cap;
};

/* Read a column, "start", or "-start" for the greatest first. 0, or -1 with EINVAL and a text. */
int sorted_read(struct sorted *s, const char *word, berth_error_t *err);

/* Keep a job as its text and its value in that column. 0, or -1 with ENOMEM. */
int sorted_take(struct sorted *s, const struct fields *job, const char *text, size_t length);

/* Visit all in order, until that returns nonzero, and return that. Jobs without a value come last, equal ones as they
 * came. O(n log n).
 */
int sorted_each(struct sorted *s, int (*visit)(void *context, const char *text, size_t length),
                void *context);

void sorted_clear(struct sorted *s);

#endif
