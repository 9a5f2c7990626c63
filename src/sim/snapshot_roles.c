#include "sim/snapshot_roles.h"

#include <errno.h>

int snapshot_put_roles(const struct sched_record *record, json_t *object)
{
    const struct sched_request *q = &record->request;
    json_t *roles = q->n_roles > 0 ? json_array() : NULL;
    int rc = q->n_roles > 0 && !roles ? -1 : 0;
    for (size_t i = 0; i < q->n_roles && rc == 0; i++) {
        const struct sched_role *role = &q->roles[i];
        json_t *one = json_pack("{s:s, s:I, s:I, s:I}", "role", role->name, "count",
                                (json_int_t)role->members, "min", (json_int_t)role->min,
                                "succeeded", (json_int_t)record->role_succeeded[i]);
        rc = one ? json_object_set_new(one, "jobspec",
                                       json_stringn(role->jobspec, role->jobspec_length))
                 : -1;
        if (rc < 0)
            json_decref(one);
        else
            rc = json_array_append_new(roles, one);
    }
    if (rc == 0 && roles)
        rc = json_object_set(object, "roles", roles);
    json_decref(roles);
    return rc;
}

/* A whole number that a role has; -1: it has none. */
static int64_t role_number(const json_t *role, const char *key)
{
    const json_t *value = json_object_get(role, key);
    json_int_t n = json_integer_value(value);
    return json_is_integer(value) && n >= 0 && n <= MEMBERS_MAX ? n : -1;
}

int snapshot_load_roles(const json_t *roles, struct sched_role *to, struct sched_record *record)
{
    size_t n = json_array_size(roles);
    errno = EINVAL;
    if (n > SCHED_ROLES_MAX)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(roles, i), *jobspec = json_object_get(one, "jobspec");
        int64_t members = role_number(one, "count"), min = role_number(one, "min"),
                succeeded = role_number(one, "succeeded");
        to[i] = (struct sched_role){.name = json_string_value(json_object_get(one, "role")),
                                    .jobspec = json_string_value(jobspec),
                                    .jobspec_length = json_string_length(jobspec),
                                    .members = (uint32_t)members,
                                    .min = (uint32_t)min};
        if (!to[i].name || !to[i].jobspec || members < 1 || min < 0 || succeeded < 0)
            return -1;
        record->role_succeeded[i] = (uint32_t)succeeded;
    }
    record->request.roles = to;
    record->request.n_roles = n;
    return 0;
}
