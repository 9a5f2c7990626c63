#include "config/role_keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched.h"

static int read_role_object(json_t *object, const char *what, const struct key_place *place,
                            const struct role_bounds *b, struct role_keys *role, berth_error_t *err)
{
    const struct key keys[] = {
        KEY_OF(struct role_keys, role, KEY_TEXT, .needed = true),
        KEY_OF(struct role_keys, count, KEY_WHOLE, .min = 1, .max = MEMBERS_MAX),
        KEY_OF(struct role_keys, min, KEY_WHOLE, .min = 0, .max = MEMBERS_MAX),
        ASK_KEYS(struct role_keys, ask, b->counts, b->least_cores, b->most_tasks),
        KEY_OF(struct role_keys, command, KEY_ARRAY)};
    struct key_table table = {what, keys, sizeof(keys) / sizeof(keys[0]) - !b->has_commands};
    *role = (struct role_keys){.count = 1, .min = -1};
    if (!json_is_object(object))
        return keys_wrong(place, what, "role", object, "an object for each role", err);
    if (keys_read(object, &table, place, role, err) < 0)
        return -1;
    if (role->min > role->count)
        return keys_wrong(place, what, "min", json_object_get(object, "min"),
                          "at most as many as the role's count", err);
    if (role->min < 0)
        role->min = role->count;
    return 0;
}

/* As the core has them. */
static bool is_role_name(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
            return false;
    return n <= SCHED_ROLE_NAME_MAX;
}

static int check_name(const json_t *object, const char *what, const struct key_place *place,
                      const struct role_keys *roles, size_t i, berth_error_t *err)
{
    const json_t *name = json_object_get(object, "role");
    if (!is_role_name(roles[i].role))
        return keys_wrong(place, what, "role", name, "1 to 32 letters, digits and \"_-.\"", err);
    for (size_t k = 0; k < i; k++)
        if (strcmp(roles[k].role, roles[i].role) == 0)
            return keys_wrong(place, what, "role", name, "another name than those before", err);
    return 0;
}

/* What the core takes of all of them together. */
static int check_all(json_t *array, const char *what, const struct key_place *place,
                     const struct role_keys *roles, size_t n, berth_error_t *err)
{
    int64_t members = 0, min = 0;
    for (size_t i = 0; i < n; i++) {
        members += roles[i].count;
        min += roles[i].min;
    }
    if (members > MEMBERS_MAX)
        return keys_wrong(place, what, "roles", array, "at most 1000000 members in all", err);
    if (members < 2 || min < 1)
        return keys_wrong(place, what, "roles", array, "two members or more, of which one starts",
                          err);
    return 0;
}

int role_keys_read(json_t *array, const char *what, const struct key_place *place,
                   const struct role_bounds *bounds, struct role_keys **roles, berth_error_t *err)
{
    size_t n = json_array_size(array);
    char whose[64];
    *roles = NULL;
    if (n < 1 || n > SCHED_ROLES_MAX)
        return keys_wrong(place, what, "roles", array, "1 to 16 roles", err);
    struct role_keys *v = calloc(n, sizeof(*v));
    if (!v)
        return errtext_no_memory(err);
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        snprintf(whose, sizeof(whose), "%sroles[%zu]: ", what, i);
        rc = read_role_object(json_array_get(array, i), whose, place, bounds, &v[i], err);
        if (rc == 0)
            rc = check_name(json_array_get(array, i), whose, place, v, i, err);
    }
    if (rc == 0)
        rc = check_all(array, what, place, v, n, err);
    if (rc < 0) {
        int saved = errno;
        free(v);
        errno = saved;
        return -1;
    }
    *roles = v;
    return (int)n;
}
