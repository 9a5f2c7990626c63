/* GET /v1/jobs: a row for each member, written piece by piece.
 *
 * Live members are in memory, ended ones in the store. In the order of submission both are merged; newest
 * first, live members come before the ended ones, whose last end comes first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/api.h"
#include "server/core/job_text.h"

enum { STATE, USER, QUEUE, NAME, LIMIT, AFTER, ORDER, HISTORY, SINCE, IDS, QUERIES };

#define OVER_BITS                                                                                  \
    (1u << STORE_DONE | 1u << STORE_FAILED | 1u << STORE_CANCELLED | 1u << STORE_TIMEOUT)

#define LOOK_MAX 256 /* rows skipped before other requests have their turn */

struct list {
    struct server_stream stream;
    struct call caller; /* identifies the caller */
    struct server_request request;
    char *user, *queue, *name, *ids, *next_id;
    uint32_t next_member; /* of the next id */
    struct api_states states;
    bool newest;
    int64_t left;       /* rows */
    int64_t since;      /* only members that ended then or later; -1: any */
    int64_t id, member; /* the last row of a live member */
    bool live_over;
    struct store_cursor *cursor;
    /* the next ended member is in `stored`, as the store's texts are valid only until its next call */
    bool has_stored;
    int64_t stored_id, stored_member;
    struct strbuf stored;
    struct json_out json; /* the state after the rows so far */
    bool over;
    int64_t last_id, last_member; /* the last row written */
};

static bool list_matches(const struct list *l, const char *user, const char *queue,
                         const char *name)
{
    return (!l->user || strcmp(l->user, user) == 0) &&
           (!l->queue || strcmp(l->queue, queue) == 0) && (!l->name || strcmp(l->name, name) == 0);
}

static bool shows_job(const struct list *l, const struct job *job)
{
    return list_matches(l, job->user, job->queue, job->name) &&
           (!l->name || api_owns(&l->caller, job->uid));
}

static void begin_row(struct list *l, int64_t id, int64_t member)
{
    json_line(&l->json);
    l->last_id = id;
    l->last_member = member;
    if (l->left > 0)
        l->left--;
}

static void list_put_row(struct list *l, const struct job_shown *shown, uint32_t uid)
{
    begin_row(l, shown->id, shown->member);
    job_put(l->stream.server, &l->json, shown, api_owns(&l->caller, uid));
    json_close(&l->json, '}');
}

/* ---- Live members: jobs come and go between calls, so each search starts at the last row ---- */

static struct job *next_live(struct list *l, uint32_t *member)
{
    server_t *s = l->stream.server;
    size_t place = job_index(s, l->id > 0 ? l->id : 1);
    for (; place < s->table.n; place++) {
        struct job *job = s->table.jobs[place].job;
        if (!job || !shows_job(l, job))
            continue;
        uint32_t i = job->id == l->id ? (uint32_t)(l->member + 1) : 0;
        for (; (i = member_next(job, i)) < job->members; i++) {
            if (api_states_fit(&l->states, job, i)) {
                *member = i;
                return job;
            }
        }
    }
    return NULL;
}

static struct job *previous_live(struct list *l, uint32_t *member)
{
    server_t *s = l->stream.server;
    size_t place = l->id < INT64_MAX ? job_index(s, l->id + 1) : s->table.n;
    while (place-- > 0) {
        struct job *job = s->table.jobs[place].job;
        if (!job || !shows_job(l, job))
            continue;
        int64_t i = job->id == l->id ? l->member : (int64_t)job->members;
        while ((i = member_previous(job, i - 1)) >= 0) {
            if (api_states_fit(&l->states, job, (uint32_t)i)) {
                *member = (uint32_t)i;
                return job;
            }
        }
    }
    return NULL;
}

static void put_live(struct list *l, struct job *job, uint32_t member)
{
    struct job_shown shown;
    job_show(l->stream.server, job, member, &shown);
    list_put_row(l, &shown, job->uid);
    l->id = job->id;
    l->member = member;
}

/* ---- Those that have ended ---- */

/* Advance the cursor, and close it at its end. 1; 0: no match, or no more; -1. */
static int next_stored(struct list *l, struct store_job *job, struct store_member *member)
{
    int rc = store_next(l->cursor, job, member, NULL);
    if (rc == 0) {
        store_cursor_close(l->cursor);
        l->cursor = NULL;
    }
    if (rc <= 0)
        return rc;
    return list_matches(l, job->user, job->queue, job->name) &&
           (!l->name || api_owns(&l->caller, job->uid));
}

/* Fetch the next ended member. Returns 0, or -1 (EAGAIN: to be continued). */
static int peek_stored(struct list *l)
{
    struct store_job job;
    struct store_member member;
    struct job_shown shown;
    for (int looked = 0; l->cursor && !l->has_stored; looked++) {
        if (looked == LOOK_MAX) {
            errno = EAGAIN;
            return -1;
        }
        int rc = next_stored(l, &job, &member);
        if (rc < 0)
            return -1;
        if (rc == 0)
            continue;
        bool mine = api_owns(&l->caller, job.uid);
        job_show_stored(&job, &member, &shown);
        strbuf_reset(&l->stored);
        struct json_out json = {.text = &l->stored};
        job_put(l->stream.server, &json, &shown, mine);
        json_close(&json, '}');
        l->stored_id = shown.id;
        l->stored_member = shown.member;
        l->has_stored = true;
    }
    return 0;
}

static void put_stored(struct list *l)
{
    struct strbuf *out = l->json.text;
    begin_row(l, l->stored_id, l->stored_member);
    json_key(&l->json, NULL);
    strbuf_put(out, l->stored.data, l->stored.len);
    out->failed = out->failed || l->stored.failed;
    l->has_stored = false;
}

/* Write one more row. Returns 1, 0 at the end, or -1. */
static int next_row(struct list *l)
{
    uint32_t member = 0;
    struct job *job = NULL;
    if (!l->live_over)
        job = l->newest ? previous_live(l, &member) : next_live(l, &member);
    l->live_over = !job;
    if (job && l->newest) {
        put_live(l, job, member);
        return 1;
    }
    if (peek_stored(l) < 0)
        return -1;
    bool stored_first = l->has_stored && (!job || l->stored_id < job->id ||
                                          (l->stored_id == job->id && l->stored_member < member));
    if (stored_first)
        put_stored(l);
    else if (job)
        put_live(l, job, member);
    return stored_first || job;
}

/* ---- Jobs by their ids ---- */

/* Write a member of a job in memory, if it matches. */
static void put_member(struct list *l, struct job *job, uint32_t i)
{
    server_t *s = l->stream.server;
    const struct member *m = member_look(job, i);
    struct store_member member;
    struct job_shown shown;
    bool live = member_is_live(m);
    if (!shows_job(l, job) ||
        !(live ? api_states_fit(&l->states, job, i) : (l->states.bits & 1u << m->state) != 0))
        return;
    job_show(s, job, i, &shown);
    if (!live && !m->run) {
        if (store_read_member(s->store, job->id, i, &member, NULL) < 0)
            return;
        job_show_end(&member, &shown);
    }
    if (live || shown.end >= l->since)
        list_put_row(l, &shown, job->uid);
}

/* Open a cursor on a job that is only in the store, or has just moved there, from the next member on. */
static int open_ended(struct list *l, int64_t id)
{
    struct store_query query = {.uid = -1,
                                .job = id,
                                .states = l->states.bits & OVER_BITS,
                                .since_wall = l->since,
                                .after_job = l->next_member > 0 ? id : -1,
                                .after_member = (int64_t)l->next_member - 1};
    if (id < 1 || query.states == 0)
        return 0;
    l->cursor = store_find(l->stream.server->store, &query, NULL);
    return l->cursor ? 0 : -1;
}

static int next_ended(struct list *l)
{
    struct store_job job;
    struct store_member member;
    struct job_shown shown;
    int rc = next_stored(l, &job, &member);
    if (rc <= 0)
        return rc < 0 ? -1 : 1;
    job_show_stored(&job, &member, &shown);
    list_put_row(l, &shown, job.uid);
    return 1;
}

static int next_by_id(struct list *l)
{
    char *end;
    if (l->cursor)
        return next_ended(l);
    if (!*l->next_id)
        return 0;
    int64_t id = strtoll(l->next_id, &end, 10);
    struct job *job = job_lookup(l->stream.server, id);
    if (job && member_next(job, l->next_member) < job->members) {
        l->next_member = member_next(job, l->next_member) + 1;
        put_member(l, job, l->next_member - 1);
        return 1;
    }
    if (!job && open_ended(l, id) < 0)
        return -1;
    l->next_id = end + (*end == ',');
    l->next_member = 0;
    return 1;
}

/* ---- The stream ---- */

static void list_put_end(struct list *l)
{
    struct strbuf *out = l->json.text;
    strbuf_putc(out, '\n');
    json_close(&l->json, ']');
    json_key(&l->json, "next");
    if (l->left != 0) {
        strbuf_puts(out, "null");
    } else {
        strbuf_putc(out, '"');
        strbuf_put_int(out, l->last_id);
        if (l->last_member >= 0) {
            strbuf_putc(out, '.');
            strbuf_put_int(out, l->last_member);
        }
        strbuf_putc(out, '"');
    }
    json_close(&l->json, '}');
    strbuf_putc(out, '\n');
}

static int list_read(struct server_stream *stream, struct strbuf *out, size_t max)
{
    struct list *l = (struct list *)stream;
    size_t begin = out->len;
    if (l->over)
        return 0;
    l->json.text = out;
    for (size_t looked = 0, seen = begin; out->len - begin < max && !out->failed; looked++) {
        if (out->len != seen)
            looked = 0;
        seen = out->len;
        if (looked == LOOK_MAX)
            return 1;
        int rc = l->left == 0 ? 0 : l->next_id ? next_by_id(l) : next_row(l);
        if (rc < 0)
            return errno == EAGAIN ? 1 : -1;
        if (rc > 0)
            continue;
        list_put_end(l);
        l->over = true;
        return out->failed ? -1 : 0;
    }
    return out->failed ? -1 : 1;
}

static void list_close(struct server_stream *stream)
{
    struct list *l = (struct list *)stream;
    store_cursor_close(l->cursor);
    strbuf_clear(&l->stored);
    free(l->user);
    free(l->queue);
    free(l->name);
    free(l->ids);
    free(l);
}

/* ---- Parameters ---- */

static int read_after(struct call *c, struct list *l, const char *text)
{
    char *end;
    l->id = strtoll(text, &end, 10);
    l->member = INT32_MAX;
    if (end > text && (*end == '.' || *end == '[') && end[1] >= '0' && end[1] <= '9')
        l->member = strtoll(end + 1, &end, 10);
    else if (l->newest)
        l->member = 0;
    if (end == text || (*end && strcmp(end, "]") != 0) || l->id < 0 || l->member < 0 ||
        l->member > INT32_MAX)
        return api_refuse(c, 400, "after", "after: expected ID or ID.MEMBER, got \"%.40s\"", text);
    return 0;
}

/* Find the position among the ids after the last row of a page. */
static int seek_id(struct call *c, struct list *l)
{
    for (char *end; *l->next_id; l->next_id = end + (*end == ',')) {
        if (strtoll(l->next_id, &end, 10) != l->id)
            continue;
        if (l->member < INT32_MAX)
            l->next_member = (uint32_t)l->member + 1;
        else
            l->next_id = end + (*end == ',');
        return 0;
    }
    return api_refuse(c, 400, "after", "after: %lld is not one of the ids", (long long)l->id);
}

static int read_query(struct call *c, struct list *l, struct api_query *q)
{
    const char *order = q[ORDER].value;
    int64_t limit;
    if (api_query_whole(c, &q[LIMIT], &limit) < 0)
        return -1;
    l->left = limit > 0 ? limit : -1;
    if (api_query_whole(c, &q[SINCE], &l->since) < 0)
        return -1;
    l->since = l->since > INT64_MAX / 1000000 ? INT64_MAX : l->since < 0 ? -1 : l->since * 1000000;
    if (limit == 0)
        return api_refuse(c, 400, "limit", "limit: expected a whole number above 0");
    if (order && strcmp(order, "newest") != 0 && strcmp(order, "oldest") != 0)
        return api_refuse(c, 400, "order", "order: expected newest or oldest, got \"%.40s\"",
                          order);
    l->newest = order && strcmp(order, "newest") == 0;
    l->id = l->newest ? INT64_MAX : 0;
    l->member = -1;
    if (q[STATE].value && api_states_read(c, &l->states, q[STATE].value) < 0)
        return -1;
    if (!l->states.bits) {
        bool ended = q[IDS].value || (q[HISTORY].value && strcmp(q[HISTORY].value, "0") != 0);
        l->states = (struct api_states){API_LIVE_BITS | (ended ? OVER_BITS : 0), true, true};
    }
    if (q[IDS].value && strspn(q[IDS].value, "0123456789,") != strlen(q[IDS].value))
        return api_refuse(c, 400, "ids", "ids: expected numbers separated by commas");
    l->user = q[USER].value;
    l->queue = q[QUEUE].value;
    l->name = q[NAME].value;
    l->ids = l->next_id = q[IDS].value;
    q[USER].value = q[QUEUE].value = q[NAME].value = q[IDS].value = NULL;
    if (q[AFTER].value && read_after(c, l, q[AFTER].value) < 0)
        return -1;
    return q[AFTER].value && l->ids ? seek_id(c, l) : 0;
}

static int open_cursor(struct call *c, struct list *l, bool has_after)
{
    berth_error_t why = {""};
    struct store_query query = {.uid = -1,
                                .states = l->states.bits & OVER_BITS,
                                .queue = l->queue,
                                .name = l->name,
                                .since_wall = l->since,
                                .after_job = -1,
                                .after_member = -1,
                                .newest_first = l->newest};
    if (!(l->states.bits & OVER_BITS) || l->ids)
        return 0;
    if (has_after && (!l->newest || !job_lookup(c->s, l->id))) {
        query.after_job = l->id;
        query.after_member = l->member;
        l->live_over = l->newest; /* the last row was an ended member */
    }
    l->cursor = store_find(c->s->store, &query, &why);
    return l->cursor ? 0 : api_wrong(c, &why);
}

void api_jobs_get(struct call *c)
{
    struct api_query q[QUERIES + 1] = {
        [STATE] = {"state", NULL}, [USER] = {"user", NULL},       [QUEUE] = {"queue", NULL},
        [NAME] = {"name", NULL},   [LIMIT] = {"limit", NULL},     [AFTER] = {"after", NULL},
        [ORDER] = {"order", NULL}, [HISTORY] = {"history", NULL}, [SINCE] = {"since", NULL},
        [IDS] = {"ids", NULL}};
    struct list *l = calloc(1, sizeof(*l));
    if (!l) {
        api_refuse(c, 503, NULL, "out of memory");
        return;
    }
    l->stream = (struct server_stream){list_read, list_close, c->s};
    l->caller = *c;
    l->request = *c->request;
    l->caller.request = &l->request;
    if (api_query(c, q) < 0 || read_query(c, l, q) < 0 || open_cursor(c, l, q[AFTER].value) < 0) {
        list_close(&l->stream);
    } else {
        l->json.text = c->out;
        json_open(&l->json, NULL, '{');
        json_open(&l->json, "jobs", '[');
        c->reply->stream = &l->stream;
    }
    api_query_clear(q);
}
