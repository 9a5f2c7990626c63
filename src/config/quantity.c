#include "config/quantity.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/number.h"
#include "config/seconds.h"

#define SECOND SECONDS_TICKS

static int invalid(void)
{
    errno = EINVAL;
    return -1;
}

/* Read digits with up to six decimals, in millionths, and move *text behind them. */
static bool take_millionths(const char **text, int64_t *millionths)
{
    const char *at = *text;
    int64_t whole = 0, part = 0, scale = 100000;

    if (!is_digit(*at))
        return false;
    for (; is_digit(*at); at++) {
        if (whole > INT64_MAX / SECOND / 10 - 1)
            return false;
        whole = whole * 10 + (*at - '0');
    }
    if (*at == '.') {
        at++;
        if (!is_digit(*at))
            return false;
        for (; is_digit(*at); at++, scale /= 10) {
            if (scale == 0)
                return false;
            part += (*at - '0') * scale;
        }
    }
    *text = at;
    *millionths = whole * SECOND + part;
    return true;
}

static int64_t seconds_of(char unit)
{
    switch (unit) {
    case 's':
        return 1;
    case 'm':
        return 60;
    case 'h':
        return 3600;
    case 'd':
        return 86400;
    case 'w':
        return 7 * 86400;
    default:
        return 0;
    }
}

/* "1h30m": units from large to small. */
static int with_units(const char *text, int64_t *us)
{
    int64_t sum = 0, last = INT64_MAX, value;

    while (*text) {
        if (!take_millionths(&text, &value))
            return invalid();
        int64_t unit = *text ? seconds_of(*text) : last == INT64_MAX ? 1 : 0;
        if (unit == 0 || unit >= last || value > SECONDS_MAX * SECOND / unit)
            return invalid();
        text += *text != '\0';
        last = unit;
        sum += value * unit;
        if (sum > SECONDS_MAX * SECOND)
            return invalid();
    }
    if (last == INT64_MAX)
        return invalid();
    *us = sum;
    return 0;
}

/* "D-HH:MM:SS", read by its colons. */
static int with_colons(const char *text, int64_t *us)
{
    int64_t part[3] = {0}, days = 0;
    int n = 0;
    const char *dash = strchr(text, '-');

    if (dash && (!take_millionths(&text, &days) || text != dash || days % SECOND != 0 ||
                 days > SECONDS_MAX * SECOND / 86400))
        return invalid();
    text += dash != NULL;
    for (;; text++) {
        if (n == 3 || !take_millionths(&text, &part[n++]))
            return invalid();
        if (*text != ':')
            break;
    }
    if (*text || n < 2 || (dash && n != 3))
        return invalid();
    int64_t sum = days * 86400;
    int64_t unit = 1;
    for (int i = n - 1; i >= 0; i--, unit *= 60) {
        /* Only the first number may exceed its unit, and only the last may have decimals. */
        if ((i > 0 || dash) && part[i] >= (unit == 3600 ? 24 : 60) * SECOND)
            return invalid();
        if ((i < n - 1 && part[i] % SECOND != 0) || part[i] > SECONDS_MAX * SECOND / unit)
            return invalid();
        sum += part[i] * unit;
        if (sum > SECONDS_MAX * SECOND)
            return invalid();
    }
    *us = sum;
    return 0;
}

int quantity_duration(const char *text, int64_t *us)
{
    return strchr(text, ':') ? with_colons(text, us) : with_units(text, us);
}

int quantity_size(const char *text, int64_t *bytes)
{
    static const char steps[] = "KMGTP";
    int64_t value;
    int shift = 0;

    if (!take_millionths(&text, &value))
        return invalid();
    if (*text && strchr(steps, *text & ~0x20)) {
        shift = 10 * (int)(strchr(steps, *text & ~0x20) - steps + 1);
        text++;
        if (*text == 'i')
            text++;
        if (text[-1] == 'i' && *text != 'B')
            return invalid();
    }
    if (*text == 'B')
        text++;
    int64_t whole = value / SECOND, part = value % SECOND;
    if (*text || whole > (INT64_MAX >> shift))
        return invalid();
    /* At most 2^50 for each step: the decimals are taken in two halves. */
    int64_t rest = shift > 40 ? ((part << 40) / SECOND) << (shift - 40) : (part << shift) / SECOND;
    if (whole << shift > INT64_MAX - rest)
        return invalid();
    *bytes = (whole << shift) + rest;
    return 0;
}

bool duration_read(const json_t *value, int64_t max, int64_t *us)
{
    const char *text = json_string_value(value);
    int64_t ticks;
    if (text ? quantity_duration(text, &ticks) < 0 : !seconds_read(value, &ticks))
        return false;
    if (ticks <= 0 || ticks > max)
        return false;
    *us = ticks;
    return true;
}

bool memory_read(const json_t *value, int64_t *bytes)
{
    const char *text = json_string_value(value);
    int64_t size = json_integer_value(value);
    if (text ? quantity_size(text, &size) < 0 : !json_is_integer(value))
        return false;
    if (size <= 0 || size > INT64_C(1) << 60)
        return false;
    *bytes = size;
    return true;
}
