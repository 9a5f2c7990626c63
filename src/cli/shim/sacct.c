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
#include "cli/shim/format.h"
#include "cli/shim/shim.h"

#define FORMAT      "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode"
#define BRIEF       "JobID,State,ExitCode"
#define COLUMNS_MAX 64

/* All that is kept of a job. */
#define LONG                                                                                       \
    "JobID,JobIDRaw,JobName,Partition,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,"     \
    "MaxRSSNode,MaxRSSTask,AveRSS,MaxPages,MaxPagesNode,MaxPagesTask,AvePages,MinCPU,MinCPUNode,"  \
    "MinCPUTask,AveCPU,NTasks,AllocCPUS,Elapsed,State,ExitCode,AveCPUFreq,ReqCPUFreqMin,"          \
    "ReqCPUFreqMax,ReqCPUFreqGov,ReqMem,ConsumedEnergy,MaxDiskRead,MaxDiskReadNode,"               \
    "MaxDiskReadTask,AveDiskRead,MaxDiskWrite,MaxDiskWriteNode,MaxDiskWriteTask,AveDiskWrite,"     \
    "ReqTRES,AllocTRES,TRESUsageInAve,TRESUsageInMax,TRESUsageInMaxNode,TRESUsageInMaxTask,"       \
    "TRESUsageInMin,TRESUsageInMinNode,TRESUsageInMinTask,TRESUsageInTot,TRESUsageOutMax,"         \
    "TRESUsageOutMaxNode,TRESUsageOutMaxTask,TRESUsageOutAve,TRESUsageOutTot"

enum what {
    HEAD = SHIM_PICKS,
    FORM,
    BARS,
    BARS_END,
    SINCE,
    UNTIL,
    TRUNCATE,
    BETWEEN,
    BRIEF_FORM,
    LONG_FORM,
    UNITS,
    AS_IT_IS,
    MEMBERS,
    ALL,
    JOBS_ONLY,
    NOTHING,
    HELP,
    VERSION
};

static const struct foreign_option options[] = {
    {"noheader", 'n', FOREIGN_NONE, HEAD, NULL},
    {"format", 'o', FOREIGN_NEEDED, FORM, NULL},
    {"jobs", 'j', FOREIGN_NEEDED, SHIM_IDS, NULL},
    {"state", 's', FOREIGN_NEEDED, SHIM_STATES, NULL},
    {"user", 'u', FOREIGN_NEEDED, SHIM_USERS, NULL},
    {"uid", 0, FOREIGN_NEEDED, SHIM_USERS, NULL},
    {"partition", 'r', FOREIGN_NEEDED, SHIM_QUEUES, NULL},
    {"name", 0, FOREIGN_NEEDED, SHIM_NAMES, NULL},
    {"parsable2", 'P', FOREIGN_NONE, BARS, NULL},
    {"parsable", 'p', FOREIGN_NONE, BARS_END, NULL},
    {"delimiter", 0, FOREIGN_NEEDED, BETWEEN, NULL},
    {"starttime", 'S', FOREIGN_NEEDED, SINCE, NULL},
    {"endtime", 'E', FOREIGN_NEEDED, UNTIL, NULL},
    {"brief", 'b', FOREIGN_NONE, BRIEF_FORM, NULL},
    {"allusers", 'a', FOREIGN_NONE, ALL, NULL},
    {"allocations", 'X', FOREIGN_NONE, JOBS_ONLY, NULL},
    {"duplicates", 'D', FOREIGN_NONE, NOTHING, NULL},
    {"long", 'l', FOREIGN_NONE, LONG_FORM, NULL},
    {"array", 0, FOREIGN_NONE, MEMBERS, NULL},
    {"units", 0, FOREIGN_NEEDED, UNITS, NULL},
    {"noconvert", 0, FOREIGN_NONE, AS_IT_IS, NULL},
    {"clusters", 'M', FOREIGN_NEEDED, SHIM_CLUSTERS, NULL},
    {"accounts", 'A', FOREIGN_NEEDED, SHIM_ACCOUNTS, NULL},
    {"nodelist", 'N', FOREIGN_NEEDED, SHIM_NODES, NULL},
    {"truncate", 'T', FOREIGN_NONE, TRUNCATE, NULL},
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
    const char *unit; /* of memory, a letter, or SHIM_AS_IT_IS; NULL: the one that suits the size */
    bool no_head, bar_end, jobs_only, members, truncate, help, version, since_given;
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
        if (width < -FORMAT_WIDTH_MAX || width > FORMAT_WIDTH_MAX)
            return false;
        c->width = (size_t)(width < 0 ? -width : width);
        c->left = width < 0;
        a->n++;
        text += n;
        if (!*text)
            return true;
    }
}

/* "now", "now-1days", "2026-11-22", "midnight", "1970-01-01" */
static bool take_sacct_time(const char *text, double *to)
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

static bool take_sacct_value(struct sacct *a, int what, const char *value)
{
    switch (what) {
    case FORM:
        return take_format(a, value);
    case BRIEF_FORM:
        return take_format(a, BRIEF);
    case LONG_FORM:
        return take_format(a, LONG);
    case UNITS:
        a->unit = value;
        return value[0] && !value[1] && strchr("KMGTP", value[0]);
    case ALL:
        strbuf_reset(&a->select.users);
        return true;
    case SINCE:
        a->since_given = true;
        return take_sacct_time(value, &a->select.since);
    case UNTIL:
        return take_sacct_time(value, &a->select.until);
    case BETWEEN:
        a->between = value;
        return true;
    case BARS:
    case BARS_END:
        a->between = a->between ? a->between : "|";
        a->bar_end = what == BARS_END;
        return true;
    default:
        a->unit = what == AS_IT_IS && !a->unit ? SHIM_AS_IT_IS : a->unit;
        a->members = a->members || what == MEMBERS;
        a->truncate = a->truncate || what == TRUNCATE;
        a->no_head = a->no_head || what == HEAD;
        a->jobs_only = a->jobs_only || what == JOBS_ONLY;
        a->help = a->help || what == HELP;
        a->version = a->version || what == VERSION;
        return true;
    }
}

static const char *expected_sacct_value(int what)
{
    switch (what) {
    case FORM:
        return "columns such as JobID,State%20, at most 10000 wide";
    case UNITS:
        return "K, M, G, T or P";
    default:
        return "a time such as now-1days or 2026-12-31T08:00";
    }
}

/* 0, or the exit status after an error line. */
static int take_sacct_option(struct sacct *a, const struct foreign_option *option,
                             const char *value)
{
    if (option->what < SHIM_PICKS)
        return shim_pick("sacct", &a->select, option, value);
    if (take_sacct_value(a, option->what, value))
        return 0;
    return shim_failed("sacct", "--%s is '%.100s', expected %s", option->name, value,
                       expected_sacct_value(option->what));
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
static void print_sacct_line(const struct sacct *a, const json_t *job)
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

/* The step that a job itself is, once it has begun: what tools look for to find its memory. Of steps within it
 * nothing is kept.
 */
static void print_step(const struct sacct *a, json_t *job)
{
    json_t *step = json_copy(job);
    if (!step || json_object_set_new(step, SHIM_STEP, json_string(".batch")) ||
        json_object_set_new(step, "name", json_string("batch")) ||
        json_object_set_new(step, "queue", json_string("")) ||
        json_object_set_new(step, "user", json_string("")))
        shim_failed("sacct", "out of memory");
    else
        print_sacct_line(a, step);
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

/* As if it had begun and ended within the times asked for. */
static void truncate_times(const struct sacct *a, json_t *job)
{
    double start = answer_number(job, "start"), end = answer_number(job, "end");
    double since = a->select.since, until = a->select.until;
    if (start > 0 && start < since)
        json_object_set_new(job, "start", json_real(since));
    if (start > 0 && until > 0 && (end <= 0 || end > until))
        json_object_set_new(job, "end", json_real(until));
}

static void print_job(const struct sacct *a, json_t *job)
{
    if (a->unit)
        json_object_set_new(job, SHIM_UNIT, json_string(a->unit));
    if (a->truncate)
        truncate_times(a, job);
    print_sacct_line(a, job);
    if (!a->jobs_only && answer_number(job, "start") > 0)
        print_step(a, job);
}

/* Without ids, those of today. A job that is not there is no failure here. */
static int print_sacct_jobs(struct sacct *a, struct connection *s, berth_error_t *err)
{
    double midnight;
    json_t *jobs, *job;
    size_t i;

    if (!a->since_given && a->select.ids.n == 0 && take_sacct_time("midnight", &midnight))
        a->select.since = midnight - 86400;
    a->select.history = true;
    jobs = shim_jobs(s, &a->select, err);
    if (!jobs && (errno == ECONNREFUSED || a->select.ids.n == 0))
        return connection_failed(s, err);
    json_t *folded = a->members ? json_incref(jobs) : jobs ? shim_fold(jobs) : NULL;
    if (jobs && !folded) {
        json_decref(jobs);
        return shim_failed("sacct", "out of memory");
    }
    if (!a->no_head)
        print_sacct_line(a, NULL);
    if (!a->no_head && !a->between)
        print_rule(a);
    json_array_foreach (folded, i, job) {
        print_job(a, job);
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
    int rc, status = 0;

    const char *usual = getenv("SACCT_FORMAT");
    if (!usual || !*usual)
        usual = FORMAT;
    if (!take_format(&a, usual))
        return shim_failed("sacct", "SACCT_FORMAT is '%.100s', expected %s", usual,
                           expected_sacct_value(FORM));
    while (status == 0 && (rc = foreign_next(&walk, options, sizeof(options) / sizeof(*options),
                                             &option, &value, &err)) > 0)
        status = take_sacct_option(&a, option, value);
    if (status != 0) {
        shim_select_clear(&a.select);
        return status;
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
                                                    : print_sacct_jobs(&a, &s, &err);
        connection_close(&s);
    }
    shim_select_clear(&a.select);
    return rc;
}
