/* What the readers of a jobspec's parts share: memory and strings. */
#include "jobspec/build.h"

#include <assert.h>
#include <string.h>

#include "base/errtext.h"

enum { ALIGN = sizeof(void *) };

static size_t aligned(size_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

void need_array(struct need *need, size_t n, size_t size)
{
    need->arrays += aligned(n * size);
}

void *build_array(struct build *b, size_t n, size_t size)
{
    char *array = b->front;
    b->front += aligned(n * size);
    assert(b->front <= b->back);
    memset(array, 0, n * size);
    return array;
}

void need_text(struct need *need, const struct doc *d, uint32_t i)
{
    /* Texts are in the order of their nodes. */
    uint32_t end = d->node[i].end;
    need->text += (end < d->n ? d->node[end].text : d->used) - d->node[i].text;
}

const char *build_text(struct build *b, uint32_t i)
{
    size_t size = (size_t)b->doc->node[i].length + 1;
    b->back -= size;
    assert(b->front <= b->back);
    return memcpy(b->back, doc_text(b->doc, i), size);
}

int build_nomem(const struct build *b)
{
    return errtext_no_memory(b->doc->err);
}

int build_string(struct build *b, uint32_t i, const char *key, const char **ret_text)
{
    if (i == DOC_NONE)
        return 0;
    if (!doc_is_text(b->doc, i))
        return doc_expected(b->doc, i, key, "a string");
    *ret_text = build_text(b, i);
    return 0;
}

void environment_need(struct need *need, const struct doc *d, uint32_t i)
{
    need_array(need, d->node[i].count, sizeof(struct jobspec_variable));
    need_text(need, d, i);
}

int environment_build(struct build *b, uint32_t i, const struct jobspec_variable **ret_variables,
                      uint32_t *ret_n)
{
    const struct doc *d = b->doc;
    if (d->node[i].kind != DOC_MAPPING)
        return doc_expected(d, i, "environment", "a mapping");
    uint32_t n = 0;
    struct jobspec_variable *v = build_array(b, d->node[i].count, sizeof(*v));
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end, n++) {
        if (d->node[key + 1].kind != DOC_SCALAR)
            return doc_expected(d, key + 1, doc_text(d, key), "a string or null");
        v[n].name = build_text(b, key);
        if (!doc_is_null(d, key + 1))
            v[n].value = build_text(b, key + 1);
    }
    *ret_variables = v;
    *ret_n = n;
    return 0;
}
