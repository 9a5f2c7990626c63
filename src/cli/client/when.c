#include "cli/client/when.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/date.h"
#include "config/quantity.h"
#include "jobspec/number.h"

#define FAR (3650 * 86400.0) /* s */

bool when_is_far(double seconds)
{
    return seconds - (double)time(NULL) > FAR;
}

/* The next "08:30". */
static int hour_read(const char *text, time_t now, int64_t *seconds)
{
    static const char *const hours[] = {"%H:%M:%S", "%H:%M"};
    for (size_t i = 0; i < sizeof(hours) / sizeof(hours[0]); i++) {
        struct tm day;
        localtime_r(&now, &day);
        day.tm_sec = 0;
        const char *end = strptime(text, hours[i], &day);
        if (!end || *end)
            continue;
        if (date_local(&day, seconds) < 0)
            return -1;
        if (*seconds > now)
            return 0;
        day.tm_mday++;
        return date_local(&day, seconds);
    }
    errno = EINVAL;
    return -1;
}

int when_read(const char *text, time_t now, double *seconds)
{
    int64_t us, whole;

    if (strncmp(text, "now", 3) == 0 && (!text[3] || text[3] == '+'))
        text += 3;
    if (!*text || *text == '+') {
        if (*text && quantity_duration(text + 1, &us) < 0)
            return -1;
        *seconds = (double)now + (*text ? (double)us / 1e6 : 0);
        return 0;
    }
    if (*text == '@') {
        if (number_double(text + 1, seconds) && *seconds >= 0 && *seconds < 4e9)
            return 0;
        errno = EINVAL;
        return -1;
    }
    if (date_read(text, &whole) < 0 && hour_read(text, now, &whole) < 0)
        return -1;
    *seconds = (double)whole;
    return 0;
}

int when_read_past(const char *text, time_t now, double *seconds)
{
    int64_t us;

    if (quantity_duration(text, &us) == 0 && !strchr(text, ':')) {
        *seconds = (double)now - (double)us / 1e6;
        return 0;
    }
    if (when_read(text, now, seconds) < 0)
        return -1;
    if (*seconds > (double)now)
        *seconds -= 86400;
    return 0;
}

char *when_put(double seconds, char out[WHEN_SIZE])
{
    time_t at = (time_t)seconds;
    struct tm day;

    if (seconds < 0 || !localtime_r(&at, &day) ||
        strftime(out, WHEN_SIZE, "%Y-%m-%d %H:%M:%S", &day) == 0)
        snprintf(out, WHEN_SIZE, "-");
    return out;
}

char *when_span(double seconds, char out[WHEN_SIZE])
{
    long long s = seconds > 0 && seconds < 1e12 ? (long long)seconds : 0;
    long long days = s / 86400, hours = s / 3600 % 24, minutes = s / 60 % 60;

    s %= 60;
    if (days)
        snprintf(out, WHEN_SIZE, "%lld-%02lld:%02lld:%02lld", days, hours, minutes, s);
    else if (hours)
        snprintf(out, WHEN_SIZE, "%lld:%02lld:%02lld", hours, minutes, s);
    else
        snprintf(out, WHEN_SIZE, "%lld:%02lld", minutes, s);
    return out;
}
