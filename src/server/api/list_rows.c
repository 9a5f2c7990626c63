/* Rows of GET /v1/jobs: one for each member, or for each array, written piece by piece.
 *
 * Live members are in memory, and so are those whose end is not stored yet; the others are in the store. In the order of
 * submission both are merged; newest first, those in memory come before those in the store, whose last end comes first. An
 * array that is one row stands among those in memory until the end of its last member is stored.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_query.h"
#include "server/api/labels.h"
#include "server/api/list.h"
#include "server/core/members.h"
#include "server/core/priv.h"

#define SUM_MAX 2048 /* members counted before other requests have their turn */

static bool list_matches(const struct list *l, const char *user, const char *queue,
                         const char *name)
{
    return (!l->user || strcmp(l->user, user) == 0) &&
           (!l->queue || strcmp(l->queue, queue) == 0) && (!l->name || strcmp(l->name, name) == 0);
}

/* Names and labels are known to the owner and to administrators. */
static bool may_match(const struct list *l, uint32_t uid)
{
    return (!l->name && !l->label) || api_owns(&l->caller, uid);
}

static bool shows_job(const struct list *l, const struct job *job)
{
    return list_matches(l, job->user, job->queue, job->name) && may_match(l, job->uid) &&
           (!l->label || labels_fit(labels_of_row(job->row, strlen(job->row)), l->label));
}

static bool shows_stored(const struct list *l, const struct store_job *job)
{
    return list_matches(l, job->user, job->queue, job->name) && may_match(l, job->uid) &&
           (!l->label || labels_fit(labels_of_request(job->request), l->label));
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

/* The start of a job that is promised to another one of its members, and why this waits; -1: unknown. */
static int64_t ask_behind(struct list *l, sched_job_t handle)
{
    struct sched_annotation a;
    if (sched_annotate(l->stream.server->sched, handle, &a) < 0)
        return -1;
    sched_reason_text(&a.reason, l->why);
    return a.start;
}

/* When a member starts at the earliest that is promised nothing. All of an array that wait have one answer. */
static void show_not_before(struct list *l, const struct job *job, uint32_t i,
                            struct job_shown *shown)
{
    server_t *s = l->stream.server;
    const struct member *m = member_look(job, i);
    sched_job_t handle = m->state == STORE_PENDING ? member_handle(job, i) : -1;
    if (handle < 0 || shown->estimate >= 0 || server_pause_reason(s, job, m))
        return;
    bool is_behind = member_is_behind(s, job, i);
    if (is_behind && shown->reason) /* it waits for its gang */
        return;
    if (handle != l->estimated && l->estimates < LIST_ESTIMATES) {
        *l->why = '\0';
        l->not_before = is_behind ? ask_behind(l, handle) : sched_not_before(s->sched, handle);
        l->estimated = handle;
        l->estimates++;
        l->estimates_now++;
    }
    if (handle != l->estimated || l->not_before < 0)
        return;
    shown->estimate = server_start_time(s, l->not_before);
    shown->not_before = shown->estimate >= 0;
    if (is_behind && *l->why)
        shown->reason = l->why;
}

/* ---- Arrays as a whole ---- */

static bool counts_fit(const struct list *l, const uint32_t *counts, uint32_t held)
{
    if ((held > 0 && l->states.held) || (counts[STORE_PENDING] > held && l->states.pending))
        return true;
    for (int i = STORE_PENDING + 1; i <= STORE_TIMEOUT; i++)
        if (counts[i] > 0 && (l->states.bits & 1u << i))
            return true;
    return false;
}

static void close_array(struct list *l, const struct job_shown *shown, uint32_t uid,
                        const struct array_sum *sum, struct json_out *json)
{
    job_put(l->stream.server, json, shown, api_owns(&l->caller, uid));
    array_sum_put(json, sum);
    json_close(json, '}');
}

static void put_array(struct list *l, const struct job *job)
{
    struct array_sum sum = {0};
    struct job_shown shown;
    array_sum_job(&sum, job);
    array_show(l->stream.server, job, &sum, &shown);
    show_not_before(l, job, array_sum_first(l->stream.server, &sum, job), &shown);
    begin_row(l, job->id, -1);
    close_array(l, &shown, job->uid, &sum, &l->json);
    array_sum_clear(&sum);
}

/* Begin to count the members of an array that is over. */
static int begin_sum(struct list *l, int64_t id)
{
    l->part = store_find_members(l->stream.server->store, id, NULL);
    l->part_id = id;
    array_sum_clear(&l->sum);
    return l->part ? 0 : -1;
}

/* All are counted: make its row, if it matches. A job that was deleted meanwhile has none. */
static int end_sum(struct list *l)
{
    struct store_job job;
    struct job_shown shown;
    store_cursor_close(l->part);
    l->part = NULL;
    if (!l->sum.any || l->sum.end < l->since)
        return 0;
    if (store_read_job(l->stream.server->store, l->part_id, &job, NULL) < 0)
        return errno == ENOENT ? 0 : -1;
    array_sum_added(&l->sum, job.indices);
    if (!array_sum_has(&l->sum, l->states.bits))
        return 0;
    if (!shows_stored(l, &job))
        return 0;
    array_show_stored(&job, &l->sum, &shown);
    strbuf_reset(&l->stored);
    close_array(l, &shown, job.uid, &l->sum, &(struct json_out){.text = &l->stored});
    l->stored_id = job.id;
    l->stored_member = -1;
    l->has_stored = true;
    return 0;
}

/* Count more of its members. Returns 0, or -1 (EAGAIN: to be continued). */
static int go_on_sum(struct list *l)
{
    struct store_member member;
    for (int i = 0; i < SUM_MAX; i++) {
        int rc = store_next(l->part, NULL, &member, NULL);
        if (rc <= 0)
            return rc < 0 ? -1 : end_sum(l);
        array_sum_add(&l->sum, &member);
    }
    errno = EAGAIN;
    return -1;
}

/* ---- Members in memory: jobs come and go between calls, so each search starts at the last row ---- */

/* Whether a member is listed from memory. */
static bool is_told(const struct list *l, const struct job *job, uint32_t i)
{
    const struct member *m = member_look(job, i);
    if (member_is_live(m))
        return api_states_fit(&l->states, job, i);
    return (l->states.bits & 1u << m->state) && member_is_unsaved(job, i) &&
           l->since <= l->stream.server->clock.wall;
}

/* Whether the list has one row for the whole job. */
static bool is_one_row(const struct list *l, const struct job *job)
{
    return l->arrays && job->members > 1;
}

/* The same job's row is not written again. An array that is over is in memory until its last end is stored. */
static bool array_follows(const struct list *l, const struct job *job)
{
    bool is_asked_for = job->live > 0 || l->since <= l->stream.server->clock.wall;
    return job->id != l->id && is_asked_for && counts_fit(l, job->counts, job_held(job));
}

static struct job *next_live(struct list *l, uint32_t *member)
{
    server_t *s = l->stream.server;
    size_t place = job_index(s, l->id > 0 ? l->id : 1);
    for (; place < s->table.n; place++) {
        struct job *job = s->table.jobs[place].job;
        if (!job || !shows_job(l, job))
            continue;
        if (is_one_row(l, job) && array_follows(l, job))
            return job;
        uint32_t i = is_one_row(l, job) ? job->members
                     : job->id == l->id ? (uint32_t)(l->member + 1)
                                        : 0;
        for (; (i = member_next(job, i)) < job->members; i++) {
            if (is_told(l, job, i)) {
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
        if (is_one_row(l, job) && array_follows(l, job))
            return job;
        int64_t i = is_one_row(l, job) ? 0 : job->id == l->id ? l->member : (int64_t)job->members;
        while ((i = member_previous(job, i - 1)) >= 0) {
            if (is_told(l, job, (uint32_t)i)) {
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
    l->id = job->id;
    l->member = member;
    if (is_one_row(l, job)) {
        put_array(l, job);
        return;
    }
    job_show(l->stream.server, job, member, &shown);
    if (member_is_live(member_look(job, member)))
        show_not_before(l, job, member, &shown);
    list_put_row(l, &shown, job->uid);
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
    return shows_stored(l, job);
}

/* Fetch the next ended member. Returns 0, or -1 (EAGAIN: to be continued). */
static int peek_stored(struct list *l)
{
    struct store_job job;
    struct store_member member;
    struct job_shown shown;
    for (int looked = 0; (l->cursor || l->part) && !l->has_stored; looked++) {
        if (looked == LIST_LOOK_MAX) {
            errno = EAGAIN;
            return -1;
        }
        if (l->part && go_on_sum(l) < 0)
            return -1;
        if (l->has_stored || !l->cursor)
            break;
        int rc = next_stored(l, &job, &member);
        if (rc < 0)
            return -1;
        if (rc == 0)
            continue;
        if (l->arrays && job.members > 1) {
            if (begin_sum(l, job.id) < 0)
                return -1;
            continue;
        }
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

int list_next(struct list *l)
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
    if (!live && !m->run && !mass_member(job, i)) {
        if (store_read_member(s->store, job->id, i, &member, NULL) < 0)
            return;
        job_show_end(&member, &shown);
    }
    if (live)
        show_not_before(l, job, i, &shown);
    if (live || shown.end >= l->since)
        list_put_row(l, &shown, job->uid);
}

/* Open a cursor on a job that is only in the store, or has just moved there, from the next member on. */
static int open_ended(struct list *l, int64_t id)
{
    struct store_query query = {.uid = -1,
                                .job = id,
                                .states = l->states.bits & LIST_OVER_BITS,
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

/* Go to the next id, with the row of an array, if this one is an array. Returns 1; 0: it is none; -1. */
static int next_array(struct list *l, int64_t id, char *behind)
{
    struct store_job stored;
    const struct job *job = job_lookup(l->stream.server, id);
    if (!l->arrays || (job && job->members == 1))
        return 0;
    if (!job && store_read_job(l->stream.server->store, id, &stored, NULL) < 0)
        return errno == ENOENT ? 0 : -1;
    if (!job && (stored.members == 1 || begin_sum(l, id) < 0))
        return stored.members == 1 ? 0 : -1;
    if (job && shows_job(l, job) && counts_fit(l, job->counts, job_held(job)))
        put_array(l, job);
    l->next_id = behind;
    return 1;
}

int list_next_named(struct list *l)
{
    char *end;
    if (l->part && go_on_sum(l) < 0)
        return -1;
    if (l->has_stored) {
        put_stored(l);
        return 1;
    }
    if (l->cursor)
        return next_ended(l);
    if (!*l->next_id)
        return 0;
    int64_t id = strtoll(l->next_id, &end, 10);
    int rc = next_array(l, id, end + (*end == ','));
    if (rc != 0)
        return rc;
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
