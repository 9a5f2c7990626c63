/* Error texts: one line, cut where it would not fit. */
#include "base/errtext.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int errtext_set(berth_error_t *err, int errnum, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof(err->text), format, args);
        va_end(args);
    }
    errno = errnum;
    return -1;
}
