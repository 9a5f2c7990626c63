/* squeue: jobs that wait and run, a line each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/client/terminal.h"
#include "cli/foreign/slurm_values.h"
#include "cli/shim/fields.h"
#include "cli/shim/format.h"
#include "cli/shim/shim.h"

#define FORMAT "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
#define LONG   "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
#define STARTS "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %R"
#define ORDER  "P,t,-p" /* those that wait before those that run, the oldest first */
#define RECENT 300      /* seconds for which those that have ended are still told */

enum what {
    HEAD = SHIM_PICKS,
    FORM,
    LONG_NAMES,
    SORT,
    EACH,
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
    {"Format", 'O', FOREIGN_NEEDED, LONG_NAMES, NULL},
    {"jobs", 'j', FOREIGN_NEEDED, SHIM_IDS, NULL},
    {"states", 't', FOREIGN_NEEDED, SHIM_STATES, NULL},
    {"state", 0, FOREIGN_NEEDED, SHIM_STATES, NULL},
    {"user", 'u', FOREIGN_NEEDED, SHIM_USERS, NULL},
    {"users", 0, FOREIGN_NEEDED, SHIM_USERS, NULL},
    {"partition", 'p', FOREIGN_NEEDED, SHIM_QUEUES, NULL},
    {"name", 'n', FOREIGN_NEEDED, SHIM_NAMES, NULL},
    {"me", 0, FOREIGN_NONE, ME, NULL},
    {"long", 'l', FOREIGN_NONE, LONG_FORM, NULL},
    {"start", 0, FOREIGN_NONE, START, NULL},
    {"all", 'a', FOREIGN_NONE, NOTHING, NULL},
    {"array", 'r', FOREIGN_NONE, MEMBERS, NULL},
    {"hide", 0, FOREIGN_NONE, NOTHING, NULL},
    {"verbose", 'v', FOREIGN_NONE, NOTHING, NULL},
    {"local", 0, FOREIGN_NONE, NOTHING, NULL},
    {"clusters", 'M', FOREIGN_NEEDED, SHIM_CLUSTERS, NULL},
    {"account", 'A', FOREIGN_NEEDED, SHIM_ACCOUNTS, NULL},
    {"nodelist", 'w', FOREIGN_NEEDED, SHIM_NODES, NULL},
    {"sort", 'S', FOREIGN_NEEDED, SORT, NULL},
    {"iterate", 'i', FOREIGN_NEEDED, EACH, NULL},
    {"help", 0, FOREIGN_NONE, HELP, NULL},
    {"version", 'V', FOREIGN_NONE, VERSION, NULL},
};

struct squeue {
    struct shim_select select;
    const char *format; /* NULL: the usual one */
    const char *names;  /* of --Format, in place of that; or NULL */
    const char *sort;   /* NULL: the usual order */
    int64_t each;       /* seconds after which to list again; 0: once */
    bool no_head, help, version;
    bool members; /* each of an array that waits has a line */
    bool all;     /* states were named: those that have ended may be among them */
};

/* Whether each name of --Format is one, and no column too wide. */
static bool are_names(const char *text)
{
    struct format_named named;
    struct shim_field field;
    const char *at = text;
    while ((at = format_next_name(at, &named)) != NULL)
        if (!shim_field_long(named.name, named.name_length, &field) ||
            named.cell.width > FORMAT_WIDTH_MAX)
            return false;
    return *text;
}

static bool take_squeue_value(struct squeue *q, int what, const char *value)
{
    switch (what) {
    case HEAD:
        q->no_head = true;
        return true;
    case FORM:
        q->format = value;
        return format_is_right(value);
    case LONG_NAMES:
        q->names = value;
        return are_names(value);
    case SORT:
        q->sort = value;
        return !shim_sort_wrong(value);
    case EACH:
        return slurm_whole(value, &q->each) && q->each > 0;
    case ME:
        strbuf_reset(&q->select.users);
        strbuf_puts(&q->select.users, shim_me());
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

static const char *expected_squeue_value(int what)
{
    return what == FORM         ? FORMAT_RIGHT
           : what == LONG_NAMES ? "names such as jobid:10,state, at most 10000 wide"
           : what == SORT       ? "letters of --format such as P,-M"
                                : "a number of seconds such as 10";
}

/* 0, or the exit status after an error line. */
static int take_squeue_option(struct squeue *q, const struct foreign_option *option,
                              const char *value)
{
    q->all = q->all || option->what == SHIM_STATES;
    if (option->what < SHIM_PICKS)
        return shim_pick("squeue", &q->select, option, value);
    if (take_squeue_value(q, option->what, value))
        return 0;
    return shim_failed("squeue", "--%s is '%.60s', expected %s", option->name, value,
                       expected_squeue_value(option->what));
}

/* Without a job, the head. */
static void put_named_line(const char *names, const json_t *job, struct strbuf *line)
{
    struct strbuf text = {0};
    struct format_named named;
    struct shim_field field;
    strbuf_reset(line);
    for (const char *at = names; (at = format_next_name(at, &named)) != NULL;) {
        strbuf_reset(&text);
        if (!shim_field_long(named.name, named.name_length, &field))
            continue;
        if (job)
            field.put(job, &text);
        else
            strbuf_puts(&text, field.head);
        format_put(&named.cell, &text, line);
        strbuf_put(line, named.suffix, named.suffix_length);
    }
    strbuf_clear(&text);
}

/* Without a job, the head. */
static void put_letters_line(const char *format, const json_t *job, struct strbuf *line)
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

static void print_squeue_line(const struct squeue *q, const json_t *job)
{
    struct strbuf line = {0};
    if (q->names)
        put_named_line(q->names, job, &line);
    else
        put_letters_line(q->format ? q->format : FORMAT, job, &line);
    terminal_print(stdout, strbuf_text(&line));
    putchar('\n');
    strbuf_clear(&line);
}

static int forget_node(void *context, const char *text, size_t length)
{
    json_t *node = json_loadb(text, length, 0, NULL);
    const char *name = answer_text(node, "name");
    while (hostlist_delete(context, name, strlen(name)) == 0)
        ;
    json_decref(node);
    return 0;
}

/* Whether the machine has all nodes that were named. 0, or the status of what is wrong. */
static int check_nodes(const struct squeue *q, struct connection *s, berth_error_t *err)
{
    struct hostlist unknown = {0};
    char name[HOSTLIST_NAME_SIZE];
    int rc = 0;
    if (hostlist_count(&q->select.nodes) == 0)
        return 0;
    if (hostlist_copy(&unknown, &q->select.nodes) < 0)
        rc = shim_failed("squeue", "out of memory");
    else if (connection_list(s, "/v1/nodes", forget_node, &unknown, err) < 0)
        rc = connection_failed(s, err);
    else if (hostlist_nth(&unknown, 0, name) == 0)
        rc = shim_failed("squeue", "Invalid node name %s", name);
    hostlist_clear(&unknown);
    return rc;
}

/* In the order asked for, waiting members of an array as one unless they are wanted apart. NULL with ENOMEM. */
static json_t *arrange(const struct squeue *q, json_t *jobs)
{
    json_t *list = q->members ? json_incref(jobs) : shim_fold(jobs);
    if (list && shim_sort(list, q->sort ? q->sort : ORDER) < 0) {
        json_decref(list);
        list = NULL;
    }
    return list;
}

static int print_squeue_jobs(struct squeue *q, struct connection *s, berth_error_t *err)
{
    json_t *jobs, *job;
    size_t i;

    int rc = check_nodes(q, s, err);
    if (rc != 0)
        return rc;
    q->select.history = q->all || q->select.ids.n > 0;
    q->select.since = q->select.ids.n ? 0 : (double)time(NULL) - RECENT;
    jobs = shim_jobs(s, &q->select, err);
    if (!jobs)
        return connection_failed(s, err);
    if (q->select.ids.n && json_array_size(jobs) == 0) {
        fputs("slurm_load_jobs error: Invalid job id specified\n", stderr);
        json_decref(jobs);
        return 1;
    }
    json_t *list = arrange(q, jobs);
    json_decref(jobs);
    if (!list)
        return shim_failed("squeue", "out of memory");
    if (!q->no_head)
        print_squeue_line(q, NULL);
    json_array_foreach (list, i, job) {
        if (q->all || answer_number(job, "end") <= 0)
            print_squeue_line(q, job);
    }
    json_decref(list);
    return 0;
}

/* What the environment asks for where the command line does not say. 0, or the status of what is wrong there. */
static int take_environment(struct squeue *q)
{
    const char *names = getenv("SQUEUE_FORMAT2"), *format = getenv("SQUEUE_FORMAT");
    if (q->names || q->format)
        return 0;
    if (names && *names && !are_names(names))
        return shim_failed("squeue", "SQUEUE_FORMAT2 is '%.60s', expected %s", names,
                           expected_squeue_value(LONG_NAMES));
    if (format && !format_is_right(format))
        return shim_failed("squeue", "SQUEUE_FORMAT is '%.60s', expected %s", format, FORMAT_RIGHT);
    q->names = names && *names ? names : NULL;
    q->format = !q->names && format && *format ? format : NULL;
    return 0;
}

/* Once, or again and again until it is interrupted, whatever becomes of the server meanwhile. */
static int list_until_stopped(struct squeue *q)
{
    for (;;) {
        struct connection s;
        berth_error_t err = {""};
        time_t now = time(NULL);
        char text[32];
        if (q->each && !q->no_head && ctime_r(&now, text))
            fputs(text, stdout);
        int rc = connection_open(&s, "squeue", &err) < 0 ? connection_failed(&s, &err)
                                                         : print_squeue_jobs(q, &s, &err);
        connection_close(&s);
        if (q->each == 0)
            return rc;
        putchar('\n');
        if (fflush(stdout) != 0)
            return 1;
        sleep((unsigned int)q->each);
    }
}

int shim_squeue(int argc, char **argv)
{
    struct squeue q = {.format = NULL};
    struct foreign_words walk = {.tool = "squeue", .where = "", .v = argv + 1, .n = argc - 1};
    const struct foreign_option *option;
    const char *value;
    berth_error_t err;
    int rc, status = 0;

    while (status == 0 && (rc = foreign_next(&walk, options, sizeof(options) / sizeof(*options),
                                             &option, &value, &err)) > 0)
        status = take_squeue_option(&q, option, value);
    if (status != 0) {
        shim_select_clear(&q.select);
        return status;
    }
    if (rc < 0)
        rc = shim_failed("squeue", "%s", err.text);
    else if (q.help)
        rc = puts("usage: squeue [-h] [-o FORMAT | -O NAMES] [-S SORT] [-i SECONDS]\n"
                  "              [-j JOBS] [-t STATES] [-u USERS] [-p QUEUES] [-n NAMES] [-A "
                  "ACCOUNTS] [-w NODES]") < 0;
    else if (q.version)
        rc = shim_version();
    else if (walk.at < walk.n)
        rc = shim_failed("squeue", "'%.60s' is not an option", walk.v[walk.at]);
    else if (q.names && q.format)
        rc = shim_failed("squeue", "-O (--Format) is not for use with -o (--format)");
    else if ((rc = take_environment(&q)) == 0)
        rc = list_until_stopped(&q);
    shim_select_clear(&q.select);
    return rc;
}
