/* The tables of live jobs and of runs, and what of them is unsaved. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/users.h"

struct shared_text *shared_text_create(const char *text, size_t length)
{
    struct shared_text *t = malloc(sizeof(*t) + length + 1);
    if (!t)
        return NULL;
    t->refs = 1;
    t->length = length;
    memcpy(t->text, text, length);
    t->text[length] = '\0';
    return t;
}

void shared_text_release(struct shared_text *t)
{
    if (t && --t->refs == 0)
        free(t);
}

struct job *job_create(server_t *s, int64_t id, struct idset *indices)
{
    struct job *job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    job->id = id;
    job->entry = job->promised = job->max_fails = -1;
    job->members = idset_last(indices) + 1;
    if (indices->count < job->members)
        job->indices = *indices;
    else
        idset_clear(indices);
    *indices = (struct idset){0};
    if (records_create(s, job) == 0)
        return job;
    records_destroy(s, job);
    free(job);
    errno = ENOMEM;
    return NULL;
}

void job_to_store(const struct job *job, struct store_job *to)
{
    *to = (struct store_job){.id = job->id,
                             .uid = job->uid,
                             .gid = job->gid,
                             .user = job->user,
                             .name = job->name,
                             .queue = job->queue,
                             .request = job->request,
                             .members = job->members,
                             .count = member_count(job),
                             .priority = job->priority,
                             .held = job->held,
                             .limit = job->limit,
                             .estimate = job->estimate,
                             .submitted = job->submitted,
                             .submitted_wall = job->submitted_wall,
                             .nodes = job->nodes,
                             .cores = job->cores,
                             .gpus = job->gpus};
}

void job_discard(server_t *s, struct job *job)
{
    if (!job)
        return;
    records_destroy(s, job);
    free(job->name);
    free(job->row);
    free(job->request);
    free(job->roles);
    free(job->retry);
    free(job->notify);
    shared_text_release(job->environment);
    shared_text_release(job->script);
    free(job);
}

/* ---- Tables by number ---- */

/* The index of the first entry with at least this number. */
static size_t entry_index(const struct entry *table, size_t n, uint64_t number)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Remove the gaps once they are more than half of the table. */
static void close_gaps(struct entry *table, size_t *n, size_t *gone)
{
    size_t kept = 0;
    if (*gone <= 64 || *gone <= *n / 2)
        return;
    for (size_t i = 0; i < *n; i++)
        if (table[i].any)
            table[kept++] = table[i];
    *n = kept;
    *gone = 0;
}

size_t job_index(const server_t *s, int64_t id)
{
    return entry_index(s->table.jobs, s->table.n, id > 0 ? (uint64_t)id : 0);
}

struct job *job_lookup(const server_t *s, int64_t id)
{
    size_t place = job_index(s, id);
    return place < s->table.n && s->table.jobs[place].number == (uint64_t)id
               ? s->table.jobs[place].job
               : NULL;
}

void job_charge(server_t *s, const struct job *job, bool counts)
{
    int sign = counts ? 1 : -1;
    user_charge(s, job->uid, sign * (int64_t)job->live, sign * (int64_t)job->bytes,
                job->is_new ? sign * job->weight : 0);
}

int job_table_reserve(server_t *s, size_t jobs)
{
    jobs += s->table.n + s->table.kept_jobs;
    /* A change that could not be marked would not be stored, so there is room to mark everything. */
    return array_grow((void **)&s->table.jobs, &s->table.cap, jobs, sizeof(*s->table.jobs)) < 0 ||
                   array_grow((void **)&s->unsaved.jobs, &s->unsaved.cap_jobs, jobs,
                              sizeof(*s->unsaved.jobs)) < 0
               ? -1
               : 0;
}

int job_insert(server_t *s, struct job *job)
{
    if (job_table_reserve(s, 1) < 0)
        return -1;
    size_t place = job_index(s, job->id);
    memmove(s->table.jobs + place + 1, s->table.jobs + place,
            (s->table.n - place) * sizeof(*s->table.jobs));
    s->table.jobs[place] = (struct entry){(uint64_t)job->id, {job}};
    s->table.n++;
    for (int i = 0; i <= STORE_TIMEOUT; i++)
        s->table.counts[i] += job->counts[i];
    s->table.n_held += job_held(job);
    job_charge(s, job, true);
    return 0;
}

void job_remove(server_t *s, struct job *job)
{
    size_t place = job_index(s, job->id);
    if (place < s->table.n && s->table.jobs[place].job == job) {
        s->table.jobs[place].job = NULL;
        s->table.n_gone++;
        for (int i = 0; i <= STORE_TIMEOUT; i++)
            s->table.counts[i] -= job->counts[i];
        s->table.n_held -= job_held(job);
        job_charge(s, job, false);
        /* A submission that is undone frees its id for the next one, so no gap may stay at the end. */
        while (s->table.n > 0 && !s->table.jobs[s->table.n - 1].job) {
            s->table.n--;
            s->table.n_gone--;
        }
        close_gaps(s->table.jobs, &s->table.n, &s->table.n_gone);
    }
    job_discard(s, job);
}

int unsaved_reserve(server_t *s, size_t n)
{
    if (array_grow((void **)&s->unsaved.jobs, &s->unsaved.cap_jobs, s->unsaved.n_jobs + 1,
                   sizeof(struct job *)) < 0)
        return -1;
    return array_grow((void **)&s->unsaved.members, &s->unsaved.cap_members,
                      s->unsaved.n_members + n, sizeof(*s->unsaved.members));
}

void job_changed(server_t *s, struct job *job)
{
    if (job->unsaved || unsaved_reserve(s, 0) < 0)
        return;
    job->unsaved = s->unsaved.urgent = true;
    s->unsaved.jobs[s->unsaved.n_jobs++] = job;
}

void member_changed(server_t *s, struct job *job, uint32_t member)
{
    struct member *m = member_record(job, member);
    s->unsaved.urgent = true;
    if (m->unsaved || unsaved_reserve(s, 1) < 0)
        return;
    m->unsaved = true;
    s->unsaved.members[s->unsaved.n_members++] = (struct member_ref){job, member};
}

void member_set_state(server_t *s, struct job *job, uint32_t member, enum store_state state)
{
    struct member *m = member_record(job, member);
    bool was_live = member_is_live(m);
    s->table.counts[m->state]--;
    s->table.counts[state]++;
    s->table.n_held -= job_held(job);
    job->counts[m->state]--;
    job->counts[state]++;
    own_state(job, m, state);
    s->table.n_held += job_held(job);
    if (was_live && !member_is_live(m)) {
        job->live--;
        user_charge(s, job->uid, -1, 0, 0);
    }
    member_changed(s, job, member);
}

void text_assign(char **to, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    free(*to);
    *to = copy;
}

void member_end(server_t *s, struct job *job, uint32_t member, enum store_state state,
                const char *reason)
{
    struct member *m = member_record(job, member);
    if (!m->run)
        m->run = run_create(s, job, member, 0);
    if (m->run) {
        if (m->run->end_wall < 0)
            m->run->end_wall = s->clock.wall;
        if (heap_has(&s->runs.timers, m->run->slot))
            heap_take(&s->runs.timers, m->run->slot);
    }
    text_assign(&m->reason, reason);
    m->handle = -1;
    m->at = -1;
    m->reserved = false;
    member_set_state(s, job, member, state);
}

/* ---- Runs ---- */

static size_t key_index(const server_t *s, uint64_t key)
{
    return entry_index(s->runs.by_key, s->runs.n_keys, key);
}

struct run *run_lookup(const server_t *s, uint64_t key)
{
    size_t place = key_index(s, key);
    return place < s->runs.n_keys && s->runs.by_key[place].number == key ? s->runs.by_key[place].run
                                                                         : NULL;
}

/* A free slot; UINT32_MAX with ENOMEM. There are only as many slots as runs at once. */
static uint32_t free_slot(server_t *s)
{
    while (s->runs.free < s->runs.n && s->runs.v[s->runs.free])
        s->runs.free++;
    if (s->runs.free < s->runs.n)
        return (uint32_t)s->runs.free;
    if (array_grow((void **)&s->runs.v, &s->runs.cap, s->runs.n + 1, sizeof(*s->runs.v)) < 0)
        return UINT32_MAX;
    s->runs.v[s->runs.n++] = NULL;
    return (uint32_t)s->runs.free;
}

/* Keys ascend, except while a store is loaded in the order of its jobs. */
static int insert_key(server_t *s, struct run *run)
{
    if (array_grow((void **)&s->runs.by_key, &s->runs.cap_keys, s->runs.n_keys + 1,
                   sizeof(*s->runs.by_key)) < 0)
        return -1;
    size_t place = key_index(s, run->key);
    memmove(s->runs.by_key + place + 1, s->runs.by_key + place,
            (s->runs.n_keys - place) * sizeof(*s->runs.by_key));
    s->runs.by_key[place] = (struct entry){run->key, {.run = run}};
    s->runs.n_keys++;
    return 0;
}

struct run *run_create(server_t *s, struct job *job, uint32_t member, uint64_t key)
{
    struct run *run = calloc(1, sizeof(*run));
    uint32_t slot = run ? free_slot(s) : UINT32_MAX;
    if (slot == UINT32_MAX) {
        free(run);
        return NULL;
    }
    *run = (struct run){.job = job,
                        .member = member,
                        .slot = slot,
                        .key = key,
                        .start_wall = -1,
                        .end_wall = -1,
                        .stop_wall = -1,
                        .holds = {-1, -1, -1},
                        .peak_memory = -1,
                        .cpu_time = -1};
    if (key && (run_reserve_signals(s, 1) < 0 ||
                heap_reserve(&s->runs.timers, (uint32_t)s->runs.n) < 0 || insert_key(s, run) < 0)) {
        free(run);
        return NULL;
    }
    s->runs.v[slot] = run;
    return run;
}

void run_destroy(server_t *s, struct run *run)
{
    size_t place = key_index(s, run->key);
    if (place < s->runs.n_keys && s->runs.by_key[place].run == run) {
        s->runs.by_key[place].run = NULL;
        s->runs.n_keys_gone++;
        close_gaps(s->runs.by_key, &s->runs.n_keys, &s->runs.n_keys_gone);
    }
    if (heap_has(&s->runs.timers, run->slot))
        heap_take(&s->runs.timers, run->slot);
    s->runs.v[run->slot] = NULL;
    if (run->slot < s->runs.free)
        s->runs.free = run->slot;
    free(run->resources);
    free(run->outside);
    free(run);
}
