/* The naive store. */
#include "store_model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "server/store/record.h"

enum { TAGS = 1001, SHORT = 256 };

static char request[512], environment[70000], script[20000];

bool model_has(const struct model_job *job, int member)
{
    return member != 1 || job->members < 3 || job->tag % 3 > 0;
}

void model_fill_job(const struct model *m, int64_t id, struct store_job *out)
{
    const struct model_job *j = &m->job[id - 1];
    int size = 40 + j->tag % 400;
    snprintf(request, sizeof(request), "{\"tag\": %d, \"%0*d\": 0}", j->tag, size, 0);
    snprintf(environment, sizeof(environment), "[\"%0*d\"]",
             j->environment * j->environment % 60000, j->environment);
    snprintf(script, sizeof(script), "#!/bin/sh\n%0*d", j->script * 97 % 9000, j->script);
    *out = (struct store_job){
        .id = id,
        .uid = (uint32_t)(MODEL_UID + id % MODEL_USERS),
        .gid = 100,
        .user = id % 3 ? "somebody" : "root",
        .name = j->tag % 2 ? "odd" : NULL,
        .queue = j->priority % 2 ? "batch" : "short",
        .request = request,
        .environment = environment,
        .script = j->script ? script : NULL,
        .script_length = j->script ? strlen(script) : 0,
        .members = (uint32_t)j->members,
        .count = (uint32_t)j->members - !model_has(j, 1),
        .indices = model_has(j, 1)  ? NULL
                   : j->members > 3 ? "0,2-3"
                                    : "0,2",
        .priority = j->priority,
        .held = j->held,
        .limit = j->priority & 1 ? 1000 * (j->priority & 7) : INT64_MAX,
        .estimate = 1000 * (j->priority & 7),
        .submitted = -5 + j->tag,
        .submitted_wall = INT64_C(1700000000000000) + j->tag,
        .nodes = j->tag % 5,
        .cores = 1 + j->tag,
    };
}

void model_fill_member(const struct model *m, int64_t id, int member, struct store_member *out)
{
    static const char *const resources[] = {NULL, "{\"graph\": {}}", ""};
    const struct model_member *k = &m->job[id - 1].member[member];
    *out = (struct store_member){
        .job = id,
        .member = (uint32_t)member,
        .state = k->state,
        .cancelled = k->tag & 1,
        .timed_out = k->tag & 2,
        .preempted = k->tag & 4,
        .requeue = k->tag & 8,
        .key = (uint64_t)k->tag << 40,
        .attempts = (uint32_t)k->tag,
        .retries = (uint32_t)(k->tag % 7 ? 0 : k->tag % 200),
        .begin = k->tag % 14 ? 0 : k->tag,
        .how = k->tag % 4 - 1,
        .own_hold = k->tag & 2,
        .held = (k->tag & 6) == 6,
        .own_priority = k->tag & 8,
        .own_times = k->tag & 1,
        .priority = k->tag & 8 ? k->tag - 20 : 0,
        .limit = k->tag & 1 ? k->tag : 0,
        .estimate = k->tag & 1 ? INT64_MAX : 0,
        .at = k->tag % 3 ? k->tag : -1,
        .until = -1,
        .displaced = k->tag % 2,
        .promised = k->tag % 2 ? k->tag : 0,
        .claims = k->tag % 7 == 0,
        .apart = k->tag % 5 == 0,
        .since = k->tag % 5 == 0 ? k->tag : 0,
        .replaced = k->tag % 11 == 0 ? (uint32_t)k->tag : 0,
        .broke = k->tag % 3 == 0,
        .left = k->tag % 3 == 0 ? (uint32_t)k->tag : 0,
        .stopped_for = k->tag % 13 == 0 ? k->tag : 0,
        .stopped_for_member = k->tag % 26 == 0 ? (uint32_t)k->tag : 0,
        .awaited_also = k->tag % 39 == 0 ? " 7.0 1234567890123.4294967295" : NULL,
        .preempts = k->tag % 4 == 1,
        .resources = resources[k->tag % 3],
        .held_resources = k->tag % 2 ? "node0/core[0-3]" : NULL,
        .reason = k->tag % 5 ? NULL : "lost",
        .start_wall = -1 + k->tag % 3,
        .end_wall = k->end_wall,
        .exit_status = k->tag - 3,
        .exit_signal = k->tag % 4,
        .peak_memory = -1,
        .cpu_time = k->tag,
    };
}

void model_set_member(struct model *m, int64_t id, int member, enum store_state state,
                      int64_t end_wall, int tag)
{
    struct model_job *j = &m->job[id - 1];
    struct model_member *k = &j->member[member];
    if (!j->there)
        return;
    bool had_ended = k->known && k->state >= STORE_DONE;
    if (state >= STORE_DONE && !had_ended)
        k->order = ++m->ends;
    k->known = true;
    k->state = state;
    k->end_wall = end_wall;
    k->tag = tag;
}

bool model_fits_range(const struct model_job *job, int first, int last)
{
    for (int i = first; i <= last; i++)
        if (job->member[i].known)
            return false;
    return job->there && first < last && model_has(job, first) && model_has(job, last);
}

/* The first one's end is the newest. */
void model_set_range(struct model *m, int64_t id, int first, int last, enum store_state state,
                     int64_t end_wall, int tag)
{
    for (int i = last; i >= first; i--) {
        struct model_member *k = &m->job[id - 1].member[i];
        if (!model_has(&m->job[id - 1], i))
            continue;
        model_set_member(m, id, i, state, end_wall, tag);
        k->in_range = true;
        k->together = i > first;
    }
}

bool model_is_over(const struct model_job *job, int64_t before)
{
    for (int i = 0; i < job->members; i++)
        if (model_has(job, i) && (!job->member[i].known || job->member[i].state < STORE_DONE ||
                                  job->member[i].end_wall >= before))
            return false;
    return job->there;
}

static void drop(struct model *m, int64_t id)
{
    m->job[id - 1].there = false;
    for (int64_t i = 0; i < m->events; i++)
        if (m->event_job[i] == id)
            m->event_job[i] = -1;
}

void model_retain(struct model *m, int64_t before)
{
    for (int64_t id = 1; id <= m->jobs; id++)
        if (model_is_over(&m->job[id - 1], before))
            drop(m, id);
}

/* A text that is not short counts once, by what makes it what it is. */
static int64_t text_bytes(const char *text, bool *seen)
{
    int64_t n = text ? (int64_t)strlen(text) : 0;
    if (n < SHORT)
        return n;
    n = *seen ? 0 : n + STORE_ROW;
    *seen = true;
    return n;
}

int64_t model_used(const struct model *m, uint32_t uid)
{
    bool seen[3][TAGS] = {{false}};
    struct strbuf record = {0};
    struct store_job job;
    struct store_member member;
    int64_t bytes = 0;
    for (int64_t id = 1; id <= m->jobs; id++) {
        const struct model_job *j = &m->job[id - 1];
        if (!j->there || MODEL_UID + id % MODEL_USERS != uid)
            continue;
        model_fill_job(m, id, &job);
        strbuf_reset(&record);
        store_job_encode(&record, &job);
        bytes += STORE_ROW + (int64_t)record.len + text_bytes(job.request, &seen[0][j->tag]) +
                 text_bytes(job.environment, &seen[1][j->environment]) +
                 text_bytes(job.script, &seen[2][j->script]);
        for (int i = 0; i < j->members; i++) {
            if (!j->member[i].known || j->member[i].state < STORE_DONE)
                continue;
            if (j->member[i].together) /* with another one, whose row it is */
                continue;
            model_fill_member(m, id, i, &member);
            strbuf_reset(&record);
            store_member_encode(&record, &member);
            bytes += STORE_ROW + (int64_t)record.len;
        }
        for (int64_t i = 0; i < m->events; i++)
            bytes += m->event_job[i] == id ? STORE_ROW + (int64_t)strlen("{}") : 0;
    }
    strbuf_clear(&record);
    return bytes;
}

static int64_t end_of(const struct model_job *job)
{
    int64_t end = -1;
    for (int i = 0; i < job->members; i++)
        end = job->member[i].end_wall > end ? job->member[i].end_wall : end;
    return end;
}

void model_trim(struct model *m, uint32_t uid, int64_t bytes)
{
    while (model_used(m, uid) > bytes) {
        int64_t first = 0;
        for (int64_t id = 1; id <= m->jobs; id++)
            if (MODEL_UID + id % MODEL_USERS == uid && model_is_over(&m->job[id - 1], INT64_MAX) &&
                (first == 0 || end_of(&m->job[id - 1]) < end_of(&m->job[first - 1])))
                first = id;
        if (first == 0)
            return;
        drop(m, first);
    }
}

static void tell_number(struct strbuf *out, int64_t n)
{
    strbuf_putc(out, ' ');
    strbuf_put_int(out, n);
}

static void tell_text(struct strbuf *out, const char *text)
{
    strbuf_putc(out, ' ');
    strbuf_puts(out, text ? text : "NULL");
}

static void tell_job(struct strbuf *out, const struct store_job *j)
{
    strbuf_puts(out, "\njob");
    const int64_t n[] = {j->id,
                         j->uid,
                         j->gid,
                         j->members,
                         j->count,
                         j->priority,
                         j->held,
                         j->limit,
                         j->estimate,
                         j->submitted,
                         j->submitted_wall,
                         j->nodes,
                         j->cores,
                         j->gpus,
                         (int64_t)j->script_length};
    for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
        tell_number(out, n[i]);
    tell_text(out, j->indices);
    tell_text(out, j->user);
    tell_text(out, j->name);
    tell_text(out, j->queue);
    tell_text(out, j->request);
    tell_text(out, j->environment);
    tell_text(out, j->script);
}

static void tell_member(struct strbuf *out, const struct store_member *m)
{
    strbuf_puts(out, "\nmember");
    const int64_t n[] = {m->job,       m->member,      m->state,        m->cancelled,
                         m->timed_out, m->preempted,   m->requeue,      (int64_t)m->key,
                         m->attempts,  m->at,          m->until,        m->start_wall,
                         m->end_wall,  m->exit_status, m->exit_signal,  m->peak_memory,
                         m->cpu_time,  m->how,         m->displaced,    m->promised,
                         m->own_hold,  m->held,        m->own_priority, m->own_times,
                         m->priority,  m->limit,       m->estimate,     m->retries,
                         m->begin,     m->claims,      m->since,        m->replaced,
                         m->broke,     m->left,        m->stopped_for,  m->stopped_for_member,
                         m->preempts,  m->apart};
    for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
        tell_number(out, n[i]);
    tell_text(out, m->resources);
    tell_text(out, m->held_resources);
    tell_text(out, m->reason);
    tell_text(out, m->awaited_also);
}

static void tell_end(struct strbuf *out, int64_t job, int64_t member)
{
    strbuf_puts(out, "\nended");
    tell_number(out, job);
    tell_number(out, member);
}

/* The ends, newest first. */
static void tell_ends(const struct model *m, struct strbuf *out)
{
    for (int64_t order = m->ends; order > 0; order--)
        for (int64_t id = 1; id <= m->jobs; id++)
            for (int i = 0; i < m->job[id - 1].members; i++) {
                const struct model_member *k = &m->job[id - 1].member[i];
                if (m->job[id - 1].there && k->known && k->state >= STORE_DONE && k->order == order)
                    tell_end(out, id, i);
            }
}

void model_tell(const struct model *m, struct strbuf *out)
{
    struct store_job job;
    struct store_member member;
    strbuf_reset(out);
    tell_number(out, m->jobs);
    tell_number(out, m->events);
    tell_number(out, m->value);
    for (int i = 0; i < MODEL_VALUES; i++)
        if (m->listed[i] > 0) {
            tell_number(out, i);
            tell_number(out, m->listed[i]);
        }
    for (uint32_t i = 0; i < MODEL_USERS; i++)
        tell_number(out, model_used(m, MODEL_UID + i));
    for (int64_t id = 1; id <= m->jobs; id++) {
        const struct model_job *j = &m->job[id - 1];
        if (!j->there)
            continue;
        model_fill_job(m, id, &job);
        tell_job(out, &job);
        for (int i = 0; i < j->members; i++) {
            model_fill_member(m, id, i, &member);
            if (j->member[i].known)
                tell_member(out, &member);
        }
    }
    for (int64_t i = 0; i < m->events; i++)
        if (m->event_job[i] >= 0) {
            strbuf_puts(out, "\nevent");
            tell_number(out, i + 1);
            tell_number(out, m->event_job[i]);
        }
    for (int64_t id = 1; id <= m->jobs; id++)
        if (m->job[id - 1].there && !model_is_over(&m->job[id - 1], INT64_MAX)) {
            strbuf_puts(out, "\nlive");
            tell_number(out, id);
            for (int i = 0; i < m->job[id - 1].members; i++)
                if (m->job[id - 1].member[i].known)
                    tell_number(out, i);
        }
    tell_ends(m, out);
}

static int see_event(void *context, const struct store_event *event)
{
    strbuf_puts(context, "\nevent");
    tell_number(context, event->number);
    tell_number(context, event->job);
    return 0;
}

struct seen {
    struct strbuf *out;
    bool gap; /* the job has no member 1 */
};

static int see_job(void *context, const struct store_job *job)
{
    struct seen *seen = context;
    seen->gap = job->indices;
    strbuf_puts(seen->out, "\nlive");
    tell_number(seen->out, job->id);
    return 0;
}

static int see_member(void *context, const struct store_member *member)
{
    const struct seen *seen = context;
    tell_number(seen->out, member->member);
    for (uint32_t i = member->member + 1; i <= member->last; i++)
        if (i != 1 || !seen->gap)
            tell_number(seen->out, i);
    return 0;
}

/* By pages of three, each a cursor that begins after the last one's end. */
static int tell_store_ends(store_t *s, struct strbuf *out, berth_error_t *err)
{
    struct store_query query = {
        .uid = -1, .since_wall = -1, .after_job = -1, .limit = 3, .newest_first = true};
    struct store_job job;
    struct store_member member;
    for (int n = 3; n == 3;) {
        struct store_cursor *c = store_find(s, &query, err);
        int rc = c ? 1 : -1;
        for (n = 0; c && (rc = store_next(c, &job, &member, err)) == 1; n++) {
            tell_end(out, member.job, member.member);
            query.after_job = member.job;
            query.after_member = member.member;
        }
        store_cursor_close(c);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int tell_store_job(store_t *s, int64_t id, struct strbuf *out, berth_error_t *err)
{
    struct store_job job;
    struct store_member member;
    if (store_read_job(s, id, &job, err) < 0)
        return errno == ENOENT ? 0 : -1;
    tell_job(out, &job);
    uint32_t members = job.members;
    bool gap = job.indices;
    for (uint32_t i = 0; i < members; i++)
        if (i == 1 && gap)
            continue;
        else if (store_read_member(s, id, i, &member, err) == 0)
            tell_member(out, &member);
        else if (errno != ENOENT)
            return -1;
    return 0;
}

/* The name is "listed." and a digit. */
static int see_value(void *context, const char *name, const char *value)
{
    tell_text(context, name + strlen("listed."));
    tell_text(context, value);
    return 0;
}

int model_tell_store(store_t *s, struct strbuf *out, berth_error_t *err)
{
    const char *value;
    struct seen seen = {out, false};
    strbuf_reset(out);
    tell_number(out, store_last_job(s));
    tell_number(out, store_last_event(s));
    if (store_get(s, "value", &value, err) < 0)
        return -1;
    tell_text(out, value ? value : "0");
    if (store_values(s, "listed.", see_value, out, err) < 0)
        return -1;
    for (uint32_t i = 0; i < MODEL_USERS; i++) {
        int64_t bytes;
        if (store_used(s, MODEL_UID + i, &bytes, err) < 0)
            return -1;
        tell_number(out, bytes);
    }
    for (int64_t id = 1; id <= store_last_job(s); id++)
        if (tell_store_job(s, id, out, err) < 0)
            return -1;
    if (store_events(s, 0, 0, MODEL_EVENTS, out, see_event, err) < 0 ||
        store_load(s, &(struct store_visitor){&seen, see_job, see_member}, err) < 0)
        return -1;
    return tell_store_ends(s, out, err);
}
