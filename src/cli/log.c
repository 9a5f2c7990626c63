/* berth log: the output of a job. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/follow.h"
#include "cli/client/last.h"
#include "cli/client/output.h"
#include "cli/option_table.h"
#include "cli/verb.h"
#include "config/ids.h"

static const struct option_row rows[] = {
    {'e', "error", NULL, "print standard error, if it has a file of its own", NULL},
    {'f', "follow", NULL, "continue until the job has ended, with standard error", NULL},
    {0}};

const struct option_table log_options = {
    .verb = "log",
    .usage = "usage: berth log [OPTION]... [JOB]\n"
             "Print the output file of a job, by default the last you submitted. For an array,\n"
             "name a member, 17[2], or follow all members: each line is then preceded by its\n"
             "member's number.\n",
    .rows = rows,
    .notes = "Exit status: 0 printed, 1 there is no such file, 2 wrong command line.\n"
             "Example: berth log -f 17\n"
             "Manual: man berth-log\n",
    .complete = "@job"};

/* An array has no output of its own: say how to ask for that of a member. */
static int refuse_array(const json_t *job, int64_t id, berth_error_t *err)
{
    const char *indices = json_string_value(json_object_get(job, "indices"));
    long long first = indices ? strtoll(indices, NULL, 10) : 0;
    return errtext_set(err, EINVAL, "%lld is an array, expected one of its members, %lld[%lld]",
                       (long long)id, (long long)id, first);
}

/* There is no file: that it has not been made yet, or never will be, is told as the reason. */
static int no_file(const json_t *job, const char *word, const char *path, int errnum,
                   berth_error_t *err)
{
    const char *state = json_string_value(json_object_get(job, "state"));
    const char *reason = json_string_value(json_object_get(job, "reason"));
    bool waits = state && (strcmp(state, "pending") == 0 || strcmp(state, "held") == 0);
    if (errnum != ENOENT || json_is_number(json_object_get(job, "start")))
        return errtext_set(err, errnum, "%s: %s", path, strerror(errnum));
    if (waits)
        return errtext_set(err, ENOENT, "job %s has not started yet", word);
    return errtext_set(err, ENOENT, "job %s did not start%s%s", word, reason ? ": " : "",
                       reason ? reason : "");
}

static int print_log(struct connection *connection, const char *word, int64_t id, int64_t member,
                     bool error, berth_error_t *err)
{
    struct tail tail = {.fd = -1, .to = STDOUT_FILENO};
    struct strbuf where = {0};
    json_t *job = NULL;
    int rc;

    route_job(&where, id, member, "");
    rc = connection_ask(connection, "GET", strbuf_text(&where), NULL, &job, err);
    strbuf_clear(&where);
    if (rc < 0)
        return -1;
    const char *path = json_string_value(json_object_get(job, error ? "error" : "output"));
    if (error && !path)
        path = json_string_value(json_object_get(job, "output"));
    if (member < 0 && json_integer_value(json_object_get(job, "members")) > 1)
        rc = refuse_array(job, id, err);
    else if (!path)
        rc = errtext_set(err, ENOENT, "there is no output file, or you may not read it");
    else if (access(path, R_OK) < 0)
        rc = no_file(job, word, path, errno, err);
    else {
        fflush(stdout);
        if (tail_is(&tail, path, -1) < 0)
            rc = errtext_set(err, errno, "%s: %s", path, strerror(errno));
    }
    tail_close(&tail);
    json_decref(job);
    return rc;
}

static int show_log(const char *word, bool follow, bool error)
{
    struct connection connection = {.verb = "log"};
    char room[LAST_WORD_SIZE];
    berth_error_t err;
    int64_t id, member;
    int status = CLI_OK;

    word = last_word(&connection, word, room, &err);
    if (word && ids_read_one(word, &id, &member, &err) < 0) {
        connection_close(&connection);
        return cli_usage("log", "%s", err.text);
    }
    if (!word || (!connection.client && connection_open(&connection, "log", &err) < 0)) {
        status = connection_failed(&connection, &err);
    } else if (follow) {
        struct follow f = {.connection = &connection, .id = id, .member = member, .output = true};
        struct follow_end end;
        if (follow_job(&f, &end, &err) < 0)
            status = connection_failed(&connection, &err);
    } else if (print_log(&connection, word, id, member, error, &err) < 0) {
        status = connection_failed(&connection, &err);
    }
    connection_close(&connection);
    return status;
}

int cli_log(int argc, char **argv)
{
    bool follow = false, error = false;
    int c;

    while ((c = option_next(&log_options, argc, argv)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        if (c == 'h')
            return option_help(&log_options);
        follow = follow || c == 'f';
        error = error || c == 'e';
    }
    if (argc - optind > 1)
        return cli_usage("log", "expected one job");
    return show_log(argv[optind], follow, error);
}
