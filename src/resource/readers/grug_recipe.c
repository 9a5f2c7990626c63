/* Reading a recipe from GraphML. Only what the recipe needs is read. Entities defined in the text are
 * refused, so that a text can't expand to more than its length.
 */
#include "resource/readers/grug_recipe.h"

#include <errno.h>
#include <expat.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/strbuf.h"

#define DEPTH_MAX  32
#define LENGTH_MAX 255 /* bytes of a type, a name or a subsystem */
#define CHUNK      (1 << 20)

enum element {
    ELEMENT_OTHER, /* and all that is in it */
    ELEMENT_GRAPHML,
    ELEMENT_KEY,
    ELEMENT_DEFAULT,
    ELEMENT_GRAPH,
    ELEMENT_NODE,
    ELEMENT_EDGE,
    ELEMENT_DATA,
};

enum owner { OWNER_NODE, OWNER_EDGE };

/* What a node or an edge may have. Numbers have bounds; names are texts without blanks at their ends. */
struct slot {
    const char *name;
    enum owner owner;
    enum { KIND_NUMBER, KIND_TEXT, KIND_NAME, KIND_METHOD, KIND_IGNORED } kind;
    size_t offset;
    int64_t min, max;
};

static const struct slot slots[] = {
    {"root", OWNER_NODE, KIND_NUMBER, offsetof(struct grug_node, root), INT_MIN, INT_MAX},
    {"type", OWNER_NODE, KIND_NAME, offsetof(struct grug_node, type), 0, 0},
    {"basename", OWNER_NODE, KIND_NAME, offsetof(struct grug_node, basename), 0, 0},
    {"unit", OWNER_NODE, KIND_TEXT, offsetof(struct grug_node, unit), 0, 0},
    {"size", OWNER_NODE, KIND_NUMBER, offsetof(struct grug_node, size), 0, INT64_MAX},
    {"subsystem", OWNER_NODE, KIND_NAME, offsetof(struct grug_node, subsystem), 0, 0},
    {"e_subsystem", OWNER_EDGE, KIND_NAME, offsetof(struct grug_edge, subsystem), 0, 0},
    {"relation", OWNER_EDGE, KIND_IGNORED, 0, 0, 0},
    {"rrelation", OWNER_EDGE, KIND_IGNORED, 0, 0, 0},
    {"id_scope", OWNER_EDGE, KIND_NUMBER, offsetof(struct grug_edge, scope), INT_MIN, INT_MAX},
    {"id_start", OWNER_EDGE, KIND_NUMBER, offsetof(struct grug_edge, start), INT_MIN, INT_MAX},
    {"id_stride", OWNER_EDGE, KIND_NUMBER, offsetof(struct grug_edge, stride), INT_MIN, INT_MAX},
    {"gen_method", OWNER_EDGE, KIND_METHOD, offsetof(struct grug_edge, method), 0, 0},
    {"multi_scale", OWNER_EDGE, KIND_NUMBER, offsetof(struct grug_edge, scale), 0, INT_MAX},
    {"as_tgt_subsystem", OWNER_EDGE, KIND_NAME, offsetof(struct grug_edge, as_subsystem), 0, 0},
    {"as_tgt_uplvl", OWNER_EDGE, KIND_NUMBER, offsetof(struct grug_edge, as_target_up), 0, INT_MAX},
    {"as_src_uplvl", OWNER_EDGE, KIND_NUMBER, offsetof(struct grug_edge, as_source_up), 0, INT_MAX},
};
#define SLOTS (sizeof(slots) / sizeof(slots[0]))

#define SLOT_IGNORED    (-1) /* a declared key that means nothing here */
#define SLOT_UNDECLARED (-2)

/* A <key>, by its id: which slot it is of a node and of an edge. */
struct key {
    int8_t slot[2];
};

struct parser {
    XML_Parser xml;
    struct grug_recipe *recipe;
    berth_error_t *err;
    int errnum; /* of a failure, or 0 */
    enum element open[DEPTH_MAX];
    int depth;
    struct grug_node node; /* defaults */
    struct grug_edge edge;
    struct intern key_ids;
    struct key *key;
    size_t key_capacity;
    uint32_t current_key; /* of the <key> that is open */
    int current_slot;     /* of the <data> that is open, or negative */
    struct strbuf text;
};

static void stop_parsing(struct parser *p, int errnum, const char *what, const char *of,
                         const char *expected)
{
    if (p->errnum)
        return;
    p->errnum = errnum;
    if (errnum == ENOMEM)
        errtext_no_memory(p->err);
    else
        errtext_set(p->err, errnum, "line %llu: %s%s%s%s, expected %s",
                    (unsigned long long)XML_GetCurrentLineNumber(p->xml), what, of ? " '" : "",
                    of ? of : "", of ? "'" : "", expected);
    XML_StopParser(p->xml, XML_FALSE);
}

static const char *attribute(const XML_Char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static const char *keep_text(struct parser *p, const char *text, size_t length)
{
    uint32_t id;

    if (intern_put(&p->recipe->texts, text, length, &id) < 0) {
        stop_parsing(p, ENOMEM, NULL, NULL, NULL);
        return "";
    }
    return intern_text(&p->recipe->texts, id);
}

static int slot_named(const char *name, enum owner owner)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].owner == owner && strcmp(slots[i].name, name) == 0)
            return (int)i;
    return SLOT_IGNORED;
}

static void start_key(struct parser *p, const XML_Char **attributes)
{
    const char *id = attribute(attributes, "id"), *name = attribute(attributes, "attr.name");
    const char *scope = attribute(attributes, "for");
    bool all = !scope || strcmp(scope, "all") == 0;
    uint32_t key;

    if (!id) {
        stop_parsing(p, EINVAL, "a <key> without id", NULL, "id=\"...\"");
        return;
    }
    bool known = intern_find(&p->key_ids, id, strlen(id), &key);
    if (!known && intern_put(&p->key_ids, id, strlen(id), &key) < 0) {
        stop_parsing(p, ENOMEM, NULL, NULL, NULL);
        return;
    }
    if (array_grow((void **)&p->key, &p->key_capacity, (size_t)key + 1, sizeof(*p->key)) < 0) {
        stop_parsing(p, ENOMEM, NULL, NULL, NULL);
        return;
    }
    if (!known)
        p->key[key] = (struct key){{SLOT_UNDECLARED, SLOT_UNDECLARED}};
    if (all || strcmp(scope, "node") == 0)
        p->key[key].slot[OWNER_NODE] = (int8_t)slot_named(name ? name : id, OWNER_NODE);
    if (all || strcmp(scope, "edge") == 0)
        p->key[key].slot[OWNER_EDGE] = (int8_t)slot_named(name ? name : id, OWNER_EDGE);
    p->current_key = key;
}

static void start_node(struct parser *p, const XML_Char **attributes)
{
    struct grug_recipe *r = p->recipe;
    const char *id = attribute(attributes, "id");
    uint32_t number;

    if (!id) {
        stop_parsing(p, EINVAL, "a <node> without id", NULL, "id=\"...\"");
        return;
    }
    if (intern_find(&r->ids, id, strlen(id), &number)) {
        stop_parsing(p, EINVAL, "a second node", id, "an id of its own");
        return;
    }
    if (array_grow((void **)&r->node, &r->node_capacity, (size_t)r->n + 1, sizeof(*r->node)) < 0) {
        stop_parsing(p, ENOMEM, NULL, NULL, NULL);
        return;
    }
    if (intern_put(&r->ids, id, strlen(id), &number) < 0) {
        stop_parsing(p, ENOMEM, NULL, NULL, NULL);
        return;
    }
    r->node[r->n] = p->node;
    r->node[r->n].id = intern_text(&r->ids, number);
    r->node[r->n].line = XML_GetCurrentLineNumber(p->xml);
    r->n++;
}

static void start_edge(struct parser *p, const XML_Char **attributes)
{
    struct grug_recipe *r = p->recipe;
    const char *from = attribute(attributes, "source"), *to = attribute(attributes, "target");

    if (!from || !to) {
        stop_parsing(p, EINVAL, "an <edge> without both ends", NULL,
                     "source=\"...\" target=\"...\"");
        return;
    }
    if (array_grow((void **)&r->edge, &r->edge_capacity, (size_t)r->n_edges + 1, sizeof(*r->edge)) <
        0) {
        stop_parsing(p, ENOMEM, NULL, NULL, NULL);
        return;
    }
    r->edge[r->n_edges] = p->edge;
    r->edge[r->n_edges].from = keep_text(p, from, strlen(from));
    r->edge[r->n_edges].to = keep_text(p, to, strlen(to));
    r->edge[r->n_edges].line = XML_GetCurrentLineNumber(p->xml);
    r->n_edges++;
}

static void start_data(struct parser *p, const XML_Char **attributes, enum owner owner)
{
    const char *name = attribute(attributes, "key");
    uint32_t key;

    if (!name) {
        stop_parsing(p, EINVAL, "<data> without key", NULL, "key=\"...\"");
        return;
    }
    p->current_slot = SLOT_UNDECLARED;
    if (intern_find(&p->key_ids, name, strlen(name), &key))
        p->current_slot = p->key[key].slot[owner];
    if (p->current_slot == SLOT_UNDECLARED) {
        p->current_slot = slot_named(name, owner);
        if (p->current_slot < 0)
            stop_parsing(p, EINVAL, "unknown key", name,
                         owner == OWNER_NODE ? "one that a <key for=\"node\"> declares"
                                             : "one that a <key for=\"edge\"> declares");
    }
    strbuf_reset(&p->text);
}

static enum element element_named(const char *name)
{
    static const char *const names[] = {
        [ELEMENT_GRAPHML] = "graphml", [ELEMENT_KEY] = "key",   [ELEMENT_DEFAULT] = "default",
        [ELEMENT_GRAPH] = "graph",     [ELEMENT_NODE] = "node", [ELEMENT_EDGE] = "edge",
        [ELEMENT_DATA] = "data"};
    const char *colon = strchr(name, ':');

    for (enum element e = ELEMENT_GRAPHML; e <= ELEMENT_DATA; e++)
        if (strcmp(names[e], colon ? colon + 1 : name) == 0)
            return e;
    return ELEMENT_OTHER;
}

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attributes)
{
    struct parser *p = data;
    enum element e = element_named(name);
    enum element in = p->depth > 0 ? p->open[p->depth - 1] : ELEMENT_OTHER;

    if (p->errnum)
        return;
    if (p->depth == DEPTH_MAX) {
        stop_parsing(p, EINVAL, "elements in elements, too deep", NULL, "a recipe");
        return;
    }
    if (p->depth == 0 && e != ELEMENT_GRAPHML) {
        stop_parsing(p, EINVAL, "unknown element", name, "<graphml>");
        return;
    }
    if (e == ELEMENT_KEY && in == ELEMENT_GRAPHML) {
        start_key(p, attributes);
    } else if (e == ELEMENT_DEFAULT && in == ELEMENT_KEY) {
        strbuf_reset(&p->text);
    } else if (e == ELEMENT_GRAPH && in == ELEMENT_GRAPHML) {
        ; /* its own attributes don't matter */
    } else if (e == ELEMENT_GRAPH && (in == ELEMENT_NODE || in == ELEMENT_EDGE)) {
        stop_parsing(p, EINVAL, "a graph in a graph", NULL, "one level of nodes");
    } else if (e == ELEMENT_NODE && in == ELEMENT_GRAPH) {
        start_node(p, attributes);
    } else if (e == ELEMENT_EDGE && in == ELEMENT_GRAPH) {
        start_edge(p, attributes);
    } else if (e == ELEMENT_DATA && (in == ELEMENT_NODE || in == ELEMENT_EDGE)) {
        start_data(p, attributes, in == ELEMENT_NODE ? OWNER_NODE : OWNER_EDGE);
    } else if (p->depth > 0) {
        e = ELEMENT_OTHER;
    }
    p->open[p->depth++] = e;
}

static bool parse_integer(const char *text, int64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoll(text, &end, 10);
    return *text && !*end && errno == 0 && (*text == '-' || (*text >= '0' && *text <= '9'));
}

static void fail_value(struct parser *p, const struct slot *slot, const char *value)
{
    char what[64], expected[96];

    snprintf(what, sizeof(what), "%s is", slot->name);
    snprintf(expected, sizeof(expected), "a number from %lld to %lld", (long long)slot->min,
             (long long)slot->max);
    if (slot->kind == KIND_METHOD)
        stop_parsing(p, EINVAL, what, value, "MULTIPLY, ASSOCIATE_IN or ASSOCIATE_BY_PATH_IN");
    else if (slot->kind == KIND_NAME)
        stop_parsing(p, EINVAL, what, value, "a name of at most 255 bytes without slashes");
    else
        stop_parsing(p, EINVAL, what, value, expected);
}

/* Put the text of a <data> or a <default> into the slot of a node or an edge. */
static void set_slot(struct parser *p, const struct slot *slot, void *object)
{
    static const char *const methods[] = {"MULTIPLY", "ASSOCIATE_IN", "ASSOCIATE_BY_PATH_IN"};
    char *field = (char *)object + slot->offset;
    char *value = (char *)(uintptr_t)strbuf_text(&p->text);
    size_t length = p->text.len;
    int64_t number = -1;
    const char *text;

    if (p->text.failed) {
        stop_parsing(p, ENOMEM, NULL, NULL, NULL);
        return;
    }
    while (length > 0 && strchr(" \t\r\n", value[length - 1]))
        length--;
    if (length < p->text.len)
        value[length] = '\0';
    size_t blanks = strspn(value, " \t\r\n");
    value += blanks;
    length -= blanks;
    switch (slot->kind) {
    case KIND_IGNORED:
        return;
    case KIND_TEXT:
    case KIND_NAME:
        if (slot->kind == KIND_NAME && (!*value || length > LENGTH_MAX || strchr(value, '/'))) {
            fail_value(p, slot, value);
            return;
        }
        text = keep_text(p, value, length);
        memcpy(field, &text, sizeof(text));
        return;
    case KIND_METHOD:
        for (int i = 0; i < 3; i++)
            if (strcmp(value, methods[i]) == 0)
                number = i;
        if (number < 0) {
            fail_value(p, slot, value);
            return;
        }
        break;
    case KIND_NUMBER:
        if (!parse_integer(value, &number) || number < slot->min || number > slot->max) {
            fail_value(p, slot, value);
            return;
        }
        break;
    }
    memcpy(field, &number, sizeof(number));
}

static void set_default(struct parser *p)
{
    const struct key *key = &p->key[p->current_key];

    if (key->slot[OWNER_NODE] >= 0)
        set_slot(p, &slots[key->slot[OWNER_NODE]], &p->node);
    if (key->slot[OWNER_EDGE] >= 0)
        set_slot(p, &slots[key->slot[OWNER_EDGE]], &p->edge);
}

static void XMLCALL on_end(void *data, const XML_Char *name)
{
    struct parser *p = data;
    struct grug_recipe *r = p->recipe;

    (void)name;
    if (p->errnum)
        return;
    enum element e = p->open[--p->depth];
    if (e == ELEMENT_DEFAULT) {
        set_default(p);
    } else if (e == ELEMENT_DATA && p->current_slot >= 0) {
        const struct slot *slot = &slots[p->current_slot];
        set_slot(p, slot,
                 slot->owner == OWNER_NODE ? (void *)&r->node[r->n - 1]
                                           : (void *)&r->edge[r->n_edges - 1]);
    } else if (e == ELEMENT_NODE) {
        struct grug_node *node = &r->node[r->n - 1];
        if (!node->type)
            stop_parsing(p, EINVAL, "no type for node", node->id, "<data key=\"type\">");
        else if (!node->basename)
            node->basename = node->type;
    }
}

static void XMLCALL on_text(void *data, const XML_Char *text, int length)
{
    struct parser *p = data;
    enum element in = p->depth > 0 ? p->open[p->depth - 1] : ELEMENT_OTHER;

    if (!p->errnum && (in == ELEMENT_DATA || in == ELEMENT_DEFAULT))
        strbuf_put(&p->text, text, (size_t)length);
}

static void XMLCALL on_doctype(void *data, const XML_Char *name, const XML_Char *system,
                               const XML_Char *public, int has_internal_subset)
{
    (void)name;
    (void)system;
    (void)public;
    if (has_internal_subset)
        stop_parsing(data, EINVAL, "a document type with declarations", NULL, "none");
}

static void XMLCALL on_skipped(void *data, const XML_Char *name, int is_parameter)
{
    (void)is_parameter;
    stop_parsing(data, EINVAL, "unknown entity", name, "text");
}

/* The ends of edges, by the numbers of their nodes. */
static int find_ends(struct grug_recipe *r, berth_error_t *err)
{
    for (uint32_t i = 0; i < r->n_edges; i++) {
        struct grug_edge *e = &r->edge[i];
        bool from = intern_find(&r->ids, e->from, strlen(e->from), &e->source);
        if (!from || !intern_find(&r->ids, e->to, strlen(e->to), &e->target))
            return errtext_set(
                err, EINVAL, "line %llu: edge %s unknown node '%s', expected the id of a <node>",
                (unsigned long long)e->line, from ? "to" : "from", from ? e->to : e->from);
    }
    return 0;
}

static int feed(struct parser *p, const char *text, size_t length)
{
    bool last;

    do {
        size_t n = length < CHUNK ? length : CHUNK;
        last = n == length;
        if (XML_Parse(p->xml, text, (int)n, last) != XML_STATUS_OK) {
            enum XML_Error error = XML_GetErrorCode(p->xml);
            if (error == XML_ERROR_NO_MEMORY)
                stop_parsing(p, ENOMEM, NULL, NULL, NULL);
            else
                stop_parsing(p, EINVAL, XML_ErrorString(error), NULL, "GraphML");
            return -1;
        }
        text += n;
        length -= n;
    } while (!last);
    return p->errnum ? -1 : 0;
}

int grug_recipe_parse(struct grug_recipe *r, const char *text, size_t length, berth_error_t *err)
{
    struct parser p = {.recipe = r, .err = err};
    int rc = -1, errnum;

    memset(r, 0, sizeof(*r));
    p.node = (struct grug_node){.unit = "", .subsystem = "containment", .size = 1};
    p.edge = (struct grug_edge){.subsystem = "containment",
                                .as_subsystem = "containment",
                                .stride = 1,
                                .scale = 1,
                                .as_target_up = 1,
                                .as_source_up = 1};
    p.xml = XML_ParserCreate(NULL);
    if (!p.xml)
        return errtext_no_memory(err);
    XML_SetUserData(p.xml, &p);
    XML_SetElementHandler(p.xml, on_start, on_end);
    XML_SetCharacterDataHandler(p.xml, on_text);
    XML_SetStartDoctypeDeclHandler(p.xml, on_doctype);
    XML_SetSkippedEntityHandler(p.xml, on_skipped);
    if (feed(&p, text, length) == 0 && find_ends(r, err) == 0)
        rc = 0;
    errnum = p.errnum ? p.errnum : EINVAL;
    XML_ParserFree(p.xml);
    intern_clear(&p.key_ids);
    strbuf_clear(&p.text);
    free(p.key);
    if (rc < 0) {
        grug_recipe_clear(r);
        errno = errnum;
    }
    return rc;
}

void grug_recipe_clear(struct grug_recipe *r)
{
    int saved = errno;

    free(r->node);
    free(r->edge);
    intern_clear(&r->ids);
    intern_clear(&r->texts);
    memset(r, 0, sizeof(*r));
    errno = saved;
}
