#include "cli/client/request.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "berth/sched_config.h"
#include "cli/client/directives.h"
#include "cli/client/script.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/hint.h"
#include "cli/verb.h"
#include "config/ends.h"
#include "config/gang_keys.h"
#include "config/members.h"
#include "config/quantity.h"

#define COUNT_MAX  1000000000
#define WHERE_SIZE 320

enum {
    OPTION_MEM = 256,
    OPTION_ARRAY,
    OPTION_DEPENDENCY,
    OPTION_BEGIN,
    OPTION_DEADLINE,
    OPTION_HOLD,
    OPTION_PRIORITY,
    OPTION_NAME,
    OPTION_ENV,
    OPTION_CHDIR,
    OPTION_REQUEUE,
    OPTION_REQUIRES,
    OPTION_SIGNAL,
    OPTION_APPEND,
    OPTION_JOBSPEC,
    OPTION_BULK,
    OPTION_OVERCOMMIT,
    OPTION_PREEMPTIBLE,
    OPTION_ESTIMATE,
    OPTION_WRAP,
    OPTION_SLURM,
    OPTION_PTY,
    OPTION_EACH,
    OPTION_CC,
    OPTION_FILE,
    OPTION_GANG,
    OPTION_MIN,
    OPTION_FAILURE,
    OPTION_RETRIES,
    OPTION_RETRY_ON,
    OPTION_RETRY_DELAY,
    OPTION_MAX_FAILS,
    OPTION_LABEL,
    OPTION_TEST_ONLY,
    OPTION_NOTIFY,
    OPTION_NOTIFY_ON
};

static const struct option options[] = {
    {"nodes", required_argument, NULL, 'N'},
    {"ntasks", required_argument, NULL, 'n'},
    {"cores-per-task", required_argument, NULL, 'c'},
    {"gpus-per-task", required_argument, NULL, 'g'},
    {"mem", required_argument, NULL, OPTION_MEM},
    {"time-limit", required_argument, NULL, 't'},
    {"estimate", required_argument, NULL, OPTION_ESTIMATE},
    {"queue", required_argument, NULL, 'q'},
    {"account", required_argument, NULL, 'A'},
    {"array", required_argument, NULL, OPTION_ARRAY},
    {"gang", required_argument, NULL, OPTION_GANG},
    {"min", required_argument, NULL, OPTION_MIN},
    {"failure", required_argument, NULL, OPTION_FAILURE},
    {"dependency", required_argument, NULL, OPTION_DEPENDENCY},
    {"begin", required_argument, NULL, OPTION_BEGIN},
    {"deadline", required_argument, NULL, OPTION_DEADLINE},
    {"hold", no_argument, NULL, OPTION_HOLD},
    {"priority", required_argument, NULL, OPTION_PRIORITY},
    {"name", required_argument, NULL, OPTION_NAME},
    {"output", required_argument, NULL, 'o'},
    {"error", required_argument, NULL, 'e'},
    {"input", required_argument, NULL, 'i'},
    {"append", no_argument, NULL, OPTION_APPEND},
    {"env", required_argument, NULL, OPTION_ENV},
    {"chdir", required_argument, NULL, OPTION_CHDIR},
    {"requeue", no_argument, NULL, OPTION_REQUEUE},
    {"exclusive", no_argument, NULL, 'x'},
    {"requires", required_argument, NULL, OPTION_REQUIRES},
    {"signal", required_argument, NULL, OPTION_SIGNAL},
    {"preemptible-after", required_argument, NULL, OPTION_PREEMPTIBLE},
    {"jobspec", required_argument, NULL, OPTION_JOBSPEC},
    {"overcommit", no_argument, NULL, OPTION_OVERCOMMIT},
    {"bulk", required_argument, NULL, OPTION_BULK},
    {"wrap", required_argument, NULL, OPTION_WRAP},
    {"slurm", no_argument, NULL, OPTION_SLURM},
    {"pty", no_argument, NULL, OPTION_PTY},
    {"each", required_argument, NULL, OPTION_EACH},
    {"cc", required_argument, NULL, OPTION_CC},
    {"file", required_argument, NULL, OPTION_FILE},
    {"retries", required_argument, NULL, OPTION_RETRIES},
    {"retry-on", required_argument, NULL, OPTION_RETRY_ON},
    {"retry-delay", required_argument, NULL, OPTION_RETRY_DELAY},
    {"max-fails", required_argument, NULL, OPTION_MAX_FAILS},
    {"label", required_argument, NULL, OPTION_LABEL},
    {"test-only", no_argument, NULL, OPTION_TEST_ONLY},
    {"notify", required_argument, NULL, OPTION_NOTIFY},
    {"notify-on", required_argument, NULL, OPTION_NOTIFY_ON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

/* Options while they become a request. */
struct reading {
    struct request *r;
    json_t *job; /* what the options say */
    json_t *env; /* rules */
    const char *chdir, *wrap;
    const char *where; /* "script.sh: line 3: " before errors, or "" */
    bool step;         /* of a job: a script is a command */
    char **slurm;      /* a command line of sbatch, instead of one of submit, or NULL */
    int n_slurm;
    berth_error_t *err;
};

static const char *option_key(int option)
{
    for (const struct option *o = options; o->name; o++)
        if (o->val == option)
            return o->name;
    return "?";
}

static int report_expected(struct reading *g, int option, const char *what)
{
    return errtext_set(g->err, EINVAL, "%s--%s is '%s', expected %s", g->where, option_key(option),
                       optarg, what);
}

static int put_option(struct reading *g, const char *key, json_t *value)
{
    return json_object_set_new(g->job, key, value) == 0
               ? 0
               : errtext_set(g->err, EINVAL, "%s--%s is not UTF-8", g->where, key);
}

static int put_whole_option(struct reading *g, int option, const char *key, long long min,
                            long long max)
{
    char *end, what[80];
    errno = 0;
    long long n = strtoll(optarg, &end, 10);

    if (end == optarg || *end || errno || n < min || n > max) {
        snprintf(what, sizeof(what), "a whole number from %lld to %lld", min, max);
        return report_expected(g, option, what);
    }
    return put_option(g, key, json_integer(n));
}

/* Seconds, as a whole number if possible. */
static json_t *seconds(int64_t us)
{
    return us % 1000000 == 0 ? json_integer(us / 1000000) : json_real((double)us / 1e6);
}

static int put_duration(struct reading *g, int option, const char *key)
{
    int64_t us;
    return quantity_duration(optarg, &us) < 0
               ? report_expected(g, option, "a duration such as 90, 30m, 1h30m or 1:30:00")
               : put_option(g, key, seconds(us));
}

/* The same, or a word, as the server knows it. */
static int put_time(struct reading *g, int option, const char *key, const char *word)
{
    char what[80];
    int64_t us;
    if (strcmp(optarg, word) == 0)
        return put_option(g, key, json_string(word));
    snprintf(what, sizeof(what), "a duration such as 90, 30m, 1h30m or 1:30:00, or %s", word);
    return quantity_duration(optarg, &us) < 0 || us == 0 ? report_expected(g, option, what)
                                                         : put_option(g, key, seconds(us));
}

static int put_memory(struct reading *g)
{
    int64_t bytes;
    return quantity_size(optarg, &bytes) < 0
               ? report_expected(g, OPTION_MEM, "a size such as 512M or 4G")
               : put_option(g, "memory", json_integer(bytes));
}

static int put_when(struct reading *g, int option)
{
    double at;
    return when_read(optarg, time(NULL), &at) < 0
               ? report_expected(g, option, "a time such as +1h, 08:30 or 2026-12-31T08:30")
               : put_option(g, option_key(option), json_real(at));
}

/* "10", "0-8:2,17", "1-100%5". The server reads it again. */
static int put_array(struct reading *g)
{
    struct members members;
    berth_error_t why = {""};

    if (members_read(&members, optarg, strlen(optarg), &why) < 0)
        return errtext_set(g->err, errno, "%s--array is '%s': %s", g->where, optarg, why.text);
    members_clear(&members);
    return put_option(g, "array", json_string(optarg));
}

/* What becomes of a gang of which a member fails. */
static int put_failure(struct reading *g)
{
    for (const char *const *word = gang_failures; *word; word++)
        if (strcmp(optarg, *word) == 0)
            return put_option(g, "failure", json_string(optarg));
    return report_expected(g, OPTION_FAILURE, "all, go-on or replace");
}

/* A gang has so many members, and is no array. */
static int check_gang(struct reading *g)
{
    const json_t *gang = json_object_get(g->job, "gang"), *min = json_object_get(g->job, "min");
    if (!gang && (min || json_object_get(g->job, "failure")))
        return errtext_set(g->err, EINVAL, "--%s is of a gang, expected --gang N beside it",
                           min ? "min" : "failure");
    if (gang && json_object_get(g->job, "array"))
        return errtext_set(g->err, EINVAL, "--gang takes no --array: a gang is one of its own");
    if (min && json_integer_value(min) > json_integer_value(gang))
        return errtext_set(g->err, EINVAL, "--min is %lld, expected at most the %lld of --gang",
                           (long long)json_integer_value(min), (long long)json_integer_value(gang));
    return 0;
}

/* "USR1@60": the signal and the seconds before the limit, which the server knows otherwise. */
static int put_signal(struct reading *g)
{
    char name[32];
    int64_t us;
    size_t n = strcspn(optarg, "@");
    bool told = optarg[n] != '\0';

    if (n == 0 || n >= sizeof(name) || (told && quantity_duration(optarg + n + 1, &us) < 0))
        return report_expected(g, OPTION_SIGNAL, "a signal and how long before the limit, USR1@60");
    memcpy(name, optarg, n);
    name[n] = '\0';
    return put_option(
        g, "signal", json_pack("{s:s, s:o*}", "signal", name, "before", told ? seconds(us) : NULL));
}

/* "2", "a100", "a100:2": how many, and of which type. */
static int put_gpus(struct reading *g)
{
    const char *number = strrchr(optarg, ':');
    size_t type = number ? (size_t)(number - optarg) : strlen(optarg);
    char *end;

    errno = 0;
    number = number ? number + 1 : strspn(optarg, "0123456789-") == type ? optarg : "1";
    long long n = strtoll(number, &end, 10);
    if (end == number || *end || errno || n < 0 || n > COUNT_MAX || type == 0)
        return report_expected(g, 'g', "a number of GPUs, or their type and number such as a100:2");
    if (number != optarg && put_option(g, "gpu_type", json_stringn(optarg, type)) < 0)
        return -1;
    return put_option(g, "gpus", json_integer(n));
}

static int put_requires(struct reading *g)
{
    json_t *names = *optarg == '{' ? json_loads(optarg, 0, NULL) : json_array();

    if (!names)
        return report_expected(g, OPTION_REQUIRES, "properties, or a constraint (RFC 31) in JSON");
    if (json_is_object(names))
        return put_option(g, "requires", names);
    for (const char *at = optarg; names && *at;) {
        size_t n = strcspn(at, ",");
        if (n && json_array_append_new(names, json_stringn(at, n)) < 0) {
            json_decref(names);
            return report_expected(g, OPTION_REQUIRES, "properties in UTF-8");
        }
        at += n + (at[n] == ',');
    }
    return put_option(g, "requires", names);
}

static int put_jobspec(struct reading *g)
{
    struct script file;

    g->r->used_input = g->r->used_input || strcmp(optarg, "-") == 0;
    if (script_read(&file, optarg, g->err) < 0)
        return -1;
    int rc = put_option(g, "jobspec", json_stringn(file.text, file.length));
    script_clear(&file);
    return rc;
}

/* The server reads it again. */
static int put_retry_on(struct reading *g)
{
    struct ends ends;
    berth_error_t why = {""};
    if (ends_read(&ends, optarg, strlen(optarg), &why) < 0)
        return errtext_set(g->err, EINVAL, "%s--retry-on is '%s': %s", g->where, optarg, why.text);
    return put_option(g, "retry_on", json_string(optarg));
}

/* "project=climate". */
static int put_label(struct reading *g)
{
    const char *sign = strchr(optarg, '=');
    json_t *labels = json_object_get(g->job, "labels");
    if (!sign || sign == optarg)
        return report_expected(g, OPTION_LABEL, "a label such as project=climate");
    if (!labels && put_option(g, "labels", labels = json_object()) < 0)
        return -1;
    return json_object_setn_new(labels, optarg, (size_t)(sign - optarg), json_string(sign + 1)) == 0
               ? 0
               : report_expected(g, OPTION_LABEL, "a label in UTF-8");
}

static int take_failure(struct reading *g, int option)
{
    switch (option) {
    case OPTION_RETRIES:
        return put_whole_option(g, option, "retries", 0, RETRIES_MAX);
    case OPTION_RETRY_ON:
        return put_retry_on(g);
    case OPTION_RETRY_DELAY:
        return put_duration(g, option, "retry_delay");
    case OPTION_NOTIFY:
        return put_option(g, "notify", json_string(optarg));
    case OPTION_NOTIFY_ON:
        return put_option(g, "notify_on", json_string(optarg));
    case OPTION_LABEL:
        return put_label(g);
    case OPTION_TEST_ONLY:
        return put_option(g, "test_only", json_true());
    case OPTION_MAX_FAILS:
        return put_whole_option(g, option, "max_fails", 0, COUNT_MAX);
    default:
        return json_array_append_new(g->env, json_string(optarg)) == 0
                   ? 0
                   : report_expected(g, option, "a rule in UTF-8");
    }
}

static int take_more(struct reading *g, int option)
{
    switch (option) {
    case 'x':
        return put_option(g, "exclusive", json_true());
    case OPTION_HOLD:
        return put_option(g, "hold", json_true());
    case OPTION_REQUEUE:
        return put_option(g, "requeue", json_true());
    case OPTION_OVERCOMMIT:
        return put_option(g, "overcommit", json_true());
    case OPTION_APPEND:
        return put_option(g, "append", json_true());
    case OPTION_REQUIRES:
        return put_requires(g);
    case OPTION_SIGNAL:
        return put_signal(g);
    case OPTION_GANG:
        return put_whole_option(g, option, "gang", 2, MEMBERS_MAX);
    case OPTION_MIN:
        return put_whole_option(g, option, "min", 1, MEMBERS_MAX);
    case OPTION_FAILURE:
        return put_failure(g);
    case OPTION_PREEMPTIBLE:
        return put_duration(g, option, "preemptible_after");
    case OPTION_ESTIMATE:
        return put_time(g, option, "estimate", "unknown");
    case OPTION_JOBSPEC:
        return put_jobspec(g);
    case OPTION_BULK:
        g->r->bulk = optarg;
        return 0;
    case OPTION_SLURM:
        return put_option(g, "slurm", json_true());
    case OPTION_WRAP:
        g->wrap = optarg;
        return 0;
    case OPTION_CHDIR:
        g->chdir = optarg;
        return 0;
    case OPTION_EACH:
        g->r->each = optarg;
        return 0;
    case OPTION_CC:
        g->r->cc = optarg;
        return 0;
    case OPTION_FILE:
        g->r->file = optarg;
        return 0;
    case OPTION_PTY:
        g->r->pty = true;
        return 0;
    case 'h':
        g->r->wants_help = true;
        return 0;
    default:
        return take_failure(g, option);
    }
}

static int take_option(struct reading *g, int option)
{
    switch (option) {
    case 'N':
        return put_whole_option(g, option, "nodes", 1, COUNT_MAX);
    case 'n':
        return put_whole_option(g, option, "tasks", 1, COUNT_MAX);
    case 'c':
        return put_whole_option(g, option, "cores", 1, COUNT_MAX);
    case 'g':
        return put_gpus(g);
    case 't':
        return put_time(g, option, "limit", "unlimited");
    case 'q':
        return put_option(g, "queue", json_string(optarg));
    case 'A':
        return put_option(g, "account", json_string(optarg));
    case 'o':
        g->r->has_output = true;
        return put_option(g, "output", json_string(optarg));
    case 'e':
        return put_option(g, "error", json_string(optarg));
    case 'i':
        return put_option(g, "input", json_string(optarg));
    case OPTION_MEM:
        return put_memory(g);
    case OPTION_ARRAY:
        return put_array(g);
    case OPTION_DEPENDENCY:
        return put_option(g, "dependency", json_string(optarg));
    case OPTION_BEGIN:
    case OPTION_DEADLINE:
        return put_when(g, option);
    case OPTION_PRIORITY:
        return put_whole_option(g, option, "priority", -SCHED_PRIORITY_MAX, SCHED_PRIORITY_MAX);
    case OPTION_NAME:
        return put_option(g, "name", json_string(optarg));
    default:
        return take_more(g, option);
    }
}

static int unknown_option(struct reading *g, const char *word)
{
    const char *hint = hint_other_option(word);
    return errtext_set(g->err, EINVAL, "%sunknown option '%.100s'%s%s%s", g->where, word,
                       hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
}

/* Read options up to the first other word, at *rest. */
static int take_options(struct reading *g, int argc, char **argv, int *rest)
{
    int c;

    opterr = 0;
    optind = 0; /* restart getopt, whatever was read before */
    while ((c = cli_getopt(argc, argv, "+:N:n:c:g:t:q:A:o:e:i:xh", options)) != -1) {
        if (c == ':')
            return errtext_set(g->err, EINVAL, "%s'%s' takes a value", g->where, argv[optind - 1]);
        if (c == '?')
            return unknown_option(g, argv[optind - 1]);
        if (take_option(g, c) < 0)
            return -1;
        if (g->r->wants_help)
            break;
    }
    *rest = optind;
    return 0;
}

/* A name without a slash is a script in this folder only if no program has that name. */
static bool is_program(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    struct stat st;

    for (const char *at = path ? path : ""; *at;) {
        size_t n = strcspn(at, ":");
        int length = snprintf(file, sizeof(file), "%.*s/%s", (int)n, at, name);
        if (n && length > 0 && length < PATH_MAX && access(file, X_OK) == 0 &&
            stat(file, &st) == 0 && S_ISREG(st.st_mode))
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

static json_t *texts(char **argv, int n)
{
    json_t *all = json_array();
    for (int i = 0; all && i < n; i++)
        if (json_array_append_new(all, json_string(argv[i])) < 0) {
            json_decref(all);
            return NULL;
        }
    return all;
}

/* Name the job after the script: its text does not contain the name of its file, unlike a command. */
static int set_name(json_t *job, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = strcmp(file, "-") == 0 ? "script" : slash && slash[1] ? slash + 1 : file;
    struct strbuf plain = {0};

    if (json_object_get(job, "name"))
        return 0;
    terminal_plain(&plain, name, strnlen(name, NAME_MAX));
    int rc = json_object_set_new(job, "name", json_string(strbuf_text(&plain)));
    strbuf_clear(&plain);
    return rc;
}

/* Read the words of other tools' lines, then those of lines of ours, which take precedence. */
static int take_lines(struct reading *g, const struct script *script, struct directives *d,
                      const char *name, char where[WHERE_SIZE])
{
    int rest = 0;

    snprintf(where, WHERE_SIZE, "%.280s: ", name);
    g->where = g->slurm ? "" : where;
    if (d->all.n > 0 && take_options(g, (int)d->all.n, d->all.words, &rest) < 0)
        return -1;
    g->where = where;
    for (size_t i = 0; i < script->n_lines; i++) {
        const struct script_line *line = &script->lines[i];
        if (line->mark != SCRIPT_BERTH)
            continue;
        snprintf(where, WHERE_SIZE, "%.280s: line %zu: ", name, line->number);
        if (take_options(g, line->n + 1, script->words + line->first - 1, &rest) < 0)
            return -1;
        bool other = rest < line->n + 1;
        if (other || g->r->wants_help || request_many(g->r) || g->wrap)
            return errtext_set(g->err, EINVAL, "%s'%.100s' is not an option of a job", where,
                               other ? script->words[line->first - 1 + rest]
                                     : "one of --help, --wrap, --bulk, --each, --cc and --file");
    }
    if ((d->slurm && json_object_set_new(g->job, "slurm", json_true()) < 0) ||
        (d->tasks && json_object_set_new(g->job, "batch", json_integer(d->tasks)) < 0))
        return errtext_set(g->err, ENOMEM, "out of memory");
    return 0;
}

/* Add the script and its arguments to what its lines say, and let the command line change that. */
static int join_script(struct reading *g, struct reading *inner, const struct script *script,
                       char **args, int n, const char *name)
{
    json_t *text = json_stringn(script->text, script->length);
    if (!text)
        return errtext_set(g->err, EINVAL, "%s: not UTF-8", name);
    if (json_object_update(inner->job, g->job) < 0 ||
        json_object_set_new(inner->job, "script", text) < 0 ||
        json_array_extend(inner->env, g->env) < 0 ||
        json_object_set_new(inner->job, "args", texts(args, n)) < 0)
        return errtext_set(g->err, EINVAL, "%s: an argument is not UTF-8", name);
    json_t *job = g->job, *env = g->env;
    g->job = inner->job;
    g->env = inner->env;
    inner->job = job;
    inner->env = env;
    /* The argument of --chdir belongs to the script. */
    if (!g->chdir && inner->chdir &&
        json_object_set_new(g->job, "directory", json_string(inner->chdir)) == 0)
        g->chdir = json_string_value(json_object_get(g->job, "directory"));
    return 0;
}

/* Take a script's text and its options, over which those of the command line take precedence. */
static int take_text(struct reading *g, const struct script *script, char **args, int n,
                     const char *name)
{
    char where[WHERE_SIZE];
    struct reading inner = *g;
    struct directives lines;

    if (directives_read(&lines, script, g->slurm, g->n_slurm, name, g->err) < 0)
        return -1;
    inner.chdir = NULL;
    inner.job = json_object();
    inner.env = json_array();
    int rc = !inner.job || !inner.env ? errtext_set(g->err, ENOMEM, "out of memory")
                                      : take_lines(&inner, script, &lines, name, where);
    if (rc == 0)
        rc = join_script(g, &inner, script, args, n, name);
    if (rc == 0)
        fputs(strbuf_text(&lines.all.warnings), stderr);
    json_decref(inner.job);
    json_decref(inner.env);
    directives_clear(&lines);
    return rc;
}

static int take_script(struct reading *g, char **argv, int argc)
{
    struct script script;
    g->r->used_input = g->r->used_input || strcmp(argv[0], "-") == 0;
    if (script_read(&script, argv[0], g->err) < 0)
        return -1;
    int rc =
        take_text(g, &script, argv + 1, argc - 1, strcmp(argv[0], "-") == 0 ? "script" : argv[0]);
    if (rc == 0 && set_name(g->job, argv[0]) < 0)
        rc = errtext_set(g->err, EINVAL, "the name is not UTF-8");
    script_clear(&script);
    return rc;
}

/* A script of one line that was given instead of a file. */
static int take_wrap(struct reading *g, int argc)
{
    struct script script = {0};
    char *text = NULL;

    if (argc > 0)
        return errtext_set(g->err, EINVAL, "--wrap takes no command beside it");
    int length = asprintf(&text, "#!/bin/sh\n%s\n", g->wrap);
    if (length < 0)
        return errtext_set(g->err, ENOMEM, "out of memory");
    script.text = text;
    script.length = (size_t)length;
    int rc = take_text(g, &script, NULL, 0, "--wrap");
    if (rc == 0 && set_name(g->job, "wrap") < 0)
        rc = errtext_set(g->err, ENOMEM, "out of memory");
    script_clear(&script);
    return rc;
}

static int take_command(struct reading *g, char **argv, int argc)
{
    bool has_jobspec = json_object_get(g->job, "jobspec") != NULL;

    if (g->wrap)
        return take_wrap(g, argc);
    if (argc == 0 && g->r->otherwise)
        return put_option(g, "command", json_pack("[s]", g->r->otherwise));
    if (argc == 0)
        return has_jobspec ? 0
                           : errtext_set(g->err, EINVAL,
                                         "no command given, expected a command or a "
                                         "script");
    bool script = strcmp(argv[0], "-") == 0 ||
                  (script_is(argv[0]) && (strchr(argv[0], '/') || !is_program(argv[0])));
    if (script && !g->step)
        return take_script(g, argv, argc);
    json_t *command = texts(argv, argc);
    if (script && command && !strchr(argv[0], '/') && strcmp(argv[0], "-") != 0) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "./%s", argv[0]);
        json_array_set_new(command, 0, json_string(path));
    }
    if (!command || json_object_set_new(g->job, "command", command) < 0)
        return errtext_set(g->err, EINVAL, "the command is not UTF-8");
    return 0;
}

/* ---- Surroundings ---- */

extern char **environ;

/* Variables of the job in which this may run, which are not for a new job. */
static const char *const own[] = {"BERTH_JOB_ID",        "BERTH_JOB_NAME",
                                  "BERTH_QUEUE",         "BERTH_ARRAY_INDEX",
                                  "BERTH_ARRAY_SIZE",    "BERTH_TASK_INDEX",
                                  "BERTH_TASKS",         "BERTH_CPUS",
                                  "BERTH_NODES",         "BERTH_R",
                                  "BERTH_ATTEMPT",       "BERTH_SUBMIT_DIR",
                                  "BERTH_CORES",         "BERTH_GPUS",
                                  "BERTH_MEM",           "BERTH_END_TIME",
                                  "BERTH_BATCH",         "BERTH_STEP_ID",
                                  "BERTH_SUBMIT_SERVER", "BERTH_MEMBER_RANK",
                                  "BERTH_MEMBER_COUNT",  "BERTH_MEMBER_HOSTS",
                                  "BERTH_RENDEZVOUS"};

static bool is_own_option(const char *text, size_t length, bool slurm)
{
    if (slurm && strncmp(text, "SLURM", 5) == 0)
        return true;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strlen(own[i]) == length && memcmp(own[i], text, length) == 0)
            return true;
    return false;
}

char *request_server(void)
{
    const char *directory = getenv("BERTH_DIR"), *socket = getenv("BERTH_SOCKET");
    char *text;
    return asprintf(&text, "%s:%s", directory ? directory : "", socket ? socket : "") < 0 ? NULL
                                                                                          : text;
}

static void set_key(json_t *to, const char *text)
{
    const char *sign = strchr(text, '=');
    char *name = sign && sign > text ? strndup(text, (size_t)(sign - text)) : NULL;

    if (name)
        json_object_set_new(to, name, json_string(sign + 1));
    free(name);
}

static void leave_out(json_t *from, const char *pattern)
{
    const char *name;
    json_t *value;
    void *next;

    json_object_foreach_safe(from, next, name, value) if (fnmatch(pattern, name, 0) == 0)
        json_object_del(from, name);
}

/* The environment: ours, changed by rules in order. "-PATTERN" leaves out variables whose names match,
 * "NAME" takes one from ours, "NAME=VALUE" sets one. Variables that are not UTF-8 are left out. NULL:
 * ENOMEM.
 */
static json_t *make_environment(const json_t *rules, bool slurm)
{
    /* Those of a job of Slurm are ours to leave out only where we know that they are of another job. */
    bool other = slurm || getenv("BERTH_JOB_ID");
    json_t *all = json_object();
    const json_t *rule;
    size_t i;

    if (!all)
        return NULL;
    for (char **at = environ; *at; at++)
        if (!is_own_option(*at, strcspn(*at, "="), other))
            set_key(all, *at);
    json_array_foreach(rules, i, rule)
    {
        const char *text = json_string_value(rule);
        const char *value;
        if (text[0] == '-')
            leave_out(all, text + 1);
        else if (strchr(text, '='))
            set_key(all, text);
        else if ((value = getenv(text)))
            json_object_set_new(all, text, json_string(value));
    }
    return all;
}

/* Add the directory, umask and environment of this process. */
static int take_surroundings(struct reading *g)
{
    char here[PATH_MAX], path[2 * PATH_MAX];
    mode_t mask = umask(0);

    umask(mask);
    if (!getcwd(here, sizeof(here)))
        return errtext_set(g->err, errno == EINVAL ? ENOENT : errno, "the working directory: %s",
                           strerror(errno));
    const char *to = g->chdir ? g->chdir : here;
    snprintf(path, sizeof(path), "%s%s%s", *to == '/' ? "" : here, *to == '/' ? "" : "/", to);
    bool slurm = json_object_get(g->job, "slurm") != NULL;
    json_t *env = make_environment(g->env, slurm);
    if (json_object_set_new(g->job, "environment", env) < 0)
        return errtext_set(g->err, ENOMEM, "out of memory");
    /* A path that is not UTF-8 is left out. */
    json_object_set_new(env, "BERTH_SUBMIT_DIR", json_string(here));
    char *server = request_server();
    json_object_set_new(env, "BERTH_SUBMIT_SERVER", json_string(server));
    free(server);
    if (slurm)
        json_object_set_new(env, "SLURM_SUBMIT_DIR", json_string(here));
    if (json_object_set_new(g->job, "directory", json_string(path)) < 0)
        return errtext_set(g->err, EINVAL, "the path of the directory is not UTF-8: %s", path);
    return json_object_set_new(g->job, "umask", json_integer((json_int_t)mask));
}

bool request_times_fit(const json_t *job)
{
    const json_t *limit = json_object_get(job, "limit"),
                 *estimate = json_object_get(job, "estimate");
    return !json_is_number(limit) || !json_is_number(estimate) ||
           json_number_value(estimate) <= json_number_value(limit);
}

const char *request_many(const struct request *r)
{
    return r->bulk ? "--bulk" : r->each ? "--each" : r->cc ? "--cc" : r->file ? "--file" : NULL;
}

static int read_request(struct request *r, int argc, char **argv, bool step, berth_error_t *err)
{
    struct reading g = {
        .r = r, .job = json_object(), .env = json_array(), .where = "", .step = step, .err = err};
    int rest = argc, rc = -1;

    *r = (struct request){.otherwise = r->otherwise};
    if (!g.job || !g.env) {
        errtext_set(err, ENOMEM, "out of memory");
        goto out;
    }
    rc = take_options(&g, argc, argv, &rest);
    if (rc < 0 || r->wants_help)
        goto out;
    if (r->bulk) {
        if (rest < argc || json_object_size(g.job) || json_array_size(g.env) || g.chdir)
            rc = errtext_set(err, EINVAL, "--bulk takes no command and no other option");
        goto out;
    }
    if (r->file && rest < argc)
        rc = errtext_set(err, EINVAL, "--file has its own jobs, and takes no command");
    else if (!r->file)
        rc = take_command(&g, argv + rest, argc - rest);
    if (rc == 0)
        rc = check_gang(&g);
    if (rc == 0 && !request_times_fit(g.job))
        rc = errtext_set(err, EINVAL, "%s", REQUEST_TIMES_WRONG);
    if (rc == 0)
        rc = take_surroundings(&g);
out:
    if (rc == 0) {
        r->job = g.job;
        g.job = NULL;
    }
    int saved = errno;
    json_decref(g.job);
    json_decref(g.env);
    errno = saved;
    return rc;
}

int request_read(struct request *r, int argc, char **argv, berth_error_t *err)
{
    return read_request(r, argc, argv, false, err);
}

int request_read_step(struct request *r, int argc, char **argv, berth_error_t *err)
{
    return read_request(r, argc, argv, true, err);
}

int request_read_sbatch(struct request *r, char **words, int n, int total, const char *wrap,
                        berth_error_t *err)
{
    char *standard[] = {(char *)"-", NULL}, **script = n < total ? words + n : standard;
    struct reading g = {.r = r,
                        .job = json_object(),
                        .env = json_array(),
                        .where = "",
                        .wrap = wrap,
                        .slurm = words,
                        .n_slurm = n,
                        .err = err};
    int rc = g.job && g.env ? 0 : errtext_set(err, ENOMEM, "out of memory");

    *r = (struct request){0};
    if (rc == 0 && wrap)
        rc = take_wrap(&g, total - n);
    else if (rc == 0 && n < total && access(script[0], R_OK) == 0 && !script_is(script[0]))
        rc = errtext_set(err, EINVAL, "%s does not begin with #!, expected a script", script[0]);
    else if (rc == 0)
        rc = take_script(&g, script, n < total ? total - n : 1);
    if (rc == 0)
        rc = take_surroundings(&g);
    if (rc == 0) {
        r->job = g.job;
        g.job = NULL;
    }
    int saved = errno;
    json_decref(g.job);
    json_decref(g.env);
    errno = saved;
    return rc;
}

void request_clear(struct request *r)
{
    json_decref(r->job);
    r->job = NULL;
}
