/* A command line as words, which are separated by blanks. There is no quoting. */
#ifndef CLI_QUERY_WORDS_H
#define CLI_QUERY_WORDS_H

#include <stddef.h>

struct words {
    char **v; /* ended by NULL */
    size_t n, capacity;
};

/* Split a line in place: the words point into it. Returns 0, or -1 with ENOMEM. */
int words_split(struct words *words, char *line);

void words_clear(struct words *words);

#endif
