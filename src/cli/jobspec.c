/* berth jobspec check: check jobspecs. */
#include "berth/jobspec.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "cli/option_table.h"
#include "cli/verb.h"
#include "config/file_text.h"

const struct option_table jobspec_options = {
    .verb = "jobspec",
    .usage = "usage: berth jobspec check FILE...\n"
             "Check that each FILE, or standard input for -, is one jobspec in YAML or JSON,\n"
             "in the canonical form of Flux RFC 14 or version 1 of RFC 25. An error is one\n"
             "line: FILE:LINE:COLUMN: the key, and what was expected. No machine is looked at.\n",
    .notes = "Exit status: 0 all are jobspecs, 1 some are not or can't be read.\n"
             "Example: berth jobspec check job.yaml\n"
             "         berth jobspec check - <job.json\n"
             "Manual: man berth-jobspec\n",
    .complete = "check @file"};

/* Of a text that is too long there is as much as shows that. */
static int read_file(const char *path, struct text *text)
{
    int rc = strcmp(path, "-") == 0 ? text_read_rest(text, STDIN_FILENO, JOBSPEC_TEXT_MAX)
                                    : text_read(text, path, JOBSPEC_TEXT_MAX);
    return rc < 0 && errno == EFBIG && text->length > JOBSPEC_TEXT_MAX ? 0 : rc;
}

static int refuse_jobspec(const char *path, const char *why)
{
    return cli_refuse(strcmp(path, "-") == 0 ? "standard input" : path, why);
}

static int check_file(const char *path)
{
    /* The name goes before the text here, since the line has room for both. */
    static const struct jobspec_options options = {.name = ""};
    struct text text = {0};
    berth_error_t err = {""};
    if (read_file(path, &text) < 0) {
        int errnum = errno;
        text_clear(&text);
        return refuse_jobspec(path, strerror(errnum));
    }
    jobspec_t *spec = jobspec_parse(text.bytes, text.length, &options, &err);
    text_clear(&text);
    if (!spec)
        return refuse_jobspec(path, err.text);
    jobspec_destroy(spec);
    return CLI_OK;
}

int cli_jobspec(int argc, char **argv)
{
    int status = CLI_OK;
    if (option_none(&jobspec_options, argc, argv, &status))
        return status;
    if (optind == argc)
        return cli_usage("jobspec", "no action given, expected check");
    if (strcmp(argv[optind], "check") != 0)
        return cli_usage("jobspec", "unknown action '%.60s', expected check", argv[optind]);
    if (optind + 1 == argc)
        return cli_usage("jobspec", "no jobspec given: name files, or - for standard input");
    for (int i = optind + 1; i < argc; i++) {
        if (!*argv[i])
            return cli_usage("jobspec", "a file's name is empty");
    }
    for (int i = optind + 1; i < argc; i++) {
        if (check_file(argv[i]) != CLI_OK)
            status = CLI_FAILED;
    }
    return status;
}
