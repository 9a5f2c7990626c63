/* The jobs of a bulk submission, from their admission to the core to the table of jobs. */
#include "server/core/bulk.h"
#include "berth/sched_admin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "config/members.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/users.h"

#define WRITE_STEPS  3 /* to store a job */
#define SHOW_STEPS   3 /* to publish it */
#define BACK_STEPS   2 /* to undo it */
#define DROP_AT_ONCE 1000

struct bulk_work {
    struct server_work work;
    struct bulk *list; /* NULL: it is gone */
};

/* ---- Adding jobs ---- */

int bulk_reserve_ids(struct bulk *list, size_t total)
{
    list->jobs = calloc(total + 1, sizeof(struct job *));
    if (!list->jobs)
        return -1;
    list->total = total;
    list->first = list->s->table.next;
    list->s->table.next += (int64_t)total;
    return 0;
}

void bulk_add(struct bulk *list, struct job *job)
{
    job_charge(list->s, job, true);
    list->s->table.kept_jobs++;
    list->jobs[list->n++] = job;
}

/* ---- Publishing ---- */

/* Let the core start a job. 0, or -1: out of memory, try again. */
static int release_job(server_t *s, struct job *job)
{
    sched_job_t handle = member_handle(job, member_next(job, 0));
    return handle >= 0 && !job->held ? sched_release(s->sched, s->clock.now, handle) : 0;
}

/* Put a released job into the table, where its user sees it. There is room for it. */
static void publish(struct bulk *list, size_t i)
{
    server_t *s = list->s;
    struct job *job = list->jobs[i];
    s->table.kept_jobs--;
    job_charge(s, job, false);
    job_insert(s, job);
    list->jobs[i] = NULL;
    server_event(s, job->id, -1, "submitted", NULL);
    const char *reason = member_look(job, member_next(job, 0))->reason;
    for (uint32_t k = 0; (k = member_next(job, k)) < job->members; k++)
        if (member_handle(job, k) < 0)
            member_reject(s, job, k, reason ? reason : "refused");
}

static void bulk_unlink(struct bulk *list)
{
    struct bulk **at = &list->s->bulks;
    while (*at && *at != list)
        at = &(*at)->next;
    if (*at)
        *at = list->next;
    if (list->is_stored)
        store_release_ids(list->s->store, list->first, list->first + (int64_t)list->total - 1);
    list->s->unsaved.bulks = list->s->unsaved.bulks || list->is_stored;
    list->s->unsaved.urgent = list->s->unsaved.urgent || list->is_stored;
}

/* ---- Undoing ---- */

static void undo_one(struct bulk *list, size_t *steps)
{
    server_t *s = list->s;
    struct job *job = list->jobs[--list->n];
    list->jobs[list->n] = NULL;
    work_spend(steps, BACK_STEPS);
    if (!job)
        return;
    s->table.kept_jobs--;
    job_withdraw(s, job);
    job_charge(s, job, false);
    job_discard(s, job);
}

static int delete_some(struct bulk *list, size_t *steps)
{
    int64_t dropped = 0, most = (int64_t)(*steps / BACK_STEPS) + 1;
    if (store_drop_jobs(list->s->store, list->first, list->first + (int64_t)list->total - 1, most,
                        &dropped, NULL) < 0)
        return -1;
    work_spend(steps, (size_t)dropped * BACK_STEPS);
    if (dropped < most)
        list->phase = BULK_DONE;
    return 0;
}

/* Nothing is left in memory. */
static void end_undo(struct bulk *list)
{
    if (list->s->table.next == list->first + (int64_t)list->total && !list->is_stored)
        list->s->table.next = list->first; /* no client was told these ids */
    list->phase = list->is_stored ? BULK_DELETE : BULK_DONE;
}

/* ---- Phases ---- */

int bulk_accept(struct bulk *list, bool at_once)
{
    server_t *s = list->s;
    list->done = 0;
    if (list->total > 0 && !at_once) {
        if (store_reserve_ids(s->store, list->first, list->first + (int64_t)list->total - 1) < 0)
            return -1;
        list->phase = BULK_WRITE;
        list->is_stored = s->unsaved.bulks = true;
        return 0;
    }
    if (array_grow((void **)&s->unsaved.jobs, &s->unsaved.cap_jobs, s->unsaved.n_jobs + list->total,
                   sizeof(struct job *)) < 0)
        return -1;
    for (size_t i = 0; i < list->total; i++)
        if (release_job(s, list->jobs[i]) < 0)
            return -1;
    for (size_t i = 0; i < list->total; i++) {
        job_changed(s, list->jobs[i]);
        publish(list, i);
    }
    list->phase = BULK_DONE;
    return 0;
}

static int write_one(struct bulk *list, size_t *steps)
{
    if (unsaved_reserve(list->s, 0) < 0)
        return -1;
    job_changed(list->s, list->jobs[list->done++]);
    work_spend(steps, WRITE_STEPS);
    if (list->done == list->total) {
        list->phase = BULK_COMMIT;
        list->complete = list->s->unsaved.n_commits;
        list->s->unsaved.bulks = true;
        list->done = 0;
    }
    return 0;
}

static int publish_one(struct bulk *list, size_t *steps)
{
    struct job *job = list->jobs[list->done];
    if (release_job(list->s, job) < 0)
        return -1;
    work_spend(steps, SHOW_STEPS + (job->members < *steps ? job->members : *steps));
    publish(list, list->done);
    list->s->unsaved.bulks = true;
    if (++list->done == list->total)
        list->phase = BULK_DONE;
    return 0;
}

int bulk_advance(struct bulk *list, size_t *steps)
{
    switch (list->phase) {
    case BULK_WRITE:
        return write_one(list, steps);
    case BULK_COMMIT:
        if (list->s->unsaved.n_commits > list->complete)
            list->phase = BULK_PUBLISH;
        else
            *steps = 0;
        return 0;
    case BULK_PUBLISH:
        return publish_one(list, steps);
    case BULK_UNDO:
        if (list->n > 0)
            undo_one(list, steps);
        else
            end_undo(list);
        return 0;
    case BULK_DELETE:
        return delete_some(list, steps);
    default:
        return 0;
    }
}

static void bulk_destroy(struct bulk *list)
{
    bulk_unlink(list);
    for (size_t i = 0; i < list->n; i++)
        job_discard(list->s, list->jobs[i]);
    if (list->clear)
        list->clear(list);
    free(list->jobs);
    free(list);
}

static int bulk_slice(struct server_work *work, size_t *steps)
{
    struct bulk *list = ((struct bulk_work *)work)->list;
    while (*steps > 0 && list->phase != BULK_DONE)
        if (bulk_advance(list, steps) < 0)
            return -1;
    return list->phase == BULK_DONE;
}

static void bulk_work_clear(struct server_work *work)
{
    struct bulk_work *w = (struct bulk_work *)work;
    if (w->list)
        bulk_destroy(w->list);
}

struct bulk *bulk_create(server_t *s, struct user *user, size_t size)
{
    struct bulk *list = calloc(1, size);
    struct bulk_work *after =
        list ? (struct bulk_work *)work_create_background(s, user->uid, sizeof(*after)) : NULL;
    if (!after) {
        free(list);
        return NULL;
    }
    after->list = list;
    after->work.go = bulk_slice;
    after->work.clear = bulk_work_clear;
    list->after = &after->work;
    list->s = s;
    list->user = user;
    list->next = s->bulks;
    s->bulks = list;
    return list;
}

void bulk_abandon(struct bulk *list, bool at_once)
{
    struct server_work *after = list->after;
    size_t enough = SIZE_MAX;
    list->after = NULL;
    if (list->phase < BULK_COMMIT ||
        (list->phase == BULK_COMMIT && list->s->unsaved.n_commits <= list->complete))
        list->phase = BULK_UNDO;
    while (at_once && list->phase != BULK_DONE)
        bulk_advance(list, &enough);
    if (list->phase != BULK_DONE) {
        work_start_background(list->s, after);
        return;
    }
    ((struct bulk_work *)after)->list = NULL;
    work_destroy(after);
    bulk_destroy(list);
}

/* ---- All bulk submissions of the server ---- */

size_t bulk_bytes_of_user(const server_t *s, const struct user *user)
{
    size_t bytes = 0;
    for (const struct bulk *list = s->bulks; list; list = list->next)
        bytes += list->user == user ? list->bytes : 0;
    return bytes;
}

void bulk_member_rejected(server_t *s, int64_t id, uint32_t member, const char *reason)
{
    for (struct bulk *list = s->bulks; list; list = list->next) {
        if (id < list->first || id - list->first >= (int64_t)list->n)
            continue;
        struct job *job = list->jobs[id - list->first];
        struct member *m = job && member_exists(job, member) ? member_make(s, job, member) : NULL;
        if (job)
            job->entry = -1;
        if (!m) /* the core no longer knows it, which is seen when the job is published */
            continue;
        m->handle = -1;
        text_assign(&m->reason, reason);
    }
}

/* A line for each bulk submission that the store knows: first id, number of jobs, and how many are
 * published; -1: they are not all stored.
 */
int bulk_write(server_t *s, berth_error_t *err)
{
    struct strbuf text = {0};
    for (const struct bulk *list = s->bulks; list; list = list->next) {
        if (!list->is_stored)
            continue;
        bool complete =
            list->phase == BULK_COMMIT || list->phase == BULK_PUBLISH || list->phase == BULK_DONE;
        strbuf_put_int(&text, list->first);
        strbuf_putc(&text, ' ');
        strbuf_put_uint(&text, list->total);
        strbuf_putc(&text, ' ');
        strbuf_put_int(&text, complete && list->phase != BULK_DONE ? (int64_t)list->done
                              : complete                           ? (int64_t)list->total
                                                                   : -1);
        strbuf_putc(&text, '\n');
    }
    int rc = text.failed ? errtext_no_memory(err)
                         : store_put(s->store, "lists", strbuf_text(&text), err);
    strbuf_clear(&text);
    return rc;
}

/* The next line; false: there is none. */
static bool next_stored_bulk(const char **at, int64_t *first, int64_t *total, int64_t *shown)
{
    if (sscanf(*at, "%" SCNd64 " %" SCNd64 " %" SCNd64, first, total, shown) != 3 || *first < 1 ||
        *total < 1 || *total > BULK_JOBS_MAX)
        return false;
    *at += strcspn(*at, "\n");
    *at += **at == '\n';
    return true;
}

int bulk_delete_incomplete(server_t *s, berth_error_t *err)
{
    const char *text;
    int64_t first, total, shown, dropped = DROP_AT_ONCE;
    if (store_get(s->store, "lists", &text, err) < 0)
        return -1;
    s->bulks_text = strdup(text ? text : "");
    if (!s->bulks_text)
        return errtext_no_memory(err);
    for (const char *at = s->bulks_text; next_stored_bulk(&at, &first, &total, &shown);)
        for (dropped = DROP_AT_ONCE; shown < 0 && dropped == DROP_AT_ONCE;)
            if (store_drop_jobs(s->store, first, first + total - 1, DROP_AT_ONCE, &dropped, err) <
                0)
                return -1;
    return 0;
}

void bulk_recover(server_t *s)
{
    int64_t first, total, shown;
    s->unsaved.bulks = *s->bulks_text != '\0';
    s->unsaved.urgent = s->unsaved.urgent || s->unsaved.bulks;
    for (const char *at = s->bulks_text; next_stored_bulk(&at, &first, &total, &shown);)
        for (int64_t id = first + shown; shown >= 0 && id < first + total; id++)
            if (job_lookup(s, id))
                server_event(s, id, -1, "submitted", NULL);
    free(s->bulks_text);
    s->bulks_text = NULL;
}

int64_t bulk_first_id(const server_t *s, int64_t id)
{
    for (const struct bulk *list = s->bulks; list; list = list->next)
        if (id >= list->first && id - list->first < (int64_t)list->total)
            return list->first;
    return id;
}

void bulk_charge_user(const server_t *s, struct user *u)
{
    for (const struct bulk *list = s->bulks; list; list = list->next)
        for (size_t i = 0; list->user->uid == u->uid && i < list->n; i++)
            if (list->jobs[i])
                user_charge_job(u, list->jobs[i]);
}

bool bulk_check(const server_t *s)
{
    size_t jobs = 0;
    for (const struct bulk *list = s->bulks; list; list = list->next) {
        for (size_t i = 0; i < list->n; i++)
            jobs += list->jobs[i] != NULL;
    }
    return jobs == s->table.kept_jobs;
}
