#include "jobspec/canonical.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "jobspec/constraint.h"

/* The code point that begins here, if YAML does not take it as it is, or takes it for the end of a line; else 0. */
static unsigned special(const char *text)
{
    static const char *const three[] = {"\u2028", "\u2029", "\ufeff", "\xef\xbf\xbe",
                                        "\xef\xbf\xbf"};
    static const unsigned code[] = {0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff};
    unsigned char c = (unsigned char)text[0], next = (unsigned char)text[c != 0];

    if (c == 0x7f)
        return c;
    if (c == 0xc2 && next >= 0x80 && next <= 0x9f)
        return next;
    for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
        if (strncmp(text, three[i], 3) == 0)
            return code[i];
    return 0;
}

/* Text in quotes, as JSON and YAML both have it. */
static void put_text(struct strbuf *out, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t start = out->len;
    strbuf_put_json(out, text, strlen(text));
    if (!strpbrk(text, "\x7f\xc2\xe2\xef") || out->failed)
        return;
    char *json = strndup(out->data + start, out->len - start);
    out->failed |= !json;
    out->len = start;
    for (const char *p = json; p && *p; p++) {
        unsigned code = special(p);
        if (!code) {
            strbuf_putc(out, *p);
            continue;
        }
        strbuf_puts(out, "\\u");
        for (int shift = 12; shift >= 0; shift -= 4)
            strbuf_putc(out, digits[code >> shift & 15]);
        p += code > 0xff ? 2 : code > 0x7f;
    }
    free(json);
}

static void put_key(struct strbuf *out, const char *key, const char *text)
{
    if (!text)
        return;
    strbuf_puts(out, ",\"");
    strbuf_puts(out, key);
    strbuf_puts(out, "\":");
    put_text(out, text);
}

static void put_runs(struct strbuf *out, const struct jobspec_count *c)
{
    strbuf_putc(out, '"');
    for (uint32_t i = 0; i < c->nruns; i++) {
        if (i > 0)
            strbuf_putc(out, ',');
        strbuf_put_uint(out, c->runs[i].first);
        if (c->runs[i].last == c->runs[i].first)
            continue;
        strbuf_putc(out, '-');
        strbuf_put_uint(out, c->runs[i].last);
    }
    strbuf_putc(out, '"');
}

/* A number alone has an operator and an operand too, which mean nothing. */
static void put_count(struct strbuf *out, const struct jobspec_count *c)
{
    if (c->op == JOBSPEC_LIST) {
        put_runs(out, c);
        return;
    }
    if (c->min == c->max) {
        strbuf_put_uint(out, c->min);
        return;
    }
    strbuf_puts(out, "{\"min\":");
    strbuf_put_uint(out, c->min);
    strbuf_puts(out, ",\"max\":");
    strbuf_put_uint(out, c->max);
    strbuf_puts(out, ",\"operator\":\"");
    strbuf_putc(out, (char)c->op);
    strbuf_puts(out, "\",\"operand\":");
    strbuf_put_uint(out, c->operand);
    strbuf_putc(out, '}');
}

static void put_resource(struct strbuf *out, const struct jobspec_resource *r)
{
    strbuf_puts(out, "{\"type\":");
    put_text(out, r->type);
    strbuf_puts(out, ",\"count\":");
    put_count(out, &r->count);
    if (r->kind == JOBSPEC_SLOT)
        put_key(out, "label", "s");
    put_key(out, "unit", r->unit);
    put_key(out, "id", r->id);
    if (r->exclusive != JOBSPEC_EXCLUSIVE_UNSET)
        strbuf_puts(out, r->exclusive == JOBSPEC_EXCLUSIVE_TRUE ? ",\"exclusive\":true"
                                                                : ",\"exclusive\":false");
}

static void put_resources(struct strbuf *out, const jobspec_t *spec)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < spec->nresources; i++) {
        const struct jobspec_resource *r = &spec->resources[i];
        for (; depth > r->depth; depth--)
            strbuf_puts(out, "]}");
        if (i > 0 && spec->resources[i - 1].depth >= r->depth)
            strbuf_putc(out, ',');
        put_resource(out, r);
        if (r->end > i + 1) {
            strbuf_puts(out, ",\"with\":[");
            depth++;
        } else {
            strbuf_putc(out, '}');
        }
    }
    for (; depth > 0; depth--)
        strbuf_puts(out, "]}");
}

/* The strings of a list's condition. */
static void put_operands(struct strbuf *out, const struct jobspec_constraint *c)
{
    struct strbuf text = {0};
    if (c->condition == PROPERTIES) {
        for (const char **p = c->properties; *p; p++) {
            if (p > c->properties)
                strbuf_putc(out, ',');
            put_text(out, *p);
        }
        return;
    }
    if (c->condition == HOSTLIST)
        hostlist_encode(c->hosts, &text);
    else
        idset_encode(c->ranks, false, &text);
    if (text.len > 0)
        strbuf_put_json(out, text.data, text.len);
    out->failed |= text.failed;
    strbuf_clear(&text);
}

static void put_constraint(struct strbuf *out, const struct jobspec_constraint *c)
{
    if (c->condition == AND && c->size == 1) {
        strbuf_puts(out, "{}");
        return;
    }
    strbuf_puts(out, "{\"");
    strbuf_puts(out, constraint_names[c->condition]);
    strbuf_puts(out, "\":[");
    if (c->condition < AND)
        put_operands(out, c);
    for (uint32_t i = 1; i < c->size; i += c[i].size) {
        if (i > 1)
            strbuf_putc(out, ',');
        put_constraint(out, &c[i]);
    }
    strbuf_puts(out, "]}");
}

char *jobspec_canonical(const jobspec_t *spec)
{
    struct strbuf out = {0};
    strbuf_puts(&out, "{\"version\":9999,\"resources\":[");
    put_resources(&out, spec);
    strbuf_puts(&out,
                "],\"tasks\":[{\"command\":[\"\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}],"
                "\"attributes\":{\"system\":{\"duration\":0");
    if (spec->constraints) {
        strbuf_puts(&out, ",\"constraints\":");
        put_constraint(&out, spec->constraints);
    }
    strbuf_puts(&out, "}}}");
    return strbuf_steal(&out);
}
