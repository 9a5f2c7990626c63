#include "jobspec/canonical.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "jobspec/constraint.h"

/* The code point that begins here, if YAML does not take it as it is, or takes it for the end of a line;
 * else 0.
 */
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
static void put_quoted_text(struct strbuf *out, const char *text)
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

static void put_text_member(struct json_out *out, const char *key, const char *text)
{
    if (!text)
        return;
    json_key(out, key);
    put_quoted_text(out->text, text);
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
static void put_count(struct json_out *out, const struct jobspec_count *c)
{
    const char op[] = {(char)c->op, '\0'};
    if (c->op == JOBSPEC_LIST) {
        json_key(out, "count");
        put_runs(out->text, c);
    } else if (c->min == c->max) {
        json_put_uint(out, "count", c->min);
    } else {
        json_open(out, "count", '{');
        json_put_uint(out, "min", c->min);
        json_put_uint(out, "max", c->max);
        json_put_string(out, "operator", op);
        json_put_uint(out, "operand", c->operand);
        json_close(out, '}');
    }
}

static void put_resource(struct json_out *out, const struct jobspec_resource *r)
{
    json_open(out, NULL, '{');
    put_text_member(out, "type", r->type);
    put_count(out, &r->count);
    if (r->kind == JOBSPEC_SLOT)
        json_put_string(out, "label", "s");
    put_text_member(out, "unit", r->unit);
    put_text_member(out, "id", r->id);
    put_text_member(out, "property", r->property);
    if (r->exclusive != JOBSPEC_EXCLUSIVE_UNSET)
        json_put_bool(out, "exclusive", r->exclusive == JOBSPEC_EXCLUSIVE_TRUE);
}

/* Those below a resource are over, and with them itself. */
static void end_resource(struct json_out *out)
{
    json_close(out, ']');
    json_close(out, '}');
}

/* Those from one at the top on, before another one. */
static void put_resource_list(struct json_out *out, const jobspec_t *spec, uint32_t from,
                              uint32_t until)
{
    uint32_t depth = 0;
    json_open(out, "resources", '[');
    for (uint32_t i = from; i < until; i++) {
        const struct jobspec_resource *r = &spec->resources[i];
        for (; depth > r->depth; depth--)
            end_resource(out);
        put_resource(out, r);
        if (r->end > i + 1) {
            json_open(out, "with", '[');
            depth++;
        } else {
            json_close(out, '}');
        }
    }
    for (; depth > 0; depth--)
        end_resource(out);
    json_close(out, ']');
}

/* The strings of a list's condition. */
static void put_operands(struct json_out *out, const struct jobspec_constraint *c)
{
    struct strbuf text = {0};
    if (c->condition == PROPERTIES) {
        for (const char **p = c->properties; *p; p++)
            put_text_member(out, NULL, *p);
        return;
    }
    if (c->condition == HOSTLIST)
        hostlist_encode(c->hosts, &text);
    else
        idset_encode(c->ranks, false, &text);
    if (text.len > 0)
        json_put_bytes(out, NULL, text.data, text.len);
    out->text->failed |= text.failed;
    strbuf_clear(&text);
}

static void put_constraint(struct json_out *out, const char *key,
                           const struct jobspec_constraint *c)
{
    json_open(out, key, '{');
    if (c->condition != AND || c->size > 1) {
        json_open(out, constraint_names[c->condition], '[');
        if (c->condition < AND)
            put_operands(out, c);
        for (uint32_t i = 1; i < c->size; i += c[i].size)
            put_constraint(out, NULL, &c[i]);
        json_close(out, ']');
    }
    json_close(out, '}');
}

char *jobspec_canonical(const jobspec_t *spec)
{
    struct strbuf text = {0};
    struct json_out out = {.text = &text};
    json_open(&out, NULL, '{');
    json_put_int(&out, "version", 9999);
    put_resource_list(&out, spec, 0, spec->nresources);
    json_put_raw(&out, "tasks", "[{\"command\":[\"\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}]");
    json_open(&out, "attributes", '{');
    json_open(&out, "system", '{');
    json_put_int(&out, "duration", 0);
    if (spec->constraints)
        put_constraint(&out, "constraints", spec->constraints);
    strbuf_puts(&text, "}}}");
    return strbuf_steal(&text);
}

/* ---- A role's ---- */

static bool has_slot(const jobspec_t *spec, uint32_t top, const char *label)
{
    for (uint32_t i = top; i < spec->resources[top].end; i++)
        if (spec->resources[i].kind == JOBSPEC_SLOT && strcmp(spec->resources[i].label, label) == 0)
            return true;
    return false;
}

static void put_task(struct json_out *out, const struct jobspec_task *task)
{
    json_open(out, NULL, '{');
    json_open(out, "command", '[');
    for (uint32_t i = 0; i < task->ncommand; i++)
        put_text_member(out, NULL, task->command[i]);
    json_close(out, ']');
    json_put_string(out, "slot", "s");
    json_open(out, "count", '{');
    if (task->per == JOBSPEC_PER_RESOURCE) {
        json_open(out, "per_resource", '{');
        put_text_member(out, "type", task->per_type);
        json_put_uint(out, "count", task->count);
        json_close(out, '}');
    } else {
        json_put_uint(out, task->per == JOBSPEC_TOTAL ? "total" : "per_slot", task->count);
    }
    json_close(out, '}');
    json_close(out, '}');
}

static void put_exact_seconds(struct json_out *out, const char *key, double seconds)
{
    char text[40];
    snprintf(text, sizeof(text), "%.17g", seconds);
    json_put_raw(out, key,
                 isnan(seconds)    ? ".nan"
                 : !isinf(seconds) ? text
                 : seconds > 0     ? ".inf"
                                   : "-.inf");
}

static void put_system(struct json_out *out, const jobspec_t *spec)
{
    put_exact_seconds(out, "duration", spec->duration);
    put_text_member(out, "queue", spec->queue);
    put_text_member(out, "account", spec->account);
    if (spec->constraints)
        put_constraint(out, "constraints", spec->constraints);
    if (spec->preemptible_after >= 0)
        put_exact_seconds(out, "preemptible-after", spec->preemptible_after);
    if (spec->sla_waiting_time >= 0)
        put_exact_seconds(out, "sla-waiting-time", spec->sla_waiting_time);
    json_open(out, "dependencies", '[');
    for (uint32_t i = 0; i < spec->ndependencies; i++) {
        json_open(out, NULL, '{');
        put_text_member(out, "scheme", spec->dependencies[i].scheme);
        put_text_member(out, "value", spec->dependencies[i].value);
        json_close(out, '}');
    }
    json_close(out, ']');
}

char *jobspec_of_role(const jobspec_t *spec, const struct jobspec_role *role)
{
    struct strbuf text = {0};
    struct json_out out = {.text = &text};
    json_open(&out, NULL, '{');
    json_put_int(&out, "version", spec->version);
    put_resource_list(&out, spec, role->resource, spec->resources[role->resource].end);
    json_open(&out, "tasks", '[');
    for (uint32_t i = 0; i < spec->ntasks; i++)
        if (has_slot(spec, role->resource, spec->tasks[i].slot))
            put_task(&out, &spec->tasks[i]);
    json_close(&out, ']');
    json_open(&out, "attributes", '{');
    json_open(&out, "system", '{');
    put_system(&out, spec);
    strbuf_puts(&text, "}}}");
    return strbuf_steal(&text);
}
