/* berth jobspec check: check jobspecs. */
#include "berth/jobspec.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"
#include "report/report.h"

#define FIRST_READ ((size_t)1 << 16)

static const char help[] =
    "usage: berth jobspec check FILE...\n"
    "Check that each FILE, or standard input for -, is one jobspec in YAML or JSON, in\n"
    "the canonical form of Flux RFC 14 or version 1 of RFC 25. An error is one line:\n"
    "FILE:LINE:COLUMN: the key, and what was expected. No machine is looked at.\n"
    "  -h, --help  print this\n"
    "Exit status: 0 all are jobspecs, 1 some are not or can't be read.\n"
    "Example: berth jobspec check job.yaml\n"
    "         flux run --dry-run -n4 hostname | berth jobspec check -\n"
    "Manual: man berth-jobspec\n";

struct text {
    char *bytes;
    size_t length;
};

/* One byte more than a jobspec may have shows that it is too long. */
static int read_all(int fd, struct text *text)
{
    size_t size = 0;
    ssize_t got = 1;
    *text = (struct text){0};
    while (got > 0 && text->length <= JOBSPEC_TEXT_MAX) {
        if (text->length == size) {
            size = size ? 2 * size : FIRST_READ;
            char *grown = realloc(text->bytes, size);
            if (!grown)
                break;
            text->bytes = grown;
        }
        got = read(fd, text->bytes + text->length, size - text->length);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            text->length += (size_t)got;
    }
    if (got == 0 || text->length > JOBSPEC_TEXT_MAX)
        return 0;
    int saved = errno;
    free(text->bytes);
    text->bytes = NULL;
    errno = saved;
    return -1;
}

static int read_file(const char *path, struct text *text)
{
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, text);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int rc = read_all(fd, text);
    int saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

static int refuse(const char *path, const char *why)
{
    char *name = report_clean_text(strcmp(path, "-") == 0 ? "standard input" : path);
    fprintf(stderr, "%s%s\n", name ? name : "?", why);
    free(name);
    return CLI_FAILED;
}

static int check_file(const char *path)
{
    /* The name goes before the text here, since the line has room for both. */
    static const struct jobspec_options options = {.name = ""};
    struct text text;
    berth_error_t err = {""};
    if (read_file(path, &text) < 0) {
        snprintf(err.text, sizeof(err.text), ": %s", strerror(errno));
        return refuse(path, err.text);
    }
    jobspec_t *spec = jobspec_parse(text.bytes, text.length, &options, &err);
    free(text.bytes);
    if (!spec)
        return refuse(path, err.text);
    jobspec_destroy(spec);
    return CLI_OK;
}

int cli_jobspec(int argc, char **argv)
{
    int status = CLI_OK;
    if (cli_help_only("jobspec", argc, argv, help, &status))
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
