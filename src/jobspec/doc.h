/* A YAML document as a flat tree, from which jobspecs are read.
 *
 * Nodes are in document order, a collection before its content, so a subtree is the nodes [i, end). The
 * children of a list are its items; those of a mapping are key, value, key, value. The first child of i
 * is i + 1, and the next sibling of a child is its `end`. Keys are scalars, and are different within a
 * mapping. JSON is YAML.
 *
 * Aliases are an error, so a tree is never larger than its text. It is at most DOC_DEPTH_MAX deep.
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
    berth_error_t *err; /* where doc_expected and other calls write; may be NULL */
};

/* Read one document. EINVAL with a text in err, or ENOMEM; then there is nothing to clear. name and err
 * are borrowed. doc_read tries the quick reader first; doc_read_yaml uses only libyaml. Results and
 * errors are the same.
 */
int doc_read(struct doc *d, const char *text, size_t length, const char *name, berth_error_t *err);
int doc_read_yaml(struct doc *d, const char *text, size_t length, const char *name,
                  berth_error_t *err);

void doc_clear(struct doc *d);

static inline const char *doc_text(const struct doc *d, uint32_t i)
{
    return d->text + d->node[i].text;
}

/* For the readers: add a node that has no children yet; add the text of a scalar; and check that the last
 * mapping, whose end is set, has no key twice. -1 with errno and an error text.
 */
int doc_add_node(struct doc *d, enum doc_kind kind, size_t line, size_t column);
int doc_add_text(struct doc *d, const char *text, size_t length);
int doc_check_keys(const struct doc *d, uint32_t mapping);

/* True if the node is a scalar with this text. */
bool doc_is(const struct doc *d, uint32_t i, const char *text);

/* True if the node is null: a plain scalar that is empty, ~ or null. */
bool doc_is_null(const struct doc *d, uint32_t i);

/* True if the node is a scalar other than null. */
static inline bool doc_is_text(const struct doc *d, uint32_t i)
{
    return d->node[i].kind == DOC_SCALAR && !doc_is_null(d, i);
}

/* Report that the value of a key (NULL: there is none) at node i is not what was expected. Returns -1
 * with EINVAL.
 */
int doc_expected(const struct doc *d, uint32_t i, const char *key, const char *expected);

/* The same with any text, which comes after the position. */
int doc_fault(const struct doc *d, uint32_t i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The keys that a mapping may have: n, at most 32, of which the first `required` must be there. */
struct doc_keys {
    const char *what; /* the mapping's name in error texts: "a resource" */
    const char *const *name;
    uint32_t n;
    uint32_t required;
};

/* Write the node of each key's value to value[0..keys->n), DOC_NONE if there is none. EINVAL with a text:
 * i is not a mapping, has a key that is not listed, or lacks one that is required.
 */
int doc_fields(const struct doc *d, uint32_t i, const struct doc_keys *keys, uint32_t *value);

#endif
