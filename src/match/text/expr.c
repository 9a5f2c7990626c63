/* Search expressions.
 *
 * An expression is kept as a list of steps that change one result. Operators bind from left to right: the
 * right side of "and" counts only if the result so far is true, and then it is the result; the same is
 * true of "or" and false. So an operator is a step that either skips its right side or doesn't, and
 * parentheses need no steps.
 */
#include "match/text/expr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/errtext.h"
#include "base/jobid.h"

enum step_kind {
    STEP_TEST, /* the result becomes that of a predicate */
    STEP_AND,  /* skip if the result is false */
    STEP_OR    /* skip if it is true */
};

struct step {
    enum step_kind kind;
    uint32_t to; /* the predicate, or the step to skip to */
};

struct expr {
    struct expr_predicate *v;
    uint32_t n;
    uint32_t cap;
    struct step *step;
    uint32_t steps;
    uint32_t step_cap;
};

#define NO_STEP UINT32_MAX

struct parser {
    struct expr *e;
    const char *text;
    const char *at;
    struct {
        const char *end; /* where the parentheses close, or the text ends */
        uint32_t join;   /* the "and" or "or" whose right side is being read, or NO_STEP */
    } level[EXPR_DEPTH_MAX + 1];
    int depth;
    berth_error_t *err;
};

static int expected_at(const struct parser *p, const char *what, const char *where)
{
    size_t length = (size_t)(p->level[0].end - p->text);
    return errtext_expected(p->err, p->text, length, (size_t)(where - p->text), what);
}

typedef int read_f(const struct parser *p, struct expr_predicate *predicate, const char *value,
                   size_t length);

static read_f read_word, read_jobid, read_name_list, read_property;

/* The keys, and the values that each may have. */
static const struct {
    const char *name;
    read_f *read;
    const char *yes[2], *no[2]; /* words */
} keys[] = {
    [EXPR_STATUS] = {"status", read_word, {"down"}, {"up"}},
    [EXPR_SCHED_NOW] = {"sched-now", read_word, {"allocated"}, {"free"}},
    [EXPR_SCHED_FUTURE] = {"sched-future", read_word, {"reserved"}, {"free"}},
    [EXPR_JOBID_ALLOC] = {"jobid-alloc", read_jobid, {0}, {0}},
    [EXPR_JOBID_SPAN] = {"jobid-span", read_jobid, {0}, {0}},
    [EXPR_JOBID_TAG] = {"jobid-tag", read_jobid, {0}, {0}},
    [EXPR_JOBID_RESERVED] = {"jobid-reserved", read_jobid, {0}, {0}},
    [EXPR_NAMES] = {"names", read_name_list, {0}, {0}},
    [EXPR_PROPERTY] = {"property", read_property, {0}, {0}},
    [EXPR_AGFILTER] = {"agfilter", read_word, {"true", "t"}, {"false", "f"}},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static bool is_one_of_words(const char *const words[2], const char *value, size_t length)
{
    for (int i = 0; i < 2 && words[i]; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], value, length) == 0)
            return true;
    return false;
}

static int read_word(const struct parser *p, struct expr_predicate *predicate, const char *value,
                     size_t length)
{
    predicate->yes = is_one_of_words(keys[predicate->key].yes, value, length);
    if (predicate->yes || is_one_of_words(keys[predicate->key].no, value, length))
        return 0;
    char what[64];
    snprintf(what, sizeof(what), "'%s' or '%s'", keys[predicate->key].yes[0],
             keys[predicate->key].no[0]);
    return expected_at(p, what, value);
}

static int read_jobid(const struct parser *p, struct expr_predicate *predicate, const char *value,
                      size_t length)
{
    return jobid_parse(value, length, &predicate->jobid) < 0 ? expected_at(p, "a job id", value)
                                                             : 0;
}

static int read_name_list(const struct parser *p, struct expr_predicate *predicate,
                          const char *value, size_t length)
{
    if (hostlist_decode(&predicate->names, value, length, NULL) == 0)
        return 0;
    return errno == ENOMEM ? -1 : expected_at(p, "a list of names", value);
}

static int read_property(const struct parser *p, struct expr_predicate *predicate,
                         const char *value, size_t length)
{
    if (length == 0)
        return expected_at(p, "a property", value);
    predicate->property = strndup(value, length);
    return predicate->property ? 0 : -1;
}

static void clear_predicate(struct expr_predicate *predicate)
{
    free(predicate->property);
    hostlist_clear(&predicate->names);
}

void expr_destroy(struct expr *e)
{
    int saved = errno;
    if (!e)
        return;
    for (uint32_t i = 0; i < e->n; i++)
        clear_predicate(&e->v[i]);
    free(e->v);
    free(e->step);
    free(e);
    errno = saved;
}

static int add_step(struct expr *e, enum step_kind kind, uint32_t to)
{
    if (e->steps == e->step_cap) {
        uint32_t cap = e->step_cap ? 2 * e->step_cap : 4;
        struct step *step = reallocarray(e->step, cap, sizeof(*step));
        if (!step)
            return -1;
        e->step = step;
        e->step_cap = cap;
    }
    e->step[e->steps++] = (struct step){kind, to};
    return 0;
}

static int add_predicate(struct expr *e, const struct expr_predicate *predicate)
{
    if (e->n == e->cap) {
        uint32_t cap = e->cap ? 2 * e->cap : 2;
        struct expr_predicate *v = reallocarray(e->v, cap, sizeof(*v));
        if (!v)
            return -1;
        e->v = v;
        e->cap = cap;
    }
    if (add_step(e, STEP_TEST, e->n) < 0)
        return -1;
    e->v[e->n++] = *predicate;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

static const char *skip_word(const char *at, const char *end)
{
    while (at < end && !is_blank(*at))
        at++;
    return at;
}

static int read_predicate(struct parser *p, const char *end)
{
    const char *equals = memchr(p->at, '=', (size_t)(end - p->at));
    size_t length = equals ? (size_t)(equals - p->at) : 0;
    struct expr_predicate predicate = {0};
    size_t key = 0;
    if (!equals)
        return expected_at(p, "KEY=VALUE", p->at);
    while (key < KEYS &&
           (strlen(keys[key].name) != length || memcmp(keys[key].name, p->at, length) != 0))
        key++;
    if (key == KEYS)
        return expected_at(p, "a key of find", p->at);
    if (p->e->n == EXPR_PREDICATES_MAX)
        return expected_at(p, "no more conditions", p->at);
    predicate.key = (enum expr_key)key;
    if (keys[key].read(p, &predicate, equals + 1, (size_t)(end - equals - 1)) < 0)
        return -1;
    if (add_predicate(p->e, &predicate) < 0) {
        clear_predicate(&predicate);
        return -1;
    }
    p->at = end;
    return 0;
}

/* Where the parenthesis that opens at p->at closes. Parentheses in values count too. */
static const char *find_close(const struct parser *p, const char *end)
{
    size_t open = 1;
    for (const char *at = p->at + 1; at < end; at++) {
        open += *at == '(';
        open -= *at == ')';
        if (open == 0)
            return at;
    }
    return NULL;
}

static int open_level(struct parser *p)
{
    const char *close = find_close(p, p->level[p->depth].end);
    if (!close)
        return expected_at(p, "a ')' for this", p->at);
    if (p->depth == EXPR_DEPTH_MAX)
        return expected_at(p, "fewer parentheses", p->at);
    p->level[++p->depth].end = close;
    p->level[p->depth].join = NO_STEP;
    p->at++;
    return 0;
}

/* After an operand: close the parentheses that end there, and read the next operator. Returns 1 if there
 * is another operand, 0 at the end, -1 on failure.
 */
static int read_operator(struct parser *p)
{
    for (;;) {
        const char *end = p->level[p->depth].end;
        const char *word = skip_blanks(p->at, end);
        if (p->level[p->depth].join != NO_STEP)
            p->e->step[p->level[p->depth].join].to = p->e->steps;
        if (word < end) {
            if (word == p->at)
                return expected_at(p, "a blank", word);
            size_t length = (size_t)(skip_word(word, end) - word);
            bool is_or = length == 2 && memcmp(word, "or", 2) == 0;
            bool is_and = length == 3 && memcmp(word, "and", 3) == 0;
            p->at = is_or || is_and ? word + length : word;
            p->level[p->depth].join = p->e->steps;
            return add_step(p->e, is_or ? STEP_OR : STEP_AND, NO_STEP) < 0 ? -1 : 1;
        }
        if (p->depth == 0)
            return 0;
        p->at = end + 1;
        p->depth--;
    }
}

static int parse_levels(struct parser *p)
{
    int more;
    do {
        const char *end = p->level[p->depth].end;
        p->at = skip_blanks(p->at, end);
        if (p->at == end)
            return expected_at(p, "KEY=VALUE", p->at);
        if (*p->at == '(') {
            more = open_level(p) < 0 ? -1 : 1;
            continue;
        }
        if (read_predicate(p, skip_word(p->at, end)) < 0)
            return -1;
        more = read_operator(p);
    } while (more > 0);
    return more;
}

struct expr *expr_parse(const char *text, berth_error_t *err)
{
    struct parser p = {.text = text, .at = text, .err = err};
    p.level[0].end = text + strlen(text);
    p.level[0].join = NO_STEP;
    p.e = calloc(1, sizeof(*p.e));
    if (p.e && parse_levels(&p) == 0)
        return p.e;
    if (!p.e || errno == ENOMEM)
        errtext_no_memory(err);
    expr_destroy(p.e);
    return NULL;
}

static bool predicate_holds(const struct expr_predicate *p,
                            bool (*test)(void *ctx, const struct expr_predicate *p), void *ctx)
{
    return p->key == EXPR_AGFILTER ? p->yes : test(ctx, p);
}

bool expr_eval(const struct expr *e, bool (*test)(void *ctx, const struct expr_predicate *p),
               void *ctx)
{
    bool result = false;
    for (uint32_t i = 0; i < e->steps;) {
        const struct step *step = &e->step[i++];
        switch (step->kind) {
        case STEP_TEST:
            result = predicate_holds(&e->v[step->to], test, ctx);
            break;
        case STEP_AND:
            i = result ? i : step->to;
            break;
        case STEP_OR:
            i = result ? step->to : i;
            break;
        }
    }
    return result;
}

bool expr_has_agfilter(const struct expr *e)
{
    for (uint32_t i = e->n; i-- > 0;)
        if (e->v[i].key == EXPR_AGFILTER)
            return e->v[i].yes;
    return false;
}

bool expr_jobid(const struct expr *e, uint64_t *id)
{
    for (uint32_t i = e->n; i-- > 0;) {
        if (keys[e->v[i].key].read != read_jobid)
            continue;
        *id = e->v[i].jobid;
        return true;
    }
    return false;
}
