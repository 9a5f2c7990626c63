/* A gang as people ask for it: keys of a request to a server and of a submission of a scenario. */
#ifndef CONFIG_GANG_KEYS_H
#define CONFIG_GANG_KEYS_H

#include "berth/jobspec.h"
#include "config/keys.h"
#include "config/members.h"

struct gang_keys {
    int64_t gang, min; /* members, and how many of them start together; 0: it is none; all do */
    int failure;       /* what becomes of it if a member fails: enum sched_gang_failure */
    json_t *roles;     /* instead of both: an array (role_keys.h); NULL */
};

/* The words for enum sched_gang_failure; NULL ends them. */
extern const char *const gang_failures[];

#define GANG_KEYS(type, field)                                                                     \
    KEY_AS(type, field.gang, "gang", KEY_WHOLE, .min = 2, .max = MEMBERS_MAX),                     \
        KEY_AS(type, field.min, "min", KEY_WHOLE, .min = 1, .max = MEMBERS_MAX),                   \
        KEY_AS(type, field.failure, "failure", KEY_WORD, .words = gang_failures)

/* Whether an object says itself whether it is a gang, and which: by "gang", "min", "failure" or "roles". */
bool gang_keys_given(const json_t *object);

/* Take the gang that a jobspec describes (jobspec_gang), as if the object that was read had said so: its keys are added
 * to it, and of one of several roles its "jobspec" goes, as each role has one of its own then. Returns 0, or -1 with ENOMEM.
 */
int gang_keys_take(struct gang_keys *k, json_t *object, const jobspec_t *spec);

/* A gang has so many members, and its min is at most that; an array beside it is one of gangs, if the caller takes these.
 * Of the object that was read; `what` comes before keys in errors. Without a min, all start together. Returns 0, or -1 with
 * EINVAL and a text.
 */
int gang_keys_check(struct gang_keys *k, const json_t *object, bool takes_arrays, const char *what,
                    const struct key_place *place, berth_error_t *err);

#endif
