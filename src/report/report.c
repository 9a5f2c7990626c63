/* What the views of a report share. */
#include "report/report.h"

#include <string.h>

double report_jobs_per_s(const struct schedule *schedule)
{
    return schedule->seconds > 0 ? (double)schedule->n / schedule->seconds : 0;
}

/* Bytes of the well-formed, printable UTF-8 character at s; 0 if there is none. */
static size_t character(const unsigned char *s)
{
    if (s[0] >= 0x20 && s[0] < 0x7f)
        return 1;
    size_t more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i <= more; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, beyond U+10FFFF, the C1 controls, and U+FFFE and U+FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f) ||
        (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe))
        return 0;
    return more + 1;
}

char *report_clean_text(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return NULL;
    for (unsigned char *s = (unsigned char *)copy; *s;) {
        size_t n = character(s);
        if (n == 0)
            *s = '?';
        s += n ? n : 1;
    }
    return copy;
}
