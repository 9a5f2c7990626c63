/* berth show: everything about a job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/named_jobs.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/option_table.h"
#include "cli/show_events.h"
#include "cli/show_roles.h"
#include "cli/verb.h"

static const struct option_row rows[] = {
    {OPTION_LONG('j'), "json", NULL,
     "print the job as a JSON object; \"request\" is what was submitted", NULL},
    {0}};

const struct option_table show_options = {
    .verb = "show",
    .usage = "usage: berth show [--json] [JOB]\n"
             "Show everything about a job, by default the last you submitted, or a member of\n"
             "an array: what it asked for, which resources it holds or held, how it ended, and\n"
             "its events.\n",
    .rows = rows,
    .notes = "Exit status: 0 shown, 1 there is no such job, 2 wrong command line.\n"
             "Example: berth show 17\n"
             "Manual: man berth-show\n",
    .complete = "@job"};

#define NAME_WIDTH 14

static bool is_time(const char *key)
{
    static const char *const times[] = {"submit",   "start", "end",     "until",
                                        "estimate", "begin", "deadline"};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (strcmp(key, times[i]) == 0)
            return true;
    return false;
}

static bool is_span(const char *key)
{
    return strcmp(key, "duration") == 0 || strcmp(key, "planned") == 0 ||
           strcmp(key, "cpu_time") == 0;
}

/* Users chose this text, and root may read it. */
static void print_member_json(const json_t *value)
{
    char *json = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

    terminal_print(stdout, json ? json : "");
    free(json);
}

/* Each line of a text apart, indented. */
static void print_lines(const char *key, const char *text)
{
    puts(key);
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        char *copy = strndup(line, n);
        fputs(n > 0 ? "  " : "", stdout);
        terminal_print(stdout, copy ? copy : "");
        putchar('\n');
        free(copy);
        line += n + (line[n] == '\n');
    }
}

static void print_reason(const char *key, const char *text)
{
    struct strbuf words = {0};
    listing_put_reason(&words, text);
    printf("%-*s ", NAME_WIDTH, key);
    terminal_print(stdout, strbuf_text(&words));
    putchar('\n');
    strbuf_clear(&words);
}

/* Print a text that has a form of its own. Returns whether it has. */
static bool print_text(const char *key, const char *text)
{
    static const struct {
        const char *key;
        void (*print)(const char *key, const char *text);
    } forms[] = {{"reason", print_reason}, {"script", print_lines}};

    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        if (strcmp(forms[i].key, key) == 0) {
            forms[i].print(key, text);
            return true;
        }
    }
    return false;
}

/* Print a value of the record on a line; null and empty values are left out. */
static void print_value(const char *key, const json_t *value)
{
    char text[WHEN_SIZE];

    if (json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0))
        return;
    printf("%-*s ", NAME_WIDTH, key);
    if (json_is_number(value) && is_time(key)) {
        puts(when_put(json_number_value(value), text));
    } else if (json_is_number(value) && is_span(key)) {
        puts(when_span(json_number_value(value), text));
    } else if (json_is_string(value)) {
        terminal_print(stdout, json_string_value(value));
        putchar('\n');
    } else {
        print_member_json(value);
        putchar('\n');
    }
}

/* Of an array: "95 pending, 3 running", and which. */
static void print_members(const json_t *job)
{
    const json_t *ranges = json_object_get(job, "ranges"),
                 *summary = json_object_get(job, "summary");
    long long id = json_integer_value(json_object_get(job, "id"));
    char text[LISTING_STATE_SIZE];
    int64_t counts[LISTING_STATES];

    for (int i = 0; i < LISTING_STATES; i++)
        counts[i] = json_integer_value(json_object_get(summary, listing_states[i]));
    printf("%-*s %s\n", NAME_WIDTH, "summary", listing_counts(counts, text));
    for (int i = 0; i < LISTING_STATES; i++)
        if (json_object_get(ranges, listing_states[i]))
            printf("%-*s %lld[%s]\n", NAME_WIDTH, listing_states[i], id,
                   answer_text(ranges, listing_states[i]));
}

static void print_job_fields(const json_t *job)
{
    char text[WHEN_SIZE];
    const char *key;
    json_t *value;
    bool not_before = json_is_true(json_object_get(job, "not_before"));
    json_object_foreach ((json_t *)job, key, value) {
        if (strcmp(key, "estimate") == 0 && not_before && json_is_number(value))
            printf("%-*s %s\n", NAME_WIDTH, "not before", when_put(json_number_value(value), text));
        else if (strcmp(key, "summary") == 0)
            print_members(job);
        else if (strcmp(key, "roles") == 0)
            show_roles(job, NAME_WIDTH);
        else if (strcmp(key, "ranges") == 0)
            continue;
        else if (json_is_string(value) && print_text(key, json_string_value(value)))
            continue;
        else if (strcmp(key, "request") != 0 && strcmp(key, "not_before") != 0)
            print_value(key, value);
    }
}

/* What it has used of what it held, once it has ended. */
static void print_used(const json_t *job)
{
    double start = answer_number(job, "start"), end = answer_number(job, "end");
    double cores = answer_number(job, "cores"), cpu = answer_number(job, "cpu_time");
    double memory = answer_number(job, "memory"), peak = answer_number(job, "peak_memory");

    if (json_object_get(job, "summary")) /* of an array, members ran at several times */
        return;
    if (json_is_number(json_object_get(job, "cpu_time")) && start > 0 && end > start && cores > 0)
        printf("%-*s %.0f%%, %.1f of %.0f core%s\n", NAME_WIDTH, "cpu used",
               100 * cpu / (end - start) / cores, cpu / (end - start), cores, cores > 1 ? "s" : "");
    if (json_is_number(json_object_get(job, "peak_memory")) && memory > 0)
        printf("%-*s %.0f%% of what was asked for\n", NAME_WIDTH, "memory used",
               100 * peak / memory);
}

static int show_one_job(struct connection *connection, int64_t id, int64_t member, bool json,
                        berth_error_t *err)
{
    struct strbuf path = {0};
    json_t *job = NULL, *events = NULL;

    route_job(&path, id, member, "");
    int rc = connection_ask(connection, "GET", strbuf_text(&path), NULL, &job, err);
    if (rc == 0 && json) {
        answer_print(job);
    } else if (rc == 0) {
        print_job_fields(job);
        print_used(job);
        strbuf_puts(&path, "/events");
        /* The events of other users' jobs can't be seen. */
        if (connection_ask(connection, "GET", strbuf_text(&path), NULL, &events, err) == 0)
            show_events(json_object_get(events, "events"),
                        member >= 0 || !json_object_get(job, "summary"));
    }
    strbuf_clear(&path);
    json_decref(job);
    json_decref(events);
    return rc;
}

int cli_show(int argc, char **argv)
{
    return named_job(&show_options, argc, argv, show_one_job);
}
