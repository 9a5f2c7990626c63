/* Numbers as jobspecs write them (number.h).
 *
 * strtod takes the decimal point of the locale, so it is only given numbers without one: 3.25 as
 * 325e-2.
 */
#include "jobspec/number.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum {
    DIGITS_MAX = 800,       /* no double needs more to be rounded to the nearest */
    EXPONENT_MAX = 1000000, /* far beyond where every number is 0 or infinite */
    EXACT_POWER = 22        /* 10^22 is the largest power of ten that is a double */
};

const char *number_scan(const char *text, uint32_t *ret_value)
{
    uint64_t value = 0;
    const char *p = text;
    for (; is_digit(*p); p++) {
        value = value * 10 + (uint64_t)(*p - '0');
        if (value > UINT32_MAX)
            return NULL;
    }
    if (p == text || (*text == '0' && p > text + 1))
        return NULL;
    *ret_value = (uint32_t)value;
    return p;
}

bool number_u32(const char *text, uint32_t *ret_value)
{
    uint32_t value;
    const char *end = number_scan(text, &value);
    if (!end || *end)
        return false;
    *ret_value = value;
    return true;
}

/* Digits without leading zeros, and how many powers of ten they are to be moved. */
struct decimal {
    char digit[DIGITS_MAX];
    size_t n;
    int64_t exponent;
    bool any; /* a digit was seen */
};

/* Scan digits; those after a point lower the exponent. Of digits that don't fit the buffer it only
 * matters whether one is not 0; then the last digit in the buffer, which is far beyond what rounding
 * looks at, is made to show that.
 */
static const char *scan_digits(const char *p, struct decimal *d, bool behind_point)
{
    for (; is_digit(*p); p++) {
        d->any = true;
        if (d->n == 0 && *p == '0') {
            d->exponent -= behind_point;
        } else if (d->n < DIGITS_MAX) {
            d->digit[d->n++] = *p;
            d->exponent -= behind_point;
        } else {
            if (*p != '0')
                d->digit[DIGITS_MAX - 1] = '1';
            d->exponent += !behind_point;
        }
    }
    return p;
}

static const char *scan_exponent(const char *p, struct decimal *d)
{
    if (*p != 'e' && *p != 'E')
        return p;
    p++;
    bool minus = *p == '-';
    p += minus || *p == '+';
    if (!is_digit(*p))
        return NULL;
    int64_t value = 0;
    for (; is_digit(*p); p++)
        value = value < EXPONENT_MAX ? value * 10 + (*p - '0') : value;
    d->exponent += minus ? -value : value;
    return p;
}

static double to_double(const struct decimal *d)
{
    /* Up to 15 digits and a small power are exact, and so one operation rounds to the nearest. */
    if (d->n <= 15 && d->exponent >= -EXACT_POWER && d->exponent <= EXACT_POWER) {
        double value = 0;
        double power = 1;
        for (size_t i = 0; i < d->n; i++)
            value = value * 10 + (d->digit[i] - '0');
        for (int64_t i = d->exponent < 0 ? -d->exponent : d->exponent; i > 0; i--)
            power *= 10;
        return d->exponent < 0 ? value / power : value * power;
    }
    if (d->n == 0)
        return 0;
    char text[DIGITS_MAX + 32];
    snprintf(text, sizeof(text), "%.*se%lld", (int)d->n, d->digit, (long long)d->exponent);
    return strtod(text, NULL);
}

static bool is_any_of(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

bool number_double(const char *text, double *ret_value)
{
    if (is_any_of(text, ".nan", ".NaN", ".NAN")) {
        *ret_value = (double)NAN;
        return true;
    }
    bool minus = *text == '-';
    const char *p = text + (minus || *text == '+');
    double value = (double)INFINITY;
    if (!is_any_of(p, ".inf", ".Inf", ".INF")) {
        struct decimal d;
        d.n = 0;
        d.exponent = 0;
        d.any = false;
        p = scan_digits(p, &d, false);
        if (*p == '.')
            p = scan_digits(p + 1, &d, true);
        if (!d.any || !(p = scan_exponent(p, &d)) || *p)
            return false;
        value = to_double(&d);
    }
    *ret_value = minus ? -value : value;
    return true;
}
