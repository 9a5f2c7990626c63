/* What a wrong command line is answered with. */
#include <stdarg.h>
#include <stdio.h>

#include "base/errtext.h"
#include "cli/verb.h"

int cli_usage(const char *verb, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    /* The text quotes an argument, which may hold anything; an error text is one clean line. */
    berth_error_t err;
    errtext_set(&err, 0, "%s", text);
    const char *gap = verb ? " " : "";
    verb = verb ? verb : "";
    fprintf(stderr, "berth%s%s: %s; see 'berth%s%s --help'\n", gap, verb, err.text, gap, verb);
    return CLI_USAGE;
}
