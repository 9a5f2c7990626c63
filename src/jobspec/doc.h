/* A YAML document as a flat tree: what a jobspec is read from.
 *
 * Nodes stand in document order, a collection before what it holds, so that a subtree is the nodes
 * [i, end). The children of a list are its items, those of a mapping are key, value, key, value;
 * the first child of i is i + 1 and the next sibling of a child its `end`. Keys are scalars, and
 * differ within a mapping. JSON is YAML.
 *
 * Aliases are refused, so a tree is never larger than its text says, and it is at most
 * DOC_DEPTH_MAX deep.
 */
#ifndef JOBSPEC_DOC_H
#define JOBSPEC_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"

#define DOC_NONE UINT32_MAX

enum { DOC_DEPTH_MAX = 64 };

enum doc_kind { DOC_SCALAR, DOC_LIST, DOC_MAPPING };

struct doc_node {
    uint32_t text;   /* of a scalar, in doc.text, NUL-terminated and without any other NUL */
    uint32_t length; /* of a scalar */
    uint32_t end;    /* one past the last node of the subtree */
    uint32_t count;  /* of a collection: items or entries */
    uint32_t line;   /* both from 1 */
    uint32_t column;
    enum doc_kind kind;
    bool plain; /* a scalar without quotes, block style or tag */
};

struct doc {
    struct doc_node *node; /* node[0] is the root */
    uint32_t n, capacity;
    char *text;
    size_t used, size;
    const char *name;   /* as jobspec_options has it */
    berth_error_t *err; /* where doc_expected and others write; may be NULL */
};

/* Read one document. EINVAL with a text in err, ENOMEM; then there is nothing to clear. name and
 * err are borrowed. doc_read_yaml is the same by libyaml alone, where doc_read tries the quick
 * reader first: results and errors are the same.
 */
int doc_read(struct doc *d, const char *text, size_t length, const char *name, berth_error_t *err);
int doc_read_yaml(struct doc *d, const char *text, size_t length, const char *name,
                  berth_error_t *err);

void doc_clear(struct doc *d);

static inline const char *doc_text(const struct doc *d, uint32_t i)
{
    return d->text + d->node[i].text;
}

/* For the readers: add a node that ends itself, with the texts that follow; add a scalar's text;
 * say that a mapping whose end is set and that is the last node so far has a key twice. -1 with
 * errno and an error text.
 */
int doc_add_node(struct doc *d, enum doc_kind kind, size_t line, size_t column);
int doc_add_text(struct doc *d, const char *text, size_t length);
int doc_check_keys(const struct doc *d, uint32_t mapping);

/* A scalar of this very text. */
bool doc_is(const struct doc *d, uint32_t i, const char *text);

/* No value: a plain scalar that is empty, ~ or null. */
bool doc_is_null(const struct doc *d, uint32_t i);

/* A scalar that is not null. */
static inline bool doc_is_text(const struct doc *d, uint32_t i)
{
    return d->node[i].kind == DOC_SCALAR && !doc_is_null(d, i);
}

/* Say at node i that the value of a key (NULL: there is none) should be something else. Returns -1
 * with EINVAL.
 */
int doc_expected(const struct doc *d, uint32_t i, const char *key, const char *expected);

/* The same in free form: the text goes behind the position. */
int doc_fault(const struct doc *d, uint32_t i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a mapping may hold: n keys, at most 32, of which the first `required` must be there. */
struct doc_keys {
    const char *what; /* the mapping's name in error texts: "a resource" */
    const char *const *name;
    uint32_t n;
    uint32_t required;
};

/* Put the node of each key's value into value[0..keys->n), DOC_NONE where there is none. EINVAL
 * with a text: i is no mapping, a key that is not listed, one that is required and missing.
 */
int doc_fields(const struct doc *d, uint32_t i, const struct doc_keys *keys, uint32_t *value);

#endif
