/* berth history: jobs that have ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/history_plot.h"
#include "cli/option_table.h"
#include "cli/verb.h"

static const struct option_row rows[] = {
    {'r', "array", NULL, "a line for each member of an array that has ended", NULL},
    {'n', "limit", "N", "at most N jobs (20); 0: all", NULL},
    {'u', "user", "NAME", "only jobs of this user", "@user"},
    {'q', "queue", "NAME", "only jobs in this queue", "@queue"},
    {'s', "state", "LIST", "only jobs in these states: done, failed, cancelled, timeout",
     "done failed cancelled timeout"},
    {OPTION_LONG('N'), "name", "NAME", "only jobs with this name", NULL},
    {OPTION_LONG('L'), "label", "NAME[=TEXT]",
     "with this label, whatever its text, or with this text", NULL},
    {OPTION_LONG('S'), "since", "TIME", "that ended after 2h (ago), 08:30, 2026-11-22", NULL},
    {OPTION_LONG('m'), "me", NULL, "only your own", NULL},
    {'o', "columns", "LIST", "these keys of --json as columns", NULL},
    {OPTION_LONG('F'), "format", "WORD", "table, json or csv", "table json csv"},
    {OPTION_LONG('j'), "json", NULL, "print an array of objects", NULL},
    {OPTION_LONG('H'), "no-header", NULL, "print no header line", NULL},
    {OPTION_LONG('p'), "plot", "FILE.svg", "draw who had which cores when, and promised starts",
     "@file"},
    {OPTION_LONG('B'), "plot-by", "WORD", "colours stand for a user, queue or state (user)",
     "user queue state"},
    {0}};

const struct option_table history_options = {
    .verb = "history",
    .usage = "usage: berth history [OPTION]...\n"
             "List jobs that have ended, newest first; an array is one line.\n",
    .rows = rows,
    .notes = "EXIT is the exit status or the signal; MEMORY is the peak memory use.\n"
             "Exit status: 0 listed, 1 failed, 2 wrong command line.\n"
             "Example: berth history -s failed --since 1d\n"
             "Manual: man berth-history\n"};

static const struct table_column columns[] = {
    {"ID", true, 0},     {"NAME", false, 20}, {"USER", false, 12}, {"QUEUE", false, 12},
    {"STATE", false, 0}, {"CORES", true, 0},  {"EXIT", false, 0},  {"ENDED", false, 0},
    {"TIME", true, 0},   {"CPU", true, 0},    {"MEMORY", true, 0}, {"REASON", false, 0},
    {NULL, false, 0}};

static const char *size_text(double bytes, char text[32])
{
    static const char units[] = "BKMGTP";
    size_t i = 0;

    if (bytes < 0) {
        text[0] = '\0';
        return text;
    }
    for (; bytes >= 1024 && i + 2 < sizeof(units); i++)
        bytes /= 1024;
    snprintf(text, 32, bytes < 10 && i ? "%.1f%c" : "%.0f%c", bytes, units[i]);
    return text;
}

static void put_history_row(struct table *t, const struct fields *job, const char *states,
                            double now)
{
    char text[WHEN_SIZE], size[32], exit[24] = "";
    double start = fields_number(job, "start"), end = fields_number(job, "end");
    double cpu = fields_number(job, "cpu_time");
    int code = (int)fields_number(job, "exit"), signal = (int)fields_number(job, "signal");

    (void)now;
    if (signal > 0)
        snprintf(exit, sizeof(exit), "%s", sigabbrev_np(signal) ? sigabbrev_np(signal) : "signal");
    else if (code >= 0)
        snprintf(exit, sizeof(exit), "%d", code);
    listing_id(t, job, states);
    listing_text(t, job, "name");
    listing_text(t, job, "user");
    listing_text(t, job, "queue");
    listing_state(t, job);
    listing_count(t, job, "cores");
    table_cell(t, exit);
    table_cell(t, when_put(end, text));
    table_cell(t, start < 0 || end < 0 ? "" : when_span(end - start, text));
    table_cell(t, cpu < 0 ? "" : when_span(cpu, text));
    table_cell(t, size_text(fields_number(job, "peak_memory"), size));
    listing_reason(t, job);
}

/* Seconds since 1970, as a query has them. */
static bool read_since(const char *text, char out[48])
{
    double at;

    if (when_read_past(text, time(NULL), &at) < 0)
        return false;
    snprintf(out, 48, "%.0f", at < 0 ? 0 : at);
    return true;
}

/* ---- The verb ---- */

#define ENDED   "done,failed,cancelled,timeout"
#define LISTED  "20"
#define PICTURE "500"

/* What a command line asks for. */
struct history {
    struct strbuf path; /* with what jobs must have in common, whether they have ended or not */
    char since[48];     /* "": any time */
    const char *limit, *states, *plot, *by, *queue;
    struct chosen chosen;
    bool json, by_member, headless, wants_help;
};

static void put_history_list(struct strbuf *path, const struct history *h, const char *states,
                             const char *since)
{
    strbuf_put(path, h->path.data, h->path.len);
    route_query(path, "state", states);
    if (*since)
        route_query(path, "since", since);
}

static int print_history(struct connection *connection, struct history *h)
{
    const struct listing_style style = {.json = h->json,
                                        .headless = h->headless,
                                        .columns = columns,
                                        .leave = "CPU,QUEUE,MEMORY,USER,CORES,TIME",
                                        .row = put_history_row,
                                        .states = h->states,
                                        .queue = h->queue,
                                        .chosen = &h->chosen};
    struct strbuf path = {0};
    put_history_list(&path, h, h->states ? h->states : ENDED, h->since);
    if (!h->by_member)
        route_query(&path, "arrays", "1");
    listing_limit(&path, h->limit ? h->limit : LISTED);
    int status = listing_print(connection, strbuf_text(&path), &style);
    strbuf_clear(&path);
    return status;
}

static int plot_history(struct connection *connection, struct history *h)
{
    struct strbuf ran = {0}, waiting = {0};
    berth_error_t err;
    put_history_list(&ran, h, h->states ? h->states : ENDED ",running", h->since);
    put_history_list(&waiting, h, "pending", "");
    listing_limit(&ran, h->limit ? h->limit : PICTURE);
    int status = history_plot(connection, strbuf_text(&ran),
                              h->states ? NULL : strbuf_text(&waiting), h->plot, h->by, &err) < 0
                     ? connection_failed(connection, &err)
                     : CLI_OK;
    strbuf_clear(&ran);
    strbuf_clear(&waiting);
    return status;
}

static bool is_word(const char *const *words, const char *word)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* Whether a file's name says that it is a picture of another format. */
static bool is_other_picture(const char *file)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg", ".gif", ".pdf",
                                          ".ps",  ".eps", ".webp", NULL};
    const char *ending = strrchr(file, '.');
    for (size_t i = 0; ending && endings[i]; i++)
        if (strcasecmp(ending, endings[i]) == 0)
            return true;
    return false;
}

/* Take an option. 0, or the status of a wrong one. */
static int take_history_option(struct history *h, int c)
{
    struct strbuf number = {0};
    berth_error_t err;
    if (c == OPTION_LONG('S') && !read_since(optarg, h->since))
        return cli_usage("history", "--since is '%s', expected a time such as 2h or 08:30", optarg);
    if (c == 's' && !listing_states_are(optarg, LISTING_ENDED, LISTING_STATES))
        return cli_usage("history",
                         "--state is '%s', expected done, failed, cancelled or timeout; "
                         "'berth jobs' lists others",
                         optarg);
    if ((c == 'o' && chosen_read(&h->chosen, optarg, &err) < 0) ||
        (c == OPTION_LONG('F') && chosen_format(&h->chosen, optarg, &h->json, &err) < 0))
        return cli_usage("history", "%s", err.text);
    if (c == OPTION_LONG('B') && !is_word(history_plot_words, optarg))
        return cli_usage("history", "--plot-by is '%s', expected user, queue or state", optarg);
    if (c == OPTION_LONG('p') && is_other_picture(optarg))
        return cli_usage("history", "--plot is '%s', expected the name of an SVG file, %s", optarg,
                         "such as jobs.svg");
    if (c == 'n' && !listing_limit(&number, optarg))
        return cli_usage("history", "--limit is '%s', expected a whole number", optarg);
    strbuf_clear(&number);
    h->wants_help = h->wants_help || c == 'h';
    h->json = h->json || c == OPTION_LONG('j');
    h->by_member = h->by_member || c == 'r';
    h->headless = h->headless || c == OPTION_LONG('H');
    h->limit = c == 'n' ? optarg : h->limit;
    h->states = c == 's' ? optarg : h->states;
    h->plot = c == OPTION_LONG('p') ? optarg : h->plot;
    h->by = c == OPTION_LONG('B') ? optarg : h->by;
    h->queue = c == 'q' ? optarg : h->queue;
    if (c == OPTION_LONG('m'))
        listing_own(&h->path);
    else if (c == 'u' || c == 'q' || c == OPTION_LONG('N') || c == OPTION_LONG('L'))
        route_query(&h->path, option_name(&history_options, c), optarg);
    return 0;
}

int cli_history(int argc, char **argv)
{
    struct history h = {.by = "user"};
    struct connection connection;
    berth_error_t err;
    int c, status = 0;

    strbuf_puts(&h.path, "/v1/jobs?history=1&order=newest");
    while (status == 0 && (c = option_next(&history_options, argc, argv)) != -1)
        status = c == '?' ? CLI_USAGE : take_history_option(&h, c);
    if (status == 0 && h.wants_help) {
        status = option_help(&history_options);
    } else if (status == 0 && optind < argc) {
        status = cli_usage("history", "takes no job, got '%s'; 'berth jobs' does", argv[optind]);
    } else if (status == 0) {
        if (connection_open(&connection, "history", &err) < 0)
            status = connection_failed(&connection, &err);
        else
            status = h.plot ? plot_history(&connection, &h) : print_history(&connection, &h);
        connection_close(&connection);
    }
    strbuf_clear(&h.path);
    return status;
}
