#include "config/gang_keys.h"

#include "berth/sched.h"

const char *const gang_failures[] = {
    [SCHED_FAIL_ALL] = "all", [SCHED_FAIL_GO_ON] = "go-on", [SCHED_FAIL_REPLACE] = "replace", NULL};

static bool is_given(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value);
}

int gang_keys_check(struct gang_keys *k, const json_t *object, const char *what,
                    const struct key_place *place, berth_error_t *err)
{
    const json_t *min = json_object_get(object, "min");
    if (k->roles && (k->gang > 0 || k->min > 0 || is_given(object, "array")))
        return keys_wrong(place, what, "roles", k->roles, "neither gang, min nor array beside it",
                          err);
    if ((k->roles || k->gang > 0) && is_given(object, "nodes_max"))
        return keys_wrong(place, what, "nodes_max", json_object_get(object, "nodes_max"),
                          "none: members of a gang are alike", err);
    if (k->roles)
        return 0;
    if (k->gang > 0 && is_given(object, "array"))
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
