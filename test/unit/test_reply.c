/* Replies of a server, in one piece and byte by byte. The rules are those of RFC 9112. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "cli/client/reply.h"

static int put(void *context, long status, const char *bytes, size_t n)
{
    (void)status;
    strbuf_put(context, bytes, n);
    return 0;
}

static int refuse(void *context, long status, const char *bytes, size_t n)
{
    (void)context;
    (void)status;
    (void)bytes;
    (void)n;
    return -1;
}

/* Bytes of the reply, or -1. */
static ptrdiff_t read_reply(struct reply *r, const char *text, size_t piece, struct strbuf *body)
{
    struct client_taker taker = {body, put};
    size_t size = strlen(text), at = 0;

    reply_init(r);
    while (at < size && r->part != REPLY_DONE) {
        ptrdiff_t n = reply_take(r, text + at, size - at < piece ? size - at : piece, &taker);
        if (n < 0)
            return -1;
        at += (size_t)n;
    }
    return (ptrdiff_t)at;
}

static void expect(const char *text, size_t length, long status, bool closes, const char *body)
{
    for (size_t piece = 1; piece <= strlen(text); piece += 1 + piece / 2) {
        struct strbuf got = {0};
        struct reply r;
        assert_int_equal(read_reply(&r, text, piece, &got), length);
        assert_true(reply_end(&r));
        assert_int_equal(r.status, status);
        assert_int_equal(r.closes, closes);
        assert_string_equal(strbuf_text(&got), body);
        strbuf_clear(&got);
    }
}

static void whole(void **state)
{
    (void)state;
    expect("HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nabcHTTP", 43 + 3, 201, false, "abc");
    expect("HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", 37, 200, false, "");
    expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
           "3\r\nabc\r\nA;x\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
           47 + 36, 200, false, "abc0123456789");
    expect("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 409 No\r\nConnection: close\r\n"
           "Content-Length: 1\r\n\r\n!",
           25 + 57 + 1, 409, true, "!");
    expect("HTTP/1.1 200 OK\r\n\r\nto the end", 19 + 10, 200, true, "to the end");
    expect("HTTP/1.1 204\r\n\r\n", 16, 204, false, "");
}

static void wrong(void **state)
{
    static const char *const bad[] = {
        "HTTP/2 200 OK\r\n",
        "HTTP/1.1 20 OK\r\n",
        "HTTP/1.1 2000 OK\r\n",
        "HTTP/1.1 200OK\r\n",
        "SSH-2.0-x\r\n",
        "HTTP/1.1 200 OK\r\nno field\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1 2\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n",
    };
    static char line[2 * REPLY_LINE];
    struct strbuf body = {0};
    struct reply r;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        for (size_t piece = 1; piece < 80; piece += 11) {
            errno = 0;
            assert_int_equal(read_reply(&r, bad[i], piece, &body), -1);
            assert_int_equal(errno, EPROTO);
        }
    memset(line, 'x', sizeof(line) - 1);
    assert_int_equal(read_reply(&r, line, sizeof(line), &body), -1);
    assert_int_equal(read_reply(&r, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", 99, &body),
                     40);
    assert_false(reply_end(&r));
    reply_init(&r);
    struct client_taker taker = {NULL, refuse};
    const char text[] = "HTTP/1.1 200 OK\r\n\r\nx";
    assert_int_equal(reply_take(&r, text, strlen(text), &taker), -1);
    assert_int_equal(errno, ECANCELED);
    strbuf_clear(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole), cmocka_unit_test(wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
