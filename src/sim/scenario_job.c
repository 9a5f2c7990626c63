/* What a submission asks for in the short form. With "tasks", or with a memory size as text, it means the
 * same as for a server; else cores, gpus and memory are per node, as in older scenarios.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "sim/scenario_event.h"

/* The short form of a submission, or of a role of its gang, but for its constraint. A unit of memory has so many
 * bytes. Returns 0, or -1 with the fault.
 */
static int scenario_form(const struct job_keys *k, struct job_units units, struct short_form *form,
                         struct job_fault *fault)
{
    int64_t bytes;
    if (k->tasks > 0 || json_is_string(k->memory))
        return job_keys_form(k, units, form, &bytes, fault);
    if (job_keys_form_by_node(k, units, form, fault) < 0)
        return -1;
    if (k->nodes > 0 || form->cores > 0 || form->gpus > 0 || form->memory > 0 ||
        form->gpu_memory > 0)
        return 0;
    *fault = (struct job_fault){"nodes", NULL, "nodes, tasks, cores, gpus, memory or a jobspec"};
    return -1;
}

int scenario_ask_check(const struct job_keys *k, const json_t *object, const char *what,
                       const struct key_place *place, berth_error_t *err)
{
    const struct job_units any = {INT64_MAX, INT64_MAX};
    struct short_form form;
    struct job_fault fault;
    if (!k->jobspec) {
        if (scenario_form(k, any, &form, &fault) == 0)
            return 0;
        return keys_wrong(place, what, fault.key, json_object_get(object, fault.key),
                          fault.expected, err);
    }
    if (!json_is_object(k->jobspec) && json_string_length(k->jobspec) == 0)
        return keys_wrong(place, what, "jobspec", k->jobspec, "the name of a file, or an object",
                          err);
    const char *beside = job_keys_asked(object);
    if (beside && strcmp(beside, "jobspec") != 0 && strcmp(beside, "gpu_type") != 0)
        return keys_wrong(place, what, beside, json_object_get(object, beside),
                          "nothing beside a jobspec", err);
    return 0;
}

int scenario_roles(json_t *array, const struct key_place *place, struct role_keys **roles,
                   berth_error_t *err)
{
    const struct role_bounds bounds = {SCENARIO_COUNT_MAX, 0, SCENARIO_COUNT_MAX, false};
    char what[64];
    int n = role_keys_read(array, "submit: ", place, &bounds, roles, err);
    for (int i = 0; i < n; i++) {
        snprintf(what, sizeof(what), "submit: roles[%d]: ", i);
        if (scenario_ask_check(&(*roles)[i].ask, json_array_get(array, (size_t)i), what, place,
                               err) == 0)
            continue;
        free(*roles);
        *roles = NULL;
        errno = EINVAL;
        return -1;
    }
    return n;
}

char *scenario_jobspec(const struct job_keys *k, struct job_units units, berth_error_t *err)
{
    struct strbuf text = {0};
    struct short_form form;
    struct job_fault fault;
    if (scenario_form(k, units, &form, &fault) < 0) {
        errtext_set(err, EINVAL, "submit: key \"%s\": expected %s", fault.key, fault.expected);
        return NULL;
    }
    job_keys_put(k, form, &text);
    char *jobspec = strbuf_steal(&text);
    if (!jobspec)
        errtext_no_memory(err);
    return jobspec;
}
