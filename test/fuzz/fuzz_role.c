/* Any text is a role of a gang as an option has it, or is refused with a line that says why. What is read has a name and
 * nothing but the keys that a role may have, each of its type.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client/role_option.h"
#include "fuzz.h"

static void check_role(json_t *role)
{
    const char *key;
    json_t *value;
    FUZZ_CHECK(json_is_string(json_object_get(role, "role")));
    json_object_foreach (role, key, value) {
        bool is_list = strcmp(key, "requires") == 0 || strcmp(key, "command") == 0;
        bool is_text = strcmp(key, "role") == 0 || strcmp(key, "gpu_type") == 0;
        bool is_flag = strcmp(key, "exclusive") == 0;
        FUZZ_CHECK(json_is_array(value) == is_list && json_is_string(value) == is_text);
        FUZZ_CHECK(json_is_true(value) == is_flag);
        FUZZ_CHECK(is_list || is_text || is_flag || json_integer_value(value) >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    berth_error_t err = {""};
    char *text = strndup((const char *)data, size);
    FUZZ_CHECK(text);
    errno = 0;
    json_t *role = role_option_read(text, &err);
    if (role)
        check_role(role);
    else
        FUZZ_CHECK(errno == EINVAL && *err.text && !strchr(err.text, '\n'));
    json_decref(role);
    free(text);
    return 0;
}
