#include "flux/slots.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool is_type(const json_t *resource, const char *name)
{
    const char *type = json_string_value(json_object_get(resource, "type"));
    return type && strcmp(type, name) == 0;
}

static bool names_what_runs(const json_t *resources)
{
    const json_t *resource;
    size_t i;

    json_array_foreach (resources, i, resource) {
        if (is_type(resource, "core") || is_type(resource, "gpu") ||
            names_what_runs(json_object_get(resource, "with")))
            return true;
    }
    return false;
}

/* The resources that need it, of such slots: *n is how many there are. Where `is_written`, they get it. */
static int write_out(json_t *resources, bool is_written, size_t *n)
{
    json_t *resource, *whole;
    size_t i, k;

    json_array_foreach (resources, i, resource) {
        json_t *with = json_object_get(resource, "with");
        if (!is_type(resource, "slot")) {
            if (write_out(with, is_written, n) < 0)
                return -1;
            continue;
        }
        if (names_what_runs(with))
            continue;
        json_array_foreach (with, k, whole) {
            if (!json_is_object(whole) || json_object_get(whole, "exclusive"))
                continue;
            ++*n;
            if (is_written && json_object_set_new(whole, "exclusive", json_true()) < 0)
                return -1;
        }
    }
    return 0;
}

json_t *slots_written_out(json_t *jobspec)
{
    size_t n = 0;

    write_out(json_object_get(jobspec, "resources"), false, &n);
    if (n == 0)
        return json_incref(jobspec);
    json_t *copy = json_deep_copy(jobspec);
    if (copy && write_out(json_object_get(copy, "resources"), true, &n) == 0)
        return copy;
    json_decref(copy);
    errno = ENOMEM;
    return NULL;
}
