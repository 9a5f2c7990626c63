/* simple and pretty_simple: a line for each vertex, indented by its depth. */
#include "resource/writers/writer.h"

#include <assert.h>

#define MARGIN     6 /* blanks before the dashes */
#define LEVEL      3 /* dashes for each level of depth */
#define FEW_LEVELS 20
#define NUMBERS    (2 * (STRBUF_NUMBER_MAX + 1)) /* an id and units, with signs */

static char *put_bytes(char *to, const char *text, size_t length)
{
    memcpy(to, text, length);
    return to + length;
}

static char *put_int(char *to, int64_t number)
{
    uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    if (number < 0)
        *to++ = '-';
    return to + strbuf_decimal(to, magnitude);
}

static char *put_margin(char *to, size_t depth)
{
    static const char margin[] = "      ---------------"
                                 "---------------"
                                 "---------------"
                                 "---------------";
    static_assert(sizeof(margin) - 1 == MARGIN + LEVEL * FEW_LEVELS, "as many dashes as levels");
    if (depth <= FEW_LEVELS)
        return put_bytes(to, margin, MARGIN + LEVEL * depth);
    to = put_bytes(to, margin, MARGIN);
    memset(to, '-', LEVEL * depth);
    return to + LEVEL * depth;
}

/* This takes most of the time, so each line checks for room only once. */
static void put_line(const struct emitted *item, const struct graph *g, const char *tail,
                     size_t tail_length, struct strbuf *out)
{
    const struct vertex *v = &g->v[item->vertex];
    uint32_t part = v->name ? v->name : v->basename;
    size_t length = intern_length(&g->names, part);
    if (!strbuf_room(out,
                     MARGIN + (size_t)LEVEL * item->depth + length + NUMBERS + tail_length + 1))
        return;
    char *to = put_margin(out->data + out->len, item->depth);
    to = put_bytes(to, intern_text(&g->names, part), length);
    if (!v->name && v->id != -1)
        to = put_int(to, v->id);
    *to++ = '[';
    to = put_int(to, item->needs);
    to = put_bytes(to, tail, tail_length);
    out->len = (size_t)(to - out->data);
}

int writer_simple(const struct emission *e, const struct graph *g, int flags, struct strbuf *out)
{
    static const char shared[] = ":s]\n", exclusive[] = ":x]\n";
    static const char shared_word[] = ":shared]\n", exclusive_word[] = ":exclusive]\n";
    for (size_t i = 0; i < e->n; i++) {
        const struct emitted *item = &e->item[flags & WRITER_PRETTY ? e->n - 1 - i : i];
        bool alone = item->flags & EMIT_EXCLUSIVE;
        if (flags & WRITER_PRETTY)
            put_line(item, g, alone ? exclusive_word : shared_word,
                     alone ? sizeof(exclusive_word) - 1 : sizeof(shared_word) - 1, out);
        else
            put_line(item, g, alone ? exclusive : shared, sizeof(shared) - 1, out);
    }
    return 0;
}
