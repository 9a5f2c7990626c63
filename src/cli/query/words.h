/* A command line as words. There is no quoting: words end at blanks. */
#ifndef CLI_QUERY_WORDS_H
#define CLI_QUERY_WORDS_H

#include <stddef.h>

struct words {
    char **v; /* ended by NULL */
    size_t n, capacity;
};

/* Cut a line up where it stands: the words point into it. Returns 0, or -1 with ENOMEM. */
int words_split(struct words *words, char *line);

void words_clear(struct words *words);

#endif
