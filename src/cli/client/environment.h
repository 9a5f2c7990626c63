/* The environment of a job, by rules in turn: "-PATTERN" leaves out variables whose names match, "NAME" takes one from ours,
 * "NAME=VALUE" sets one. It begins as ours.
 */
#ifndef CLI_CLIENT_ENVIRONMENT_H
#define CLI_CLIENT_ENVIRONMENT_H

#include <jansson.h>

/* An object of strings; a variable that is no UTF-8 is left out. rules is an array of strings, or NULL. NULL: ENOMEM. */
json_t *environment_make(const json_t *rules);

#endif
