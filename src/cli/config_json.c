#include "cli/config_json.h"

#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "base/json_out.h"
#include "jobspec/doc.h"

/* Whether a plain scalar is a number as JSON has them: "-1", "0.5". */
static bool is_number(const char *text)
{
    const char *at = text + (*text == '-');
    size_t whole = strspn(at, "0123456789"), part;

    if (whole == 0 || (at[0] == '0' && whole > 1))
        return false;
    at += whole;
    if (*at != '.')
        return !*at;
    part = strspn(at + 1, "0123456789");
    return part > 0 && !at[1 + part];
}

static void put_doc_value(struct json_out *out, const struct doc *d, uint32_t i)
{
    const struct doc_node *node = &d->node[i];

    if (doc_is_null(d, i)) {
        json_put_null(out, NULL);
    } else if (node->kind == DOC_SCALAR) {
        if (node->plain && is_number(doc_text(d, i)))
            json_put_raw(out, NULL, doc_text(d, i));
        else
            json_put_text(out, NULL, doc_text(d, i));
    } else if (node->kind == DOC_LIST) {
        json_open(out, NULL, '[');
        for (uint32_t k = i + 1; k < node->end; k = d->node[k].end)
            put_doc_value(out, d, k);
        json_close(out, ']');
    } else {
        json_open(out, NULL, '{');
        for (uint32_t k = i + 1; k < node->end; k = d->node[k + 1].end) {
            json_key_bytes(out, doc_text(d, k), d->node[k].length);
            out->has_value = false; /* what follows the key has no comma before it */
            put_doc_value(out, d, k + 1);
        }
        json_close(out, '}');
    }
}

int config_json_print(const char *yaml, berth_error_t *err)
{
    struct strbuf text = {0};
    struct json_out out = {.text = &text};
    struct doc doc;

    if (doc_read(&doc, yaml, strlen(yaml), "", err) < 0)
        return -1;
    put_doc_value(&out, &doc, 0);
    doc_clear(&doc);
    int rc = text.failed ? errtext_no_memory(err) : 0;
    if (rc == 0)
        puts(strbuf_text(&text));
    strbuf_clear(&text);
    return rc;
}
