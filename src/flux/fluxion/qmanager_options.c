#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_config.h"
#include "flux/fluxion/options.h"
#include "flux/settings.h"

static const char *const keys[] = {"queue-policy", "queue-params", "policy-params"};
#define N_KEYS (sizeof(keys) / sizeof(*keys))

static const char *const depths[] = {"queue-depth", "max-queue-depth", "reservation-depth",
                                     "max-reservation-depth"};
#define N_DEPTHS (sizeof(depths) / sizeof(*depths))

/* Append to a text in an object, with a separator. */
static int append_to_text(json_t *object, const char *key, const char *separator, const char *text)
{
    const char *old = json_string_value(json_object_get(object, key));
    json_t *value = old && *old ? json_sprintf("%s%s%s", old, separator, text) : json_string(text);

    return value && json_object_set_new(object, key, value) == 0 ? 0 : -1;
}

/* A depth is a number from 1; what is no depth is kept and means nothing. */
static int check_params(const char *text, berth_error_t *err)
{
    while (*text) {
        size_t length = strcspn(text, ",");
        const char *equals = memchr(text, '=', length);
        size_t key = equals ? (size_t)(equals - text) : length;
        for (size_t i = 0; i < N_DEPTHS; i++) {
            char *end = NULL;
            if (strlen(depths[i]) != key || strncmp(depths[i], text, key) != 0)
                continue;
            long n = equals ? strtol(equals + 1, &end, 10) : 0;
            if (n < 1 || end != text + length)
                return errtext_set(err, EINVAL, "%s: expected a number from 1, got %.*s", depths[i],
                                   (int)(length < 64 ? length : 64), text);
        }
        text += length + (text[length] == ',');
    }
    return 0;
}

/* "NAME:VALUE NAME:VALUE" of the queues that there are. */
static int set_per_queue(json_t *params, const char *key, const char *text, berth_error_t *err)
{
    json_t *copy;

    while (*(text += strspn(text, " \t"))) {
        size_t length = strcspn(text, " \t");
        const char *colon = memchr(text, ':', length);
        size_t name = colon ? (size_t)(colon - text) : length;
        json_t *queue = NULL, *value;
        const char *known;
        json_object_foreach (params, known, value) {
            if (json_is_object(value) && strlen(known) == name && strncmp(known, text, name) == 0)
                queue = value;
        }
        if (!queue || !colon)
            return errtext_set(err, EINVAL, "%s-per-queue: expected QUEUE:VALUE, got %.*s", key,
                               (int)(length < 64 ? length : 64), text);
        copy = json_stringn(colon + 1, length - name - 1);
        if (!copy || json_object_set_new(queue, key, copy) < 0)
            return errtext_no_memory(err);
        text += length;
    }
    return 0;
}

/* {"NAME": {}} of the queues that are not virtual. */
static json_t *make_queues(const json_t *conf)
{
    json_t *queues = json_object(), *given = json_object_get(conf, "queues");
    const char *name;
    const json_t *queue;

    json_object_foreach (given, name, queue) {
        if (!json_object_get(queue, "parent"))
            json_object_set_new(queues, name, json_object());
    }
    if (json_object_size(queues) == 0)
        json_object_set_new(queues, "default", json_object());
    return queues;
}

static char *table_text(const json_t *value)
{
    json_t *line = json_object(), *item;
    const char *key;
    char *text;

    if (!json_is_object(value)) {
        json_decref(line);
        return json_is_string(value) ? strdup(json_string_value(value))
                                     : json_dumps(value, JSON_ENCODE_ANY);
    }
    json_object_set_new(line, "text", json_string(""));
    json_object_foreach ((json_t *)value, key, item) {
        char *dumped = json_is_string(item) ? strdup(json_string_value(item))
                                            : json_dumps(item, JSON_ENCODE_ANY);
        json_t *pair = dumped ? json_sprintf("%s=%s", key, dumped) : NULL;
        if (pair)
            append_to_text(line, "text", ",", json_string_value(pair));
        json_decref(pair);
        free(dumped);
    }
    text = strdup(json_string_value(json_object_get(line, "text")));
    json_decref(line);
    return text;
}

/* One option, of the table or an argument. */
static int set_parameter(json_t *params, json_t *per_queue, const char *key, size_t length,
                         const char *text, berth_error_t *err)
{
    static const char suffix[] = "-per-queue";

    for (size_t i = 0; i < N_KEYS; i++) {
        size_t n = strlen(keys[i]);
        if (length < n || strncmp(keys[i], key, n) != 0)
            continue;
        if (length == n)
            return json_object_set_new(params, keys[i], json_string(text)) < 0
                       ? errtext_no_memory(err)
                       : 0;
        if (length == n + strlen(suffix) && strncmp(key + n, suffix, strlen(suffix)) == 0)
            return append_to_text(per_queue, keys[i], " ", text) < 0 ? errtext_no_memory(err) : 0;
    }
    return errtext_set(err, EINVAL, "Unknown option (%.*s).", (int)(length < 64 ? length : 64),
                       key);
}

static int read_table_and_arguments(json_t *params, json_t *per_queue, const json_t *conf, int argc,
                                    char **argv, berth_error_t *err)
{
    const char *key;
    const json_t *value;

    json_object_foreach (json_object_get(conf, QMANAGER_TABLE), key, value) {
        char *text = table_text(value);
        int rc = text ? set_parameter(params, per_queue, key, strlen(key), text, err)
                      : errtext_no_memory(err);
        free(text);
        if (rc < 0)
            return -1;
    }
    for (int i = 0; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        if (set_parameter(params, per_queue, argv[i], length, equals ? equals + 1 : "", err) < 0)
            return -1;
    }
    return 0;
}

/* Fluxion's usual policy: nobody holds a reservation. */
static const char *usual_policy(void)
{
    size_t i = 0;

    while (sched_policy(i)->depth > 0)
        i++;
    return sched_policy(i)->name;
}

/* A policy that there is; else the usual one. */
static int check_policy(json_t *of, void (*unknown)(void *context, const char *policy),
                        void *context, berth_error_t *err)
{
    const char *policy = json_string_value(json_object_get(of, "queue-policy"));

    if (sched_policy_find(policy))
        return 0;
    if (policy)
        unknown(context, policy);
    return json_object_set_new(of, "queue-policy", json_string(usual_policy())) < 0
               ? errtext_no_memory(err)
               : 0;
}

/* What a queue does not say is what all have. */
static int complete(json_t *params, void (*unknown)(void *context, const char *policy),
                    void *context, berth_error_t *err)
{
    const char *name;
    json_t *queue;

    if (check_policy(params, unknown, context, err) < 0)
        return -1;
    for (size_t i = 1; i < N_KEYS; i++)
        if (!json_object_get(params, keys[i]) &&
            json_object_set_new(params, keys[i], json_string("")) < 0)
            return errtext_no_memory(err);
    json_object_foreach (params, name, queue) {
        if (!json_is_object(queue))
            continue;
        for (size_t i = 0; i < N_KEYS; i++)
            if (!json_object_get(queue, keys[i]) &&
                json_object_set(queue, keys[i], json_object_get(params, keys[i])) < 0)
                return errtext_no_memory(err);
        if (check_policy(queue, unknown, context, err) < 0)
            return -1;
        for (size_t i = 1; i < N_KEYS; i++)
            if (check_params(json_string_value(json_object_get(queue, keys[i])), err) < 0)
                return -1;
    }
    return 0;
}

json_t *qmanager_options_read(const json_t *conf, int argc, char **argv,
                              void (*unknown)(void *context, const char *policy), void *context,
                              berth_error_t *err)
{
    json_t *params = make_queues(conf), *per_queue = json_object();
    int rc = params && per_queue
                 ? read_table_and_arguments(params, per_queue, conf, argc, argv, err)
                 : errtext_no_memory(err);

    for (size_t i = 0; i < N_KEYS && rc == 0; i++) {
        const char *text = json_string_value(json_object_get(per_queue, keys[i]));
        if (text)
            rc = set_per_queue(params, keys[i], text, err);
    }
    if (rc == 0)
        rc = complete(params, unknown, context, err);
    int error = errno;
    json_decref(per_queue);
    if (rc < 0) {
        json_decref(params);
        params = NULL;
    }
    errno = error;
    return params;
}

/* A depth in "key=number,key=number"; 0: it is not there. The last one counts. */
static long depth_in(const char *text, const char *key)
{
    size_t n = strlen(key);
    long depth = 0;

    while (*text) {
        size_t length = strcspn(text, ",");
        if (length > n && strncmp(text, key, n) == 0 && text[n] == '=')
            depth = strtol(text + n + 1, NULL, 10);
        text += length + (text[length] == ',');
    }
    return depth;
}

/* A queue's keys of berth-config(5); those that its policy has no use for are left out. */
static json_t *queue_conf(const json_t *queue)
{
    const struct sched_policy *policy =
        sched_policy_find(json_string_value(json_object_get(queue, "queue-policy")));
    const char *params = json_string_value(json_object_get(queue, "queue-params")),
               *more = json_string_value(json_object_get(queue, "policy-params"));
    bool has_depth = policy->is_tunable && policy->depth != SCHED_UNLIMITED;
    json_t *own = json_pack("{s:s}", "policy", policy->name);

    for (size_t i = 0; i < N_DEPTHS; i++) {
        long depth = depth_in(i < 2 ? params : more, depths[i]);
        if (depth > 0 && (i < 2 || (i == 2 ? has_depth : policy->is_tunable)))
            json_object_set_new(own, depths[i], json_integer(depth));
    }
    return own;
}

json_t *qmanager_options_conf(const json_t *params, const json_t *conf)
{
    json_t *queues = json_object(), *all = json_object();
    const char *name;
    const json_t *queue;

    json_object_foreach ((json_t *)params, name, queue) {
        if (json_is_object(queue))
            json_object_set_new(queues, name, queue_conf(queue));
    }
    if (json_object_get(conf, "queues"))
        json_object_set(all, "queues", json_object_get(conf, "queues"));
    if (json_object_get(conf, "policy"))
        json_object_set(all, "policy", json_object_get(conf, "policy"));
    json_t *table = json_pack("{s:o}", "queues", queues);
    if (!all || !table || json_object_set_new(all, SETTINGS_TABLE, table) < 0) {
        json_decref(all);
        errno = ENOMEM;
        return NULL;
    }
    return all;
}
