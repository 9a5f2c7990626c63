#include "cli/query/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char blanks[] = " \t\n\v\f\r";

static int add_query_word(struct words *words, char *word)
{
    if (array_grow((void **)&words->v, &words->capacity, words->n + 1, sizeof(*words->v)) < 0)
        return -1;
    words->v[words->n++] = word;
    return 0;
}

int words_split(struct words *words, char *line)
{
    words->n = 0;
    for (char *s = line + strspn(line, blanks); *s; s += strspn(s, blanks)) {
        if (add_query_word(words, s) < 0)
            return -1;
        s += strcspn(s, blanks);
        if (*s)
            *s++ = '\0';
    }
    if (add_query_word(words, NULL) < 0)
        return -1;
    words->n--;
    return 0;
}

void words_clear(struct words *words)
{
    free(words->v);
    memset(words, 0, sizeof(*words));
}
