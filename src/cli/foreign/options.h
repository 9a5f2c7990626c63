/* Options of another tool: found among words by a table of that tool's, and what becomes of them here, as
 * words of `berth submit`.
 *
 * Names are whole: no abbreviation is taken.
 */
#ifndef CLI_FOREIGN_OPTIONS_H
#define CLI_FOREIGN_OPTIONS_H

#include <stddef.h>

#include "base/strbuf.h"
#include "berth/error.h"

enum foreign_value { FOREIGN_NONE, FOREIGN_NEEDED, FOREIGN_MAYBE };

struct foreign_option {
    const char *name;
    char letter; /* 0: none */
    enum foreign_value value;
    int what; /* for the tool's own code */
    const char *
        to; /* the row of submit's table (request_options.c) with the same meaning and value, or NULL */
};

/* A walk over words. The first is looked at, unlike getopt's. */
struct foreign_words {
    const char *tool;  /* for messages */
    const char *where; /* before messages: "x.sh: line 3: ", or "" */
    char **v;
    int n, at;
    const char *cluster; /* the rest of "-abc", or NULL */
};

/* Find the next option: 1 with it and its value (NULL: none), 0 at the first other word, which is v[at] or the end, or
 * -1 with EINVAL and a text.
 */
int foreign_next(struct foreign_words *w, const struct foreign_option *table, size_t n,
                 const struct foreign_option **option, const char **value, berth_error_t *err);

/* What has become of them. Cleared by foreign_clear; a zeroed one is empty. */
struct foreign {
    char **words; /* for submit, "--name=value" each, behind an empty first one; ended by NULL */
    size_t n, cap;
    struct strbuf warnings; /* a line for each option that has no effect here */
};

/* Append an option of submit with a value, or without (NULL). 0, or -1 with ENOMEM. */
int foreign_put(struct foreign *f, const char *name, const char *value);
int foreign_put_number(struct foreign *f, const char *name, long long value);

/* Append a line "WHERETEXT". If memory runs out, the buffer remembers that. */
__attribute__((format(printf, 3, 4))) void foreign_warn(struct foreign *f, const char *where,
                                                        const char *format, ...);

void foreign_clear(struct foreign *f);

#endif
