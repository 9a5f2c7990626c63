#include "config/gang_keys.h"

#include <errno.h>
#include <stdlib.h>

#include "berth/sched.h"
#include "jobspec/canonical.h"

_Static_assert(JOBSPEC_MEMBERS_MAX == MEMBERS_MAX && JOBSPEC_ROLES_MAX == SCHED_ROLES_MAX,
               "a gang of a jobspec may be as large");
_Static_assert((int)JOBSPEC_FAIL_GO_ON == (int)SCHED_FAIL_GO_ON &&
                   (int)JOBSPEC_FAIL_REPLACE == (int)SCHED_FAIL_REPLACE,
               "the same order");

const char *const gang_failures[] = {
    [SCHED_FAIL_ALL] = "all", [SCHED_FAIL_GO_ON] = "go-on", [SCHED_FAIL_REPLACE] = "replace", NULL};

static bool is_given(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value);
}

bool gang_keys_given(const json_t *object)
{
    return is_given(object, "gang") || is_given(object, "min") || is_given(object, "failure") ||
           is_given(object, "roles");
}

static json_t *role_of(const jobspec_t *spec, const struct jobspec_role *role)
{
    char *text = jobspec_of_role(spec, role);
    json_t *object =
        text ? json_pack("{s:s, s:I, s:I, s:s}", "role", role->name, "count",
                         (json_int_t)role->count, "min", (json_int_t)role->min, "jobspec", text)
             : NULL;
    free(text);
    return object;
}

/* Take the roles, and with them what a jobspec asks for. */
static int take_roles(struct gang_keys *k, json_t *object, const jobspec_t *spec)
{
    json_t *roles = json_array();
    for (uint32_t i = 0; roles && i < spec->gang.nroles; i++)
        if (json_array_append_new(roles, role_of(spec, &spec->gang.roles[i])) < 0) {
            json_decref(roles);
            roles = NULL;
        }
    if (!roles || json_object_set_new(object, "roles", roles) < 0)
        return -1;
    json_object_del(object, "jobspec");
    k->roles = roles;
    return 0;
}

int gang_keys_take(struct gang_keys *k, json_t *object, const jobspec_t *spec)
{
    const struct jobspec_gang *gang = &spec->gang;
    k->failure = (int)gang->failure;
    int rc = json_object_set_new(object, "failure", json_string(gang_failures[k->failure]));
    if (rc == 0 && gang->roles) {
        rc = take_roles(k, object, spec);
    } else if (rc == 0) {
        k->gang = gang->members;
        k->min = gang->min;
        rc = json_object_set_new(object, "gang", json_integer(k->gang)) < 0 ||
                     json_object_set_new(object, "min", json_integer(k->min)) < 0
                 ? -1
                 : 0;
    }
    if (rc < 0)
        errno = ENOMEM;
    return rc;
}

int gang_keys_check(struct gang_keys *k, const json_t *object, bool takes_arrays, const char *what,
                    const struct key_place *place, berth_error_t *err)
{
    const json_t *min = json_object_get(object, "min");
    bool is_array = !takes_arrays && is_given(object, "array");
    if (k->roles && (k->gang > 0 || k->min > 0 || is_array))
        return keys_wrong(place, what, "roles", k->roles,
                          takes_arrays ? "neither gang nor min beside it"
                                       : "neither gang, min nor array beside it",
                          err);
    if ((k->roles || k->gang > 0) && is_given(object, "nodes_max"))
        return keys_wrong(place, what, "nodes_max", json_object_get(object, "nodes_max"),
                          "none: members of a gang are alike", err);
    if (k->roles)
        return 0;
    if (k->gang > 0 && is_array)
        return keys_wrong(place, what, "gang", json_object_get(object, "gang"),
                          "nothing beside an array", err);
    if (k->gang == 0 && (k->min > 0 || is_given(object, "failure")))
        return keys_wrong(place, what, "gang", NULL, "the number of members", err);
    if (k->min > k->gang)
        return keys_wrong(place, what, "min", min, "at most as many as are in the gang", err);
    if (k->min == 0)
        k->min = k->gang;
    return 0;
}
