/* Any bytes are ends of runs, or an error of one line. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "config/ends.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ends e, none = {.timeout = false};
    berth_error_t err = {""};
    errno = 0;
    if (ends_read(&e, (const char *)data, size, &err) == 0) {
        FUZZ_CHECK(memcmp(&e, &none, sizeof(e)) != 0);
        FUZZ_CHECK(!ends_has(&e, 0, 0) && !ends_has(&e, 256, 0) && !ends_has(&e, 0, 65));
        return 0;
    }
    FUZZ_CHECK(errno == EINVAL && err.text[0] && !strchr(err.text, '\n'));
    FUZZ_CHECK(e.signals == 0 && !e.timeout);
    return 0;
}
