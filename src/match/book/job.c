#include "match/book/job.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t job_slot(int64_t id, uint32_t slots)
{
    uint64_t hash = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(hash >> 32) & (slots - 1);
}

/* The slot of the id, or the empty slot for it. */
static uint32_t find_job_slot(const struct jobs *t, int64_t id)
{
    uint32_t i = job_slot(id, t->slots);

    while (t->slot[i] && t->slot[i]->id != id)
        i = (i + 1) & (t->slots - 1);
    return i;
}

struct job *jobs_find(const struct jobs *t, int64_t id)
{
    return t->slots ? t->slot[find_job_slot(t, id)] : NULL;
}

struct job *jobs_at(const struct jobs *t, int64_t id)
{
    struct job *job = jobs_find(t, id);

    assert(job);
    return job;
}

static int jobs_grow(struct jobs *t)
{
    struct jobs wide = {.slots = t->slots ? 2 * t->slots : 64, .n = t->n};

    wide.slot = calloc(wide.slots, sizeof(struct job *));
    if (!wide.slot)
        return -1;
    for (uint32_t i = 0; i < t->slots; i++)
        if (t->slot[i])
            wide.slot[find_job_slot(&wide, t->slot[i]->id)] = t->slot[i];
    free(t->slot);
    *t = wide;
    return 0;
}

int jobs_add(struct jobs *t, struct job *job)
{
    if (2 * (t->n + 1) > t->slots && jobs_grow(t) < 0)
        return -1;
    t->slot[find_job_slot(t, job->id)] = job;
    t->n++;
    return 0;
}

void jobs_remove(struct jobs *t, int64_t id)
{
    uint32_t mask = t->slots - 1, i = find_job_slot(t, id);

    if (!t->slot[i])
        return;
    t->n--;
    /* Entries that follow without a gap may have been displaced by the removed one: move them up. */
    for (uint32_t j = (i + 1) & mask; t->slot[j]; j = (j + 1) & mask) {
        uint32_t home = job_slot(t->slot[j]->id, t->slots);
        if (((j - home) & mask) >= ((j - i) & mask)) {
            t->slot[i] = t->slot[j];
            i = j;
        }
    }
    t->slot[i] = NULL;
}

struct job *job_new(int64_t id, int64_t at, int64_t end, bool reserved)
{
    struct job *job = calloc(1, sizeof(*job));

    if (job)
        *job = (struct job){.id = id, .at = at, .end = end, .reserved = reserved};
    return job;
}

struct job *job_like(const struct job *job)
{
    struct job *like = job_new(job->id, job->at, job->end, job->reserved);

    if (!like)
        return NULL;
    like->hidden = job->hidden;
    like->cut = job->cut;
    like->lifted = job->lifted;
    like->forced = job->forced;
    like->texts = job->texts;
    if (like->texts)
        like->texts->users++;
    return like;
}

static void drop_texts(struct job_texts *texts)
{
    if (!texts || --texts->users > 0)
        return;
    free(texts->queue);
    intern_clear(&texts->labels);
    free(texts);
}

void job_destroy(struct job *job)
{
    int saved = errno;

    if (!job)
        return;
    drop_texts(job->texts);
    free(job->hold);
    free(job->counts);
    free(job->source);
    free(job);
    errno = saved;
}

static bool need_texts(struct job *job)
{
    if (!job->texts) {
        job->texts = calloc(1, sizeof(*job->texts));
        if (job->texts)
            job->texts->users = 1;
    }
    return job->texts != NULL;
}

int job_set_queue(struct job *job, const char *queue)
{
    if (!need_texts(job))
        return -1;
    job->texts->queue = strdup(queue);
    return job->texts->queue ? 0 : -1;
}

int job_label(struct job *job, const char *label, uint32_t *number)
{
    uint32_t id;

    if (!need_texts(job) || intern_put(&job->texts->labels, label, strlen(label), &id) < 0)
        return -1;
    *number = id + 1;
    return 0;
}

static int widen_holds(struct job *job, uint32_t capacity)
{
    struct hold *hold = reallocarray(job->hold, capacity, sizeof(*hold));
    if (!hold)
        return -1;
    job->hold = hold;
    if (job->source) {
        uint32_t *source = reallocarray(job->source, capacity, sizeof(*source));
        if (!source)
            return -1;
        job->source = source;
    }
    job->capacity = capacity;
    return 0;
}

/* So many more holds will come: have room for them at once. Returns 0, or -1 with ENOMEM. */
static int job_expect_holds(struct job *job, uint32_t n)
{
    return n > job->capacity - job->n && n <= UINT32_MAX - job->n ? widen_holds(job, job->n + n)
                                                                  : 0;
}

static int reserve_hold(struct job *job, uint32_t n)
{
    if (job->n == job->capacity && widen_holds(job, job->capacity + job->capacity / 2 + 8) < 0)
        return -1;
    if (n > job->counts_capacity - job->n_counts) {
        uint32_t capacity = job->counts_capacity + job->counts_capacity / 2 + n + 8;
        int64_t *counts = reallocarray(job->counts, capacity, sizeof(*counts));
        if (!counts)
            return -1;
        job->counts = counts;
        job->counts_capacity = capacity;
    }
    return 0;
}

int job_hold(struct job *job, uint32_t vertex, uint32_t flags, int64_t needs, const int64_t *counts,
             uint32_t n)
{
    if (reserve_hold(job, n) < 0)
        return -1;
    struct hold *h = &job->hold[job->n];
    *h = (struct hold){
        .vertex = vertex, .flags = flags, .needs = needs, .counts = job->n_counts, .n_counts = n};
    if (hold_is_bare(h))
        h->run = 1;
    job->n++;
    if (n > 0)
        memcpy(job->counts + job->n_counts, counts, n * sizeof(*counts));
    job->n_counts += n;
    return 0;
}

uint32_t job_vertices(const struct job *job)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < job->n; i++)
        n += hold_vertices(&job->hold[i]);
    return n;
}

struct job *job_unfolded(const struct job *job)
{
    struct job *to = job_like(job);
    int rc = to ? job_expect_holds(to, job_vertices(job)) : -1;

    for (uint32_t i = 0; i < job->n && rc == 0; i++) {
        const struct hold *h = &job->hold[i];
        const int64_t *counts = h->n_counts > 0 ? job->counts + h->counts : NULL;
        for (uint32_t k = 0; k < hold_vertices(h) && rc == 0; k++)
            rc = job_hold(to, h->vertex + k, h->flags, h->needs, counts, h->n_counts);
        if (rc == 0 && h->flags & HOLD_WITH_NODE)
            to->hold[to->n - 1].run = h->run;
        if (rc == 0 && job->source)
            rc = job_source(to, job->source[i]);
    }
    if (rc == 0)
        return to;
    job_destroy(to);
    errno = ENOMEM;
    return NULL;
}

int job_source(struct job *job, uint32_t source)
{
    if (!job->source) {
        job->source = reallocarray(NULL, job->capacity, sizeof(*job->source));
        if (!job->source)
            return -1;
    }
    job->source[job->n - 1] = source;
    return 0;
}

void jobs_clear(struct jobs *t)
{
    for (uint32_t i = 0; i < t->slots; i++)
        job_destroy(t->slot[i]);
    free(t->slot);
    *t = (struct jobs){0};
}
