/* Any text is a constraint, which is one (RFC 31) or a list of properties, or is refused with a line that says why. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/constraint_query.h"
#include "fuzz.h"

/* No condition is empty, and each has one name, with a list of its own kind. */
static void check_condition(json_t *condition)
{
    const char *name;
    json_t *list, *part;
    size_t i;
    FUZZ_CHECK(json_object_size(condition) == 1);
    json_object_foreach (condition, name, list) {
        bool is_joint = strcmp(name, "and") == 0 || strcmp(name, "or") == 0;
        FUZZ_CHECK(json_array_size(list) > (is_joint ? 1u : 0u));
        json_array_foreach (list, i, part) {
            if (is_joint || strcmp(name, "not") == 0)
                check_condition(part);
            else
                FUZZ_CHECK(json_string_length(part) > 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    berth_error_t err = {""};
    char *text = strndup((const char *)data, size);
    FUZZ_CHECK(text);
    errno = 0;
    json_t *read = constraint_query(text, &err);
    if (json_is_object(read))
        check_condition(read);
    else if (!read)
        FUZZ_CHECK(errno == EINVAL && *err.text && !strchr(err.text, '\n'));
    else
        FUZZ_CHECK(json_is_array(read));
    json_decref(read);
    free(text);
    return 0;
}
