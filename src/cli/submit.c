/* berth submit: submit a job. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "cli/client/bulk.h"
#include "cli/client/request.h"
#include "cli/client/talk.h"
#include "cli/verb.h"

static const char help[] =
    "usage: berth submit [OPTION]... COMMAND [ARG]...  or SCRIPT [ARG]..., - from input\n"
    "Hand in a job and print its id. Lines '#BERTH OPTION...' of a script count too.\n"
    "  -n, --ntasks N          tasks, each of which runs the command (1)\n"
    "  -c, --cores-per-task N  cores of a task (1)    -g, --gpus-per-task N  gpus (0)\n"
    "  -N, --nodes N           spread over N nodes    -x, --exclusive  whole nodes\n"
    "      --mem SIZE          memory, 512M or 4G     --requires A,B   properties of nodes\n"
    "  -t, --time-limit TIME   90, 30m, 1h30m         -q, --queue NAME\n"
    "      --array N           N members              --dependency afterok:17[,...]\n"
    "      --begin TIME        not before +1h, 08:30  --hold           until released\n"
    "      --priority N        higher goes first      --name NAME\n"
    "  -o, --output FILE  -e, --error FILE            %j id, %a member, %n name, %u user\n"
    "  -i, --input FILE        instead of /dev/null   --append         to these files\n"
    "      --env RULE          NAME=VALUE, NAME, or -PATTERN to leave out\n"
    "      --chdir DIR         run there              --requeue        again if it is lost\n"
    "      --signal SIG@TIME   so long before its limit\n"
    "      --preemptible-after TIME                   may be stopped for others then\n"
    "      --jobspec FILE      what it needs, as a jobspec (berth-jobspec(1))\n"
    "      --overcommit        of which it may run more tasks than cores\n"
    "      --bulk FILE         an array of jobs in JSON, all or none (berth-api(7))\n"
    "  -h, --help              print this\n"
    "Exit status: 0 submitted, 1 refused, 2 wrong command line. Manual: man berth-submit\n"
    "Example: berth submit -c 4 --mem 2G -t 1h --name fit ./fit.sh data.csv\n";

int cli_submit(int argc, char **argv)
{
    struct talk s;
    struct request r;
    berth_error_t err;
    json_t *answer = NULL;
    int status = CLI_OK;

    if (request_read(&r, argc, argv, &err) < 0) {
        if (errno == EINVAL)
            return cli_usage("submit", "%s", err.text);
        fprintf(stderr, "berth submit: %s\n", err.text);
        return CLI_FAILED;
    }
    if (r.wants_help) {
        fputs(help, stdout);
        request_clear(&r);
        return CLI_OK;
    }
    if (talk_open(&s, "submit", &err) < 0 || talk_start(&s, &err) < 0)
        status = talk_failed(&s, &err);
    else if (r.bulk)
        status = bulk_submit(&s, r.bulk, &err) < 0 ? talk_failed(&s, &err) : CLI_OK;
    else if (talk_ask(&s, "POST", "/v1/jobs", r.job, &answer, &err) < 0)
        status = talk_failed(&s, &err);
    else
        printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(json_object_get(answer, "id")));
    json_decref(answer);
    talk_close(&s);
    request_clear(&r);
    return status;
}
