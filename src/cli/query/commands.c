#include "cli/query/commands.h"

#include <string.h>

static void help(struct session *s, int argc, char **argv);

/* Ends the session, which query_run recognises by the missing function. */
#define QUIT NULL

const struct command query_commands[] = {
    {"match", "m", 2, 2, query_match,
     "Match a job and print what it gets. OP is allocate (now), allocate_orelse_reserve (now or "
     "from the earliest time), allocate_with_satisfiability (now, or say whether it ever could), "
     "satisfiability (only say that), without_allocating or without_allocating_future (only "
     "print what it would get, now or in the future): match OP JOBSPEC"},
    {"multi-match", "M", 3, ANY_NUMBER, query_multi_match,
     "Match one job after another, until one gets nothing: multi-match OP JOBSPEC JOBSPEC..."},
    {"update", "u", 6, 6, query_update,
     "Record that a job holds what a file lists, from a time on for so many seconds. FORMAT is "
     "jgf, jgf_shorthand or rv1exec: update allocate|reserve FORMAT FILE JOBID TIME SECONDS"},
    {"attach", "j", 1, 1, query_attach, "Add what a file in JGF describes: attach FILE"},
    {"remove", "r", 2, 2, query_remove,
     "Remove resources: those at a path, or everything of some ranks: remove PATH true | remove "
     "RANKS false"},
    {"find", "f", 1, ANY_NUMBER, query_find,
     "Print the resources for which an expression is true. Its terms, joined by and, or and "
     "parentheses, are status=up|down, sched-now=allocated|free, sched-future=reserved|free, "
     "agfilter=true|false, names=HOSTLIST, property=NAME, and jobid-alloc, jobid-reserved, "
     "jobid-span or jobid-tag=JOBID: find status=down and sched-now=free"},
    {"cancel", "c", 1, 2, query_cancel,
     "Give back everything that a job holds or has reserved; with stats, print how many resources "
     "were visited: cancel JOBID [stats]"},
    {"partial-cancel", "pc", 3, 4, query_partial_cancel,
     "Give back only what a file lists, in format jgf or rv1exec: partial-cancel JOBID FORMAT FILE "
     "[stats]"},
    {"set-property", "p", 2, 2, query_set_property,
     "Give the resources at a path a property: set-property PATH NAME=VALUE"},
    {"get-property", "g", 1, 1, query_get_property,
     "Print the properties of the resources at a path: get-property PATH"},
    {"set-status", "t", 2, 2, query_set_status,
     "Set whether the resources at a path are usable: set-status PATH up|down"},
    {"get-status", "e", 1, 1, query_get_status,
     "Print whether the resources at a path are usable: get-status PATH"},
    {"list", "l", 0, ANY_NUMBER, query_list,
     "Print one line for each job: id, mode, start, jobspec, seconds that the match took: list"},
    {"info", "i", 1, 1, query_info, "Print the line of a job: info JOBID"},
    {"stat", "s", 0, 0, query_stat, "Print how many jobs matched, and how fast: stat"},
    {"cat", "a", 1, 1, query_cat, "Print a file: cat FILE"},
    {"help", "h", 0, ANY_NUMBER, help,
     "Print what a command does, or what all of them do: help [COMMAND]"},
    {"quit", "q", 0, ANY_NUMBER, QUIT, "End the session, as the end of the input does: quit"},
    {NULL, NULL, 0, 0, NULL, NULL},
};

const struct command *query_command(const char *name)
{
    for (const struct command *c = query_commands; c->name; c++) {
        if (strcmp(name, c->name) == 0 || strcmp(name, c->abbreviation) == 0)
            return c;
    }
    return NULL;
}

static void help(struct session *s, int argc, char **argv)
{
    const struct command *wanted = argc == 2 ? query_command(argv[1]) : NULL;
    if (argc == 2 && !wanted)
        fprintf(s->info, "ERROR: unknown command: %s\n", argv[1]);
    for (const struct command *c = query_commands; c->name; c++) {
        if (argc != 2 || c == wanted)
            fprintf(s->info, "INFO: %s (%s) -- %s\n", c->name, c->abbreviation, c->note);
    }
}

bool query_run(struct session *s, char *line)
{
    if (words_split(&s->words, line) < 0) {
        session_error(s, "ERROR: out of memory");
        return true;
    }
    if (s->words.n == 0)
        return true;
    const char *name = s->words.v[0];
    const struct command *c = query_command(name);
    if (!c) {
        if (s->at_terminal && name[0] != '#')
            session_error(s, "ERROR: unknown command: %s; 'help' lists the commands", name);
        return true;
    }
    if (c->run == QUIT)
        return false;
    int given = (int)s->words.n - 1;
    if (given < c->least || (c->most != ANY_NUMBER && given > c->most))
        session_error(s, "ERROR: malformed command");
    else
        c->run(s, (int)s->words.n, s->words.v);
    return true;
}
