/* GET /v1/jobs/ID/explain: why a job waits, for which jobs, until when, and what would start it now. */
#include <string.h>

#include "berth/sched_query.h"
#include "config/seconds.h"
#include "report/explained.h"
#include "server/api/api.h"
#include "server/api/array_sum.h"
#include "server/api/explain.h"
#include "server/api/explain_gang.h"
#include "server/api/explain_node.h"
#include "server/core/gang.h"
#include "server/core/members.h"
#include "server/core/pilot_words.h"
#include "server/core/priv.h"

/* What is said of a job that waits. */
struct known {
    struct explained core;
    const char *hold; /* why no job is started at present; NULL: starts are not paused */
    char name[JOB_NAME_SIZE];
    struct victim victim[VICTIMS_TOLD];
    struct strbuf shares; /* members of the answer */
};

static struct explain_of explain_of(const server_t *s)
{
    return (struct explain_of){.sched = s->sched,
                               .now = s->clock.now,
                               .wall = server_wall_time(s, 0),
                               .memory_unit = s->size.memory_unit};
}

/* Of an array that is not over and is asked for as a whole: how many of its members are in which state. */
static void put_members_of_array(struct call *c, struct json_out *out)
{
    const struct job *job = job_lookup(c->s, c->id);
    struct array_sum sum = {0};
    if (!job || job->members == 1 || c->member >= 0)
        return;
    array_sum_job(&sum, job);
    array_sum_put(out, &sum);
    array_sum_clear(&sum);
}

/* How ready a job's gang is. Returns whether it is one that the core knows. */
static bool look_at_gang(const server_t *s, const struct job *job, struct sched_gang_now *now)
{
    sched_job_t handle = job->gang.min > 0 ? gang_handle(job, UINT32_MAX) : -1;
    return handle >= 0 && sched_gang_look(s->sched, handle, now) == 0;
}

static void put_gang_now(struct call *c, struct json_out *out)
{
    const struct job *job = job_lookup(c->s, c->id);
    struct sched_gang_now now;
    if (job && look_at_gang(c->s, job, &now))
        explain_gang_put(out, &now);
}

/* What follows is about this one, which waits for something, or room; but of a gang that is to start it is about all. */
static void tell_members(struct strbuf *text, server_t *s, const struct job *job, int64_t member,
                         bool looks)
{
    struct array_sum sum = {0};
    struct sched_gang_now now;
    array_sum_job(&sum, job);
    bool waits = sum.counts[SUM_PENDING] > 0 || sum.counts[SUM_HELD] > 0;
    strbuf_puts(text, "Of its members: ");
    array_sum_words(text, &sum);
    strbuf_puts(text, ". ");
    array_sum_clear(&sum);
    if (look_at_gang(s, job, &now)) {
        explain_gang(text, &now, looks);
        if (waits && !explain_gang_is_up(&now))
            return;
    }
    strbuf_puts(text, waits ? "The first waiting member is " : "The first running member is ");
    strbuf_put_int(text, job->id);
    strbuf_putc(text, '[');
    strbuf_put_int(text, member);
    strbuf_puts(text, "]. ");
}

/* Write the answer about a member (-1: the job). k NULL: it is not waiting. Clears `text`. */
static void put_explanation(struct call *c, int64_t member, const char *state,
                            const struct known *k, struct strbuf *text)
{
    struct json_out out = {.text = c->out};
    json_open(&out, NULL, '{');
    json_key(&out, "id");
    job_put_id(c->out, c->id, member);
    json_put_text(&out, "state", state);
    explained_put(&out, explain_of(c->s), k ? &k->core : NULL, k ? k->hold : NULL,
                  strbuf_text(text));
    put_members_of_array(c, &out);
    put_gang_now(c, &out);
    if (k)
        strbuf_put(c->out, k->shares.data, k->shares.len);
    strbuf_puts(c->out, "}\n");
    c->out->failed |= text->failed;
    strbuf_clear(text);
}

/* Ticks from now on; -1: unknown. */
static int64_t ticks_left(const server_t *s, int64_t at)
{
    return at < 0 ? -1 : at > s->clock.now ? at - s->clock.now : 0;
}

/* For whom it waits, and so when it starts at the latest. */
static void ask_victims(const server_t *s, sched_job_t handle, struct known *k)
{
    int64_t until;
    k->core.waiting.n_victims = victims_of(s, handle, k->victim, VICTIMS_TOLD, &until);
    k->core.waiting.killed = k->core.waiting.start = ticks_left(s, until);
}

/* What an administrator has taken down or drained. */
static void list_not_up(const server_t *s, struct waiting *w)
{
    const json_t *list = json_object_get(s->settings, "resources");
    w->n_not_up = json_array_size(list);
    w->may_come = spares_are(s);
    for (size_t i = 0; i < w->n_not_up && i < NOT_UP_TOLD; i++) {
        const json_t *entry = json_array_get(list, i);
        w->not_up[i].resources = json_string_value(json_object_get(entry, "resources"));
        w->not_up[i].status = json_string_value(json_object_get(entry, "status"));
        w->not_up[i].reason = json_string_value(json_object_get(entry, "reason"));
    }
}

/* Whether a member is held by itself. */
static bool is_held_alone(const struct job *job, uint32_t i)
{
    return !job->held && member_held(job, member_look(job, i));
}

/* Ask about a job that waits. Returns 0, or -1 with ENOMEM. */
static int ask_core(server_t *s, const struct job *job, uint32_t i, struct known *k)
{
    sched_job_t handle = member_handle(job, i);
    struct waiting *w = &k->core.waiting;
    *k = (struct known){0};
    if (explained_ask(explain_of(s), handle, &k->core) < 0)
        return -1;
    w->user = job->user;
    w->queue = job->queue;
    w->job = job_member_name(job->id, is_held_alone(job, i) ? (int64_t)i : -1, k->name);
    k->hold = server_pause_reason(s, job, member_look(job, i));
    list_not_up(s, w);
    if (member_is_behind(s, job, i)) {
        w->state = SCHED_WAITING;
        w->expected = false;
        k->core.not_before = true;
    }
    if (w->reason->kind == SCHED_REASON_PREEMPTING)
        ask_victims(s, handle, k);
    return 0;
}

/* Whether it is stopped for a block. */
static void put_stopping_block(const server_t *s, sched_job_t handle, struct strbuf *text)
{
    const char *block;
    int64_t at = handle < 0 ? -1 : sched_stop_time(s->sched, handle, &block);
    if (at >= 0)
        explain_block(text, block, ticks_left(s, at));
}

/* Of a member that waits: what becomes of it where pilots are asked for by themselves. */
static void put_rule(server_t *s, const struct auto_rule *rule, const struct job *job, uint32_t i,
                     struct strbuf *words)
{
    struct auto_look look;
    const struct pilot_verdict *v =
        auto_look(s, &rule->rule, &look) == 0 ? auto_verdict(&look, job, i) : NULL;
    if (v)
        pilot_words(words, s, rule, &look, v);
    auto_look_clear(&look);
}

/* Which pilot it waits for. */
static void put_pilots(server_t *s, const struct job *job, uint32_t i, enum sched_reason_kind why,
                       struct strbuf *text)
{
    struct auto_rule rule;
    struct strbuf words = {0};
    if (auto_rule_get(s, &rule))
        put_rule(s, &rule, job, i, &words);
    else if (why == SCHED_REASON_RESOURCES || why == SCHED_REASON_SET_ASIDE ||
             why == SCHED_REASON_GANG)
        pilot_words_asked(&words, s);
    strbuf_puts(text, words.len > 0 ? " " : "");
    strbuf_puts(text, strbuf_text(&words));
    strbuf_clear(&words);
}

static void explain_pending(struct call *c, const struct job *job, uint32_t i)
{
    server_t *s = c->s;
    int64_t member = job->members > 1 ? (int64_t)i : -1;
    struct strbuf text = {0};
    struct known k;
    if (ask_core(s, job, i, &k) < 0) {
        api_refuse(c, 503, NULL, "out of memory");
        return;
    }
    k.core.waiting.victims = k.victim;
    if (member >= 0 && c->member < 0)
        tell_members(&text, s, job, member, k.core.waiting.state != SCHED_BLOCKED);
    if (k.hold && k.core.waiting.state != SCHED_REJECTED)
        explain_paused(&text, k.hold);
    else
        explain_waiting(&text, &k.core.waiting);
    if (!k.hold)
        put_pilots(s, job, i, k.core.waiting.reason->kind, &text);
    if (!k.hold)
        explained_turns(&k.core, explain_of(s), member_handle(job, i), &text, &k.shares);
    if (k.core.waiting.state != SCHED_REJECTED)
        put_stopping_block(s, member_handle(job, i), &text);
    explain_again(c, job, i, &text);
    put_explanation(c, member, job_state_word(STORE_PENDING, member_held(job, member_look(job, i))),
                    &k, &text);
    c->out->failed |= k.shares.failed;
    strbuf_clear(&k.shares);
    explained_clear(&k.core);
}

/* The member that represents a job. */
static uint32_t explained_member(const struct call *c, const struct job *job)
{
    struct array_sum sum = {0};
    uint32_t i = c->member >= 0 ? (uint32_t)c->member : 0;
    if (c->member < 0 && job->members > 1) {
        array_sum_job(&sum, job);
        i = array_sum_first(c->s, &sum, job);
        array_sum_clear(&sum);
    }
    return i;
}

/* Whether a member that runs is being stopped, and for whom; `text` is memory for that. */
static struct stopping stopping_of(const server_t *s, const struct member *m,
                                   char text[SCHED_REASON_TEXT])
{
    struct sched_annotation a;
    int64_t at = m->run ? run_killed_at(s, m->run) : -1;
    struct stopping stopping = {.is_stopping = at >= 0, .is_preempted = m->preempted};
    sched_job_t other = stopping.is_stopping ? sched_preemptor(s->sched, m->handle) : -1;
    if (!stopping.is_stopping)
        return stopping;
    stopping.killed = ticks_left(s, at);
    if (stopping.is_preempted)
        preempted_why(m->reason, &stopping.why, text);
    if (other >= 0 && sched_annotate(s->sched, other, &a) == 0) {
        stopping.id = (int64_t)a.tag;
        stopping.member = a.members > 1 ? (int64_t)a.member : -1;
    }
    return stopping;
}

static void explain_live(struct call *c, const struct job *job)
{
    uint32_t i = explained_member(c, job);
    const struct member *m = member_look(job, i);
    struct strbuf text = {0};
    char words[SCHED_REASON_TEXT];
    struct job_shown shown;
    if (m->state == STORE_PENDING && member_handle(job, i) >= 0) {
        explain_pending(c, job, i);
        return;
    }
    job_show(c->s, job, i, &shown);
    if (c->member < 0 && job->members > 1)
        tell_members(&text, c->s, job, i, false);
    struct stopping stopping = stopping_of(c->s, m, words);
    if (stopping.is_stopping)
        explain_stopping(&text, &stopping);
    else if (m->state == STORE_PENDING)
        strbuf_puts(&text, "It has just been submitted and is about to be scheduled.");
    else
        explain_others(&text, &shown, c->s->clock.wall);
    if (!stopping.is_stopping && m->run)
        put_stopping_block(c->s, m->handle, &text);
    if (m->run)
        explain_unheard(c->s, m->handle, &text);
    put_explanation(c, shown.member, shown.state, NULL, &text);
}

/* An array that is over, as a whole. */
static void explain_over(struct call *c)
{
    struct array_sum sum = {0};
    struct strbuf text = {0};
    struct store_job job;
    struct job_shown shown;
    berth_error_t why = {""};
    if (array_sum_stored(&sum, c->s->store, c->id, &why) < 0 ||
        store_read_job(c->s->store, c->id, &job, &why) < 0) {
        api_wrong(c, &why);
    } else {
        array_show_stored(&job, &sum, &shown);
        strbuf_puts(&text, "It is over. Of its members: ");
        array_sum_words(&text, &sum);
        explain_whole(&text, &shown);
        put_explanation(c, -1, shown.state, NULL, &text);
    }
    array_sum_clear(&sum);
}

static void explain_stored(struct call *c)
{
    struct store_job job;
    struct store_member member;
    struct strbuf text = {0};
    struct job_shown shown;
    struct store_cursor *cursor = api_stored(c, &job, &member);
    if (!cursor)
        return;
    if (api_owns(c, job.uid) && c->member < 0 && job.members > 1) {
        explain_over(c);
    } else if (api_owns(c, job.uid)) {
        job_show_stored(&job, &member, &shown);
        explain_others(&text, &shown, c->s->clock.wall);
        put_explanation(c, shown.member, shown.state, NULL, &text);
    } else {
        api_refuse(c, 403, NULL, "job %s is another user's", c->rest);
    }
    store_cursor_close(cursor);
}

void api_job_explain(struct call *c)
{
    const struct job *job = job_lookup(c->s, c->id);
    if (job && c->member >= 0 && (!member_exists(job, c->member) || job->members == 1))
        api_no_job(c);
    else if (job && !api_owns(c, job->uid))
        api_refuse(c, 403, NULL, "job %s is another user's", c->rest);
    else if (job && (c->member < 0 || member_is_live(member_look(job, (uint32_t)c->member))))
        explain_live(c, job);
    else
        explain_stored(c);
}
