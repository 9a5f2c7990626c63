/* POST /v1/jobs/cancel and the like: apply the action of a single-job route to many jobs: those that exist
 * when the request comes and still match when it is their turn.
 *
 * Jobs are selected by ids, members and ranges, by properties, or by both. A job for which it is too late
 * is only counted if a range or a property selected it, and so is a job that an id names but a property
 * excludes. Other failures are listed in the answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/ids.h"
#include "config/keys.h"
#include "server/api/call_work.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/users.h"

struct action {
    const char *name; /* after "/v1/jobs/" */
    api_action *act;
    const char *body;             /* of a request for one job; NULL: that of this request */
    int (*check)(struct call *c); /* checks that body; NULL: nothing to check */
    bool by_member;               /* a filter chooses single members of an array, else all of it */
    bool is_last_first;           /* jobs in reverse order, as members in api_members */
};

static const struct action actions[] = {
    {"cancel", api_cancel, NULL, NULL, true, true},
    {"hold", api_change, "{\"hold\":true}", NULL, false, true},
    {"release", api_change, "{\"hold\":false}", NULL, false, false},
    {"requeue", api_requeue, NULL, NULL, true, true},
    {"signal", api_signal, NULL, api_signal_check, true, false},
    {"update", api_change, NULL, api_change_check, false, false}};

/* A job or member that the action is applied to, as if requested alone. */
struct target {
    struct call call;
    struct server_reply reply;
    struct progress progress;
    int64_t id;
    char name[48];
    bool is_there, is_ranged; /* is_ranged: selected along with others */
};

struct many {
    struct call_work work;
    struct call *c; /* of the work */
    const struct action *action;
    json_t *arguments; /* the body of a request for one */
    struct ids ids;
    bool has_ids, has_states;
    const char *user, *queue, *name; /* NULL: any */
    struct api_states states;
    int64_t last; /* later jobs are not selected */

    size_t at;       /* the current range of ids */
    bool begun, any; /* it was begun; a job in it was found */
    int64_t next;    /* the offset of the next job or the next member in it */
    uint32_t piece;  /* the current range of members */
    int64_t inside;  /* 0, or the job whose members are being searched */
    uint32_t next_inside;
    struct target target;

    int64_t done, passed_over;
    struct strbuf refused, text; /* the array in the answer, and the reply for one job */
};

/* ---- Parameters ---- */

static int read_ids(struct many *m, json_t *list)
{
    berth_error_t why = {""};
    size_t n = json_array_size(list);
    if (n > API_JOBS_MAX)
        return api_refuse(m->c, 413, "jobs", "expected at most %d jobs at once", API_JOBS_MAX);
    char **words = calloc(n + 1, sizeof(*words));
    int rc = words ? 0 : api_refuse(m->c, 503, NULL, "out of memory");
    for (size_t i = 0; i < n && rc == 0; i++) {
        const json_t *id = json_array_get(list, i);
        if (json_is_integer(id)) {
            if (asprintf(&words[i], "%lld", (long long)json_integer_value(id)) < 0)
                words[i] = NULL;
        } else {
            words[i] = strdup(json_is_string(id) ? json_string_value(id) : "");
        }
        if (!words[i])
            rc = api_refuse(m->c, 503, NULL, "out of memory");
    }
    if (rc == 0 && ids_read(&m->ids, words, n, &why) < 0)
        rc = api_wrong(m->c, &why);
    for (size_t i = 0; words && i < n; i++)
        free(words[i]);
    free(words);
    m->has_ids = true;
    return rc;
}

/* Only administrators may change other users' jobs; without ids or a user, a caller's own jobs are meant. */
static int read_user(struct many *m)
{
    const struct user *own = user_find(m->c->s, m->c->request->peer.uid);
    bool all = m->user && strcmp(m->user, "*") == 0;
    if (m->user && !m->c->admin && (!own || strcmp(own->name, m->user) != 0))
        return api_refuse(m->c, 403, "user", "only administrators may change other users' jobs");
    if (all)
        m->user = NULL;
    else if (!m->user && !m->has_ids && !own)
        return api_refuse(m->c, 403, NULL, "you are not a user of this machine");
    /* a permanent copy: the user may be looked up again meanwhile */
    else if (!m->user && !m->has_ids)
        m->user = server_intern_name(m->c->s, own->name);
    if (!m->user && !m->has_ids && !all)
        return api_refuse(m->c, 503, NULL, "out of memory");
    return 0;
}

static int read_filter(struct many *m, json_t *filter)
{
    struct {
        json_t *ids;
        const char *user, *queue, *name, *state;
    } in = {0};
#define AT(field) ((size_t)((char *)&in.field - (char *)&in))
    const struct key keys[] = {{.name = "ids", .type = KEY_ARRAY, .at = AT(ids)},
                               {.name = "user", .type = KEY_TEXT, .at = AT(user)},
                               {.name = "queue", .type = KEY_TEXT, .at = AT(queue)},
                               {.name = "name", .type = KEY_TEXT, .at = AT(name)},
                               {.name = "state", .type = KEY_TEXT, .at = AT(state)}};
#undef AT
    const struct key_table table = {"jobs: ", keys, sizeof(keys) / sizeof(*keys)};
    const struct key_place place = {"request", 0};
    berth_error_t why = {""};
    if (keys_read(filter, &table, &place, &in, &why) < 0)
        return api_wrong(m->c, &why);
    if (in.ids && read_ids(m, in.ids) < 0)
        return -1;
    if (in.state && api_states_read(m->c, &m->states, in.state) < 0)
        return -1;
    if (m->states.bits & ~API_LIVE_BITS)
        return api_refuse(m->c, 400, "state", "state: expected pending, held or running");
    m->has_states = in.state != NULL;
    m->user = in.user;
    m->queue = in.queue;
    m->name = in.name;
    return read_user(m);
}

/* Read the selection of jobs, and the body for each of them. */
static int read_many(struct many *m)
{
    struct call *c = m->c;
    json_t *jobs = json_object_get(c->body, "jobs");
    if (!json_is_array(jobs) && !json_is_object(jobs))
        return api_refuse(c, 400, "jobs", "key \"jobs\": expected an array of ids, or an object");
    m->arguments = m->action->body ? json_loads(m->action->body, 0, NULL) : json_copy(c->body);
    if (!m->arguments)
        return api_refuse(c, 503, NULL, "out of memory");
    json_object_del(m->arguments, "jobs");
    if (m->action->check) {
        struct call one = *c;
        one.body = m->arguments;
        if (m->action->check(&one) < 0)
            return -1;
    } else if (json_object_size(c->body) > 1) {
        return api_refuse(c, 400, NULL, "expected \"jobs\" and nothing else");
    }
    return json_is_array(jobs) ? read_ids(m, jobs) : read_filter(m, jobs);
}

/* Naming the same jobs over and over could take forever: refuse more than a few times the number of
 * members.
 */
static int check_total(const struct many *m)
{
    const server_t *s = m->c->s;
    size_t most = s->table.n, weight = 0;
    for (size_t i = 0; i <= STORE_TIMEOUT; i++)
        most += s->table.counts[i];
    most = 4 * most + API_JOBS_MAX;
    for (size_t i = 0; i < m->ids.n && weight <= most; i++) {
        const struct ids_range *range = &m->ids.v[i];
        size_t place = job_index(s, range->first);
        for (weight++; place < s->table.n && weight <= most; place++, weight++) {
            if (s->table.jobs[place].number > (uint64_t)range->last)
                break;
            weight += s->table.jobs[place].job ? member_count(s->table.jobs[place].job) : 0;
        }
    }
    return weight <= most ? 0 : api_refuse(m->c, 413, "jobs", "the same jobs are named too often");
}

/* ---- Applying the action ---- */

/* Make a job or a member (-1: all) the next target; ranged: it was selected along with others. */
static void set_target(struct many *m, int64_t id, int64_t member, bool ranged)
{
    struct target *t = &m->target;
    strbuf_reset(&m->text);
    *t = (struct target){.call = *m->c, .reply = {.status = 200}, .is_there = true};
    snprintf(t->name, sizeof(t->name), member < 0 ? "%lld" : "%lld[%lld]", (long long)id,
             (long long)member);
    t->is_ranged = ranged;
    t->call.reply = &t->reply;
    t->call.out = &m->text;
    t->call.rest = t->name;
    t->call.body = m->arguments;
    t->call.id = id <= m->last ? id : 0;
    t->call.member = member;
    t->id = id;
}

static void add_refused(struct many *m)
{
    const struct target *t = &m->target;
    struct json_out out = {.text = &m->refused, .has_value = m->refused.len > 0};
    json_line(&out);
    json_open(&out, NULL, '{');
    json_put_int(&out, "id", t->id);
    json_put_known(&out, "member", t->call.member);
    json_put_int(&out, "status", t->reply.status);
    json_key(&out, NULL);
    m->refused.failed = m->refused.failed || m->text.failed || m->text.len < 2;
    if (!m->refused.failed) /* the inside of {"error": ...} */
        strbuf_put(&m->refused, m->text.data + 1, m->text.len - 2);
}

/* Apply the action to the target. 1: finished; 0: the steps are used up. */
static int act(struct many *m, size_t *steps)
{
    struct target *t = &m->target;
    if (*steps == 0 || !m->action->act(&t->call, &t->progress, steps))
        return 0;
    t->is_there = false;
    progress_clear(&t->progress);
    t->progress.had = NULL;
    if (t->reply.status == 200)
        m->done++;
    else if (t->is_ranged && (t->reply.status == 404 || t->reply.status == 409))
        m->passed_over++;
    else
        add_refused(m);
    return 1;
}

static bool job_matches(const struct many *m, const struct job *job)
{
    return (!m->user || strcmp(m->user, job->user) == 0) &&
           (!m->queue || strcmp(m->queue, job->queue) == 0) &&
           (!m->name || strcmp(m->name, job->name) == 0);
}

/* How many members of a job are in the selected states; all live ones if none are selected. */
static uint32_t count_fitting(const struct many *m, const struct job *job)
{
    uint32_t n = 0;
    if (!m->has_states)
        return job->live;
    for (uint32_t i = 0; (i = member_next(job, i)) < job->members; i++)
        n += api_states_fit(&m->states, job, i);
    return n;
}

/* Target all of a job, or its members that match. */
static void target_job(struct many *m, struct job *job, bool ranged)
{
    uint32_t n = job_matches(m, job) ? count_fitting(m, job) : 0;
    if (n == 0) {
        m->passed_over += m->has_ids;
    } else if (n == job->live || !m->action->by_member || m->action->act == api_cancel) {
        set_target(m, job->id, -1, ranged);
        m->target.progress.states = m->action->by_member && n < job->live ? &m->states : NULL;
    } else {
        m->inside = job->id;
        m->next_inside = 0;
    }
}

/* Target the next matching member of a job. */
static void target_member(struct many *m)
{
    struct job *job = job_lookup(m->c->s, m->inside);
    if (!job || m->next_inside >= job->members) {
        m->inside = 0;
        return;
    }
    uint32_t i = member_next(job, m->next_inside);
    m->next_inside = i + 1;
    if (i < job->members && api_states_fit(&m->states, job, i))
        set_target(m, job->id, i, true);
}

static void next_range(struct many *m)
{
    m->at++;
    m->begun = false;
}

/* The first (or last) job in a range of ids; NULL: there is none. */
static struct job *job_between(const server_t *s, int64_t first, int64_t last, bool is_last_first)
{
    size_t from = job_index(s, first), end = job_index(s, last + 1);
    while (from < end && !s->table.jobs[is_last_first ? end - 1 : from].job) {
        from += !is_last_first;
        end -= is_last_first;
    }
    return from < end ? s->table.jobs[is_last_first ? end - 1 : from].job : NULL;
}

/* Target the next job of a range. */
static void target_between(struct many *m, const struct ids_range *range)
{
    bool backwards = m->action->is_last_first;
    int64_t last = range->last < m->last ? range->last : m->last;
    struct job *job = backwards ? job_between(m->c->s, range->first, last - m->next, true)
                                : job_between(m->c->s, range->first + m->next, last, false);
    if (!job) {
        m->passed_over += m->has_ids && !m->any;
        next_range(m);
        return;
    }
    m->any = true;
    m->next = backwards ? last - job->id + 1 : job->id - range->first + 1;
    target_job(m, job, true);
}

/* Whether a range names all members of an array. */
static bool names_all(const struct ids_range *range, const struct job *job)
{
    const struct idset *named = &range->members, *all = &job->indices;
    const struct idset_range each = {0, job->members - 1, 0};
    const struct idset plain = {(struct idset_range *)&each, 1, 1, job->members};
    return idset_covers(named, all->n > 0 ? all : &plain);
}

/* Target the next member that a range names; all of them at once where the array as a whole is meant. */
static void target_range_member(struct many *m, const struct ids_range *range)
{
    if (m->piece == range->members.n) {
        next_range(m);
        return;
    }
    bool ranged = range->members.count > 1;
    struct job *job = job_lookup(m->c->s, range->first);
    if (ranged && job && job->live > 0 && !m->has_states && job->id <= m->last &&
        names_all(range, job)) {
        target_job(m, job, true);
        next_range(m);
        return;
    }
    if (json_object_get(m->arguments,
                        "queue")) { /* which is refused: once, however many they are */
        set_target(m, range->first, m->next, false);
        next_range(m);
        return;
    }
    int64_t last = range->members.v[m->piece].hi, end = job ? job->members : 0;
    if (m->next <= last && !idset_has(&range->members, (uint32_t)m->next))
        m->next = idset_next(&range->members, (uint32_t)m->next);
    int64_t k = ranged && m->next < end ? member_next(job, (uint32_t)m->next) : m->next;
    if (k < end && k <= last && !idset_has(&range->members, (uint32_t)k)) {
        m->next = k;
        return;
    }
    if (k > last || (ranged && k >= end)) {
        m->passed_over += k <= last;
        m->piece++;
        if (m->piece < range->members.n)
            m->next = range->members.v[m->piece].lo;
        return;
    }
    m->next = k + 1;
    if (k < end && member_exists(job, k) && job->members > 1 &&
        (!job_matches(m, job) || (m->has_states && !api_states_fit(&m->states, job, (uint32_t)k))))
        m->passed_over++;
    else
        set_target(m, range->first, k, ranged);
}

static void begin_range(struct many *m, const struct ids_range *range)
{
    m->begun = true;
    m->any = false;
    m->piece = 0;
    m->next = range->has_members && range->members.n > 0 ? range->members.v[0].lo : 0;
}

/* Search for the next target, one step. False: there are no more. */
static bool advance_target(struct many *m)
{
    static const struct ids_range all = {.first = 1, .last = INT64_MAX};
    if (m->inside) {
        target_member(m);
        return true;
    }
    if (m->at == (m->has_ids ? m->ids.n : 1))
        return false;
    const struct ids_range *range = m->has_ids ? &m->ids.v[m->at] : &all;
    if (!m->begun)
        begin_range(m, range);
    if (range->has_members) {
        target_range_member(m, range);
    } else if (range->first != range->last) {
        target_between(m, range);
    } else {
        struct job *job = job_lookup(m->c->s, range->first);
        next_range(m);
        if (job && job->live > 0 && job->id <= m->last)
            target_job(m, job, false);
        else
            set_target(m, range->first, -1, false);
    }
    return true;
}

static void put_totals(struct many *m)
{
    struct call *c = m->c;
    struct json_out out = {.text = c->out};
    json_open(&out, NULL, '{');
    json_put_int(&out, "done", m->done);
    json_put_int(&out, "passed_over", m->passed_over);
    json_open(&out, "refused", '[');
    strbuf_put(c->out, m->refused.data, m->refused.len);
    strbuf_puts(c->out, "]}\n");
    c->out->failed = c->out->failed || m->refused.failed;
    c->reply->wait = m->done > 0;
}

static int many_step(struct server_work *work, size_t *steps)
{
    struct many *m = (struct many *)work;
    bool more = true;
    while (more) {
        if (m->target.is_there && !act(m, steps))
            return 0;
        if (*steps == 0)
            return 0;
        work_spend(steps, 1);
        more = advance_target(m);
    }
    put_totals(m);
    return 1;
}

/* The request was refused. */
static int many_refused(struct server_work *work, size_t *steps)
{
    (void)work;
    (void)steps;
    return 1;
}

static void many_clear(struct server_work *work)
{
    struct many *m = (struct many *)work;
    json_decref(m->arguments);
    progress_clear(&m->target.progress);
    ids_clear(&m->ids);
    strbuf_clear(&m->refused);
    strbuf_clear(&m->text);
}

void api_jobs_change(struct call *c)
{
    const char *name = strrchr(c->request->path, '/') + 1;
    struct many *m = (struct many *)call_work_make(c, sizeof(*m));
    if (!m)
        return;
    m->work.work.go = many_step;
    m->work.clear = many_clear;
    m->c = &m->work.call;
    m->last = c->s->table.next - 1;
    m->action = actions;
    while (strcmp(m->action->name, name) != 0)
        m->action++; /* every route has an action */
    if (read_many(m) < 0 || check_total(m) < 0)
        m->work.work.go = many_refused;
    call_work_start(c, &m->work);
}
