#include "cli/client/named_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/last.h"
#include "cli/client/listing.h"
#include "cli/verb.h"
#include "config/ids.h"
#include "config/signals.h"

/* ---- One job ---- */

int named_job(const struct option_table *options, int argc, char **argv, named_job_tell *tell)
{
    const char *verb = options->verb;
    struct connection connection = {.verb = verb};
    char room[LAST_WORD_SIZE];
    berth_error_t err;
    int64_t id, member;
    bool json = false;
    int c, status = CLI_OK;

    while ((c = option_next(options, argc, argv)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        if (c == 'h')
            return option_help(options);
        json = true;
    }
    if (argc - optind > 1)
        return cli_usage(verb, "expected one job");
    const char *word = last_word(&connection, argv[optind], room, &err);
    if (word && ids_read_one(word, &id, &member, &err) < 0) {
        connection_close(&connection);
        return cli_usage(verb, "%s", err.text);
    }
    if (!word || (!connection.client && connection_open(&connection, verb, &err) < 0) ||
        tell(&connection, id, member, json, &err) < 0)
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    return status;
}

/* ---- Many jobs ---- */

/* The selected jobs, as the API takes them. NULL with ENOMEM. */
static json_t *pack(char **words, int n, json_t *filter, json_t *more)
{
    json_t *body = more ? json_copy(more) : json_object();
    json_t *jobs = filter ? json_copy(filter) : json_object();
    json_t *ids = n > 0 ? json_array() : NULL;
    bool failed = !body || !jobs || (n > 0 && !ids);

    for (int i = 0; i < n && !failed; i++)
        failed = json_array_append_new(ids, json_string(words[i])) < 0;
    failed = failed || (ids && json_object_set(jobs, "ids", ids) < 0) ||
             json_object_set(body, "jobs", jobs) < 0;
    json_decref(ids);
    json_decref(jobs);
    if (!failed)
        return body;
    json_decref(body);
    errno = ENOMEM;
    return NULL;
}

static void tell_refused(const char *verb, const json_t *refused)
{
    const json_t *one;
    char name[JOB_ID_SIZE];
    berth_error_t why;
    size_t i;

    json_array_foreach (refused, i, one) {
        const json_t *member = json_object_get(one, "member");
        job_id_text(json_integer_value(json_object_get(one, "id")),
                    json_is_integer(member) ? json_integer_value(member) : -1, name);
        errtext_set(&why, 0, "%s", answer_text(json_object_get(one, "error"), "message"));
        fprintf(stderr, "berth %s: %s: %s\n", verb, name, why.text);
    }
}

/* Print which jobs were refused, or that there was none to change; or the answer as it is. Returns the exit status. */
static int report(const char *verb, const json_t *answer, bool named, bool json)
{
    const json_t *refused = json_object_get(answer, "refused");
    double done = answer_number(answer, "done"), late = answer_number(answer, "passed_over");
    bool failed = json_array_size(refused) > 0 || (done == 0 && (named || late > 0));

    if (json)
        answer_print(answer);
    else if (json_array_size(refused) > 0)
        tell_refused(verb, refused);
    else if (!named && done == 0 && late <= 0)
        fprintf(stderr, "berth %s: there are no such jobs\n", verb);
    else if (!named && isatty(STDERR_FILENO)) /* who chose them by what they are sees how many */
        fprintf(stderr, "berth %s: %.0f%s\n", verb, done, late > 0 ? ", too late for others" : "");
    if (failed && !json && json_array_size(refused) == 0)
        fprintf(stderr, "berth %s: no such job, or it is too late\n", verb);
    return failed ? CLI_FAILED : CLI_OK;
}

/* The server does not know the path: it was started before this program was installed. */
static const berth_error_t *told_by(berth_error_t *err)
{
    errtext_set(
        err, ENOENT,
        "the server is of an older version; restart it: berth server stop, berth server start");
    return err;
}

int named_jobs_ask(const char *verb, char **words, int n, json_t *filter, json_t *more, bool json)
{
    struct connection connection = {.verb = verb};
    struct ids ids;
    struct strbuf path = {0};
    berth_error_t err;
    json_t *answer = NULL;
    int status;

    if (n == 0 && !filter)
        return cli_usage(verb, "no job given");
    char **ours = last_words(&connection, words, (size_t)n, &err);
    if (!ours) {
        status = connection_failed(&connection, &err);
        connection_close(&connection);
        return status;
    }
    if (ids_read(&ids, ours, (size_t)n, &err) < 0) {
        last_words_free(ours);
        connection_close(&connection);
        return cli_usage(verb, "%s", err.text);
    }
    ids_clear(&ids);
    json_t *body = pack(ours, n, filter, more);
    last_words_free(ours);
    strbuf_puts(&path, "/v1/jobs/");
    strbuf_puts(&path, verb);
    if (!body || path.failed)
        errtext_no_memory(&err);
    if (body && !path.failed &&
        (connection.client || connection_open(&connection, verb, &err) == 0) &&
        connection_ask(&connection, "POST", strbuf_text(&path), body, &answer, &err) == 0)
        status = report(verb, answer, n > 0, json);
    else if (errno == ENOENT)
        status = connection_failed(&connection, told_by(&err));
    else
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    strbuf_clear(&path);
    json_decref(answer);
    json_decref(body);
    return status;
}

/* Add a condition that all of these jobs meet. False: it is not UTF-8. */
static bool put_named(json_t *filter, const char *key, const char *value)
{
    return json_object_set_new(filter, key, json_string(value)) == 0;
}

/* Take an option. Returns CLI_OK, or another status after printing what is wrong. */
static int take_filter_option(const struct option_table *options, int c, json_t **filter,
                              json_t *more)
{
    const char *name = option_name(options, c);

    int number;
    if (strcmp(name, "signal") == 0)
        return signals_read(optarg, strlen(optarg), &number) && put_named(more, "signal", optarg)
                   ? CLI_OK
                   : cli_usage(options->verb, "--signal is '%s', expected a signal such as USR1",
                               optarg);
    if (strcmp(name, "state") == 0 && !listing_states_are(optarg, 0, LISTING_ENDED))
        return cli_usage(options->verb, "--state is '%s', expected pending, held or running",
                         optarg);
    if (!*filter)
        *filter = json_object();
    if (strcmp(name, "all") != 0 && !put_named(*filter, name, optarg))
        return cli_usage(options->verb, "'%s' is not UTF-8", optarg);
    return CLI_OK;
}

int named_jobs_verb(int argc, char **argv, const struct option_table *options)
{
    json_t *filter = NULL, *more = json_object();
    bool all = false, json = false;
    int c, status = CLI_OK;

    if (strcmp(option_name(options, 's'), "signal") == 0)
        put_named(more, "signal", "TERM");
    while (status == CLI_OK && (c = option_next(options, argc, argv)) != -1) {
        if (c == 'h') {
            status = option_help(options);
            goto out;
        }
        all = all || c == OPTION_LONG('a');
        json = json || c == OPTION_LONG('j');
        if (c != OPTION_LONG('j'))
            status = c == '?' ? CLI_USAGE : take_filter_option(options, c, &filter, more);
    }
    if (status == CLI_OK && all && optind < argc)
        status = cli_usage(options->verb, "--all takes no job, got '%s'", argv[optind]);
    else if (status == CLI_OK)
        status = named_jobs_ask(options->verb, argv + optind, argc - optind, filter, more, json);
out:
    json_decref(filter);
    json_decref(more);
    return status;
}
