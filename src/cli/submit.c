/* berth submit: submit a job. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "cli/client/connection.h"
#include "cli/client/request.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/verb.h"

static const char help[] =
    "usage: berth submit [OPTION]... COMMAND [ARG]...  or SCRIPT [ARG]..., - from input\n"
    "Print the job's id. Lines of a script with #BERTH, #SBATCH or #flux: are options too.\n"
    "  -n, --ntasks N          tasks, each of which runs the command (1); a script runs once\n"
    "  -c, --cores-per-task N  cores per task (1)     -g, --gpus-per-task N  or a100:2 (0)\n"
    "  -N, --nodes N           spread over N nodes    -x, --exclusive  whole nodes\n"
    "      --mem SIZE          memory, 512M or 4G     --requires A,B   properties of nodes\n"
    "  -t, --time-limit TIME   stop it after 90, 30m, 1h30m; default: the queue's limit, or none\n"
    "      --estimate TIME     for planning           -q, --queue NAME\n"
    "  -A, --account NAME      what it is charged to, instead of your default account\n"
    "      --array N|1-99:2%5  members, 5 at once     --dependency afterok:17[,...]\n"
    "      --begin TIME        not before +1h, 08:30  --hold           until released\n"
    "      --priority N        higher goes first      --name NAME\n"
    "  -o, --output FILE  -e, --error FILE            %j id, %a member, %n name, %u user\n"
    "  -i, --input FILE        instead of /dev/null   --append         to the files\n"
    "      --env RULE          NAME=VALUE, NAME, or -PATTERN to leave out\n"
    "      --chdir DIR         the job's directory    --requeue        again if it is lost\n"
    "      --signal SIG[@TIME] send SIG that long before the limit\n"
    "      --preemptible-after TIME                   other jobs may then stop it\n"
    "      --jobspec FILE      what the job needs, see berth-jobspec(1)\n"
    "      --overcommit        more tasks than cores  --wrap COMMAND   a line for the shell\n"
    "      --bulk FILE         jobs in JSON, all or none --slurm        with SLURM_* variables\n"
    "  -h, --help              print this\n"
    "Exit status: 0 submitted, 1 refused, 2 wrong command line. Manual: man berth-submit\n"
    "Example: berth submit -c 4 --mem 2G -t 1h --name fit ./fit.sh data.csv\n";

#define BULK_MAX ((size_t)64 << 20) /* the most that a server accepts */
#define BLOCK    ((size_t)1 << 20)

static int read_bulk_file(const char *path, struct strbuf *text, berth_error_t *err)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 1;

    if (fd < 0)
        return errtext_set(err, errno, "%s: %s", path, strerror(errno));
    while (n > 0 && text->len <= BULK_MAX && strbuf_room(text, BLOCK)) {
        n = read(fd, text->data + text->len, BLOCK);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            text->len += (size_t)n;
    }
    int saved = errno;
    if (!standard)
        close(fd);
    if (text->failed)
        return errtext_set(err, ENOMEM, "out of memory");
    if (n < 0)
        return errtext_set(err, saved, "%s: %s", path, strerror(saved));
    if (text->len > BULK_MAX)
        return errtext_set(err, EFBIG, "%s is too large, expected at most %zu bytes", path,
                           BULK_MAX);
    return 0;
}

/* Submit the jobs of a file ("-": standard input), an array in JSON, and print their ids. Returns 0, or -1
 * with errno.
 */
static int submit_bulk(struct connection *s, const char *path, berth_error_t *err)
{
    struct strbuf text = {0};
    json_t *answer = NULL;
    const json_t *ids, *id;
    size_t i;
    int rc = read_bulk_file(path, &text, err);

    if (rc == 0)
        rc = connection_ask_text(s, "POST", "/v1/jobs", text.data ? text.data : "", text.len,
                                 &answer, err);
    if (rc == 0) {
        ids = json_object_get(answer, "ids");
        json_array_foreach(ids, i, id) printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(id));
        if (!ids)
            printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(json_object_get(answer, "id")));
    }
    int saved = errno;
    json_decref(answer);
    strbuf_clear(&text);
    errno = saved;
    return rc;
}

/* A script runs once, on what its tasks have together. */
static int run_once(json_t *job, berth_error_t *err)
{
    const json_t *tasks = json_object_get(job, "tasks");
    if (!json_object_get(job, "script") || json_object_get(job, "batch") ||
        json_object_get(job, "jobspec"))
        return 0;
    return json_object_set_new(job, "batch", json_integer(tasks ? json_integer_value(tasks) : 1)) ==
                   0
               ? 0
               : errtext_set(err, ENOMEM, "out of memory");
}

/* A job without a limit is stopped when a block begins. */
static void tell_block(const json_t *answer)
{
    const json_t *stopped = json_object_get(answer, "stopped");
    char when[WHEN_SIZE];
    if (!stopped)
        return;
    fputs("berth submit: it has no time limit: it is stopped when block ", stderr);
    terminal_print(stderr, json_string_value(json_object_get(stopped, "block")));
    fprintf(stderr, " begins, at %s\n",
            when_put(json_number_value(json_object_get(stopped, "at")), when));
}

static void put_answer(const json_t *answer)
{
    printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(json_object_get(answer, "id")));
    tell_block(answer);
}

int cli_submit(int argc, char **argv)
{
    struct connection s;
    struct request r = {.otherwise = NULL};
    berth_error_t err;
    json_t *answer = NULL;
    int status = CLI_OK;

    if (request_read(&r, argc, argv, &err) < 0 || (r.job && run_once(r.job, &err) < 0)) {
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
    if (r.pty) {
        request_clear(&r);
        return cli_usage("submit", "--pty is for run and alloc");
    }
    if (connection_open(&s, "submit", &err) < 0 || connection_start(&s, &err) < 0)
        status = connection_failed(&s, &err);
    else if (r.bulk)
        status = submit_bulk(&s, r.bulk, &err) < 0 ? connection_failed(&s, &err) : CLI_OK;
    else if (connection_ask(&s, "POST", "/v1/jobs", r.job, &answer, &err) < 0)
        status = connection_failed(&s, &err);
    else
        put_answer(answer);
    json_decref(answer);
    connection_close(&s);
    request_clear(&r);
    return status;
}
