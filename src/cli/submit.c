/* berth submit: submit a job. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/early.h"
#include "cli/client/last.h"
#include "cli/client/request.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/submit_many.h"
#include "cli/tables.h"
#include "cli/verb.h"

/* A job without a limit is stopped when a block begins. */
static void tell_block(const json_t *answer)
{
    const json_t *stopped = json_object_get(answer, "stopped");
    char when[WHEN_SIZE];
    if (!stopped)
        return;
    fputs("berth submit: it has no time limit: it is stopped when block ", stderr);
    terminal_print(stderr, json_string_value(json_object_get(stopped, "block")));
    fprintf(stderr, " begins, at %s\n",
            when_put(json_number_value(json_object_get(stopped, "at")), when));
}

void would_start_print(const json_t *answer)
{
    const json_t *start = json_object_get(answer, "start");
    char span[WHEN_SIZE], when[WHEN_SIZE];
    const char *reason = json_string_value(json_object_get(answer, "reason"));

    if (json_is_true(json_object_get(answer, "now")))
        printf("It would start now.");
    else if (json_is_number(start) && when_is_far(json_number_value(start)))
        printf("It would start on other nodes: what is there is taken back before it would end.");
    else if (json_is_number(start))
        printf(
            json_is_true(json_object_get(answer, "not_before"))
                ? "It would not start within %s, before %s, unless jobs end earlier than planned."
            : json_is_true(json_object_get(answer, "expected"))
                ? "It would be expected to start in %s, at %s, later if others take longer than "
                  "expected."
                : "It would have a reservation and start in %s, at %s, at the latest.",
            when_span(json_number_value(start) - (double)time(NULL), span),
            when_put(json_number_value(start), when));
    else
        printf(json_is_true(json_object_get(answer, "never"))
                   ? "It would never start."
                   : "Nobody knows when it would start.");
    if (reason && !(json_is_number(start) && when_is_far(json_number_value(start)))) {
        printf(json_is_true(json_object_get(answer, "never")) ? " Why: " : " It would wait: ");
        terminal_print(stdout, reason);
    }
    putchar('\n');
}

static void put_answer(const json_t *answer, bool json)
{
    if (json)
        answer_print(answer);
    else if (json_object_get(answer, "now"))
        would_start_print(answer);
    else
        printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(json_object_get(answer, "id")));
    if (!json)
        tell_block(answer);
}

/* The gangs of an array ask for the same: that the first is wrong, as in "jobs[0]: ...", says nothing. */
static void leave_place_out(berth_error_t *err)
{
    static const char first[] = "jobs[0]: ";
    size_t n = sizeof(first) - 1;
    if (strncmp(err->text, first, n) == 0)
        memmove(err->text, err->text + n, strlen(err->text + n) + 1);
}

static int submit_to_server(struct request *r, const struct each *each, berth_error_t *err)
{
    struct connection s;
    json_t *answer = NULL, *jobs = NULL;
    int rc = connection_open(&s, "submit", err) < 0 || connection_start(&s, err) < 0 ? -1 : 0;
    if (rc == 0 && r->bulk)
        rc = submit_bulk(&s, r->bulk, r->json, err);
    else if (rc == 0)
        rc = last_depend(&s, r->job, err);
    if (rc == 0 && (each_is_list(each) || r->file)) {
        jobs = submit_list(r, each, err);
        rc = jobs ? submit_many(&s, jobs, r->file != NULL, r->json, err) : -1;
        if (rc < 0 && each->is_gangs)
            leave_place_out(err);
    } else if (rc == 0 && !r->bulk) {
        rc = connection_ask(&s, "POST", "/v1/jobs", r->job, &answer, err);
        if (rc == 0)
            put_answer(answer, r->json);
    }
    int status = rc < 0 ? connection_failed(&s, err) : CLI_OK;
    json_decref(jobs);
    json_decref(answer);
    connection_close(&s);
    return status;
}

/* Read the whole command line, with what stands behind ":::". */
static int read_line(struct request *r, struct each *each, int argc, char **argv,
                     berth_error_t *err)
{
    if (each_take_words(each, &argc, argv, err) < 0 || request_read(r, argc, argv, err) < 0)
        return -1;
    if (r->wants_help)
        return 0;
    if (r->pty)
        return errtext_set(err, EINVAL, "--pty is for run and alloc");
    if ((r->each && each_take_lines(each, r->each, err) < 0) ||
        (r->cc && each_take_set(each, r->cc, err) < 0) ||
        (r->job && each_take_gangs(each, r->job, err) < 0))
        return -1;
    if (r->job && json_object_get(r->job, "test_only") && (each_is_list(each) || r->file))
        return errtext_set(err, EINVAL, "--test-only looks at one job");
    if (each->mark && (r->bulk || r->file))
        return errtext_set(err, EINVAL, "%s has its own jobs, and takes no --each, --cc or :::",
                           r->bulk ? "--bulk" : "--file");
    return r->job ? request_run_once(r->job, err) : 0;
}

int cli_submit(int argc, char **argv)
{
    struct request r = {.otherwise = NULL};
    struct each each = {0};
    berth_error_t err;
    int status;

    if (read_line(&r, &each, argc, argv, &err) < 0) {
        status = errno == EINVAL ? CLI_USAGE : CLI_FAILED;
        if (status == CLI_USAGE)
            cli_usage("submit", "%s", err.text);
        else
            fprintf(stderr, "berth submit: %s\n", err.text);
    } else if (r.wants_help) {
        status = option_help(&submit_options);
    } else if (r.job && !each.mark && early_check(r.job, &err) < 0) {
        fprintf(stderr, "berth submit: %s\n", err.text);
        status = CLI_FAILED;
    } else {
        status = submit_to_server(&r, &each, &err);
    }
    each_clear(&each);
    request_clear(&r);
    return status;
}
