/* The rows of a listing. From look to look most are the same: a row whose text was read before is not read
 * again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server_scene.h"

enum { KEPT = 4096 };

struct kept_row {
    char *text;
    size_t length;
    json_t *row;
};

static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t h = 1469598103934665603u;
    while (n-- > 0)
        h = (h ^ (unsigned char)*text++) * 1099511628211u;
    return h ^ h >> 32;
}

static const json_t *read_row(struct scene *c, const char *text, size_t n)
{
    if (!c->rows)
        c->rows = calloc(KEPT, sizeof(*c->rows));
    if (!c->rows)
        abort();
    struct kept_row *r = &c->rows[hash_of(text, n) % KEPT];
    if (r->length == n && memcmp(r->text, text, n) == 0)
        return r->row;
    free(r->text);
    json_decref(r->row);
    *r = (struct kept_row){strndup(text, n), n, json_loadb(text, n, 0, NULL)};
    if (!r->text || !r->row)
        scene_fail(c, "a row of a listing can't be read", -1, -1);
    return r->row;
}

/* What is behind the rows: where more begin, or that there are none. */
static bool read_next(struct scene *c, const char *text, size_t n, char *next, size_t size)
{
    static const char last[] = "],\"next\":null}\n", more[] = "],\"next\":\"";
    size_t known = sizeof(more) - 1;
    if (n == sizeof(last) - 1 && memcmp(text, last, n) == 0)
        return false;
    const char *end =
        n > known && memcmp(text, more, known) == 0 ? memchr(text + known, '"', n - known) : NULL;
    if (!end || (size_t)(end - text) + 3 != n || memcmp(end, "\"}\n", 3) != 0)
        scene_fail(c, "a listing has no end", -1, -1);
    snprintf(next, size, "%.*s", (int)(end - text - (ptrdiff_t)known), text + known);
    return true;
}

/* Each row is a line, and has a comma behind it but for the last. */
bool rows_each(struct scene *c, const struct strbuf *listing, row_fn *what, void *arg, char *next,
               size_t size)
{
    static const char begin[] = "{\"jobs\":[\n";
    size_t n = sizeof(begin) - 1;
    const char *at = listing->data, *end = at + listing->len;
    if (listing->len < n || memcmp(at, begin, n) != 0)
        scene_fail(c, "it is no listing", -1, -1);
    for (at += n; at < end && *at != ']';) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        if (!line || line == at)
            scene_fail(c, "a listing ends within a row", -1, -1);
        what(c, read_row(c, at, (size_t)(line - at) - (line[-1] == ',')), arg);
        at = line + 1;
    }
    return read_next(c, at, (size_t)(end - at), next, size);
}

void rows_free(struct scene *c)
{
    for (int i = 0; c->rows && i < KEPT; i++) {
        free(c->rows[i].text);
        json_decref(c->rows[i].row);
    }
    free(c->rows);
}
