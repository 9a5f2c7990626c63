/* Writing the stored form of a submitted job, and its row for listings. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/quantity.h"
#include "server/api/job_reader.h"
#include "server/api/labels.h"
#include "server/core/job_text.h"
#include "server/core/notify.h"
#include "server/core/retry.h"

/* ---- Resources ---- */

#define MANY (INT64_C(1) << 40) /* above any real count */

static int64_t capped_product(int64_t a, int64_t b)
{
    return a > 0 && b > MANY / a ? MANY : a * b;
}

/* The least number of a resource in all. */
static int64_t count_of_one(const jobspec_t *spec, uint32_t i)
{
    int64_t n = 1;
    for (uint32_t at = i; at != JOBSPEC_NONE; at = spec->resources[at].parent)
        n = capped_product(n, spec->resources[at].count.min);
    return n;
}

/* The least number of a type requested; with a label, only resources so labelled. */
static int64_t count_type(const jobspec_t *spec, const char *type, const char *label)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < spec->nresources && total < MANY; i++) {
        const struct jobspec_resource *r = &spec->resources[i];
        if (strcmp(r->type, type) == 0 && (!label || (r->label && strcmp(r->label, label) == 0)))
            total += count_of_one(spec, i);
    }
    return total < MANY ? total : MANY;
}

static int64_t tasks_of(const jobspec_t *spec)
{
    const struct jobspec_task *task = spec->ntasks > 0 ? &spec->tasks[0] : NULL;
    int64_t n = 1;
    if (task && task->per == JOBSPEC_PER_SLOT)
        n = count_type(spec, "slot", task->slot);
    else if (task && task->per == JOBSPEC_PER_RESOURCE)
        n = count_type(spec, task->per_type, NULL);
    return task ? capped_product(n > 0 ? n : 1, task->count) : 1;
}

/* At most one task per core, or per GPU if those are more; with "overcommit", as many more as the
 * configuration allows.
 */
static int check_tasks(struct job_reader *r)
{
    const server_t *s = r->c->s;
    int64_t cores = count_type(r->spec, "core", NULL), gpus = count_type(r->spec, "gpu", NULL);
    if (cores == 0) /* whole nodes are requested */
        cores = capped_product(count_type(r->spec, "node", NULL),
                               s->size.node_cores > 0 ? s->size.node_cores : 1);
    int64_t places = cores > gpus ? cores : gpus;
    places = places > 0 ? places : 1;
    int64_t each = s->config->server.tasks_per_core;
    int64_t most = r->ask.overcommit ? capped_product(places, each) : places;
    int64_t processes = machine_processes(s, cores);
    char why[200];
    if (processes > 0 && most > processes)
        most = processes;
    if (most > JOB_TASKS_MAX)
        most = JOB_TASKS_MAX;
    if (r->tasks <= most)
        return 0;
    snprintf(why, sizeof(why), "at most %" PRId64 " task%s for its cores, got %" PRId64 "%s", most,
             most == 1 ? "" : "s", r->tasks,
             each > 1 && !r->ask.overcommit ? " (more with \"overcommit\")" : "");
    return job_wrong(r, "jobspec", NULL, why);
}

static int put_jobspec_text(struct job_reader *r, struct json_out *out)
{
    const struct job_keys *a = &r->ask.job;
    struct job *job = r->job;
    if (a->nodes || a->cores || a->gpus || a->gpu_type || a->memory || a->requires ||
        a->exclusive || a->tasks)
        return job_wrong(
            r, "jobspec", NULL,
            "either a jobspec or nodes, tasks, cores, gpus, gpu_type, memory, exclusive, requires");
    job->nodes = count_type(r->spec, "node", NULL);
    job->cores = count_type(r->spec, "core", NULL);
    job->gpus = count_type(r->spec, "gpu", NULL);
    job->nodes += job->nodes == 0;
    r->tasks = tasks_of(r->spec);
    if (check_tasks(r) < 0)
        return -1;
    json_put_text(out, "jobspec_text", r->spec_text);
    return 0;
}

static int put_form(struct job_reader *r, struct json_out *out)
{
    struct job *job = r->job;
    struct short_form form;
    struct job_fault fault;
    if (r->ask.overcommit)
        return job_wrong(r, "overcommit", NULL, "a jobspec: other jobs have cores for each task");
    if (job_keys_form(&r->ask.job, r->c->s->size.memory_unit, &form, &r->memory, &fault) < 0)
        return job_wrong(r, fault.key, fault.found, fault.expected);
    json_key(out, "jobspec");
    job_keys_put(&r->ask.job, form, out->text);
    job->nodes = form.nodes > 0 ? form.nodes : 1;
    job->cores = form.tasks * form.cores;
    job->gpus = form.tasks * form.gpus;
    r->tasks = form.tasks;
    json_put_int(out, "task_cores", form.cores);
    json_put_int(out, "task_gpus", form.gpus);
    return 0;
}

/* ---- Texts ---- */

static void put_words(struct json_out *out, const json_t *list)
{
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word)
    {
        json_put_bytes(out, NULL, json_string_value(word), json_string_length(word));
    }
}

static void put_command(struct job_reader *r, struct json_out *out)
{
    const struct ask *a = &r->ask;
    json_open(out, "command", '[');
    if (a->command) {
        put_words(out, a->command);
    } else if (a->script) {
        json_put_text(out, NULL, r->job->name);
    } else {
        const struct jobspec_task *task = &r->spec->tasks[0];
        for (uint32_t i = 0; i < task->ncommand; i++)
            json_put_text(out, NULL, task->command[i]);
    }
    put_words(out, a->args);
    json_close(out, ']');
}

int job_put_name(struct job_reader *r)
{
    const struct ask *a = &r->ask;
    const char *text = a->job.name;
    if (!text && a->script)
        text = "script";
    if (!text && a->command)
        text = json_string_value(json_array_get(a->command, 0));
    if (!text)
        text = r->spec->tasks[0].command[0];
    const char *slash = a->job.name ? NULL : strrchr(text, '/');
    if (a->job.name &&
        (strlen(a->job.name) > NAME_MAX || strchr(a->job.name, '/') || !text_is_plain(a->job.name)))
        return job_wrong(r, "name", NULL, "at most 255 bytes without '/' or control characters");
    r->job->name = strndup(slash && slash[1] ? slash + 1 : text, NAME_MAX);
    if (!r->job->name)
        return job_no_memory(r);
    text_make_plain(r->job->name);
    return 0;
}

static bool put_file_pattern(struct strbuf *path, const struct job *job, char letter)
{
    if (letter == 'j' || letter == 'A')
        strbuf_put_int(path, job->id);
    else if (letter == 'n' || letter == 'x')
        strbuf_puts(path, job->name);
    else if (letter == 'u')
        strbuf_puts(path, job->user);
    else if (letter == 'a')
        strbuf_puts(path, job->members > 1 ? "%a" : "0");
    else if (letter == '%')
        strbuf_putc(path, '%');
    else
        return false;
    return true;
}

/* Write a client's path as an absolute one, with the patterns expanded that are known by now. */
static int put_path(struct job_reader *r, struct json_out *out, const char *key,
                    const char *pattern, const char *directory)
{
    const struct job *job = r->job;
    struct strbuf path = {0};
    if (*pattern != '/') {
        strbuf_puts(&path, directory);
        strbuf_putc(&path, '/');
    }
    for (const char *at = pattern; *at; at++) {
        if (*at != '%') {
            strbuf_putc(&path, *at);
            continue;
        }
        if (!put_file_pattern(&path, job, *++at)) {
            strbuf_clear(&path);
            return job_wrong(r, key, NULL, "of patterns %j, %a, %n, %u, and %% for a percent sign");
        }
    }
    bool fits = path.len < PATH_MAX;
    if (fits)
        json_put_text(out, key, strbuf_text(&path));
    out->text->failed = out->text->failed || path.failed;
    strbuf_clear(&path);
    return fits ? 0 : job_too_long(r, key, "4095 bytes");
}

/* A file in the server's folder. */
static int put_usual_path(struct job_reader *r, struct json_out *out, const char *key,
                          const char *ending)
{
    const server_t *s = r->c->s;
    struct strbuf usual = {0};
    strbuf_puts(&usual, "logs/");
    if (s->options.for_all) {
        strbuf_put_uint(&usual, r->job->uid);
        strbuf_putc(&usual, '/');
    }
    strbuf_puts(&usual, r->job->members > 1 ? "%j.%a" : "%j");
    strbuf_puts(&usual, ending);
    int rc = put_path(r, out, key, strbuf_text(&usual), s->directory);
    strbuf_clear(&usual);
    return rc;
}

static int put_output(struct job_reader *r, struct json_out *out, const char *directory)
{
    const struct ask *a = &r->ask;
    int rc = a->output ? put_path(r, out, "output", a->output, directory)
                       : put_usual_path(r, out, "output", ".out");
    if (rc == 0 && a->error)
        return put_path(r, out, "error", a->error, directory);
    if (rc == 0 && a->apart && !a->output)
        return put_usual_path(r, out, "error", ".err");
    json_put_null(out, "error");
    return rc;
}

/* How many of it start together, and what becomes of it if one fails. */
static void put_gang(struct job_reader *r, struct json_out *out)
{
    json_put_int(out, "min", r->ask.gang.min);
    json_put_text(out, "failure", gang_failures[r->ask.gang.failure]);
}

/* Begin the stored object with the part that listings show. */
static int put_shown(struct job_reader *r, struct json_out *out)
{
    const struct ask *a = &r->ask;
    const char *directory = a->directory              ? a->directory
                            : r->spec && r->spec->cwd ? r->spec->cwd
                                                      : r->c->user->home;
    if (*directory != '/')
        return job_wrong(r, "directory", NULL, "an absolute path");
    json_open(out, NULL, '{');
    json_open(out, "shown", '{');
    size_t begin = out->text->len;
    if (put_output(r, out, directory) < 0)
        return -1;
    int64_t bytes = -1;
    json_put_known(out, "memory", a->job.memory && memory_read(a->job.memory, &bytes) ? bytes : -1);
    put_command(r, out);
    json_put_text(out, "directory", directory);
    json_put_text(out, "dependency", a->job.dependency);
    if (r->account)
        json_put_text(out, "account", r->account);
    if (a->gang.gang > 0) {
        json_put_int(out, "gang", a->gang.gang);
        put_gang(r, out);
    }
    labels_put(r, out);
    if (!out->text->failed)
        r->job->row = strndup(out->text->data + begin, out->text->len - begin);
    json_close(out, '}');
    if ((r->spec ? put_jobspec_text(r, out) : put_form(r, out)) < 0)
        return -1;
    if (a->batch)
        r->tasks = 1;
    return r->job->row ? 0 : job_no_memory(r);
}

/* What was submitted, to be told and submitted again: without what is stored beside it or can't be had again. */
static int put_asked(struct job_reader *r, struct json_out *out)
{
    static const char *const left[] = {"environment", "script", "jobspec", "attach", "apart"};
    json_t *asked = json_copy(r->object);
    for (size_t i = 0; asked && i < sizeof(left) / sizeof(*left); i++)
        json_object_del(asked, left[i]);
    char *text = asked ? json_dumps(asked, JSON_COMPACT) : NULL;
    bool made = text != NULL;
    if (made)
        json_put_raw(out, "asked", text);
    free(text);
    json_decref(asked);
    return made ? 0 : job_no_memory(r);
}

static int put_rest(struct job_reader *r, struct json_out *out)
{
    const struct ask *a = &r->ask;
    json_put_int(out, "tasks", r->tasks);
    json_put_int(out, "umask", r->umask);
    if (r->memory > 0)
        json_put_int(out, "memory_limit", r->memory);
    if (r->begin > 0)
        json_put_int(out, "begin", r->begin);
    if (r->deadline > 0)
        json_put_int(out, "deadline", r->deadline);
    if (r->at_once > 0)
        json_put_int(out, "max_running", r->at_once);
    if (a->gang.gang > 0)
        put_gang(r, out);
    if (a->job.preemptible_after > 0)
        json_put_int(out, "preemptible_after", a->job.preemptible_after);
    if (r->warn_signal > 0) {
        json_put_int(out, "warn_signal", r->warn_signal);
        json_put_int(out, "warn_before", r->warn_before);
    }
    if (a->input &&
        put_path(r, out, "input", a->input, a->directory ? a->directory : r->c->user->home) < 0)
        return -1;
    if (a->job.dependency)
        json_put_text(out, "dependency", a->job.dependency);
    if (r->account)
        json_put_text(out, "account", r->account);
    if (a->requeue)
        json_put_bool(out, "requeue", true);
    if (a->append)
        json_put_bool(out, "append", true);
    if (a->batch)
        json_put_int(out, "batch", a->batch);
    if (a->slurm)
        json_put_bool(out, "slurm", true);
    retry_put(r->job, a->retry_on, out);
    notify_put(r->job, out);
    if (job_put_attach(r, out) < 0 || put_asked(r, out) < 0)
        return -1;
    json_close(out, '}');
    return 0;
}

int job_put_request(struct job_reader *r, struct strbuf *text)
{
    struct json_out out = {.text = text};
    if (put_shown(r, &out) < 0)
        return -1;
    return put_rest(r, &out);
}
