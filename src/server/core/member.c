/* The members of a job, and their records.
 *
 * A member that waits as its job does needs no record: what there is to say of it, the job says. It gets one
 * when something becomes its own: a start, a reservation, an end. Records lie in pages, so that they never
 * move and that a large array which waits takes a pointer for each page. The pages of small jobs are there
 * from the beginning, and a plain job's member has its record from the beginning.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "server/core/members.h"

static uint32_t n_pages(const struct job *job)
{
    return (job->members + PAGE_MEMBERS - 1) / PAGE_MEMBERS;
}

static uint32_t page_size(const struct job *job)
{
    return job->members < PAGE_MEMBERS ? job->members : PAGE_MEMBERS;
}

/* A change that could not be marked would not be stored, so there is room to mark every record. */
static int add_page(server_t *s, struct job *job, uint32_t page)
{
    uint32_t n = page_size(job);
    if (array_grow((void **)&s->unsaved.members, &s->unsaved.cap_members, s->table.records + n,
                   sizeof(*s->unsaved.members)) < 0)
        return -1;
    job->page[page] = calloc(n, sizeof(**job->page));
    if (!job->page[page])
        return -1;
    s->table.records += n;
    return 0;
}

int records_create(server_t *s, struct job *job)
{
    job->page = n_pages(job) == 1 ? &job->only_page : calloc(n_pages(job), sizeof(*job->page));
    if (!job->page || (n_pages(job) == 1 && add_page(s, job, 0) < 0))
        return -1;
    job->live = job->counts[STORE_PENDING] = member_count(job);
    if (job->members == 1)
        *job->only_page = (struct member){.handle = -1, .at = -1, .is_own = true};
    return 0;
}

void records_destroy(server_t *s, struct job *job)
{
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++) {
        struct member *m = member_record(job, i);
        if (m->run)
            run_destroy(s, m->run);
        free(m->reason);
        free(m->own);
    }
    for (uint32_t k = 0; job->page && k < n_pages(job); k++) {
        s->table.records -= job->page[k] ? page_size(job) : 0;
        free(job->page[k]);
    }
    if (job->page != &job->only_page)
        free(job->page);
    idset_clear(&job->indices);
    masses_clear(job);
}

uint32_t member_count(const struct job *job)
{
    return job->indices.n > 0 ? (uint32_t)job->indices.count : job->members;
}

bool member_exists(const struct job *job, int64_t i)
{
    return i >= 0 && i < (int64_t)job->members &&
           (job->indices.n == 0 || idset_has(&job->indices, (uint32_t)i));
}

uint32_t member_next(const struct job *job, uint32_t from)
{
    if (job->indices.n == 0 || from >= job->members || idset_has(&job->indices, from))
        return from < job->members ? from : job->members;
    uint32_t next = idset_next(&job->indices, from);
    return next == IDSET_NONE ? job->members : next;
}

int64_t member_previous(const struct job *job, int64_t from)
{
    if (from >= (int64_t)job->members)
        from = (int64_t)job->members - 1;
    if (job->indices.n == 0 || from < 0 || idset_has(&job->indices, (uint32_t)from))
        return from < 0 ? -1 : from;
    uint32_t previous = idset_prev(&job->indices, (uint32_t)from);
    return previous == IDSET_NONE ? -1 : (int64_t)previous;
}

uint32_t member_next_own(const struct job *job, uint32_t from)
{
    while (job->page && from < job->members) {
        const struct member *page = job->page[from / PAGE_MEMBERS];
        if (page && page[from % PAGE_MEMBERS].is_own)
            return from;
        from = page ? from + 1 : (from / PAGE_MEMBERS + 1) * PAGE_MEMBERS;
    }
    return job->members;
}

int64_t member_previous_own(const struct job *job, int64_t from)
{
    from = from < (int64_t)job->members ? from : (int64_t)job->members - 1;
    while (job->page && from >= 0) {
        const struct member *page = job->page[from / PAGE_MEMBERS];
        if (page && page[from % PAGE_MEMBERS].is_own)
            return from;
        from = page ? from - 1 : from / PAGE_MEMBERS * PAGE_MEMBERS - 1;
    }
    return -1;
}

struct member *member_record(const struct job *job, uint32_t i)
{
    struct member *page = job->page[i / PAGE_MEMBERS];
    return page && page[i % PAGE_MEMBERS].is_own ? &page[i % PAGE_MEMBERS] : NULL;
}

const struct member *member_look(const struct job *job, uint32_t i)
{
    static const struct member waiting = {.handle = -1, .at = -1};
    const struct member *m = member_record(job, i);
    if (!m && job->masses)
        m = mass_member(job, i);
    return m ? m : &waiting;
}

bool member_is_unsaved(const struct job *job, uint32_t i)
{
    const struct member *m = member_record(job, i);
    return m ? m->unsaved : mass_is_unsaved(job, i);
}

sched_job_t member_handle(const struct job *job, uint32_t i)
{
    const struct member *m = member_record(job, i);
    return m ? m->handle : job->entry;
}

bool member_is_in_entry(const struct job *job, uint32_t i)
{
    return job->entry >= 0 && member_look(job, i)->state == STORE_PENDING &&
           member_handle(job, i) == job->entry;
}

bool member_is_behind(const server_t *s, const struct job *job, uint32_t i)
{
    return job->promised >= 0 && job->promised != (int64_t)i && member_is_in_entry(job, i) &&
           sched_state(s->sched, job->entry) == SCHED_RESERVED &&
           !sched_gang_starts(s->sched, job->entry, i);
}

struct member *member_make(server_t *s, struct job *job, uint32_t i)
{
    uint32_t page = i / PAGE_MEMBERS;
    struct member *m = member_record(job, i);
    if (m)
        return m;
    if (!job->page[page] && add_page(s, job, page) < 0)
        return NULL;
    m = &job->page[page][i % PAGE_MEMBERS];
    *m = (struct member){.handle = job->entry, .at = -1, .is_own = true};
    return m;
}

void member_parted(server_t *s, struct job *job, uint32_t i, sched_job_t handle)
{
    member_record(job, i)->handle = handle;
    member_changed(s, job, i);
}

int member_split(server_t *s, struct job *job, uint32_t i)
{
    struct member *m = member_make(s, job, i);
    if (!m)
        return -1;
    if (!member_is_in_entry(job, i))
        return 0;
    sched_job_t handle = sched_split(s->sched, s->clock.now, job->entry, i);
    if (handle < 0)
        return -1;
    if (handle == job->entry) /* it was the last one there */
        job->entry = -1;
    if (job->promised == i && job->entry >= 0) {
        m->reserved = m->claims = m->preempts = false;
        m->at = -1;
    }
    member_parted(s, job, i, handle);
    entry_follow(s, job);
    return 0;
}

void entry_promised(server_t *s, struct job *job, int64_t i)
{
    int64_t before = job->promised;
    job->promised = i;
    if (before < 0 || before == i || !member_is_in_entry(job, (uint32_t)before))
        return;
    struct member *m = member_record(job, (uint32_t)before);
    m->reserved = m->claims = m->preempts = false;
    m->at = -1;
    member_changed(s, job, (uint32_t)before);
}

void entry_follow(server_t *s, struct job *job)
{
    bool reserved = job->entry >= 0 && sched_state(s->sched, job->entry) == SCHED_RESERVED;
    bool claims = job->entry >= 0 && sched_claims(s->sched, job->entry);
    int64_t first = reserved || claims ? sched_index(s->sched, job->entry) : -1;
    if (first == job->promised)
        return;
    struct member *m = first >= 0 ? member_make(s, job, (uint32_t)first) : NULL;
    entry_promised(s, job, m ? first : -1);
    if (!m)
        return;
    m->reserved = reserved;
    m->claims = claims;
    struct sched_annotation a;
    m->at = reserved ? sched_start_time(s->sched, job->entry) : -1;
    m->expected = reserved && sched_annotate(s->sched, job->entry, &a) == 0 && a.expected;
    member_changed(s, job, (uint32_t)first);
}

static int64_t count_entry(const struct job *job)
{
    int64_t n = job->counts[STORE_PENDING];
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++)
        n -= member_look(job, i)->state == STORE_PENDING && !member_is_in_entry(job, i);
    return n;
}

int entry_find_parts(server_t *s, struct job *job)
{
    char id[24];
    const char *text;
    int64_t n = job->entry >= 0 ? sched_members(s->sched, job->entry, &text) : 0;
    if (job->entry < 0 || n == count_entry(job))
        return 0;
    snprintf(id, sizeof(id), "%" PRId64, job->id);
    for (uint32_t i = 0; n >= 0 && (i = member_next(job, i)) < job->members; i++) {
        sched_job_t handle = member_is_in_entry(job, i) ? sched_find(s->sched, id, i) : job->entry;
        if (handle == job->entry)
            continue;
        if (!member_make(s, job, i))
            return -1;
        member_parted(s, job, i, handle);
    }
    return n < 0 ? -1 : 0;
}

bool records_check(const struct job *job)
{
    uint32_t counts[STORE_TIMEOUT + 1] = {0}, live = 0, held = 0;
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++)
        if (!member_exists(job, i))
            return false;
    for (uint32_t i = 0; (i = member_next(job, i)) < job->members; i++) {
        counts[member_look(job, i)->state]++;
        live += member_is_live(member_look(job, i));
        held +=
            member_look(job, i)->state == STORE_PENDING && member_held(job, member_look(job, i));
    }
    for (int i = 0; i <= STORE_TIMEOUT; i++)
        if (counts[i] != job->counts[i])
            return false;
    return live == job->live && held == job_held(job) && idset_check(&job->indices) &&
           masses_check(job) &&
           (job->indices.n == 0 || idset_last(&job->indices) == job->members - 1);
}
