/* squeue: jobs that wait and run, a line each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/client/terminal.h"
#include "cli/shim/fields.h"
#include "cli/shim/format.h"
#include "cli/shim/shim.h"

#define FORMAT "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
#define LONG   "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
#define STARTS "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %R"
#define RECENT 300 /* seconds for which those that have ended are still told */

enum what {
    HEAD,
    FORM,
    IDS,
    STATES,
    USER,
    QUEUE,
    NAME,
    ME,
    LONG_FORM,
    START,
    MEMBERS,
    NOTHING,
    HELP,
    VERSION
};

static const struct foreign_option options[] = {
    {"noheader", 'h', FOREIGN_NONE, HEAD, NULL},
    {"format", 'o', FOREIGN_NEEDED, FORM, NULL},
    {"jobs", 'j', FOREIGN_NEEDED, IDS, NULL},
    {"states", 't', FOREIGN_NEEDED, STATES, NULL},
    {"state", 0, FOREIGN_NEEDED, STATES, NULL},
    {"user", 'u', FOREIGN_NEEDED, USER, NULL},
    {"users", 0, FOREIGN_NEEDED, USER, NULL},
    {"partition", 'p', FOREIGN_NEEDED, QUEUE, NULL},
    {"name", 'n', FOREIGN_NEEDED, NAME, NULL},
    {"me", 0, FOREIGN_NONE, ME, NULL},
    {"long", 'l', FOREIGN_NONE, LONG_FORM, NULL},
    {"start", 0, FOREIGN_NONE, START, NULL},
    {"all", 'a', FOREIGN_NONE, NOTHING, NULL},
    {"array", 'r', FOREIGN_NONE, MEMBERS, NULL},
    {"hide", 0, FOREIGN_NONE, NOTHING, NULL},
    {"verbose", 'v', FOREIGN_NONE, NOTHING, NULL},
    {"local", 0, FOREIGN_NONE, NOTHING, NULL},
    {"clusters", 'M', FOREIGN_NEEDED, NOTHING, NULL},
    {"account", 'A', FOREIGN_NEEDED, NOTHING, NULL},
    {"sort", 'S', FOREIGN_NEEDED, NOTHING, NULL},
    {"help", 0, FOREIGN_NONE, HELP, NULL},
    {"version", 'V', FOREIGN_NONE, VERSION, NULL},
};

struct squeue {
    struct shim_select select;
    const char *format;
    bool no_head, help, version;
    bool members; /* each of an array that waits has a line */
    bool all;     /* states were named: those that have ended may be among them */
};

static bool take(struct squeue *q, int what, const char *value)
{
    switch (what) {
    case HEAD:
        q->no_head = true;
        return true;
    case FORM:
        q->format = value;
        return true;
    case IDS:
        return shim_ids_add(&q->select.ids, value) == 0;
    case STATES:
        q->select.history = q->all = true;
        return shim_states(value, &q->select.states, &q->select.none);
    case USER:
        q->select.user = value;
        return true;
    case QUEUE:
        q->select.queue = value;
        return true;
    case NAME:
        q->select.name = value;
        return true;
    case ME:
        q->select.user = shim_me();
        return true;
    case LONG_FORM:
        q->format = LONG;
        return true;
    case START:
        q->format = STARTS;
        return true;
    case MEMBERS:
        q->members = true;
        return true;
    case HELP:
        q->help = true;
        return true;
    case VERSION:
        q->version = true;
        return true;
    default:
        return true;
    }
}

/* Without a job, the head. */
static void put_line(const char *format, const json_t *job, struct strbuf *line)
{
    struct strbuf text = {0};
    struct format_cell cell;
    strbuf_reset(line);
    for (const char *at = format; (at = format_next(at, &cell, line)) != NULL;) {
        const struct shim_field *field = shim_field_letter(cell.letter);
        strbuf_reset(&text);
        if (!job)
            strbuf_puts(&text, field ? field->head : "N/A");
        else if (field)
            field->put(job, &text);
        else
            strbuf_puts(&text, "N/A");
        format_put(&cell, &text, line);
    }
    strbuf_clear(&text);
}

static int print_jobs(struct squeue *q, struct connection *s, berth_error_t *err)
{
    struct strbuf line = {0};
    json_t *jobs, *job;
    size_t i;

    q->select.history = q->select.history || q->select.ids.n > 0;
    q->select.since = q->select.ids.n ? 0 : (double)time(NULL) - RECENT;
    jobs = shim_jobs(s, &q->select, err);
    if (!jobs)
        return connection_failed(s, err);
    if (q->select.ids.n && json_array_size(jobs) == 0) {
        fputs("slurm_load_jobs error: Invalid job id specified\n", stderr);
        json_decref(jobs);
        return 1;
    }
    if (!q->members) {
        json_t *folded = shim_fold(jobs);
        json_decref(jobs);
        jobs = folded;
        if (!jobs)
            return shim_failed("squeue", "out of memory");
    }
    if (!q->no_head) {
        put_line(q->format, NULL, &line);
        puts(strbuf_text(&line));
    }
    json_array_foreach(jobs, i, job)
    {
        if (!q->all && answer_number(job, "end") > 0)
            continue;
        put_line(q->format, job, &line);
        terminal_print(stdout, strbuf_text(&line));
        putchar('\n');
    }
    strbuf_clear(&line);
    json_decref(jobs);
    return 0;
}

int shim_squeue(int argc, char **argv)
{
    struct squeue q = {.format = FORMAT};
    struct foreign_words walk = {.tool = "squeue", .where = "", .v = argv + 1, .n = argc - 1};
    const struct foreign_option *option;
    struct connection s;
    const char *value;
    berth_error_t err;
    int rc;

    while ((rc = foreign_next(&walk, options, sizeof(options) / sizeof(*options), &option, &value,
                              &err)) > 0)
        if (!take(&q, option->what, value)) {
            rc = shim_failed("squeue", "--%s is '%.60s', which is none", option->name, value);
            shim_select_clear(&q.select);
            return rc;
        }
    if (rc < 0)
        rc = shim_failed("squeue", "%s", err.text);
    else if (q.help)
        rc = puts("usage: squeue [-h] [-o FORMAT] [-j JOBS] [-t STATES] [-u USER] [-p QUEUE] [-n "
                  "NAME]") < 0;
    else if (q.version)
        rc = shim_version();
    else if (walk.at < walk.n)
        rc = shim_failed("squeue", "'%.60s' is not an option", walk.v[walk.at]);
    else {
        rc = connection_open(&s, "squeue", &err) < 0 ? connection_failed(&s, &err)
                                                     : print_jobs(&q, &s, &err);
        connection_close(&s);
    }
    shim_select_clear(&q.select);
    return rc;
}
