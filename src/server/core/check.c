/* Whether a server's structures agree with each other. For tests. */
#include <string.h>

#include "server/api/bulk.h"

struct sums {
    size_t counts[STORE_TIMEOUT + 1], held, runs, over, unstarted;
};

static bool check_member(const server_t *s, const struct job *job, uint32_t i, struct sums *sums)
{
    const struct member *m = &job->member[i];
    bool runs = m->state == STORE_STARTING || m->state == STORE_RUNNING;
    sums->counts[m->state]++;
    sums->runs += m->run != NULL;
    sums->unstarted += m->unstarted;
    if (m->unstarted && (m->state != STORE_PENDING || m->handle >= 0 || m->run))
        return false;
    sums->over += m->run && m->run->over.what != ENGINE_STARTED;
    if (m->run && (m->run->job != job || m->run->member != i || s->runs[m->run->slot] != m->run))
        return false;
    if (runs && (!m->run || m->run->key == 0 || run_lookup(s, m->run->key) != m->run))
        return false;
    if (member_is_live(m) && m->handle >= 0) {
        int state = sched_state(s->sched, m->handle);
        if (runs != (state == SCHED_RUNNING))
            return false;
    }
    if (!member_is_live(m) && (m->handle >= 0 || m->reserved))
        return false;
    return m->state == STORE_PENDING || !m->reserved;
}

static bool check_job(const server_t *s, const struct job *job, struct sums *sums)
{
    size_t live = 0;
    for (uint32_t i = 0; i < job->members; i++) {
        live += member_is_live(&job->member[i]);
        if (!check_member(s, job, i, sums))
            return false;
    }
    sums->held += job->held ? live : 0;
    return live == job->live && job->user && job->queue && job->name && job->row &&
           (!job->is_new || (job->request && job->dirty));
}

/* Marks and what is marked agree. */
static bool check_marks(const server_t *s)
{
    for (size_t i = 0; i < s->n_dirty; i++)
        if (!s->dirty[i].job->member[s->dirty[i].member].dirty)
            return false;
    for (size_t i = 0; i < s->n_dirty_jobs; i++)
        if (!s->dirty_jobs[i]->dirty)
            return false;
    return true;
}

/* Strays are in order, and no job's; while there are any nothing is started. */
static bool check_strays(const server_t *s)
{
    for (size_t i = 0; i < s->n_strays; i++)
        if ((i > 0 && s->strays[i - 1] >= s->strays[i]) || run_lookup(s, s->strays[i]))
            return false;
    return s->n_strays == 0 || s->hold_until == INT64_MAX;
}

bool server_check(const server_t *s)
{
    struct sums sums = {0};
    size_t runs = 0, jobs = 0;
    for (size_t i = 0; i < s->n_jobs; i++) {
        if (i > 0 && s->jobs[i - 1].number >= s->jobs[i].number)
            return false;
        const struct job *job = s->jobs[i].job;
        jobs += job != NULL;
        if (job && ((uint64_t)job->id != s->jobs[i].number || !check_job(s, job, &sums)))
            return false;
    }
    for (size_t i = 0; i < s->n_runs; i++)
        runs += s->runs[i] != NULL;
    for (size_t i = 1; i < s->n_keys; i++)
        if (s->runs_by_key[i - 1].number >= s->runs_by_key[i].number)
            return false;
    return jobs + s->n_gone == s->n_jobs && runs == sums.runs && sums.over == s->n_over &&
           sums.unstarted == s->n_unstarted && sums.held == s->n_held &&
           memcmp(sums.counts, s->counts, sizeof(sums.counts)) == 0 && heap_check(&s->timers) &&
           check_marks(s) && check_strays(s) && users_check(s) && bulk_check(s) &&
           sched_check(s->sched);
}
