/* POST /v1/jobs/cancel and the like: what a route does to one job, done to many, all durable with one commit.
 *
 * Jobs are named by ids, members and ranges, by what they have in common, or by both. Those that a range or a property
 * happens to name and for which it is too late are counted, as are those that an id names and a property does not; others
 * are told.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/ids.h"
#include "config/keys.h"
#include "server/api.h"
#include "server/job_text.h"

struct action {
    const char *name; /* behind "/v1/jobs/" */
    void (*route)(struct call *c);
    const char *body;             /* of a request for one job; NULL: what comes with the jobs */
    int (*check)(struct call *c); /* of that; NULL: nothing does */
    bool by_member;               /* of an array's members only some can be meant */
};

static const struct action actions[] = {{"cancel", api_job_delete, NULL, NULL, true},
                                        {"hold", api_job_patch, "{\"hold\":true}", NULL, false},
                                        {"release", api_job_patch, "{\"hold\":false}", NULL, false},
                                        {"requeue", api_job_requeue, NULL, NULL, true},
                                        {"signal", api_job_signal, NULL, api_signal_check, true},
                                        {"update", api_job_patch, NULL, api_change_check, false}};

struct many {
    struct call *c;
    const struct action *action;
    json_t *arguments; /* the body of a request for one */
    struct ids ids;
    bool has_ids, has_states;
    const char *user, *queue, *name; /* NULL: any */
    struct api_states states;
    int64_t done, passed_over;
    struct strbuf refused, text; /* the answer's array, and that of one job */
};

/* ---- What is asked for ---- */

static int read_ids(struct many *m, json_t *list)
{
    berth_error_t why = {""};
    size_t n = json_array_size(list);
    if (n > API_JOBS_MAX)
        return api_refuse(m->c, 413, "jobs", "at most %d jobs are taken at once", API_JOBS_MAX);
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

/* Others' jobs are for administrators; who names none means their own. */
static int read_user(struct many *m)
{
    const struct user *own = user_find(m->c->s, m->c->request->peer.uid);
    if (m->user && !m->c->admin && (!own || strcmp(own->name, m->user) != 0))
        return api_refuse(m->c, 403, "user", "only administrators may change jobs of others");
    if (m->user && strcmp(m->user, "*") == 0)
        m->user = NULL;
    else if (!m->user && !m->has_ids && !own)
        return api_refuse(m->c, 403, NULL, "you are no user of this machine");
    else if (!m->user && !m->has_ids)
        m->user = own->name;
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

/* Which jobs, and what goes to each of them. */
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

/* Jobs that are named again and again would take for ever: refuse more members than a few times those that there are. */
static int weigh(const struct many *m)
{
    const server_t *s = m->c->s;
    size_t most = s->n_jobs, weight = 0;
    for (size_t i = 0; i <= STORE_TIMEOUT; i++)
        most += s->counts[i];
    most = 4 * most + API_JOBS_MAX;
    for (size_t i = 0; i < m->ids.n && weight <= most; i++) {
        const struct ids_range *range = &m->ids.v[i];
        size_t place = job_place(s, range->first);
        for (weight++; place < s->n_jobs && weight <= most; place++, weight++) {
            if (s->jobs[place].number > (uint64_t)range->last)
                break;
            weight += s->jobs[place].job ? s->jobs[place].job->members : 0;
        }
    }
    return weight <= most ? 0
                          : api_refuse(m->c, 413, "jobs", "the same jobs are named too many times");
}

/* ---- One after the other ---- */

/* As if it had been asked for alone. member -1: all of the job; ranged: it was named among others. */
static void take(struct many *m, int64_t id, int64_t member, bool ranged)
{
    struct server_reply reply = {.status = 200};
    char name[48];
    struct call one = *m->c;
    strbuf_reset(&m->text);
    snprintf(name, sizeof(name), member < 0 ? "%lld" : "%lld[%lld]", (long long)id,
             (long long)member);
    one.reply = &reply;
    one.out = &m->text;
    one.rest = name;
    one.body = m->arguments;
    one.id = id;
    one.member = member;
    m->action->route(&one);
    if (reply.status == 200) {
        m->done++;
    } else if (ranged && (reply.status == 404 || reply.status == 409)) {
        m->passed_over++;
    } else {
        strbuf_puts(&m->refused, m->refused.len ? ",\n{\"id\":" : "\n{\"id\":");
        strbuf_put_int(&m->refused, id);
        strbuf_puts(&m->refused, ",\"member\":");
        if (member < 0)
            strbuf_puts(&m->refused, "null");
        else
            strbuf_put_int(&m->refused, member);
        strbuf_puts(&m->refused, ",\"status\":");
        strbuf_put_int(&m->refused, reply.status);
        strbuf_putc(&m->refused, ',');
        m->refused.failed = m->refused.failed || m->text.failed || m->text.len < 2;
        if (!m->refused.failed) /* {"error": ...} without its brace and the end of the line */
            strbuf_put(&m->refused, m->text.data + 1, m->text.len - 2);
    }
}

static bool fits(const struct many *m, const struct job *job)
{
    return (!m->user || strcmp(m->user, job->user) == 0) &&
           (!m->queue || strcmp(m->queue, job->queue) == 0) &&
           (!m->name || strcmp(m->name, job->name) == 0);
}

/* How many of a job's members are of the states; all that live if none are named. */
static uint32_t count_fitting(const struct many *m, const struct job *job)
{
    uint32_t n = 0;
    if (!m->has_states)
        return job->live;
    for (uint32_t i = 0; i < job->members; i++)
        n += api_states_fit(&m->states, job, i);
    return n;
}

/* All of a job, or those members of it that are meant. */
static void take_job(struct many *m, struct job *job, bool ranged)
{
    uint32_t n = fits(m, job) ? count_fitting(m, job) : 0;
    if (n == 0) {
        m->passed_over += m->has_ids;
    } else if (n == job->live || !m->action->by_member) {
        take(m, job->id, -1, ranged);
    } else {
        for (uint32_t i = 0; i < job->members; i++)
            if (api_states_fit(&m->states, job, i))
                take(m, job->id, i, true);
    }
}

static void take_between(struct many *m, int64_t first, int64_t last)
{
    server_t *s = m->c->s;
    bool any = false;
    for (size_t place = job_place(s, first); place < s->n_jobs; place++) {
        struct job *job = s->jobs[place].job;
        if (s->jobs[place].number > (uint64_t)last)
            break;
        if (!job)
            continue;
        any = true;
        take_job(m, job, true);
    }
    m->passed_over += m->has_ids && !any;
}

static void take_members(struct many *m, const struct ids_range *range)
{
    bool ranged = range->members.count > 1;
    struct job *job = job_lookup(m->c->s, range->first);
    for (uint32_t i = 0; i < range->members.n; i++) {
        int64_t last = range->members.v[i].hi;
        if (ranged && (!job || last >= job->members))
            last = job ? (int64_t)job->members - 1 : -1;
        m->passed_over += ranged && last < (int64_t)range->members.v[i].hi;
        for (int64_t k = range->members.v[i].lo; k <= last; k++) {
            bool there = job && k < job->members && job->members > 1;
            if (there &&
                (!fits(m, job) || (m->has_states && !api_states_fit(&m->states, job, (uint32_t)k))))
                m->passed_over++;
            else
                take(m, range->first, k, ranged);
        }
    }
}

static void take_ids(struct many *m)
{
    for (size_t i = 0; i < m->ids.n; i++) {
        const struct ids_range *range = &m->ids.v[i];
        struct job *job = job_lookup(m->c->s, range->first);
        if (range->has_members)
            take_members(m, range);
        else if (range->first != range->last)
            take_between(m, range->first, range->last);
        else if (job && job->live > 0)
            take_job(m, job, false);
        else
            take(m, range->first, -1, false);
    }
}

void api_jobs_change(struct call *c)
{
    const char *name = strrchr(c->request->path, '/') + 1;
    struct many m = {.c = c, .action = actions};
    while (strcmp(m.action->name, name) != 0)
        m.action++; /* it has a route, so it is there */
    if (read_many(&m) == 0 && weigh(&m) == 0) {
        if (m.has_ids)
            take_ids(&m);
        else
            take_between(&m, 1, INT64_MAX);
        strbuf_puts(c->out, "{\"done\":");
        strbuf_put_int(c->out, m.done);
        strbuf_puts(c->out, ",\"passed_over\":");
        strbuf_put_int(c->out, m.passed_over);
        strbuf_puts(c->out, ",\"refused\":[");
        strbuf_put(c->out, m.refused.data, m.refused.len);
        strbuf_puts(c->out, "]}\n");
        c->out->failed = c->out->failed || m.refused.failed;
        c->reply->wait = m.done > 0;
    }
    json_decref(m.arguments);
    ids_clear(&m.ids);
    strbuf_clear(&m.refused);
    strbuf_clear(&m.text);
}
