/* berth update: change what jobs ask for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "berth/sched_config.h"
#include "cli/client/last.h"
#include "cli/client/named_jobs.h"
#include "cli/client/request.h"
#include "cli/client/when.h"
#include "cli/hint.h"
#include "cli/option_table.h"
#include "cli/verb.h"
#include "config/members.h"
#include "config/quantity.h"

static const struct option_row rows[] = {
    {'t', "time-limit", "TIME",
     "90, 30m, 1h30m or unlimited; of a job that runs, only administrators may make it longer",
     NULL},
    {OPTION_LONG('e'), "estimate", "TIME", "what planning goes by, at most the limit; or unknown",
     NULL},
    {OPTION_LONG('p'), "priority", "N", "higher goes first; only administrators may exceed 0",
     NULL},
    {OPTION_LONG('f'), "first", NULL, "before all that wait in its queue, by its priority", NULL},
    {OPTION_LONG('b'), "begin", "TIME", "start no sooner: +1h, 08:30, 2026-12-31T08:30, now", NULL},
    {'q', "queue", "NAME", "move the jobs to the end of another queue", "@queue"},
    {'n', "ntasks", "N", "of a job that waits: so many tasks", NULL},
    {'N', "nodes", "N[-M]", "and nodes", NULL},
    {'c', "cores-per-task", "N", "and cores", NULL},
    {'g', "gpus-per-task", "[TYPE:]N", "and GPUs, whole ones without --gpu-memory", NULL},
    {REQUEST_MEM, "mem", "SIZE", "and memory, as 4G", NULL},
    {REQUEST_GPU_MEMORY, "gpu-memory", "SIZE", "and part of each GPU", NULL},
    {'L', "licenses", "LIST", "and licences", NULL},
    {'x', "exclusive", NULL, "on whole nodes", NULL},
    {REQUEST_NAME, "name", "NAME", "another name", NULL},
    {OPTION_LONG('d'), "dependency", "LIST", "wait for other jobs than before, afterok:17, or none",
     NULL},
    {OPTION_LONG('o'), "at-once", "N",
     "of an array: so many of its members run at once, or unlimited", NULL},
    {'A', "account", "NAME", "charge it to another account", NULL},
    {0}};

const struct option_table update_options = {
    .verb = "update",
    .usage = "usage: berth update OPTION... JOB...\n"
             "Change jobs; of one that runs, the time limit. A JOB is an id, one or more\n"
             "members of an array, or a range of ids.\n",
    .rows = rows,
    .notes = "Exit status: 0 changed, 1 some could not be changed, 2 wrong command line.\n"
             "Example: berth update -c 2 --mem 8G -t 30m 17\n"
             "Manual: man berth-update\n",
    .complete = "@job",
    .hint = hint_change};

/* Take a time, or a word that the server knows. Returns false after printing what is wrong. */
static bool take_update_time(const char *option, const char *key, const char *word, json_t *body)
{
    int64_t us;
    if (strcmp(optarg, word) == 0)
        return json_object_set_new(body, key, json_string(word)) == 0;
    if (quantity_duration(optarg, &us) < 0) {
        cli_usage("update", "--%s is '%s', expected a duration such as 90 or 1h30m, or %s", option,
                  optarg, word);
        return false;
    }
    return json_object_set_new(body, key,
                               us % 1000000 ? json_real((double)us / 1e6)
                                            : json_integer(us / 1000000)) == 0;
}

static bool take_begin(json_t *body)
{
    double at = (double)time(NULL);
    if (strcmp(optarg, "now") != 0 && when_read(optarg, time(NULL), &at) < 0) {
        cli_usage("update",
                  "--begin is '%s', expected a time such as +1h, 08:30, "
                  "2026-12-31T08:30 or now",
                  optarg);
        return false;
    }
    return json_object_set_new(body, "begin", json_real(at)) == 0;
}

/* The server takes each of these in a request of its own; they are sent in this order. */
enum update_request { ASKED, ACCOUNT, DEPENDENCY, AT_ONCE, OTHER, REQUESTS };

/* Take an option about what jobs ask for. */
static bool take_asked(int c, json_t *asked)
{
    berth_error_t why;
    if (request_take(c, asked, &why) == 0)
        return true;
    cli_usage("update", "%s", why.text);
    return false;
}

static bool take_dependency(json_t *body)
{
    bool none = strcmp(optarg, "none") == 0;
    return json_object_set_new(body, "dependency", none ? json_null() : json_string(optarg)) == 0;
}

static bool take_at_once(json_t *body)
{
    char *end;
    if (strcmp(optarg, "unlimited") == 0)
        return json_object_set_new(body, "at_once", json_null()) == 0;
    errno = 0;
    long long n = strtoll(optarg, &end, 10);
    if (end == optarg || *end || errno || n < 1 || n > MEMBERS_MAX) {
        cli_usage("update", "--at-once is '%s', expected a number from 1 to %d, or unlimited",
                  optarg, MEMBERS_MAX);
        return false;
    }
    return json_object_set_new(body, "at_once", json_integer(n)) == 0;
}

/* Take an option. Returns false after printing what is wrong. */
static bool take_update_option(int c, json_t *request[REQUESTS])
{
    json_t *body = request[OTHER];
    char *end;

    if ((c < OPTION_LONG(0) && strchr("nNcgLx", c)) || c == REQUEST_MEM ||
        c == REQUEST_GPU_MEMORY || c == REQUEST_NAME)
        return take_asked(c, request[ASKED]);
    if (c == 'A')
        return json_object_set_new(request[ACCOUNT], "account", json_string(optarg)) == 0;
    if (c == OPTION_LONG('d'))
        return take_dependency(request[DEPENDENCY]);
    if (c == OPTION_LONG('o'))
        return take_at_once(request[AT_ONCE]);

    if (c == 't')
        return take_update_time("time-limit", "limit", "unlimited", body);
    if (c == OPTION_LONG('e'))
        return take_update_time("estimate", "estimate", "unknown", body);
    if (c == OPTION_LONG('f'))
        return json_object_set_new(body, "first", json_true()) == 0;
    if (c == OPTION_LONG('b'))
        return take_begin(body);
    if (c == 'q')
        return json_object_set_new(body, "queue", json_string(optarg)) == 0;
    errno = 0;
    long long n = strtoll(optarg, &end, 10);
    if (end == optarg || *end || errno || n < -SCHED_PRIORITY_MAX || n > SCHED_PRIORITY_MAX) {
        cli_usage("update", "--priority is '%s', expected a whole number from %lld to %lld", optarg,
                  -(long long)SCHED_PRIORITY_MAX, (long long)SCHED_PRIORITY_MAX);
        return false;
    }
    return json_object_set_new(body, "priority", json_integer(n)) == 0;
}

/* "afterok:last" is of the job that was submitted last. 0, or the status after a message. */
static int find_last(json_t *body)
{
    struct connection s = {.verb = "update"};
    berth_error_t err;
    int status = last_depend(&s, body, &err) < 0 ? connection_failed(&s, &err) : CLI_OK;
    connection_close(&s);
    return status;
}

static int ask_updates(char **words, int n, json_t *request[REQUESTS])
{
    int status = find_last(request[DEPENDENCY]);
    for (int i = 0; status == CLI_OK && i < REQUESTS; i++)
        if (json_object_size(request[i]) > 0)
            status = named_jobs_ask("update", words, n, NULL, request[i], false);
    return status;
}

static int take_all(int argc, char **argv, json_t *request[REQUESTS])
{
    size_t changes = 0;
    int c;
    while ((c = option_next(&update_options, argc, argv)) != -1) {
        if (c == 'h')
            return option_help(&update_options);
        if (c == '?' || !take_update_option(c, request))
            return CLI_USAGE;
    }
    for (int i = 0; i < REQUESTS; i++)
        changes += json_object_size(request[i]);
    if (changes == 0)
        return cli_usage("update", "no change given");
    if (!request_times_fit(request[OTHER]))
        return cli_usage("update", "%s", REQUEST_TIMES_WRONG);
    return ask_updates(argv + optind, argc - optind, request);
}

int cli_update(int argc, char **argv)
{
    json_t *request[REQUESTS];
    for (int i = 0; i < REQUESTS; i++)
        request[i] = json_object();
    int status = take_all(argc, argv, request);
    for (int i = 0; i < REQUESTS; i++)
        json_decref(request[i]);
    return status;
}
