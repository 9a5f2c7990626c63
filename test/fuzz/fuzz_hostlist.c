/* Any bytes are a list of hosts that is written and read back, sorted and taken apart, or an error of one
 * line.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "base/hostlist.h"

#define MANY  3000
#define LOOKS 200 /* hosts of a list that are looked at */

/* Where this many hosts are spelled out, that takes long and shows nothing new. */
static bool costs_much(uint64_t spelled)
{
    return spelled > MANY && spelled <= HOSTLIST_SPELLED_MAX;
}

static bool decode(struct hostlist *h, const char *text, size_t length)
{
    berth_error_t err = {""};
    errno = 0;
    if (hostlist_decode(h, text, length, &err) == 0) {
        FUZZ_CHECK(hostlist_check(h) && err.text[0] == '\0');
        return true;
    }
    FUZZ_CHECK(errno == EINVAL || errno == ERANGE);
    FUZZ_CHECK(err.text[0] != '\0' && !strchr(err.text, '\n'));
    FUZZ_CHECK(h->n == 0 && h->count == 0);
    return false;
}

static void check_same(const struct hostlist *a, const struct hostlist *b)
{
    char name[HOSTLIST_NAME_SIZE];
    char other[HOSTLIST_NAME_SIZE];
    int64_t count = hostlist_count(a);
    FUZZ_CHECK(hostlist_count(b) == count);
    int64_t n = count < LOOKS ? count : LOOKS;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i % 2 ? i : count - 1 - i;
        FUZZ_CHECK(hostlist_nth(a, at, name) == 0 && hostlist_nth(b, at, other) == 0);
        FUZZ_CHECK(strcmp(name, other) == 0);
        int64_t first = hostlist_find(a, name, strlen(name));
        FUZZ_CHECK(first >= 0 && first <= at);
        FUZZ_CHECK(hostlist_find(b, name, strlen(name)) == first);
    }
}

static void check_text(const struct hostlist *h)
{
    struct strbuf b = {0};
    struct hostlist again = {0};
    hostlist_encode(h, &b);
    FUZZ_CHECK(!b.failed && decode(&again, strbuf_text(&b), b.len));
    check_same(h, &again);
    hostlist_clear(&again);
    strbuf_clear(&b);
}

static void check_sorted(const struct hostlist *h)
{
    struct hostlist sorted = {0};
    struct hostlist unique = {0};
    FUZZ_CHECK(hostlist_copy(&sorted, h) == 0 && hostlist_copy(&unique, h) == 0);
    if (hostlist_sort(&sorted) == 0) {
        FUZZ_CHECK(hostlist_check(&sorted) && sorted.count == h->count);
        FUZZ_CHECK(hostlist_uniq(&sorted) == 0);
        FUZZ_CHECK(hostlist_uniq(&unique) == 0 && hostlist_check(&unique));
        check_same(&sorted, &unique);
        FUZZ_CHECK(hostlist_sort(&sorted) == 0);
        check_same(&sorted, &unique);
    } else {
        FUZZ_CHECK(errno == ERANGE);
        check_same(&sorted, h);
    }
    hostlist_clear(&sorted);
    hostlist_clear(&unique);
}

static void take_apart(struct hostlist *h)
{
    char name[HOSTLIST_NAME_SIZE];
    int64_t n = h->count < LOOKS ? h->count : LOOKS;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = h->count;
        FUZZ_CHECK(hostlist_nth(h, (count - 1) / 3 * (i % 4), name) == 0);
        FUZZ_CHECK(hostlist_delete(h, name, strlen(name)) == 0 && h->count == count - 1);
        FUZZ_CHECK(hostlist_check(h));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hostlist h = {0};
    if (decode(&h, (const char *)data, size) && h.n <= MANY) {
        uint64_t spelled = 0;
        for (size_t i = 0; i < h.n; i++)
            spelled += h.v[i].suffix > 0 ? h.v[i].hi - h.v[i].lo + 1 : 0;
        if (!costs_much(spelled))
            check_text(&h);
        if (!costs_much((uint64_t)h.count))
            check_sorted(&h);
        take_apart(&h);
    }
    hostlist_clear(&h);
    return 0;
}
