/* Jobs of a list, from when the core has them to when they are in the table. */
#include "server/core/lists.h"
#include "berth/sched_admin.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"

#define WRITE_STEPS  3 /* to write a job, */
#define SHOW_STEPS   3 /* to enter it and tell of it, */
#define BACK_STEPS   2 /* to take it back */
#define DROP_AT_ONCE 1000

struct list_work {
    struct server_work work;
    struct job_list *list; /* NULL: it is gone */
};

/* ---- Added ---- */

int list_number(struct job_list *list, size_t total)
{
    list->jobs = calloc(total + 1, sizeof(struct job *));
    if (!list->jobs)
        return -1;
    list->total = total;
    list->first = list->s->table.next;
    list->s->table.next += (int64_t)total;
    return 0;
}

void list_add(struct job_list *list, struct job *job)
{
    job_count(list->s, job, true);
    list->s->table.kept_jobs++;
    list->s->table.kept_members += job->members;
    list->jobs[list->n++] = job;
}

/* ---- Taken ---- */

/* The core may start a job from now on. 0, or -1: there is no memory, and it is to be done again. */
static int release(server_t *s, struct job *job)
{
    for (uint32_t i = 0; i < enter_known(job) && !job->held; i++)
        if (job->member[i].handle >= 0 &&
            sched_release(s->sched, s->clock.now, job->member[i].handle) < 0)
            return -1;
    return 0;
}

/* A job that has been released comes up. There is room for it. */
static void show(struct job_list *list, size_t i)
{
    server_t *s = list->s;
    struct job *job = list->jobs[i];
    s->table.kept_jobs--;
    s->table.kept_members -= job->members;
    job_count(s, job, false);
    job_enter(s, job);
    list->jobs[i] = NULL;
    server_event(s, job->id, -1, "submitted", NULL);
    for (uint32_t k = 0; k < enter_known(job); k++)
        if (job->member[k].handle < 0)
            member_reject(s, job, k, job->member[k].reason ? job->member[k].reason : "refused");
    enter_rest(s, job);
}

static void unlink_list(struct job_list *list)
{
    struct job_list **at = &list->s->lists;
    while (*at && *at != list)
        at = &(*at)->next;
    if (*at)
        *at = list->next;
    if (list->is_stored)
        store_unkeep_jobs(list->s->store, list->first, list->first + (int64_t)list->total - 1);
    list->s->dirty.lists = list->s->dirty.lists || list->is_stored;
    list->s->dirty.urgent = list->s->dirty.urgent || list->is_stored;
}

/* ---- Taken back ---- */

static void back_one(struct job_list *list, size_t *steps)
{
    server_t *s = list->s;
    struct job *job = list->jobs[--list->n];
    list->jobs[list->n] = NULL;
    work_spend(steps, BACK_STEPS);
    if (!job)
        return;
    work_spend(steps, enter_known(job));
    s->table.kept_jobs--;
    s->table.kept_members -= job->members;
    enter_back(s, job);
    job_count(s, job, false);
    job_discard(s, job);
}

static int drop_some(struct job_list *list, size_t *steps)
{
    int64_t dropped = 0, most = (int64_t)(*steps / BACK_STEPS) + 1;
    if (store_drop_jobs(list->s->store, list->first, list->first + (int64_t)list->total - 1, most,
                        &dropped, NULL) < 0)
        return -1;
    work_spend(steps, (size_t)dropped * BACK_STEPS);
    if (dropped < most)
        list->phase = LIST_END;
    return 0;
}

/* None of it is in memory any more. */
static void end_back(struct job_list *list)
{
    if (list->s->table.next == list->first + (int64_t)list->total && !list->is_stored)
        list->s->table.next = list->first; /* nobody has heard of them */
    list->phase = list->is_stored ? LIST_DROP : LIST_END;
}

/* ---- Going on ---- */

int list_added(struct job_list *list, bool at_once)
{
    server_t *s = list->s;
    list->done = 0;
    if (list->total > 0 && !at_once) {
        if (store_keep_jobs(s->store, list->first, list->first + (int64_t)list->total - 1) < 0)
            return -1;
        list->phase = LIST_WRITE;
        list->is_stored = s->dirty.lists = true;
        return 0;
    }
    if (array_grow((void **)&s->dirty.jobs, &s->dirty.cap_jobs, s->dirty.n_jobs + list->total,
                   sizeof(struct job *)) < 0)
        return -1;
    for (size_t i = 0; i < list->total; i++)
        if (release(s, list->jobs[i]) < 0)
            return -1;
    for (size_t i = 0; i < list->total; i++) {
        job_mark(s, list->jobs[i]);
        show(list, i);
    }
    list->phase = LIST_END;
    return 0;
}

static int write_one(struct job_list *list, size_t *steps)
{
    if (job_room(list->s, 0) < 0)
        return -1;
    job_mark(list->s, list->jobs[list->done++]);
    work_spend(steps, WRITE_STEPS);
    if (list->done == list->total) {
        list->phase = LIST_COMPLETE;
        list->complete = list->s->dirty.n_commits;
        list->s->dirty.lists = true;
        list->done = 0;
    }
    return 0;
}

static int show_one(struct job_list *list, size_t *steps)
{
    struct job *job = list->jobs[list->done];
    if (release(list->s, job) < 0)
        return -1;
    work_spend(steps, SHOW_STEPS + (job->members < *steps ? job->members : *steps));
    show(list, list->done);
    list->s->dirty.lists = true;
    if (++list->done == list->total)
        list->phase = LIST_END;
    return 0;
}

int list_advance(struct job_list *list, size_t *steps)
{
    switch (list->phase) {
    case LIST_WRITE:
        return write_one(list, steps);
    case LIST_COMPLETE:
        if (list->s->dirty.n_commits > list->complete)
            list->phase = LIST_SHOW;
        else
            *steps = 0;
        return 0;
    case LIST_SHOW:
        return show_one(list, steps);
    case LIST_BACK:
        if (list->n > 0)
            back_one(list, steps);
        else
            end_back(list);
        return 0;
    case LIST_DROP:
        return drop_some(list, steps);
    default:
        return 0;
    }
}

static void destroy(struct job_list *list)
{
    unlink_list(list);
    for (size_t i = 0; i < list->n; i++)
        job_discard(list->s, list->jobs[i]);
    if (list->clear)
        list->clear(list);
    free(list->jobs);
    free(list);
}

static int go_on(struct server_work *work, size_t *steps)
{
    struct job_list *list = ((struct list_work *)work)->list;
    while (*steps > 0 && list->phase != LIST_END)
        if (list_advance(list, steps) < 0)
            return -1;
    return list->phase == LIST_END;
}

static void clear(struct server_work *work)
{
    struct list_work *w = (struct list_work *)work;
    if (w->list)
        destroy(w->list);
}

struct job_list *list_make(server_t *s, struct user *user, size_t size)
{
    struct job_list *list = calloc(1, size);
    struct list_work *after =
        list ? (struct list_work *)work_make_behind(s, user->uid, sizeof(*after)) : NULL;
    if (!after) {
        free(list);
        return NULL;
    }
    after->list = list;
    after->work.go = go_on;
    after->work.clear = clear;
    list->after = &after->work;
    list->s = s;
    list->user = user;
    list->next = s->lists;
    s->lists = list;
    return list;
}

void list_leave(struct job_list *list, bool at_once)
{
    struct server_work *after = list->after;
    size_t enough = SIZE_MAX;
    list->after = NULL;
    if (list->phase < LIST_COMPLETE ||
        (list->phase == LIST_COMPLETE && list->s->dirty.n_commits <= list->complete))
        list->phase = LIST_BACK;
    while (at_once && list->phase != LIST_END)
        list_advance(list, &enough);
    if (list->phase != LIST_END) {
        work_start_behind(list->s, after);
        return;
    }
    ((struct list_work *)after)->list = NULL;
    work_drop(after);
    destroy(list);
}

/* ---- All lists of the server ---- */

size_t lists_bytes(const server_t *s, const struct user *user)
{
    size_t bytes = 0;
    for (const struct job_list *list = s->lists; list; list = list->next)
        bytes += list->user == user ? list->bytes : 0;
    return bytes;
}

void lists_rejected(server_t *s, int64_t id, uint32_t member, const char *reason)
{
    for (struct job_list *list = s->lists; list; list = list->next) {
        if (id < list->first || id - list->first >= (int64_t)list->n)
            continue;
        struct job *job = list->jobs[id - list->first];
        if (!job || member >= job->members)
            continue;
        job->member[member].handle = -1;
        member_text(&job->member[member].reason, reason);
    }
}

/* A line for each that the store has something of: its first number, how many there are, and how many
 * have come up; -1: they are not complete.
 */
int lists_write(server_t *s, berth_error_t *err)
{
    struct strbuf text = {0};
    for (const struct job_list *list = s->lists; list; list = list->next) {
        if (!list->is_stored)
            continue;
        bool complete =
            list->phase == LIST_COMPLETE || list->phase == LIST_SHOW || list->phase == LIST_END;
        strbuf_put_int(&text, list->first);
        strbuf_putc(&text, ' ');
        strbuf_put_uint(&text, list->total);
        strbuf_putc(&text, ' ');
        strbuf_put_int(&text, complete && list->phase != LIST_END ? (int64_t)list->done
                              : complete                          ? (int64_t)list->total
                                                                  : -1);
        strbuf_putc(&text, '\n');
    }
    int rc = text.failed ? errtext_set(err, ENOMEM, "out of memory")
                         : store_put(s->store, "lists", strbuf_text(&text), err);
    strbuf_clear(&text);
    return rc;
}

/* The next line; false: there is none. */
static bool next_line(const char **at, int64_t *first, int64_t *total, int64_t *shown)
{
    if (sscanf(*at, "%" SCNd64 " %" SCNd64 " %" SCNd64, first, total, shown) != 3 || *first < 1 ||
        *total < 1 || *total > LIST_JOBS_MAX)
        return false;
    *at += strcspn(*at, "\n");
    *at += **at == '\n';
    return true;
}

int lists_drop(server_t *s, berth_error_t *err)
{
    const char *text;
    int64_t first, total, shown, dropped = DROP_AT_ONCE;
    if (store_get(s->store, "lists", &text, err) < 0)
        return -1;
    s->lists_text = strdup(text ? text : "");
    if (!s->lists_text)
        return errtext_set(err, ENOMEM, "out of memory");
    for (const char *at = s->lists_text; next_line(&at, &first, &total, &shown);)
        for (dropped = DROP_AT_ONCE; shown < 0 && dropped == DROP_AT_ONCE;)
            if (store_drop_jobs(s->store, first, first + total - 1, DROP_AT_ONCE, &dropped, err) <
                0)
                return -1;
    return 0;
}

void lists_load(server_t *s)
{
    int64_t first, total, shown;
    s->dirty.lists = *s->lists_text != '\0';
    s->dirty.urgent = s->dirty.urgent || s->dirty.lists;
    for (const char *at = s->lists_text; next_line(&at, &first, &total, &shown);)
        for (int64_t id = first + shown; shown >= 0 && id < first + total; id++)
            if (job_lookup(s, id))
                server_event(s, id, -1, "submitted", NULL);
    free(s->lists_text);
    s->lists_text = NULL;
}

int64_t lists_first(const server_t *s, int64_t id)
{
    for (const struct job_list *list = s->lists; list; list = list->next)
        if (id >= list->first && id - list->first < (int64_t)list->total)
            return list->first;
    return id;
}

void lists_count(const server_t *s, struct user *u)
{
    for (const struct job_list *list = s->lists; list; list = list->next)
        for (size_t i = 0; list->user->uid == u->uid && i < list->n; i++)
            if (list->jobs[i])
                user_add(u, list->jobs[i]);
}

bool lists_check(const server_t *s)
{
    size_t jobs = 0, members = 0;
    for (const struct job_list *list = s->lists; list; list = list->next) {
        for (size_t i = 0; i < list->n; i++) {
            jobs += list->jobs[i] != NULL;
            members += list->jobs[i] ? list->jobs[i]->members : 0;
        }
    }
    return jobs == s->table.kept_jobs && members == s->table.kept_members;
}
