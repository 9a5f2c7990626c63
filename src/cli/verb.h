/* The verbs of `berth`: one function each, `int cli_VERB(int argc, char **argv)`.
 *
 * argv[0] is the verb's own name, so getopt_long works on argc and argv as they are. A verb answers --help
 * on standard output within a screen of 24 lines, an example included, and returns the exit status.
 */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include <getopt.h>
#include <stdbool.h>

#include "cli/option_table.h"

enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1, /* the work could not be done: one line on standard error says why */
    CLI_USAGE = 2,  /* the command line was wrong: cli_usage says why */
};

/* Print on standard error what is wrong with the command line, and where help is: "berth VERB: ...; see
 * 'berth VERB --help'", or without the verb if it is NULL. Returns CLI_USAGE.
 */
int cli_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print on standard error what is wrong with a file; a text that begins with a colon has the place in it.
 * Returns CLI_FAILED.
 */
int cli_refuse(const char *name, const char *why);

/* getopt_long, but that no name of an option may be shortened. */
int cli_getopt(int argc, char **argv, const char *letters, const struct option *options);

/* The verbs, and their options. */
int cli_alloc(int argc, char **argv);
int cli_classes(int argc, char **argv);
int cli_block(int argc, char **argv);
int cli_cancel(int argc, char **argv);
int cli_config(int argc, char **argv);
int cli_drain(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_history(int argc, char **argv);
int cli_hold(int argc, char **argv);
int cli_jobs(int argc, char **argv);
int cli_jobspec(int argc, char **argv);
int cli_log(int argc, char **argv);
int cli_nodes(int argc, char **argv);
int cli_pilot(int argc, char **argv);
int cli_query(int argc, char **argv);
int cli_queues(int argc, char **argv);
int cli_release(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_requeue(int argc, char **argv);
int cli_resources(int argc, char **argv);
int cli_resume(int argc, char **argv);
int cli_resubmit(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_server(int argc, char **argv);
int cli_shares(int argc, char **argv);
int cli_show(int argc, char **argv);
int cli_signal(int argc, char **argv);
int cli_sim(int argc, char **argv);
int cli_submit(int argc, char **argv);
int cli_top(int argc, char **argv);
int cli_update(int argc, char **argv);
int cli_wait(int argc, char **argv);

extern const struct option_table alloc_options, block_options, cancel_options, classes_options,
    config_options, drain_options, explain_options, history_options, hold_options, jobs_options,
    jobspec_options, log_options, nodes_options, pilot_options, query_options, queues_options,
    release_options, report_options, requeue_options, resources_options, resubmit_options,
    resume_options, run_options, server_options, shares_options, show_options, signal_options,
    sim_options, submit_options, top_options, update_options, wait_options;

#endif
