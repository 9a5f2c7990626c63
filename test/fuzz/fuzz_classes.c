/* Any bytes are settings of classes that are saved and read back as the same, or an error of one line. */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "share/classes.h"

static void check_again(const classes_t *c)
{
    char *text = classes_save(c);
    FUZZ_CHECK(text);
    classes_t *again = classes_load(text, strlen(text), NULL);
    FUZZ_CHECK(again && share_classes_check(again));
    char *same = classes_save(again);
    FUZZ_CHECK(same && strcmp(text, same) == 0);
    free(same);
    free(text);
    classes_destroy(again);
}

/* Whatever the patterns are, a requestor has a class. */
static void check_requestor(const classes_t *c, const char *requestor, size_t length)
{
    const struct classes_percent *list;
    struct classes_match m;
    size_t n = classes_get_percents(c, &list);
    FUZZ_CHECK(classes_find(c, requestor, length, &m) == 0);
    FUZZ_CHECK(m.index < n && strcmp(m.name, list[m.index].name) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    berth_error_t err = {""};
    errno = 0;
    classes_t *c = classes_load((const char *)data, size, &err);
    if (!c) {
        FUZZ_CHECK(errno == EINVAL && err.text[0] && !strchr(err.text, '\n'));
        return 0;
    }
    FUZZ_CHECK(share_classes_check(c));
    check_again(c);
    check_requestor(c, "landing-bot", 11);
    check_requestor(c, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 32);
    check_requestor(c, (const char *)data,
                    size < CLASSES_REQUESTOR_MAX ? size : CLASSES_REQUESTOR_MAX);
    classes_destroy(c);
    return 0;
}
