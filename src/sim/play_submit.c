/* A job of a scenario, submitted. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "config/file_text.h"
#include "config/machine_open.h"
#include "config/seconds.h"
#include "jobspec/canonical.h"
#include "sim/play_priv.h"
#include "sim/scenario_event.h"

/* The path of a file that an event names. The caller frees it; NULL with ENOMEM. */
static char *file_name(const struct play *p, const char *name)
{
    const char *folder = p->options.folder;
    struct strbuf path = {0};
    if (folder && *name != '/') {
        strbuf_puts(&path, folder);
        if (path.len > 0 && path.data[path.len - 1] != '/')
            strbuf_putc(&path, '/');
    }
    strbuf_puts(&path, name);
    return strbuf_steal(&path);
}

char *play_read_file(const struct play *p, const char *name, size_t max, size_t *length,
                     berth_error_t *err)
{
    struct text text = {0};
    char *path = file_name(p, name);
    if (path && text_read(&text, path, max) == 0) {
        free(path);
        *length = text.length;
        return text.bytes;
    }
    int errnum = path ? errno : ENOMEM;
    text_clear(&text);
    errtext_set(err, errnum, "%s: %s", path ? path : name, strerror(errnum));
    free(path);
    errno = errnum;
    return NULL;
}

/* The units of what a job asks for. */
static struct job_units units_asked(const struct play *p, const struct job_keys *k)
{
    const match_t *m = p->options.machine;

    return (struct job_units){k->memory ? config_memory_unit(m) : 0,
                              k->gpu_memory ? config_gpu_memory_unit(m) : 0};
}

char *play_jobspec(const struct play *p, const struct job_keys *k, size_t *length,
                   berth_error_t *err)
{
    char *text;
    json_t *jobspec = k->jobspec;
    if (json_is_string(jobspec))
        return play_read_file(p, json_string_value(jobspec), JOBSPEC_TEXT_MAX, length, err);
    if (jobspec)
        text = json_dumps(jobspec, JSON_COMPACT);
    else
        text = scenario_jobspec(k, units_asked(p, k), err);
    if (!text && jobspec)
        errtext_no_memory(err);
    *length = text ? strlen(text) : 0;
    return text;
}

/* Roles of a request, with texts of their own, and the jobspec that describes the gang, or NULL. */
struct roles {
    struct role_keys *keys;
    jobspec_t *spec;
    struct sched_role role[SCHED_ROLES_MAX];
    size_t n;
};

static void roles_clear(struct roles *r)
{
    for (size_t i = 0; i < r->n; i++)
        free((char *)r->role[i].jobspec);
    free(r->keys);
    jobspec_destroy(r->spec);
}

/* The roles that a submission names. Returns 0, or -1 with a text. */
static int make_roles(const struct play *p, const struct scenario_submit *s, struct roles *r,
                      berth_error_t *err)
{
    *r = (struct roles){0};
    int n =
        s->gang.roles ? scenario_roles(s->gang.roles, &(struct key_place){0}, &r->keys, err) : 0;
    for (int i = 0; i < n; i++) {
        const struct role_keys *k = &r->keys[i];
        struct sched_role *role = &r->role[i];
        *role = (struct sched_role){
            .name = k->role, .members = (uint32_t)k->count, .min = (uint32_t)k->min};
        role->jobspec = play_jobspec(p, &k->ask, &role->jobspec_length, err);
        if (!role->jobspec)
            return -1;
        r->n++;
    }
    return n < 0 ? -1 : 0;
}

/* What the core does not know of a submission. */
struct unknown {
    const struct idset *which; /* of an array's members; NULL: so many as the request says */
    const char *array;         /* of gangs, of which it is one; NULL */
    int64_t runtime, stopping;
    enum scenario_end ends;
};

/* The jobs of a submission are these members. Returns 0, or -1 with ENOMEM. */
static int name_members(struct play *p, uint32_t number, const struct idset *which)
{
    struct play_job *job = &p->jobs[p->submissions[number].first];
    for (uint32_t i = idset_first(which); i != IDSET_NONE; i = idset_next(which, i))
        job++->member = i;
    return play_note_indices(p, number);
}

/* Add a submission, and submit its request to the core. Returns 0, or -1, with EEXIST if there is a job of
 * that name.
 */
static int submit_request(struct play *p, struct sched_request *request, const struct unknown *u)
{
    uint32_t number, n = request->members > 1 ? request->members : 1;
    if (play_add(p, request->id, u->which ? (uint32_t)u->which->count : n, &number) < 0 ||
        (u->array && play_join_array(p, number, u->array) < 0) ||
        (u->which && name_members(p, number, u->which) < 0))
        return -1;
    struct play_submission *s = &p->submissions[number];
    request->indices = s->indices;
    s->runtime = u->runtime;
    s->stopping = u->stopping;
    s->ends = u->ends;
    if (play_intern(p, request->queue, &s->queue) < 0 ||
        play_intern(p, request->user, &s->user) < 0)
        return -1;
    request->tag = number;
    s->handle = sched_submit(p->d.sched, p->d.now, request);
    if (s->handle < 0)
        return -1;
    for (uint32_t i = 0; i < s->n; i++)
        p->jobs[s->first + i].held = request->hold;
    return 0;
}

static struct sched_request request_of_scenario(const struct scenario_submit *s)
{
    const struct job_keys *k = &s->job;
    return (struct sched_request){
        .duration = k->limit,
        .estimate = k->estimate,
        .priority = k->priority,
        .id = s->id,
        .queue = k->queue,
        .account = k->account,
        .user = s->user,
        .name = k->name,
        .dependency = k->dependency,
        .begin = s->begin,
        .deadline = s->deadline,
        .hold = k->hold,
        .preemptible_after = k->preemptible_after,
    };
}

/* The gang that the jobspec in a request describes, if it does and the submission says nothing of one. A wrong jobspec is
 * for the core to refuse. Returns 0, or -1 with ENOMEM, or EINVAL and a text.
 */
static int take_gang(const struct scenario_submit *s, struct sched_request *request,
                     struct roles *r, berth_error_t *err)
{
    if (!s->job.jobspec || s->gang.gang > 0)
        return 0;
    r->spec = jobspec_parse(request->jobspec, request->jobspec_length, NULL, NULL);
    if (!r->spec || r->spec->gang.members == 0)
        return 0;
    const struct jobspec_gang *gang = &r->spec->gang;
    request->failure = (enum sched_gang_failure)gang->failure;
    request->members = gang->members;
    request->min = gang->roles ? 0 : gang->min;
    if (gang->roles)
        request->jobspec = NULL; /* each of them has its own */
    for (; r->n < gang->nroles; r->n++) {
        const struct jobspec_role *role = &gang->roles[r->n];
        char *text = jobspec_of_role(r->spec, role);
        if (!text)
            return errtext_no_memory(err);
        r->role[r->n] = (struct sched_role){role->name, text, strlen(text), role->count, role->min};
    }
    request->roles = r->role;
    request->n_roles = r->n;
    return 0;
}

static bool is_gang(const struct sched_request *request)
{
    return request->min > 0 || request->n_roles > 0;
}

/* The members of an array, and how many of them may run at once. Returns 0, or -1 with a text. */
static int fill_array(const struct scenario_submit *s, struct sched_request *request,
                      struct members *members, berth_error_t *err)
{
    if (job_keys_members(&s->job, "", &(struct key_place){0}, members, err) < 0)
        return -1;
    request->members = idset_last(&members->indices) + 1;
    request->max_running = members->most;
    return 0;
}

/* What is to be placed: one member's jobspec or the roles', and how many members; those of an array are in *members. Texts
 * are in *text and *roles. Returns 0, or -1 with a text.
 */
static int fill_members(const struct play *p, const struct scenario_submit *s,
                        struct sched_request *request, char **text, struct roles *roles,
                        struct members *members, berth_error_t *err)
{
    if (make_roles(p, s, roles, err) < 0)
        return -1;
    request->roles = roles->role;
    request->n_roles = roles->n;
    request->failure = (enum sched_gang_failure)s->gang.failure;
    for (size_t i = 0; i < roles->n; i++)
        request->members += roles->role[i].members;
    if (roles->n > 0)
        return 0;
    request->jobspec = *text = play_jobspec(p, &s->job, &request->jobspec_length, err);
    if (!*text)
        return -1;
    if (s->gang.gang > 0) {
        request->members = (uint32_t)s->gang.gang;
        request->min = (uint32_t)s->gang.min;
    } else if (take_gang(s, request, roles, err) < 0) {
        return -1;
    }
    return is_gang(request) ? 0 : fill_array(s, request, members, err);
}

/* The indices of an array of gangs. Returns 0, or -1 with a text and nothing to clear. */
static int read_gangs(const struct scenario_submit *s, const struct sched_request *request,
                      struct members *gangs, berth_error_t *err)
{
    if (job_keys_members(&s->job, "", &(struct key_place){0}, gangs, err) < 0)
        return -1;
    if (gangs->indices.count * request->members <= MEMBERS_MAX)
        return 0;
    members_clear(gangs);
    return errtext_set(err, EINVAL, "key \"array\": expected gangs of %d members in all at most",
                       MEMBERS_MAX);
}

/* Submit an array of gangs: "a.3" is the one with the index 3. Each has the same request, but for its id. Returns 0, or -1
 * with errno and perhaps a text.
 */
static int submit_gangs(struct play *p, const struct scenario_submit *s,
                        struct sched_request *request, struct unknown *u, berth_error_t *err)
{
    char id[SCENARIO_ID_MAX + 1 + STRBUF_NUMBER_MAX + 1];
    struct play_range taken;
    struct members gangs;
    int rc = 0;
    if (play_find(p, s->id, strlen(s->id), &taken)) {
        errno = EEXIST;
        return -1;
    }
    if (read_gangs(s, request, &gangs, err) < 0)
        return -1;
    u->array = s->id;
    request->name = s->job.name ? s->job.name : s->id;
    request->gangs = s->id;
    request->gangs_at_once = gangs.most;
    for (uint32_t i = idset_first(&gangs.indices); i != IDSET_NONE && rc == 0;
         i = idset_next(&gangs.indices, i)) {
        int length = snprintf(id, sizeof(id), "%s.%u", s->id, (unsigned)i);
        request->id = id;
        rc = length > SCENARIO_ID_MAX
                 ? errtext_set(err, EINVAL, "key \"id\": expected at most %d bytes with \".%u\"",
                               SCENARIO_ID_MAX, (unsigned)i)
                 : submit_request(p, request, u);
        if (rc < 0 && errno == EEXIST)
            errtext_set(err, EEXIST, "there is a job \"%s\" already", id);
    }
    members_clear(&gangs);
    request->id = s->id;
    return rc;
}

int play_submit(struct play *p, const struct scenario_event *e, berth_error_t *err)
{
    const struct scenario_submit *s = &e->submit;
    struct sched_request request = request_of_scenario(s);
    struct roles roles;
    const struct config_user *user = config_user(p->config, s->user);
    const char **groups = NULL;
    berth_error_t why = {""};
    char *text = NULL, *dependency = NULL;
    struct members members = {0};
    struct unknown unknown = {NULL, NULL, s->runtime, s->stopping, (enum scenario_end)s->status};
    int rc = fill_members(p, s, &request, &text, &roles, &members, &why);
    if (members.indices.count > 0)
        unknown.which = &members.indices;
    if (rc == 0)
        rc = keys_texts(s->groups, &groups, &request.n_groups);
    request.groups = groups;
    if (!s->groups && user) {
        request.groups = user->groups;
        request.n_groups = user->n_groups;
    }
    if (rc == 0 && request.dependency &&
        !(request.dependency = dependency = play_dependency(p, request.dependency, &why)))
        rc = -1;
    if (rc == 0)
        rc = s->job.array && is_gang(&request) ? submit_gangs(p, s, &request, &unknown, &why)
                                               : submit_request(p, &request, &unknown);
    if (rc < 0 && errno == EEXIST && !*why.text)
        snprintf(why.text, sizeof(why.text), "there is a job \"%s\" already", s->id);
    if (rc < 0)
        play_refuse(p, e, errno, *why.text ? why.text : strerror(errno), err);
    free(groups);
    free(text);
    free(dependency);
    members_clear(&members);
    roles_clear(&roles);
    return rc;
}

int play_submit_traced(struct play *p, berth_error_t *err)
{
    const struct trace *t = p->options.trace;
    size_t i = p->order ? p->order[p->traced] : p->traced;
    const struct schedule_job *j = &t->jobs[i];
    struct sched_request request;
    char id[STRBUF_NUMBER_MAX + 1];
    p->traced++;
    if (queues_request(&p->request, p->config, j, t->who ? &t->who[i] : NULL, &request) < 0)
        return errtext_no_memory(err);
    snprintf(id, sizeof(id), "%" PRId64, j->id);
    request.id = id;
    request.duration *= SECONDS_TICKS;
    int64_t runs = j->run < j->limit ? j->run : j->limit; /* killed at its limit */
    struct unknown unknown = {.runtime = runs * SECONDS_TICKS, .ends = SCENARIO_DONE};
    if (submit_request(p, &request, &unknown) == 0)
        return 0;
    return errtext_set(err, errno, "the trace's job %s: %s", id,
                       errno == EEXIST ? "there is one of that name already" : strerror(errno));
}
