/* Any bytes are a set of ids that is written and read back, or an error of one line; also as a text with steps. What
 * stands behind a line feed is a second set, for the two to be combined.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "base/idset.h"

static bool decode(struct idset *s, const char *text, size_t length)
{
    berth_error_t err = {""};
    errno = 0;
    if (idset_decode(s, text, length, &err) == 0) {
        FUZZ_CHECK(idset_check(s) && err.text[0] == '\0');
        return true;
    }
    FUZZ_CHECK(errno == EINVAL || errno == ERANGE);
    FUZZ_CHECK(err.text[0] != '\0' && !strchr(err.text, '\n'));
    FUZZ_CHECK(s->n == 0 && s->count == 0);
    return false;
}

static void check_text(const struct idset *s, bool brackets)
{
    struct strbuf b = {0};
    struct idset again = {0};
    idset_encode(s, brackets, &b);
    FUZZ_CHECK(!b.failed && decode(&again, strbuf_text(&b), b.len));
    FUZZ_CHECK(idset_equal(s, &again));
    idset_clear(&again);
    strbuf_clear(&b);
}

/* Steps may make few bytes many ids: of those, only a set of few is written out. */
static bool decode_steps(struct idset *s, const char *text, size_t length)
{
    berth_error_t err = {""};
    struct strbuf b = {0};
    struct idset again = {0};
    errno = 0;
    if (idset_decode_steps(s, text, length, &err) < 0) {
        FUZZ_CHECK((errno == EINVAL || errno == ERANGE) && err.text[0] && !strchr(err.text, '\n'));
        return false;
    }
    FUZZ_CHECK(idset_check(s) && err.text[0] == '\0');
    idset_encode_steps(s, &b);
    FUZZ_CHECK(idset_decode_steps(&again, strbuf_text(&b), b.len, NULL) == 0);
    FUZZ_CHECK(again.n == s->n && again.count == s->count);
    if (s->count < 10000)
        FUZZ_CHECK(idset_equal(s, &again));
    idset_clear(&again);
    strbuf_clear(&b);
    return s->count < 10000;
}

/* |either| + |both| = |s| + |t|, and what is left of s shares nothing with t. */
static void check_combined(const struct idset *s, const struct idset *t)
{
    struct idset either = {0};
    struct idset both = {0};
    struct idset less = {0};
    FUZZ_CHECK(idset_copy(&either, s) == 0 && idset_unite(&either, t) == 0);
    FUZZ_CHECK(idset_copy(&both, s) == 0 && idset_intersect(&both, t) == 0);
    FUZZ_CHECK(idset_copy(&less, s) == 0 && idset_subtract(&less, t) == 0);
    FUZZ_CHECK(idset_check(&either) && idset_check(&both) && idset_check(&less));
    FUZZ_CHECK(either.count + both.count == s->count + t->count);
    FUZZ_CHECK(less.count + both.count == s->count);
    FUZZ_CHECK(!idset_meets(&less, t) && idset_meets(s, t) == (both.count > 0));
    FUZZ_CHECK(idset_unite(&less, &both) == 0 && idset_equal(&less, s));
    idset_clear(&either);
    idset_clear(&both);
    idset_clear(&less);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *end = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t length = end ? (size_t)(end - text) : size;
    struct idset s = {0};
    struct idset t = {0};
    if (decode(&s, text, length)) {
        check_text(&s, false);
        check_text(&s, true);
    }
    if (end && decode(&t, end + 1, size - length - 1))
        check_combined(&s, &t);
    struct idset u = {0}, v = {0};
    if (decode_steps(&u, text, length)) {
        check_text(&u, false);
        if (end && decode_steps(&v, end + 1, size - length - 1))
            check_combined(&u, &v);
    }
    idset_clear(&u);
    idset_clear(&v);
    for (uint32_t i = 0; i < t.n; i++)
        FUZZ_CHECK(idset_remove_range(&s, t.v[i].lo, t.v[i].hi) == 0 && idset_check(&s));
    FUZZ_CHECK(!idset_meets(&s, &t));
    idset_clear(&s);
    idset_clear(&t);
    return 0;
}
