/* Jobs that wait for others: entering them, and events. */
#include "sched/controllers/depend.h"
#include "berth/sched_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "sched/controllers/depend_priv.h"

#define MEMBER_TEXT 13 /* "[4294967295]" and a terminator */

struct depend *depend_create(void)
{
    struct depend *depend = calloc(1, sizeof(*depend));
    if (!depend) {
        errno = ENOMEM;
        return NULL;
    }
    depend_remember(depend, SCHED_ENDED_JOBS);
    return depend;
}

void depend_remember(struct depend *depend, uint64_t most)
{
    depend->most = most;
}

static void free_entries(struct depend *depend, struct entries *list)
{
    for (struct entry *e = list->first, *next; e; e = next) {
        next = e->next;
        depend_entry_free(depend, e);
    }
}

static void leave_row(struct depend *depend, struct job *job);

void depend_destroy(struct depend *depend)
{
    int saved = errno;
    if (depend) {
        for (uint32_t i = 0; i < depend->jobs; i++) {
            depend_needs_destroy(depend, depend->job[i].needs);
            depend->job[i].needs = NULL;
        }
        for (uint32_t i = 0; i < depend->jobs; i++)
            leave_row(depend, &depend->job[i]);
        free_entries(depend, &depend->living);
        free_entries(depend, &depend->ended);
        free(depend->spare);
        free(depend->spare_needs);
        dict_clear(&depend->ids);
        dict_clear(&depend->members);
        dict_clear(&depend->rows);
        free(depend->job);
        free(depend->name);
        free(depend);
    }
    errno = saved;
}

/* ---- Rows ---- */

/* Whether two that stand side by side in a row are of one array. */
static bool are_one(const struct depend *depend, uint32_t a, uint32_t b)
{
    return a != DEPEND_NONE && b != DEPEND_NONE && depend->job[a].entry == depend->job[b].entry;
}

/* The job that is first in a row waits for nobody there, nor do those of its array beside it. */
static void first_goes(struct depend *depend, const struct row *row)
{
    for (uint32_t i = row->first; are_one(depend, row->first, i); i = depend->job[i].row_next) {
        struct needs *needs = depend->job[i].needs;
        if (needs && needs->singleton) {
            needs->singleton = false;
            depend_needs_met(depend, needs);
        }
    }
}

/* Take a job out of its row; who is then the first need no longer wait for it. Its array's others went with
 * it.
 */
static void leave_row(struct depend *depend, struct job *job)
{
    struct row *row = job->row;
    if (!row)
        return;
    job->row = NULL;
    uint32_t slot = (uint32_t)(job - depend->job), prev = job->row_prev, next = job->row_next;
    bool first = prev == DEPEND_NONE;
    bool apart = !are_one(depend, slot, next) && !are_one(depend, slot, prev);
    row->apart -= !are_one(depend, prev, slot) && !first;
    row->apart -= !are_one(depend, slot, next) && next != DEPEND_NONE;
    row->apart += !are_one(depend, prev, next) && !first && next != DEPEND_NONE;
    *(first ? &row->first : &depend->job[job->row_prev].row_next) = job->row_next;
    *(job->row_next == DEPEND_NONE ? &row->last : &depend->job[job->row_next].row_prev) =
        job->row_prev;
    if (row->first == DEPEND_NONE) {
        dict_take(&depend->rows, &row->name);
        free(row);
        return;
    }
    if (apart && (first || are_one(depend, prev, next)))
        first_goes(depend, row);
}

static void join_row(struct depend *depend, struct row *row, uint32_t slot)
{
    struct job *job = &depend->job[slot];
    job->row = row;
    job->row_prev = row->last;
    job->row_next = DEPEND_NONE;
    row->apart += row->last != DEPEND_NONE && !are_one(depend, row->last, slot);
    *(row->last == DEPEND_NONE ? &row->first : &depend->job[row->last].row_next) = slot;
    row->last = slot;
}

/* The same beside one of the same array that is there. */
static void join_beside(struct depend *depend, uint32_t there, uint32_t slot, bool before)
{
    struct row *row = depend->job[there].row;
    struct job *job = &depend->job[slot];
    if (!row)
        return;
    job->row = row;
    job->row_prev = before ? depend->job[there].row_prev : there;
    job->row_next = before ? there : depend->job[there].row_next;
    *(job->row_prev == DEPEND_NONE ? &row->first : &depend->job[job->row_prev].row_next) = slot;
    *(job->row_next == DEPEND_NONE ? &row->last : &depend->job[job->row_next].row_prev) = slot;
}

/* The row of a user and a name, perhaps a new one that is not in the table yet; there is room for it then. */
static struct row *find_row(struct depend *depend, const char *user, const char *name)
{
    const char *whose = user ? user : "";
    size_t before = strlen(whose) + 1;
    size_t length = before + strlen(name);
    struct row *row = dict_reserve(&depend->rows) < 0 ? NULL : malloc(sizeof(*row) + length + 1);
    if (!row)
        return NULL;
    memcpy(row->text, whose, before);
    memcpy(row->text + before, name, length - before + 1);
    struct row *known = (struct row *)dict_find(&depend->rows, row->text, length);
    if (known) {
        free(row);
        return known;
    }
    row->name.text = row->text;
    row->name.length = length;
    row->first = row->last = DEPEND_NONE;
    row->apart = 0;
    return row;
}

/* ---- Entering ---- */

static int reserve_job(struct depend *depend, uint32_t slot)
{
    if (slot < depend->jobs)
        return 0;
    uint32_t n = depend->jobs + depend->jobs / 2;
    if (n <= slot)
        n = slot + 1;
    struct job *job = reallocarray(depend->job, n, sizeof(*job));
    if (!job)
        return -1;
    memset(job + depend->jobs, 0, (n - depend->jobs) * sizeof(*job));
    depend->job = job;
    depend->jobs = n;
    return 0;
}

static int reserve_name(struct depend *depend, size_t length)
{
    if (length + MEMBER_TEXT <= depend->name_size)
        return 0;
    char *name = realloc(depend->name, length + MEMBER_TEXT);
    if (!name)
        return -1;
    depend->name = name;
    depend->name_size = length + MEMBER_TEXT;
    return 0;
}

/* Whether an entry has as yet nothing of what is to come. */
static bool is_to_come(const struct depend *depend, const struct entry *e,
                       const struct depend_members *m)
{
    if (e->size != m->size || (m->all && e->has_all && !idset_equal(m->all, &e->all)))
        return false;
    if (!m->waiting)
        return depend_entry_state(depend, e, m->member) == MEMBER_ABSENT;
    for (const struct member *known = e->first; known; known = known->next)
        if (known->slot != DEPEND_NONE && idset_has(m->waiting, (uint32_t)known->key.member))
            return false;
    return e->slot == DEPEND_NONE && !idset_meets(&e->ended_ok, m->waiting) &&
           !idset_meets(&e->ended_badly, m->waiting);
}

/* The entry that a job belongs to: *entry is NULL where a new one is to be made. Returns 0, or -1 with
 * EINVAL and a text.
 */
static int find_entry(const struct depend *depend, const struct depend_members *m,
                      struct entry **entry, berth_error_t *err)
{
    const char *id = m->id;
    size_t length = strlen(id);
    size_t base;
    uint32_t other;
    *entry = NULL;
    if (length == 0)
        return errtext_set(err, EINVAL, "id: it is empty");
    if (depend_split(id, length, &base, &other))
        return errtext_set(err, EINVAL, "id %s: it reads as a member of an array", id);
    if (!m->waiting && m->member >= m->size)
        return errtext_set(err, EINVAL, "id %s: there is no member %lu of %lu", id,
                           (unsigned long)m->member, (unsigned long)m->size);
    struct entry *e = depend_entry_find(depend, id, length);
    if (!e || (e->slots == 0 && e->ended == e->members))
        return 0;
    if (!is_to_come(depend, e, m))
        return errtext_set(err, EINVAL, "id %s: there is a job with it", id);
    *entry = e;
    return 0;
}

/* What entering a job needs, before anything is changed. */
struct entering {
    struct entry *entry;
    struct needs *needs;
    struct row *row;
    struct member *member; /* NULL: all that wait together */
    bool new_entry;
};

/* Have memory for what is to be known of a member, or of those that wait together. */
static int prepare_members(struct depend *depend, struct entering *e,
                           const struct depend_members *m)
{
    struct entry *entry = e->entry;
    if (m->all && !entry->has_all) {
        if (idset_copy(&entry->all, m->all) < 0)
            return -1;
        entry->has_all = true;
        entry->members = (uint32_t)m->all->count;
    }
    if (m->waiting)
        entry->ranges = m->waiting->n;
    if (depend_entry_reserve(entry, 1) < 0)
        return -1;
    if (m->waiting)
        return 0;
    e->member = depend_member_find(depend, entry, m->member);
    if (!e->member)
        e->member = depend_member_create(depend, entry, m->member);
    return e->member ? 0 : -1;
}

static int prepare_entering(struct depend *depend, struct entering *e, uint32_t slot,
                            const struct depend_members *m, const char *user, const char *name)
{
    if (reserve_job(depend, slot) < 0 || reserve_name(depend, strlen(m->id)) < 0)
        return -1;
    if (!e->entry) {
        e->new_entry = true;
        if (dict_reserve(&depend->ids) == 0)
            e->entry = depend_entry_create(depend, m->id, m->size, m->all);
        if (!e->entry)
            return -1;
    }
    if (prepare_members(depend, e, m) < 0)
        return -1;
    if (name) {
        e->row = find_row(depend, user, name);
        if (!e->row)
            return -1;
    }
    return 0;
}

static void take_back_entering(struct depend *depend, struct entering *e)
{
    depend_needs_destroy(depend, e->needs);
    if (e->new_entry && e->entry)
        depend_entry_free(depend, e->entry);
    else if (e->member)
        depend_member_release(depend, e->member);
}

/* Put in what is prepared. */
static void enter_prepared(struct depend *depend, struct entering *e, uint32_t slot)
{
    struct job *job = &depend->job[slot];
    *job = (struct job){.entry = e->entry, .member = e->member};
    if (e->new_entry)
        depend_entry_add(depend, e->entry);
    e->entry->slots++;
    if (e->member) {
        e->member->slot = slot;
        e->member->state = MEMBER_WAITING;
    } else {
        e->entry->slot = slot;
    }
    bool alone = true;
    if (e->row) {
        if (e->row->first == DEPEND_NONE)
            dict_put(&depend->rows, &e->row->name);
        join_row(depend, e->row, slot);
        alone = e->row->apart == 0;
    }
    struct needs *needs = e->needs;
    if (!needs)
        return;
    needs->slot = slot;
    needs->singleton = needs->singleton && !alone;
    needs->unmet += needs->singleton;
    if (needs->unmet == 0) {
        depend_needs_destroy(depend, needs);
        return;
    }
    job->needs = needs;
    if (needs->never) {
        needs->never = false;
        depend_needs_never(depend, needs);
    }
}

int depend_members(struct depend *depend, uint32_t slot, const struct depend_members *members,
                   const char *user, const char *name, const char *expression, berth_error_t *err)
{
    struct entering e = {0};
    if (find_entry(depend, members, &e.entry, err) < 0 ||
        depend_needs_create(depend, expression, members->id, &e.needs, err) < 0)
        return -1;
    if (e.needs)
        depend_needs_link(e.needs);
    if (prepare_entering(depend, &e, slot, members, user, name) < 0) {
        take_back_entering(depend, &e);
        errno = ENOMEM;
        return -1;
    }
    enter_prepared(depend, &e, slot);
    return 0;
}

int depend_job(struct depend *depend, uint32_t slot, const char *id, uint32_t member,
               uint32_t members, const char *user, const char *name, const char *expression,
               berth_error_t *err)
{
    struct depend_members m = {.id = id, .size = members + (members == 0), .member = member};
    return depend_members(depend, slot, &m, user, name, expression, err);
}

int depend_expect_slots(struct depend *depend, uint32_t slots)
{
    return slots > 0 ? reserve_job(depend, slots - 1) : 0;
}

int depend_part_reserve(struct depend *depend, uint32_t slot, uint32_t part, uint32_t ranges)
{
    struct entry *e = depend->job[slot].entry;
    uint32_t had = e->ranges;
    if (ranges > e->ranges)
        e->ranges = ranges;
    if (reserve_job(depend, part) < 0 || depend_entry_reserve(e, 1) < 0) {
        e->ranges = had;
        return -1;
    }
    if (dict_reserve(&depend->members) < 0 ||
        (!depend->spare && !(depend->spare = malloc(sizeof(*depend->spare)))))
        return -1;
    const struct needs *needs = depend->job[slot].needs;
    if (!needs)
        return 0;
    free(depend->spare_needs);
    depend->spare_needs = malloc(sizeof(*needs) + needs->n * sizeof(needs->edge[0]));
    return depend->spare_needs ? 0 : -1;
}

/* A member waits in a slot of its own. It is known, or the spare one is for it. */
static struct member *member_in_slot(struct depend *depend, struct entry *e, uint32_t member,
                                     uint32_t slot)
{
    struct member *m = depend_member_find(depend, e, member);
    if (!m) {
        m = depend->spare;
        depend->spare = NULL;
        depend_member_put(depend, e, member, m);
    }
    m->slot = slot;
    m->state = MEMBER_WAITING;
    return m;
}

void depend_part(struct depend *depend, uint32_t slot, uint32_t part, uint32_t member, bool before)
{
    struct entry *e = depend->job[slot].entry;
    struct member *m = member_in_slot(depend, e, member, part);
    depend->job[part] = (struct job){.entry = e, .member = m};
    e->slots++;
    join_beside(depend, slot, part, before);
    if (!depend->job[slot].needs)
        return;
    depend->job[part].needs = depend->spare_needs;
    depend->spare_needs = NULL;
    depend_needs_copy(depend, depend->job[slot].needs, depend->job[part].needs, part, before);
}

void depend_last_part(struct depend *depend, uint32_t slot, uint32_t member)
{
    struct entry *e = depend->job[slot].entry;
    struct member *m = member_in_slot(depend, e, member, slot);
    depend->job[slot].member = m;
    e->slot = DEPEND_NONE;
    e->ranges = 0;
}

/* ---- Events ---- */

static void drop_needs(struct depend *depend, struct job *job)
{
    depend_needs_destroy(depend, job->needs);
    job->needs = NULL;
}

void depend_started(struct depend *depend, uint32_t slot)
{
    struct job *job = &depend->job[slot];
    struct entry *e = job->entry;
    struct member *m = job->member;
    if (m->state != MEMBER_WAITING)
        return;
    drop_needs(depend, job);
    m->state = MEMBER_STARTED;
    e->started++;
    depend_edges_settle(depend, &m->edges, false);
    if (e->started == e->members)
        depend_edges_settle(depend, &e->edges, false);
}

void depend_requeued(struct depend *depend, uint32_t slot)
{
    struct job *job = &depend->job[slot];
    if (job->member->state != MEMBER_STARTED)
        return;
    job->member->state = MEMBER_WAITING;
    job->entry->started--;
}

void depend_ended(struct depend *depend, uint32_t slot, bool ok)
{
    struct job *job = &depend->job[slot];
    struct entry *e = job->entry;
    struct member *m = job->member;
    if (m->state >= MEMBER_FAILED)
        return;
    drop_needs(depend, job);
    bool starts = m->state != MEMBER_STARTED;
    bool one_too_many = !ok && e->ended - e->ok >= e->members - e->enough;
    m->state = ok ? MEMBER_OK : MEMBER_FAILED;
    depend_entry_end(e, (uint32_t)m->key.member, ok);
    e->started += starts;
    e->ended++;
    e->ok += ok;
    depend_edges_settle(depend, &m->edges, false);
    if ((starts && e->started == e->members) || one_too_many || e->ended == e->members)
        depend_edges_settle(depend, &e->edges, false);
    leave_row(depend, job);
}

void depend_enough(struct depend *depend, const char *id, uint32_t enough)
{
    struct entry *e = depend_entry_find(depend, id, strlen(id));
    if (!e || enough == 0 || enough > e->members)
        return;
    e->enough = enough;
    depend_edges_settle(depend, &e->edges, false);
}

uint32_t depend_enough_of(const struct depend *depend, const char *id)
{
    const struct entry *e = depend_entry_find(depend, id, strlen(id));
    return e && e->enough < e->members ? e->enough : 0;
}

uint64_t depend_ended_badly(const struct depend *depend, uint32_t slot, uint32_t first, uint32_t n)
{
    return idset_count_in(&depend->job[slot].entry->ended_badly, first, n);
}

void depend_need_all(struct depend *depend, uint32_t slot)
{
    struct entry *e = depend->job[slot].entry;
    e->enough = e->members;
}

/* Tell those who wait for a member without a slot of its own; never: it is not to come any more. */
static void settle_waiting(struct depend *depend, struct entry *e, bool never)
{
    for (struct member *m = e->first, *next; m; m = next) {
        next = m->next;
        if (m->slot == DEPEND_NONE) {
            depend_edges_settle(depend, &m->edges, never);
            depend_member_release(depend, m);
        }
    }
}

void depend_ended_waiting(struct depend *depend, uint32_t slot, const struct idset *waiting)
{
    struct job *job = &depend->job[slot];
    struct entry *e = job->entry;
    drop_needs(depend, job);
    for (uint32_t i = 0; i < waiting->n; i++)
        idset_add_apart(&e->ended_badly, waiting->v[i]); /* there is memory for it */
    e->started += (uint32_t)waiting->count;
    e->ended += (uint32_t)waiting->count;
    e->ranges = 0;
    settle_waiting(depend, e, false);
    depend_edges_settle(depend, &e->edges, false);
    leave_row(depend, job);
}

/* Those that wait together are no more: members without an end were never submitted. */
static void forget_waiting(struct depend *depend, struct entry *e)
{
    e->slot = DEPEND_NONE;
    e->ranges = 0;
    settle_waiting(depend, e, true);
}

static void forget_member(struct depend *depend, struct entry *e, struct member *m)
{
    if (m->state < MEMBER_FAILED) {
        e->started -= m->state == MEMBER_STARTED;
        m->state = MEMBER_ABSENT;
        depend_edges_settle(depend, &m->edges, true);
    }
    m->slot = DEPEND_NONE;
    depend_member_release(depend, m);
}

void depend_forget(struct depend *depend, uint32_t slot)
{
    struct job *job = &depend->job[slot];
    struct entry *e = job->entry;
    drop_needs(depend, job);
    leave_row(depend, job);
    if (job->member)
        forget_member(depend, e, job->member);
    else
        forget_waiting(depend, e);
    *job = (struct job){.entry = NULL};
    e->slots--;
    depend_entry_settle(depend, e);
}

bool depend_waits(const struct depend *depend, uint32_t slot)
{
    const struct needs *needs = depend->job[slot].needs;
    return needs && needs->unmet > 0;
}
