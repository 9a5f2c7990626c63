/* Recording what happens to a module, as a scenario for `berth sim --scenario`. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "berth/sched_query.h"
#include "config/seconds.h"
#include "flux/module.h"
#include "flux/r.h"
#include "flux/settings.h"
#include "sim/decisions.h"

/* A simulated job ends by itself after its runtime; these end when an event says so. */
#define RUNTIME 1000000000

struct recording {
    char *directory;
    FILE *events, *made;
    struct decisions decisions;
    struct strbuf line;
    struct json_out out;
    const char *format;     /* of the machine */
    int configs;            /* so far */
    struct flux_jobs names; /* of jobs: how often each id was submitted, in `handle` */
};

static FILE *open_file(const char *directory, const char *name)
{
    char *path;
    FILE *f;

    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return NULL;
    f = fopen(path, "we");
    free(path);
    return f;
}

static void write_decision(void *arg, const char *bytes, size_t n)
{
    struct recording *r = arg;
    fwrite(bytes, 1, n, r->made);
    fflush(r->made);
}

struct recording *record_open(const char *directory)
{
    struct recording *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->directory = strdup(directory);
    r->events = open_file(directory, "events");
    r->made = open_file(directory, "decisions");
    r->out.text = &r->line;
    r->decisions.write = write_decision;
    r->decisions.arg = r;
    if (r->directory && r->events && r->made)
        return r;
    int error = errno;
    record_close(r);
    errno = error;
    return NULL;
}

void record_close(struct recording *r)
{
    if (!r)
        return;
    if (r->events)
        fclose(r->events);
    if (r->made)
        fclose(r->made);
    decisions_clear(&r->decisions);
    flux_jobs_clear(&r->names);
    strbuf_clear(&r->line);
    free(r->directory);
    free(r);
}

/* The name of a job: its id, and from the second time on that it is submitted, how often it was. */
static const char *recorded_name(struct recording *r, uint64_t id, char name[48])
{
    const struct flux_job *known = flux_jobs_find(&r->names, id);

    if (known && known->handle > 1)
        snprintf(name, 48, "%" PRIu64 "-%" PRId64, id, known->handle);
    else
        snprintf(name, 48, "%" PRIu64, id);
    return name;
}

/* Begin a line, up to its event. NULL: nothing is recorded. */
static struct json_out *begin_event(const struct module *m)
{
    struct recording *r = m->record;

    if (!r)
        return NULL;
    strbuf_reset(&r->line);
    r->out.has_value = false;
    json_open(&r->out, NULL, '{');
    json_put_seconds(&r->out, "at", m->now);
    return &r->out;
}

static void end_event(struct module *m)
{
    struct recording *r = m->record;

    json_close(&r->out, '}');
    strbuf_putc(&r->line, '\n');
    if (r->line.failed || fwrite(r->line.data, 1, r->line.len, r->events) != r->line.len ||
        fflush(r->events) != 0)
        flux_log(m->h, LOG_ERR, "the recording in %s lacks an event", r->directory);
}

static void put_file(const struct module *m, const char *name, const char *text)
{
    FILE *f = open_file(m->record->directory, name);

    if (!f || !text || fputs(text, f) < 0)
        flux_log_error(m->h, "recording: %s/%s", m->record->directory, name);
    if (f)
        fclose(f);
}

/* The first one is in the file `config`, later ones are in `config-2` and so on, and events name them. */
void record_config(struct module *m, const json_t *conf)
{
    char name[32] = "config";

    if (!m->record)
        return;
    json_t *machine = json_pack("{s:s s:s}", "file", "machine", "format", m->record->format);
    char *text = settings_text(conf, machine, NULL);
    if (++m->record->configs > 1)
        snprintf(name, sizeof(name), "config-%d", m->record->configs);
    put_file(m, name, text);
    if (m->record->configs > 1)
        record_text(m, "config", name);
    free(text);
    json_decref(machine);
}

/* What is not up is down from the beginning. */
void record_machine(struct module *m, const json_t *r, const char *up)
{
    json_t *conf;
    struct strbuf name = {0};

    if (!m->record)
        return;
    char *text = module_machine_text(&m->source, r, &m->record->format);
    put_file(m, "machine", text);
    free(text);
    if (flux_conf_unpack(flux_get_conf(m->h), NULL, "o", &conf) == 0)
        record_config(m, conf);
    strbuf_puts(&name, "rank:[");
    idset_encode(&m->ranks, false, &name);
    strbuf_putc(&name, ']');
    record_text(m, "down", strbuf_text(&name));
    strbuf_reset(&name);
    strbuf_puts(&name, "rank:[");
    strbuf_puts(&name, up);
    strbuf_putc(&name, ']');
    if (*up)
        record_text(m, "up", strbuf_text(&name));
    strbuf_clear(&name);
}

void record_submit(struct module *m, const struct sched_request *request, const json_t *jobspec)
{
    struct json_out *out = begin_event(m);
    char name[48], *text;

    if (!out)
        return;
    struct flux_job *known = flux_jobs_find(&m->record->names, request->tag);
    if (!known)
        known = flux_jobs_add(&m->record->names, request->tag, 0, NULL);
    if (known)
        known->handle++;
    text = json_dumps(jobspec, JSON_COMPACT);
    json_open(out, "submit", '{');
    json_put_string(out, "id", recorded_name(m->record, request->tag, name));
    json_put_string(out, "user", request->user);
    json_put_int(out, "priority", request->priority);
    if (request->account)
        json_put_string(out, "account", request->account);
    if (request->duration > 0)
        json_put_seconds(out, "limit", request->duration);
    json_put_int(out, "runtime", RUNTIME);
    json_put_int(out, "stopping", RUNTIME);
    json_put_raw(out, "jobspec", text ? text : "{}");
    json_close(out, '}');
    free(text);
    end_event(m);
}

void record_job(struct module *m, const char *what, uint64_t id)
{
    struct json_out *out = begin_event(m);
    char name[48];

    if (!out)
        return;
    json_put_string(out, what, recorded_name(m->record, id, name));
    end_event(m);
}

void record_number(struct module *m, const char *what, uint64_t id, int64_t number)
{
    struct json_out *out = begin_event(m);
    char name[48];

    if (!out)
        return;
    json_open(out, what, '{');
    json_put_string(out, "id", recorded_name(m->record, id, name));
    json_put_int(out, "value", number);
    json_close(out, '}');
    end_event(m);
}

void record_limit(struct module *m, uint64_t id, int64_t limit)
{
    struct json_out *out = begin_event(m);
    char name[48];

    if (!out)
        return;
    json_open(out, "duration", '{');
    json_put_string(out, "id", recorded_name(m->record, id, name));
    if (limit == SCHED_UNLIMITED)
        json_put_string(out, "value", "unlimited");
    else
        json_put_seconds(out, "value", limit);
    json_close(out, '}');
    end_event(m);
}

void record_text(struct module *m, const char *what, const char *text)
{
    struct json_out *out = begin_event(m);

    if (!out)
        return;
    json_put_string(out, what, text);
    end_event(m);
}

/* Starts, promises and who is preempted, as `berth sim --decisions` writes them: no promise of what starts at once. */
void record_decision(struct module *m, const struct sched_decision *d)
{
    const char *resources = "";
    char name[48], winner[48];
    struct sched_annotation other;

    if (!m->record)
        return;
    recorded_name(m->record, d->tag, name);
    if (d->kind == SCHED_RESERVE && d->at > m->now)
        decisions_reserve(&m->record->decisions, m->now, name, d->at, d->expected, NULL);
    if (d->kind == SCHED_START && sched_resources(m->sched, d->job, &resources) == 0)
        decisions_start(&m->record->decisions, m->now, name, d->how, d->until, resources);
    if (d->kind == SCHED_PREEMPT && sched_annotate(m->sched, d->other, &other) == 0)
        decisions_preempt(&m->record->decisions, m->now, name,
                          recorded_name(m->record, other.tag, winner), d->requeue);
    if (d->kind == SCHED_AWAIT && sched_annotate(m->sched, d->other, &other) == 0)
        decisions_await(&m->record->decisions, m->now, recorded_name(m->record, other.tag, winner),
                        name);
}
