#include "cli/client/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct sorted_row {
    char *text, *word; /* word: NULL where the value is a number */
    size_t length, at; /* at: how it came */
    double number;
    bool none; /* it has no value */
};

int sorted_read(struct sorted *s, const char *word, berth_error_t *err)
{
    struct chosen one = {0};
    bool down = *word == '-';
    if (chosen_read(&one, down ? word + 1 : word, err) < 0)
        return -1;
    s->key = one.key[0];
    s->down = down;
    return 0;
}

int sorted_take(struct sorted *s, const struct fields *job, const char *text, size_t length)
{
    struct strbuf room = {0};
    struct sorted_row row = {.length = length, .at = s->n};
    if (array_grow((void **)&s->v, &s->cap, s->n + 1, sizeof(*s->v)) < 0)
        return -1;
    bool numeric = chosen_number(s->key, job, &row.number);
    const char *word = numeric ? "" : chosen_raw(s->key, job, &room);
    row.none = numeric ? row.number < 0 && !chosen_may_be_negative(s->key) : !*word;
    row.text = malloc(length + 1);
    row.word = numeric ? NULL : strdup(word);
    bool failed = !row.text || (!numeric && !row.word) || room.failed;
    strbuf_clear(&room);
    if (failed) {
        free(row.text);
        free(row.word);
        errno = ENOMEM;
        return -1;
    }
    memcpy(row.text, text, length);
    row.text[length] = '\0';
    s->v[s->n++] = row;
    return 0;
}

static int by_value(const struct sorted_row *a, const struct sorted_row *b)
{
    if (a->word && b->word)
        return strcmp(a->word, b->word);
    return a->number < b->number ? -1 : a->number > b->number;
}

static int in_order(const struct sorted_row *a, const struct sorted_row *b, bool down)
{
    int order = 0;
    if (a->none != b->none)
        return a->none ? 1 : -1;
    if (!a->none)
        order = by_value(a, b);
    if (order != 0)
        return down ? -order : order;
    return a->at < b->at ? -1 : a->at > b->at;
}

static int upwards(const void *a, const void *b)
{
    return in_order(a, b, false);
}

static int downwards(const void *a, const void *b)
{
    return in_order(a, b, true);
}

int sorted_each(struct sorted *s, int (*visit)(void *context, const char *text, size_t length),
                void *context)
{
    int rc = 0;
    if (s->n > 1)
        qsort(s->v, s->n, sizeof(*s->v), s->down ? downwards : upwards);
    for (size_t i = 0; i < s->n && rc == 0; i++)
        rc = visit(context, s->v[i].text, s->v[i].length);
    return rc;
}

void sorted_clear(struct sorted *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].text);
        free(s->v[i].word);
    }
    free(s->v);
    s->v = NULL;
    s->n = s->cap = 0;
}
