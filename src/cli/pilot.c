/* berth pilot: nodes of a cluster, lent by Slurm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client/connection.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/option_table.h"
#include "cli/pilot_auto.h"
#include "cli/pilot_slurm.h"
#include "cli/pilot_watch.h"
#include "cli/verb.h"
#include "config/quantity.h"
#include "pilot/plan.h"

static const struct option_row rows[] = {
    {OPTION_LONG('n'), "nodes", "N", "of add: how many nodes (1)", NULL},
    {OPTION_LONG('m'), "max-nodes", "N", "of auto: so many at a time, with those asked for", NULL},
    {OPTION_LONG('t'), "time", "TIME", "for how long: 30m, 2h (add: Slurm's default; auto: 1h)",
     NULL},
    {OPTION_LONG('p'), "partition", "NAME", "the partition of Slurm's", NULL},
    {OPTION_LONG('b'), "backlog", "N", "of auto: pilots that wait to start, at most (2)", NULL},
    {OPTION_LONG('i'), "idle", "TIME", "of auto: give one back that is of no use so long (2m)",
     NULL},
    {OPTION_LONG('B'), "budget", "HOURS", "of auto: hours of nodes, in all (no bound)", NULL},
    {OPTION_LONG('d'), "dry-run", NULL, "of auto: say what would be asked for, and why", NULL},
    {OPTION_LONG('l'), "lost", NULL, "of remove: nothing of it runs, for certain", NULL},
    {OPTION_LONG('j'), "json", NULL, "of list and auto: print JSON", NULL},
    {0}};

const struct option_table pilot_options = {
    .verb = "pilot",
    .usage = "usage: berth pilot add slurm [OPTION]... [-- SBATCH-OPTION...]\n"
             "       berth pilot auto [off | slurm OPTION... [-- SBATCH-OPTION...]]\n"
             "       berth pilot list|show|drain|remove [OPTION]... [PILOT]\n"
             "Borrow nodes from Slurm: a pilot is one job of Slurm's, in which Berth's agents\n"
             "run. Its nodes join this server's machine until shortly before it ends. `auto`\n"
             "asks for as many as waiting jobs need, and gives them back; without words it\n"
             "says how that goes. `drain` starts nothing more there; `remove` cancels the\n"
             "job, and what runs there is lost or comes again.\n",
    .rows = rows,
    .notes = "Exit status: 0 done, 1 failed, 2 wrong command line.\n"
             "Example: berth pilot auto slurm --max-nodes 64 --time 1h --dry-run\n"
             "Manual: man berth-pilot\n",
    .complete = "add auto list show drain remove watch slurm off"};

struct asked {
    int64_t nodes, max_nodes, minutes, backlog, idle, budget; /* 0: not given; idle: us */
    const char *partition;
    bool json, lost, dry_run;
    bool has_options; /* of add are among them */
    bool for_auto;    /* of auto alone */
};

#define NODES_MOST 100000
#define MINUTE     60000000 /* us */
#define SECOND     1000000

static int take_count(const char *name, int64_t most, int64_t *to)
{
    char *end;
    *to = strtoll(optarg, &end, 10);
    if (*end || *to < 1 || *to > most)
        return cli_usage("pilot", "--%s is '%s', expected 1 to %lld", name, optarg,
                         (long long)most);
    return 0;
}

static int take_pilot_time(const char *name, int64_t *us)
{
    if (quantity_duration(optarg, us) == 0 && *us > 0)
        return 0;
    return cli_usage("pilot", "--%s is '%s', expected a duration such as 30m, 2h or 1d", name,
                     optarg);
}

static int take_pilot_option(struct asked *a, int c)
{
    int64_t us = 0;
    int status = 0;
    a->has_options =
        a->has_options || c == OPTION_LONG('n') || c == OPTION_LONG('t') || c == OPTION_LONG('p');
    a->for_auto = a->for_auto || c == OPTION_LONG('m') || c == OPTION_LONG('b') ||
                  c == OPTION_LONG('i') || c == OPTION_LONG('B') || c == OPTION_LONG('d');
    switch (c) {
    case OPTION_LONG('n'):
        return take_count("nodes", NODES_MOST, &a->nodes);
    case OPTION_LONG('m'):
        return take_count("max-nodes", PILOT_NODES_MOST, &a->max_nodes);
    case OPTION_LONG('b'):
        return take_count("backlog", PILOT_NODES_MOST, &a->backlog);
    case OPTION_LONG('B'):
        return take_count("budget", PILOT_HOURS_MOST, &a->budget);
    case OPTION_LONG('t'):
        status = take_pilot_time("time", &us);
        a->minutes = (us + MINUTE - 1) / MINUTE;
        return status;
    case OPTION_LONG('i'):
        return take_pilot_time("idle", &a->idle);
    case OPTION_LONG('p'):
        a->partition = optarg;
        return 0;
    case OPTION_LONG('d'):
        a->dry_run = true;
        return 0;
    case OPTION_LONG('l'):
        a->lost = true;
        return 0;
    default:
        a->json = true;
        return 0;
    }
}

static int ask_pilots(const char *method, const char *path, const json_t *body, json_t **answer)
{
    struct connection connection;
    berth_error_t err;
    int status = CLI_OK;
    if (connection_open(&connection, "pilot", &err) < 0 ||
        (strcmp(method, "POST") == 0 && connection_start(&connection, &err) < 0) ||
        connection_ask(&connection, method, path, body, answer, &err) < 0)
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    return status;
}

/* ---- add ---- */

static int failed(const berth_error_t *err)
{
    fprintf(stderr, "berth pilot: %s\n", err->text);
    return CLI_FAILED;
}

static int add_pilot(struct asked *a, char **words, int n)
{
    struct connection connection;
    berth_error_t err;
    if (n < 1 || a->json || a->lost || a->for_auto)
        return cli_usage("pilot", "add takes a kind of pilot: slurm");
    if (strcmp(words[0], "slurm") != 0)
        return cli_usage("pilot", "unknown kind '%s', expected slurm", words[0]);
    struct pilot_new p = {.nodes = a->nodes > 0 ? a->nodes : 1,
                          .minutes = a->minutes,
                          .partition = a->partition,
                          .more = words + 1,
                          .tells = true};
    int status = connection_open(&connection, "pilot", &err) < 0 ||
                         connection_start(&connection, &err) < 0 ||
                         pilot_make(&connection, &p, &err) < 0
                     ? failed(&err)
                     : CLI_OK;
    connection_close(&connection);
    return status;
}

/* ---- auto ---- */

static json_t *rule_of(const struct asked *a, char **words, int n)
{
    struct strbuf text = {0};
    for (int i = 1; i < n; i++) {
        strbuf_puts(&text, i > 1 ? " " : "");
        strbuf_puts(&text, words[i]);
    }
    json_t *body = json_pack("{s:s, s:I, s:b, s:s*, s:s*}", "kind", "slurm", "max_nodes",
                             (json_int_t)a->max_nodes, "dry_run", a->dry_run, "partition",
                             a->partition, "options", text.len > 0 ? strbuf_text(&text) : NULL);
    if (a->minutes > 0)
        json_object_set_new(body, "time", json_integer(a->minutes * 60));
    if (a->backlog > 0)
        json_object_set_new(body, "backlog", json_integer(a->backlog));
    if (a->idle > 0)
        json_object_set_new(body, "idle", json_real((double)a->idle / SECOND));
    if (a->budget > 0)
        json_object_set_new(body, "budget", json_integer(a->budget));
    strbuf_clear(&text);
    return body;
}

/* Set a rule, end it, or only look. */
static int auto_pilots(struct asked *a, char **words, int n)
{
    json_t *answer = NULL, *body = NULL;
    bool off = n == 1 && strcmp(words[0], "off") == 0, sets = n > 0 && !off;
    if (sets && strcmp(words[0], "slurm") != 0)
        return cli_usage("pilot", "unknown kind '%s', expected slurm or off", words[0]);
    if (a->lost || a->nodes > 0 || (!sets && (a->has_options || a->for_auto)))
        return cli_usage("pilot", sets ? "auto takes --max-nodes, not --nodes"
                                       : "auto takes options of a rule with 'slurm' only");
    if (sets && a->max_nodes == 0)
        return cli_usage("pilot", "auto slurm needs --max-nodes");
    for (int i = 1; sets && i < n; i++)
        if (!*words[i] || strpbrk(words[i], " \t\n"))
            return cli_usage("pilot", "option '%s' of sbatch has a blank, expected none", words[i]);
    body = sets ? rule_of(a, words, n) : NULL;
    int status = ask_pilots(sets  ? "POST"
                            : off ? "DELETE"
                                  : "GET",
                            "/v1/pilots/auto", body, &answer);
    if (status == CLI_OK && a->json) {
        answer_print(answer);
    } else if (status == CLI_OK && !off) {
        auto_print(answer);
    }
    json_decref(body);
    json_decref(answer);
    return status;
}

/* ---- list, show ---- */

static const struct table_column columns[] = {
    {"PILOT", true, 0},  {"STATE", false, 0},    {"JOB", false, 0},
    {"NODES", true, 0},  {"ASKED", true, 0},     {"SINCE", false, 0},
    {"SLURM", false, 0}, {"OPTIONS", false, 40}, {NULL, false, 0}};

/* What Slurm says of its job: "PENDING, Priority, at 2026-11-22 08:30:15" */
static void put_slurm(struct table *t, const json_t *pilot)
{
    char text[200], at[WHEN_SIZE];
    const char *state = answer_text(pilot, "slurm"), *reason = answer_text(pilot, "reason");
    bool waits = strcmp(state, "PENDING") == 0;
    double start = answer_number(pilot, "start");
    snprintf(text, sizeof(text), "%.40s%s%.80s%s%s", state, waits ? ", " : "", waits ? reason : "",
             waits && start > 0 ? ", at " : "", waits && start > 0 ? when_put(start, at) : "");
    table_cell(t, text);
}

static int print_pilots(const json_t *pilots)
{
    char since[WHEN_SIZE];
    struct table t;
    const json_t *pilot;
    size_t i;
    table_begin(&t, stdout, columns);
    json_array_foreach (pilots, i, pilot) {
        table_number(&t, (long long)answer_number(pilot, "pilot"));
        table_cell(&t, answer_text(pilot, "state"));
        table_cell(&t, answer_text(pilot, "job"));
        table_number(&t, (long long)json_array_size(json_object_get(pilot, "nodes")));
        table_number(&t, (long long)answer_number(pilot, "asked"));
        table_cell(&t, when_put(answer_number(pilot, "since"), since));
        put_slurm(&t, pilot);
        table_cell(&t, answer_text(pilot, "options"));
    }
    int status = table_end(&t) ? CLI_OK : CLI_FAILED;
    table_clear(&t);
    return status;
}

static int list_pilots(struct asked *a, char **words, int n)
{
    json_t *answer = NULL;
    if (n != 0 || a->has_options || a->for_auto || a->lost)
        return cli_usage("pilot", "list takes --json only, got '%s'", n ? words[0] : "more");
    int status = ask_pilots("GET", "/v1/pilots", NULL, &answer);
    const json_t *pilots = json_object_get(answer, "pilots");
    if (status == CLI_OK && a->json) {
        answer_print(pilots);
    } else if (status == CLI_OK) {
        status = print_pilots(pilots);
    }
    json_decref(answer);
    return status;
}

static int read_pilot_number(const struct asked *a, const char *action, char **words, int n,
                             int64_t *to)
{
    char *end = NULL;
    *to = n == 1 ? strtoll(words[0], &end, 10) : 0;
    if (n != 1 || *end || *to < 1 || a->json || a->has_options || a->for_auto)
        return cli_usage("pilot", "%s takes the number of a pilot", action);
    return 0;
}

/* The pilot of a number; NULL, said on standard error: there is none. */
static const json_t *find_pilot(const json_t *answer, int64_t number)
{
    const json_t *pilot;
    size_t i;
    json_array_foreach (json_object_get(answer, "pilots"), i, pilot)
        if ((int64_t)answer_number(pilot, "pilot") == number)
            return pilot;
    fprintf(stderr, "berth pilot: there is no pilot %lld\n", (long long)number);
    return NULL;
}

static const struct table_column node_columns[] = {
    {"NODE", false, 0},  {"STATE", false, 0}, {"CORES", true, 0}, {"GPUS", true, 0},
    {"MEMORY", true, 0}, {"END", false, 0},   {NULL, false, 0}};

static int show_pilot(struct asked *a, char **words, int n)
{
    int64_t number;
    json_t *answer = NULL;
    const json_t *node;
    size_t i;
    struct table t;
    char end[WHEN_SIZE], memory[32];
    if (a->lost || read_pilot_number(a, "show", words, n, &number) != 0)
        return a->lost ? cli_usage("pilot", "show takes the number of a pilot") : CLI_USAGE;
    int status = ask_pilots("GET", "/v1/pilots", NULL, &answer);
    const json_t *pilot = status == CLI_OK ? find_pilot(answer, number) : NULL;
    if (pilot) {
        table_begin(&t, stdout, node_columns);
        json_array_foreach (json_object_get(pilot, "nodes"), i, node) {
            double at = answer_number(node, "end");
            table_cell(&t, answer_text(node, "name"));
            table_cell(&t, answer_text(node, "state"));
            table_number(&t, (long long)answer_number(node, "cores"));
            table_number(&t, (long long)answer_number(node, "gpus"));
            snprintf(memory, sizeof(memory), "%.1f GiB",
                     answer_number(node, "memory") / 1073741824.0);
            table_cell(&t, memory);
            table_cell(&t, at > 0 ? when_put(at, end) : "");
        }
        status = table_end(&t) ? CLI_OK : CLI_FAILED;
        table_clear(&t);
    }
    json_decref(answer);
    return pilot ? status : CLI_FAILED;
}

/* ---- drain, remove ---- */

static int drain_pilot(struct asked *a, char **words, int n)
{
    int64_t number;
    char path[64];
    if (a->lost || read_pilot_number(a, "drain", words, n, &number) != 0)
        return a->lost ? cli_usage("pilot", "drain takes the number of a pilot") : CLI_USAGE;
    snprintf(path, sizeof(path), "/v1/pilots/%lld", (long long)number);
    json_t *body = json_pack("{s:b}", "drain", true);
    int status = ask_pilots("PATCH", path, body, NULL);
    json_decref(body);
    return status;
}

/* Nothing more is started before its job is cancelled. */
static int remove_pilot(struct asked *a, char **words, int n)
{
    int64_t number;
    char path[64];
    json_t *answer = NULL;
    berth_error_t err;
    if (read_pilot_number(a, "remove", words, n, &number) != 0)
        return CLI_USAGE;
    int status = ask_pilots("GET", "/v1/pilots", NULL, &answer);
    const json_t *pilot = status == CLI_OK ? find_pilot(answer, number) : NULL;
    snprintf(path, sizeof(path), "/v1/pilots/%lld%s", (long long)number, a->lost ? "?lost=1" : "");
    if (pilot)
        status = ask_pilots("DELETE", path, NULL, NULL);
    if (pilot && status == CLI_OK && !a->lost && *answer_text(pilot, "job") &&
        slurm_cancel(answer_text(pilot, "job"), &err) < 0)
        status = failed(&err);
    json_decref(answer);
    return pilot ? status : CLI_FAILED;
}

static int watch_pilots(struct asked *a, char **words, int n)
{
    if (n != 0 || a->has_options || a->for_auto || a->lost || a->json)
        return cli_usage("pilot", "watch takes no argument, got '%s'", n ? words[0] : "an option");
    return pilot_watch();
}

int cli_pilot(int argc, char **argv)
{
    static const struct {
        const char *word;
        int (*run)(struct asked *a, char **words, int n);
    } actions[] = {{"add", add_pilot},     {"list", list_pilots},    {"show", show_pilot},
                   {"drain", drain_pilot}, {"remove", remove_pilot}, {"watch", watch_pilots},
                   {"auto", auto_pilots}};
    struct asked a = {0};
    int c;

    while ((c = option_next(&pilot_options, argc, argv)) != -1) {
        if (c == 'h')
            return option_help(&pilot_options);
        if (c == '?' || take_pilot_option(&a, c) != 0)
            return CLI_USAGE;
    }
    for (size_t i = 0; optind < argc && i < sizeof(actions) / sizeof(*actions); i++)
        if (strcmp(argv[optind], actions[i].word) == 0)
            return actions[i].run(&a, argv + optind + 1, argc - optind - 1);
    return optind < argc
               ? cli_usage(
                     "pilot",
                     "unknown action '%s', expected add, auto, list, show, drain, remove or watch",
                     argv[optind])
               : cli_usage(
                     "pilot",
                     "no action given, expected add, auto, list, show, drain, remove or watch");
}
