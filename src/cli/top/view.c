#include "cli/top/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/errtext.h"
#include "cli/client/terminal.h"
#include "cli/tables.h"

#define JOBS_MOST "500" /* of those that run, and of those that wait */

const char *const view_names[VIEWS] = {"jobs", "nodes", "queues", "shares"};

struct rows {
    struct view *view;
    struct table table;
    listing_row row;
    bool jobs;
    double now;
};

static int take_row(void *context, const char *text, size_t length)
{
    struct rows *rows = context;
    struct view *v = rows->view;
    struct fields one;
    int64_t id = 0;
    if (!fields_find(&one, text, length)) {
        errno = EPROTO;
        return -1;
    }
    if (rows->jobs) {
        if (array_grow((void **)&v->id, &v->cap_ids, v->n_ids + 1, sizeof(*v->id)) < 0)
            return -1;
        fields_whole(&one, "id", &id);
        v->id[v->n_ids++] = id;
    }
    rows->row(&rows->table, &one, NULL, rows->now);
    return 0;
}

static int read_list(struct view *v, struct connection *s, FILE *out, bool jobs, size_t columns,
                     berth_error_t *err)
{
    struct rows rows = {.view = v, .row = jobs ? jobs_row : nodes_row, .jobs = jobs};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    rows.now = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    table_begin(&rows.table, out, jobs ? jobs_columns : nodes_columns);
    rows.table.width = columns;
    rows.table.leave = jobs ? jobs_leave : NULL;
    int rc = jobs ? connection_list(s, "/v1/jobs?arrays=1&state=running&limit=" JOBS_MOST, take_row,
                                    &rows, err)
                  : connection_list(s, "/v1/nodes", take_row, &rows, err);
    if (rc == 0 && jobs)
        rc = connection_list(s, "/v1/jobs?arrays=1&state=pending,held&limit=" JOBS_MOST, take_row,
                             &rows, err);
    if (!table_end(&rows.table) && rc == 0)
        rc = errtext_no_memory(err);
    table_clear(&rows.table);
    return rc;
}

static int read_table(struct view *v, struct connection *s, enum view_kind kind, size_t columns,
                      FILE *out, berth_error_t *err)
{
    json_t *answer = NULL;
    if (kind == VIEW_JOBS || kind == VIEW_NODES)
        return read_list(v, s, out, kind == VIEW_JOBS, columns, err);
    bool queues = kind == VIEW_QUEUES;
    int rc = connection_ask(s, "GET", queues ? "/v1/queues" : "/v1/shares", NULL, &answer, err);
    if (rc == 0)
        rc = queues ? queues_print(out, answer, NULL, err) : shares_print(out, answer, NULL, err);
    json_decref(answer);
    return rc;
}

static int read_summary(struct view *v, struct connection *s, berth_error_t *err)
{
    json_t *server = NULL, *machine = NULL;
    int rc = connection_ask(s, "GET", "/v1/server", NULL, &server, err) < 0 ||
                     connection_ask(s, "GET", "/v1/resources", NULL, &machine, err) < 0
                 ? -1
                 : 0;
    if (rc == 0) {
        const json_t *jobs = json_object_get(server, "jobs");
        const json_t *used = json_object_get(machine, "used");
        int n = snprintf(v->summary, sizeof(v->summary),
                         "%.0f running, %.0f pending, %.0f held   cores %.0f of %.0f",
                         answer_number(jobs, "running"), answer_number(jobs, "pending"),
                         answer_number(jobs, "held"), answer_number(used, "cores"),
                         answer_number(machine, "cores"));
        if (answer_number(machine, "gpus") > 0)
            snprintf(v->summary + n, sizeof(v->summary) - (size_t)n, "   gpus %.0f of %.0f",
                     answer_number(used, "gpus"), answer_number(machine, "gpus"));
    }
    json_decref(server);
    json_decref(machine);
    return rc;
}

/* Find the lines of the text. */
static int split(struct view *v, berth_error_t *err)
{
    size_t cap = 0;
    for (char *at = v->text; *at;) {
        if (array_grow((void **)&v->line, &cap, v->n + 1, sizeof(*v->line)) < 0)
            return errtext_no_memory(err);
        v->line[v->n++] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = '\0';
    }
    return 0;
}

int view_read(struct view *v, struct connection *s, enum view_kind kind, size_t columns,
              berth_error_t *err)
{
    struct view read = {0};
    size_t length;
    FILE *out = open_memstream(&read.text, &length);
    if (!out)
        return errtext_no_memory(err);
    int rc = read_summary(&read, s, err);
    if (rc == 0)
        rc = read_table(&read, s, kind, columns, out, err);
    if (fclose(out) != 0 && rc == 0)
        rc = errtext_no_memory(err);
    if (rc == 0)
        rc = split(&read, err);
    if (rc < 0) {
        int saved = errno;
        view_clear(&read);
        errno = saved;
        return -1;
    }
    view_clear(v);
    *v = read;
    return 0;
}

void view_clear(struct view *v)
{
    free(v->text);
    free(v->line);
    free(v->id);
    *v = (struct view){0};
}
