/* Specifications of pruning filters: a sorted array of pairs, which is short. */
#include "match/machine/filter_spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"

void filter_spec_clear(struct filter_spec *s)
{
    int saved = errno;
    free(s->v);
    *s = (struct filter_spec){0};
    errno = saved;
}

static bool pair_before(struct filter_pair a, struct filter_pair b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* The index of a pair, or where to insert it. */
static size_t pair_index(const struct filter_spec *s, struct filter_pair pair)
{
    size_t i = 0;
    while (i < s->n && pair_before(s->v[i], pair))
        i++;
    return i;
}

static bool has_pair(const struct filter_spec *s, uint16_t high, uint16_t low)
{
    struct filter_pair pair = {high, low};
    size_t i = pair_index(s, pair);
    return i < s->n && !pair_before(pair, s->v[i]);
}

static int grow_pairs(struct filter_spec *s)
{
    if (s->n < s->cap)
        return 0;
    size_t cap = s->cap ? 2 * s->cap : 8;
    struct filter_pair *v = reallocarray(s->v, cap, sizeof(*v));
    if (!v)
        return -1;
    s->v = v;
    s->cap = cap;
    return 0;
}

int filter_spec_add(struct filter_spec *s, uint16_t high, uint16_t low)
{
    if (has_pair(s, FILTER_ALL, low) || has_pair(s, high, low))
        return 0;
    if (grow_pairs(s) < 0)
        return -1;
    if (high == FILTER_ALL) {
        size_t kept = 0;
        for (size_t i = 0; i < s->n; i++)
            if (s->v[i].low != low)
                s->v[kept++] = s->v[i];
        s->n = kept;
    }
    struct filter_pair pair = {high, low};
    size_t at = pair_index(s, pair);
    memmove(s->v + at + 1, s->v + at, (s->n - at) * sizeof(*s->v));
    s->v[at] = pair;
    s->n++;
    return 0;
}

size_t filter_spec_types(const struct filter_spec *s, uint16_t high, uint16_t *types)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].high == high)
            types[n++] = s->v[i].low;
    for (size_t i = 0; i < s->n && high != FILTER_ALL; i++)
        if (s->v[i].high == FILTER_ALL && s->v[i].low != high)
            types[n++] = s->v[i].low;
    return n;
}

bool filter_spec_is_pruning(const struct filter_spec *s, uint16_t low)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].low == low)
            return true;
    return false;
}

bool filter_spec_check(const struct filter_spec *s)
{
    if (s->n > s->cap)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        if (i > 0 && !pair_before(s->v[i - 1], s->v[i]))
            return false;
        if (s->v[i].high != FILTER_ALL && has_pair(s, FILTER_ALL, s->v[i].low))
            return false;
    }
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The two sides of a colon. */
struct pair_text {
    struct strbuf high, low;
};

/* Read what comes before the first stop character or the end, without blanks. Returns where the stop is. */
static const char *read_type(const char *text, const char *stops, struct strbuf *type)
{
    size_t length = strcspn(text, stops);
    strbuf_reset(type);
    for (size_t i = 0; i < length; i++)
        if (!is_space(text[i]))
            strbuf_putc(type, text[i]);
    return text + length;
}

/* Read one pair and move past it; or move to an error, and return what was expected there. */
static const char *read_type_pair(const char **text, struct pair_text *pair)
{
    const char *at = read_type(*text, ":,", &pair->high);
    if (pair->high.len == 0)
        return "a type";
    *text = at;
    if (*at != ':')
        return "':'";
    *text = at + 1;
    at = read_type(*text, ",", &pair->low);
    if (pair->low.len == 0)
        return "a type";
    *text = at;
    return NULL;
}

static int add_pair(struct filter_spec *s, struct graph *g, struct pair_text *pair)
{
    uint32_t high = FILTER_ALL;
    uint32_t low = graph_type(g, strbuf_text(&pair->low));
    if (low == UINT32_MAX)
        return -1;
    if (strcmp(strbuf_text(&pair->high), "ALL") != 0)
        high = graph_type(g, strbuf_text(&pair->high));
    if (high == UINT32_MAX)
        return -1;
    return filter_spec_add(s, (uint16_t)high, (uint16_t)low);
}

int filter_spec_copy(struct filter_spec *to, const struct filter_spec *from)
{
    if (from->n == 0)
        return 0;
    to->v = reallocarray(NULL, from->n, sizeof(*to->v));
    if (!to->v)
        return -1;
    memcpy(to->v, from->v, from->n * sizeof(*to->v));
    to->n = to->cap = from->n;
    return 0;
}

/* Read all pairs, and add them to a specification; if it is NULL, only check them. */
static int read_pairs(struct filter_spec *s, struct graph *g, const char *text,
                      struct pair_text *pair, berth_error_t *err)
{
    const char *at = text;
    for (;;) {
        const char *expected = read_type_pair(&at, pair);
        if (pair->high.failed || pair->low.failed) {
            errno = ENOMEM;
            return -1;
        }
        if (expected)
            return errtext_expected(err, text, strlen(text), (size_t)(at - text), expected);
        if (s && add_pair(s, g, pair) < 0)
            return -1;
        if (*at++ == '\0')
            return 0;
    }
}

int filter_spec_parse(struct filter_spec *s, struct graph *g, const char *text, berth_error_t *err)
{
    struct filter_spec changed = {0};
    struct pair_text pair = {0};
    int rc = read_pairs(NULL, NULL, text, &pair, err);
    if (rc == 0)
        rc = filter_spec_copy(&changed, s);
    if (rc == 0)
        rc = read_pairs(&changed, g, text, &pair, err);
    if (rc == 0) {
        filter_spec_clear(s);
        *s = changed;
    } else {
        if (errno != EINVAL)
            errtext_set(err, errno, errno == ENOMEM ? "out of memory" : "too many types");
        filter_spec_clear(&changed);
    }
    strbuf_clear(&pair.high);
    strbuf_clear(&pair.low);
    return rc;
}
