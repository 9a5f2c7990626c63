#include "cli/foreign/slurm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/number.h"
#include "cli/foreign/slurm_list.h"
#include "cli/foreign/slurm_values.h"

#define NICE_MAX 1000000000

/* One option being read. */
struct taking {
    struct slurm *s;
    const char *where, *name, *value;
    berth_error_t *err;
};

static int expected_slurm_value(const struct taking *t, const char *what)
{
    return errtext_set(t->err, EINVAL, "%s--%s is '%.100s', expected %s", t->where, t->name,
                       t->value, what);
}

static int put_slurm_value(const struct taking *t, const char *name, const char *value)
{
    return foreign_put(&t->s->out, name, value) == 0 ? 0 : errtext_no_memory(t->err);
}

static int put_slurm_text(const struct taking *t, const char *name, struct strbuf *text)
{
    int rc = put_slurm_value(t, name, strbuf_text(text));
    strbuf_clear(text);
    return rc;
}

static int take_whole(const struct taking *t, int64_t *to)
{
    return slurm_whole(t->value, to) && *to > 0
               ? 0
               : expected_slurm_value(t, "a whole number from 1 on");
}

static int take_bytes(const struct taking *t, int64_t *to)
{
    if (!slurm_bytes(t->value, to))
        return expected_slurm_value(t, "megabytes, or a size such as 4G");
    if (*to == 0)
        foreign_warn(&t->s->out, t->where, "--%s=0, all of a node's memory, is not supported here",
                     t->name);
    return 0;
}

static int take_gpus(const struct taking *t, bool gres, int64_t *to)
{
    struct slurm_gpus gpus;
    if (!slurm_gpus_read(t->value, gres, &gpus)) {
        if (!gres)
            return expected_slurm_value(t, "a number of GPUs");
        foreign_warn(&t->s->out, t->where, "--gres=%.100s is not supported here, only gpu is",
                     t->value);
        return 0;
    }
    if (gpus.several)
        foreign_warn(&t->s->out, t->where,
                     "GPUs of several types are not supported here: any will do");
    *to = gpus.n;
    memcpy(t->s->gpu_type, gpus.type, sizeof(gpus.type));
    return 0;
}

/* "2", "2-4" */
static int take_slurm_nodes(const struct taking *t)
{
    char least[16];
    size_t n = strcspn(t->value, "-");
    t->s->nodes_max = 0;
    if (t->value[n] && (!slurm_whole(t->value + n + 1, &t->s->nodes_max) || t->s->nodes_max < 1))
        return expected_slurm_value(t, "a number of nodes, or a range such as 2-4");
    snprintf(least, sizeof(least), "%.*s", (int)n, t->value);
    return n < sizeof(least) && slurm_whole(least, &t->s->nodes) && t->s->nodes > 0
               ? 0
               : expected_slurm_value(t, "a number of nodes");
}

static int take_slurm_time(const struct taking *t)
{
    int64_t seconds;
    char text[32];
    if (!slurm_seconds(t->value, &seconds))
        return expected_slurm_value(t, "minutes, or a time such as 1:30:00 or 1-12");
    snprintf(text, sizeof(text), "%llds", (long long)seconds);
    t->s->limit = seconds;
    return put_slurm_value(t, "time-limit", seconds < 0 ? "unlimited" : text);
}

/* The first of a list of partitions is the queue. */
static int take_partition(const struct taking *t)
{
    char *name = strndup(t->value, strcspn(t->value, ","));
    if (strchr(t->value, ','))
        foreign_warn(&t->s->out, t->where, "of --partition=%.100s the job is in the first",
                     t->value);
    int rc = put_slurm_value(t, "queue", name ? name : "");
    free(name);
    return rc;
}

/* A job's name has no slash here. */
static int take_name(const struct taking *t)
{
    char *name = strdup(t->value);
    for (char *at = name; at && *at; at++)
        if (*at == '/')
            *at = '_';
    int rc = put_slurm_value(t, "name", name ? name : "");
    free(name);
    return rc;
}

static int take_dependency(const struct taking *t)
{
    if (strpbrk(t->value, "?+") || strstr(t->value, "aftercorr") || strstr(t->value, "expand") ||
        strstr(t->value, "afterburstbuffer"))
        return expected_slurm_value(
            t, "after, afterany, afterok, afternotok or singleton, all of which hold");
    return put_slurm_value(t, "dependency", t->value);
}

/* ALL, NONE, "NAME,NAME=VALUE": only these, unless ALL is among them. */
static int take_export(const struct taking *t)
{
    bool all = false, none = strcasecmp(t->value, "NONE") == 0 || strcasecmp(t->value, "NIL") == 0;
    for (const char *at = t->value; *at;
         at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strlen(at))
        all = all || (strncmp(at, "ALL", 3) == 0 && (!at[3] || at[3] == ','));
    if (!all && put_slurm_value(t, "env", "-*") < 0)
        return -1;
    for (const char *at = t->value; *at && !none;) {
        size_t n = strcspn(at, ",");
        char *rule = strndup(at, n);
        int rc = rule && *rule && strcmp(rule, "ALL") != 0 ? put_slurm_value(t, "env", rule) : 0;
        free(rule);
        if (rc < 0)
            return -1;
        at += n + (at[n] == ',');
    }
    return 0;
}

static int take_slurm_signal(const struct taking *t)
{
    t->s->signal = slurm_signal(t->value, &t->s->signal_time);
    return t->s->signal ? 0
                        : expected_slurm_value(t, "a signal and seconds before the limit, USR1@60");
}

/* Slurm takes a signal that would come before the job starts; it is not sent here. */
static int finish_signal(struct slurm *s, const char *where)
{
    if (!s->signal)
        return 0;
    if (s->limit < 0 || (s->limit > 0 && s->signal_time >= s->limit)) {
        foreign_warn(&s->out, where, "--signal=%.60s is not sent: the time limit is %s", s->signal,
                     s->limit < 0 ? "none" : "no longer than that");
        return 0;
    }
    return foreign_put(&s->out, "signal", s->signal);
}

static int take_begin(const struct taking *t)
{
    struct strbuf text = {0};
    if (!slurm_begin(t->value, &text)) {
        strbuf_clear(&text);
        return expected_slurm_value(t, "a time such as now+1hour, 16:00 or 2026-12-31T08:30");
    }
    return put_slurm_text(t, "begin", &text);
}

static int take_nice(const struct taking *t)
{
    char *end = NULL;
    long n = t->value ? strtol(t->value, &end, 10) : 100;
    char text[24];
    if (end && (end == t->value || *end || n < -NICE_MAX || n > NICE_MAX))
        return expected_slurm_value(t, "a whole number");
    snprintf(text, sizeof(text), "%ld", -n);
    return put_slurm_value(t, "priority", text);
}

static int take_open_mode(const struct taking *t)
{
    bool append = *t->value == 'a';
    if (!append && *t->value != 't')
        return expected_slurm_value(t, "append or truncate");
    t->s->append = append;
    return 0;
}

static int take_exclusive(const struct taking *t)
{
    if (t->value)
        foreign_warn(&t->s->out, t->where, "--exclusive=%.60s is --exclusive here", t->value);
    return put_slurm_value(t, "exclusive", NULL);
}

static int take_sums(const struct taking *t, enum slurm_what what)
{
    struct slurm *s = t->s;
    switch (what) {
    case SLURM_CPUS:
        return take_whole(t, &s->cpus);
    case SLURM_TASKS:
        return take_whole(t, &s->tasks);
    case SLURM_TASKS_NODE:
        return take_whole(t, &s->tasks_per_node);
    case SLURM_NODES:
        return take_slurm_nodes(t);
    case SLURM_MEM:
        return take_bytes(t, &s->memory_node);
    case SLURM_MEM_CPU:
        return take_bytes(t, &s->memory_cpu);
    case SLURM_MEM_GPU:
        return take_bytes(t, &s->memory_gpu);
    case SLURM_GPUS:
        return take_gpus(t, false, &s->gpus);
    case SLURM_GPUS_TASK:
        return take_gpus(t, false, &s->gpus_task);
    case SLURM_GPUS_NODE:
        return take_gpus(t, false, &s->gpus_node);
    default:
        return take_gpus(t, true, &s->gpus_node);
    }
}

static void take_flag(struct slurm *s, enum slurm_what what)
{
    s->requeue = what == SLURM_REQUEUE || (s->requeue && what != SLURM_NO_REQUEUE);
    s->parsable = s->parsable || what == SLURM_PARSABLE;
    s->test_only = s->test_only || what == SLURM_TEST_ONLY;
    s->wait = s->wait || what == SLURM_WAIT;
    s->wants_help = s->wants_help || what == SLURM_HELP;
    s->wants_version = s->wants_version || what == SLURM_VERSION;
}

static int keep_slurm_value(const char **to, const char *value)
{
    *to = value;
    return 0;
}

static int take_text(const struct taking *t, enum slurm_what what)
{
    struct slurm *s = t->s;
    switch (what) {
    case SLURM_ARRAY:
        return keep_slurm_value(&s->array, t->value);
    case SLURM_FEATURES:
        return keep_slurm_value(&s->features, t->value);
    case SLURM_HOSTS:
        return keep_slurm_value(&s->hosts, t->value);
    case SLURM_NOT_HOSTS:
        return keep_slurm_value(&s->not_hosts, t->value);
    case SLURM_INPUT:
        return keep_slurm_value(&s->file[0], t->value);
    case SLURM_OUTPUT:
        return keep_slurm_value(&s->file[1], t->value);
    case SLURM_ERROR:
        return keep_slurm_value(&s->file[2], t->value);
    case SLURM_MAIL_TYPE:
        return keep_slurm_value(&s->mail_type, t->value);
    case SLURM_MAIL_USER:
        return keep_slurm_value(&s->mail_user, t->value);
    case SLURM_WRAP:
        return keep_slurm_value(&s->wrap, t->value);
    default:
        return take_sums(t, what);
    }
}

static int take_slurm_option(const struct taking *t, const struct foreign_option *option)
{
    switch ((enum slurm_what)option->what) {
    case SLURM_AS_IS:
        return put_slurm_value(t, option->to, t->value);
    case SLURM_NOTHING:
        return 0;
    case SLURM_NOT_HERE:
        foreign_warn(&t->s->out, t->where, "--%s is not supported here, and has no effect",
                     t->name);
        return 0;
    case SLURM_PARTITION:
        return take_partition(t);
    case SLURM_NAME:
        return take_name(t);
    case SLURM_BEGIN:
        return take_begin(t);
    case SLURM_DEPENDENCY:
        return take_dependency(t);
    case SLURM_EXCLUSIVE:
        return take_exclusive(t);
    case SLURM_EXPORT:
        return take_export(t);
    case SLURM_NICE:
        return take_nice(t);
    case SLURM_OPEN_MODE:
        return take_open_mode(t);
    case SLURM_SIGNAL:
        return take_slurm_signal(t);
    case SLURM_TIME:
        return take_slurm_time(t);
    default:
        if (option->value == FOREIGN_NONE)
            take_flag(t->s, (enum slurm_what)option->what);
        else
            return take_text(t, (enum slurm_what)option->what);
        return 0;
    }
}

int slurm_options(struct slurm *s, char **words, int n, const char *where, berth_error_t *err)
{
    struct foreign_words walk = {
        .tool = s->tool ? s->tool : "sbatch", .where = where, .v = words, .n = n};
    const struct foreign_option *option;
    struct taking t = {.s = s, .where = where, .err = err};
    int rc;

    while ((rc = foreign_next(&walk, slurm_list, slurm_list_n, &option, &t.value, err)) > 0) {
        t.name = option->name;
        if (take_slurm_option(&t, option) < 0)
            return -1;
    }
    return rc < 0 ? -1 : walk.at;
}

/* ---- Sums ---- */

static int64_t least_one(int64_t n)
{
    return n > 0 ? n : 1;
}

/* A product, or the greatest number where it would be more: submit refuses that. */
/* GPUs of each task, with their type. */
static int put_gpus(struct slurm *s, int64_t n)
{
    char text[SLURM_TYPE_SIZE + 24];
    snprintf(text, sizeof(text), "%s%s%lld", s->gpu_type, *s->gpu_type ? ":" : "", (long long)n);
    return n ? foreign_put(&s->out, "gpus-per-task", text) : 0;
}

/* So many tasks in all need no more nodes than the least. */
static int put_slurm_nodes(struct slurm *s)
{
    char text[48];
    if (s->nodes_max <= s->nodes || s->tasks)
        return foreign_put_number(&s->out, "nodes", s->nodes);
    snprintf(text, sizeof(text), "%lld-%lld", (long long)s->nodes, (long long)s->nodes_max);
    return foreign_put(&s->out, "nodes", text);
}

/* A step has by default the tasks of its job. */
static bool is_counted(const struct slurm *s)
{
    return !s->is_step || s->tasks || s->tasks_per_node || s->nodes;
}

/* Tasks, cores and GPUs. A script runs once, so where GPUs do not divide among its tasks, it may as well ask for all
 * that is on a node as one.
 */
static int finish_counts(struct slurm *s, int64_t *tasks)
{
    int64_t nodes = least_one(s->nodes), cpus = least_one(s->cpus);
    *tasks = s->tasks            ? s->tasks
             : s->tasks_per_node ? capped_product(s->tasks_per_node, nodes)
                                 : nodes;
    int64_t gpus = s->gpus        ? s->gpus
                   : s->gpus_task ? capped_product(s->gpus_task, *tasks)
                                  : capped_product(s->gpus_node, nodes);
    int64_t pieces = *tasks;
    if (gpus % pieces != 0) {
        pieces = nodes;
        cpus = capped_product(cpus, *tasks / nodes + (*tasks % nodes != 0));
    }
    if ((s->nodes && put_slurm_nodes(s) < 0) ||
        (is_counted(s) && foreign_put_number(&s->out, "ntasks", pieces) < 0) ||
        (cpus > 1 && foreign_put_number(&s->out, "cores-per-task", cpus) < 0) ||
        put_gpus(s, gpus / pieces + (gpus % pieces != 0)) < 0)
        return -1;
    int64_t memory = s->memory_node ? capped_product(s->memory_node, nodes)
                     : s->memory_cpu
                         ? capped_product(capped_product(s->memory_cpu, *tasks), least_one(s->cpus))
                         : capped_product(s->memory_gpu, gpus);
    return memory > 0 ? foreign_put_number(&s->out, "mem", memory) : 0;
}

static int finish_files(struct slurm *s, const char *where, berth_error_t *err)
{
    static const char *const names[] = {"input", "output", "error"};
    char host[256] = "localhost";
    bool width;

    gethostname(host, sizeof(host) - 1);
    host[strcspn(host, ".")] = '\0';
    for (size_t i = 0; i < 3; i++) {
        struct strbuf text = {0};
        if (!s->file[i])
            continue;
        bool fine = slurm_file(s->file[i], s->array != NULL, s->is_step, host, &text, &width);
        if (fine && width)
            foreign_warn(&s->out, where, "widths in --%s=%.100s are left out", names[i],
                         s->file[i]);
        int rc = fine ? foreign_put(&s->out, names[i], strbuf_text(&text)) : 0;
        strbuf_clear(&text);
        if (!fine)
            return errtext_set(err, EINVAL,
                               "%s--%s is '%.100s', expected of patterns %%A %%a %%j %%N %%u %%x",
                               where, names[i], s->file[i]);
        if (rc < 0)
            return errtext_no_memory(err);
    }
    return 0;
}

static int finish_constraint(struct slurm *s, const char *where, berth_error_t *err)
{
    struct strbuf text = {0};
    if (!s->features && !s->hosts && !s->not_hosts)
        return 0;
    if (!slurm_constraint(s->features, s->hosts, s->not_hosts, &text)) {
        strbuf_clear(&text);
        return errtext_set(err, EINVAL, "%s--constraint is '%.100s', expected names with & and |",
                           where, s->features);
    }
    int rc = foreign_put(&s->out, "requires", strbuf_text(&text));
    strbuf_clear(&text);
    return rc == 0 ? 0 : errtext_no_memory(err);
}

/* "BEGIN,END,FAIL" becomes a notification by mail, to the user where nobody is named. */
static int finish_mail(struct slurm *s, const char *where)
{
    static const char *const types[][2] = {{"BEGIN", "begin"},
                                           {"END", "end"},
                                           {"FAIL", "fail"},
                                           {"ALL", "begin,end,fail"},
                                           {"TIME_LIMIT", "fail"}};
    struct strbuf on = {0}, to = {0};
    int rc = 0;
    for (const char *at = s->mail_type; at && *at && !s->is_step;) {
        size_t n = strcspn(at, ","), i = 0, known = sizeof(types) / sizeof(*types);
        while (i < known && (strlen(types[i][0]) != n || strncasecmp(types[i][0], at, n) != 0))
            i++;
        if (i < known) {
            strbuf_puts(&on, on.len > 0 ? "," : "");
            strbuf_puts(&on, types[i][1]);
        } else if (n != 4 || strncasecmp(at, "NONE", 4) != 0) {
            foreign_warn(&s->out, where, "--mail-type=%.*s is not supported here", (int)n, at);
        }
        at += n + (at[n] == ',');
    }
    if (on.len > 0) {
        const char *user = s->mail_user ? s->mail_user : getenv("USER");
        strbuf_puts(&to, "mail:");
        strbuf_puts(&to, user ? user : "root");
        rc = foreign_put(&s->out, "notify", strbuf_text(&to));
        rc = rc == 0 ? foreign_put(&s->out, "notify-on", strbuf_text(&on)) : rc;
    }
    strbuf_clear(&on);
    strbuf_clear(&to);
    return rc;
}

/* What is asked for is the tasks of all nodes, but scripts read this. */
static int put_tasks_per_node(struct slurm *s)
{
    char text[64];
    snprintf(text, sizeof(text), "SLURM_NTASKS_PER_NODE=%" PRId64, s->tasks_per_node);
    return foreign_put(&s->out, "env", text);
}

int slurm_finish(struct slurm *s, const char *where, int64_t *tasks, berth_error_t *err)
{
    struct strbuf text = {0};
    int rc = finish_counts(s, tasks);
    if (rc == 0)
        rc = finish_signal(s, where);
    if (rc == 0)
        rc = finish_mail(s, where);
    if (rc == 0 && s->requeue)
        rc = foreign_put(&s->out, "requeue", NULL);
    if (rc == 0 && s->test_only && !s->is_step)
        rc = foreign_put(&s->out, "test-only", NULL);
    if (rc == 0 && s->tasks_per_node && !s->is_step)
        rc = put_tasks_per_node(s);
    if (rc == 0 && s->append)
        rc = foreign_put(&s->out, "append", NULL);
    if (rc == 0 && s->array) {
        slurm_array(s->array, &text);
        rc = foreign_put(&s->out, "array", strbuf_text(&text));
        strbuf_clear(&text);
    }
    if (rc < 0)
        return errtext_no_memory(err);
    return finish_files(s, where, err) < 0 ? -1 : finish_constraint(s, where, err);
}

void slurm_clear(struct slurm *s)
{
    foreign_clear(&s->out);
    *s = (struct slurm){0};
}
