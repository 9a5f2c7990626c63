/* Any text is read as a reason, whose text it is again; the first byte says how long a second is. */
#include <stdlib.h>
#include <string.h>

#include "berth/sched_reason.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t seconds[] = {1, 7, 1000, 1000000};
    char again[SCHED_REASON_TEXT];
    struct sched_reason r;
    if (size == 0)
        return 0;
    char *text = malloc(size), *was = malloc(size);
    FUZZ_CHECK(text && was);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    memcpy(was, text, size);
    sched_reason_read(&r, text, seconds[data[0] % 4]);
    sched_reason_text(&r, again);
    FUZZ_CHECK(strncmp(again, was, sizeof(again) - 1) == 0);
    struct sched_reason *copy = sched_reason_copy(&r);
    free(text);
    FUZZ_CHECK(copy);
    FUZZ_CHECK(strncmp(sched_reason_text(copy, again), was, sizeof(again) - 1) == 0);
    free(copy);
    free(was);
    return 0;
}
