/* Routes of the rule by which pilots are asked for, and of what it comes to. */
#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "config/keys.h"
#include "config/seconds.h"
#include "server/api/api.h"
#include "server/core/job_text.h"
#include "server/core/pilot_words.h"
#include "server/core/priv.h"

#define OPTIONS_MOST 4000
#define JOBS_TOLD    1000 /* jobs of which it is told what becomes of them */

struct rule_ask {
    const char *kind, *partition, *options;
    int64_t max_nodes, time, backlog, idle, budget;
    bool dry_run;
};

static const struct key rule_keys[] = {
    KEY_OF(struct rule_ask, kind, KEY_TEXT, .needed = true),
    KEY_OF(struct rule_ask, partition, KEY_TEXT),
    KEY_OF(struct rule_ask, options, KEY_TEXT),
    KEY_OF(struct rule_ask, max_nodes, KEY_WHOLE, .needed = true, .min = 1,
           .max = PILOT_NODES_MOST),
    KEY_OF(struct rule_ask, time, KEY_DURATION, .max = INT64_C(365) * 86400 * SERVER_SECOND),
    KEY_OF(struct rule_ask, backlog, KEY_WHOLE, .min = 1, .max = PILOT_NODES_MOST),
    KEY_OF(struct rule_ask, idle, KEY_DURATION, .max = INT64_C(365) * 86400 * SERVER_SECOND),
    KEY_OF(struct rule_ask, budget, KEY_WHOLE, .min = 1, .max = PILOT_HOURS_MOST),
    KEY_OF(struct rule_ask, dry_run, KEY_BOOL),
};

static const char *text_of_key(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* ---- Written ---- */

static void put_rule(struct json_out *out, const struct auto_rule *of)
{
    const struct pilot_rule *r = &of->rule;
    json_open(out, "rule", '{');
    json_put_int(out, "max_nodes", r->max_nodes);
    json_put_seconds(out, "time", r->time);
    json_put_int(out, "backlog", r->backlog);
    json_put_seconds(out, "idle", r->idle);
    json_put_known(out, "budget", r->budget < INT64_MAX ? r->budget / (3600 * SERVER_SECOND) : -1);
    json_put_text(out, "partition", of->partition);
    json_put_text(out, "options", of->options);
    json_put_bool(out, "configured", of->is_configured);
    json_close(out, '}');
    json_open(out, "node", '{');
    json_put_int(out, "cores", r->node[PILOT_CORES]);
    json_put_int(out, "gpus", r->node[PILOT_GPUS]);
    json_put_int(out, "memory", r->node[PILOT_MEMORY]);
    json_close(out, '}');
}

static void put_asks(struct json_out *out, const struct pilot_plan *plan)
{
    static const char *const when[] = {[PILOT_NOW] = "now",
                                       [PILOT_PATIENT] = "soon",
                                       [PILOT_BACKLOG] = "backlog",
                                       [PILOT_FAILED] = "refused"};
    json_open(out, "asks", '[');
    for (size_t i = 0; i < plan->n_asks; i++) {
        json_open(out, NULL, '{');
        json_put_int(out, "nodes", plan->ask[i].nodes);
        json_put_seconds(out, "time", plan->ask[i].time);
        json_put_int(out, "members", plan->ask[i].members);
        json_put_text(out, "when", when[plan->ask[i].when]);
        json_put_seconds(out, "at", plan->ask[i].at);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void put_releases(const server_t *s, struct json_out *out, const struct pilot_plan *plan)
{
    static const char *const why[] = {
        [PILOT_IDLE] = "idle", [PILOT_UNWANTED] = "unwanted", [PILOT_IS_STUCK] = "stuck"};
    json_open(out, "releases", '[');
    for (size_t i = 0; i < plan->n_releases; i++) {
        const json_t *pilot = pilot_find(s, plan->release[i].pilot);
        json_open(out, NULL, '{');
        json_put_int(out, "pilot", plan->release[i].pilot);
        json_put_text(out, "job", text_of_key(pilot, "job"));
        json_put_text(out, "reason", text_of_key(pilot, "reason"));
        json_put_text(out, "why", why[plan->release[i].why]);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void put_jobs(const server_t *s, struct json_out *out, const struct auto_rule *rule,
                     const struct auto_look *look)
{
    static const char *const fates[] = {[PILOT_SOON] = "soon",
                                        [PILOT_QUEUED] = "queued",
                                        [PILOT_LACKING] = "lacking",
                                        [PILOT_BOUND] = "bound",
                                        [PILOT_NEVER] = "never"};
    json_open(out, "jobs", '[');
    for (size_t i = 0; i < look->in.n_wants && i < JOBS_TOLD; i++) {
        const struct pilot_verdict *v = &look->plan.verdict[i];
        struct strbuf words = {0};
        pilot_words(&words, s, rule, look, v);
        json_open(out, NULL, '{');
        json_put_int(out, "id", look->of[i].job->id);
        json_put_int(out, "members", v->members);
        json_put_text(out, "fate", fates[v->fate]);
        json_put_known(out, "pilot", v->pilot > 0 ? v->pilot : -1);
        json_put_text(out, "why", strbuf_text(&words));
        json_close(out, '}');
        out->text->failed |= words.failed;
        strbuf_clear(&words);
    }
    json_close(out, ']');
}

/* What a rule comes to now; `holds`: it is the one that holds. */
static void put_look(struct call *c, const struct auto_rule *rule, bool holds)
{
    struct json_out out = {.text = c->out};
    struct auto_look look;
    const json_t *state = auto_state(c->s);
    if (auto_look(c->s, &rule->rule, &look) < 0) {
        auto_look_clear(&look);
        api_no_memory(c->reply);
        return;
    }
    if (holds)
        auto_keep(c->s, &look);
    json_open(&out, NULL, '{');
    put_rule(&out, rule);
    json_put_int(&out, "nodes", look.plan.nodes);
    json_put_seconds(&out, "spent", look.in.spent);
    json_put_int(&out, "failures", look.in.failures);
    json_put_text(&out, "refused", text_of_key(state, "refused"));
    put_asks(&out, &look.plan);
    put_releases(c->s, &out, &look.plan);
    put_jobs(c->s, &out, rule, &look);
    json_close(&out, '}');
    strbuf_putc(c->out, '\n');
    auto_look_clear(&look);
}

/* ---- Answers ---- */

void api_auto_get(struct call *c)
{
    struct auto_rule rule;
    if (auto_rule_get(c->s, &rule))
        put_look(c, &rule, true);
    else
        strbuf_puts(c->out, "{\"rule\": null}\n");
}

static int rule_wrong(const struct rule_ask *in, berth_error_t *why)
{
    if (strcmp(in->kind, "slurm") != 0)
        return errtext_set(why, EINVAL, "key \"kind\": expected slurm");
    if (in->time < PILOT_TIME_LEAST * SERVER_SECOND)
        return errtext_set(why, EINVAL, "key \"time\": expected 15 minutes or more");
    if ((in->options && (strlen(in->options) > OPTIONS_MOST || !text_is_plain(in->options))) ||
        (in->partition && (strlen(in->partition) > OPTIONS_MOST || !text_is_plain(in->partition))))
        return errtext_set(why, EINVAL,
                           "keys \"options\", \"partition\": expected at most %d plain bytes",
                           OPTIONS_MOST);
    return 0;
}

void api_auto_post(struct call *c)
{
    const struct key_table table = {"", rule_keys, sizeof(rule_keys) / sizeof(*rule_keys)};
    const struct key_place place = {"request", 0};
    struct auto_rule rule;
    struct rule_ask in = {0};
    berth_error_t why = {""};
    auto_rule_get(c->s, &rule);
    struct pilot_rule *r = &rule.rule;
    int64_t node[PILOT_KINDS];
    memcpy(node, r->node, sizeof(node));
    pilot_rule_default(r, SERVER_SECOND);
    in = (struct rule_ask){.time = r->time, .backlog = r->backlog, .idle = r->idle};
    if (!json_is_object(c->body)) {
        api_refuse(c, 400, NULL, "expected an object");
        return;
    }
    if (keys_read(c->body, &table, &place, &in, &why) < 0 || rule_wrong(&in, &why) < 0) {
        api_wrong(c, &why);
        return;
    }
    rule = (struct auto_rule){
        .rule = {.max_nodes = in.max_nodes,
                 .time = in.time,
                 .backlog = in.backlog,
                 .idle = in.idle,
                 .budget = in.budget > 0 ? in.budget * 3600 * SERVER_SECOND : INT64_MAX},
        .partition = in.partition,
        .options = in.options};
    memcpy(r->node, node, sizeof(node));
    if (!in.dry_run && auto_rule_set(c->s, &rule) < 0) {
        api_no_memory(c->reply);
        return;
    }
    put_look(c, &rule, !in.dry_run);
    if (!in.dry_run) {
        server_event(c->s, 0, -1, "pilots", NULL);
        c->reply->wait = true;
    }
}

void api_auto_delete(struct call *c)
{
    if (auto_rule_set(c->s, NULL) < 0) {
        api_no_memory(c->reply);
        return;
    }
    server_event(c->s, 0, -1, "pilots", NULL);
    api_done(c);
}

void api_auto_patch(struct call *c)
{
    struct refusal {
        const char *refused;
    } in = {NULL};
    static const struct key keys[] = {KEY_OF(struct refusal, refused, KEY_TEXT, .needed = true)};
    const struct key_table table = {"", keys, 1};
    const struct key_place place = {"request", 0};
    berth_error_t why = {""};
    char text[400];
    if (!json_is_object(c->body)) {
        api_refuse(c, 400, NULL, "expected an object");
        return;
    }
    if (keys_read(c->body, &table, &place, &in, &why) < 0) {
        api_wrong(c, &why);
        return;
    }
    snprintf(text, sizeof(text), "%s", in.refused);
    text_make_plain(text);
    if (auto_failed(c->s, text) < 0)
        api_no_memory(c->reply);
    else
        api_done(c);
}
