/* A configuration as JSON. */
#ifndef CLI_CONFIG_JSON_H
#define CLI_CONFIG_JSON_H

#include "berth/error.h"

/* Print YAML as one line of JSON, which means the same where it is read as a configuration: plain numbers become
 * numbers, null stays, and all other scalars are strings. Returns 0, or -1 with EINVAL or ENOMEM and a text. O(length).
 */
int config_json_print(const char *yaml, berth_error_t *err);

#endif
