/* What one member of a job asks for, in the short form or as a jobspec: read, counted, and written as it is stored. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobspec/total.h"
#include "server/api/job_reader.h"
#include "server/core/machine.h"

int job_read_spec(struct job_reader *r, struct member_ask *a)
{
    json_t *value = a->keys->jobspec;
    if (!value)
        return 0;
    if (json_is_string(value))
        a->text = strdup(json_string_value(value));
    else if (json_is_object(value))
        a->text = json_dumps(value, JSON_COMPACT);
    else
        return job_wrong(r, "jobspec", value, "a jobspec as an object or as its text");
    if (!a->text)
        return job_no_memory(r);
    berth_error_t why = {""};
    char text[sizeof(why.text) + 80];
    a->spec = jobspec_parse(a->text, strlen(a->text), NULL, &why);
    if (a->spec)
        return 0;
    int errnum = errno;
    snprintf(text, sizeof(text), "%sjobspec: %.200s", r->what, why.text);
    return keys_failed(&r->place, errnum, text, r->err);
}

void member_ask_clear(struct member_ask *a)
{
    jobspec_destroy(a->spec);
    free(a->text);
    a->spec = NULL;
    a->text = NULL;
}

static int64_t tasks_of(const jobspec_t *spec)
{
    const struct jobspec_task *task = spec->ntasks > 0 ? &spec->tasks[0] : NULL;
    int64_t n = 1;
    if (task && task->per == JOBSPEC_PER_SLOT)
        n = jobspec_total(spec, "slot", task->slot);
    else if (task && task->per == JOBSPEC_PER_RESOURCE)
        n = jobspec_total(spec, task->per_type, NULL);
    return task ? jobspec_product(n > 0 ? n : 1, task->count) : 1;
}

/* At most one task per core, or per GPU if those are more; with "overcommit", as many more as the
 * configuration allows.
 */
static int check_tasks(struct job_reader *r, const struct member_ask *a)
{
    const server_t *s = r->c->s;
    int64_t cores = a->cores, gpus = a->gpus;
    if (cores == 0) /* whole nodes are requested */
        cores = jobspec_product(jobspec_total(a->spec, "node", NULL),
                                s->size.node_cores > 0 ? s->size.node_cores : 1);
    int64_t places = cores > gpus ? cores : gpus;
    places = places > 0 ? places : 1;
    int64_t each = s->config->server.tasks_per_core;
    int64_t most = r->ask.overcommit ? jobspec_product(places, each) : places;
    int64_t processes = machine_processes(s, cores);
    char why[200];
    if (processes > 0 && most > processes)
        most = processes;
    if (most > JOB_TASKS_MAX)
        most = JOB_TASKS_MAX;
    if (a->tasks <= most)
        return 0;
    snprintf(why, sizeof(why), "at most %" PRId64 " task%s for its cores, got %" PRId64 "%s", most,
             most == 1 ? "" : "s", a->tasks,
             each > 1 && !r->ask.overcommit ? " (more with \"overcommit\")" : "");
    return job_wrong(r, "jobspec", NULL, why);
}

static int put_jobspec_text(struct job_reader *r, struct member_ask *m, struct json_out *out)
{
    const struct job_keys *a = m->keys;
    if (a->nodes || a->cores || a->gpus || a->gpu_type || a->memory || a->gpu_memory ||
        a->licenses || a->requires || a->exclusive || a->tasks)
        return job_wrong(r, "jobspec", NULL,
                         "either a jobspec or nodes, tasks, cores, gpus, gpu_type, memory, "
                         "gpu_memory, licenses, "
                         "exclusive, "
                         "requires");
    m->nodes = jobspec_total(m->spec, "node", NULL);
    m->cores = jobspec_total(m->spec, "core", NULL);
    m->gpus =
        jobspec_total(m->spec, "gpu-memory", NULL) > 0 ? 0 : jobspec_total(m->spec, "gpu", NULL);
    m->nodes += m->nodes == 0;
    m->tasks = tasks_of(m->spec);
    if (check_tasks(r, m) < 0)
        return -1;
    json_put_text(out, "jobspec_text", m->text);
    return 0;
}

static int put_form(struct job_reader *r, struct member_ask *m, struct json_out *out)
{
    struct short_form form;
    struct job_fault fault;
    if (r->ask.overcommit)
        return job_wrong(r, "overcommit", NULL, "a jobspec: other jobs have cores for each task");
    const struct job_units units = {r->c->s->size.memory_unit, r->c->s->size.gpu_memory_unit};
    if (job_keys_form(m->keys, units, &form, &m->memory, &fault) < 0)
        return job_wrong(r, fault.key, fault.found, fault.expected);
    json_key(out, "jobspec");
    job_keys_put(m->keys, form, out->text);
    m->nodes = form.nodes > 0 ? form.nodes : 1;
    m->cores = form.tasks * form.cores;
    m->gpus = form.gpu_memory > 0 ? 0 : form.tasks * form.gpus; /* whole ones */
    m->tasks = form.tasks;
    if (form.nodes_max > form.nodes)
        json_put_int(out, "nodes_least", form.nodes);
    json_put_int(out, "task_cores", form.cores);
    json_put_int(out, "task_gpus", form.gpus);
    return 0;
}

int job_put_member(struct job_reader *r, struct member_ask *a, struct json_out *out)
{
    return a->spec ? put_jobspec_text(r, a, out) : put_form(r, a, out);
}
