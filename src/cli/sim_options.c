/* The command line of `berth sim`. */
#include "cli/sim_options.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "berth/sched_config.h"
#include "cli/sim_option_list.h"
#include "cli/sim_together.h"
#include "cli/verb.h"
#include "config/seconds.h"
#include "match/walk/policy.h"

#define DEFAULT_MODEL_PROCS 256
#define DEFAULT_JOBS_COUNT  10000
#define DEFAULT_SEED        1
#define DEFAULT_TAU         10
#define DEFAULT_MATCH       "low"

/* The largest time, size or count: sums of a few of them are far from overflow. */
#define VALUE_MAX      INT64_C(1000000000000000)
#define JOBS_COUNT_MAX INT64_C(100000000)

/* Lists of words are ended by NULL. */
static const char *const events_words[] = {
    [SIMULATE_BATCHED] = "batched", [SIMULATE_PER_EVENT] = "per-event", NULL};
static const char *const order_words[] = {[SCHED_ORDER_SUBMIT] = "submit",
                                          [SCHED_ORDER_SHORTEST] = "shortest",
                                          [SCHED_ORDER_PRIORITY] = "priority",
                                          NULL};
static const char *const machine_formats[] = {"grug", "jgf", "rv1exec", NULL};
static const char *const estimates_words[] = {"user", "exact", NULL};

const char *sim_events_word(enum simulate_events events)
{
    return events_words[events];
}

const char *sim_order_word(enum sched_order order)
{
    return order_words[order];
}

const char *sim_estimates_word(bool exact)
{
    return estimates_words[exact];
}

/* Index of the n bytes at text among the words, or -1. */
static int find_word(const char *const *words, const char *text, size_t n)
{
    for (size_t i = 0; words[i]; i++)
        if (strlen(words[i]) == n && memcmp(words[i], text, n) == 0)
            return (int)i;
    return -1;
}

/* Print that the n bytes at text, an option's argument or a part of it, are none of the words. */
static void refuse_word(int id, const char *text, size_t n, const char *const *words)
{
    char accepted[ERRTEXT_LIST_MAX];
    cli_usage("sim", "--%s: '%.*s' is not %s", sim_option_name(id), (int)(n < 60 ? n : 60), text,
              errtext_list(accepted, sizeof(accepted), words, " or "));
}

/* An option's argument that is one of a few words. Returns its index, or -1 after printing what is
 * accepted.
 */
static int parse_word(int id, const char *text, const char *const *words)
{
    int found = find_word(words, text, strlen(text));
    if (found < 0)
        refuse_word(id, text, strlen(text), words);
    return found;
}

/* Digits and nothing else. */
static bool parse_digits(const char *text, uint64_t *ret)
{
    uint64_t value = 0;
    if (!*text)
        return false;
    for (const char *s = text; *s; s++) {
        if (*s < '0' || *s > '9')
            return false;
        uint64_t digit = (uint64_t)(*s - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret = value;
    return true;
}

static bool parse_number(int id, const char *text, int64_t min, int64_t max, int64_t *ret)
{
    uint64_t value;
    if (!parse_digits(text, &value) || value < (uint64_t)min || value > (uint64_t)max) {
        cli_usage("sim", "--%s: '%.60s' is not a whole number from %" PRId64 " to %" PRId64,
                  sim_option_name(id), text, min, max);
        return false;
    }
    *ret = (int64_t)value;
    return true;
}

static bool parse_seed(const char *text, uint64_t *ret)
{
    if (parse_digits(text, ret))
        return true;
    cli_usage("sim", "--seed: '%.60s' is not a whole number from 0 to %" PRIu64, text, UINT64_MAX);
    return false;
}

static bool parse_path(int id, const char *text, const char **ret)
{
    *ret = text;
    if (*text)
        return true;
    cli_usage("sim", "--%s: the file's name is empty", sim_option_name(id));
    return false;
}

const char *sim_machine_format(char *text)
{
    char *colon = strrchr(text, ':');
    int found = colon ? find_word(machine_formats, colon + 1, strlen(colon + 1)) : -1;
    if (found < 0)
        return machine_formats[0];
    *colon = '\0';
    return machine_formats[found];
}

static bool parse_machine(int id, char *text, struct sim_options *o)
{
    o->machine_format = sim_machine_format(text);
    return parse_path(id, text, &o->machine);
}

static bool parse_match_policy(const char *text, struct sim_options *o)
{
    struct policy policy;
    o->match_policy = text;
    if (policy_parse(&policy, text, NULL) < 0)
        cli_usage("sim",
                  "--match-policy: '%.60s' is not first, low, high, lonode, hinode, locality, "
                  "variation, pack, spread or balance",
                  text);
    else if (policy.node_exclusive)
        cli_usage("sim", "--match-policy: '%.60s' gives whole nodes, but a processor is a core",
                  text);
    else
        return true;
    return false;
}

static bool parse_policies(const char *list, struct sim_options *o)
{
    const char *const *names = sched_policies();
    o->npolicies = 0;
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ",");
        int found = find_word(names, at, n);
        if (found < 0) {
            refuse_word(OPT_POLICY, at, n, names);
            return false;
        }
        for (size_t i = 0; i < o->npolicies; i++) {
            if (o->policies[i] == names[found]) {
                cli_usage("sim", "--policy: '%s' is given twice", names[found]);
                return false;
            }
        }
        o->policies[o->npolicies++] = names[found];
        at += n;
        if (!*at)
            return true;
    }
}

static bool parse_until(const char *text, struct sim_options *o)
{
    json_t *number = json_loads(text, JSON_DECODE_ANY, NULL);
    o->stops = seconds_read(number, &o->until);
    json_decref(number);
    if (!o->stops)
        cli_usage("sim",
                  "--until: '%.60s' is not a number of seconds from 0 to %" PRId64
                  ", with up to six decimals",
                  text, SECONDS_MAX);
    return o->stops;
}

static bool parse_what_if(const char *text, struct sim_options *o)
{
    o->asks = true;
    if (!*text)
        return true;
    if (o->n_what_if == SIM_WHAT_IFS) {
        cli_usage("sim", "--what-if: more than %d events", SIM_WHAT_IFS);
        return false;
    }
    o->what_if[o->n_what_if++] = text;
    return true;
}

static bool parse_option(int id, char *text, struct sim_options *o)
{
    static const char *const models[] = {"lublin", NULL};
    int word;
    switch ((enum sim_option)id) {
    case OPT_PROCS:
        return parse_number(id, text, 1, VALUE_MAX, &o->procs);
    case OPT_MACHINE:
        return parse_machine(id, text, o);
    case OPT_MATCH_POLICY:
        return parse_match_policy(text, o);
    case OPT_POLICY:
        return parse_policies(text, o);
    case OPT_EVENTS:
        word = parse_word(id, text, events_words);
        o->events = word > 0 ? (enum simulate_events)word : SIMULATE_BATCHED;
        return word >= 0;
    case OPT_ORDER:
        word = parse_word(id, text, order_words);
        o->order = word > 0 ? (enum sched_order)word : SCHED_ORDER_SUBMIT;
        return word >= 0;
    case OPT_ESTIMATES:
        word = parse_word(id, text, estimates_words);
        o->exact = word > 0;
        return word >= 0;
    case OPT_RESERVATION_DEPTH:
        return parse_number(id, text, 1, VALUE_MAX, &o->reservation_depth);
    case OPT_QUEUE_DEPTH:
        return parse_number(id, text, 1, VALUE_MAX, &o->queue_depth);
    case OPT_TAU:
        return parse_number(id, text, 1, VALUE_MAX, &o->tau);
    case OPT_LIMIT:
        return parse_number(id, text, 1, VALUE_MAX, &o->limit);
    case OPT_JSON:
        o->json = true;
        return true;
    case OPT_JOBS:
        return parse_path(id, text, &o->jobs_path);
    case OPT_PLOT:
        return parse_path(id, text, &o->plot_path);
    case OPT_MODEL:
        return parse_word(id, text, models) >= 0;
    case OPT_JOBS_COUNT:
        return parse_number(id, text, 1, JOBS_COUNT_MAX, &o->jobs_count);
    case OPT_SEED:
        return parse_seed(text, &o->seed);
    case OPT_CONFIG:
        return parse_path(id, text, &o->config);
    case OPT_SCENARIO:
        return parse_path(id, text, &o->scenario);
    case OPT_DECISIONS:
        return parse_path(id, text, &o->decisions);
    case OPT_UNTIL:
        return parse_until(text, o);
    case OPT_SAVE:
        return parse_path(id, text, &o->save);
    case OPT_LOAD:
        return parse_path(id, text, &o->load);
    case OPT_WHAT_IF:
        return parse_what_if(text, o);
    case OPT_END:
        break;
    }
    return false;
}

bool sim_options_parse(int argc, char **argv, struct sim_options *ret, int *status)
{
    struct sim_options o = {
        .jobs_count = DEFAULT_JOBS_COUNT,
        .seed = DEFAULT_SEED,
        .policies = {sched_policy_usual()->name},
        .npolicies = 1,
        .tau = DEFAULT_TAU,
        .match_policy = DEFAULT_MATCH,
    };
    bool seen[OPT_END - OPT_PROCS] = {false};
    int option;
    *status = CLI_USAGE;
    optind = 0; /* resets getopt_long wherever an earlier caller left it */
    while ((option = option_next(&sim_options, argc, argv)) != -1) {
        if (option == 'h')
            *status = sim_help();
        if (option == 'h' || option == '?')
            return false;
        if (!parse_option(option, optarg, &o))
            return false;
        seen[option - OPT_PROCS] = true;
    }
    if (!sim_options_together(&o, argc - optind, argv + optind, seen))
        return false;
    if (seen[OPT_MODEL - OPT_PROCS])
        o.procs = o.procs || o.config ? o.procs : DEFAULT_MODEL_PROCS;
    else
        o.trace = argv[optind];
    if (o.config)
        o.policies[0] = "config";
    *ret = o;
    return true;
}

bool sim_is_output(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

char *sim_policy_path(const char *path, const char *policy)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t n = strlen(path), at = n;
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0)
        at = n - 3;
    /* Insert before the extension; a name that only begins with a dot has none. */
    for (size_t i = at; i-- > (size_t)(name - path) + 1;) {
        if (path[i] == '.') {
            at = i;
            break;
        }
    }
    char *result = malloc(n + strlen(policy) + 2);
    if (result)
        sprintf(result, "%.*s.%s%s", (int)at, path, policy, path + at);
    return result;
}
