/* Constraints (RFC 31) of a configuration, as JSON. */
#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "config/read.h"
#include "jobspec/constraint_check.h"
#include "jobspec/constraint_text.h"

/* A subtree as JSON, scalars as strings. No deeper than the document. */
static void put_json(struct strbuf *b, const struct doc *d, uint32_t i)
{
    bool mapping = d->node[i].kind == DOC_MAPPING;
    uint32_t n = 0;

    if (d->node[i].kind == DOC_SCALAR) {
        quote(b, doc_text(d, i), d->node[i].length);
        return;
    }
    strbuf_putc(b, mapping ? '{' : '[');
    for (uint32_t x = i + 1; x < d->node[i].end; x = d->node[x].end, n++) {
        if (n > 0)
            strbuf_puts(b, mapping && n % 2 == 1 ? ": " : ", ");
        put_json(b, d, x);
    }
    strbuf_putc(b, mapping ? '}' : ']');
}

static int keep_json(struct reading *r, struct strbuf *json, const char **ret)
{
    char *copy;

    if (json->failed)
        return errtext_no_memory(r->doc.err);
    copy = reading_array(r, json->len + 1, 1);
    if (!copy)
        return -1;
    memcpy(copy, json->data, json->len);
    *ret = copy;
    return 0;
}

/* Whether a list of properties, as JSON, is a constraint. */
static int check_properties(const struct reading *r, uint32_t i, const char *key,
                            const struct strbuf *json)
{
    struct jobspec_constraint *constraint =
        json->failed ? NULL : jobspec_constraint_parse(json->data, json->len, NULL);

    if (constraint) {
        jobspec_constraint_destroy(constraint);
        return 0;
    }
    if (json->failed || errno != EINVAL)
        return errtext_no_memory(r->doc.err);
    return doc_fault(&r->doc, i, "key \"%s\": expected properties without any of !&'\"^`|()", key);
}

int value_constraint(struct reading *r, uint32_t i, const char *key, const char **ret)
{
    struct strbuf json = {0};
    struct doc *d = &r->doc;
    int rc;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind == DOC_SCALAR)
        return doc_expected(d, i, key, "a list of properties, or a constraint (RFC 31)");
    if (d->node[i].kind == DOC_LIST) {
        strbuf_puts(&json, "{\"properties\": ");
        put_json(&json, d, i);
        strbuf_putc(&json, '}');
        rc = check_properties(r, i, key, &json);
    } else {
        rc = constraint_check(d, i);
        if (rc == 0)
            put_json(&json, d, i);
    }
    if (rc == 0)
        rc = keep_json(r, &json, ret);
    strbuf_clear(&json);
    return rc;
}
