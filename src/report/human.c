/* Numbers as people read them. */
#include "report/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MINUTE 60
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define YEAR   (365 * DAY)

char *human_count(int64_t value, char buf[HUMAN_SIZE])
{
    char digits[HUMAN_SIZE];
    snprintf(digits, sizeof(digits), "%" PRIu64, value < 0 ? -(uint64_t)value : (uint64_t)value);
    size_t n = strlen(digits), used = 0;
    if (value < 0)
        buf[used++] = '-';
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            buf[used++] = ',';
        buf[used++] = digits[i];
    }
    buf[used] = '\0';
    return buf;
}

char *human_real(double value, int decimals, char buf[HUMAN_SIZE])
{
    int64_t scale = 1;
    decimals = decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    /* Beyond 2^53 a double has no decimals to show, and the scaled value could leave int64. */
    if (!(fabs(value) * (double)scale < 9e15)) {
        snprintf(buf, HUMAN_SIZE, "%.6g", value);
        return buf;
    }
    int64_t scaled = llround(value * (double)scale);
    uint64_t size = scaled < 0 ? -(uint64_t)scaled : (uint64_t)scaled;
    uint64_t rest = size % (uint64_t)scale;
    char whole[HUMAN_SIZE], fraction[8] = "";
    for (int i = decimals; i > 0; i--) {
        fraction[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    if (decimals > 0)
        fraction[0] = '.';
    human_count((int64_t)(size / (uint64_t)scale), whole);
    snprintf(buf, HUMAN_SIZE, "%s%.26s%s", scaled < 0 ? "-" : "", whole, fraction);
    return buf;
}

char *human_duration(int64_t seconds, char buf[HUMAN_SIZE])
{
    static const struct {
        int64_t big, small;
        const char *big_name, *small_name;
    } units[] = {{YEAR, DAY, "y", "d"},
                 {DAY, HOUR, "d", "h"},
                 {HOUR, MINUTE, "h", "m"},
                 {MINUTE, 1, "m", "s"}};
    const size_t n = sizeof(units) / sizeof(units[0]);
    size_t i = 0;
    while (i < n && seconds < units[i].big)
        i++;
    if (i == n) {
        snprintf(buf, HUMAN_SIZE, "%" PRId64 "s", seconds);
        return buf;
    }
    int64_t small = units[i].small;
    int64_t rounded = (seconds / small + (seconds % small * 2 >= small)) * small;
    if (i > 0 && rounded >= units[i - 1].big)
        i--; /* 23h 59m 59s is a day */
    int64_t rest = rounded % units[i].big / units[i].small;
    int used =
        snprintf(buf, HUMAN_SIZE, "%" PRId64 "%s", rounded / units[i].big, units[i].big_name);
    if (rest > 0)
        snprintf(buf + used, (size_t)(HUMAN_SIZE - used), " %" PRId64 "%s", rest,
                 units[i].small_name);
    return buf;
}
