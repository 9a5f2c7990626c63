/* Errors about the command line, and about files. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "cli/verb.h"
#include "report/report.h"

int cli_usage(const char *verb, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    /* The text quotes an argument, which may contain anything; an error text is one clean line. */
    berth_error_t err;
    errtext_set(&err, 0, "%s", text);
    const char *gap = verb ? " " : "";
    verb = verb ? verb : "";
    fprintf(stderr, "berth%s%s: %s; see 'berth%s%s --help'\n", gap, verb, err.text, gap, verb);
    return CLI_USAGE;
}

int cli_refuse(const char *name, const char *why)
{
    char *clean = report_clean_text(name);
    fprintf(stderr, "%s%s%s\n", clean ? clean : "?", *why == ':' ? "" : ": ", why);
    free(clean);
    return CLI_FAILED;
}

static bool is_whole_option(const char *word, const struct option *options)
{
    size_t length = strcspn(word + 2, "=");
    for (; options->name; options++)
        if (strlen(options->name) == length && memcmp(options->name, word + 2, length) == 0)
            return true;
    return false;
}

int cli_getopt(int argc, char **argv, const char *letters, const struct option *options)
{
    int index = -1;
    int c = getopt_long(argc, argv, letters, options, &index);
    if (c == '?' || (index < 0 && c != ':'))
        return c;
    /* A value may be a word of its own behind the option's. */
    bool apart =
        index >= 0 && options[index].has_arg == required_argument && optarg == argv[optind - 1];
    const char *word = argv[optind - (apart ? 2 : 1)];
    if (strncmp(word, "--", 2) != 0 || is_whole_option(word, options))
        return c;
    optind -= apart;
    optopt = 0;
    return '?';
}
