/* berth explain: why does a job wait? */
#include <stdio.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/named_jobs.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/option_table.h"
#include "cli/tables.h"
#include "cli/verb.h"

static const struct option_row rows[] = {
    {OPTION_LONG('j'), "json", NULL, "print the same as a JSON object", NULL}, {0}};

const struct option_table explain_options = {
    .verb = "explain",
    .usage = "usage: berth explain [--json] [JOB]\n"
             "Say why a job, by default the last you submitted, waits: what it is waiting for,\n"
             "who holds that, when it is expected to start, and which shorter time limit or\n"
             "smaller request would let it start now. Say so if the job is running, has ended\n"
             "or can never start.\n",
    .rows = rows,
    .notes = "Exit status: 0 explained, 1 there is no such job, 2 wrong command line.\n"
             "Example: berth explain 17\n"
             "Manual: man berth-explain\n",
    .complete = "@job"};

static const struct table_column columns[] = {{"HELD BY", true, 0},
                                              {"USER", false, 12},
                                              {"UNTIL", false, 0},
                                              {"RESOURCES", false, 0},
                                              {NULL, false, 0}};

/* Print the holders of what the job waits for, a row for each. Returns 0, or -1 with a text. */
static int put_holders(const json_t *answer, berth_error_t *err)
{
    const json_t *holder, *holders = json_object_get(answer, "holders");
    double more = answer_number(answer, "more_holders");
    char until[WHEN_SIZE];
    struct table table;
    size_t i;

    if (json_array_size(holders) == 0)
        return 0;
    table_begin(&table, stdout, columns);
    json_array_foreach (holders, i, holder) {
        table_cell(&table, answer_text(holder, "id"));
        table_cell(&table, answer_text(holder, "user"));
        double end = answer_number(holder, "until");
        table_cell(&table, end < 0 ? "unknown" : when_put(end, until));
        table_cell(&table, answer_text(holder, "resources"));
    }
    bool written = table_end(&table);
    table_clear(&table);
    if (more > 0)
        printf("and %.0f more, which end%s later\n", more, more > 1 ? "" : "s");
    return written ? 0 : errtext_no_memory(err);
}

int explain_print(const json_t *answer, berth_error_t *err)
{
    puts(answer_text(answer, "text"));
    return put_holders(answer, err);
}

static int explain_job(struct connection *connection, int64_t id, int64_t member, bool json,
                       berth_error_t *err)
{
    struct strbuf path = {0};
    json_t *answer = NULL;

    route_job(&path, id, member, "/explain");
    int rc = connection_ask(connection, "GET", strbuf_text(&path), NULL, &answer, err);
    strbuf_clear(&path);
    if (rc == 0 && json) {
        answer_print(answer);
    } else if (rc == 0) {
        rc = explain_print(answer, err);
    }
    json_decref(answer);
    return rc;
}

int cli_explain(int argc, char **argv)
{
    return named_job(&explain_options, argc, argv, explain_job);
}
