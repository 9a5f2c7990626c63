/* Writing and restoring the order in which first-fit policies look at a vertex's children (plan.h). */
#include <errno.h>
#include <inttypes.h>

#include "base/errtext.h"
#include "match/inner.h"
#include "match/plan.h"

int match_hints_write(const struct match *m, struct strbuf *out)
{
    for (uint32_t v = 0; v < m->states; v++) {
        const struct state_below *s = state_below(m->state[v]);
        bool any = false;
        for (uint32_t i = 0; s->weight && i < s->n_weights; i++) {
            if (s->weight[i].weight == UINT64_MAX)
                continue; /* nothing was ever taken of it */
            if (!any)
                strbuf_put_uint(out, v);
            any = true;
            strbuf_putc(out, ' ');
            strbuf_put_uint(out, s->weight[i].child);
            strbuf_putc(out, '=');
            strbuf_put_uint(out, s->weight[i].weight);
        }
        if (any)
            strbuf_putc(out, '\n');
    }
    if (!out->failed)
        return 0;
    errno = ENOMEM;
    return -1;
}

struct reader {
    const char *text;
    size_t length, at;
};

/* Read a decimal number; false if there is none, or if it is over 2^64 - 1. */
static bool read_decimal(struct reader *r, uint64_t *value)
{
    size_t first = r->at;
    *value = 0;
    for (; r->at < r->length && r->text[r->at] >= '0' && r->text[r->at] <= '9'; r->at++) {
        uint64_t digit = (uint64_t)(r->text[r->at] - '0');
        if (*value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return r->at > first;
}

static bool eat(struct reader *r, char c)
{
    if (r->at == r->length || r->text[r->at] != c)
        return false;
    r->at++;
    return true;
}

/* Read one line: a vertex and its children. Returns 0, or -1 with EINVAL or ENOMEM. */
static int line(struct match *m, struct reader *r)
{
    uint64_t v, child, weight;
    errno = EINVAL;
    if (!read_decimal(r, &v) || v >= m->g->n || m->topo.class_of[v] == CLASS_NONE)
        return -1;
    while (eat(r, ' ')) {
        if (!read_decimal(r, &child) || !eat(r, '=') || !read_decimal(r, &weight) ||
            child >= m->g->n)
            return -1;
        const uint32_t *children;
        uint32_t n = topo_children(&m->topo, (uint32_t)v, &children), i = 0;
        while (i < n && children[i] != child)
            i++;
        if (i == n)
            return -1;
        if (!match_state(m, (uint32_t)v) || match_need_weights(m, (uint32_t)v) < 0)
            return -1;
        match_put_weight(
            m, (uint32_t)v,
            &(struct weight){weight, graph_uniq_id(m->g, (uint32_t)child), (uint32_t)child});
        errno = EINVAL;
    }
    return eat(r, '\n') ? 0 : -1;
}

int match_hints_read(struct match *m, const char *text, size_t length, berth_error_t *err)
{
    struct reader r = {text, length, 0};
    while (r.at < r.length)
        if (line(m, &r) < 0)
            return errno == ENOMEM ? errtext_no_memory(err)
                                   : errtext_set(err, EINVAL, "no such order of resources");
    return 0;
}
