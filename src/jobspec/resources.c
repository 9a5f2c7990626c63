/* The resources of a jobspec: vertices, their types and counts. */
#include <errno.h>
#include <string.h>

#include "jobspec/build.h"
#include "jobspec/count.h"
#include "jobspec/number.h"

enum {
    /* Nodes of the smallest vertex: itself, and keys and values of type and count. Keys are checked
     * before a vertex is taken from the array.
     */
    VERTEX_NODES = 5
};

enum resource_key { TYPE, COUNT, WITH, LABEL, EXCLUSIVE, UNIT, ID, PROPERTY, RESOURCE_KEYS };
static const char *const resource_names[] = {"type",      "count", "with", "label",
                                             "exclusive", "unit",  "id",   "property"};
static const struct doc_keys resource_keys = {"a resource", resource_names, RESOURCE_KEYS, 2};

enum count_key { MIN, MAX, OPERATOR, OPERAND, COUNT_KEYS };
static const char *const count_names[] = {"min", "max", "operator", "operand"};
static const struct doc_keys count_keys = {"a count", count_names, COUNT_KEYS, 1};

static const char number_expected[] = "a number from 0 to 4294967295";

void resources_need(struct need *need, const struct doc *d, uint32_t i)
{
    size_t vertices = (d->node[i].end - i) / VERTEX_NODES;
    need_array(need, vertices, sizeof(struct jobspec_resource));
    need_array(need, vertices < JOBSPEC_TYPES_MAX ? vertices : JOBSPEC_TYPES_MAX, sizeof(char *));
    struct need own = {0, 0};
    need_text(&own, d, i);
    need->text += own.text;
    /* A list of counts has no more runs than twice its commas. */
    const char *text = doc_text(d, i);
    const char *end = text + own.text;
    for (const char *comma = text; (comma = memchr(comma, ',', (size_t)(end - comma))); comma++)
        need_array(need, 2, sizeof(struct jobspec_run));
}

static int count_from_text(struct build *b, uint32_t i, struct jobspec_count *count)
{
    const char *text = doc_text(b->doc, i);
    int64_t nruns = jobspec_count_parse(text, count, NULL, 0);
    if (nruns > 0) {
        struct jobspec_run *runs = build_array(b, (size_t)nruns, sizeof(*runs));
        nruns = jobspec_count_parse(text, count, runs, (uint32_t)nruns);
    }
    if (nruns >= 0)
        return 0;
    if (errno == ENOMEM)
        return build_nomem(b);
    return doc_expected(b->doc, i, "count", "a count from 0 to 4294967295, a range or a mapping");
}

static int count_number(struct build *b, const uint32_t *value, enum count_key key, uint32_t *ret)
{
    uint32_t i = value[key];
    if (doc_is_text(b->doc, i) && number_u32(doc_text(b->doc, i), ret))
        return 0;
    return doc_expected(b->doc, i, count_names[key], number_expected);
}

static int count_from_mapping(struct build *b, uint32_t i, struct jobspec_count *count)
{
    const struct doc *d = b->doc;
    uint32_t value[COUNT_KEYS];
    struct jobspec_count c = {.max = UINT32_MAX, .operand = 1, .op = JOBSPEC_ADD};
    if (doc_fields(d, i, &count_keys, value) < 0 || count_number(b, value, MIN, &c.min) < 0)
        return -1;
    int given =
        (value[MAX] != DOC_NONE) + (value[OPERATOR] != DOC_NONE) + (value[OPERAND] != DOC_NONE);
    if (given != 0 && given != 3)
        return doc_fault(d, i,
                         "key \"count\": expected either all or none of max, operator, operand");
    if (given == 3) {
        if (count_number(b, value, MAX, &c.max) < 0 ||
            count_number(b, value, OPERAND, &c.operand) < 0)
            return -1;
        uint32_t op = value[OPERATOR];
        const char *sign = d->node[op].kind == DOC_SCALAR ? doc_text(d, op) : "";
        if (!*sign || sign[1] || !strchr("+*^", *sign))
            return doc_expected(d, op, "operator", "'+', '*' or '^'");
        c.op = (enum jobspec_operator) * sign;
    }
    const char *fault = count_fault(&c);
    if (fault)
        return doc_fault(d, i, "key \"count\": expected %s", fault);
    *count = c;
    return 0;
}

static int build_count(struct build *b, uint32_t i, struct jobspec_count *count)
{
    if (b->doc->node[i].kind == DOC_MAPPING)
        return count_from_mapping(b, i, count);
    if (doc_is_text(b->doc, i))
        return count_from_text(b, i, count);
    return doc_expected(b->doc, i, "count", "a number, a range or a mapping");
}

static enum jobspec_kind kind_of_type(const char *type)
{
    if (strcmp(type, "slot") == 0)
        return JOBSPEC_SLOT;
    if (strcmp(type, "or_slot") == 0)
        return JOBSPEC_OR_SLOT;
    return strcmp(type, "xor_slot") == 0 ? JOBSPEC_XOR_SLOT : JOBSPEC_RESOURCE;
}

/* The type's place in the table of types, where it is put if it is new. */
static int build_type(struct build *b, uint32_t i, struct jobspec_resource *r)
{
    const struct doc *d = b->doc;
    if (!doc_is_text(d, i))
        return doc_expected(d, i, "type", "a string");
    const char *type = doc_text(d, i);
    jobspec_t *spec = b->spec;
    uint32_t t = 0;
    while (t < spec->ntypes && strcmp(type, b->types[t]) != 0)
        t++;
    r->kind = kind_of_type(type);
    if (t == spec->ntypes) {
        const struct jobspec_options *o = b->options;
        if (r->kind == JOBSPEC_RESOURCE && o->knows_type && !o->knows_type(o->arg, type))
            return doc_expected(d, i, "type", "a type of resource that is known");
        if (t == JOBSPEC_TYPES_MAX)
            return doc_fault(d, i, "key \"type\": expected at most %d different types",
                             JOBSPEC_TYPES_MAX);
        b->types[spec->ntypes++] = build_text(b, i);
    }
    r->type = b->types[t];
    r->type_index = t;
    return 0;
}

static int build_exclusive(struct build *b, uint32_t i, enum jobspec_exclusive *exclusive)
{
    if (i == DOC_NONE)
        return 0;
    if (doc_is(b->doc, i, "true"))
        *exclusive = JOBSPEC_EXCLUSIVE_TRUE;
    else if (doc_is(b->doc, i, "false"))
        *exclusive = JOBSPEC_EXCLUSIVE_FALSE;
    else
        return doc_expected(b->doc, i, "exclusive", "true or false");
    return 0;
}

/* All of a vertex but its place among the others. */
static int build_vertex(struct build *b, uint32_t i, const uint32_t *value,
                        struct jobspec_resource *r)
{
    if (build_type(b, value[TYPE], r) < 0 || build_count(b, value[COUNT], &r->count) < 0 ||
        build_exclusive(b, value[EXCLUSIVE], &r->exclusive) < 0 ||
        build_string(b, value[LABEL], "label", &r->label) < 0 ||
        build_string(b, value[UNIT], "unit", &r->unit) < 0 ||
        build_string(b, value[ID], "id", &r->id) < 0 ||
        build_string(b, value[PROPERTY], "property", &r->property) < 0)
        return -1;
    if (r->kind == JOBSPEC_SLOT && !r->label)
        return doc_fault(b->doc, i, "key \"label\": expected in a slot, is missing");
    r->line = b->doc->node[i].line;
    r->column = b->doc->node[i].column;
    return 0;
}

/* Build the vertices of a list, and below each those of its `with`. The recursion is no deeper than the
 * document.
 */
static int build_list(struct build *b, uint32_t list, uint32_t parent)
{
    const struct doc *d = b->doc;
    jobspec_t *spec = b->spec;
    struct jobspec_resource *before = NULL;
    for (uint32_t i = list + 1; i < d->node[list].end; i = d->node[i].end) {
        uint32_t value[RESOURCE_KEYS];
        if (doc_fields(d, i, &resource_keys, value) < 0)
            return -1;
        uint32_t self = spec->nresources++;
        struct jobspec_resource *r = &b->resources[self];
        r->parent = parent;
        r->next = JOBSPEC_NONE;
        if (parent != JOBSPEC_NONE) {
            r->depth = b->resources[parent].depth + 1;
            r->in_slot =
                b->resources[parent].in_slot || b->resources[parent].kind != JOBSPEC_RESOURCE;
        }
        if (before)
            before->next = self;
        before = r;
        if (build_vertex(b, i, value, r) < 0)
            return -1;
        if (value[WITH] != DOC_NONE) {
            if (d->node[value[WITH]].kind != DOC_LIST)
                return doc_expected(d, value[WITH], "with", "a list of resources");
            if (build_list(b, value[WITH], self) < 0)
                return -1;
        }
        r->end = spec->nresources;
    }
    return 0;
}

int resources_build(struct build *b, uint32_t i)
{
    const struct doc *d = b->doc;
    if (d->node[i].kind != DOC_LIST)
        return doc_expected(d, i, "resources", "a list of resources");
    if (d->node[i].count == 0)
        return doc_fault(d, i, "key \"resources\": expected at least one resource");
    size_t vertices = (d->node[i].end - i) / VERTEX_NODES;
    size_t types = vertices < JOBSPEC_TYPES_MAX ? vertices : JOBSPEC_TYPES_MAX;
    b->resources = build_array(b, vertices, sizeof(*b->resources));
    b->types = build_array(b, types, sizeof(*b->types));
    b->spec->resources = b->resources;
    b->spec->types = b->types;
    return build_list(b, i, JOBSPEC_NONE);
}
