#include "cli/query/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_table.h"
#include "cli/verb.h"
#include "resource/emission.h"

#define DEFAULT_FILE     "conf/default"
#define RESERVE_MAX      2000000
#define ALLOWLIST_ALWAYS "cluster," /* the root stays */

static const struct option_row rows[] = {
    {'L', "load-file", "FILE", "the machine (default: conf/default), or", "@file"},
    {OPTION_LONG('l'), "local", NULL, "this machine, as hwloc sees it", NULL},
    {'f', "load-format", "FORMAT",
     "of FILE: grug (default), hwloc, jgf, rv1exec, jgf_shorthand, rv1exec_force",
     "grug hwloc jgf jgf_shorthand rv1exec rv1exec_force"},
    {'W', "load-allowlist", "TYPES", "load only these types: node,core; for hwloc", NULL},
    {'P', "match-policy", "POLICY",
     "first (default), firstnodex, low, high, lonode, hinode, lonodex, hinodex, locality, "
     "variation, pack, spread, balance",
     "first firstnodex low high lonode hinode lonodex hinodex locality variation pack spread "
     "balance"},
    {'S', "match-subsystems", "NAME", "CA (default), IBA, PA, C+PA, ... ALL", "CA IBA PA C+PA ALL"},
    {'T', "traverser-policy", "simple|flexible", "simple is usual", "simple flexible"},
    {'p', "prune-filters", "ABOVE:BELOW", "free resources to count (ALL:core,ALL:node)", NULL},
    {'F', "match-format", "FORMAT",
     "results: simple (default), pretty_simple, rlite, rv1[_nosched|_shorthand], jgf[_shorthand]",
     "simple pretty_simple rlite rv1 rv1_nosched rv1_shorthand jgf jgf_shorthand"},
    {'t', "test-output", "FILE", "where results go (default: standard output)", "@file"},
    {'o', "graph-output", "BASE", "write the graph to BASE.dot at the end", "@file"},
    {'g', "graph-format", "dot|graphml", "graphml for BASE.graphml", "dot graphml"},
    {'e', "elapse-time", NULL, "print what loading and matching cost", NULL},
    {'d', "disable-prompt", NULL, "print no prompt", NULL},
    {'r', "reserve-vtx-vec", "N", "accepted, without effect", NULL},
    {0}};

const struct option_table query_options = {
    .verb = "query",
    .usage = "usage: berth query [OPTION]... -L FILE\n"
             "Match jobs to a machine's resources; commands come from standard input: try\n"
             "'help'.\n",
    .rows = rows,
    .notes = "Example: echo match allocate job.yaml | berth query -L machine.graphml\n"
             "Manual: man berth-query\n"};

/* Append to a list that may be given in parts; blank parts are ignored. */
static int append_value(char **list, const char *gap, const char *part)
{
    char *longer;
    if (part[strspn(part, " ")] == '\0')
        return 0;
    if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? gap : "", part) < 0) {
        errno = ENOMEM;
        return -1;
    }
    free(*list);
    *list = longer;
    return 0;
}

static bool allow(struct query_options *o, const char *types)
{
    if (types[strspn(types, " ")] == '\0')
        return true;
    return append_value(&o->allowlist, "", ALLOWLIST_ALWAYS) == 0 &&
           append_value(&o->allowlist, "", types) == 0;
}

static bool is_load_format(const char *word)
{
    static const char *const formats[] = {"grug",          "hwloc",   "jgf",
                                          "jgf_shorthand", "rv1exec", "rv1exec_force"};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(word, formats[i]) == 0)
            return true;
    return false;
}

static void reserve_option(const char *number)
{
    char *end;
    errno = 0;
    long n = strtol(number, &end, 10);
    if (errno != 0 || end == number || *end || n < 0 || n > RESERVE_MAX)
        fprintf(stderr, "WARN: out of range specified for --reserve-vtx-vec: %.60s\n", number);
}

static bool unknown_format(int id, const char *word)
{
    cli_usage("query", "--%s: unknown format '%.60s'", option_name(&query_options, id), word);
    return false;
}

/* An option that chooses among words. */
static bool parse_choice(int id, const char *word, struct query_options *o)
{
    switch (id) {
    case 'f':
        o->load_format = word;
        return is_load_format(word) || unknown_format(id, word);
    case 'F':
        o->match_format = word;
        return write_format_parse(word) >= 0 || unknown_format(id, word);
    case 'g':
        o->graphml = strcasecmp(word, "graphml") == 0;
        return o->graphml || strcasecmp(word, "dot") == 0 || unknown_format(id, word);
    case 'P':
        o->match.policy = word;
        return true;
    case 'S':
        o->match.matcher = word;
        return true;
    case 'T':
        o->match.traverser = word;
        return true;
    }
    return false;
}

static bool parse_name(const char *option, const char *word, const char **name)
{
    *name = word;
    if (!*word)
        cli_usage("query", "--%s: the file's name is empty", option);
    return *word;
}

static bool parse_query_option(int id, const char *word, struct query_options *o)
{
    switch (id) {
    case 'L':
        return parse_name("load-file", word, &o->load_file);
    case 'o':
        return parse_name("graph-output", word, &o->graph_output);
    case 't':
        return parse_name("test-output", word, &o->test_output);
    case 'W':
    case 'p':
        if (id == 'W' ? allow(o, word) : append_value(&o->filters, ",", word) == 0)
            return true;
        fputs("berth query: out of memory\n", stderr);
        return false;
    case 'r':
        reserve_option(word);
        return true;
    case 'e':
        o->elapse = true;
        return true;
    case 'd':
        o->no_prompt = true;
        return true;
    case OPTION_LONG('l'):
        o->local = true;
        return true;
    }
    return parse_choice(id, word, o);
}

static bool check_together(struct query_options *o, int nargs, char **args, bool format_given)
{
    if (nargs > 0)
        cli_usage("query", "'%.60s' is not an option; commands come from standard input", args[0]);
    else if (o->local && o->load_file)
        cli_usage("query", "either --load-file or --local");
    else if (o->local && format_given)
        cli_usage("query", "--load-format is for --load-file");
    else
        return true;
    return false;
}

static bool parse_all(int argc, char **argv, struct query_options *o, int *status)
{
    bool format_given = false;
    int option;
    *status = CLI_USAGE;
    optind = 0; /* resets getopt_long wherever an earlier caller left it */
    while ((option = option_next(&query_options, argc, argv)) != -1) {
        if (option == 'h')
            *status = option_help(&query_options);
        if (option == 'h' || option == '?')
            return false;
        if (!parse_query_option(option, optarg, o))
            return false;
        format_given = format_given || option == 'f';
    }
    return check_together(o, argc - optind, argv + optind, format_given);
}

bool query_options_parse(int argc, char **argv, struct query_options *ret, int *status)
{
    struct query_options o = {.load_format = "grug", .match_format = "simple"};
    if (!parse_all(argc, argv, &o, status)) {
        query_options_clear(&o);
        return false;
    }
    if (!o.load_file && !o.local)
        o.load_file = DEFAULT_FILE;
    o.match.filters = o.filters;
    *ret = o;
    return true;
}

void query_options_clear(struct query_options *o)
{
    free(o->allowlist);
    free(o->filters);
    memset(o, 0, sizeof(*o));
}
