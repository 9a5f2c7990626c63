#include "cli/client/one.h"

#include <stdio.h>

#include "cli/client/words.h"
#include "cli/verb.h"
#include "config/ids.h"

int one_job(const char *verb, const char *help, int argc, char **argv, one_tell_f *tell)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    struct talk talk;
    berth_error_t err;
    int64_t id, member;
    bool json = false;
    int c, status = CLI_OK;

    while ((c = words_option(verb, argc, argv, ":h", options)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        if (c == 'h')
            return fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
        json = true;
    }
    if (argc - optind != 1)
        return cli_usage(verb, argc == optind ? "no job given" : "expected one job");
    if (ids_read_one(argv[optind], &id, &member, &err) < 0)
        return cli_usage(verb, "%s", err.text);
    if (talk_open(&talk, verb, &err) < 0 || tell(&talk, id, member, json, &err) < 0)
        status = talk_failed(&talk, &err);
    talk_close(&talk);
    return status;
}
