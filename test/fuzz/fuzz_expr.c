/* Any bytes are an expression of find that is evaluated as a reader by the grammar would, or an error of
 * one line.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "match/text/expr.h"

/* An arbitrary answer to each question, always the same. */
static bool answer(void *ctx, const struct expr_predicate *p)
{
    uint64_t sum = (uint64_t)p->key * 2 + p->yes + p->jobid * 7;
    (void)ctx;
    for (const char *at = p->property ? p->property : ""; *at; at++)
        sum = sum * 31 + (unsigned char)*at;
    sum += (uint64_t)hostlist_count(&p->names) * 5;
    FUZZ_CHECK(p->key != EXPR_AGFILTER && hostlist_check(&p->names));
    return sum * 0x9e3779b97f4a7c15u >> 63;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The value of a single condition. */
static bool naive_leaf(const char *text, const char *end)
{
    char *copy = strndup(text, (size_t)(end - text));
    struct expr *e = copy ? expr_parse(copy, NULL) : NULL;
    FUZZ_CHECK(e);
    bool result = expr_eval(e, answer, NULL);
    expr_destroy(e);
    free(copy);
    return result;
}

/* The value of what is known to be an expression. */
static bool naive(const char *at, const char *end)
{
    bool result = true, is_or = false;
    for (;;) {
        const char *start;
        bool value;
        while (at < end && blank(*at))
            at++;
        start = at;
        if (at == end)
            return result;
        if (*at == '(') {
            for (int open = 1; open > 0;) {
                at++;
                open += (*at == '(') - (*at == ')');
            }
            at++;
            value = naive(start + 1, at - 1);
        } else {
            while (at < end && !blank(*at))
                at++;
            if ((at - start == 2 && memcmp(start, "or", 2) == 0) ||
                (at - start == 3 && memcmp(start, "and", 3) == 0)) {
                is_or = *start == 'o';
                continue;
            }
            value = naive_leaf(start, at);
        }
        result = is_or ? result || value : result && value;
        is_or = false;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    berth_error_t err = {""};
    char *text = strndup((const char *)data, size);
    uint64_t id;
    FUZZ_CHECK(text);
    errno = 0;
    struct expr *e = expr_parse(text, &err);
    if (e) {
        FUZZ_CHECK(err.text[0] == '\0');
        FUZZ_CHECK(expr_eval(e, answer, NULL) == naive(text, text + strlen(text)));
        FUZZ_CHECK(!expr_has_agfilter(e) || strstr(text, "agfilter="));
        FUZZ_CHECK(!expr_jobid(e, &id) || strstr(text, "jobid-"));
    } else {
        FUZZ_CHECK(errno == EINVAL);
        FUZZ_CHECK(err.text[0] != '\0' && !strchr(err.text, '\n'));
    }
    expr_destroy(e);
    free(text);
    return 0;
}
