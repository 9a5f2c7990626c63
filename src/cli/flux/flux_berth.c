/* flux berth: what `berth explain`, `queues` and `shares` say, and when a job would start, in an instance of Flux.
 *
 * `flux` runs this program for its word `berth`. It asks the module sched-berth, whose answers are those of berthd to the
 * same questions.
 */
#include <errno.h>
#include <flux/core.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "cli/client/terminal.h"
#include "cli/tables.h"
#include "cli/verb.h"

static const char help[] =
    "usage: flux berth explain [--json] JOB\n"
    "       flux berth queues [--json] [-r TYPE]\n"
    "       flux berth shares [--json] [-r TYPE]\n"
    "       flux berth what-if [--json] [FILE]\n"
    "Ask the scheduler of this instance, the module sched-berth.\n"
    "  explain  why a job waits: for what, who holds that, when it is expected to\n"
    "           start, and which shorter time limit or smaller request would let it\n"
    "           start now\n"
    "  queues   queues with their policies, limits, jobs and shares\n"
    "  shares   what divisions, queues, accounts and users deserve, have and used\n"
    "  what-if  when a job would start were it submitted now: its jobspec is read\n"
    "           from the file, by default standard input; nothing is submitted\n"
    "      --json           print the answer as JSON\n"
    "  -r, --resource TYPE  shares of this resource, such as gpu; default: the first\n"
    "  -h, --help           print this\n"
    "Exit status: 0 done, 1 failed, 2 wrong command line.\n"
    "Example: flux submit --dry-run -N4 -t 1h a.out | flux berth what-if\n"
    "Manual: man flux-berth\n";

struct question {
    const char *verb, *argument, *resource;
    bool json;
};

/* Ask for an answer to free. NULL with errno and a text. */
static json_t *ask_scheduler(flux_t *h, const char *verb, json_t *request, berth_error_t *err)
{
    char topic[64];
    json_t *answer = NULL;

    snprintf(topic, sizeof(topic), "sched-berth.%s", verb);
    flux_future_t *f = flux_rpc_pack(h, topic, FLUX_NODEID_ANY, 0, "O", request);
    if (f && flux_rpc_get_unpack(f, "O", &answer) == 0) {
        flux_future_destroy(f);
        return answer;
    }
    if (errno == ENOSYS)
        errtext_set(err, ENOSYS, "the scheduler of this instance is not sched-berth");
    else
        errtext_set(err, errno, "%s", f ? future_strerror(f, errno) : strerror(errno));
    int error = errno;
    flux_future_destroy(f);
    errno = error;
    return NULL;
}

/* ---- explain ---- */

static json_t *job_request(const struct question *q, berth_error_t *err)
{
    flux_jobid_t id;

    if (flux_job_id_parse(q->argument, &id) < 0) {
        errtext_set(err, EINVAL, "'%.60s' is no job id", q->argument);
        return NULL;
    }
    return json_pack("{s:I}", "id", (json_int_t)id);
}

/* ---- queues ---- */

/* Ask the job manager whether a queue is enabled and started: the only one, without a name, where none is configured. */
static int ask_state(flux_t *h, const char *name, int *enabled, int *started)
{
    flux_future_t *f =
        flux_rpc_pack(h, "job-manager.queue-status", FLUX_NODEID_ANY, 0, "{s:s*}", "name", name);
    int rc = f ? flux_rpc_get_unpack(f, "{s:b s:b}", "enable", enabled, "start", started) : -1;

    flux_future_destroy(f);
    return rc;
}

static void add_states(flux_t *h, json_t *answer)
{
    json_t *queue, *queues = json_object_get(answer, "queues");
    int enabled, started;
    size_t i;

    json_array_foreach (queues, i, queue) {
        const char *name = json_string_value(json_object_get(queue, "name"));
        if (ask_state(h, name, &enabled, &started) < 0 &&
            ask_state(h, NULL, &enabled, &started) < 0)
            continue;
        json_object_set_new(queue, "enabled", json_boolean(enabled));
        json_object_set_new(queue, "started", json_boolean(started));
    }
}

/* ---- what-if ---- */

static json_t *jobspec_request(const struct question *q, berth_error_t *err)
{
    const char *name = q->argument ? q->argument : "-";
    FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    json_error_t where;
    json_t *jobspec = f ? json_loadf(f, 0, &where) : NULL;

    if (!f)
        errtext_set(err, errno, "%.200s: %s", name, strerror(errno));
    else if (!jobspec)
        errtext_set(err, EINVAL, "%.200s:%d:%d: expected a jobspec as JSON: %.100s", name,
                    where.line, where.column, where.text);
    if (f && f != stdin)
        fclose(f);
    return jobspec ? json_pack("{s:o}", "jobspec", jobspec) : NULL;
}

/* ---- The command ---- */

static json_t *request_of(const struct question *q, berth_error_t *err)
{
    if (strcmp(q->verb, "explain") == 0)
        return job_request(q, err);
    if (strcmp(q->verb, "what-if") == 0)
        return jobspec_request(q, err);
    return json_object();
}

static int print(const struct question *q, const json_t *answer, berth_error_t *err)
{
    if (q->json) {
        json_dumpf(answer, stdout, JSON_INDENT(2));
        putchar('\n');
        return 0;
    }
    if (strcmp(q->verb, "explain") == 0)
        return explain_print(answer, err);
    if (strcmp(q->verb, "queues") == 0)
        return queues_print(stdout, answer, q->resource, err);
    if (strcmp(q->verb, "shares") == 0)
        return shares_print(stdout, answer, q->resource, err);
    would_start_print(answer);
    return 0;
}

static int answer(const struct question *q)
{
    berth_error_t err = {"out of memory"};
    json_t *request = request_of(q, &err), *got = NULL;
    flux_t *h = request ? flux_open(NULL, 0) : NULL;
    int rc = -1;

    if (request && !h)
        errtext_set(&err, errno, "no instance of Flux: %s", strerror(errno));
    if (h)
        got = ask_scheduler(h, q->verb, request, &err);
    if (got && strcmp(q->verb, "queues") == 0)
        add_states(h, got);
    if (got)
        rc = print(q, got, &err);
    if (rc < 0)
        fprintf(stderr, "flux berth %s: %s\n", q->verb, err.text);
    json_decref(got);
    json_decref(request);
    flux_close(h);
    return rc < 0 ? CLI_FAILED : CLI_OK;
}

static int wrong(const char *what, const char *word)
{
    fprintf(stderr, "flux berth: %s%s%s; see 'flux berth --help'\n", what, *word ? " " : "", word);
    return CLI_USAGE;
}

/* Whether so many words may follow a verb, and the resource be named. */
static bool is_right(const struct question *q, int words)
{
    bool has_shares = strcmp(q->verb, "queues") == 0 || strcmp(q->verb, "shares") == 0;

    if (q->resource && (!has_shares || q->json))
        return false;
    if (strcmp(q->verb, "explain") == 0)
        return words == 1;
    return strcmp(q->verb, "what-if") == 0 ? words <= 1 : has_shares && words == 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"resource", required_argument, NULL, 'r'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct question q = {0};
    int c;

    opterr = 0;
    while ((c = cli_getopt(argc, argv, ":hr:", options)) != -1) {
        if (c == 'h')
            return fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
        if (c == 'j')
            q.json = true;
        else if (c == 'r')
            q.resource = optarg;
        else
            return wrong(c == ':' ? "a value is missing behind" : "unknown option",
                         argv[optind - 1]);
    }
    if (optind == argc)
        return wrong("expected explain, queues, shares or what-if", "");
    q.verb = argv[optind++];
    if (!is_right(&q, argc - optind))
        return wrong("wrong verb, or what follows it is:", q.verb);
    q.argument = argv[optind];
    return answer(&q);
}
