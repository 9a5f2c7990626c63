#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LETTERS_MAX = 31 };

static unsigned smaller_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned nearest_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned d[LETTERS_MAX + 1][LETTERS_MAX + 1];
    if (n > LETTERS_MAX || m > LETTERS_MAX)
        return LETTERS_MAX + 1;
    for (size_t i = 0; i <= n; i++)
        d[i][0] = (unsigned)i;
    for (size_t k = 0; k <= m; k++)
        d[0][k] = (unsigned)k;
    for (size_t i = 1; i <= n; i++) {
        for (size_t k = 1; k <= m; k++) {
            unsigned replaced = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
            d[i][k] = smaller_of(replaced, smaller_of(d[i - 1][k], d[i][k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                d[i][k] = smaller_of(d[i][k], d[i - 2][k - 2] + 1);
        }
    }
    return d[n][m];
}

static const char *name_at(const struct nearest_names *names, size_t i)
{
    return *(const char *const *)(const void *)((const char *)names->names + i * names->stride);
}

const char *nearest_name(const struct nearest_names *names, const char *word)
{
    unsigned best = strlen(word) > 3 ? 3 : 2;
    const char *found = NULL;
    for (size_t i = 0; i < names->n; i++) {
        const char *name = name_at(names, i);
        unsigned distance = nearest_distance(word, name);
        if (distance < best || (distance == best && found)) {
            found = distance < best ? name : NULL;
            best = distance;
        }
    }
    return found;
}

void nearest_expected(const struct nearest_names *names, const char *word, char *text, size_t size)
{
    size_t length = 0, used = 0;
    for (size_t i = 0; i < names->n; i++)
        length += strlen(name_at(names, i)) + 2;
    text[0] = '\0';
    if (length > NEAREST_LIST_MAX) {
        const char *near = nearest_name(names, word);
        if (near)
            snprintf(text, size, ", did you mean \"%s\"?", near);
        return;
    }
    for (size_t i = 0; i < names->n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0              ? ", expected "
                                 : i + 1 == names->n ? " or "
                                                     : ", ",
                                 name_at(names, i));
}
