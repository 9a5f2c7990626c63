/* berth wait: wait until jobs have ended. */

#include "cli/client/connection.h"
#include "cli/client/follow.h"
#include "cli/client/last.h"
#include "cli/option_table.h"
#include "cli/verb.h"
#include "config/ids.h"

static const struct option_row rows[] = {
    {OPTION_LONG('p'), "progress", NULL,
     "on a terminal, show how many have ended, and until when the others take if they go as fast",
     NULL},
    {OPTION_LONG('j'), "json", NULL, "print how each has ended, when all have", NULL},
    {0}};

const struct option_table wait_options = {
    .verb = "wait",
    .usage = "usage: berth wait [OPTION]... [JOB]...\n"
             "Wait until jobs have ended, by default the last you submitted. A JOB is an id, a\n"
             "member of an array, a range of ids, or 'last'.\n",
    .rows = rows,
    .notes = "Exit status: that of the job, or 128 + its signal; 1 if it never ran, was lost\n"
             "or is not known; for several jobs, the highest. 2 may also mean a wrong command\n"
             "line.\n"
             "Example: id=$(berth submit make) && berth wait \"$id\"\n"
             "Manual: man berth-wait\n",
    .complete = "@job last"};

struct waiting {
    struct connection connection;
    int status;
    bool progress;
    struct job_bar bar;
    size_t done, all; /* jobs that were waited for, of those named */
    json_t *ends;     /* of each, for --json; else NULL */
};

/* Note how one has ended. */
static void note_end(struct waiting *w, int64_t id, int64_t member, const struct follow_end *end)
{
    json_t *job = json_pack("{s:I, s:s, s:i}", "id", (json_int_t)id, "state", end->state, "status",
                            end->status);
    if (member >= 0)
        json_object_set_new(job, "member", json_integer(member));
    if (end->reason[0])
        json_object_set_new(job, "reason", json_string(end->reason));
    json_array_append_new(w->ends, job);
}

static int wait_for_job(void *context, int64_t id, int64_t member, bool ranged)
{
    struct waiting *w = context;
    struct follow follow = {.connection = &w->connection, .id = id, .member = member};
    bool alone = w->all == 1;
    if (w->progress && alone)
        follow.bar = &w->bar;
    else if (w->progress)
        job_bar_count(&w->bar, w->done, w->all, w->bar.failed);
    struct follow_end end;
    berth_error_t err;
    int status;

    (void)ranged;
    if (follow_job(&follow, &end, &err) < 0) {
        status = connection_failed(&w->connection, &err);
    } else {
        status = end.status;
        if (w->ends)
            note_end(w, id, member, &end);
    }
    if (status > w->status)
        w->status = status;
    w->done++;
    w->bar.failed += !alone && status != 0;
    return 0;
}

static int count_job(void *context, int64_t id, int64_t member, bool ranged)
{
    size_t *all = context;
    (void)id;
    (void)member;
    (void)ranged;
    (*all)++;
    return 0;
}

/* Wait for all of them, one after the other: those that have ended meanwhile take no time. */
static void wait_for_all(struct waiting *w, const struct ids *ids, bool json)
{
    w->ends = json ? json_array() : NULL;
    ids_each(ids, count_job, &w->all);
    job_bar_begin(&w->bar);
    ids_each(ids, wait_for_job, w);
    job_bar_hide(&w->bar);
    if (json)
        answer_print(w->ends);
    json_decref(w->ends);
}

int cli_wait(int argc, char **argv)
{
    struct waiting w = {.connection = {.verb = "wait"}, .status = CLI_OK};
    char word[] = "last", *last[] = {word};
    struct ids ids;
    berth_error_t err;
    bool json = false;
    int c;

    while ((c = option_next(&wait_options, argc, argv)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        if (c == 'h')
            return option_help(&wait_options);
        *(c == OPTION_LONG('p') ? &w.progress : &json) = true;
    }
    bool named = optind < argc;
    char **words = last_words(&w.connection, named ? argv + optind : last,
                              named ? (size_t)(argc - optind) : 1, &err);
    if (words && ids_read(&ids, words, named ? (size_t)(argc - optind) : 1, &err) < 0) {
        last_words_free(words);
        connection_close(&w.connection);
        return cli_usage("wait", "%s", err.text);
    }
    if (!words || (!w.connection.client && connection_open(&w.connection, "wait", &err) < 0))
        w.status = connection_failed(&w.connection, &err);
    else
        wait_for_all(&w, &ids, json);
    connection_close(&w.connection);
    if (words)
        ids_clear(&ids);
    last_words_free(words);
    return w.status;
}
