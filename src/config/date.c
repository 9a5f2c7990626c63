#include "config/date.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

int date_local(struct tm *day, int64_t *seconds)
{
    day->tm_isdst = -1;
    time_t at = mktime(day);
    if (at == (time_t)-1) {
        errno = EINVAL;
        return -1;
    }
    *seconds = at;
    return 0;
}

/* 0, or -1 with EINVAL: what is read is no such day. */
static int seconds_of_day(const struct tm *read, bool has_zone, int64_t *seconds)
{
    struct tm day = *read;
    long east = day.tm_gmtoff; /* which timegm clears */
    int64_t at;
    if (has_zone)
        at = timegm(&day) - east;
    else if (date_local(&day, &at) < 0)
        return -1;
    if (at < 0 || day.tm_mday != read->tm_mday || day.tm_mon != read->tm_mon) {
        errno = EINVAL;
        return -1;
    }
    *seconds = at;
    return 0;
}

int date_read(const char *text, int64_t *seconds)
{
    static const struct {
        const char *form;
        bool has_zone;
    } forms[] = {
        {"%Y-%m-%dT%H:%M:%S", false},  {"%Y-%m-%d %H:%M:%S", false}, {"%Y-%m-%dT%H:%M", false},
        {"%Y-%m-%d %H:%M", false},     {"%Y-%m-%d", false},          {"%Y-%m-%dT%H:%M:%S%z", true},
        {"%Y-%m-%d %H:%M:%S%z", true}, {"%Y-%m-%dT%H:%M%z", true},   {"%Y-%m-%d %H:%M%z", true}};
    for (size_t i = 0; *text >= '0' && *text <= '9' && i < sizeof(forms) / sizeof(*forms); i++) {
        struct tm day = {0};
        const char *end = strptime(text, forms[i].form, &day);
        if (end && !*end)
            return seconds_of_day(&day, forms[i].has_zone, seconds);
    }
    errno = EINVAL;
    return -1;
}
