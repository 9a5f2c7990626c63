#include "flux/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"

#define CONFIG_KEY_QUEUES "queues"

/* Keys that are not the module's to have: the machine is Flux's, and traces and servers have no meaning here. */
static int refuse_keys(const json_t *table, berth_error_t *err)
{
    static const char *const others[] = {"resources", "trace", "server"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (json_object_get(table, others[i]))
            return errtext_set(
                err, EINVAL, SETTINGS_TABLE ": key \"%s\": expected none, as Flux has the machine",
                others[i]);
    return 0;
}

/* A date of TOML is an object with one key; the reader wants its text. Returns a new value. */
static json_t *plain_value(const json_t *value)
{
    const char *key;
    const json_t *item;
    size_t i;
    json_t *to, *date = json_object_get(value, "iso-8601-ts");

    if (json_is_object(value) && json_object_size(value) == 1 && json_is_string(date))
        return json_incref(date);
    if (!json_is_object(value) && !json_is_array(value))
        return json_copy((json_t *)value);
    to = json_is_object(value) ? json_object() : json_array();
    json_object_foreach ((json_t *)value, key, item) {
        if (json_object_set_new(to, key, plain_value(item)) == 0)
            continue;
        json_decref(to);
        return NULL;
    }
    json_array_foreach (value, i, item) {
        if (json_array_append_new(to, plain_value(item)) == 0)
            continue;
        json_decref(to);
        return NULL;
    }
    return to;
}

/* A queue that both speak of: the own keys, and Flux's of it. */
static int join_queue(json_t *queues, const char *name, const json_t *flux, berth_error_t *err)
{
    json_t *own = json_object_get(queues, name), *requires = json_object_get(flux, "requires"),
           *parent = json_object_get(flux, "parent");

    if (!own) {
        own = json_object();
        if (json_object_set_new(queues, name, own) < 0)
            return errtext_no_memory(err);
    }
    if (!json_is_object(own))
        return errtext_set(err, EINVAL, SETTINGS_TABLE ".queues.%.100s: expected a table", name);
    if (json_object_get(own, "requires") || json_object_get(own, "parent"))
        return errtext_set(
            err, EINVAL,
            SETTINGS_TABLE
            ".queues.%.100s: key \"requires\" or \"parent\": expected in [queues.%.100s]",
            name, name);
    if ((requires && json_object_set(own, "requires", requires) < 0) ||
        (parent && json_object_set(own, "parent", parent) < 0))
        return errtext_no_memory(err);
    return 0;
}

static int join_queues(json_t *table, const json_t *conf, berth_error_t *err)
{
    json_t *flux = json_object_get(conf, CONFIG_KEY_QUEUES),
           *own = json_object_get(table, CONFIG_KEY_QUEUES);
    const char *name;
    const json_t *queue;

    if (own && !json_is_object(own))
        return errtext_set(err, EINVAL, SETTINGS_TABLE ".queues: expected a table");
    json_object_foreach (own, name, queue) {
        bool known = json_object_size(flux) > 0 ? json_object_get(flux, name) != NULL
                                                : strcmp(name, "default") == 0;
        if (!known)
            return errtext_set(err, EINVAL,
                               SETTINGS_TABLE ".queues.%.100s: there is no [queues.%.100s]", name,
                               name);
    }
    if (json_object_size(flux) == 0)
        return 0;
    if (!own) {
        own = json_object();
        if (json_object_set_new(table, CONFIG_KEY_QUEUES, own) < 0)
            return errtext_no_memory(err);
    }
    json_object_foreach (flux, name, queue) {
        if (join_queue(own, name, queue, err) < 0)
            return -1;
    }
    return 0;
}

/* The queue of jobs that name none is Flux's, which puts it into their jobspecs. */
static int join_default_queue(json_t *table, const json_t *conf, berth_error_t *err)
{
    const json_t *at = conf;
    static const char *const path[] = {"policy", "jobspec", "defaults", "system", "queue"};

    for (size_t i = 0; i < sizeof(path) / sizeof(*path); i++)
        at = json_object_get(at, path[i]);
    if (!json_is_string(at) || json_object_get(table, "default-queue"))
        return 0;
    return json_object_set_new(table, "default-queue", json_copy((json_t *)at)) < 0
               ? errtext_no_memory(err)
               : 0;
}

/* "NAME:LINE:COLUMN: WHAT" of a text that nobody has seen becomes "NAME: WHAT". */
static void drop_place(berth_error_t *err)
{
    size_t n = strlen(SETTINGS_TABLE);
    char *from = err ? err->text : NULL, *to;

    if (!from || strncmp(from, SETTINGS_TABLE ":", n + 1) != 0)
        return;
    to = from + n;
    from = to + 1 + strspn(to + 1, "0123456789:");
    if (from > to + 1)
        memmove(to, from - 1, strlen(from - 1) + 1);
}

/* Berth requeues what it preempts where that is configured, and Flux has no such thing. */
static int check_requeue(const struct config *config, berth_error_t *err)
{
    for (size_t i = 0; i < config->sched.n_queues; i++)
        if (config->sched.queues[i].preemptible == SCHED_PREEMPT_REQUEUE)
            return errtext_set(err, EINVAL,
                               SETTINGS_TABLE ": queue %.100s: key \"preemptible\": expected no or "
                                              "cancel, as Flux requeues no job",
                               config->sched.queues[i].name);
    return 0;
}

/* The text of an own copy of the table. NULL with errno. */
static char *table_text(json_t *table, const json_t *conf, const json_t *machine,
                        berth_error_t *err)
{
    if (!json_is_object(table)) {
        errtext_set(err, EINVAL, SETTINGS_TABLE ": expected a table");
        return NULL;
    }
    if (refuse_keys(table, err) < 0 || join_queues(table, conf, err) < 0 ||
        join_default_queue(table, conf, err) < 0)
        return NULL;
    char *text = NULL;
    if (json_object_set_new(table, "resources", json_deep_copy(machine)) < 0 ||
        !(text = json_dumps(table, JSON_COMPACT)))
        errtext_no_memory(err);
    return text;
}

char *settings_text(const json_t *conf, const json_t *machine, berth_error_t *err)
{
    json_t *own = json_object_get(conf, SETTINGS_TABLE);
    json_t *table = own ? plain_value(own) : json_object();

    if (!table) {
        errtext_no_memory(err);
        return NULL;
    }
    char *text = table_text(table, conf, machine, err);
    int error = errno;
    json_decref(table);
    errno = error;
    return text;
}

/* The reader asks for a machine. The module's is Flux's, and this one is never made. */
struct config *settings_read(const json_t *conf, int64_t second, berth_error_t *err)
{
    json_t *machine = json_pack("{s:i}", "nodes", 1);
    char *text = settings_text(conf, machine, err);
    struct config *config = NULL;

    if (text)
        config = config_read(SETTINGS_TABLE, text, strlen(text), second, err);
    if (!config)
        drop_place(err);
    if (config && check_requeue(config, err) < 0) {
        config_destroy(config);
        config = NULL;
        errno = EINVAL;
    }
    int error = errno;
    free(text);
    json_decref(machine);
    errno = error;
    return config;
}
