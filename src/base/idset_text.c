/* Sets of ids as text, and built in ascending order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/idset.h"

/* ---- Ranges in ascending order become those of a text with steps ---- */

/* Ranges are put out when no other can change them any more: consecutive ids one by one become a range, and of the
 * ids between such ranges those at equal distances do.
 */
struct gather {
    struct idset_builder *b;
    int (*put)(void *to, struct idset_range range);
    void *to;
};

/* Put out the ids at equal distances; two are no range. */
static int put_singles(const struct gather *g)
{
    struct idset_builder *b = g->b;
    uint32_t n = b->n_singles;
    struct idset_range r = b->singles;
    b->n_singles = 0;
    if (n > 2)
        return g->put(g->to, r);
    if (n > 0 && g->put(g->to, (struct idset_range){r.lo, r.lo, 0}) < 0)
        return -1;
    return n > 1 ? g->put(g->to, (struct idset_range){r.hi, r.hi, 0}) : 0;
}

static int take_single(const struct gather *g, uint32_t id)
{
    struct idset_builder *b = g->b;
    uint32_t before = b->singles.hi;
    if (b->n_singles > 1 && id - before != b->singles.gap + 1) {
        if (b->n_singles > 2) {
            if (put_singles(g) < 0)
                return -1;
        } else { /* the second may be the first of others */
            if (g->put(g->to, (struct idset_range){b->singles.lo, b->singles.lo, 0}) < 0)
                return -1;
            b->singles = (struct idset_range){before, before, 0};
            b->n_singles = 1;
        }
    }
    if (b->n_singles == 0)
        b->singles = (struct idset_range){id, id, 0};
    else if (b->n_singles == 1)
        b->singles.gap = id - before - 1;
    b->singles.hi = id;
    b->n_singles++;
    return 0;
}

/* What is open stays as it is. */
static int close_open(const struct gather *g)
{
    struct idset_builder *b = g->b;
    if (!b->is_open)
        return 0;
    b->is_open = false;
    if (b->open.lo == b->open.hi)
        return take_single(g, b->open.lo);
    return put_singles(g) < 0 ? -1 : g->put(g->to, b->open);
}

static int take_range(const struct gather *g, uint32_t lo, uint32_t hi)
{
    struct idset_builder *b = g->b;
    if (b->is_open && lo == b->open.hi + 1) {
        b->open.hi = hi;
        return 0;
    }
    if (close_open(g) < 0)
        return -1;
    b->open = (struct idset_range){lo, hi, 0};
    b->is_open = true;
    return 0;
}

/* The ids of a range with gaps one by one, but for those that only go on. */
static int take_steps(const struct gather *g, struct idset_range r)
{
    struct idset_builder *b = g->b;
    uint32_t step = r.gap + 1;
    for (uint64_t id = r.lo; id <= r.hi; id += step) {
        if (take_range(g, (uint32_t)id, (uint32_t)id) < 0)
            return -1;
        bool goes_on = id > r.lo && b->n_singles > 1 && b->singles.gap == r.gap &&
                       b->singles.hi == id - step && b->open.lo == id;
        if (!goes_on || id == r.hi)
            continue;
        b->n_singles += (r.hi - (uint32_t)id) / step;
        b->singles.hi = r.hi - step;
        b->open = (struct idset_range){r.hi, r.hi, 0};
        return 0;
    }
    return 0;
}

static int take(const struct gather *g, struct idset_range r)
{
    return r.gap == 0 ? take_range(g, r.lo, r.hi) : take_steps(g, r);
}

static int take_no_more(const struct gather *g)
{
    return close_open(g) < 0 ? -1 : put_singles(g);
}

static int put_into_set(void *to, struct idset_range range)
{
    struct idset *set = to;
    if (idset_reserve(set, (uint64_t)set->n + 1) < 0)
        return -1;
    set->v[set->n++] = range;
    set->count += (range.hi - range.lo) / (range.gap + 1) + 1;
    return 0;
}

int idset_build(struct idset_builder *b, struct idset_range range)
{
    return take(&(struct gather){b, put_into_set, &b->set}, range);
}

int idset_finish(struct idset_builder *b)
{
    return take_no_more(&(struct gather){b, put_into_set, &b->set});
}

/* ---- Writing ---- */

/* A text that is being written; its first range stands at `begin`. */
struct writer {
    struct strbuf *out;
    size_t begin;
};

static int put_into_text(void *to, struct idset_range range)
{
    struct writer *w = to;
    if (w->out->len > w->begin)
        strbuf_putc(w->out, ',');
    strbuf_put_uint(w->out, range.lo);
    if (range.hi == range.lo)
        return 0;
    strbuf_putc(w->out, '-');
    strbuf_put_uint(w->out, range.hi);
    if (range.gap > 0) {
        strbuf_putc(w->out, ':');
        strbuf_put_uint(w->out, (uint64_t)range.gap + 1);
    }
    return 0;
}

/* Write an id range after others that are below it, which touch it or not. */
static void write_range(struct writer *w, struct idset_range *open, bool *is_open, uint32_t lo,
                        uint32_t hi)
{
    if (*is_open && lo == open->hi + 1) {
        open->hi = hi;
        return;
    }
    if (*is_open)
        put_into_text(w, *open);
    *open = (struct idset_range){lo, hi, 0};
    *is_open = true;
}

void idset_encode(const struct idset *s, bool brackets, struct strbuf *out)
{
    brackets = brackets && s->count > 1;
    if (brackets)
        strbuf_putc(out, '[');
    struct writer w = {out, out->len};
    struct idset_range open = {0};
    bool is_open = false;
    for (uint32_t i = 0; i < s->n; i++) {
        struct idset_range r = s->v[i];
        if (r.gap == 0)
            write_range(&w, &open, &is_open, r.lo, r.hi);
        for (uint64_t id = r.lo; r.gap > 0 && id <= r.hi; id += r.gap + 1)
            write_range(&w, &open, &is_open, (uint32_t)id, (uint32_t)id);
    }
    if (is_open)
        put_into_text(&w, open);
    if (brackets)
        strbuf_putc(out, ']');
}

void idset_encode_steps(const struct idset *s, struct strbuf *out)
{
    struct idset_builder b = {0};
    struct writer w = {out, out->len};
    struct gather g = {&b, put_into_text, &w};
    for (uint32_t i = 0; i < s->n; i++)
        take(&g, s->v[i]);
    take_no_more(&g);
}

/* ---- Reading ---- */

struct reader {
    const char *text;
    size_t length;
    size_t at;
    bool steps;    /* may be there */
    bool any;      /* range was read; */
    uint32_t last; /* the last id then */
    struct idset *to;
    struct idset_builder *builder; /* of a text with steps */
    berth_error_t *err;
};

static int read_id(struct reader *r, uint32_t *id)
{
    size_t start = r->at;
    uint64_t value = 0;
    while (r->at < r->length && r->text[r->at] >= '0' && r->text[r->at] <= '9') {
        value = value * 10 + (uint64_t)(r->text[r->at++] - '0');
        if (r->at - start == 2 && r->text[start] == '0')
            return errtext_set(r->err, EINVAL, "offset %zu: an id has no leading zeros", start);
        if (value > IDSET_ID_MAX)
            return errtext_set(r->err, ERANGE, "offset %zu: expected an id of at most %d", start,
                               IDSET_ID_MAX);
    }
    if (r->at == start)
        return errtext_expected(r->err, r->text, r->length, start, "an id");
    *id = (uint32_t)value;
    return 0;
}

static bool take_byte(struct reader *r, char c)
{
    bool is = r->at < r->length && r->text[r->at] == c;
    r->at += is;
    return is;
}

/* The step of a range, whose last id is then the last one that it meets. */
static int read_step(struct reader *r, struct idset_range *range)
{
    size_t start = r->at;
    uint32_t step;
    if (read_id(r, &step) < 0)
        return -1;
    if (step == 0)
        return errtext_expected(r->err, r->text, r->length, start, "a step of 1 or more");
    range->hi = range->lo + (range->hi - range->lo) / step * step;
    range->gap = range->hi > range->lo ? step - 1 : 0;
    return 0;
}

/* Put a range behind those that were read before. */
static int put_behind(struct reader *r, struct idset_range range)
{
    struct idset *s = r->to;
    r->any = true;
    r->last = range.hi;
    if (r->builder)
        return idset_build(r->builder, range);
    if (s->n == 0 || range.lo > s->v[s->n - 1].hi + 1)
        return put_into_set(s, range);
    s->count += range.hi - s->v[s->n - 1].hi;
    s->v[s->n - 1].hi = range.hi;
    return 0;
}

static int read_range(struct reader *r)
{
    struct idset_range range = {0};
    size_t start = r->at;
    if (read_id(r, &range.lo) < 0)
        return -1;
    range.hi = range.lo;
    if (r->any && range.lo <= r->last)
        return errtext_set(r->err, EINVAL, "offset %zu: expected an id above %u, found %u", start,
                           r->last, range.lo);
    if (take_byte(r, '-')) {
        start = r->at;
        if (read_id(r, &range.hi) < 0)
            return -1;
        if (range.hi <= range.lo)
            return errtext_set(r->err, EINVAL, "offset %zu: expected an id above %u, found %u",
                               start, range.lo, range.hi);
        if (r->steps && take_byte(r, ':') && read_step(r, &range) < 0)
            return -1;
    }
    return put_behind(r, range) < 0 ? errtext_no_memory(r->err) : 0;
}

/* Ranges up to the end or, if there was an opening bracket, the closing one. */
static int read_ranges(struct reader *r, bool brackets)
{
    const char *expected = brackets ? "',' or ']'" : "','";
    while (!r->any || r->at < r->length) {
        if (r->any && !take_byte(r, ','))
            break;
        if (read_range(r) < 0)
            return -1;
    }
    if (brackets && !take_byte(r, ']'))
        return errtext_expected(r->err, r->text, r->length, r->at, expected);
    if (r->at < r->length)
        return errtext_expected(r->err, r->text, r->length, r->at, brackets ? "the end" : expected);
    return 0;
}

static int read_set(struct reader *r)
{
    bool brackets = r->length > 0 && r->text[0] == '[';
    bool empty = r->length == 0 || (r->length == 2 && memcmp(r->text, "[]", 2) == 0);
    r->at = brackets;
    return empty ? 0 : read_ranges(r, brackets);
}

static void replace_by(struct idset *s, const struct idset *by)
{
    free(s->v);
    *s = *by;
}

int idset_decode(struct idset *s, const char *text, size_t length, berth_error_t *err)
{
    struct idset out = {0};
    struct reader r = {.text = text, .length = length, .to = &out, .err = err};
    if (read_set(&r) < 0) {
        idset_clear(&out);
        return -1;
    }
    replace_by(s, &out);
    return 0;
}

int idset_decode_steps(struct idset *s, const char *text, size_t length, berth_error_t *err)
{
    struct idset_builder b = {0};
    struct reader r = {.text = text, .length = length, .steps = true, .builder = &b, .err = err};
    int rc = read_set(&r);
    if (rc == 0 && idset_finish(&b) < 0)
        rc = errtext_no_memory(err);
    if (rc < 0) {
        idset_clear(&b.set);
        return -1;
    }
    replace_by(s, &b.set);
    return 0;
}
