#include "sim/snapshot_usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "berth/sched_snapshot.h"
#include "config/keys.h"
#include "config/seconds.h"

struct saved_usage {
    const char *division, *queue, *amount;
    json_t *account, *user; /* "": of jobs that name none */
    int64_t at;
};

static const struct key usage_keys[] = {
    KEY_OF(struct saved_usage, division, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_usage, queue, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_usage, account, KEY_ANY, .needed = false),
    KEY_OF(struct saved_usage, user, KEY_ANY, .needed = false),
    KEY_OF(struct saved_usage, amount, KEY_TEXT, .needed = true),
    KEY_OF(struct saved_usage, at, KEY_WHOLE, .needed = true, .min = 0,
           .max = 4 * SECONDS_MAX * SECONDS_TICKS),
};

static int add_name_member(json_t *object, const char *key, const char *name)
{
    return name ? json_object_set_new(object, key, json_string(name)) : 0;
}

static json_t *save_usage(const struct sched_usage *u)
{
    json_t *object = json_pack("{s:s, s:I}", "amount", u->amount, "at", (json_int_t)u->at);
    if (object && add_name_member(object, "division", u->node.division) == 0 &&
        add_name_member(object, "queue", u->node.queue) == 0 &&
        add_name_member(object, "account", u->node.account) == 0 &&
        add_name_member(object, "user", u->node.user) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* Of users that have used nothing the order counts (sched_restore_usage); of others nothing is to be told then. */
static bool is_worth_it(const struct sched_usage *u)
{
    return u->node.user || strcmp(u->amount, "0") != 0;
}

int snapshot_put_usage(const struct play *p, json_t *state)
{
    struct sched_usage u;
    size_t n = sched_usages(p->d.sched);
    json_t *usage = n > 0 ? json_array() : NULL;
    int rc = n > 0 && !usage ? -1 : 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (sched_usage(p->d.sched, i, &u) == 0 && is_worth_it(&u))
            rc = json_array_append_new(usage, save_usage(&u));
    }
    if (rc == 0 && usage)
        rc = json_object_set(state, "usage", usage);
    json_decref(usage);
    return rc;
}

/* NULL: it has none. */
static int read_name(const json_t *saved, const char *what, const char *key,
                     const struct key_place *place, const char **name, berth_error_t *err)
{
    if (saved && !json_is_string(saved))
        return keys_wrong(place, what, key, saved, "a string", err);
    *name = json_string_value(saved);
    return 0;
}

static int load_usage(struct play *p, json_t *object, size_t i, const struct key_place *place,
                      berth_error_t *err)
{
    berth_error_t why = {""};
    char what[64], text[sizeof(why.text) + sizeof(what)];
    struct key_table table = {what, usage_keys, sizeof(usage_keys) / sizeof(*usage_keys)};
    struct saved_usage s = {0};
    struct sched_usage u = {0};
    snprintf(what, sizeof(what), "usage[%zu]: ", i);
    if (!json_is_object(object)) {
        snprintf(text, sizeof(text), "%sexpected an object", what);
        return keys_failed(place, EINVAL, text, err);
    }
    if (keys_read(object, &table, place, &s, err) < 0 ||
        read_name(s.account, what, "account", place, &u.node.account, err) < 0 ||
        read_name(s.user, what, "user", place, &u.node.user, err) < 0)
        return -1;
    u.node.division = s.division;
    u.node.queue = s.queue;
    u.at = s.at;
    snprintf(u.amount, sizeof(u.amount), "%s", s.amount);
    if (strlen(s.amount) <= SCHED_USAGE_DIGITS &&
        (sched_restore_usage(p->d.sched, &u, &why) == 0 || errno == ENOENT))
        return 0;
    snprintf(text, sizeof(text), "%s%s", what, why.text[0] ? why.text : "too many digits");
    return keys_failed(place, EINVAL, text, err);
}

int snapshot_load_usage(struct play *p, const json_t *usage, const struct key_place *place,
                        berth_error_t *err)
{
    for (size_t i = 0; i < json_array_size(usage); i++)
        if (load_usage(p, json_array_get(usage, i), i, place, err) < 0)
            return -1;
    return 0;
}
