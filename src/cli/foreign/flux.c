#include "cli/foreign/flux.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"

#define SECONDS_MAX 4e9
#define URGENCY     16 /* of a job that says none */
#define URGENCY_MAX 31

enum what { AS_IS, NOTHING, NOT_HERE, TIME, URGENCY_IS, FILE_NAME, DEPENDENCY, ENV_REMOVE };

#define TO(name, letter, to)                                                                       \
    {                                                                                              \
        name, letter, FOREIGN_NEEDED, AS_IS, to                                                    \
    }
#define TAKE(name, letter, w, to)                                                                  \
    {                                                                                              \
        name, letter, FOREIGN_NEEDED, w, to                                                        \
    }
#define NOT(name, letter)                                                                          \
    {                                                                                              \
        name, letter, FOREIGN_NEEDED, NOT_HERE, NULL                                               \
    }
#define NOT_FLAG(name, letter)                                                                     \
    {                                                                                              \
        name, letter, FOREIGN_NONE, NOT_HERE, NULL                                                 \
    }

const struct foreign_option flux_list[] = {
    TO("nodes", 'N', "nodes"),
    TO("nslots", 'n', "ntasks"),
    TO("ntasks", 0, "ntasks"),
    TO("cores-per-slot", 'c', "cores-per-task"),
    TO("cores-per-task", 0, "cores-per-task"),
    TO("gpus-per-slot", 'g', "gpus-per-task"),
    TO("gpus-per-task", 0, "gpus-per-task"),
    TO("queue", 'q', "queue"),
    TO("bank", 'B', "account"),
    TO("job-name", 0, "name"),
    TO("env", 0, "env"),
    TO("cwd", 0, "chdir"),
    TO("signal", 0, "signal"),
    {"exclusive", 'x', FOREIGN_NONE, AS_IS, "exclusive"},
    TAKE("time-limit", 't', TIME, "time-limit"),
    TAKE("urgency", 0, URGENCY_IS, "priority"),
    TAKE("output", 0, FILE_NAME, "output"),
    TAKE("error", 0, FILE_NAME, "error"),
    TAKE("input", 0, FILE_NAME, "input"),
    TAKE("dependency", 0, DEPENDENCY, "dependency"),
    TAKE("env-remove", 0, ENV_REMOVE, "env"),
    TO("begin-time", 0, "begin"),
    TO("requires", 0, "requires"),
    TAKE("flags", 0, NOTHING, NULL),
    {"unbuffered", 'u', FOREIGN_NONE, NOTHING, NULL},
    {"quiet", 0, FOREIGN_NONE, NOTHING, NULL},
    {"verbose", 'v', FOREIGN_MAYBE, NOTHING, NULL},
    NOT("setopt", 'o'),
    NOT("setattr", 'S'),
    NOT("add-file", 0),
    NOT("conf", 0),
    NOT("broker-opts", 0),
    NOT("dump", 0),
    NOT("rlimit", 0),
    NOT("env-file", 0),
    NOT("cores", 0),
    NOT("tasks-per-node", 0),
    NOT("tasks-per-core", 0),
    NOT("gpus-per-node", 0),
    NOT("job-cores", 0),
    NOT("taskmap", 0),
    NOT("signal-user", 0),
    NOT_FLAG("label-io", 'l'),
    NOT_FLAG("wrap", 0),
    NOT_FLAG("dry-run", 0),
};
const size_t flux_list_n = sizeof(flux_list) / sizeof(*flux_list);

int flux_seconds(const char *text, double *seconds)
{
    static const struct {
        const char *word;
        double factor;
    } units[] = {{"", 60}, {"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    double n = strtod(text, &end);

    if (end == text || isnan(n) || n < 0) {
        errno = EINVAL;
        return -1;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (strcmp(end, units[i].word) == 0 && (isinf(n) || n * units[i].factor <= SECONDS_MAX)) {
            n *= units[i].factor;
            *seconds = n > 0 && !isinf(n) ? n : -1;
            return 0;
        }
    }
    errno = EINVAL;
    return -1;
}

struct taking {
    struct foreign *out;
    const char *where, *value;
    const struct foreign_option *option;
    berth_error_t *err;
};

static int put_flux_value(const struct taking *t, const char *name, const char *value)
{
    return foreign_put(t->out, name, value) == 0 ? 0 : errtext_no_memory(t->err);
}

static int expected_flux_value(const struct taking *t, const char *what)
{
    return errtext_set(t->err, EINVAL, "%s--%s is '%.100s', expected %s", t->where, t->option->name,
                       t->value, what);
}

static int take_flux_time(const struct taking *t)
{
    double seconds;
    char text[40];
    if (flux_seconds(t->value, &seconds) < 0)
        return expected_flux_value(t, "minutes, or a time such as 90s or 1.5h");
    snprintf(text, sizeof(text), "%.3fs", seconds);
    return put_flux_value(t, t->option->to, seconds < 0 ? "unlimited" : text);
}

/* 0 holds a job; 16 is usual. */
static int take_urgency(const struct taking *t)
{
    char *end, text[24];
    long n = strtol(t->value, &end, 10);
    if (end == t->value || *end || n < 0 || n > URGENCY_MAX)
        return expected_flux_value(t, "a whole number from 0 to 31");
    if (n == 0)
        return put_flux_value(t, "hold", NULL);
    snprintf(text, sizeof(text), "%ld", n - URGENCY);
    return put_flux_value(t, "priority", text);
}

/* "{{id}}" and "{{name}}"; a percent sign is one. */
static int take_file(const struct taking *t)
{
    static const char *const patterns[][2] = {{"{{id}}", "%j"},       {"{{id.dec}}", "%j"},
                                              {"{{jobid}}", "%j"},    {"{{id.f58}}", "%j"},
                                              {"{{id.words}}", "%j"}, {"{{name}}", "%n"}};
    const size_t n = sizeof(patterns) / sizeof(*patterns);
    struct strbuf text = {0};
    for (const char *at = t->value; *at;) {
        size_t i = 0;
        while (i < n && strncmp(at, patterns[i][0], strlen(patterns[i][0])) != 0)
            i++;
        if (i < n) {
            strbuf_puts(&text, patterns[i][1]);
            at += strlen(patterns[i][0]);
            continue;
        }
        if (strncmp(at, "{{", 2) == 0) {
            strbuf_clear(&text);
            return expected_flux_value(t, "of patterns {{id}} and {{name}}");
        }
        strbuf_puts(&text, *at == '%' ? "%" : "");
        strbuf_putc(&text, *at++);
    }
    int rc = put_flux_value(t, t->option->to, strbuf_text(&text));
    strbuf_clear(&text);
    return rc;
}

static int take_env_remove(const struct taking *t)
{
    char *rule = NULL;
    int rc = asprintf(&rule, "-%s", t->value) < 0 ? -1 : put_flux_value(t, "env", rule);
    free(rule);
    return rc;
}

/* All that were given hold. */
static int add_dependency(const struct taking *t)
{
    static const char start[] = "--dependency=";
    for (size_t i = 0; i < t->out->n; i++) {
        char *word = t->out->words[i], *longer;
        if (strncmp(word, start, sizeof(start) - 1) != 0)
            continue;
        if (asprintf(&longer, "%s,%s", word, t->value) < 0)
            return errtext_no_memory(t->err);
        free(word);
        t->out->words[i] = longer;
        return 0;
    }
    return put_flux_value(t, "dependency", t->value);
}

static int take_flux_option(const struct taking *t)
{
    switch ((enum what)t->option->what) {
    case NOTHING:
        return 0;
    case NOT_HERE:
        foreign_warn(t->out, t->where, "--%s is not supported here, and has no effect",
                     t->option->name);
        return 0;
    case TIME:
        return take_flux_time(t);
    case URGENCY_IS:
        return take_urgency(t);
    case FILE_NAME:
        return take_file(t);
    case ENV_REMOVE:
        return take_env_remove(t);
    case DEPENDENCY:
        if (strncmp(t->value, "begin-time:", 11) == 0)
            return put_flux_value(t, "begin", t->value + 11);
        return add_dependency(t);
    default:
        return put_flux_value(t, t->option->to, t->value);
    }
}

int flux_options(struct foreign *out, char **words, int n, const char *where, berth_error_t *err)
{
    struct foreign_words walk = {.tool = "flux batch", .where = where, .v = words, .n = n};
    struct taking t = {.out = out, .where = where, .err = err};
    int rc;

    while ((rc = foreign_next(&walk, flux_list, flux_list_n, &t.option, &t.value, err)) > 0)
        if (take_flux_option(&t) < 0)
            return -1;
    return rc < 0 ? -1 : walk.at;
}
