#include "cli/sim_option_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "berth/sched_config.h"
#include "cli/verb.h"

/* What names policies is filled in by sim_help. */
static const struct option_row rows[] = {
    {OPT_PROCS, "procs", "N", "size of the machine (trace: its header's; model: 256)", NULL},
    {OPT_MACHINE, "machine", "FILE[:FORMAT]", "its cores: grug (default), jgf, rv1exec", "@file"},
    {OPT_MATCH_POLICY, "match-policy", "NAME", "which of them (low)",
     "first firstnodex low high lonode hinode lonodex hinodex locality pack spread balance"},
    {OPT_POLICY, "policy", "LIST", NULL, NULL},
    {OPT_EVENTS, "events", "HOW", "of one instant: batched (default), per-event",
     "batched per-event"},
    {OPT_ORDER, "order", "ORDER", "of the queue: submit (default), shortest, priority",
     "submit shortest priority"},
    {OPT_ESTIMATES, "estimates", "WHICH", "user (default), or exact: the real run times",
     "user exact"},
    {OPT_RESERVATION_DEPTH, "reservation-depth", "N", NULL, NULL},
    {OPT_QUEUE_DEPTH, "queue-depth", "N", "jobs a pass considers (all)", NULL},
    {OPT_LIMIT, "limit", "N", "to keep (all)", NULL},
    {OPT_TAU, "tau", "N", "of slowdowns (10 s)", NULL},
    {OPT_JSON, "json", NULL, "instead of a table", NULL},
    {OPT_JOBS, "jobs", "FILE.csv[.gz]", "write a row for each job; FILE.POLICY.csv if several",
     "@file"},
    {OPT_PLOT, "plot", "FILE.svg", "draw Gantt chart, utilisation and queue length", "@file"},
    {OPT_MODEL, "model", "lublin", "make the workload", "lublin"},
    {OPT_JOBS_COUNT, "jobs-count", "N", "of it", NULL},
    {OPT_SEED, "seed", "N", NULL, NULL},
    {OPT_CONFIG, "config", "FILE", "take machine, queues and policies from FILE", "@file"},
    {OPT_SCENARIO, "scenario", "EVENTS", "play them", "@file"},
    {OPT_DECISIONS, "decisions", "FILE", "write those", "@file"},
    {OPT_UNTIL, "until", "TIME", "stop then", NULL},
    {OPT_SAVE, "save", "FILE", "the state", "@file"},
    {OPT_LOAD, "load", "FILE", NULL, "@file"},
    {OPT_WHAT_IF, "what-if", "EVENT", "when jobs start, without and with EVENT ('': none)", NULL},
    {0}};

const struct option_table sim_options = {
    .verb = "sim",
    .usage = "usage: berth sim [OPTION]... TRACE | --model lublin [--jobs-count N] [--seed N]\n"
             "       berth sim --config FILE [OPTION]... TRACE | --scenario EVENTS [TRACE]\n"
             "Replay a workload in virtual time: a TRACE (Standard Workload Format), gzipped\n"
             "or not, or - for standard input; a model's N jobs; or a scenario (EVENTS).\n",
    .rows = rows,
    .complete = "@file"};

/* The policies, and which the usual one is. */
static char *policy_words(void)
{
    struct strbuf text = {0};
    const struct sched_policy *policy;
    strbuf_puts(&text, "of ");
    for (size_t i = 0; (policy = sched_policy(i)); i++) {
        strbuf_puts(&text, i ? "," : "");
        strbuf_puts(&text, policy->name);
    }
    strbuf_puts(&text, " (default: ");
    strbuf_puts(&text, sched_policy_usual()->name);
    strbuf_puts(&text, ")");
    return strbuf_steal(&text);
}

/* Those whose depth can be chosen, and their own. */
static char *depth_words(void)
{
    struct strbuf text = {0};
    const struct sched_policy *policy;
    for (size_t i = 0; (policy = sched_policy(i)); i++) {
        if (!policy->is_tunable)
            continue;
        strbuf_puts(&text, text.len ? " and " : "of ");
        strbuf_puts(&text, policy->name);
        strbuf_puts(&text, " (");
        if (policy->depth == SCHED_UNLIMITED)
            strbuf_puts(&text, "all");
        else
            strbuf_put_int(&text, policy->depth);
        strbuf_puts(&text, ")");
    }
    return strbuf_steal(&text);
}

static char *example(void)
{
    struct strbuf text = {0};
    strbuf_puts(&text, "Example: berth sim --policy ");
    strbuf_puts(&text, sched_policy(0)->name);
    strbuf_puts(&text, ",");
    strbuf_puts(&text, sched_policy(1)->name);
    strbuf_puts(&text, " --plot kth.svg KTH-SP2-1996-2.swf.gz\n"
                       "Manual: man berth-sim; man berth-scenario\n");
    return strbuf_steal(&text);
}

int sim_help(void)
{
    char *policies = policy_words(), *depths = depth_words(), *notes = example();
    struct option_row told[sizeof(rows) / sizeof(*rows)];
    struct option_table table = sim_options;

    memcpy(told, rows, sizeof(rows));
    for (struct option_row *row = told; row->name; row++) {
        if (row->key == OPT_POLICY)
            row->words = policies;
        if (row->key == OPT_RESERVATION_DEPTH)
            row->words = depths;
    }
    table.rows = told;
    table.notes = notes;
    int status = notes ? option_help(&table) : CLI_FAILED;
    free(policies);
    free(depths);
    free(notes);
    return status;
}

const char *sim_option_name(int key)
{
    return option_name(&sim_options, key);
}
