/* From libyaml's events to a flat tree (doc.h). */
#include "jobspec/doc.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/errtext.h"
#include "base/nearest.h"
#include "berth/jobspec.h"
#include "jobspec/quick.h"

enum {
    FEW_KEYS = 12, /* up to so many are compared each with each */
    SHOWN = 40,    /* bytes of a scalar that an error text quotes */
    LIST_MAX = 250 /* bytes of names that it lists */
};

struct builder {
    struct doc *doc;
    uint32_t open[DOC_DEPTH_MAX]; /* the collections around what comes next */
    uint32_t depth;
    bool done; /* the document has ended */
};

/* A key of a mapping with many, for sorting. */
struct key {
    const char *text;
    uint32_t node;
};

static int fault_at(const struct doc *d, size_t line, size_t column, const char *what)
{
    if (d->name)
        return errtext_set(d->err, EINVAL, "%s:%zu:%zu: %s", d->name, line, column, what);
    return errtext_set(d->err, EINVAL, "line %zu, column %zu: %s", line, column, what);
}

int doc_fault(const struct doc *d, uint32_t i, const char *format, ...)
{
    char what[sizeof(d->err->text)];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return fault_at(d, d->node[i].line, d->node[i].column, what);
}

int doc_expected(const struct doc *d, uint32_t i, const char *key, const char *expected)
{
    char found[SHOWN + 8];
    if (d->node[i].kind == DOC_LIST)
        snprintf(found, sizeof(found), "a list");
    else if (d->node[i].kind == DOC_MAPPING)
        snprintf(found, sizeof(found), "a mapping");
    else if (doc_is_null(d, i))
        snprintf(found, sizeof(found), "nothing");
    else if (d->node[i].length > SHOWN)
        snprintf(found, sizeof(found), "\"%.*s...\"", SHOWN, doc_text(d, i));
    else
        snprintf(found, sizeof(found), "\"%s\"", doc_text(d, i));
    if (!key)
        return doc_fault(d, i, "expected %s, got %s", expected, found);
    return doc_fault(d, i, "key \"%.*s\": expected %s, got %s", SHOWN, key, expected, found);
}

bool doc_is(const struct doc *d, uint32_t i, const char *text)
{
    return d->node[i].kind == DOC_SCALAR && strcmp(doc_text(d, i), text) == 0;
}

bool doc_is_null(const struct doc *d, uint32_t i)
{
    const struct doc_node *node = &d->node[i];
    if (node->kind != DOC_SCALAR || !node->plain || node->length > 4)
        return false;
    const char *text = doc_text(d, i);
    return node->length == 0 || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
           strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

/* The names of keys, or of those that are like a word or have it in them. Returns how long all of it is, cut or not. */
static size_t list_keys(const struct doc_keys *keys, const char *like, char *list, size_t size)
{
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t k = 0; k < keys->n; k++) {
        if (like && !strstr(keys->name[k], like) && nearest_distance(like, keys->name[k]) > 2)
            continue;
        int n = snprintf(list + (used < size ? used : size - 1), used < size ? size - used : 1,
                         "%s%s", used > 0 ? ", " : "", keys->name[k]);
        used += n > 0 ? (size_t)n : 0;
    }
    return used;
}

static int unknown_key(const struct doc *d, uint32_t key, const struct doc_keys *keys)
{
    const char *name = doc_text(d, key);
    char list[LIST_MAX];
    if (list_keys(keys, NULL, list, sizeof(list)) < sizeof(list))
        return doc_fault(d, key, "key \"%.*s\": unknown in %s, expected %s", SHOWN, name,
                         keys->what, list);
    size_t n = d->node[key].length > 2 ? list_keys(keys, name, list, sizeof(list)) : 0;
    if (n == 0 || n >= sizeof(list))
        return doc_fault(d, key, "key \"%.*s\": unknown in %s", SHOWN, name, keys->what);
    return doc_fault(d, key, "key \"%.*s\": unknown in %s, expected one such as %s", SHOWN, name,
                     keys->what, list);
}

int doc_fields(const struct doc *d, uint32_t i, const struct doc_keys *keys, uint32_t *value)
{
    assert(keys->n <= 32);
    if (d->node[i].kind != DOC_MAPPING)
        return doc_fault(d, i, "expected %s as a mapping, got %s", keys->what,
                         d->node[i].kind == DOC_LIST ? "a list"
                         : doc_is_null(d, i)         ? "nothing"
                                                     : "a scalar");
    for (uint32_t k = 0; k < keys->n; k++)
        value[k] = DOC_NONE;
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
        uint32_t k = 0;
        while (k < keys->n && strcmp(doc_text(d, key), keys->name[k]) != 0)
            k++;
        if (k == keys->n)
            return unknown_key(d, key, keys);
        value[k] = key + 1;
    }
    for (uint32_t k = 0; k < keys->required; k++) {
        if (value[k] == DOC_NONE)
            return doc_fault(d, i, "key \"%s\": expected in %s, is missing", keys->name[k],
                             keys->what);
    }
    return 0;
}

static int by_text(const void *a, const void *b)
{
    const struct key *x = a;
    const struct key *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int twice(const struct doc *d, uint32_t key)
{
    return doc_fault(d, key, "key \"%.*s\": expected once in a mapping", SHOWN, doc_text(d, key));
}

/* The keys of a mapping that has just been closed, sorted, so that equal ones are neighbours. */
static int check_many_keys(const struct doc *d, uint32_t mapping)
{
    uint32_t n = 0;
    struct key *keys = malloc(d->node[mapping].count * sizeof(*keys));
    if (!keys)
        return errtext_no_memory(d->err);
    for (uint32_t key = mapping + 1; key < d->n; key = d->node[key + 1].end)
        keys[n++] = (struct key){doc_text(d, key), key};
    qsort(keys, n, sizeof(*keys), by_text);
    uint32_t found = DOC_NONE; /* the first key that is there already */
    for (uint32_t k = 1; k < n; k++) {
        if (keys[k].node < found && strcmp(keys[k - 1].text, keys[k].text) == 0)
            found = keys[k].node;
    }
    free(keys);
    return found == DOC_NONE ? 0 : twice(d, found);
}

int doc_check_keys(const struct doc *d, uint32_t mapping)
{
    uint32_t keys[FEW_KEYS];
    uint32_t n = 0;
    if (d->node[mapping].count > FEW_KEYS)
        return check_many_keys(d, mapping);
    for (uint32_t key = mapping + 1; key < d->n; key = d->node[key + 1].end) {
        for (uint32_t k = 0; k < n; k++) {
            if (d->node[keys[k]].length == d->node[key].length &&
                strcmp(doc_text(d, keys[k]), doc_text(d, key)) == 0)
                return twice(d, key);
        }
        keys[n++] = key;
    }
    return 0;
}

int doc_add_text(struct doc *d, const char *text, size_t length)
{
    if (length >= d->size - d->used) {
        size_t size = 2 * d->size + length + 1;
        char *grown = realloc(d->text, size);
        if (!grown)
            return errtext_no_memory(d->err);
        d->text = grown;
        d->size = size;
    }
    memcpy(d->text + d->used, text, length);
    d->text[d->used + length] = '\0';
    d->used += length + 1;
    return 0;
}

int doc_add_node(struct doc *d, enum doc_kind kind, size_t line, size_t column)
{
    if (d->n == d->capacity) {
        struct doc_node *grown = realloc(d->node, 2 * (size_t)d->capacity * sizeof(*d->node));
        if (!grown)
            return errtext_no_memory(d->err);
        d->node = grown;
        d->capacity *= 2;
    }
    uint32_t i = d->n++;
    d->node[i] = (struct doc_node){.text = (uint32_t)d->used,
                                   .end = i + 1,
                                   .line = (uint32_t)line,
                                   .column = (uint32_t)column,
                                   .kind = kind};
    return 0;
}

/* True if a mapping is open whose next node is a key, because its nodes so far are complete pairs. */
static bool wants_key(const struct builder *b, uint32_t parent)
{
    return b->doc->node[parent].kind == DOC_MAPPING && b->doc->node[parent].length % 2 == 0;
}

/* Add a node below the open collection. While a collection is open its `length` counts the nodes
 * directly below it.
 */
static int append_node(struct builder *b, enum doc_kind kind, const yaml_mark_t *mark)
{
    struct doc *d = b->doc;
    if (doc_add_node(d, kind, mark->line + 1, mark->column + 1) < 0)
        return -1;
    if (b->depth == 0)
        return 0;
    uint32_t parent = b->open[b->depth - 1];
    if (kind != DOC_SCALAR && wants_key(b, parent))
        return doc_fault(d, d->n - 1, "expected a scalar as a key");
    d->node[parent].length++;
    return 0;
}

static int add_scalar(struct builder *b, const yaml_event_t *e)
{
    struct doc *d = b->doc;
    if (append_node(b, DOC_SCALAR, &e->start_mark) < 0)
        return -1;
    struct doc_node *node = &d->node[d->n - 1];
    const char *text = (const char *)e->data.scalar.value;
    node->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && e->data.scalar.plain_implicit;
    node->length = (uint32_t)e->data.scalar.length;
    if (memchr(text, '\0', e->data.scalar.length))
        return doc_fault(d, d->n - 1, "expected text without zero bytes");
    return doc_add_text(d, text, e->data.scalar.length);
}

static int open_collection(struct builder *b, enum doc_kind kind, const yaml_event_t *e)
{
    if (append_node(b, kind, &e->start_mark) < 0)
        return -1;
    if (b->depth == DOC_DEPTH_MAX)
        return doc_fault(b->doc, b->doc->n - 1, "expected at most %d levels of lists and mappings",
                         DOC_DEPTH_MAX);
    b->open[b->depth++] = b->doc->n - 1;
    return 0;
}

static int close_collection(struct builder *b)
{
    struct doc *d = b->doc;
    uint32_t i = b->open[--b->depth];
    struct doc_node *node = &d->node[i];
    node->end = d->n;
    node->count = node->kind == DOC_MAPPING ? node->length / 2 : node->length;
    node->length = 0;
    return node->kind == DOC_MAPPING ? doc_check_keys(d, i) : 0;
}

static int handle_event(struct builder *b, const yaml_event_t *e)
{
    size_t line = e->start_mark.line + 1;
    size_t column = e->start_mark.column + 1;
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return add_scalar(b, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(b, DOC_LIST, e);
    case YAML_MAPPING_START_EVENT:
        return open_collection(b, DOC_MAPPING, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_collection(b);
    case YAML_ALIAS_EVENT:
        return fault_at(b->doc, line, column, "expected a value, not an alias of one");
    case YAML_DOCUMENT_START_EVENT:
        if (b->doc->n > 0)
            return fault_at(b->doc, line, column, "expected one document, not several");
        return 0;
    case YAML_STREAM_END_EVENT:
        b->done = true;
        if (b->doc->n == 0)
            return fault_at(b->doc, 1, 1, "expected a mapping, got nothing");
        return 0;
    default:
        return 0;
    }
}

/* Report libyaml's error and its position, or the offset of bytes that are not text. */
static int yaml_fault(const struct doc *d, const yaml_parser_t *parser, const char *text,
                      size_t length)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return errtext_no_memory(d->err);
    const char *problem = parser->problem ? parser->problem : "no YAML";
    if (parser->error != YAML_READER_ERROR)
        return fault_at(d, parser->problem_mark.line + 1, parser->problem_mark.column + 1, problem);
    size_t offset = parser->problem_offset < length ? parser->problem_offset : length;
    size_t line = 1;
    size_t column = 1;
    for (size_t i = 0; i < offset; i++) {
        bool ends = text[i] == '\n';
        line += ends;
        column = ends ? 1 : column + 1;
    }
    return fault_at(d, line, column, problem);
}

static int read_events(struct doc *d, const char *text, size_t length)
{
    struct builder b = {.doc = d};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return errtext_no_memory(d->err);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    int rc = 0;
    while (rc == 0 && !b.done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            rc = yaml_fault(d, &parser, text, length);
        } else {
            rc = handle_event(&b, &event);
            yaml_event_delete(&event);
        }
    }
    int saved = errno;
    yaml_parser_delete(&parser);
    errno = saved;
    return rc;
}

static int begin_doc(struct doc *d, size_t length, const char *name, berth_error_t *err)
{
    *d = (struct doc){.name = name, .err = err};
    if (length > JOBSPEC_TEXT_MAX)
        return fault_at(d, 1, 1, "expected at most 16 MiB of text");
    d->capacity = (uint32_t)(length / 8) + 8;
    d->size = length + 64;
    d->node = malloc(d->capacity * sizeof(*d->node));
    d->text = malloc(d->size);
    if (d->node && d->text)
        return 0;
    doc_clear(d);
    return errtext_no_memory(err);
}

static int read_yaml(struct doc *d, const char *text, size_t length)
{
    d->n = 0;
    d->used = 0;
    int rc = read_events(d, text, length);
    if (rc < 0)
        doc_clear(d);
    return rc;
}

int doc_read_yaml(struct doc *d, const char *text, size_t length, const char *name,
                  berth_error_t *err)
{
    return begin_doc(d, length, name, err) < 0 ? -1 : read_yaml(d, text, length);
}

int doc_read(struct doc *d, const char *text, size_t length, const char *name, berth_error_t *err)
{
    if (begin_doc(d, length, name, NULL) < 0)
        return doc_read_yaml(d, text, length, name, err);
    bool done = quick_read(d, text, length);
    d->err = err;
    return done ? 0 : read_yaml(d, text, length);
}

void doc_clear(struct doc *d)
{
    int saved = errno;
    free(d->node);
    free(d->text);
    d->node = NULL;
    d->text = NULL;
    errno = saved;
}
