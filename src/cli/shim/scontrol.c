/* scontrol: a job, nodes and partitions in words, hosts of a list, and a few changes. */
#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/hostlist.h"
#include "cli/client/named_jobs.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/foreign/slurm_values.h"
#include "cli/shim/fields.h"
#include "cli/shim/scontrol.h"
#include "cli/shim/shim.h"

static const char help[] =
    "usage: scontrol show job JOB | show node [LIST] | show partition [NAME]\n"
    "       scontrol show hostnames LIST | show hostlist HOSTS\n"
    "       scontrol hold|release|requeue JOB... | ping\n"
    "       scontrol update JobId=JOB NAME=VALUE...\n"
    "       scontrol update NodeName=LIST State=DRAIN|DOWN|RESUME [Reason=TEXT]\n";

/* ---- show ---- */

static void put_span_of(const json_t *job, const char *key, struct strbuf *out)
{
    double seconds = answer_number(job, key);
    if (seconds > 0)
        shim_put_span(seconds, out);
    else
        strbuf_puts(out, "UNLIMITED");
}

static void put_scontrol_text(struct strbuf *out, const char *key, const char *value)
{
    strbuf_puts(out, key);
    strbuf_putc(out, '=');
    strbuf_puts(out, value);
}

static void put_or_null(struct strbuf *out, const char *key, const char *value)
{
    put_scontrol_text(out, key, *value ? value : "(null)");
}

static void put_scontrol_number(struct strbuf *out, const char *key, double n)
{
    strbuf_puts(out, key);
    strbuf_putc(out, '=');
    strbuf_put_int(out, n > 0 ? (int64_t)n : 0);
}

/* "UserId=ann(1000)" */
static void put_user(const char *name, struct strbuf *out)
{
    const struct passwd *user = getpwnam(name);
    put_scontrol_text(out, "UserId", name);
    if (!user)
        return;
    strbuf_putc(out, '(');
    strbuf_put_uint(out, user->pw_uid);
    strbuf_putc(out, ')');
}

static void put_times(const json_t *job, const char *gap, struct strbuf *out)
{
    strbuf_puts(out, gap);
    strbuf_puts(out, "RunTime=");
    shim_put_span(shim_elapsed(job), out);
    strbuf_puts(out, " TimeLimit=");
    put_span_of(job, "limit", out);
    strbuf_puts(out, gap);
    strbuf_puts(out, "SubmitTime=");
    shim_put_time(answer_number(job, "submit"), "Unknown", out);
    strbuf_puts(out, " StartTime=");
    double start = answer_number(job, "start");
    shim_put_time(start > 0 ? start : answer_number(job, "estimate"), "Unknown", out);
    strbuf_puts(out, " EndTime=");
    shim_put_time(shim_end(job), "Unknown", out);
}

static void put_scontrol_job(const json_t *job, const char *gap, struct strbuf *out)
{
    const json_t *member = json_object_get(job, "member");
    put_scontrol_number(out, "JobId", answer_number(job, "id"));
    if (json_is_integer(member)) {
        put_scontrol_number(out, " ArrayJobId", answer_number(job, "id"));
        strbuf_puts(out, " ArrayTaskId=");
        shim_put_members(job, out);
        if (answer_number(job, "at_once") > 0)
            put_scontrol_number(out, " ArrayTaskThrottle", answer_number(job, "at_once"));
    }
    put_scontrol_text(out, " JobName", answer_text(job, "name"));
    strbuf_puts(out, gap);
    put_user(answer_text(job, "user"), out);
    strbuf_puts(out, gap);
    put_scontrol_number(out, "Priority", answer_number(job, "priority"));
    put_or_null(out, " Account", answer_text(job, "account"));
    strbuf_puts(out, gap);
    strbuf_puts(out, "JobState=");
    shim_put_state(job, out);
    strbuf_puts(out, " Reason=");
    shim_put_reason(job, out);
    put_or_null(out, " Dependency", answer_text(job, "dependency"));
    strbuf_puts(out, gap);
    put_scontrol_number(out, "Restarts", answer_number(job, "attempts") - 1);
    strbuf_puts(out, " ExitCode=");
    shim_put_exit(job, out);
    put_times(job, gap, out);
    strbuf_puts(out, gap);
    put_scontrol_text(out, "Partition", answer_text(job, "queue"));
    strbuf_puts(out, " NodeList=");
    shim_put_nodes(job, out);
    strbuf_puts(out, gap);
    put_scontrol_number(out, "NumNodes", answer_number(job, "nodes"));
    put_scontrol_number(out, " NumCPUs", answer_number(job, "cores"));
    put_scontrol_number(out, " MinMemoryNode", answer_number(job, "memory") / 1048576);
    strbuf_putc(out, 'M');
    strbuf_puts(out, gap);
    put_scontrol_text(out, "WorkDir", answer_text(job, "directory"));
    strbuf_puts(out, gap);
    const char *output = answer_text(job, "output"), *error = answer_text(job, "error");
    put_scontrol_text(out, "StdErr", *error ? error : output);
    strbuf_puts(out, gap);
    put_scontrol_text(out, "StdOut", output);
}

void scontrol_print(struct strbuf *record, bool one_line)
{
    char *rest = NULL;
    for (char *line = strtok_r((char *)strbuf_text(record), "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        terminal_print(stdout, one_line ? line + strspn(line, " ") : line);
        putchar(one_line && rest && *rest ? ' ' : '\n');
    }
    if (!one_line)
        putchar('\n');
}

static int show_jobs(char **words, int n, bool one_line)
{
    struct shim_select select = {.history = true};
    struct connection s;
    struct strbuf text = {0};
    berth_error_t err = {""};
    json_t *jobs = NULL, *list = NULL, *job;
    size_t i;
    int rc = 0;

    for (int k = 0; k < n && rc == 0; k++)
        rc = shim_ids_add(&select.ids, words[k]);
    if (n == 0)
        select.history = false;
    if (rc < 0 || connection_open(&s, "scontrol", &err) < 0) {
        shim_select_clear(&select);
        return shim_failed("scontrol", "Invalid job id specified");
    }
    jobs = shim_jobs(&s, &select, &err);
    list = jobs ? shim_fold(jobs) : NULL;
    json_array_foreach (list, i, job) {
        strbuf_reset(&text);
        put_scontrol_job(job, "\n   ", &text);
        scontrol_print(&text, one_line);
    }
    if (!jobs && errno == ECONNREFUSED)
        rc = connection_failed(&s, &err);
    else if (!jobs || (n && json_array_size(jobs) == 0)) {
        fputs("slurm_load_jobs error: Invalid job id specified\n", stderr);
        rc = 1;
    } else if (!list) {
        rc = shim_failed("scontrol", "out of memory");
    }
    json_decref(list);
    json_decref(jobs);
    strbuf_clear(&text);
    connection_close(&s);
    shim_select_clear(&select);
    return rc;
}

/* "node[1-2]": a host a line; or the other way round. */
static int show_hosts(const char *text, bool names)
{
    struct hostlist list = {0};
    struct strbuf out = {0};
    berth_error_t err;
    if (!text)
        text = getenv("SLURM_JOB_NODELIST");
    if (!text || hostlist_append(&list, text, strlen(text), &err) < 0)
        return shim_failed("scontrol", "Invalid hostlist: %.100s", text ? text : "none given");
    hostlist_encode(&list, &out);
    if (!names) {
        puts(strbuf_text(&out));
    } else {
        char name[HOSTLIST_NAME_SIZE];
        for (int64_t i = 0; hostlist_nth(&list, i, name) == 0; i++)
            puts(name);
    }
    strbuf_clear(&out);
    hostlist_clear(&list);
    return 0;
}

static int show_things(char **words, int n, bool one_line)
{
    const char *what = n > 0 ? words[0] : "";
    if (strncasecmp(what, "job", 3) == 0) {
        if (strncasecmp(what, "jobid=", 6) == 0)
            words[0] += 6;
        else if (strncasecmp(what, "job=", 4) == 0)
            words[0] += 4;
        else
            words++, n--;
        while (n > 0 && words[0][0] == '-') /* -d, -dd: details */
            words++, n--;
        return show_jobs(words, n, one_line);
    }
    if (strncasecmp(what, "node", 4) == 0 || strncasecmp(what, "partition", 9) == 0) {
        const char *sign = strchr(what, '=');
        const char *name = sign ? sign + 1 : n > 1 ? words[1] : NULL;
        return what[0] == 'n' || what[0] == 'N' ? scontrol_show_nodes(name, one_line)
                                                : scontrol_show_partitions(name, one_line);
    }
    if (strcasecmp(what, "hostnames") == 0 || strcasecmp(what, "hostname") == 0)
        return show_hosts(n > 1 ? words[1] : NULL, true);
    if (strcasecmp(what, "hostlist") == 0)
        return show_hosts(n > 1 ? words[1] : NULL, false);
    /* What tools go by: how often things change, and for how long squeue tells of what has ended. */
    if (strncasecmp(what, "config", 4) == 0)
        return puts("ClusterName             = berth\n"
                    "MinJobAge               = 300 sec\n"
                    "SchedulerTimeSlice      = 1 sec\n"
                    "SLURM_VERSION           = 23.02.0") < 0;
    return shim_failed(
        "scontrol",
        "show %.60s is not supported here, only job, node, partition, config, hostnames, "
        "hostlist",
        what);
}

/* ---- Changes ---- */

/* "jobid=17" is 17. */
static int change_named_jobs(const char *verb, char **words, int n, json_t *more)
{
    struct shim_ids ids = {0};
    int rc = n > 0 ? 0 : shim_failed("scontrol", "%s: no job is named", verb);
    for (int i = 0; i < n && rc == 0; i++) {
        const char *sign = strchr(words[i], '=');
        if (shim_ids_add(&ids, sign ? sign + 1 : words[i]) < 0)
            rc = shim_failed("scontrol", "Invalid job id %.60s", words[i]);
    }
    if (rc == 0)
        rc = named_jobs_ask(verb, ids.words, (int)ids.n, NULL, more, false);
    shim_ids_clear(&ids);
    return rc;
}

/* What is asked for in a request of its own each, in this order: what a waiting job asks for, what it is charged to, whom it
 * waits for, how many of an array run at once, and the rest.
 */
enum request { ASKED, ACCOUNT, DEPENDENCY, AT_ONCE, OTHER, REQUESTS };

/* What scontrol calls the keys of a change: a number, a text, a time or a size. */
struct change_name {
    const char *name, *key;
    enum request request;
    json_t *(*read)(const char *value);
};

static json_t *read_limit(const char *value)
{
    int64_t seconds;
    if (!slurm_seconds(value, &seconds))
        return NULL;
    return seconds < 0 ? json_string("unlimited") : json_integer(seconds);
}

static json_t *read_whole_value(const char *value)
{
    int64_t n;
    return slurm_whole(value, &n) ? json_integer(n) : NULL;
}

/* Of an array; 0 is any number. */
static json_t *read_throttle(const char *value)
{
    int64_t n;
    return !slurm_whole(value, &n) || n < 0 ? NULL : n == 0 ? json_null() : json_integer(n);
}

static json_t *read_text_value(const char *value)
{
    return *value ? json_string(value) : NULL;
}

/* An empty one waits for nobody; "afterok:17_3" is "afterok:17[3]" here. */
static json_t *read_dependency(const char *value)
{
    struct strbuf text = {0};
    for (const char *at = value; *at; at++) {
        size_t digits = *at == '_' ? strspn(at + 1, "0123456789") : 0;
        strbuf_putc(&text, digits ? '[' : *at);
        strbuf_put(&text, at + 1, digits);
        strbuf_puts(&text, digits ? "]" : "");
        at += digits;
    }
    json_t *dependency = text.len ? json_string(strbuf_text(&text)) : json_null();
    strbuf_clear(&text);
    return dependency;
}

/* Megabytes, where it has no unit. */
static json_t *read_memory(const char *value)
{
    int64_t bytes;
    return slurm_bytes(value, &bytes) ? json_integer(bytes) : NULL;
}

static json_t *read_begin(const char *value)
{
    struct strbuf text = {0};
    double at;
    json_t *begin = NULL;
    if (slurm_begin(value, &text) && when_read(strbuf_text(&text), time(NULL), &at) == 0)
        begin = json_real(at);
    strbuf_clear(&text);
    return begin;
}

static const struct change_name names[] = {
    {"TimeLimit", "limit", OTHER, read_limit},
    {"Priority", "priority", OTHER, read_whole_value},
    {"Partition", "queue", OTHER, read_text_value},
    {"StartTime", "begin", OTHER, read_begin},
    {"JobName", "name", ASKED, read_text_value},
    {"Name", "name", ASKED, read_text_value},
    {"NumTasks", "tasks", ASKED, read_whole_value},
    {"NumNodes", "nodes", ASKED, read_whole_value},
    {"MinMemoryNode", "memory", ASKED, read_memory},
    {"Account", "account", ACCOUNT, read_text_value},
    {"Dependency", "dependency", DEPENDENCY, read_dependency},
    {"ArrayTaskThrottle", "at_once", AT_ONCE, read_throttle}};

/* Take "TimeLimit=10" into its request. 0, or the status of what is none. */
static int take_update_word(const char *word, json_t *request[REQUESTS])
{
    const char *sign = strchr(word, '=');
    size_t length = sign ? (size_t)(sign - word) : strlen(word);
    for (size_t i = 0; sign && i < sizeof(names) / sizeof(*names); i++) {
        const struct change_name *n = &names[i];
        if (strlen(n->name) != length || strncasecmp(word, n->name, length) != 0)
            continue;
        json_t *value = n->read(sign + 1);
        if (!value)
            return shim_failed("scontrol", "Invalid value: %.100s", word);
        return json_object_set_new(request[n->request], n->key, value);
    }
    return shim_failed("scontrol", "update: %.100s is not supported here", word);
}

/* "JobId=17 TimeLimit=10" */
static int update(char **words, int n)
{
    if (n > 0 && strncasecmp(words[0], "NodeName=", 9) == 0)
        return scontrol_update_nodes(words, n);
    json_t *request[REQUESTS];
    char *job = NULL;
    size_t changes = 0;
    int rc = 0;
    for (int i = 0; i < REQUESTS; i++)
        request[i] = json_object();
    for (int i = 0; i < n && rc == 0; i++) {
        if (strncasecmp(words[i], "JobId=", 6) == 0)
            job = words[i];
        else
            rc = take_update_word(words[i], request);
    }
    for (int i = 0; i < REQUESTS && rc == 0; i++) {
        changes += json_object_size(request[i]);
        if (json_object_size(request[i]) > 0 || (i == OTHER && changes == 0))
            rc = change_named_jobs("update", &job, job != NULL, request[i]);
    }
    for (int i = 0; i < REQUESTS; i++)
        json_decref(request[i]);
    return rc;
}

/* Whether the server answers. */
static int ping(void)
{
    struct connection s;
    berth_error_t err;
    json_t *answer = NULL;
    char host[256] = "localhost";
    gethostname(host, sizeof(host) - 1);
    host[strcspn(host, ".")] = '\0';
    bool up = connection_open(&s, "scontrol", &err) == 0 &&
              connection_ask(&s, "GET", "/v1/server", NULL, &answer, &err) == 0;
    printf("Slurmctld(primary) at %s is %s\n", host, up ? "UP" : "DOWN");
    json_decref(answer);
    connection_close(&s);
    return !up;
}

int shim_scontrol(int argc, char **argv)
{
    int at = 1;
    bool one_line = false;
    for (; at < argc && argv[at][0] == '-'; at++) {
        one_line = one_line || strcmp(argv[at], "-o") == 0 || strcmp(argv[at], "--oneliner") == 0;
        if (strcmp(argv[at], "-V") == 0 || strcmp(argv[at], "--version") == 0)
            return shim_version();
        if (strcmp(argv[at], "-h") == 0 || strcmp(argv[at], "--help") == 0)
            return fputs(help, stdout) < 0;
    }
    const char *verb = at < argc ? argv[at] : "";
    char **words = argv + at + (at < argc);
    int n = argc - at - (at < argc);
    if (strcmp(verb, "show") == 0)
        return show_things(words, n, one_line);
    if (strcmp(verb, "update") == 0)
        return update(words, n);
    if (strcmp(verb, "hold") == 0 || strcmp(verb, "release") == 0 || strcmp(verb, "requeue") == 0)
        return change_named_jobs(verb, words, n, NULL);
    if (strcmp(verb, "ping") == 0)
        return n > 0 ? shim_failed("scontrol", "ping: '%.60s' is one word too many", words[0])
                     : ping();
    if (strcmp(verb, "version") == 0)
        return shim_version();
    return shim_failed(
        "scontrol",
        "'%.60s' is not supported here, only show, hold, release, requeue, update, ping", verb);
}
