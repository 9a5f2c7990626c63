#include "server/api/job_reader.h"
#include "server/api/labels.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "config/quantity.h"
#include "server/core/job_text.h"
#include "server/core/machine.h"
#include "server/core/members.h"
#include "server/core/notify.h"
#include "server/core/priv.h"
#include "server/core/retry.h"

#define SCRIPT_MAX     ((size_t)2 << 20) /* which takes some tens of milliseconds to read */
#define DEPENDENCY_MAX ((size_t)64 << 10)

#define KEY(kind, field) KEY_OF(struct ask, field, kind)

static const struct key ask_keys[] = {
    KEY(KEY_ARRAY, command),
    KEY(KEY_TEXT, script),
    KEY(KEY_ARRAY, args),
    JOB_KEYS(struct ask, job, JOB_COUNT_MAX, 1, JOB_TASKS_MAX, JOB_DURATION_MAX),
    GANG_KEYS(struct ask, gang),
    KEY_AS(struct ask, gang.roles, "roles", KEY_ARRAY),
    KEY_AS(struct ask, gang_index, "gang_index", KEY_WHOLE, .min = 0, .max = MEMBERS_MAX - 1),
    KEY_AS(struct ask, gang_count, "gang_count", KEY_WHOLE, .min = 1, .max = MEMBERS_MAX),
    KEY_AS(struct ask, gang_at_once, "gang_at_once", KEY_WHOLE, .min = 1, .max = MEMBERS_MAX),
    KEY(KEY_BOOL, overcommit),
    KEY(KEY_BOOL, requeue),
    KEY(KEY_ANY, environment),
    KEY(KEY_TEXT, directory),
    KEY(KEY_TEXT, input),
    KEY(KEY_TEXT, output),
    KEY(KEY_TEXT, error),
    KEY(KEY_BOOL, append),
    KEY(KEY_BOOL, apart),
    KEY(KEY_ANY, umask),
    KEY(KEY_OBJECT, signal),
    KEY(KEY_BOOL, slurm),
    KEY_AS(struct ask, batch, "batch", KEY_WHOLE, .min = 1, .max = JOB_TASKS_MAX),
    KEY(KEY_OBJECT, attach),
    KEY_AS(struct ask, retries, "retries", KEY_WHOLE, .min = 0, .max = RETRIES_MAX),
    KEY(KEY_TEXT, retry_on),
    KEY(KEY_OBJECT, labels),
    KEY(KEY_TEXT, notify),
    KEY(KEY_TEXT, notify_on),
    KEY(KEY_BOOL, test_only),
    KEY_AS(struct ask, retry_delay, "retry_delay", KEY_DURATION, .min = 1, .max = RETRY_LONGEST),
    KEY_AS(struct ask, max_fails, "max_fails", KEY_WHOLE, .min = 0, .max = JOB_COUNT_MAX),
};

int job_wrong(struct job_reader *r, const char *key, const json_t *found, const char *expected)
{
    char why[512];
    if (found)
        return keys_wrong(&r->place, r->what, key, found, expected, r->err);
    snprintf(why, sizeof(why), "%skey \"%s\": expected %s", r->what, key, expected);
    return keys_failed(&r->place, EINVAL, why, r->err);
}

int job_too_long(struct job_reader *r, const char *key, const char *most)
{
    char expected[100];
    snprintf(expected, sizeof(expected), "at most %s", most);
    return job_wrong(r, key, NULL, expected);
}

int job_no_memory(struct job_reader *r)
{
    return errtext_no_memory(r->err);
}

/* ---- Values ---- */

bool job_are_words(const json_t *list)
{
    size_t i;
    json_t *word;
    json_array_foreach (list, i, word) {
        if (!json_is_string(word))
            return false;
    }
    return true;
}

static int read_command(struct job_reader *r)
{
    const struct ask *a = &r->ask;
    const json_t *first = json_array_get(a->command, 0);
    if (a->command && (json_string_length(first) == 0 || !job_are_words(a->command)))
        return job_wrong(r, "command", a->command, "a list of strings that starts with a program");
    if (a->args && !job_are_words(a->args))
        return job_wrong(r, "args", a->args, "a list of strings");
    if (a->command && a->script)
        return job_wrong(r, "script", NULL, "either a script or a command");
    bool in_spec = r->member.spec && r->member.spec->ntasks > 0;
    if (!a->command && !a->script && !in_spec && r->n_roles == 0)
        return job_wrong(r, "command", NULL, "a command or a script");
    if (a->script && strlen(a->script) > SCRIPT_MAX)
        return job_too_long(r, "script", "2 MiB");
    return 0;
}

bool begin_read(const server_t *s, const json_t *value, int64_t *at)
{
    int64_t ticks;
    if (job_keys_after(value, &ticks) && ticks <= JOB_DURATION_MAX) {
        *at = s->clock.now + ticks;
        return true;
    }
    double seconds = json_number_value(value);
    if (!json_is_number(value) || !(seconds >= 0 && seconds <= 1e10))
        return false;
    *at = server_tick(s, llround(seconds * 1e6));
    return true;
}

/* The time that a key names; it stays where there is no value. */
static int read_time(struct job_reader *r, const char *key, const json_t *value, int64_t *at)
{
    return !value || begin_read(r->c->s, value, at) ? 0 : job_wrong(r, key, value, BEGIN_EXPECTED);
}

static int read_times(struct job_reader *r)
{
    const struct job_keys *k = &r->ask.job;
    if (read_time(r, "begin", k->begin, &r->begin) < 0 ||
        read_time(r, "deadline", k->deadline, &r->deadline) < 0)
        return -1;
    if (k->deadline && r->deadline == 0) /* long ago; 0 is none */
        r->deadline = 1;
    return 0;
}

static int read_umask(struct job_reader *r)
{
    const json_t *value = r->ask.umask;
    const char *text = json_string_value(value);
    char *end = NULL;
    if (!value || json_is_null(value))
        return 0;
    long mask = text ? strtol(text, &end, 8) : (long)json_integer_value(value);
    if (!(json_is_integer(value) || (text && end > text && !*end)) || mask < 0 || mask > 0777)
        return job_wrong(r, "umask", value, "an octal number such as \"022\"");
    r->umask = (int)mask;
    return 0;
}

static int read_warning(struct job_reader *r)
{
    struct {
        json_t *signal, *before;
    } in = {0};
    static const struct key keys[] = {{.name = "signal", .type = KEY_ANY, .at = 0, .needed = true},
                                      {.name = "before", .type = KEY_ANY, .at = sizeof(json_t *)}};
    const struct key_table table = {"signal: ", keys, 2};
    if (!r->ask.signal)
        return 0;
    r->warn_before = 60 * SERVER_SECOND;
    if (keys_read(r->ask.signal, &table, &r->place, &in, r->err) < 0)
        return -1;
    if (!signal_read(in.signal, &r->warn_signal))
        return keys_wrong(&r->place, "signal: ", "signal", in.signal, "a signal such as \"USR1\"",
                          r->err);
    if (in.before && !json_is_null(in.before) &&
        !duration_read(in.before, JOB_DURATION_MAX, &r->warn_before))
        return keys_wrong(&r->place, "signal: ", "before", in.before, "a time such as \"60s\"",
                          r->err);
    bool comes = r->ask.job.limit == 0 || r->warn_before < r->ask.job.limit;
    if (!comes && r->ask.job.limit < SCHED_UNLIMITED && in.before && !json_is_null(in.before))
        return keys_wrong(&r->place, "signal: ", "before", in.before, "less than the time limit",
                          r->err);
    if (r->ask.job.limit == SCHED_UNLIMITED)
        return keys_wrong(&r->place, "signal: ", "signal", in.signal,
                          "a time limit, before which it is sent", r->err);
    return 0;
}

/* Whether, and after which ends, it is tried again. */
static int read_retry(struct job_reader *r)
{
    const struct ask *a = &r->ask;
    struct ends on;
    berth_error_t why = {""};
    char text[sizeof(why.text) + 100];
    r->job->max_fails = a->max_fails;
    if (a->max_fails >= 0 && r->job->members == 1)
        return job_wrong(r, "max_fails", NULL, "an array, of which others are cancelled then");
    if (a->retries == 0 && (a->retry_on || a->retry_delay > 0))
        return job_wrong(r, a->retry_on ? "retry_on" : "retry_delay", NULL, "retries beside it");
    if (a->retries == 0)
        return 0;
    if (r->job->gang.min > 0)
        return job_wrong(r, "retries", NULL, "no gang: of one, \"failure\" says what follows");
    ends_failures(&on);
    if (a->retry_on && ends_read(&on, a->retry_on, strlen(a->retry_on), &why) < 0) {
        snprintf(text, sizeof(text), "%skey \"retry_on\": %s", r->what, why.text);
        return keys_failed(&r->place, EINVAL, text, r->err);
    }
    r->job->retry = malloc(sizeof(*r->job->retry));
    if (!r->job->retry)
        return job_no_memory(r);
    *r->job->retry =
        (struct retry){on, a->retry_delay > 0 ? a->retry_delay : RETRY_DELAY, (uint8_t)a->retries};
    return 0;
}

/* Who is told of its begin or end. */
static int read_notify(struct job_reader *r)
{
    const struct ask *a = &r->ask;
    unsigned on = a->notify_on ? notify_on_read(a->notify_on) : NOTIFY_END;
    if (on == 0)
        return job_wrong(r, "notify_on", NULL,
                         "of the words begin, end, fail, separated by commas");
    if (!a->notify)
        return a->notify_on ? job_wrong(r, "notify_on", NULL, "notify beside it") : 0;
    if (strlen(a->notify) > NOTIFY_TO_MAX || !text_is_plain(a->notify))
        return job_wrong(r, "notify", NULL, "at most 1000 bytes without control characters");
    r->job->notify = notify_create(a->notify, on);
    return r->job->notify ? 0 : job_no_memory(r);
}

/* ---- What jobs share ---- */

static int share(struct shared_text **last, struct shared_text **to, const char *text,
                 size_t length)
{
    if (!*last || (*last)->length != length || memcmp((*last)->text, text, length) != 0) {
        struct shared_text *new = shared_text_create(text, length);
        if (!new)
            return -1;
        shared_text_release(*last);
        *last = new;
    }
    (*last)->refs++;
    *to = *last;
    return 0;
}

/* The bytes that a text adds to the store: none if an earlier job has it. */
static int64_t shared_weight(const struct shared_text *text)
{
    return text && text->refs <= 2 ? STORE_ROW + (int64_t)text->length : 0;
}

/* That of the job before in its list. */
static int take_environment(struct job_reader *r)
{
    if (!r->c->environment)
        return job_wrong(r, "environment", NULL, "an object, as there is no job before");
    r->c->environment->refs++;
    r->job->environment = r->c->environment;
    return 0;
}

static int read_script_text(struct job_reader *r)
{
    if (!r->ask.script ||
        share(&r->c->script, &r->job->script, r->ask.script, strlen(r->ask.script)) == 0)
        return 0;
    return job_no_memory(r);
}

static int read_environment(struct job_reader *r)
{
    struct strbuf text = {0};
    struct json_out out = {.text = &text};
    const char *name;
    json_t *value;
    if (json_is_true(r->ask.environment))
        return take_environment(r);
    if (r->ask.environment && !json_is_object(r->ask.environment) &&
        !json_is_null(r->ask.environment))
        return job_wrong(r, "environment", r->ask.environment, "an object");
    json_open(&out, NULL, '[');
    for (uint32_t i = 0; r->member.spec && i < r->member.spec->nenvironment; i++) {
        const struct jobspec_variable *v = &r->member.spec->environment[i];
        char *entry = NULL;
        if (v->value && asprintf(&entry, "%s=%s", v->name, v->value) >= 0) {
            json_put_text(&out, NULL, entry);
            free(entry);
        }
    }
    json_object_foreach (r->ask.environment, name, value) {
        if (!*name || strchr(name, '=') || !json_is_string(value)) {
            strbuf_clear(&text);
            return job_wrong(r, "environment", value, "names without '=' and string values");
        }
        strbuf_reset(&r->c->s->text);
        strbuf_puts(&r->c->s->text, name);
        strbuf_putc(&r->c->s->text, '=');
        strbuf_put(&r->c->s->text, json_string_value(value), json_string_length(value));
        json_put_bytes(&out, NULL, r->c->s->text.data, r->c->s->text.len);
    }
    json_close(&out, ']');
    int rc =
        text.failed ? -1 : share(&r->c->environment, &r->job->environment, text.data, text.len);
    strbuf_clear(&text);
    return rc < 0 ? job_no_memory(r) : 0;
}

/* ---- All of it ---- */

static int check_lengths(struct job_reader *r)
{
    const struct ask *a = &r->ask;
    const struct {
        const char *key, *text;
    } paths[] = {{"directory", a->directory},
                 {"input", a->input},
                 {"output", a->output},
                 {"error", a->error}};
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (paths[i].text && strlen(paths[i].text) >= PATH_MAX)
            return job_too_long(r, paths[i].key, "4095 bytes");
    if (a->job.dependency && strlen(a->job.dependency) > DEPENDENCY_MAX)
        return job_too_long(r, "dependency", "64 KiB");
    return 0;
}

/* What the job is charged to. */
static int find_account(struct job_reader *r)
{
    berth_error_t why = {""};
    char text[sizeof(why.text) + 100];
    const char *name = r->ask.job.account;
    if (!name && r->member.spec)
        name = r->member.spec->account;
    if (name && r->ask.slurm &&
        sched_account(r->c->s->sched, r->job->user, NULL, &r->account, &why) == 0 && !r->account)
        return 0; /* Slurm takes any where it keeps no accounts */
    if (sched_account(r->c->s->sched, r->job->user, name, &r->account, &why) == 0)
        return 0;
    snprintf(text, sizeof(text), "%skey \"account\": %s", r->what, why.text);
    return keys_failed(&r->place, EINVAL, text, r->err);
}

static int fill_job(struct job_reader *r)
{
    const struct ask *a = &r->ask;
    struct job *job = r->job;
    struct strbuf text = {0};
    server_t *s = r->c->s;
    if (check_lengths(r) < 0 || read_command(r) < 0 || read_times(r) < 0 || read_umask(r) < 0 ||
        read_warning(r) < 0 || read_retry(r) < 0 || labels_check(r) < 0 || read_notify(r) < 0 ||
        job_read_attach(r) < 0 || job_put_name(r) < 0 || job_check_size(r) < 0 ||
        read_environment(r) < 0 || read_script_text(r) < 0)
        return -1;
    if (a->test_only && !r->c->may_test)
        return job_wrong(r, "test_only", NULL, "one job, not a list");
    job->is_test = a->test_only;
    job->limit = a->job.limit;
    job->estimate = a->job.estimate;
    job->priority = a->job.priority;
    job->held = a->job.hold;
    job->requeue = a->requeue;
    if (a->job.queue && !machine_queue(s, a->job.queue)) {
        char why[512];
        snprintf(why, sizeof(why), "%skey \"queue\": there is no queue \"%.100s\"", r->what,
                 a->job.queue);
        return keys_failed(&r->place, EINVAL, why, r->err);
    }
    job->queue = a->job.queue ? server_intern_name(s, a->job.queue) : NULL;
    if (find_account(r) < 0 || job_make_roles(r) < 0)
        return -1;
    if (job_put_request(r, &text) < 0) {
        strbuf_clear(&text);
        return -1;
    }
    job->bytes = text.len + job->indices.n * sizeof(*job->indices.v);
    job->weight = 2 * STORE_ROW + (int64_t)job->bytes + shared_weight(job->environment) +
                  shared_weight(job->script);
    job->request = strbuf_steal(&text);
    return job->request ? 0 : job_no_memory(r);
}

/* A jobspec may describe a gang; what the request says itself goes before that. */
static int take_gang(struct job_reader *r)
{
    const jobspec_t *spec = r->member.spec;
    if (!spec || spec->gang.members == 0 || gang_keys_given(r->object))
        return 0;
    if (gang_keys_take(&r->ask.gang, r->object, spec) < 0)
        return job_no_memory(r);
    if (r->ask.gang.roles)
        r->ask.job.jobspec = NULL;
    return 0;
}

/* A gang may be one of an array of gangs. */
static int check_gang_of_array(struct job_reader *r)
{
    const struct ask *a = &r->ask;
    bool has_index = a->gang_index >= 0, has_count = a->gang_count > 0;
    if ((has_index || has_count) && a->gang.gang == 0)
        return job_wrong(r, has_index ? "gang_index" : "gang_count", NULL, "a gang beside it");
    if (has_index != has_count)
        return job_wrong(r, has_index ? "gang_count" : "gang_index", NULL,
                         has_index ? "how many there are beside gang_index"
                                   : "the gang's index beside gang_count");
    if (a->gang_at_once > 0 && !has_index)
        return job_wrong(r, "gang_at_once", NULL, "the gang's index beside it");
    return 0;
}

/* The job with its members. */
static int make_job(struct job_reader *r, int64_t id)
{
    const struct gang_keys *gang = &r->ask.gang;
    struct members members;
    if (gang_keys_check(&r->ask.gang, r->object, false, r->what, &r->place, r->err) < 0 ||
        job_read_roles(r) < 0 || check_gang_of_array(r) < 0 ||
        job_keys_members(&r->ask.job, r->what, &r->place, &members, r->err) < 0)
        return -1;
    if (gang->gang > 0 && idset_add_range(&members.indices, 0, (uint32_t)gang->gang - 1) < 0) {
        members_clear(&members);
        return job_no_memory(r);
    }
    r->at_once = members.most;
    r->job = job_create(r->c->s, id, &members.indices);
    members_clear(&members);
    if (!r->job)
        return job_no_memory(r);
    r->job->gang = (struct job_gang){.min = (uint32_t)gang->min,
                                     .failure = (enum sched_gang_failure)gang->failure};
    return 0;
}

struct job *job_read(struct job_context *c, json_t *object, int64_t id, berth_error_t *err)
{
    const struct key_table table = {c->what, ask_keys, sizeof(ask_keys) / sizeof(*ask_keys)};
    struct job_reader r = {
        .c = c, .object = object, .place = {"request", 0}, .umask = 022, .err = err};
    r.ask.max_fails = -1;
    r.ask.gang_index = -1;
    r.what = c->what;
    r.member = (struct member_ask){.keys = &r.ask.job, .tasks = 1};
    if (!json_is_object(object)) {
        keys_failed(&r.place, EINVAL, "expected a job as an object", err);
        return NULL;
    }
    int rc = keys_read(object, &table, &r.place, &r.ask, err);
    if (rc == 0)
        rc = job_read_spec(&r, &r.member);
    if (rc == 0)
        rc = take_gang(&r);
    if (rc == 0)
        rc = make_job(&r, id);
    if (rc == 0) {
        r.job->uid = c->user->uid;
        r.job->gid = c->user->gid;
        r.job->user = server_intern_name(c->s, c->user->name);
        r.job->submitted = c->s->clock.now;
        r.job->submitted_wall = c->s->clock.wall;
        r.job->is_new = true;
        rc = r.job->user ? fill_job(&r) : job_no_memory(&r);
    }
    int saved = errno;
    member_ask_clear(&r.member);
    free(r.roles);
    strbuf_clear(&r.roles_text);
    if (rc < 0) {
        job_discard(c->s, r.job);
        r.job = NULL;
    }
    errno = saved;
    return r.job;
}
