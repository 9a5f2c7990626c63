/* Any bytes are the members of an array, whose indices and bound read back as the same, or an error of one
 * line.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "config/members.h"

static void check_again(const struct members *m)
{
    struct strbuf text = {0};
    struct members again;
    idset_encode(&m->indices, false, &text);
    if (m->indices.count == 1) { /* a number alone says how many */
        strbuf_reset(&text);
        strbuf_put_uint(&text, idset_first(&m->indices));
        strbuf_putc(&text, '-');
        strbuf_put_uint(&text, idset_first(&m->indices));
    }
    if (m->most > 0) {
        strbuf_putc(&text, '%');
        strbuf_put_uint(&text, m->most);
    }
    FUZZ_CHECK(!text.failed && members_read(&again, text.data, text.len, NULL) == 0);
    FUZZ_CHECK(idset_equal(&m->indices, &again.indices) && m->most == again.most);
    members_clear(&again);
    strbuf_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct members m;
    berth_error_t err = {""};
    errno = 0;
    if (members_read(&m, (const char *)data, size, &err) == 0) {
        FUZZ_CHECK(idset_check(&m.indices) && m.indices.count > 0);
        FUZZ_CHECK(idset_last(&m.indices) < MEMBERS_MAX && m.most <= MEMBERS_MAX);
        check_again(&m);
        members_clear(&m);
        return 0;
    }
    FUZZ_CHECK(errno == EINVAL && err.text[0] && !strchr(err.text, '\n'));
    FUZZ_CHECK(m.indices.n == 0 && m.most == 0);
    return 0;
}
