/* Error texts: one line, cut where it would not fit. */
#include "base/errtext.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* Texts quote what a reader found, and that may be anything: keep it one line, and off the terminal's
 * control sequences. Other UTF-8 stays as it is.
 */
static void defuse(char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];
        if (c == 0xc2 && next >= 0x80 && next < 0xa0) /* U+0080 to U+009F */
            text[1] = '?';
        else if (c >= ' ' && c != 0x7f)
            continue;
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

int errtext_no_memory(berth_error_t *err)
{
    return errtext_set(err, ENOMEM, "out of memory");
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

const char *errtext_list(char *text, size_t size, const char *const *words, const char *last)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; words[i] && used < size; i++) {
        const char *gap = i == 0 ? "" : words[i + 1] ? ", " : last;
        used += (size_t)snprintf(text + used, size - used, "%s%s", gap, words[i]);
    }
    return text;
}
