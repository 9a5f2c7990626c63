#include "config/ends.h"

#include <string.h>

#include "base/errtext.h"
#include "config/signals.h"

#define STATUS_MAX 255

static const char expected[] = "an exit status from 1 to 255, a signal such as SIGKILL, or timeout";

static bool take_status(const char **at, const char *end, int *status)
{
    int n = 0;
    const char *begin = *at;
    for (; *at < end && **at >= '0' && **at <= '9' && n <= STATUS_MAX; ++*at)
        n = 10 * n + (**at - '0');
    *status = n;
    return *at > begin && n >= 1 && n <= STATUS_MAX;
}

/* "75" or "1-3". */
static bool read_statuses(struct ends *ends, const char *at, const char *end)
{
    int low, high;
    if (!take_status(&at, end, &low))
        return false;
    high = low;
    if (at < end && *at == '-') {
        at++;
        if (!take_status(&at, end, &high))
            return false;
    }
    if (at < end || high < low)
        return false;
    for (int i = low; i <= high; i++)
        ends->statuses[i / 64] |= UINT64_C(1) << i % 64;
    return true;
}

static bool read_end(struct ends *ends, const char *at, const char *end)
{
    size_t length = (size_t)(end - at);
    int number;
    if (length == strlen("timeout") && memcmp(at, "timeout", length) == 0) {
        ends->timeout = true;
        return true;
    }
    if (length > 0 && *at >= '0' && *at <= '9')
        return read_statuses(ends, at, end);
    if (!signals_read(at, length, &number))
        return false;
    ends->signals |= UINT64_C(1) << (number - 1);
    return true;
}

int ends_read(struct ends *ends, const char *text, size_t length, berth_error_t *err)
{
    const char *at = text, *stop = text + length;
    *ends = (struct ends){.timeout = false};
    for (;;) {
        const char *comma = at < stop ? memchr(at, ',', (size_t)(stop - at)) : NULL;
        const char *end = comma ? comma : stop;
        if (!read_end(ends, at, end)) {
            *ends = (struct ends){.timeout = false};
            return errtext_expected(err, text, length, (size_t)(at - text), expected);
        }
        if (!comma)
            return 0;
        at = comma + 1;
    }
}

void ends_failures(struct ends *ends)
{
    memset(ends->statuses, 0xff, sizeof(ends->statuses));
    ends->statuses[0] &= ~UINT64_C(1);
    ends->signals = UINT64_MAX;
    ends->timeout = false;
}

bool ends_has(const struct ends *ends, int status, int signal)
{
    if (signal > 0)
        return signal <= SIGNALS_MAX && ends->signals >> (signal - 1) & 1;
    return status > 0 && status <= STATUS_MAX && ends->statuses[status / 64] >> status % 64 & 1;
}
