#include "cli/query/words.h"

#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\n\v\f\r";

static int add(struct words *words, char *word)
{
    if (words->n == words->capacity) {
        size_t capacity = words->capacity ? 2 * words->capacity : 16;
        char **v = reallocarray(words->v, capacity, sizeof(*v));
        if (!v)
            return -1;
        words->v = v;
        words->capacity = capacity;
    }
    words->v[words->n++] = word;
    return 0;
}

int words_split(struct words *words, char *line)
{
    words->n = 0;
    for (char *s = line + strspn(line, blanks); *s; s += strspn(s, blanks)) {
        if (add(words, s) < 0)
            return -1;
        s += strcspn(s, blanks);
        if (*s)
            *s++ = '\0';
    }
    if (add(words, NULL) < 0)
        return -1;
    words->n--;
    return 0;
}

void words_clear(struct words *words)
{
    free(words->v);
    memset(words, 0, sizeof(*words));
}
