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
