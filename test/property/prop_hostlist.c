/* Host lists against an array of names: appending, deleting, sorting and dropping duplicates, questions,
 * and the text there and back. The names are few and alike, with paddings, suffixes and digits where the
 * number doesn't end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hostlist.h"
#include "random.h"

#define NAMES  300
#define LENGTH 48
#define STEPS  60000

struct model {
    char name[NAMES][LENGTH];
    int n;
};

static const char *const prefix[] = {"", "n", "n1", "n0", "n-", "node", "a99999999999999999"};
static const char *const suffix[] = {"", "", "", "", "-x", "x5", "0"};

static const char *pick(const char *const *v, size_t n, struct random *r)
{
    return v[random_next(r) % n];
}

static int pick_number(struct random *r)
{
    static const int around[] = {0, 8, 97, 998};
    int from = around[random_next(r) % 4];
    return from + (int)random_between(r, 0, 5);
}

static void add(struct model *m, const char *before, int number, int width, const char *after)
{
    snprintf(m->name[m->n++], LENGTH, "%s%0*d%s", before, width, number, after);
}

static void step_append_text(struct hostlist *h, struct model *m, struct random *r)
{
    char text[128];
    const char *before = pick(prefix, 7, r);
    const char *after = pick(suffix, 7, r);
    int lo = pick_number(r);
    int hi = lo + (int)random_between(r, 0, 6);
    int other = pick_number(r);
    int width = (int)random_between(r, 1, 4);
    int n = snprintf(text, sizeof(text), ",%s[%0*d-%d,%d]%s", before, width, lo, hi, other, after);
    assert_int_equal(hostlist_append(h, text, (size_t)n, NULL), 0);
    for (int i = lo; i <= hi; i++)
        add(m, before, i, width, after);
    /* The first number's width counts if it has leading zeros. */
    bool padded = lo == 0 || snprintf(text, sizeof(text), "%d", lo) < width;
    add(m, before, other, padded ? width : 1, after);
}

static void step_append_product(struct hostlist *h, struct model *m, struct random *r)
{
    char text[128];
    char number[16];
    const char *before = pick(prefix, 7, r);
    const char *after = pick(suffix, 7, r);
    const char *middle = random_next(r) % 2 ? "" : "x";
    int lo = pick_number(r);
    int n =
        snprintf(text, sizeof(text), "%s[9-10,02]%s[%d-%d]%s,", before, middle, lo, lo + 2, after);
    assert_int_equal(hostlist_append(h, text, (size_t)n, NULL), 0);
    static const char *const outer[] = {"9", "10", "02"};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            snprintf(number, sizeof(number), "%d", lo + k);
            snprintf(m->name[m->n++], LENGTH, "%s%s%s%s%s", before, outer[i], middle, number,
                     after);
        }
    }
}

static void step_append_host(struct hostlist *h, struct model *m, struct random *r)
{
    const char *before = pick(prefix, 7, r);
    const char *after = pick(suffix, 7, r);
    int number = pick_number(r), width = (int)random_between(r, 1, 4);
    if (random_next(r) % 8 == 0)
        strcpy(m->name[m->n++], before[0] ? before : "-");
    else
        add(m, before, number, width, after);
    const char *name = m->name[m->n - 1];
    assert_int_equal(hostlist_append_host(h, name, strlen(name)), 0);
}

static int first_of(const struct model *m, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (strcmp(m->name[i], name) == 0)
            return i;
    return -1;
}

static void step_find(const struct hostlist *h, const struct model *m, struct random *r)
{
    char name[LENGTH];
    const char *before = pick(prefix, 7, r);
    const char *after = pick(suffix, 7, r);
    int number = pick_number(r), width = (int)random_between(r, 1, 4);
    snprintf(name, sizeof(name), "%s%0*d%s", before, width, number, after);
    assert_int_equal(hostlist_find(h, name, strlen(name)), first_of(m, name));
    if (m->n > 0) {
        const char *there = m->name[random_between(r, 0, m->n - 1)];
        assert_int_equal(hostlist_find(h, there, strlen(there)), first_of(m, there));
    }
}

static void step_delete(struct hostlist *h, struct model *m, struct random *r)
{
    char name[LENGTH];
    if (m->n == 0)
        return;
    strcpy(name, m->name[random_between(r, 0, m->n - 1)]);
    int at = first_of(m, name);
    assert_int_equal(hostlist_delete(h, name, strlen(name)), 0);
    m->n--;
    memmove(m->name[at], m->name[at + 1], (size_t)(m->n - at) * LENGTH);
}

/* The digits at the end, 18 at most, are the number. */
static size_t number_at(const char *name)
{
    size_t at = strlen(name);
    size_t least = at > 18 ? at - 18 : 0;
    while (at > least && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at;
}

static int by_name(const void *x, const void *y)
{
    const char *a = x;
    const char *b = y;
    char before_a[LENGTH];
    char before_b[LENGTH];
    snprintf(before_a, sizeof(before_a), "%.*s", (int)number_at(a), a);
    snprintf(before_b, sizeof(before_b), "%.*s", (int)number_at(b), b);
    int order = strcmp(before_a, before_b);
    if (order == 0) /* of numbers as long as each other the text decides */
        order = (strlen(a) > strlen(b)) - (strlen(a) < strlen(b));
    return order != 0 ? order : strcmp(a, b);
}

static void step_sort(struct hostlist *h, struct model *m, bool unique)
{
    assert_int_equal(unique ? hostlist_uniq(h) : hostlist_sort(h), 0);
    qsort(m->name, (size_t)m->n, LENGTH, by_name);
    int kept = 0;
    for (int i = 0; i < m->n; i++)
        if (!unique || i == 0 || strcmp(m->name[i], m->name[kept - 1]) != 0)
            memmove(m->name[kept++], m->name[i], LENGTH);
    m->n = kept;
}

static void check_names(const struct hostlist *h, const struct model *m)
{
    struct hostlist_cursor c = {0};
    char name[HOSTLIST_NAME_SIZE];
    assert_int_equal(hostlist_count(h), m->n);
    for (int i = 0; i < m->n; i++) {
        assert_true(hostlist_next(h, &c, name));
        assert_string_equal(name, m->name[i]);
        assert_int_equal(hostlist_nth(h, i, name), 0);
        assert_string_equal(name, m->name[i]);
    }
    assert_false(hostlist_next(h, &c, name));
}

static void check_text(const struct hostlist *h, const struct model *m)
{
    struct strbuf b = {0};
    struct hostlist again = {0};
    hostlist_encode(h, &b);
    assert_int_equal(hostlist_decode(&again, b.data, b.len, NULL), 0);
    assert_true(hostlist_check(&again));
    check_names(&again, m);
    hostlist_clear(&again);
    strbuf_clear(&b);
}

/* True if b is the name that counts on from a. */
static bool goes_on(const char *a, const char *b)
{
    char next[2 * LENGTH];
    size_t at = number_at(a);
    if (a[at] == '\0')
        return false;
    snprintf(next, sizeof(next), "%.*s%0*llu", (int)at, a, (int)strlen(a + at),
             strtoull(a + at, NULL, 10) + 1);
    return strcmp(next, b) == 0 && number_at(b) == at;
}

/* What Flux writes, made of the names: brackets around neighbours with the same prefix. */
static void write_model(const struct model *m, struct strbuf *b)
{
    for (int i = 0; i < m->n;) {
        const char *first = m->name[i];
        size_t at = number_at(first);
        size_t padded = first[at] == '0' && first[at + 1] ? strlen(first) : 0;
        int end = i + 1;
        while (end < m->n && first[at] && number_at(m->name[end]) == at && m->name[end][at] &&
               strncmp(m->name[end], first, at) == 0 && strlen(m->name[end]) >= padded)
            end++;
        strbuf_puts(b, i > 0 ? "," : "");
        strbuf_put(b, first, at);
        strbuf_puts(b, end > i + 1 ? "[" : "");
        for (int k = i, last; k < end; k = last + 1) {
            for (last = k; last + 1 < end && goes_on(m->name[last], m->name[last + 1]);)
                last++;
            strbuf_puts(b, k > i ? "," : "");
            strbuf_puts(b, m->name[k] + at);
            strbuf_puts(b, last > k ? "-" : "");
            strbuf_puts(b, last > k ? m->name[last] + at : "");
        }
        strbuf_puts(b, end > i + 1 ? "]" : "");
        i = end;
    }
}

/* A list whose hosts were appended one by one. */
static void check_written(const struct model *m)
{
    struct hostlist h = {0};
    struct strbuf b = {0};
    struct strbuf expected = {0};
    for (int i = 0; i < m->n; i++)
        assert_int_equal(hostlist_append_host(&h, m->name[i], strlen(m->name[i])), 0);
    hostlist_encode(&h, &b);
    write_model(m, &expected);
    assert_string_equal(strbuf_text(&b), strbuf_text(&expected));
    hostlist_clear(&h);
    strbuf_clear(&b);
    strbuf_clear(&expected);
}

static void step(struct hostlist *h, struct model *m, struct random *r)
{
    uint64_t what = random_next(r) % 100;
    if (m->n > NAMES - 20 || what < 30)
        step_delete(h, m, r);
    else if (what < 45)
        step_append_host(h, m, r);
    else if (what < 53)
        step_append_text(h, m, r);
    else if (what < 54)
        step_append_product(h, m, r);
    else if (what < 55)
        step_sort(h, m, random_next(r) % 4 == 0);
    else
        step_find(h, m, r);
}

static void agrees_with_an_array(void **state)
{
    (void)state;
    struct model *m = calloc(1, sizeof(*m));
    struct hostlist h = {0};
    struct random r = {.state = 29};
    for (int i = 0; i < STEPS; i++) {
        step(&h, m, &r);
        assert_true(hostlist_check(&h));
        if (i % 37 == 0)
            check_names(&h, m);
        if (i % 41 == 0)
            check_text(&h, m);
        if (i % 43 == 0)
            check_written(m);
        if (random_next(&r) % 500 == 0) {
            hostlist_reset(&h);
            m->n = 0;
        }
    }
    hostlist_clear(&h);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
