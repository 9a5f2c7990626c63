/* Writing the stored form of a submitted job, and its row for listings. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/quantity.h"
#include "server/api/job_reader.h"
#include "server/api/labels.h"
#include "server/core/job_text.h"
#include "server/core/notify.h"
#include "server/core/retry.h"
#include "server/core/roles.h"

/* ---- Texts ---- */

void job_put_words(struct json_out *out, const json_t *list)
{
    size_t i;
    json_t *word;
    json_array_foreach (list, i, word) {
        json_put_bytes(out, NULL, json_string_value(word), json_string_length(word));
    }
}

/* What stands for the command of a job that has none, as its roles have. */
static const char *role_text(const struct job_reader *r)
{
    const char *word = json_string_value(json_array_get(r->roles[0].command, 0));
    return word ? word : r->roles[0].role;
}

static void put_command_of_job(struct job_reader *r, struct json_out *out)
{
    const struct ask *a = &r->ask;
    json_open(out, "command", '[');
    if (a->command) {
        job_put_words(out, a->command);
    } else if (a->script) {
        json_put_text(out, NULL, r->job->name);
    } else if (r->n_roles > 0) {
        json_put_text(out, NULL, role_text(r));
    } else {
        const struct jobspec_task *task = &r->member.spec->tasks[0];
        for (uint32_t i = 0; i < task->ncommand; i++)
            json_put_text(out, NULL, task->command[i]);
    }
    job_put_words(out, a->args);
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
    if (!text && r->n_roles > 0)
        text = role_text(r);
    if (!text)
        text = r->member.spec->tasks[0].command[0];
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
static void put_gang_asked(struct job_reader *r, struct json_out *out)
{
    json_put_int(out, "min", r->ask.gang.min);
    json_put_text(out, "failure", gang_failures[r->ask.gang.failure]);
}

/* Which gang of an array of gangs it is. */
static void put_gang_of_array(const struct job_reader *r, struct json_out *out)
{
    if (r->ask.gang_count == 0)
        return;
    json_put_int(out, "gang_index", r->ask.gang_index);
    json_put_int(out, "gang_count", r->ask.gang_count);
    if (r->ask.gang_at_once > 0)
        json_put_int(out, "gang_at_once", r->ask.gang_at_once);
}

/* What each member asks for, or those of each role. */
static int put_member(struct job_reader *r, struct json_out *out)
{
    struct member_ask *m = &r->member;
    if (r->n_roles > 0) {
        json_put_raw(out, "roles", strbuf_text(&r->roles_text));
        m->nodes = r->job->roles->role[0].nodes;
        m->cores = r->job->roles->role[0].cores;
        m->gpus = r->job->roles->role[0].gpus;
    } else if (job_put_member(r, m, out) < 0) {
        return -1;
    }
    r->job->nodes = m->nodes;
    r->job->cores = m->cores;
    r->job->gpus = m->gpus;
    if (r->ask.batch)
        m->tasks = 1;
    return 0;
}

static void put_licenses_asked(const json_t *licenses, struct json_out *out)
{
    char *text = json_object_size(licenses) > 0 ? json_dumps(licenses, JSON_COMPACT) : NULL;
    if (text)
        json_put_raw(out, "licenses", text);
    else if (json_object_size(licenses) > 0)
        out->text->failed = true;
    free(text);
}

/* Begin the stored object with the part that listings show. */
static int put_shown(struct job_reader *r, struct json_out *out)
{
    const struct ask *a = &r->ask;
    const char *directory = a->directory                            ? a->directory
                            : r->member.spec && r->member.spec->cwd ? r->member.spec->cwd
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
    if (a->job.gpu_memory && memory_read(a->job.gpu_memory, &bytes))
        json_put_int(out, "gpu_memory", bytes);
    put_licenses_asked(a->job.licenses, out);
    put_command_of_job(r, out);
    json_put_text(out, "directory", directory);
    json_put_text(out, "dependency", a->job.dependency);
    if (r->account)
        json_put_text(out, "account", r->account);
    if (r->at_once > 0)
        json_put_int(out, "at_once", r->at_once);
    if (a->gang.gang > 0) {
        json_put_int(out, "gang", a->gang.gang);
        put_gang_asked(r, out);
        job_put_roles(r, out);
        put_gang_of_array(r, out);
    }
    labels_put(r, out);
    if (!out->text->failed)
        r->job->row = strndup(out->text->data + begin, out->text->len - begin);
    json_close(out, '}');
    if (put_member(r, out) < 0)
        return -1;
    return r->job->row ? 0 : job_no_memory(r);
}

/* What was submitted, to be told and submitted again: without what is stored beside it or can't be had again. */
static int put_asked_request(struct job_reader *r, struct json_out *out)
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
    json_put_int(out, "tasks", r->member.tasks);
    json_put_int(out, "umask", r->umask);
    if (r->member.memory > 0)
        json_put_int(out, "memory_limit", r->member.memory);
    if (r->begin > 0)
        json_put_int(out, "begin", r->begin);
    if (r->deadline > 0)
        json_put_int(out, "deadline", r->deadline);
    if (r->at_once > 0)
        json_put_int(out, "max_running", r->at_once);
    if (a->gang.gang > 0)
        put_gang_asked(r, out);
    if (a->gang_at_once > 0) {
        json_put_int(out, "gang_array", r->c->array > 0 ? r->c->array : r->job->id);
        json_put_int(out, "gangs_running", a->gang_at_once);
    }
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
    if (job_put_attach(r, out) < 0 || put_asked_request(r, out) < 0)
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
