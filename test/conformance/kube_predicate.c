/* A predicate of a test's own, as the case's note has it: "its predicate rejects task "A" ... as long as task "B" is on the
 * node". Both need a device, and each node has one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_session.h"

static const char device[] = "device-of-the-test";

/* The text between the next two quotation marks after `at`, to be freed; NULL: there is none. */
static char *quoted_after(const char *at)
{
    const char *from = at ? strchr(at, '"') : NULL;
    return from && strchr(from + 1, '"') ? strndup(from + 1, strcspn(from + 1, "\"")) : NULL;
}

/* Give one of a list that has this name after its name space, or all (NULL), a device. */
static size_t give(json_t *c, const char *list, const char *member, const char *name)
{
    size_t i, n = 0;
    json_t *entry;
    json_array_foreach (json_object_get(c, list), i, entry) {
        const char *whole = kube_text(entry, "name"), *slash = strchr(whole, '/');
        if (name && strcmp(slash ? slash + 1 : whole, name) != 0)
            continue;
        n += json_object_set_new(json_object_get(entry, member), device, json_integer(1)) == 0;
    }
    return n;
}

bool kube_read_predicate(json_t *c)
{
    const char *at = strstr(kube_text(c, "note"), "its predicate rejects task ");
    if (!at)
        return true;
    char *kept_out = quoted_after(at), *by = quoted_after(strstr(at, "as long as task "));
    bool good = kept_out && by && give(c, "tasks", "request", kept_out) == 1 &&
                give(c, "tasks", "request", by) == 1;
    give(c, "nodes", "allocatable", NULL);
    free(kept_out);
    free(by);
    if (!good)
        kube_wrong("its note doesn't say which task is kept out by which");
    return good;
}
