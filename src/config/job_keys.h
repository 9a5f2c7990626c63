/* A job in the short form (jobspec/short.h), as JSON: the keys that requests to a server and submissions of
 * a scenario have in common, what they mean, and how they are read. "duration" is another word for "limit".
 *
 * JSON values belong to the object that was read.
 */
#ifndef CONFIG_JOB_KEYS_H
#define CONFIG_JOB_KEYS_H

#include "berth/sched_config.h"
#include "config/keys.h"
#include "config/members.h"
#include "jobspec/short.h"

struct job_keys {
    const char *queue, *account, *name, *dependency;
    int64_t nodes, tasks, cores, gpus; /* 0: not given; cores and gpus are per task */
    int64_t nodes_max;                 /* as many nodes as there are, up to this; 0: `nodes` */
    const char *gpu_type;              /* "a100": all of them are of this kind (config/gpus.h) */
    json_t *memory;                    /* of the whole job: bytes, or "4G" */
    json_t *gpu_memory;                /* of each GPU, which is then shared: likewise */
    json_t *licenses;                  /* of the whole job: {"matlab": 2} */
    bool exclusive;
    json_t *requires; /* properties, or a constraint (RFC 31) */
    json_t *jobspec;  /* instead of these */
    int64_t limit;    /* ticks; 0: not given; INT64_MAX: unlimited */
    int64_t estimate; /* ticks; 0: not given; INT64_MAX: unknown */
    int64_t priority;
    json_t *array;    /* a number of members, or a text as in config/members.h */
    json_t *begin;    /* a time, or "+1h", from now on */
    json_t *deadline; /* likewise */
    bool hold;
    int64_t preemptible_after; /* ticks */
};

/* What it asks for; the bounds of values, which the caller chooses. */
#define ASK_KEYS(type, member, counts, least_cores, most_tasks)                                    \
    KEY_AS(type, member.nodes, "nodes", KEY_WHOLE, .min = 1, .max = counts),                       \
        KEY_AS(type, member.tasks, "tasks", KEY_WHOLE, .min = 1, .max = most_tasks),               \
        KEY_AS(type, member.cores, "cores", KEY_WHOLE, .min = least_cores, .max = counts),         \
        KEY_AS(type, member.gpus, "gpus", KEY_WHOLE, .min = 0, .max = counts),                     \
        KEY_AS(type, member.gpu_type, "gpu_type", KEY_TEXT),                                       \
        KEY_AS(type, member.memory, "memory", KEY_ANY),                                            \
        KEY_AS(type, member.gpu_memory, "gpu_memory", KEY_ANY),                                    \
        KEY_AS(type, member.licenses, "licenses", KEY_OBJECT),                                     \
        KEY_AS(type, member.exclusive, "exclusive", KEY_BOOL),                                     \
        KEY_AS(type, member.requires, "requires", KEY_ANY),                                        \
        KEY_AS(type, member.jobspec, "jobspec", KEY_ANY)

#define JOB_KEYS(type, member, counts, least_cores, most_tasks, longest)                           \
    ASK_KEYS(type, member, counts, least_cores, most_tasks),                                       \
        KEY_AS(type, member.nodes_max, "nodes_max", KEY_WHOLE, .min = 1, .max = counts),           \
        KEY_AS(type, member.limit, "duration", KEY_DURATION, .min = 1, .max = longest,             \
               .word = "unlimited"),                                                               \
        KEY_AS(type, member.limit, "limit", KEY_DURATION, .min = 1, .max = longest,                \
               .word = "unlimited"),                                                               \
        KEY_AS(type, member.estimate, "estimate", KEY_DURATION, .min = 1, .max = longest,          \
               .word = "unknown"),                                                                 \
        KEY_AS(type, member.queue, "queue", KEY_TEXT),                                             \
        KEY_AS(type, member.account, "account", KEY_TEXT),                                         \
        KEY_AS(type, member.priority, "priority", KEY_WHOLE, .min = -SCHED_PRIORITY_MAX,           \
               .max = SCHED_PRIORITY_MAX),                                                         \
        KEY_AS(type, member.name, "name", KEY_TEXT), KEY_AS(type, member.array, "array", KEY_ANY), \
        KEY_AS(type, member.dependency, "dependency", KEY_TEXT),                                   \
        KEY_AS(type, member.begin, "begin", KEY_ANY),                                              \
        KEY_AS(type, member.deadline, "deadline", KEY_ANY),                                        \
        KEY_AS(type, member.hold, "hold", KEY_BOOL),                                               \
        KEY_AS(type, member.preemptible_after, "preemptible_after", KEY_DURATION, .min = 1,        \
               .max = longest)

/* What is wrong with a value. */
struct job_fault {
    const char *key;
    const json_t *found; /* NULL: not shown */
    const char *expected;
};

/* Bytes in a unit of the machine's memory, and of the memory of its GPUs; 0: none is known. */
struct job_units {
    int64_t memory, gpu_memory;
};

/* Make the short form from the keys, except for the constraint and the licences, which are only checked. *bytes is
 * the memory. Returns 0, or -1 with the fault.
 */
int job_keys_form(const struct job_keys *k, struct job_units units, struct short_form *form,
                  int64_t *bytes, struct job_fault *fault);

/* The same for the older spelling of scenarios: cores, gpus and GB of memory, a whole number, are per node.
 */
int job_keys_form_by_node(const struct job_keys *k, struct job_units units, struct short_form *form,
                          struct job_fault *fault);

/* Append the short form with the constraint and the licences as a jobspec. If memory runs out, the buffer remembers that. */
void job_keys_put(const struct job_keys *k, struct short_form form, struct strbuf *out);

/* The members that "array" asks for, one if it is not given; `what` comes before the key in errors. Returns
 * 0, or -1 with EINVAL or ENOMEM, a text, and nothing to clear.
 */
int job_keys_members(const struct job_keys *k, const char *what, const struct key_place *place,
                     struct members *to, berth_error_t *err);

/* The first key of an object by which it says what it asks for (ASK_KEYS); NULL: it says nothing. */
const char *job_keys_asked(const json_t *object);

/* Read "+1h", a time from now on. False if it is not one; a number is a time on the caller's clock. */
bool job_keys_after(const json_t *value, int64_t *ticks);

#endif
