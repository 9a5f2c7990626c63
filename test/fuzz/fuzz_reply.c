/* Replies of a server: what is read of them does not depend on how they are cut. The first byte says how
 * long the pieces are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client/reply.h"
#include "fuzz.h"

struct body {
    size_t n;
    unsigned sum;
};

static int add(void *context, long status, const char *bytes, size_t n)
{
    struct body *body = context;

    FUZZ_CHECK(status >= 200 && n > 0);
    for (size_t i = 0; i < n; i++)
        body->sum = body->sum * 31 + (unsigned char)bytes[i];
    body->n += n;
    return 0;
}

/* How many bytes are of the reply, or -1. */
static ptrdiff_t read_reply(struct reply *r, const char *text, size_t size, size_t piece,
                            struct body *body)
{
    struct client_taker taker = {body, add};
    size_t at = 0;

    reply_init(r);
    while (at < size && r->part != REPLY_DONE) {
        size_t n = size - at < piece ? size - at : piece;
        char *copy = malloc(n); /* so that a byte too far is found */
        if (!copy)
            abort();
        memcpy(copy, text + at, n);
        ptrdiff_t taken = reply_take(r, copy, n, &taker);
        free(copy);
        if (taken < 0) {
            FUZZ_CHECK(errno == EPROTO);
            return -1;
        }
        FUZZ_CHECK((size_t)taken == n || r->part == REPLY_DONE);
        at += (size_t)taken;
    }
    return (ptrdiff_t)at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    static struct reply whole, cut;
    struct body a = {0}, b = {0};

    if (size < 2)
        return 0;
    ptrdiff_t all = read_reply(&whole, text, size - 1, size, &a);
    ptrdiff_t pieces = read_reply(&cut, text, size - 1, (size_t)data[0] % 64 + 1, &b);
    FUZZ_CHECK(all == pieces);
    FUZZ_CHECK(a.n == b.n && a.sum == b.sum);
    FUZZ_CHECK(all < 0 || (whole.part == cut.part && whole.status == cut.status));
    FUZZ_CHECK(all < 0 || reply_end(&whole) == reply_end(&cut));
    return 0;
}
