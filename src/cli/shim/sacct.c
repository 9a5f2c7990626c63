/* sacct: jobs with how they ended, a line each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/shim/fields.h"
#include "cli/shim/shim.h"

#define FORMAT      "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode"
#define BRIEF       "JobID,State,ExitCode"
#define COLUMNS_MAX 64

enum what {
    HEAD,
    FORM,
    IDS,
    STATES,
    USER,
    QUEUE,
    NAME,
    ACCOUNT,
    NODES,
    BARS,
    BARS_END,
    SINCE,
    UNTIL,
    BETWEEN,
    BRIEF_FORM,
    ALL,
    JOBS_ONLY,
    NOTHING,
    HELP,
    VERSION
};

static const struct foreign_option options[] = {
    {"noheader", 'n', FOREIGN_NONE, HEAD, NULL},
    {"format", 'o', FOREIGN_NEEDED, FORM, NULL},
    {"jobs", 'j', FOREIGN_NEEDED, IDS, NULL},
    {"state", 's', FOREIGN_NEEDED, STATES, NULL},
    {"user", 'u', FOREIGN_NEEDED, USER, NULL},
    {"uid", 0, FOREIGN_NEEDED, NOTHING, NULL},
    {"partition", 'r', FOREIGN_NEEDED, QUEUE, NULL},
    {"name", 0, FOREIGN_NEEDED, NAME, NULL},
    {"parsable2", 'P', FOREIGN_NONE, BARS, NULL},
    {"parsable", 'p', FOREIGN_NONE, BARS_END, NULL},
    {"delimiter", 0, FOREIGN_NEEDED, BETWEEN, NULL},
    {"starttime", 'S', FOREIGN_NEEDED, SINCE, NULL},
    {"endtime", 'E', FOREIGN_NEEDED, UNTIL, NULL},
    {"brief", 'b', FOREIGN_NONE, BRIEF_FORM, NULL},
    {"allusers", 'a', FOREIGN_NONE, ALL, NULL},
    {"allocations", 'X', FOREIGN_NONE, JOBS_ONLY, NULL},
    {"duplicates", 'D', FOREIGN_NONE, NOTHING, NULL},
    {"long", 'l', FOREIGN_NONE, NOTHING, NULL},
    {"array", 0, FOREIGN_NONE, NOTHING, NULL},
    {"units", 0, FOREIGN_NEEDED, NOTHING, NULL},
    {"clusters", 'M', FOREIGN_NEEDED, NOTHING, NULL},
    {"accounts", 'A', FOREIGN_NEEDED, ACCOUNT, NULL},
    {"nodelist", 'N', FOREIGN_NEEDED, NODES, NULL},
    {"truncate", 'T', FOREIGN_NONE, NOTHING, NULL},
    {"verbose", 'v', FOREIGN_NONE, NOTHING, NULL},
    {"help", 'h', FOREIGN_NONE, HELP, NULL},
    {"version", 'V', FOREIGN_NONE, VERSION, NULL},
};

struct column {
    struct shim_field field;
    size_t width;
    bool left;
};

struct sacct {
    struct shim_select select;
    struct column columns[COLUMNS_MAX];
    size_t n;
    const char *between; /* NULL: aligned */
    bool no_head, bar_end, jobs_only, help, version, since_given;
};

/* "JobID,State%20,JobName%-30" */
static bool take_format(struct sacct *a, const char *text)
{
    for (a->n = 0;; text++) {
        size_t n = strcspn(text, ","), name = strcspn(text, ",%");
        struct column *c = &a->columns[a->n];
        if (a->n == COLUMNS_MAX || !shim_field_name(text, name, &c->field))
            return false;
        long width = name < n ? strtol(text + name + 1, NULL, 10) : c->field.width;
        c->width = (size_t)(width < 0 ? -width : width);
        c->left = width < 0;
        a->n++;
        text += n;
        if (!*text)
            return true;
    }
}

/* "now", "now-1days", "2026-11-22", "midnight", "1970-01-01" */
static bool take_time(const char *text, double *to)
{
    static const struct {
        const char *word;
        double seconds;
    } units[] = {{"", 1},        {"second", 1},  {"minute", 60},
                 {"hour", 3600}, {"day", 86400}, {"week", 604800}};
    double now = (double)time(NULL);
    char *end;
    if (strncmp(text, "now-", 4) == 0) {
        double n = strtod(text + 4, &end);
        for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
            size_t length = strlen(units[i].word);
            if (strncmp(end, units[i].word, length) == 0 &&
                (!end[length] || (length && strcmp(end + length, "s") == 0))) {
                *to = now - n * units[i].seconds;
                return true;
            }
        }
        return false;
    }
    if (strncmp(text, "1970-", 5) == 0) {
        *to = 0;
        return true;
    }
    return when_read(strcmp(text, "midnight") == 0 ? "00:00" : text, (time_t)now, to) == 0;
}

static bool take(struct sacct *a, int what, const char *value)
{
    switch (what) {
    case FORM:
        return take_format(a, value);
    case BRIEF_FORM:
        return take_format(a, BRIEF);
    case IDS:
        return shim_ids_add(&a->select.ids, value) == 0;
    case STATES:
        return shim_states(value, &a->select.states, &a->select.none);
    case USER:
        a->select.user = *value ? value : NULL;
        return true;
    case ALL:
        a->select.user = NULL;
        return true;
    case QUEUE:
        a->select.queue = value;
        return true;
    case NAME:
        a->select.name = value;
        return true;
    case ACCOUNT:
        a->select.account = value;
        return true;
    case NODES:
        return hostlist_append(&a->select.nodes, value, strlen(value), NULL) == 0 &&
               hostlist_count(&a->select.nodes) > 0;
    case SINCE:
        a->since_given = true;
        return take_time(value, &a->select.since);
    case UNTIL:
        return take_time(value, &a->select.until);
    case BETWEEN:
        a->between = value;
        return true;
    case BARS:
    case BARS_END:
        a->between = a->between ? a->between : "|";
        a->bar_end = what == BARS_END;
        return true;
    default:
        a->no_head = a->no_head || what == HEAD;
        a->jobs_only = a->jobs_only || what == JOBS_ONLY;
        a->help = a->help || what == HELP;
        a->version = a->version || what == VERSION;
        return true;
    }
}

/* What is cut ends in "+", but for the heads. */
static void put_cell(const struct sacct *a, size_t i, const struct strbuf *text, bool is_head,
                     struct strbuf *line)
{
    const struct column *c = &a->columns[i];
    if (a->between) {
        strbuf_puts(line, i ? a->between : "");
        strbuf_put(line, text->data, text->len);
        return;
    }
    size_t n = text->len < c->width ? text->len : c->width;
    strbuf_fill(line, ' ', c->left ? 0 : c->width - n);
    bool is_cut = n > 0 && n < text->len && !is_head;
    strbuf_put(line, text->data, n - is_cut);
    strbuf_puts(line, is_cut ? "+" : "");
    strbuf_fill(line, ' ', c->left ? c->width - n : 0);
    strbuf_putc(line, ' ');
}

/* Without a job, the heads. */
static void print_line(const struct sacct *a, const json_t *job)
{
    struct strbuf text = {0}, line = {0};
    for (size_t i = 0; i < a->n; i++) {
        strbuf_reset(&text);
        if (job)
            a->columns[i].field.put(job, &text);
        else
            strbuf_puts(&text, a->columns[i].field.name);
        put_cell(a, i, &text, !job, &line);
    }
    strbuf_puts(&line, a->between && a->bar_end ? a->between : "");
    terminal_print(stdout, strbuf_text(&line));
    putchar('\n');
    strbuf_clear(&text);
    strbuf_clear(&line);
}

/* The step that a job itself is, once it has begun: what tools look for to find its memory. Of steps within it nothing is kept. */
static void print_step(const struct sacct *a, json_t *job)
{
    json_t *step = json_copy(job);
    if (!step || json_object_set_new(step, SHIM_STEP, json_string(".batch")) ||
        json_object_set_new(step, "name", json_string("batch")) ||
        json_object_set_new(step, "queue", json_string("")) ||
        json_object_set_new(step, "user", json_string("")))
        shim_failed("sacct", "out of memory");
    else
        print_line(a, step);
    json_decref(step);
}

static void print_rule(const struct sacct *a)
{
    for (size_t i = 0; i < a->n; i++) {
        for (size_t k = 0; k < a->columns[i].width; k++)
            putchar('-');
        putchar(' ');
    }
    putchar('\n');
}

/* Without ids, those of today. A job that is not there is no failure here. */
static int print_jobs(struct sacct *a, struct connection *s, berth_error_t *err)
{
    double midnight;
    json_t *jobs, *job;
    size_t i;

    if (!a->since_given && a->select.ids.n == 0 && take_time("midnight", &midnight))
        a->select.since = midnight - 86400;
    a->select.history = true;
    jobs = shim_jobs(s, &a->select, err);
    if (!jobs && (errno == ECONNREFUSED || a->select.ids.n == 0))
        return connection_failed(s, err);
    json_t *folded = jobs ? shim_fold(jobs) : NULL;
    if (jobs && !folded) {
        json_decref(jobs);
        return shim_failed("sacct", "out of memory");
    }
    if (!a->no_head)
        print_line(a, NULL);
    if (!a->no_head && !a->between)
        print_rule(a);
    json_array_foreach(folded, i, job)
    {
        print_line(a, job);
        if (!a->jobs_only && answer_number(job, "start") > 0)
            print_step(a, job);
    }
    json_decref(folded);
    json_decref(jobs);
    return 0;
}

int shim_sacct(int argc, char **argv)
{
    struct sacct a = {0};
    struct foreign_words walk = {.tool = "sacct", .where = "", .v = argv + 1, .n = argc - 1};
    const struct foreign_option *option;
    struct connection s;
    const char *value;
    berth_error_t err;
    int rc;

    const char *usual = getenv("SACCT_FORMAT");
    if (!usual || !*usual)
        usual = FORMAT;
    if (!take_format(&a, usual))
        return shim_failed("sacct", "SACCT_FORMAT is '%.100s', which is not known here", usual);
    while ((rc = foreign_next(&walk, options, sizeof(options) / sizeof(*options), &option, &value,
                              &err)) > 0)
        if (!take(&a, option->what, value)) {
            rc = shim_failed("sacct", "--%s is '%.100s', which is not known here", option->name,
                             value);
            shim_select_clear(&a.select);
            return rc;
        }
    if (rc < 0)
        rc = shim_failed("sacct", "%s", err.text);
    else if (a.help)
        rc =
            puts("usage: sacct [-n] [-P] [-X] [-o FORMAT] [-j JOBS] [-s STATES] [-S TIME] [-E "
                 "TIME]\n"
                 "             [-u USERS] [-r QUEUES] [--name NAMES] [-A ACCOUNTS] [-N NODES]") < 0;
    else if (a.version)
        rc = shim_version();
    else if (walk.at < walk.n)
        rc = shim_failed("sacct", "'%.60s' is not an option", walk.v[walk.at]);
    else {
        rc = connection_open(&s, "sacct", &err) < 0 ? connection_failed(&s, &err)
                                                    : print_jobs(&a, &s, &err);
        connection_close(&s);
    }
    shim_select_clear(&a.select);
    return rc;
}
