/* Changes of the machine by hand: status, properties, subgraphs. */
#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "flux/fluxion/resource.h"

static void done(struct module *m, const flux_msg_t *msg, int rc, const char *text)
{
    rc = rc < 0 ? flux_respond_error(m->h, msg, errno, *text ? text : NULL)
                : flux_respond_pack(m->h, msg, "{}");
    if (rc < 0)
        flux_log_error(m->h, "answer");
}

static int bad_message(void)
{
    errno = EPROTO;
    return -1;
}

static void set_status_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    berth_error_t err = {""};
    const char *path, *status;
    bool up;
    int rc;

    (void)h;
    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:s s:s}", "resource_path", &path, "status", &status) <
        0) {
        done(m, msg, bad_message(), "");
        return;
    }
    up = strcmp(status, "up") == 0;
    module_event(m);
    if (match_get_status(m->machine, path, &(bool){false}, &err) < 0)
        rc = errtext_set(&err, EINVAL, "could not find path '%s' in resource graph", path);
    else if (!up && strcmp(status, "down") != 0)
        rc = errtext_set(&err, EINVAL, "unrecognized status '%s'", status);
    else if (m->sched)
        rc = sched_set_status(m->sched, m->now, path, up ? RESOURCE_UP : RESOURCE_DOWN, &err);
    else
        rc = match_set_status(m->machine, path, up, &err);
    done(m, msg, rc, err.text);
}

/* Returns 0, or -1 with a text. Value NULL: remove it. */
static int change_property(struct module *m, const char *path, const char *key, const char *value,
                           berth_error_t *err)
{
    if (match_get_status(m->machine, path, &(bool){false}, err) < 0)
        return errtext_set(err, ENOENT, "Couldn't find '%s' in resource graph", path);
    int rc = m->sched ? sched_set_property(m->sched, m->now, path, key, value, err)
             : value  ? match_set_property(m->machine, path, key, value, err)
                      : match_remove_property(m->machine, path, key, err);
    return rc < 0 && !value && errno == ENOENT ? 0 : rc; /* what is not there is removed */
}

/* Paths are one text, or a list of them. */
static bool are_paths(const json_t *paths)
{
    const json_t *item;
    size_t i;

    json_array_foreach (paths, i, item) {
        if (!json_is_string(item))
            return false;
    }
    return json_is_string(paths) || json_is_array(paths);
}

/* Up to the first that can't be changed. */
static int change_properties(struct module *m, const json_t *paths, const char *key,
                             const char *value, berth_error_t *err)
{
    const json_t *item;
    size_t i;

    module_event(m);
    if (json_is_string(paths))
        return change_property(m, json_string_value(paths), key, value, err);
    json_array_foreach (paths, i, item) {
        if (change_property(m, json_string_value(item), key, value, err) < 0)
            return -1;
    }
    return 0;
}

/* Whether all are there. Returns 0, or -1 with ENOENT and a text. */
static int find_paths(struct module *m, const json_t *paths, berth_error_t *err)
{
    const json_t *item;
    size_t i;
    bool up;

    json_array_foreach (paths, i, item) {
        if (match_get_status(m->machine, json_string_value(item), &up, err) < 0)
            return errtext_set(err, ENOENT, "Couldn't find '%s' in resource graph",
                               json_string_value(item));
    }
    return 0;
}

static void set_property_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    berth_error_t err = {""};
    json_t *paths;
    const char *pair;
    char key[256];

    (void)h;
    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:o s:s}", "sp_resource_path", &paths, "sp_keyval",
                            &pair) < 0 ||
        !are_paths(paths)) {
        done(m, msg, bad_message(), "could not unpack payload");
        return;
    }
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair || !equals[1] || (size_t)(equals - pair) >= sizeof(key)) {
        errno = EINVAL;
        done(m, msg, -1, "Incorrect format, expected PROPERTY=VALUE");
        return;
    }
    snprintf(key, sizeof(key), "%.*s", (int)(equals - pair), pair);
    done(m, msg, change_properties(m, paths, key, equals + 1, &err), err.text);
}

static void remove_property_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    berth_error_t err = {""};
    json_t *paths;
    const char *key;

    (void)h;
    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:o s:s}", "resource_path", &paths, "key", &key) < 0 ||
        !are_paths(paths)) {
        done(m, msg, bad_message(), "could not unpack payload");
        return;
    }
    int rc = find_paths(m, paths, &err);
    if (rc == 0)
        rc = change_properties(m, paths, key, NULL, &err);
    done(m, msg, rc, err.text);
}

struct wanted {
    const char *key;
    json_t *values;
};

static void each_property(void *context, int64_t uniq_id, const char *key, const char *value)
{
    struct wanted *w = context;

    (void)uniq_id;
    if (key && strcmp(key, w->key) == 0)
        json_array_append_new(w->values, json_string(value));
}

static void get_property_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    berth_error_t err = {""};
    const char *path;
    struct wanted w = {0};

    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:s s:s}", "gp_resource_path", &path, "gp_key", &w.key) <
        0) {
        done(m, msg, bad_message(), "could not unpack payload");
        return;
    }
    w.values = json_array();
    int rc = match_get_properties(m->machine, path, each_property, &w, &err);
    if (rc < 0)
        rc = errtext_set(&err, ENOENT, "Couldn't find '%s' in resource graph", path);
    else if (json_array_size(w.values) == 0)
        rc = errtext_set(&err, ENOENT, "Property '%s' was not found for resource %s", w.key, path);
    if (rc < 0)
        done(m, msg, rc, err.text);
    else if (flux_respond_pack(h, msg, "{s:O}", "values", w.values) < 0)
        flux_log_error(h, "get_property");
    json_decref(w.values);
}

static void add_subgraph_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    berth_error_t err = {""};
    const char *text;
    int rc;

    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:s}", "subgraph", &text) < 0) {
        done(m, msg, bad_message(), "could not unpack payload");
        return;
    }
    module_event(m);
    rc = m->sched ? sched_attach(m->sched, m->now, text, strlen(text), &err)
                  : match_attach(m->machine, text, strlen(text), &err);
    if (rc < 0)
        flux_log(h, LOG_ERR, "add_subgraph: %s", err.text);
    done(m, msg, rc, "failed to add subgraph.");
}

static void remove_subgraph_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    berth_error_t err = {""};
    const char *path;
    int rc;

    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:s}", "subgraph_path", &path) < 0) {
        done(m, msg, bad_message(), "could not unpack payload");
        return;
    }
    module_event(m);
    rc = m->sched ? sched_remove(m->sched, m->now, path, &err)
                  : match_remove_path(m->machine, path, &err);
    if (rc < 0)
        flux_log(h, LOG_ERR, "remove_subgraph: %s", err.text);
    done(m, msg, rc, "failed to remove subgraph.");
}

#define TOPIC(name) "sched-fluxion-resource." name

const struct flux_msg_handler_spec change_handlers[] = {
    {FLUX_MSGTYPE_REQUEST, TOPIC("set_status"), set_status_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("set_property"), set_property_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("remove_property"), remove_property_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("get_property"), get_property_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("add_subgraph"), add_subgraph_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("remove_subgraph"), remove_subgraph_cb, 0},
    FLUX_MSGHANDLER_TABLE_END};
