/* Classes without memory: each allocation that a call makes fails once, the first, the second and so on, until
 * the call comes through, and nothing has changed before.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture/failing_alloc.h"
#include "share/classes.h"

#define TRIES 200

static const struct classes_percent percents[] = {{"land", 60}, {"other", 40}};
static const struct classes_requestor requestors[] = {{"^land", "land"}, {"^(a+)+$", "other"}};

/* A call on settings that may fail; 0 or -1. */
typedef int (*call_t)(classes_t *c);

static int set_percents(classes_t *c)
{
    return classes_set_percents(c, percents, 2, NULL);
}

static int set_requestors(classes_t *c)
{
    return classes_set_requestors(c, requestors, 2, "other", NULL);
}

static int find(classes_t *c)
{
    struct classes_match match;
    return classes_find(c, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 38, &match);
}

static int save(classes_t *c)
{
    char *text = classes_save(c);
    free(text);
    return text ? 0 : -1;
}

static int load(classes_t *c)
{
    static const char text[] = "{\"classes\":[{\"name\":\"a\",\"percent\":3}],"
                               "\"requestors\":[{\"pattern\":\"x|y\",\"class\":\"a\"}]}";
    classes_t *loaded = classes_load(text, strlen(text), NULL);
    (void)c;
    classes_destroy(loaded);
    return loaded ? 0 : -1;
}

/* A call fails until there is memory for all that it needs; what is saved is then the same. */
static void fails_without_traces(classes_t *c, call_t call)
{
    char *before = classes_save(c);
    int64_t n = 0;
    int rc = -1;
    for (; rc < 0 && n < TRIES; n++) {
        errno = 0;
        fail_allocation(n);
        rc = call(c);
        int error = errno;
        bool failed = end_failures();
        assert_int_equal(rc < 0, failed);
        if (rc == 0)
            break;
        assert_int_equal(error, ENOMEM);
        assert_true(share_classes_check(c));
        char *after = classes_save(c);
        assert_string_equal(before, after);
        free(after);
    }
    free(before);
    assert_int_equal(rc, 0);
    assert_true(n > 0);
}

static void settings(void **state)
{
    static const call_t calls[] = {set_percents, set_requestors, find, save, load};
    classes_t *c = classes_create();
    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        fails_without_traces(c, calls[i]);
    classes_destroy(c);
}

static void no_settings(void **state)
{
    classes_t *c = NULL;
    (void)state;
    for (int64_t n = 0; !c && n < TRIES; n++) {
        fail_allocation(n);
        c = classes_create();
        assert_int_equal(!c, end_failures());
    }
    assert_non_null(c);
    classes_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings),
        cmocka_unit_test(no_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
