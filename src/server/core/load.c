/* Loading the store when the server starts: running jobs are adopted, waiting jobs keep their order and
 * their reservations.
 *
 * First everything is read. Then the core learns of ended members on which others may depend, and then it
 * gets the jobs in the order of their submission. A job that cannot be restored fails with the reason.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_snapshot.h"
#include "server/core/bulk.h"
#include "server/core/load.h"
#include "server/core/machine.h"
#include "server/core/members.h"
#include "server/core/notify.h"
#include "server/core/priv.h"
#include "server/core/retry.h"
#include "server/core/roles.h"
#include "server/core/shares_kept.h"

static int load_indices(const struct loading *l, const struct store_job *from,
                        struct idset *indices)
{
    uint32_t members = from->members > 0 ? from->members : 1;
    if (!from->indices)
        return idset_add_range(indices, 0, members - 1);
    if (idset_decode_steps(indices, from->indices, strlen(from->indices), NULL) < 0 &&
        errno == ENOMEM)
        return -1;
    if (indices->count > 0 && idset_last(indices) + 1 == members)
        return 0;
    idset_clear(indices);
    return errtext_set(l->err, EINVAL,
                       "%s/berth.db: the file is damaged: job %" PRId64 ": invalid indices",
                       l->s->directory, from->id);
}

static int load_stored_job(void *context, const struct store_job *from)
{
    struct loading *l = context;
    server_t *s = l->s;
    struct idset indices = {0};
    l->job = NULL;
    if (load_indices(l, from, &indices) < 0)
        return -1;
    struct job *job = job_create(s, from->id, &indices);
    idset_clear(&indices);
    if (!job ||
        array_grow((void **)&l->parts, &l->cap_parts, s->table.n + 1, sizeof(*l->parts)) < 0) {
        job_discard(s, job);
        return -1;
    }
    job->uid = from->uid;
    job->gid = from->gid;
    job->user = server_intern_name(s, from->user);
    job->queue = server_intern_name(s, from->queue);
    job->name = strdup(from->name);
    job->request = strdup(from->request);
    struct job_parts *parts = &l->parts[s->table.n];
    *parts = (struct job_parts){0};
    if (job->request)
        job_parts(job->request, parts);
    struct json_part shown = parts->shown;
    job->row = shown.length > 2 ? strndup(shown.at + 1, shown.length - 2) : strdup("");
    job->priority = from->priority;
    job->held = from->held;
    job->limit = from->limit;
    job->estimate = from->estimate;
    job->submitted = from->submitted;
    job->submitted_wall = from->submitted_wall;
    job->nodes = from->nodes;
    job->cores = from->cores;
    job->gpus = from->gpus;
    job->requeue = parts->requeue.length == 4; /* true */
    job->gang = job_gang_read(parts);
    job_shape_read(job, parts);
    bool retried = job->request && job_roles_read(parts->roles, &job->roles) == 0 &&
                   retry_load(job, parts->retry, parts->max_fails) == 0 &&
                   notify_load(job, parts->notify) == 0;
    job->bytes =
        (job->request ? strlen(job->request) : 0) + job->indices.n * sizeof(*job->indices.v);
    if (!job->user || !job->queue || !job->name || !job->row || !retried ||
        job_insert(s, job) < 0) {
        job_discard(s, job);
        errno = ENOMEM;
        return -1;
    }
    l->job = job;
    return 0;
}

static int load_promise(struct loading *l, const struct store_member *from)
{
    if (array_grow((void **)&l->promises, &l->cap_promises, l->n_promises + 1,
                   sizeof(*l->promises)) < 0)
        return -1;
    char *resources = from->resources ? strdup(from->resources) : NULL;
    char *also = from->awaited_also ? strdup(from->awaited_also) : NULL;
    if ((from->resources && !resources) || (from->awaited_also && !also)) {
        free(resources);
        free(also);
        return -1;
    }
    l->promises[l->n_promises++] = (struct promise){.job = l->job,
                                                    .member = from->member,
                                                    .at = from->at,
                                                    .until = from->until,
                                                    .resources = resources,
                                                    .stopping = from->stopping,
                                                    .displaced = from->displaced,
                                                    .expected = from->expected,
                                                    .waits = from->waits,
                                                    .claims = from->claims,
                                                    .apart = from->apart,
                                                    .preempts = from->preempts && resources,
                                                    .stopped_for = from->stopped_for,
                                                    .stopped_for_member = from->stopped_for_member,
                                                    .awaited_also = also,
                                                    .since = from->since,
                                                    .promised = from->promised,
                                                    .begin = from->begin};
    return 0;
}

static int load_run(struct loading *l, struct member *m, const struct store_member *from)
{
    /* Without a key of its own a run cannot be recognised in the engine's reports. */
    if (from->key == 0 || from->key > ENGINE_KEY_MAX || run_lookup(l->s, from->key))
        return errtext_set(l->err, EINVAL,
                           "%s/berth.db: the file is damaged: job %" PRId64
                           ": invalid key of a run",
                           l->s->directory, from->job);
    m->run = run_create(l->s, l->job, from->member, from->key);
    if (!m->run)
        return -1;
    m->run->start_wall = from->start_wall;
    m->run->holds = (struct amounts){from->nodes, from->cores, from->gpus};
    text_assign(&m->run->resources, from->held_resources);
    if (from->key >= l->s->runs.next_key)
        l->s->runs.next_key = from->key + 1;
    return 0;
}

static int load_own(struct loading *l, struct member *m, const struct store_member *from)
{
    struct own own = {from->own_hold, from->held,  from->own_priority, from->own_times,
                      from->priority, from->limit, from->estimate};
    return own_set(l->s, l->job, m, &own);
}

static int load_stored_member(void *context, const struct store_member *from)
{
    struct loading *l = context;
    server_t *s = l->s;
    if (!l->job || from->job != l->job->id || !member_exists(l->job, from->member)) {
        server_notice(s, "job %" PRId64 ": ignored a member with an invalid number", from->job);
        return 0;
    }
    if (from->last > from->member && from->last < l->job->members)
        return mass_load(s, l->job, from);
    struct member *m = member_make(s, l->job, from->member);
    if (!m)
        return -1;
    m->attempts = from->attempts;
    m->retries = (uint8_t)from->retries;
    m->how = (int8_t)from->how;
    m->cancelled = from->cancelled;
    m->timed_out = from->timed_out;
    m->preempted = from->preempted;
    m->requeue = from->requeue;
    m->replaced = from->replaced;
    m->at = from->claims || from->preempts ? -1 : from->at;
    l->job->gang.replaced += from->replaced;
    if (from->broke) {
        l->job->gang.is_over = true;
        l->job->gang.by = from->member;
        l->job->gang.left = from->left;
    }
    if (from->reason)
        text_assign(&m->reason, from->reason);
    if (load_own(l, m, from) < 0)
        return -1;
    if (from->state != STORE_PENDING)
        member_set_state(s, l->job, from->member, from->state);
    if (m->unsaved) { /* it is as stored */
        m->unsaved = false;
        s->unsaved.n_members--;
    }
    bool runs = from->state == STORE_STARTING || from->state == STORE_RUNNING;
    if (runs && load_run(l, m, from) < 0)
        return -1;
    bool waits = from->state == STORE_PENDING;
    bool matters = from->displaced || from->begin || from->since > 0 || from->apart;
    if ((from->resources && (runs || waits)) || (matters && waits))
        return load_promise(l, from);
    return 0;
}

/* Until the engine has listed its runs, assume that it has all that may have started. */
static void assume_runs(const struct loading *l)
{
    const server_t *s = l->s;
    for (size_t i = 0; i < s->runs.n; i++) {
        struct run *run = s->runs.v[i];
        if (!run || run->key == 0)
            continue;
        run->in_engine = true;
        job_warning_read(&l->parts[job_index(s, run->job->id)], run);
    }
}

/* New keys are above all that the store and the engine remember, and at least the present time: so runs of
 * two stores that use the engine in turn have different keys, even if it has forgotten some.
 */
static void choose_keys(server_t *s)
{
    if (s->clock.wall > 0 && s->clock.wall < INT64_MAX / 4 &&
        s->runs.next_key < (uint64_t)s->clock.wall)
        s->runs.next_key = (uint64_t)s->clock.wall;
    s->engine.first_key = server_next_key(s);
}

static int restore_all(struct loading *l)
{
    server_t *s = l->s;
    for (size_t i = 0; i < s->table.n; i++)
        if (load_outcomes(s, s->table.jobs[i].job, &l->parts[i]) < 0)
            return errtext_set(l->err, errno, "cannot read the store: %s", strerror(errno));
    if (shares_load(s, l->err) < 0)
        return -1;
    for (size_t i = 0; i < s->table.n; i++)
        if (load_job(l, s->table.jobs[i].job, &l->parts[i]) < 0)
            return -1;
    if (l->failed > 10)
        server_notice(s, "%zu more jobs could not be restored", l->failed - 10);
    struct sched_passed passed = {.at = -1, .events = 1};
    return uneven_load(s, l->err) < 0 ? -1 : sched_restore_passed(s->sched, s->clock.now, &passed);
}

int server_load(server_t *s, berth_error_t *err)
{
    struct loading l = {.s = s, .err = err};
    struct store_visitor visitor = {&l, load_stored_job, load_stored_member};
    const char *text;
    s->runs.next_key = 1;
    s->table.next = store_last_job(s->store) + 1;
    int rc = store_get(s->store, "next-key", &text, err);
    if (rc == 0 && text)
        s->runs.next_key = s->runs.stored_key = strtoull(text, NULL, 10);
    s->runs.next_key += s->runs.next_key == 0;
    if (rc == 0)
        rc = store_get(s->store, "heard-key", &text, err);
    if (rc == 0 && text)
        s->engine.heard_key = s->engine.stored_heard = strtoull(text, NULL, 10);
    if (rc == 0)
        rc = bulk_delete_incomplete(s, err);
    if (rc == 0)
        rc = store_load(s->store, &visitor, err);
    choose_keys(s);
    if (rc == 0)
        rc = restore_all(&l);
    if (rc == 0) {
        assume_runs(&l);
        rc = pilots_expect(s, err);
    }
    if (rc == 0) {
        rc = runs_reconcile(s, err);
    }
    if (rc == 0) {
        bulk_recover(s);
        fails_look_all(s);
    }
    for (size_t i = 0; i < s->table.n; i++) {
        free(s->table.jobs[i].job->request); /* stored */
        s->table.jobs[i].job->request = NULL;
    }
    for (size_t i = 0; i < l.n_promises; i++) {
        free(l.promises[i].resources);
        free(l.promises[i].awaited_also);
    }
    free(l.promises);
    free(l.parts);
    return rc;
}
