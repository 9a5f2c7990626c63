#include "server/core/job_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "config/gang_keys.h"
#include "config/seconds.h"
#include "server/core/gang.h"
#include "server/core/members.h"
#include "server/core/pilots_auto.h"
#include "server/core/priv.h"
#include "server/core/roles.h"

#define VICTIMS_ASKED 64 /* of one job, by when they are killed */

void job_parts(const char *request, struct job_parts *parts)
{
    static const char *const keys[] = {
        "shown",   "jobspec",     "jobspec_text", "dependency",   "begin",    "preemptible_after",
        "requeue", "warn_signal", "warn_before",  "max_running",  "account",  "min",
        "failure", "retry",       "max_fails",    "notify",       "deadline", "roles",
        "named",   "task_cores",  "gang_array",   "gangs_running"};
    struct json_part v[22];
    json_find(json_part(request, strlen(request)), keys, 22, v);
    *parts = (struct job_parts){v[0],  v[1],  v[2],  v[3],  v[4],  v[5],  v[6],  v[7],
                                v[8],  v[9],  v[10], v[11], v[12], v[13], v[14], v[15],
                                v[16], v[17], v[18], v[19], v[20], v[21]};
}

struct job_gang job_gang_read(const struct job_parts *parts)
{
    int64_t min = json_part_whole(parts->min, 0);
    struct job_gang gang = {.min = min > 0 && min <= MEMBERS_MAX ? (uint32_t)min : 0};
    for (int i = 0; gang.min > 0 && gang_failures[i]; i++)
        if (parts->failure.length == strlen(gang_failures[i]) + 2 &&
            strncmp(parts->failure.at + 1, gang_failures[i], parts->failure.length - 2) == 0)
            gang.failure = (enum sched_gang_failure)i;
    return gang;
}

static bool part_has_word(struct json_part part, const char *word)
{
    return part.at && memmem(part.at, part.length, word, strlen(word));
}

int64_t json_part_whole(struct json_part part, int64_t otherwise)
{
    json_part_int(part, &otherwise);
    return otherwise;
}

void job_shape_read(struct job *job, const struct job_parts *parts)
{
    int64_t each = json_part_whole(parts->task_cores, 0);
    job->is_constrained = part_has_word(parts->jobspec, "\"constraints\"") ||
                          part_has_word(parts->jobspec_text, "constraints");
    job->free_tasks =
        each > 0 && !part_has_word(parts->jobspec, "\"node\"") ? job->cores / each : 0;
}

/* The roles of a gang, of which the names are the job's. Returns 0, or -1 with ENOMEM. */
static int read_roles(const struct job *job, struct json_part list, struct job_request *q)
{
    static const char *const keys[] = {"jobspec", "jobspec_text"};
    struct json_part v[2];
    for (size_t i = 0; job->roles && i < job->roles->n; i++) {
        const struct job_role *from = &job->roles->role[i];
        struct sched_role *to = &q->role[i];
        json_find(job_roles_part(list, i), keys, 2, v);
        if (json_part_copy(v[1], &q->role_jobspec[i]) < 0)
            return -1;
        const char *text = q->role_jobspec[i];
        *to = (struct sched_role){.name = from->name, .members = from->count, .min = from->min};
        to->jobspec = text ? text : v[0].at;
        to->jobspec_length = text ? strlen(text) : v[0].length;
        q->request.n_roles = i + 1;
        q->request.roles = q->role;
    }
    return 0;
}

/* The array of gangs that one is of: gangs of one list that differ in how many may run are of different ones. */
static void name_gangs(const struct job_parts *parts, struct job_request *q)
{
    int64_t most = json_part_whole(parts->gangs_running, 0);
    if (most <= 0)
        return;
    snprintf(q->gangs, sizeof(q->gangs), "%" PRId64 "%%%" PRId64,
             json_part_whole(parts->gang_array, 0), most);
    q->request.gangs = q->gangs;
    q->request.gangs_at_once = (uint32_t)most;
}

int job_request_read(const struct job *job, const struct user *user, const struct job_parts *parts,
                     struct job_request *q)
{
    *q = (struct job_request){0};
    snprintf(q->id, sizeof(q->id), "%" PRId64, job->id);
    if (json_part_copy(parts->jobspec_text, &q->jobspec) < 0 ||
        json_part_copy(parts->dependency, &q->dependency) < 0 ||
        json_part_copy(parts->account, &q->account) < 0 ||
        json_part_copy(parts->named, &q->named) < 0) {
        job_request_clear(q);
        return -1;
    }
    q->request = (struct sched_request){
        .duration = job->limit,
        .estimate = job->estimate,
        .priority = job->priority,
        .tag = (uint64_t)job->id,
        .jobspec = q->jobspec ? q->jobspec : parts->jobspec.at,
        .jobspec_length = q->jobspec ? strlen(q->jobspec) : parts->jobspec.length,
        .id = q->id,
        .queue = job->queue,
        .account = q->account,
        .user = job->user,
        .groups = user ? (const char *const *)user->groups : NULL,
        .n_groups = user ? user->n_groups : 0,
        .name = q->named ? q->named : job->name,
        .dependency = q->dependency,
        .begin = json_part_whole(parts->begin, 0),
        .hold = job->held,
        .preemptible_after = json_part_whole(parts->preemptible_after, 0),
        .deadline = json_part_whole(parts->deadline, 0),
        .members = job->members > 1 ? job->members : 0,
        .max_running = (uint32_t)json_part_whole(parts->max_running, 0),
        .min = job->gang.min,
        .failure = job->gang.failure};
    name_gangs(parts, q);
    if (job->indices.n > 0)
        idset_encode_steps(&job->indices, &q->indices);
    if (read_roles(job, parts->roles, q) < 0 || q->indices.failed) {
        job_request_clear(q);
        return -1;
    }
    q->request.indices = job->indices.n > 0 ? strbuf_text(&q->indices) : NULL;
    return 0;
}

void job_request_clear(struct job_request *q)
{
    free(q->jobspec);
    free(q->dependency);
    free(q->account);
    free(q->named);
    for (size_t i = 0; i < SCHED_ROLES_MAX; i++)
        free(q->role_jobspec[i]);
    strbuf_clear(&q->indices);
}

void job_warning_read(const struct job_parts *parts, struct run *run)
{
    run->warn_before = json_part_whole(parts->warn_before, 0);
    run->warn_signal = (int)json_part_whole(parts->warn_signal, 0);
}

const char *job_state_word(enum store_state state, bool held)
{
    static const char *const words[] = {
        [STORE_PENDING] = "pending", [STORE_STARTING] = "running", [STORE_RUNNING] = "running",
        [STORE_DONE] = "done",       [STORE_FAILED] = "failed",    [STORE_CANCELLED] = "cancelled",
        [STORE_TIMEOUT] = "timeout"};
    return state == STORE_PENDING && held ? "held" : words[state];
}

/* The length of the control character here, or 0. */
static size_t control_length(const char *text)
{
    unsigned char c = (unsigned char)text[0], next = (unsigned char)(c ? text[1] : 0);
    return c == 0xc2 && next >= 0x80 && next < 0xa0 ? 2 : c < ' ' || c == 0x7f;
}

bool text_is_plain(const char *text)
{
    while (*text && control_length(text) == 0)
        text++;
    return !*text;
}

void text_make_plain(char *text)
{
    char *to = text;
    for (size_t n; *text; text += n ? n : 1) {
        n = control_length(text);
        *to++ = n ? '?' : *text;
    }
    *to = '\0';
}

char *event_text(const char *key, const char *text)
{
    struct strbuf data = {0};
    struct json_out out = {.text = &data};
    json_open(&out, NULL, '{');
    json_put_text(&out, key, text);
    json_close(&out, '}');
    return strbuf_steal(&data);
}

const char *job_member_name(int64_t id, int64_t member, char out[JOB_NAME_SIZE])
{
    if (member < 0)
        snprintf(out, JOB_NAME_SIZE, "%" PRId64, id);
    else
        snprintf(out, JOB_NAME_SIZE, "%" PRId64 "[%" PRId64 "]", id, member);
    return out;
}

void job_put_id(struct strbuf *out, int64_t id, int64_t member)
{
    strbuf_putc(out, '"');
    strbuf_put_int(out, id);
    if (member >= 0) {
        strbuf_putc(out, '[');
        strbuf_put_int(out, member);
        strbuf_putc(out, ']');
    }
    strbuf_putc(out, '"');
}

void json_put_known(struct json_out *out, const char *key, int64_t number)
{
    if (number == -1)
        json_put_null(out, key);
    else
        json_put_int(out, key, number);
}

static void put_job_holders(server_t *s, struct json_out *out, const struct job_shown *j)
{
    json_open(out, "held_by", '[');
    for (size_t i = 0; i < j->n_holders; i++) {
        struct sched_annotation a;
        if (sched_annotate(s->sched, j->holders[i], &a) < 0)
            continue;
        json_key(out, NULL);
        job_put_id(out->text, (int64_t)a.tag, a.members > 1 ? (int64_t)a.member : -1);
    }
    json_close(out, ']');
}

/* Where the row of an array says %a, each member has its index. File names come before the memory. */
static void put_row_text(struct strbuf *out, const struct job_shown *j)
{
    static const char behind[] = ",\"memory\":";
    const char *at = j->row, *end = j->row + j->row_length;
    const char *files =
        j->member >= 0 ? memmem(at, j->row_length, behind, sizeof(behind) - 1) : NULL;
    while (files && at < files) {
        const char *percent = memmem(at, (size_t)(files - at), "%a", 2);
        strbuf_put(out, at, (size_t)((percent ? percent : files) - at));
        at = percent ? percent + 2 : files;
        if (percent)
            strbuf_put_int(out, j->member);
    }
    strbuf_put(out, at, (size_t)(end - at));
}

/* How long it may last, and is expected to; "duration" is the first of them that is known. */
static void put_times(struct json_out *out, const struct job_shown *j)
{
    int64_t limit = j->limit < SCHED_UNLIMITED ? j->limit : -1;
    int64_t planned = j->planned < SCHED_UNLIMITED ? j->planned : -1;
    json_put_seconds(out, "duration", limit >= 0 ? limit : planned);
    json_put_seconds(out, "limit", limit);
    json_put_seconds(out, "planned", planned);
}

/* What only the owner and administrators see. */
static void put_own(server_t *s, struct json_out *out, const struct job_shown *j)
{
    json_put_text(out, "reason", j->reason);
    json_put_int(out, "priority", j->priority);
    json_put_seconds(out, "submit", j->submit);
    json_put_seconds(out, "start", j->start);
    json_put_seconds(out, "end", j->end);
    json_put_known(out, "exit", j->exit_status);
    json_put_known(out, "signal", j->exit_signal);
    put_times(out, j);
    json_put_seconds(out, "until", j->until);
    json_put_seconds(out, "estimate", j->estimate);
    json_put_bool(out, "not_before", j->not_before);
    if (j->expected)
        json_put_bool(out, "expected", true);
    if (j->deadline >= 0)
        json_put_seconds(out, "deadline", j->deadline);
    json_put_text(out, "resources", j->resources);
    if (j->promised)
        json_put_text(out, "promised", j->promised);
    json_put_uint(out, "attempts", j->attempts);
    if (j->retries > 0)
        json_put_uint(out, "retried", j->retries);
    json_put_known(out, "peak_memory", j->peak_memory);
    json_put_seconds(out, "cpu_time", j->cpu_time);
    json_put_text(out, "how", j->how);
    put_job_holders(s, out, j);
    if (j->row_length > 0) {
        json_key(out, NULL); /* its members are stored as JSON */
        put_row_text(out->text, j);
    }
}

void job_put(server_t *s, struct json_out *out, const struct job_shown *j, bool mine)
{
    json_open(out, NULL, '{');
    json_put_int(out, "id", j->id);
    json_put_known(out, "member", j->member);
    json_put_uint(out, "members", j->members);
    if (*j->role)
        json_put_text(out, "role", j->role);
    json_put_text(out, "name", mine ? j->name : NULL);
    json_put_text(out, "user", j->user);
    json_put_text(out, "queue", j->queue);
    json_put_text(out, "state", j->state);
    json_put_int(out, "nodes", j->nodes);
    json_put_int(out, "cores", j->cores);
    json_put_int(out, "gpus", j->gpus);
    if (mine)
        put_own(s, out, j);
}

/* Whether its exit status is known: it is not if it never ran, or its end was not observed. */
static bool has_exit(enum store_state state, int64_t start_wall, int status)
{
    return state >= STORE_DONE && (status != 0 || (start_wall >= 0 && state != STORE_FAILED));
}

/* Show its exit status, its signal, or neither. */
static void show_exit(struct job_shown *j, enum store_state state, int64_t start_wall, int status,
                      int signal)
{
    j->exit_status = !signal && has_exit(state, start_wall, status) ? status : -1;
    j->exit_signal = signal ? signal : -1;
}

static const char *how_word(int how)
{
    static const char *const words[] = {[SCHED_IMMEDIATE] = "immediate",
                                        [SCHED_BACKFILLED] = "backfilled",
                                        [SCHED_PROMISED] = "reserved"};
    return how >= 0 && how < (int)(sizeof(words) / sizeof(*words)) ? words[how] : NULL;
}

/* What it holds or held, where that is known, in place of what was requested. */
static void show_held(struct job_shown *j, int64_t nodes, int64_t cores, int64_t gpus)
{
    j->nodes = nodes >= 0 ? nodes : j->nodes;
    j->cores = cores >= 0 ? cores : j->cores;
    j->gpus = gpus >= 0 ? gpus : j->gpus;
}

static void show_run(const struct member *m, struct job_shown *j)
{
    const struct run *run = m->run;
    show_held(j, run->holds.nodes, run->holds.cores, run->holds.gpus);
    j->start = run->start_wall;
    j->resources = run->resources;
    j->peak_memory = run->peak_memory;
    j->cpu_time = run->cpu_time;
    j->how = run->key ? how_word(m->how) : NULL;
    if (member_is_live(m))
        return;
    j->end = run->end_wall;
    if (run->key)
        show_exit(j, m->state, run->start_wall, run->exit_status, run->exit_signal);
}

/* What it asks for as one of its role. */
static void show_role(struct job_shown *j, const struct job_role *role)
{
    if (!role)
        return;
    memcpy(j->role, role->name, sizeof(j->role));
    j->nodes = role->nodes;
    j->cores = role->cores;
    j->gpus = role->gpus;
}

/* Fill in what is known of the job, and nothing of its run. */
static void show_job(const struct store_job *job, uint32_t member, enum store_state state,
                     struct job_shown *j)
{
    *j = (struct job_shown){.id = job->id,
                            .member = job->members > 1 ? (int64_t)member : -1,
                            .members = job->count,
                            .name = job->name,
                            .user = job->user,
                            .queue = job->queue,
                            .state = job_state_word(state, job->held),
                            .priority = job->priority,
                            .nodes = job->nodes,
                            .cores = job->cores,
                            .gpus = job->gpus,
                            .limit = job->limit,
                            .planned = job->estimate,
                            .submit = job->submitted_wall,
                            .start = -1,
                            .end = -1,
                            .until = -1,
                            .estimate = -1,
                            .deadline = -1,
                            .exit_status = -1,
                            .exit_signal = -1,
                            .peak_memory = -1,
                            .cpu_time = -1};
}

void job_show_end(const struct store_member *m, struct job_shown *j)
{
    show_held(j, m->nodes, m->cores, m->gpus);
    j->reason = m->reason;
    j->attempts = m->attempts;
    j->retries = m->retries;
    j->start = m->start_wall;
    j->end = m->end_wall;
    j->resources = m->held_resources;
    j->how = how_word(m->how);
    j->peak_memory = m->peak_memory;
    j->cpu_time = m->cpu_time;
    show_exit(j, m->state, m->start_wall, m->exit_status, m->exit_signal);
}

size_t victims_of(const server_t *s, sched_job_t handle, struct victim *victims, size_t most,
                  int64_t *until)
{
    sched_job_t few[VICTIMS_ASKED];
    size_t n = sched_victims(s->sched, handle, few, VICTIMS_ASKED), found = 0;
    *until = s->clock.now;
    for (size_t i = 0; i < n && i < VICTIMS_ASKED; i++) {
        struct sched_annotation a;
        const struct job *job =
            sched_annotate(s->sched, few[i], &a) == 0 ? job_lookup(s, (int64_t)a.tag) : NULL;
        const struct run *run =
            job && a.member < job->members ? member_look(job, a.member)->run : NULL;
        int64_t at = run ? run_killed_at(s, run) : -1;
        *until = at > *until ? at : *until;
        if (job && found < most)
            job_member_name(job->id, job->members > 1 ? (int64_t)a.member : -1,
                            victims[found++].id);
    }
    return n;
}

/* The member that is promised a time for a member: of a gang that is promised one together, its leader; else itself. */
static const struct member *promised_for(const server_t *s, const struct job *job, uint32_t member,
                                         sched_job_t handle)
{
    const struct member *m = member_look(job, member);
    int64_t leader = m->reserved || handle < 0 ? -1 : gang_leader(s, job);
    const struct member *other = leader < 0 ? m : member_look(job, (uint32_t)leader);
    return other->reserved && sched_gang_starts(s->sched, handle, member) ? other : m;
}

/* Why a member waits that is promised no time. */
static const char *reason_shown(server_t *s, const struct job *job, sched_job_t handle,
                                struct job_shown *j)
{
    static const struct sched_reason waits = {.kind = SCHED_REASON_GANG_WAITS};
    struct sched_record r;
    if (auto_reason(s, j->id, j->member, j->text))
        return j->text;
    if (sched_state(s->sched, handle) == SCHED_RESERVED && gang_leader(s, job) >= 0)
        return sched_reason_text(&waits, j->text);
    if (sched_record(s->sched, handle, &r) < 0)
        return j->reason;
    return r.reason && *r.reason ? r.reason : NULL;
}

/* Why a member waits, and until when. */
static void show_waiting(server_t *s, const struct job *job, uint32_t member, sched_job_t handle,
                         struct job_shown *j)
{
    static const struct sched_reason preempting = {.kind = SCHED_REASON_PREEMPTING};
    const struct member *m = member_look(job, member),
                        *promised = promised_for(s, job, member, handle);
    int64_t until;
    const char *hold = server_pause_reason(s, job, m);
    int64_t deadline = sched_deadline(s->sched, handle);
    j->deadline = deadline < SCHED_UNLIMITED ? server_wall_time(s, deadline) : -1;
    j->estimate = server_start_time(s, promised->at);
    if (handle >= 0 && victims_of(s, handle, NULL, 0, &until) > 0) {
        j->estimate = server_wall_time(s, until);
        j->reason = sched_reason_text(&preempting, j->text);
    } else if (promised->reserved && (j->estimate >= 0 || promised->at < 0)) {
        j->reason = promised->expected ? "expected" : "reserved";
        j->expected = promised->expected;
        if (promised != m || handle < 0 || sched_resources(s->sched, handle, &j->promised) < 0)
            j->promised = NULL;
    } else if (handle >= 0) {
        j->reason = reason_shown(s, job, handle, j);
    }
    j->reason = hold ? hold : j->reason;
}

void job_show(server_t *s, const struct job *job, uint32_t member, struct job_shown *j)
{
    const struct member *m = member_look(job, member);
    sched_job_t handle = m->state == STORE_PENDING ? member_handle(job, member) : -1;
    struct store_job kept;
    job_to_store(job, &kept);
    kept.held = member_held(job, m);
    kept.priority = member_priority(job, m);
    kept.limit = member_limit(job, m);
    kept.estimate = member_estimate(job, m);
    show_job(&kept, member, (enum store_state)m->state, j);
    show_role(j, job_role_of(job, member));
    j->reason = m->reason;
    j->attempts = m->attempts;
    j->retries = m->retries;
    j->row = job->row;
    j->row_length = strlen(job->row);
    if (m->run)
        show_run(m, j);
    else if (!member_is_live(m))
        j->end = mass_end_wall(job, member);
    if (m->state == STORE_PENDING) {
        show_waiting(s, job, member, handle, j);
    } else if (member_is_live(m)) {
        j->reason = NULL; /* of an earlier start */
        int64_t lasts = kept.limit < SCHED_UNLIMITED ? kept.limit : kept.estimate;
        if (m->at >= 0 && lasts < SCHED_UNLIMITED)
            j->until = server_wall_time(s, m->at + lasts);
        int64_t killed = m->run ? run_killed_at(s, m->run) : -1;
        if (killed >= 0)
            j->until = server_wall_time(s, killed);
    }
}

static void show_stored_role(struct job_shown *j, struct json_part list, uint32_t member)
{
    struct job with = {0};
    if (list.at && job_roles_read(list, &with.roles) == 0)
        show_role(j, job_role_of(&with, member));
    free(with.roles);
}

void job_show_stored(const struct store_job *job, const struct store_member *m, struct job_shown *j)
{
    static const char *const keys[] = {"shown", "roles"};
    struct json_part v[2];
    json_find(json_part(job->request, strlen(job->request)), keys, 2, v);
    struct json_part shown = v[0];
    show_job(job, m->member, m->state, j);
    show_stored_role(j, v[1], m->member);
    job_show_end(m, j);
    j->priority = m->own_priority ? m->priority : job->priority;
    j->limit = m->own_times ? m->limit : job->limit;
    j->planned = m->own_times ? m->estimate : job->estimate;
    if (shown.length > 2) {
        j->row = shown.at + 1;
        j->row_length = shown.length - 2;
    }
}
