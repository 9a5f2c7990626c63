/* The roles of a gang as people ask for it: each with its name, so many members, its min, and what a member asks for.
 *
 * JSON values belong to the array that was read.
 */
#ifndef CONFIG_ROLE_KEYS_H
#define CONFIG_ROLE_KEYS_H

#include "config/job_keys.h"

struct role_keys {
    const char *role;
    int64_t count, min;
    struct job_keys ask; /* the short form of one member, or its jobspec */
    json_t *command;     /* what its tasks run; NULL: what the job does */
};

/* Bounds of the values of "ask", as ASK_KEYS has them, and whether a role may have a command. */
struct role_bounds {
    int64_t counts, least_cores, most_tasks;
    bool has_commands;
};

/* Read an array of roles, which the caller frees; `what` comes before keys in errors. One without a count is of one
 * member, one without a min starts whole. What a member asks for is read by ask's keys, and not looked at. Returns how
 * many, or -1 with EINVAL or ENOMEM and a text.
 */
int role_keys_read(json_t *array, const char *what, const struct key_place *place,
                   const struct role_bounds *bounds, struct role_keys **roles, berth_error_t *err);

#endif
