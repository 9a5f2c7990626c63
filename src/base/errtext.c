/* Error texts: one line, cut where it would not fit. */
#include "base/errtext.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* Texts quote what a reader found, and that may be anything: keep it one line, and off the terminal's
 * control sequences. Bytes of UTF-8 stay as they are.
 */
static void defuse(char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c == 0x7f)
            *text = '?';
    }
}

int errtext_set(berth_error_t *err, int errnum, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof(err->text), format, args);
        va_end(args);
        defuse(err->text);
    }
    errno = errnum;
    return -1;
}

int errtext_expected(berth_error_t *err, const char *text, size_t length, size_t offset,
                     const char *expected)
{
    if (offset >= length)
        return errtext_set(err, EINVAL, "offset %zu: expected %s, found the end", offset, expected);
    unsigned char c = (unsigned char)text[offset];
    if (c < ' ' || c > '~')
        return errtext_set(err, EINVAL, "offset %zu: expected %s, found byte 0x%02x", offset,
                           expected, c);
    return errtext_set(err, EINVAL, "offset %zu: expected %s, found '%c'", offset, expected, c);
}
