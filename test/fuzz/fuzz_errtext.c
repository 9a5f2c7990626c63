/* Any text that a reader may quote becomes one terminated line. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "base/errtext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    berth_error_t err;
    memset(&err, 0x55, sizeof(err));
    errno = 0;
    FUZZ_CHECK(errtext_set(&err, EPROTO, "line 1: \"%.*s\"", (int)size, (const char *)data) == -1);
    FUZZ_CHECK(errno == EPROTO);
    size_t length = strnlen(err.text, sizeof(err.text));
    FUZZ_CHECK(length < sizeof(err.text));
    for (size_t i = 0; i < length; i++)
        FUZZ_CHECK((unsigned char)err.text[i] >= ' ' && err.text[i] != 0x7f);
    return 0;
}
