/* Routes of pilots. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/hostlist.h"
#include "config/keys.h"
#include "config/seconds.h"
#include "server/api/api.h"
#include "server/core/entry.h"
#include "server/core/job_text.h"
#include "server/core/pilots_auto.h"
#include "server/core/priv.h"

#define NODES_MOST   100000
#define OPTIONS_MOST 4000
#define JOB_MOST     64
#define TAG_MOST     32
#define NODES_TEXT   65536 /* bytes of a list of nodes */
#define MEMORY_MOST  (INT64_C(1) << 60)

struct pilot_request {
    const char *kind, *options, *tag;
    int64_t nodes, time;
    int64_t cores, gpus, memory; /* that a node has at least; cores 0: that is not known */
    bool is_auto;
};

struct pilot_change {
    struct pilot_told told;
    bool drain;
};

static const struct key pilot_keys[] = {
    KEY_OF(struct pilot_request, kind, KEY_TEXT, .needed = true),
    KEY_OF(struct pilot_request, options, KEY_TEXT),
    KEY_OF(struct pilot_request, tag, KEY_TEXT),
    KEY_OF(struct pilot_request, nodes, KEY_WHOLE, .min = 1, .max = NODES_MOST),
    KEY_OF(struct pilot_request, time, KEY_SECONDS, .min = 0),
    KEY_OF(struct pilot_request, cores, KEY_WHOLE, .min = 0, .max = PILOT_NODE_MOST),
    KEY_OF(struct pilot_request, gpus, KEY_WHOLE, .min = 0, .max = PILOT_NODE_MOST),
    KEY_OF(struct pilot_request, memory, KEY_WHOLE, .min = 0, .max = MEMORY_MOST),
    KEY_AS(struct pilot_request, is_auto, "auto", KEY_BOOL),
};

static const struct key change_keys[] = {
    KEY_OF(struct pilot_change, drain, KEY_BOOL),
    KEY_AS(struct pilot_change, told.job, "job", KEY_TEXT),
    KEY_AS(struct pilot_change, told.slurm, "slurm", KEY_TEXT),
    KEY_AS(struct pilot_change, told.reason, "reason", KEY_TEXT),
    KEY_AS(struct pilot_change, told.start, "start", KEY_SECONDS, .min = 0),
    KEY_AS(struct pilot_change, told.end, "end", KEY_SECONDS, .min = 0),
    KEY_AS(struct pilot_change, told.given_up, "given_up", KEY_TEXT),
    KEY_AS(struct pilot_change, told.lost, "lost", KEY_TEXT),
    KEY_AS(struct pilot_change, told.over, "over", KEY_BOOL),
};

static bool ask_wrong(const struct pilot_request *in, berth_error_t *why)
{
    const char *key =
        strcmp(in->kind, "slurm") != 0                                      ? "kind"
        : strlen(in->options) > OPTIONS_MOST || !text_is_plain(in->options) ? "options"
        : strspn(in->tag, "0123456789abcdef") != strlen(in->tag) || strlen(in->tag) > TAG_MOST
            ? "tag"
            : NULL;
    if (key)
        errtext_set(why, EINVAL, "key \"%s\": expected %s", key,
                    *key == 'k'   ? "slurm"
                    : *key == 'o' ? "at most 4000 plain bytes"
                                  : "at most 32 hexadecimal digits");
    return key != NULL;
}

/* By what its job is told from all others: numbers of jobs are given out again after a crash of Slurm's. */
static void put_comment(struct json_out *out, const json_t *pilot)
{
    char text[TAG_MOST + 40];
    snprintf(text, sizeof(text), "berth:%s:%" PRId64, entry_text(pilot, "tag"),
             entry_number(pilot, "pilot"));
    json_put_text(out, "comment", text);
}

/* What it is said to be for, and what its nodes will have. 0, or -1 with ENOMEM. */
static int note_request(server_t *s, json_t *pilot, const struct pilot_request *in)
{
    if ((in->time > 0 && json_object_set_new(pilot, "time", json_integer(in->time)) < 0) ||
        (in->is_auto && json_object_set_new(pilot, "auto", json_true()) < 0))
        return -1;
    if (in->cores > 0 &&
        json_object_set_new(pilot, "node",
                            json_pack("{s:I, s:I, s:I}", "cores", (json_int_t)in->cores, "gpus",
                                      (json_int_t)in->gpus, "memory", (json_int_t)in->memory)) < 0)
        return -1;
    spares_follow(s);
    return 0;
}

void api_pilots_post(struct call *c)
{
    const struct key_table table = {"", pilot_keys, sizeof(pilot_keys) / sizeof(*pilot_keys)};
    const struct key_place place = {"request", 0};
    struct pilot_request in = {.nodes = 1, .options = "", .tag = ""};
    struct json_out out = {.text = c->out};
    char folder[PATH_MAX];
    berth_error_t why = {""};
    if (!json_is_object(c->body)) {
        api_refuse(c, 400, NULL, "expected an object");
        return;
    }
    if (keys_read(c->body, &table, &place, &in, &why) < 0) {
        api_wrong(c, &why);
        return;
    }
    if (ask_wrong(&in, &why)) {
        api_wrong(c, &why);
        return;
    }
    json_t *pilot = pilot_add(c->s, in.kind, in.nodes, in.options, in.tag, folder, &why);
    if (!pilot) {
        api_wrong(c, &why);
        return;
    }
    if (note_request(c->s, pilot, &in) < 0) {
        pilot_remove(c->s, pilot, false);
        api_no_memory(c->reply);
        return;
    }
    server_event(c->s, 0, -1, "pilot", NULL);
    json_open(&out, NULL, '{');
    json_put_int(&out, "pilot", entry_number(pilot, "pilot"));
    json_put_text(&out, "folder", folder);
    put_comment(&out, pilot);
    json_close(&out, '}');
    strbuf_putc(c->out, '\n');
    c->reply->wait = true;
}

/* The pilot of the path, or NULL and the call is refused. */
static json_t *find_pilot_of_path(struct call *c)
{
    char *end;
    errno = 0;
    long long number = strtoll(c->rest, &end, 10);
    json_t *pilot = *end || errno || number < 1 ? NULL : pilot_find(c->s, number);
    if (!pilot)
        api_refuse(c, 404, NULL, "there is no pilot %.40s", c->rest);
    return pilot;
}

static bool told_wrong(const struct pilot_told *told, berth_error_t *why)
{
    const struct {
        const char *key, *text;
        size_t most;
    } texts[] = {{"job", told->job, JOB_MOST},
                 {"slurm", told->slurm, JOB_MOST},
                 {"reason", told->reason, OPTIONS_MOST},
                 {"given_up", told->given_up, NODES_TEXT},
                 {"lost", told->lost, NODES_TEXT}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        const char *text = texts[i].text;
        if (!text || (strlen(text) <= texts[i].most && text_is_plain(text)))
            continue;
        errtext_set(why, EINVAL, "key \"%s\": expected at most %zu plain bytes", texts[i].key,
                    texts[i].most);
        return true;
    }
    return false;
}

void api_pilot_patch(struct call *c)
{
    const struct key_table table = {"", change_keys, sizeof(change_keys) / sizeof(*change_keys)};
    const struct key_place place = {"request", 0};
    struct pilot_change in = {.told = {.start = -1, .end = -1}};
    berth_error_t why = {""};
    json_t *pilot = find_pilot_of_path(c);
    if (!pilot)
        return;
    if (!json_is_object(c->body)) {
        api_refuse(c, 400, NULL, "expected an object");
        return;
    }
    if (keys_read(c->body, &table, &place, &in, &why) < 0 || told_wrong(&in.told, &why) ||
        (in.drain && pilot_drain(c->s, pilot) < 0) || pilot_told(c->s, pilot, &in.told) < 0) {
        api_wrong(c, &why);
        return;
    }
    api_done(c);
}

static bool is_yes(const char *value)
{
    return value && strcmp(value, "1") == 0;
}

/* Whether a job holds something of its nodes. */
static bool is_held(server_t *s, const json_t *pilot)
{
    size_t i;
    const json_t *node;
    json_array_foreach (pilots_nodes(s), i, node) {
        if (entry_number(node, "pilot") == entry_number(pilot, "pilot") &&
            pilots_node_held(s, node))
            return true;
    }
    return false;
}

void api_pilot_delete(struct call *c)
{
    struct api_query q[] = {{"lost", NULL}, {"idle", NULL}, {NULL, NULL}};
    json_t *pilot = find_pilot_of_path(c);
    if (!pilot || api_query(c, q) < 0)
        return;
    if (is_yes(q[1].value) && is_held(c->s, pilot)) {
        api_refuse(c, 409, NULL, "something runs on pilot %.40s", c->rest);
    } else {
        json_object_set_new(pilot, "released", json_true());
        pilot_remove(c->s, pilot, is_yes(q[0].value));
        server_event(c->s, 0, -1, "pilot removed", NULL);
        api_done(c);
    }
    api_query_clear(q);
}

static void put_node(struct call *c, struct json_out *out, const json_t *node)
{
    json_open(out, NULL, '{');
    json_put_text(out, "name", entry_text(node, "vertex"));
    json_put_text(out, "host", entry_text(node, "name"));
    json_put_text(out, "state", pilots_node_up(c->s, entry_text(node, "id")) ? "up" : "down");
    json_put_int(out, "cores", (int64_t)json_array_size(json_object_get(node, "cores")));
    json_put_int(out, "gpus", (int64_t)json_array_size(json_object_get(node, "gpus")));
    json_put_int(out, "memory", entry_number(node, "memory"));
    json_put_seconds(out, "end", entry_number(node, "end") > 0 ? entry_number(node, "end") : -1);
    json_put_bool(out, "given_up", json_is_true(json_object_get(node, "given_up")));
    json_close(out, '}');
}

static int by_name(const void *a, const void *b)
{
    return hostlist_compare(entry_text(*(const json_t *const *)a, "vertex"),
                            entry_text(*(const json_t *const *)b, "vertex"));
}

/* The nodes of a pilot by their names. Returns how many. */
static size_t put_nodes_of_pilot(struct call *c, struct json_out *out, int64_t pilot)
{
    const json_t *all = pilots_nodes(c->s), *node;
    const json_t **v = reallocarray(NULL, json_array_size(all) + 1, sizeof(json_t *));
    size_t i, n = 0;
    c->out->failed = c->out->failed || !v;
    json_array_foreach (all, i, node)
        if (v && entry_number(node, "pilot") == pilot)
            v[n++] = node;
    if (n > 0)
        qsort(v, n, sizeof(*v), by_name);
    for (i = 0; i < n; i++)
        put_node(c, out, v[i]);
    free(v);
    return n;
}

/* Whether any of its nodes is connected. O(nodes). */
static bool is_heard_of(const struct call *c, int64_t pilot)
{
    const struct engine_node *nodes;
    uint64_t change;
    struct engine *engine = c->s->platform.engine;
    size_t n = engine->ops->nodes ? engine->ops->nodes(engine, &nodes, &change) : 0;
    for (size_t i = 0; i < n; i++)
        if (nodes[i].pilot == (uint64_t)pilot && nodes[i].up)
            return true;
    return false;
}

static const char *state_of_pilot(const struct call *c, const json_t *pilot, size_t nodes)
{
    if (json_is_true(json_object_get(pilot, "ending")))
        return "ending";
    if (nodes == 0)
        return "queued";
    return is_heard_of(c, entry_number(pilot, "pilot")) ? "up" : "down";
}

static void put_pilot(struct call *c, struct json_out *out, const json_t *pilot)
{
    json_line(out);
    json_open(out, NULL, '{');
    json_put_int(out, "pilot", entry_number(pilot, "pilot"));
    json_put_text(out, "kind", entry_text(pilot, "kind"));
    json_put_int(out, "asked", entry_number(pilot, "nodes"));
    json_put_text(out, "options", entry_text(pilot, "options"));
    json_put_text(out, "job", entry_text(pilot, "job"));
    put_comment(out, pilot);
    json_put_text(out, "slurm", entry_text(pilot, "slurm"));
    json_put_text(out, "reason", entry_text(pilot, "reason"));
    json_put_seconds(out, "start",
                     entry_number(pilot, "start") > 0 ? entry_number(pilot, "start") : -1);
    json_put_seconds(out, "since", entry_number(pilot, "since"));
    json_put_seconds(out, "time",
                     entry_number(pilot, "time") > 0 ? entry_number(pilot, "time") : -1);
    json_put_bool(out, "auto", json_is_true(json_object_get(pilot, "auto")));
    json_open(out, "nodes", '[');
    size_t n = put_nodes_of_pilot(c, out, entry_number(pilot, "pilot"));
    json_close(out, ']');
    json_put_text(out, "state", state_of_pilot(c, pilot, n));
    json_close(out, '}');
}

void api_pilots_get(struct call *c)
{
    struct json_out out = {.text = c->out};
    size_t i;
    const json_t *pilot;
    json_open(&out, NULL, '{');
    json_open(&out, "pilots", '[');
    json_array_foreach (pilots_list(c->s), i, pilot)
        put_pilot(c, &out, pilot);
    json_close(&out, ']');
    json_close(&out, '}');
    strbuf_putc(c->out, '\n');
}
