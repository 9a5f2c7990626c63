/* What each user has of the HTTP server: shares, and the reserve of root and the owner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/http/http.h"
#include "server/http/users.h"

enum { OWNER = 500, ANN = 1000 };

/* Users from ANN on, and root and the owner, with a connection each. */
static struct http_users users_of(uid_t n)
{
    struct http_users u = {.limit = 256, .owner = OWNER};
    assert_int_equal(http_users_connect(&u, 0), 0);
    assert_int_equal(http_users_connect(&u, OWNER), 0);
    for (uid_t i = 0; i < n; i++)
        assert_int_equal(http_users_connect(&u, ANN + i), 0);
    return u;
}

static void bodies_have_a_share_and_a_reserve(void **state)
{
    struct http_users u = users_of(5);
    size_t counted;
    (void)state;

    /* The first bytes of a body count for nothing, the others as they come. */
    assert_true(http_users_send(&u, ANN, 0, HTTP_BODY_SMALL, &counted));
    assert_int_equal(counted, 0);
    assert_true(http_users_send(&u, ANN, HTTP_BODY_SMALL - 1, 11, &counted));
    assert_int_equal(counted, 10);
    http_users_sent(&u, ANN, counted);
    assert_int_equal(u.bodies, 0);

    /* One user's share is one body; three of them leave a reserve. */
    for (uid_t i = 0; i < 3; i++) {
        assert_true(http_users_send(&u, ANN + i, HTTP_BODY_SMALL, HTTP_BODY_MAX, &counted));
        assert_false(http_users_send(&u, ANN + i, HTTP_BODY_SMALL, 1, &counted));
        assert_int_equal(counted, 0);
        assert_true(http_users_send(&u, ANN + i, 0, HTTP_BODY_SMALL, &counted));
    }
    assert_false(http_users_send(&u, ANN + 3, HTTP_BODY_SMALL, 1, &counted));
    assert_true(http_users_send(&u, ANN + 3, 0, HTTP_BODY_SMALL, &counted));
    assert_true(http_users_send(&u, 0, HTTP_BODY_SMALL, HTTP_BODY_MAX / 2, &counted));
    assert_true(http_users_send(&u, OWNER, HTTP_BODY_SMALL, HTTP_BODY_MAX / 2, &counted));
    assert_false(http_users_send(&u, 0, HTTP_BODY_SMALL, 1, &counted));
    assert_int_equal(u.bodies, HTTP_BODIES_MAX);

    /* What one gives back another may have. */
    http_users_sent(&u, ANN, HTTP_BODY_MAX);
    assert_false(http_users_send(&u, ANN + 4, HTTP_BODY_SMALL, HTTP_BODY_MAX, &counted));
    http_users_sent(&u, 0, HTTP_BODY_MAX / 2);
    http_users_sent(&u, OWNER, HTTP_BODY_MAX / 2);
    assert_true(http_users_send(&u, ANN + 4, HTTP_BODY_SMALL, HTTP_BODY_MAX, &counted));
    http_users_clear(&u);
}

static void streams_have_a_share_and_a_reserve(void **state)
{
    struct http_users u = users_of(20);
    unsigned n;
    (void)state;

    for (int i = 0; i < HTTP_STREAMS_OF_USER; i++)
        assert_true(http_users_stream(&u, ANN));
    assert_false(http_users_stream(&u, ANN));
    assert_true(http_users_stream(&u, ANN + 1));
    for (uid_t i = 0; i < 20; i++)
        while (http_users_stream(&u, ANN + i))
            continue;
    assert_int_equal(u.streams, HTTP_STREAMS - HTTP_RESERVE);
    for (n = 0; http_users_stream(&u, n % 2 ? OWNER : 0); n++)
        continue;
    assert_int_equal(n, HTTP_RESERVE);
    http_users_streamed(&u, ANN);
    assert_false(http_users_stream(&u, ANN));
    assert_true(http_users_stream(&u, 0));
    http_users_clear(&u);
}

static void connections_have_a_share_and_a_reserve(void **state)
{
    struct http_users u = users_of(0);
    (void)state;

    for (uid_t i = 0; i < 20; i++)
        while (http_users_may_connect(&u, ANN + i))
            assert_int_equal(http_users_connect(&u, ANN + i), 0);
    assert_int_equal(u.v[2].uid, ANN);
    assert_int_equal(u.v[2].connections, 256);
    assert_int_equal(u.connections, HTTP_CONNECTIONS - HTTP_RESERVE);
    while (http_users_may_connect(&u, OWNER))
        assert_int_equal(http_users_connect(&u, OWNER), 0);
    assert_int_equal(u.connections, HTTP_CONNECTIONS);
    http_users_disconnect(&u, ANN);
    assert_false(http_users_may_connect(&u, ANN));
    assert_true(http_users_may_connect(&u, 0));
    http_users_clear(&u);
}

/* Who asks for much gets a part of each round; who has had nothing always gets something. */
static void rounds_are_shared(void **state)
{
    struct http_users u = users_of(10);
    (void)state;

    assert_true(http_users_may_work(&u, ANN));
    http_users_work(&u, ANN, HTTP_WORK_OF_USER - 1);
    assert_true(http_users_may_work(&u, ANN));
    http_users_work(&u, ANN, 1);
    assert_false(http_users_may_work(&u, ANN));
    for (uid_t i = 1; i < 10; i++) {
        assert_true(http_users_may_work(&u, ANN + i));
        http_users_work(&u, ANN + i, HTTP_WORK / 8);
        assert_int_equal(http_users_may_work(&u, ANN + i), u.work < HTTP_WORK);
    }
    http_users_begin_round(&u);
    for (uid_t i = 0; i < 10; i++)
        assert_true(http_users_may_work(&u, ANN + i));
    http_users_work(&u, ANN, 1);
    assert_true(http_users_may_work(&u, ANN));
    http_users_clear(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_have_a_share_and_a_reserve),
        cmocka_unit_test(streams_have_a_share_and_a_reserve),
        cmocka_unit_test(connections_have_a_share_and_a_reserve),
        cmocka_unit_test(rounds_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
