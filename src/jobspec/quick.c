/* The quick reader (quick.h): block and flow collections, plain and quoted scalars of one line, and
 * comments, in printable ASCII.
 *
 * It never reports what is wrong: at anything that it isn't sure of it gives up, and libyaml reads the
 * text from the start. So it may support as little as it likes, but what it does support must give
 * exactly the same as libyaml, including positions; fuzz_jobspec compares the two.
 */
#include "jobspec/quick.h"

#include <string.h>

enum {
    KEY_MAX = 1000 /* bytes; a key of 1024 is none for libyaml */
};

struct quick {
    struct doc *doc;
    const char *p; /* what comes next */
    const char *end;
    const char *line; /* where its line begins */
    size_t lineno;    /* from 1 */
    int depth;
};

/* A scalar as written in the text, without its quotes. */
struct scalar {
    const char *at; /* the quote, if there is one */
    const char *text;
    const char *end;
    char quote; /* '"', '\'', or 0 */
};

static char peek(const struct quick *q, size_t ahead)
{
    return (size_t)(q->end - q->p) > ahead ? q->p[ahead] : '\0';
}

static size_t column(const struct quick *q)
{
    return (size_t)(q->p - q->line);
}

static bool is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/' || c == '.' || c == '+' || c == '~' || c == '-';
}

static void skip_spaces(struct quick *q)
{
    while (q->p < q->end && *q->p == ' ')
        q->p++;
}

/* Whether what comes next ends a line, spaces aside. */
static bool at_break(const struct quick *q)
{
    return q->p == q->end || *q->p == '\n';
}

/* A dash that begins an item of a block list. */
static bool at_dash(const struct quick *q)
{
    if (peek(q, 0) != '-')
        return false;
    return q->p + 1 == q->end || q->p[1] == ' ' || q->p[1] == '\n';
}

/* A marker of documents: only where a line begins. */
static bool at_marker(const struct quick *q)
{
    return q->p == q->line && q->end - q->p >= 3 &&
           (memcmp(q->p, "---", 3) == 0 || memcmp(q->p, "...", 3) == 0);
}

static void next_line(struct quick *q)
{
    q->p++;
    q->line = q->p;
    q->lineno++;
}

static void skip_comment(struct quick *q)
{
    while (q->p < q->end && is_printable(*q->p))
        q->p++;
}

/* From the beginning of a line to the first character that is no comment, or to the end. */
static bool find_content(struct quick *q)
{
    for (;;) {
        skip_spaces(q);
        bool comment = peek(q, 0) == '#';
        if (comment)
            skip_comment(q);
        if (q->p == q->end)
            return true;
        if (*q->p != '\n')
            return !comment && !at_marker(q);
        next_line(q);
    }
}

/* The same from behind a node. */
static bool finish_line(struct quick *q)
{
    const char *behind = q->p;
    skip_spaces(q);
    if (peek(q, 0) == '#' && q->p > behind)
        skip_comment(q);
    if (q->p == q->end)
        return true;
    if (*q->p != '\n')
        return false;
    next_line(q);
    return find_content(q);
}

static bool scan_double(struct quick *q, struct scalar *s)
{
    for (; q->p < q->end && *q->p != '"'; q->p++) {
        if (!is_printable(*q->p))
            return false;
        if (*q->p == '\\') {
            q->p++;
            if (q->p == q->end || !strchr("\"\\/nt", *q->p) || !*q->p)
                return false;
        }
    }
    s->end = q->p;
    return q->p++ < q->end;
}

static bool scan_single(struct quick *q, struct scalar *s)
{
    while (q->p < q->end && *q->p != '\'' && is_printable(*q->p))
        q->p++;
    s->end = q->p;
    if (q->p == q->end || *q->p != '\'')
        return false;
    q->p++;
    return peek(q, 0) != '\'';
}

/* A plain scalar, up to the spaces before what ends it. */
static bool scan_plain(struct quick *q, bool flow, struct scalar *s)
{
    if (at_dash(q) || at_marker(q) || !is_word_char(peek(q, 0)))
        return false;
    for (; q->p < q->end && is_printable(*q->p); q->p++) {
        char c = *q->p;
        if (flow && !is_word_char(c) && c != ' ')
            break;
        if (c == '#')
            break;
        if (c == ':' && (q->p + 1 == q->end || q->p[1] == ' ' || q->p[1] == '\n'))
            break;
    }
    if (peek(q, 0) == '#' && q->p[-1] != ' ')
        return false;
    while (q->p[-1] == ' ')
        q->p--;
    s->end = q->p;
    return true;
}

static bool scan_scalar(struct quick *q, bool flow, struct scalar *s)
{
    s->at = q->p;
    s->quote = peek(q, 0);
    if (s->quote != '"' && s->quote != '\'') {
        s->quote = '\0';
        s->text = q->p;
        return scan_plain(q, flow, s);
    }
    s->text = ++q->p;
    return s->quote == '"' ? scan_double(q, s) : scan_single(q, s);
}

static bool add_node_at(struct quick *q, enum doc_kind kind, const char *at)
{
    return doc_add_node(q->doc, kind, q->lineno, (size_t)(at - q->line) + 1) == 0;
}

static bool add_scalar(struct quick *q, const struct scalar *s)
{
    struct doc *d = q->doc;
    if (!add_node_at(q, DOC_SCALAR, s->at) ||
        doc_add_text(d, s->text, (size_t)(s->end - s->text)) < 0)
        return false;
    struct doc_node *node = &d->node[d->n - 1];
    node->length = (uint32_t)(s->end - s->text);
    node->plain = !s->quote;
    char *text = d->text + node->text;
    char *from = s->quote == '"' ? memchr(text, '\\', node->length) : NULL;
    if (!from)
        return true;
    /* Decoded escapes are shorter. */
    char *to = from;
    for (; *from; from++) {
        if (*from == '\\') {
            from++;
            *to++ = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    node->length = (uint32_t)(to - text);
    d->used = node->text + node->length + 1;
    return true;
}

/* An empty scalar, right here. */
static bool add_nothing(struct quick *q)
{
    struct scalar none = {.at = q->p, .text = q->p, .end = q->p};
    return add_scalar(q, &none);
}

static bool open_collection(struct quick *q, enum doc_kind kind, uint32_t *ret_node)
{
    *ret_node = q->doc->n;
    return q->depth++ < DOC_DEPTH_MAX && add_node_at(q, kind, q->p);
}

static bool close_collection(struct quick *q, uint32_t i, uint32_t count)
{
    struct doc *d = q->doc;
    q->depth--;
    d->node[i].end = d->n;
    d->node[i].count = count;
    return d->node[i].kind == DOC_LIST || doc_check_keys(d, i) == 0;
}

static void skip_white(struct quick *q)
{
    for (skip_spaces(q); q->p < q->end && *q->p == '\n'; skip_spaces(q))
        next_line(q);
}

static bool read_flow(struct quick *q);

/* A key of a flow mapping and the colon behind it. */
static bool read_flow_key(struct quick *q)
{
    struct scalar key;
    if (!scan_scalar(q, true, &key) || !add_scalar(q, &key))
        return false;
    skip_spaces(q);
    if (peek(q, 0) != ':' || q->p - key.at > KEY_MAX || (!key.quote && peek(q, 1) != ' '))
        return false;
    q->p++;
    skip_white(q);
    return true;
}

static bool read_flow_collection(struct quick *q)
{
    bool mapping = *q->p == '{';
    char closing = mapping ? '}' : ']';
    uint32_t i;
    uint32_t count = 0;
    if (!open_collection(q, mapping ? DOC_MAPPING : DOC_LIST, &i))
        return false;
    q->p++;
    skip_white(q);
    while (peek(q, 0) != closing || count > 0) {
        if ((mapping && !read_flow_key(q)) || !read_flow(q))
            return false;
        count++;
        skip_white(q);
        if (peek(q, 0) == closing)
            break;
        if (peek(q, 0) != ',')
            return false;
        q->p++;
        skip_white(q);
    }
    q->p++;
    return close_collection(q, i, count);
}

/* A value in a flow collection. A plain one must end on its line. */
static bool read_flow(struct quick *q)
{
    if (peek(q, 0) == '{' || peek(q, 0) == '[')
        return read_flow_collection(q);
    struct scalar s;
    if (!scan_scalar(q, true, &s) || !add_scalar(q, &s))
        return false;
    skip_spaces(q);
    return s.quote || !at_break(q);
}

static bool read_block_node(struct quick *q);

/* Whether a line that begins deeper than column `outer` comes next. */
static bool is_deeper(const struct quick *q, size_t outer)
{
    return q->p < q->end && column(q) > outer;
}

static bool is_level(const struct quick *q, size_t outer)
{
    return q->p < q->end && column(q) == outer;
}

/* Items with their dashes in this column, and the line behind them. */
static bool read_block_list(struct quick *q)
{
    size_t own = column(q);
    uint32_t i;
    uint32_t count = 0;
    if (!open_collection(q, DOC_LIST, &i))
        return false;
    while (is_level(q, own) && at_dash(q)) {
        q->p++;
        struct quick behind_dash = *q;
        skip_spaces(q);
        if (at_break(q) || *q->p == '#') {
            q->p = behind_dash.p;
            if (!finish_line(q))
                return false;
            if (!is_deeper(q, own)) {
                if (!add_nothing(&behind_dash))
                    return false;
                count++;
                continue;
            }
        }
        if (!read_block_node(q) || is_deeper(q, own))
            return false;
        count++;
    }
    return close_collection(q, i, count);
}

/* Read what comes after a key's colon, in a mapping in column `own`. */
static bool read_block_value(struct quick *q, size_t own)
{
    struct quick behind_colon = *q;
    skip_spaces(q);
    if (!at_break(q) && *q->p != '#') {
        struct scalar s;
        if (*q->p == '{' || *q->p == '[') {
            if (!read_flow_collection(q))
                return false;
        } else if (!scan_scalar(q, false, &s) || !add_scalar(q, &s)) {
            return false;
        }
        return finish_line(q);
    }
    q->p = behind_colon.p;
    if (!finish_line(q))
        return false;
    if (is_deeper(q, own))
        return read_block_node(q);
    if (is_level(q, own) && at_dash(q))
        return read_block_list(q);
    return add_nothing(&behind_colon);
}

static bool ends_key(const struct quick *q)
{
    return peek(q, 0) == ':' && (q->p + 1 == q->end || q->p[1] == ' ' || q->p[1] == '\n');
}

/* Read a mapping whose first key has been scanned up to its colon, and the rest of that line. */
static bool read_block_mapping(struct quick *q, struct scalar key)
{
    const char *colon = q->p;
    size_t own = (size_t)(key.at - q->line);
    uint32_t i;
    uint32_t count = 0;
    q->p = key.at;
    if (!open_collection(q, DOC_MAPPING, &i))
        return false;
    q->p = colon;
    for (;;) {
        if (q->p - key.at > KEY_MAX || !add_scalar(q, &key))
            return false;
        q->p++;
        if (!read_block_value(q, own) || is_deeper(q, own))
            return false;
        count++;
        if (!is_level(q, own))
            break;
        if (!scan_scalar(q, false, &key))
            return false;
        skip_spaces(q);
        if (!ends_key(q))
            return false;
    }
    return close_collection(q, i, count);
}

/* A node that begins here, and the line behind it. */
static bool read_block_node(struct quick *q)
{
    if (at_dash(q))
        return read_block_list(q);
    if (peek(q, 0) == '{' || peek(q, 0) == '[')
        return read_flow_collection(q) && finish_line(q);
    struct scalar s;
    if (!scan_scalar(q, false, &s))
        return false;
    const char *behind = q->p;
    skip_spaces(q);
    if (ends_key(q))
        return read_block_mapping(q, s);
    q->p = behind;
    return add_scalar(q, &s) && finish_line(q);
}

bool quick_read(struct doc *d, const char *text, size_t length)
{
    struct quick q = {.doc = d, .p = text, .end = text + length, .line = text, .lineno = 1};
    if (!find_content(&q) || q.p == q.end || !read_block_node(&q))
        return false;
    return q.p == q.end && d->node[0].kind != DOC_SCALAR;
}
