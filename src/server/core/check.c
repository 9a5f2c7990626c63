/* Whether the server's structures are consistent, for tests. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "berth/sched_query.h"
#include "server/core/bulk.h"
#include "server/core/members.h"
#include "server/core/users.h"

struct sums {
    size_t counts[STORE_TIMEOUT + 1], held, runs, over, unstarted;
};

static bool check_member(const server_t *s, const struct job *job, uint32_t i, struct sums *sums)
{
    const struct member *m = member_look(job, i);
    sched_job_t handle = member_handle(job, i);
    bool runs = m->state == STORE_STARTING || m->state == STORE_RUNNING;
    sums->counts[m->state]++;
    sums->runs += m->run != NULL;
    sums->unstarted += m->unstarted;
    if (m->unstarted && (m->state != STORE_PENDING || m->handle >= 0 || m->run))
        return false;
    sums->over += m->run && m->run->deferred_end.what != ENGINE_STARTED;
    if (m->run && (m->run->job != job || m->run->member != i || s->runs.v[m->run->slot] != m->run))
        return false;
    if (runs && (!m->run || m->run->key == 0 || run_lookup(s, m->run->key) != m->run))
        return false;
    if (member_is_live(m) && handle >= 0 && (m->is_own || !job->is_behind)) {
        int state = sched_state(s->sched, handle);
        if (runs != (state == SCHED_RUNNING))
            return false;
    }
    if (!member_is_live(m) && (m->handle >= 0 || m->reserved))
        return false;
    return m->state == STORE_PENDING || !m->reserved;
}

/* The core has the same members in the entry, and its reservation or claim is in the first one's record. */
static bool check_entry_in_core(const server_t *s, const struct job *job)
{
    int64_t in_entry = 0;
    const char *text;
    char id[24];
    snprintf(id, sizeof(id), "%" PRId64, job->id);
    for (uint32_t i = 0; (i = member_next(job, i)) < job->members; i++) /* or out, untold */
        in_entry += member_is_in_entry(job, i) && sched_find(s->sched, id, i) == job->entry;
    if (job->entry < 0)
        return in_entry == 0;
    bool has_booking =
        sched_state(s->sched, job->entry) == SCHED_RESERVED || sched_claims(s->sched, job->entry);
    return sched_members(s->sched, job->entry, &text) == in_entry &&
           (!has_booking || job->promised < 0 ||
            job->promised == sched_index(s->sched, job->entry));
}

static bool check_job(const server_t *s, const struct job *job, struct sums *sums)
{
    for (uint32_t i = 0; (i = member_next(job, i)) < job->members; i++)
        if (!check_member(s, job, i, sums))
            return false;
    sums->unstarted += job->is_behind;
    if (!job->is_behind && !check_entry_in_core(s, job))
        return false;
    sums->held += job_held(job);
    return records_check(job) && job->user && job->queue && job->name && job->row &&
           (!job->is_new || (job->request && job->unsaved));
}

/* What is listed as unsaved is marked as unsaved. */
static bool check_marks(const server_t *s)
{
    for (size_t i = 0; i < s->unsaved.n_members; i++)
        if (!ref_record(&s->unsaved.members[i])->unsaved)
            return false;
    for (size_t i = 0; i < s->unsaved.n_jobs; i++)
        if (!s->unsaved.jobs[i]->unsaved)
            return false;
    return true;
}

/* Orphans are sorted and belong to no job, and starts are paused while there are any. */
static bool check_orphans(const server_t *s)
{
    for (size_t i = 0; i < s->engine.n_orphans; i++)
        if ((i > 0 && s->engine.orphans[i - 1] >= s->engine.orphans[i]) ||
            run_lookup(s, s->engine.orphans[i]))
            return false;
    return s->engine.n_orphans == 0 || s->engine.hold_until == INT64_MAX;
}

bool server_check(const server_t *s)
{
    struct sums sums = {0};
    size_t runs = 0, jobs = 0;
    for (size_t i = 0; i < s->table.n; i++) {
        if (i > 0 && s->table.jobs[i - 1].number >= s->table.jobs[i].number)
            return false;
        const struct job *job = s->table.jobs[i].job;
        jobs += job != NULL;
        if (job && ((uint64_t)job->id != s->table.jobs[i].number || !check_job(s, job, &sums)))
            return false;
    }
    for (size_t i = 0; i < s->runs.n; i++)
        runs += s->runs.v[i] != NULL;
    for (size_t i = 1; i < s->runs.n_keys; i++)
        if (s->runs.by_key[i - 1].number >= s->runs.by_key[i].number)
            return false;
    return jobs + s->table.n_gone == s->table.n && runs == sums.runs &&
           sums.over == s->runs.n_deferred && sums.unstarted == s->runs.n_unstarted &&
           sums.held == s->table.n_held &&
           memcmp(sums.counts, s->table.counts, sizeof(sums.counts)) == 0 &&
           heap_check(&s->runs.timers) && check_marks(s) && check_orphans(s) && users_check(s) &&
           bulk_check(s) && sched_check(s->sched);
}
