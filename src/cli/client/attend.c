#include "cli/client/attend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "berth/jobspec.h"
#include "cli/client/attach.h"
#include "cli/client/connection.h"
#include "cli/client/follow.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/verb.h"

/* Print how the job ended, if its status alone does not say. */
static void report_end(const char *verb, int64_t id, const struct follow_end *end)
{
    if (end->left) {
        fprintf(stderr, "berth %s: left job %" PRId64 "\n", verb, id);
    } else if (end->reason[0] && strcmp(end->reason, end->state) != 0) {
        struct strbuf words = {0};
        listing_put_reason(&words, end->reason);
        fprintf(stderr, "berth %s: job %" PRId64 ": %s: ", verb, id, end->state);
        terminal_print(stderr, strbuf_text(&words));
        fputc('\n', stderr);
        strbuf_clear(&words);
    } else if (end->state[0] == 'c' || end->state[0] == 't') {
        fprintf(stderr, "berth %s: job %" PRId64 ": %s\n", verb, id, end->state);
    }
}

/* Whether standard output and standard error are one file: then the job's are too, so that their order is kept. */
static bool are_one(void)
{
    struct stat out, error;
    return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &error) == 0 &&
           out.st_dev == error.st_dev && out.st_ino == error.st_ino;
}

/* Whether a jobspec says so. What is wrong with it the server says. */
static bool is_gang_spec(const char *text)
{
    berth_error_t err;
    jobspec_t *spec = text ? jobspec_parse(text, strlen(text), NULL, &err) : NULL;
    bool is_gang = spec && spec->gang.members > 0;
    jobspec_destroy(spec);
    return is_gang;
}

/* Whether it has several members, as arrays and gangs have, of which none can have our input. */
static bool has_members(const struct request *r)
{
    return json_object_get(r->job, "array") || json_object_get(r->job, "gang") ||
           json_object_get(r->job, "roles") ||
           is_gang_spec(json_string_value(json_object_get(r->job, "jobspec")));
}

/* Attach the job to our standard input, or to a terminal. *a stays NULL if it is to be attached to nothing. */
static int attach_job(const struct request *r, struct attach **a, berth_error_t *err)
{
    enum attach_as as = r->pty ? ATTACH_TERMINAL : attach_input();
    if (!r->pty && (r->used_input || json_object_get(r->job, "input") || has_members(r) ||
                    as == ATTACH_NOTHING))
        return 0;
    *a = attach_open(as, err);
    if (!*a)
        return -1;
    json_object_set_new(r->job, "attach", attach_request(*a));
    if (r->pty)
        json_object_set_new(r->job, "output", json_string("/dev/null"));
    return 0;
}

/* Print what is known of the job, with the status of this program. 0, or -1 with errno and a text. */
static int print_record(struct connection *connection, int64_t id, int status, berth_error_t *err)
{
    char path[48];
    json_t *job = NULL;
    snprintf(path, sizeof(path), "/v1/jobs/%" PRId64, id);
    if (connection_ask(connection, "GET", path, NULL, &job, err) < 0)
        return -1;
    json_object_del(job, "request");
    json_object_del(job, "script");
    json_object_set_new(job, "status", json_integer(status));
    answer_print(job);
    json_decref(job);
    return 0;
}

/* What is said of the job's end comes after the last of its terminal. */
static int submit_and_follow(struct connection *connection, const struct request *r,
                             struct attach **attached, berth_error_t *err)
{
    struct follow_end end;
    json_t *answer = NULL;
    if (connection_ask(connection, "POST", "/v1/jobs", r->job, &answer, err) < 0)
        return connection_failed(connection, err);
    struct job_bar bar;
    job_bar_begin(&bar);
    struct follow follow = {.connection = connection,
                            .bar = r->json ? NULL : &bar,
                            .id = json_integer_value(json_object_get(answer, "id")),
                            .member = -1,
                            .output = !r->has_output && !r->pty && !r->json,
                            .may_cancel = true};
    json_decref(answer);
    int rc = follow_job(&follow, &end, err);
    attach_close(*attached);
    *attached = NULL;
    if (rc == 0 && r->json)
        rc = print_record(connection, follow.id, end.status, err);
    if (rc < 0)
        return connection_failed(connection, err);
    if (!r->json)
        report_end(connection->verb, follow.id, &end);
    return end.status;
}

static int unfit_for_terminal(const struct request *r, const char *verb)
{
    static const char *const keys[] = {"output", "error", "input", "array", "gang", "roles"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (json_object_get(r->job, keys[i]))
            return cli_usage(verb, "a job with a terminal takes no --%s",
                             strcmp(keys[i], "roles") == 0 ? "role" : keys[i]);
    return CLI_OK;
}

/* A file of this folder is no program by its name alone, as in a shell. */
static void warn_of_file(const json_t *job, const char *verb)
{
    const char *name = json_string_value(json_array_get(json_object_get(job, "command"), 0));
    if (name && *name && !strchr(name, '/') && access(name, X_OK) == 0 && !request_is_program(name))
        fprintf(stderr, "berth %s: there is no program '%s'; the file of this folder is ./%s\n",
                verb, name, name);
}

int attend_job(struct request *r, const char *verb)
{
    struct connection connection;
    struct attach *attached = NULL;
    berth_error_t err;
    int status = r->pty ? unfit_for_terminal(r, verb) : CLI_OK;

    if (status != CLI_OK)
        return status;
    if (r->pty && r->json)
        return cli_usage(verb, "a job with a terminal takes no --json");
    if (!r->pty && !r->json && !r->has_output && !json_object_get(r->job, "error") && !are_one())
        json_object_set_new(r->job, "apart", json_true());
    warn_of_file(r->job, verb);
    if (connection_open(&connection, verb, &err) < 0 || connection_start(&connection, &err) < 0 ||
        attach_job(r, &attached, &err) < 0)
        status = connection_failed(&connection, &err);
    else
        status = submit_and_follow(&connection, r, &attached, &err);
    attach_close(attached);
    connection_close(&connection);
    return status;
}
