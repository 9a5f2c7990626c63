/* berth VERB: finds the verb and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/hint.h"
#include "cli/shim/shim.h"
#include "cli/verb.h"

struct verb {
    const char *name;
    const char *summary; /* in `berth --help`, which shows two on a line */
    int (*run)(int argc, char **argv);
    const struct option_table *options;
};

/* In the order of `berth --help`, two on a line; a row without a name ends the table. */
static const struct verb verbs[] = {
    {"submit", "submit a job", cli_submit, &submit_options},
    {"run", "run a job and wait for it", cli_run, &run_options},
    {"alloc", "work in an allocation", cli_alloc, &alloc_options},
    {"jobs", "list waiting, running jobs", cli_jobs, &jobs_options},
    {"top", "watch jobs, nodes, shares", cli_top, &top_options},
    {"history", "list jobs that have ended", cli_history, &history_options},
    {"report", "sum up what jobs have used", cli_report, &report_options},
    {"show", "show everything about a job", cli_show, &show_options},
    {"explain", "say why a job waits", cli_explain, &explain_options},
    {"log", "print a job's output", cli_log, &log_options},
    {"wait", "wait until jobs have ended", cli_wait, &wait_options},
    {"cancel", "cancel jobs", cli_cancel, &cancel_options},
    {"signal", "send running jobs a signal", cli_signal, &signal_options},
    {"hold", "keep jobs from starting", cli_hold, &hold_options},
    {"release", "let held jobs start", cli_release, &release_options},
    {"requeue", "stop jobs, run them again", cli_requeue, &requeue_options},
    {"resubmit", "submit jobs once more", cli_resubmit, &resubmit_options},
    {"update", "change limits, priorities", cli_update, &update_options},
    {"queues", "list, open and close queues", cli_queues, &queues_options},
    {"shares", "show who has how much", cli_shares, &shares_options},
    {"nodes", "list nodes and their use", cli_nodes, &nodes_options},
    {"resources", "show the machine", cli_resources, &resources_options},
    {"drain", "take resources out of use", cli_drain, &drain_options},
    {"resume", "put resources back into use", cli_resume, &resume_options},
    {"block", "set resources aside", cli_block, &block_options},
    {"classes", "set classes of users", cli_classes, &classes_options},
    {"pilot", "borrow nodes from Slurm", cli_pilot, &pilot_options},
    {"server", "start and stop the server", cli_server, &server_options},
    {"config", "check a configuration", cli_config, &config_options},
    {"jobspec", "check jobspecs", cli_jobspec, &jobspec_options},
    {"query", "match jobs to a machine", cli_query, &query_options},
    {"sim", "replay a workload", cli_sim, &sim_options},
    {NULL, NULL, NULL, NULL},
};

static const struct verb *find_verb(const char *name)
{
    for (const struct verb *v = verbs; v->name; v++) {
        if (strcmp(v->name, name) == 0)
            return v;
    }
    return NULL;
}

static int unknown_verb(const char *word)
{
    const struct nearest_names names = {&verbs[0].name, sizeof(verbs[0]),
                                        sizeof(verbs) / sizeof(verbs[0]) - 1};
    const char *meant = hint_other_name(word);
    if (!meant)
        meant = nearest_name(&names, word);
    if (meant)
        return cli_usage(NULL, "unknown verb '%s' (did you mean '%s'?)", word, meant);
    return cli_usage(NULL, "unknown verb '%s'", word);
}

static int print_overview(void)
{
    printf("usage: berth VERB [OPTION]...  or  berth help VERB\n"
           "Berth decides where and when batch jobs run, and runs them.\n"
           "\n"
           "Verbs:\n");
    /* A wide gap separates a verb from its summary, and that from the next verb: completions look for it. */
    for (const struct verb *v = verbs; v->name; v += 1 + (v[1].name != NULL)) {
        if (v[1].name)
            printf("  %-9s  %-27s  %-9s  %s\n", v->name, v->summary, v[1].name, v[1].summary);
        else
            printf("  %-9s  %s\n", v->name, v->summary);
    }
    printf("\n"
           "  -h, --help  print this                 -V, --version  print the version\n"
           "Exit status: 0 done, 1 failed, 2 wrong command line. Manual: man berth\n"
           "Example: berth run -c 2 ./work.sh\n");
    return CLI_OK;
}

/* `help --options VERB`, for completions and manual pages. */
static int list_options(int argc, char **argv)
{
    if (argc != 1)
        return cli_usage(NULL, "help --options takes one verb, not %d", argc);
    const struct verb *verb = find_verb(argv[0]);
    return verb ? option_list(verb->options) : unknown_verb(argv[0]);
}

static int print_topic(int argc, char **argv)
{
    if (argc < 2)
        return print_overview();
    if (strcmp(argv[1], "--options") == 0)
        return list_options(argc - 2, argv + 2);
    if (argc > 2)
        return cli_usage(NULL, "help takes one verb, not %d", argc - 1);
    const struct verb *verb = find_verb(argv[1]);
    if (!verb)
        return unknown_verb(argv[1]);
    char option[] = "--help";
    return verb->run(2, (char *[]){argv[1], option, NULL});
}

static bool is_either(const char *arg, const char *one, const char *other)
{
    return strcmp(arg, one) == 0 || strcmp(arg, other) == 0;
}

/* Whether the program was called by a name that stands for a verb. */
static bool is_called(const char *program, const char *name)
{
    size_t length = strlen(program), n = strlen(name);
    return length >= n && strcmp(program + length - n, name) == 0;
}

static int dispatch(int argc, char **argv)
{
    int status;
    if (shim_run(argc, argv, &status))
        return status;
    if (argc > 0 && is_called(argv[0], "resource-query"))
        return cli_query(argc, argv);
    if (argc < 2)
        return cli_usage(NULL, "no verb given");
    const char *arg = argv[1];
    if (strcmp(arg, "help") == 0)
        return print_topic(argc - 1, argv + 1);
    const struct verb *verb = find_verb(arg);
    if (verb)
        return verb->run(argc - 1, argv + 1);
    if (arg[0] != '-')
        return unknown_verb(arg);

    bool wants_help = is_either(arg, "-h", "--help");
    if (!wants_help && !is_either(arg, "-V", "--version"))
        return cli_usage(NULL, "unknown option '%s'", arg);
    if (argc > 2)
        return cli_usage(NULL, "%s takes no argument, got '%s'", arg, argv[2]);
    if (wants_help)
        return print_overview();
    printf("berth %s\n", BERTH_VERSION);
    return CLI_OK;
}

/* If a standard stream is closed, the next opened file would take its place and get its data. Open a file
 * there that can't be used, so that using the stream fails as it would have.
 */
static void fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    int status = dispatch(argc, argv);
    /* Fail if results could not be written, because a disk is full for example. */
    bool lost = ferror(stdout);
    if (fflush(stdout) != 0 || lost) {
        fprintf(stderr, "berth: standard output: %s\n", lost ? "write error" : strerror(errno));
        return status == CLI_OK ? CLI_FAILED : status;
    }
    return status;
}
