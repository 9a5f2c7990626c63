#include "config/constraint_query.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/errtext.h"
#include "base/hostlist.h"
#include "base/idset.h"

struct query {
    const char *text, *at;
    int depth;
    berth_error_t *err;
};

static json_t *expected_here(const struct query *q, const char *what)
{
    errtext_expected(q->err, q->text, strlen(q->text), (size_t)(q->at - q->text), what);
    errno = EINVAL;
    return NULL;
}

static json_t *made(const struct query *q, json_t *value)
{
    if (!value)
        errtext_no_memory(q->err);
    return value;
}

static void skip_white_space(struct query *q)
{
    while (isspace((unsigned char)*q->at))
        q->at++;
}

/* Skip a word that stands by itself, "and". */
static bool skip_word(struct query *q, const char *word)
{
    size_t n = strlen(word);
    const char *after = q->at + n;
    if (strncmp(q->at, word, n) != 0 || !(isspace((unsigned char)*after) || *after == '('))
        return false;
    q->at = after;
    return true;
}

/* Skip "&", "&&" or "and". */
static bool skip_operator(struct query *q, char sign, const char *word)
{
    skip_white_space(q);
    if (*q->at != sign)
        return skip_word(q, word);
    q->at += q->at[1] == sign ? 2 : 1;
    return true;
}

/* ---- Terms ---- */

/* The kind of a term by what it begins with. Returns the rest. */
static const char *term_kind(const char *text, const char **kind)
{
    static const struct {
        const char *begin, *kind;
    } kinds[] = {{"host:", "hostlist"}, {"hosts:", "hostlist"}, {"hostlist:", "hostlist"},
                 {"rank:", "ranks"},    {"ranks:", "ranks"},    {"properties:", "properties"}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        size_t n = strlen(kinds[i].begin);
        if (strncmp(text, kinds[i].begin, n) == 0) {
            *kind = kinds[i].kind;
            return text + n;
        }
    }
    *kind = "properties";
    return text;
}

/* Whether hosts or ranks are a list of such. */
static bool is_right(const char *kind, const char *text, size_t n)
{
    struct hostlist hosts = {0};
    struct idset ranks = {0};
    berth_error_t why;
    bool right = true;
    if (strcmp(kind, "hostlist") == 0)
        right = hostlist_append(&hosts, text, n, &why) == 0 && hostlist_count(&hosts) > 0;
    else if (strcmp(kind, "ranks") == 0)
        right = idset_decode(&ranks, text, n, &why) == 0 && ranks.count > 0;
    hostlist_clear(&hosts);
    idset_clear(&ranks);
    return right;
}

static json_t *read_term(struct query *q)
{
    const char *kind, *begin = term_kind(q->at, &kind);
    bool is_list = strcmp(kind, "properties") != 0; /* in which commas are */
    const char *end =
        begin + strcspn(begin, is_list ? " \t\r\n\f\v()|&\"'" : " \t\r\n\f\v()|&,\"'");
    const char *after = end;
    if (*begin == '"' || *begin == '\'') {
        end = strchr(begin + 1, *begin);
        if (!end)
            return expected_here(q, "a quote at the end of what is in quotes");
        begin++;
        after = end + 1;
    }
    if (end == begin)
        return expected_here(q, "a property, host:LIST or rank:LIST");
    if (!is_right(kind, begin, (size_t)(end - begin)))
        return expected_here(q, "hosts such as host:n[1-4] or ranks such as rank:0-3");
    json_t *name = json_stringn(begin, (size_t)(end - begin));
    if (!name)
        return expected_here(q, "a property in UTF-8");
    q->at = after;
    return made(q, json_pack("{s:[o]}", kind, name));
}

static json_t *read_either(struct query *q);

/* Skip what negates the term behind it. Whether that is negated. */
static bool skip_negations(struct query *q)
{
    bool is_negated = false;
    for (;;) {
        skip_white_space(q);
        if (*q->at == '!' || *q->at == '-' || *q->at == '^')
            q->at++;
        else if (!skip_word(q, "not"))
            return is_negated;
        is_negated = !is_negated;
    }
}

static json_t *read_in_parentheses(struct query *q)
{
    if (q->depth++ == CONSTRAINT_QUERY_DEPTH)
        return expected_here(q, "fewer parentheses within each other");
    q->at++;
    json_t *inner = read_either(q);
    if (!inner)
        return NULL;
    q->depth--;
    if (*q->at == ')') {
        q->at++;
        return inner;
    }
    json_decref(inner);
    return expected_here(q, "')'");
}

static json_t *read_negated(struct query *q)
{
    bool is_negated = skip_negations(q);
    json_t *term = *q->at == '(' ? read_in_parentheses(q) : read_term(q);
    return term && is_negated ? made(q, json_pack("{s:[o]}", "not", term)) : term;
}

/* ---- What joins them ---- */

/* Takes the list. Of one condition, that itself. */
static json_t *joined(const struct query *q, const char *name, json_t *list)
{
    json_t *one = json_array_size(list) == 1 ? json_incref(json_array_get(list, 0)) : NULL;
    if (!one)
        return made(q, json_pack("{s:o}", name, list));
    json_decref(list);
    return one;
}

/* Append a condition to those that all hold; properties go to those of the last one. Takes it. */
static int append_condition(json_t *list, json_t *condition)
{
    json_t *last = json_array_get(list, json_array_size(list) - 1);
    json_t *before = json_object_get(last, "properties");
    json_t *names = json_object_get(condition, "properties");
    if (!before || !names)
        return json_array_append_new(list, condition);
    int rc = json_array_extend(before, names);
    json_decref(condition);
    return rc;
}

/* Whether another one follows that must hold too. */
static bool another_follows(struct query *q)
{
    if (skip_operator(q, '&', "and"))
        return true;
    if (*q->at == ',') {
        q->at++;
        return true;
    }
    const char *here = q->at;
    bool ends = !*here || *here == ')' || *here == '|' || skip_word(q, "or");
    q->at = here;
    return !ends;
}

static json_t *read_conjunction(struct query *q)
{
    json_t *list = json_array(), *condition;
    if (!list)
        return made(q, NULL);
    do {
        condition = read_negated(q);
        if (condition && append_condition(list, condition) < 0)
            condition = made(q, NULL);
    } while (condition && another_follows(q));
    if (condition)
        return joined(q, "and", list);
    json_decref(list);
    return NULL;
}

static json_t *read_either(struct query *q)
{
    json_t *list = json_array(), *condition;
    if (!list)
        return made(q, NULL);
    do {
        condition = read_conjunction(q);
        if (condition && json_array_append_new(list, condition) < 0)
            condition = made(q, NULL);
    } while (condition && skip_operator(q, '|', "or"));
    if (condition)
        return joined(q, "or", list);
    json_decref(list);
    return NULL;
}

json_t *constraint_query(const char *text, berth_error_t *err)
{
    struct query q = {.text = text, .at = text, .err = err};
    skip_white_space(&q);
    if (!*q.at)
        return made(&q, json_array());
    json_t *constraint = read_either(&q);
    if (constraint && *q.at) {
        json_decref(constraint);
        return expected_here(&q, "an operator, or the end");
    }
    json_t *names = json_object_get(constraint, "properties");
    if (!names)
        return constraint;
    json_incref(names);
    json_decref(constraint);
    return names;
}
