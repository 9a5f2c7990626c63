/* The options of submit, which run and alloc have too. */
#include <errno.h>

#include "base/errtext.h"
#include "cli/client/request_priv.h"
#include "cli/hint.h"
#include "cli/verb.h"

static const struct option_row rows[] = {
    {'n', "ntasks", "N", "tasks; a script runs once", NULL},
    {'N', "nodes", "N[-M]", "over N", NULL},
    {'c', "cores-per-task", "N", "per task (1)", NULL},
    {'g', "gpus-per-task", "[TYPE:]N", NULL, NULL},
    {OPTION_GPU_MEMORY, "gpu-memory", "SIZE", NULL, NULL},
    {OPTION_MEM, "mem", "SIZE", "512M or 4G", NULL},
    {'x', "exclusive", NULL, "whole nodes", NULL},
    {'t', "time-limit", "TIME", "90, 30m, 1h30m", "unlimited"},
    {OPTION_ESTIMATE, "estimate", "TIME", "to plan with", "unknown"},
    {'q', "queue", "NAME", NULL, "@queue"},
    {'A', "account", "NAME", NULL, NULL},
    {OPTION_NAME, "name", "NAME", NULL, NULL},
    {'L', "licenses", "LIST", NULL, NULL},
    {OPTION_REQUIRES, "requires", "LIST", "a,!b|host:n[1-4]", NULL},
    {OPTION_ARRAY, "array", "MEMBERS", "10, 1-99:2%5", NULL},
    {OPTION_DEPENDENCY, "dependency", "LIST", "afterok:17", NULL},
    {OPTION_GANG, "gang", "N", "start together", NULL},
    {OPTION_MIN, "min", "N", NULL, NULL},
    {OPTION_FAILURE, "failure", "all|go-on|replace", NULL, "all go-on replace"},
    {OPTION_ROLE, "role", "ROLE", "a:8,gpus=1", NULL},
    {OPTION_BEGIN, "begin", "TIME", "+1h, 08:30", NULL},
    {OPTION_DEADLINE, "deadline", "TIME", NULL, NULL},
    {OPTION_HOLD, "hold", NULL, NULL, NULL},
    {OPTION_SLURM, "slurm", NULL, NULL, NULL},
    {OPTION_PRIORITY, "priority", "N", "higher first", NULL},
    {OPTION_PREEMPTIBLE, "preemptible-after", "TIME", NULL, NULL},
    {'o', "output", "FILE", "%j id, %a member, %n name", "@file"},
    {'e', "error", "FILE", NULL, "@file"},
    {'i', "input", "FILE", NULL, "@file"},
    {OPTION_APPEND, "append", NULL, NULL, NULL},
    {OPTION_CHDIR, "chdir", "DIR", NULL, "@folder"},
    {OPTION_TEST_ONLY, "test-only", NULL, NULL, NULL},
    {OPTION_OVERCOMMIT, "overcommit", NULL, NULL, NULL},
    {OPTION_JSON, "json", NULL, NULL, NULL},
    {OPTION_ENV, "env", "RULE", "NAME=VALUE, NAME, -PATTERN", NULL},
    {OPTION_LABEL, "label", "NAME=TEXT", NULL, NULL},
    {OPTION_WRAP, "wrap", "COMMAND", "for a shell", NULL},
    {OPTION_REQUEUE, "requeue", NULL, "again if lost", NULL},
    {OPTION_RETRIES, "retries", "N", "again if it fails", NULL},
    {OPTION_RETRY_ON, "retry-on", "LIST", "75,SIGKILL", NULL},
    {OPTION_RETRY_DELAY, "retry-delay", "TIME", "(10s), then twice", NULL},
    {OPTION_MAX_FAILS, "max-fails", "N", "of an array", NULL},
    {OPTION_SIGNAL, "signal", "SIG[@TIME]", "before the limit", NULL},
    {OPTION_NOTIFY, "notify", "CMD|URL", NULL, NULL},
    {OPTION_NOTIFY_ON, "notify-on", "LIST", "begin,end,fail", NULL},
    {OPTION_CC, "cc", "SET", "1-9 as {cc}", NULL},
    {OPTION_BULK, "bulk", "FILE", NULL, "@file"},
    {OPTION_JOBSPEC, "jobspec", "FILE", "what it needs", "@file"},
    {OPTION_EACH, "each", "FILE", "a job for each line, as {}", "@file"},
    {OPTION_FILE, "file", "FILE", "YAML: jobs that wait for each other", "@file"},
    {0}};

const struct option_table submit_options = {
    .verb = "submit",
    .usage = "usage: berth submit [OPTION]... COMMAND|SCRIPT|- [ARG]... [::: WORD...]\n"
             "Print the job's id. A script's lines #BERTH, #SBATCH and #flux: are options too.\n",
    .rows = rows,
    .notes = "Exit status: 0 submitted, 1 refused, 2 wrong usage. Manual: man berth-submit\n"
             "Example: berth submit -c 4 --mem 2G -t 1h --name fit ./fit.sh data.csv\n",
    .complete = "@command @file",
    .leading = true};

/* A table for each verb that has them is for its help; here all are read, with --pty. */
static const struct option_row terminal[] = {{OPTION_PTY, "pty", NULL, NULL, NULL}, {0}};
static const struct option_table all = {.rows = terminal, .more = &submit_options, .leading = true};

int request_put(struct reading *g, const char *key, json_t *value)
{
    return json_object_set_new(g->job, key, value) == 0
               ? 0
               : errtext_set(g->err, EINVAL, "%s--%s is not UTF-8", g->where, key);
}

static int unknown_option(struct reading *g, const char *word)
{
    const char *hint = hint_other_option(word);
    const char *meant = hint ? NULL : option_meant(&all, word);
    if (meant)
        return errtext_set(g->err, EINVAL, "%sunknown option '%.60s' (did you mean '--%s'?)",
                           g->where, word, meant);
    return errtext_set(g->err, EINVAL, "%sunknown option '%.100s'%s%s%s", g->where, word,
                       hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
}

int request_options_read(struct reading *g, int argc, char **argv, int *rest)
{
    int c;

    optind = 0; /* restart getopt, whatever was read before */
    while ((c = option_read(&all, argc, argv)) != -1) {
        if (c == ':')
            return errtext_set(g->err, EINVAL, "%s'%s' takes a value", g->where, argv[optind - 1]);
        if (c == '?')
            return unknown_option(g, argv[optind - 1]);
        if (request_value(g, c) < 0)
            return -1;
        if (g->r->wants_help)
            break;
    }
    *rest = optind;
    return 0;
}
