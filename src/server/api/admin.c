/* Routes of the server itself, its queues and its resources. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_shares.h"
#include "config/keys.h"
#include "config/seconds.h"
#include "report/queue_rows.h"
#include "server/api/api.h"
#include "server/api/machine_sum.h"
#include "server/core/job_text.h"
#include "server/core/machine.h"
#include "server/core/pilots.h"
#include "server/core/priv.h"
#include "server/core/users.h"

#define REASON_MAX 1000

/* What a job of the caller's is charged to; NULL: there are no accounts. */
static const char *default_account(struct call *c)
{
    const struct user *user = user_find(c->s, c->request->peer.uid);
    const char *account = NULL;
    berth_error_t why;
    return user && sched_account(c->s->sched, user->name, NULL, &account, &why) == 0 ? account
                                                                                     : NULL;
}

void api_server_get(struct call *c)
{
    server_t *s = c->s;
    struct json_out out = {.text = c->out};
    const char *engine = s->platform.engine->ops->notice(s->platform.engine);
    json_open(&out, NULL, '{');
    json_put_string(&out, "version", BERTH_VERSION);
    json_put_int(&out, "pid", getpid());
    json_put_uint(&out, "uid", s->options.uid);
    json_put_text(&out, "directory", s->directory);
    json_put_text(&out, "configuration", s->config_path);
    json_put_text(&out, "account", default_account(c));
    json_put_seconds(&out, "started", s->clock.started);
    json_put_seconds(&out, "now", s->clock.wall);
    json_open(&out, "notices", '[');
    if (s->notices)
        json_put_raw(&out, NULL, s->notices);
    if (engine)
        json_put_text(&out, NULL, engine);
    json_close(&out, ']');
    size_t held = s->table.n_held;
    json_open(&out, "jobs", '{');
    json_put_uint(&out, "pending", s->table.counts[STORE_PENDING] - held);
    json_put_uint(&out, "held", held);
    json_put_uint(&out, "running",
                  s->table.counts[STORE_STARTING] + s->table.counts[STORE_RUNNING]);
    json_close(&out, '}');
    json_close(&out, '}');
    strbuf_putc(c->out, '\n');
}

void api_server_reload(struct call *c)
{
    berth_error_t why = {""};
    if (machine_reload(c->s, &why) < 0) {
        api_wrong(c, &why);
        return;
    }
    server_event(c->s, 0, -1, "reloaded", api_event_by(c));
    api_done(c);
    c->reply->wait = false; /* the file is durable itself, so a full disk does not matter */
}

void api_server_stop(struct call *c)
{
    c->s->stopping = true;
    server_event(c->s, 0, -1, "stopping", api_event_by(c));
    api_done(c);
    c->reply->wait = false; /* a full disk or a missing store must not prevent it */
}

/* A copy of the settings, to restore if the core refuses the change. NULL with ENOMEM. */
static json_t *settings_copy(const server_t *s)
{
    json_t *was = json_deep_copy(s->settings);
    if (!was)
        errno = ENOMEM;
    return was;
}

static void settings_refuse(struct call *c, json_t *was, const berth_error_t *why)
{
    int saved = errno;
    if (was) {
        json_decref(c->s->settings);
        c->s->settings = was;
    }
    errno = saved;
    api_wrong(c, why);
}

/* ---- Queues ---- */

void api_queues_get(struct call *c)
{
    const server_t *s = c->s;
    if (queue_rows_put(c->out, s->sched, s->clock.now, &s->config->sched, s->size.memory_unit) < 0)
        api_no_memory(c->reply);
}

void api_queue_patch(struct call *c)
{
    struct {
        bool enabled, started;
    } to;
    static const struct key keys[] = {{.name = "enabled", .type = KEY_BOOL, .at = 0},
                                      {.name = "started", .type = KEY_BOOL, .at = sizeof(bool)}};
    const struct key_table table = {"", keys, 2};
    const struct key_place place = {"request", 0};
    berth_error_t why = {""};
    server_t *s = c->s;
    if (!machine_queue(s, c->rest)) {
        api_refuse(c, 404, NULL, "there is no queue \"%.100s\"", c->rest);
        return;
    }
    settings_of_queue(s, c->rest, &to.enabled, &to.started);
    if (!json_is_object(c->body)) {
        api_refuse(c, 400, NULL, "expected an object");
        return;
    }
    json_t *was = settings_copy(s);
    if (!was || keys_read(c->body, &table, &place, &to, &why) < 0 ||
        settings_queue(s, c->rest, to.enabled, to.started) < 0 ||
        sched_queue_set(s->sched, s->clock.now, c->rest, to.enabled, to.started, &why) < 0) {
        settings_refuse(c, was, &why);
    } else {
        json_decref(was);
        api_event_body(c, "queue", "queue", c->rest);
        api_done(c);
    }
}

/* ---- Resources ---- */

static void put_member_of(struct json_out *out, const json_t *entry, const char *key)
{
    json_put_text(out, key, json_string_value(json_object_get(entry, key)));
}

static void put_licenses_used(const server_t *s, struct json_out *out)
{
    json_open(out, "licenses", '[');
    for (size_t i = 0; i < s->config->n_licenses; i++) {
        const struct config_license *one = &s->config->licenses[i];
        json_open(out, NULL, '{');
        json_put_text(out, "name", one->name);
        json_put_int(out, "count", one->count);
        json_put_int(out, "used", machine_sum_licenses(s, one->name));
        json_close(out, '}');
    }
    json_close(out, ']');
}

void api_resources_get(struct call *c)
{
    struct machine_sum all = machine_sum(c->s->machine), taken = machine_sum_used(c->s);
    struct json_out out = {.text = c->out};
    json_open(&out, NULL, '{');
    json_put_int(&out, "nodes", all.nodes);
    json_put_int(&out, "cores", all.cores);
    json_put_int(&out, "gpus", all.gpus);
    json_put_int(&out, "memory", all.memory * c->s->size.memory_unit);
    json_put_int(&out, "gpu_memory", all.gpu_memory * c->s->size.gpu_memory_unit);
    json_open(&out, "used", '{');
    json_put_int(&out, "cores", taken.cores);
    json_put_int(&out, "gpus", taken.gpus);
    json_put_int(&out, "gpu_memory", taken.gpu_memory * c->s->size.gpu_memory_unit);
    json_close(&out, '}');
    put_licenses_used(c->s, &out);
    json_open(&out, "changed", '[');
    const json_t *list = json_object_get(c->s->settings, "resources");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        json_line(&out);
        json_open(&out, NULL, '{');
        put_member_of(&out, entry, "resources");
        put_member_of(&out, entry, "status");
        put_member_of(&out, entry, "reason");
        json_put_seconds(&out, "since", json_integer_value(json_object_get(entry, "since")));
        json_close(&out, '}');
    }
    strbuf_puts(c->out, "]}\n");
}

/* Every user sees the reason. */
static int check_reason(const char *reason, berth_error_t *why)
{
    if (!reason || (strlen(reason) <= REASON_MAX && text_is_plain(reason)))
        return 0;
    return errtext_set(why, EINVAL,
                       "key \"reason\": expected at most %d bytes without control characters",
                       REASON_MAX);
}

/* What an administrator says of resources. */
enum said { SAID_UP, SAID_DOWN, SAID_DRAINED, SAID_LOST };
static const char *const said_words[] = {"up", "down", "drained", "lost", NULL};

/* It is kept; that a node is lost only has consequences. */
static int change_resources(server_t *s, const char *resources, int said, const char *reason,
                            berth_error_t *why)
{
    static const enum resource_status status[] = {
        [SAID_UP] = RESOURCE_UP, [SAID_DOWN] = RESOURCE_DOWN, [SAID_DRAINED] = RESOURCE_DRAINED};
    if (said == SAID_LOST)
        return pilots_lose(s, resources, why);
    return settings_resources(s, resources, said_words[said], reason) < 0
               ? -1
               : sched_set_status(s->sched, s->clock.now, resources, status[said], why);
}

void api_resources_patch(struct call *c)
{
    struct {
        const char *resources, *reason;
        int said;
    } in = {NULL, NULL, 0};
    static const struct key keys[] = {
        {.name = "resources", .type = KEY_TEXT, .at = 0, .needed = true},
        {.name = "reason", .type = KEY_TEXT, .at = sizeof(char *)},
        {.name = "status",
         .type = KEY_WORD,
         .at = 2 * sizeof(char *),
         .needed = true,
         .words = said_words}};
    const struct key_table table = {"", keys, 3};
    const struct key_place place = {"request", 0};
    berth_error_t why = {""};
    server_t *s = c->s;
    if (!json_is_object(c->body)) {
        api_refuse(c, 400, NULL, "expected an object");
        return;
    }
    json_t *was = settings_copy(s);
    if (!was || keys_read(c->body, &table, &place, &in, &why) < 0 ||
        check_reason(in.reason, &why) < 0 ||
        change_resources(s, in.resources, in.said, in.reason, &why) < 0) {
        settings_refuse(c, was, &why);
    } else {
        json_decref(was);
        api_event_body(c, "resources", NULL, NULL);
        api_done(c);
    }
}
