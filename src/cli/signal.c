/* berth signal: send running jobs a signal. */
#include <stdio.h>

#include "cli/client/each.h"
#include "cli/client/words.h"
#include "cli/verb.h"

static const char help[] =
    "usage: berth signal [-s SIGNAL] JOB...\n"
    "Send a signal to the processes of running jobs. A JOB is an id, a member of an array or\n"
    "a range of ids.\n"
    "  -s, --signal SIGNAL  its name or number (TERM)\n"
    "  -h, --help           print this\n"
    "Exit status: 0 sent, 1 some could not be sent, 2 wrong command line.\n"
    "Example: berth signal -s USR1 17\n"
    "Manual: man berth-signal\n";

int cli_signal(int argc, char **argv)
{
    static const struct option options[] = {{"signal", required_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *signal = "TERM";
    int c;

    while ((c = words_option("signal", argc, argv, ":s:h", options)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        if (c == 'h')
            return fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
        signal = optarg;
    }
    json_t *body = json_pack("{s:s}", "signal", signal);
    if (!body)
        return cli_usage("signal", "'%s' is no signal", signal);
    const struct each_request request = {"POST", "/signal", body};
    int status = each_word("signal", argv + optind, argc - optind, false, &request);
    json_decref(body);
    return status;
}
