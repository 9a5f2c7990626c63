/* The roles of a gang in a client's request, and as they are stored (core/roles.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/job_reader.h"
#include "server/core/roles.h"

int job_read_roles(struct job_reader *r)
{
    const struct role_bounds bounds = {JOB_COUNT_MAX, 1, JOB_TASKS_MAX, true};
    struct gang_keys *gang = &r->ask.gang;
    if (!gang->roles)
        return 0;
    const char *beside = job_keys_asked(r->object);
    if (beside)
        return job_wrong(r, beside, json_object_get(r->object, beside),
                         "nothing beside roles, which each say that");
    int n = role_keys_read(gang->roles, r->what, &r->place, &bounds, &r->roles, r->err);
    if (n < 0)
        return -1;
    r->n_roles = (size_t)n;
    for (size_t i = 0; i < r->n_roles; i++) {
        gang->gang += r->roles[i].count;
        gang->min += r->roles[i].min;
    }
    return 0;
}

/* What each task of a role runs: its own command, the job's, or what its jobspec has. */
static int put_command_of_role(struct job_reader *r, const struct role_keys *k,
                               const struct member_ask *m, struct json_out *out)
{
    bool own = k->command != NULL;
    if (!own && (r->ask.command || r->ask.script))
        return 0;
    if (own &&
        (json_string_length(json_array_get(k->command, 0)) == 0 || !job_are_words(k->command)))
        return job_wrong(r, "command", k->command, "a list of strings that starts with a program");
    if (!own && (!m->spec || m->spec->ntasks == 0))
        return job_wrong(r, "command", NULL, "a command, as the job has none");
    json_open(out, "command", '[');
    if (own)
        job_put_words(out, k->command);
    for (uint32_t i = 0; !own && i < m->spec->tasks[0].ncommand; i++)
        json_put_text(out, NULL, m->spec->tasks[0].command[i]);
    json_close(out, ']');
    return 0;
}

/* Write a role, and note what follows from it. */
static int put_role_of_job(struct job_reader *r, const struct role_keys *k, struct job_role *role,
                           struct json_out *out)
{
    struct member_ask m = {.keys = &k->ask, .tasks = 1};
    json_open(out, NULL, '{');
    json_put_text(out, "role", k->role);
    json_put_int(out, "count", k->count);
    json_put_int(out, "min", k->min);
    int rc = job_read_spec(r, &m);
    if (rc == 0)
        rc = job_put_member(r, &m, out);
    if (rc == 0)
        rc = put_command_of_role(r, k, &m, out);
    bool runs_script = r->ask.script && !k->command;
    if (runs_script)
        json_put_int(out, "batch", m.tasks);
    *role = (struct job_role){.count = (uint32_t)k->count,
                              .min = (uint32_t)k->min,
                              .nodes = m.nodes,
                              .cores = m.cores,
                              .gpus = m.gpus,
                              .tasks = runs_script ? 1 : m.tasks};
    snprintf(role->name, sizeof(role->name), "%s", k->role);
    json_put_int(out, "nodes", m.nodes);
    json_put_int(out, "cores", m.cores);
    json_put_int(out, "gpus", m.gpus);
    json_put_int(out, "tasks", role->tasks);
    if (m.memory > 0)
        json_put_int(out, "memory_limit", m.memory);
    json_close(out, '}');
    member_ask_clear(&m);
    return rc;
}

/* The errors of a role name it. */
int job_make_roles(struct job_reader *r)
{
    struct json_out out = {.text = &r->roles_text};
    const char *before = r->what;
    char what[100];
    uint32_t first = 0;
    int rc = 0;
    if (r->n_roles == 0)
        return 0;
    struct job_roles *roles = calloc(1, sizeof(*roles) + r->n_roles * sizeof(roles->role[0]));
    if (!roles)
        return job_no_memory(r);
    r->job->roles = roles;
    json_open(&out, NULL, '[');
    r->what = what;
    for (size_t i = 0; rc == 0 && i < r->n_roles; i++) {
        snprintf(what, sizeof(what), "%.60sroles[%zu]: ", before, i);
        rc = put_role_of_job(r, &r->roles[i], &roles->role[i], &out);
        roles->role[i].first = first;
        first += roles->role[i].count;
        roles->n++;
    }
    r->what = before;
    json_close(&out, ']');
    if (rc == 0 && r->roles_text.failed)
        return job_no_memory(r);
    return rc;
}

void job_put_roles(const struct job_reader *r, struct json_out *out)
{
    const struct job_roles *roles = r->job->roles;
    if (!roles)
        return;
    json_open(out, "roles", '[');
    for (size_t i = 0; i < roles->n; i++) {
        const struct job_role *role = &roles->role[i];
        json_open(out, NULL, '{');
        json_put_text(out, "role", role->name);
        json_put_uint(out, "count", role->count);
        json_put_uint(out, "min", role->min);
        json_put_int(out, "nodes", role->nodes);
        json_put_int(out, "cores", role->cores);
        json_put_int(out, "gpus", role->gpus);
        json_close(out, '}');
    }
    json_close(out, ']');
}
