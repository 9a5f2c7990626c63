/* A list of jobs, from its text to the table. */
#include "server/api/bulk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/json_out.h"
#include "berth/sched_admin.h"
#include "server/api/job_read.h"
#include "server/core/work.h"

#define READ_STEPS   5 /* to read a job and hand it to the core, */
#define WRITE_STEPS  3 /* to write it, */
#define SHOW_STEPS   3 /* to enter it and tell of it, */
#define BACK_STEPS   2 /* to take it back */
#define DROP_AT_ONCE 1000
#define SCAN_BYTES   2048 /* of the body, that are looked through in a step */

enum phase {
    BULK_COUNT,    /* how many there are */
    BULK_READ,     /* they are read, checked and handed to the core */
    BULK_WRITE,    /* they go to the store */
    BULK_COMPLETE, /* they are all there with the next commit */
    BULK_SHOW,     /* they come up */
    BULK_BACK,     /* they are taken back */
    BULK_DROP,     /* and out of the store */
    BULK_END
};

struct bulk {
    struct bulk *next; /* of the server's */
    struct server_work
        *after; /* what goes on when the request has been answered; NULL: that is at work */
    server_t *s;
    enum phase phase;
    const char *body;
    char *copy; /* of the body, once the request is gone */
    size_t length, begin,
        at;     /* of the body, where its list begins, and how far that has been looked through */
    bool begun; /* it is no longer the request itself that is at work */
    int64_t first;
    size_t total, n;   /* jobs in the list; read so far */
    size_t done;       /* jobs that this phase is done with */
    struct job **jobs; /* by number from `first` on; NULL: no more, or in the table */
    uint64_t complete; /* number of commits before the one that makes them complete */
    bool is_stored;    /* the store has heard of it */
    struct job_context context;
    char what[40];
};

struct bulk_work {
    struct server_work work;
    struct bulk *bulk; /* NULL: another work has it */
};

/* ---- The text ---- */

/* The end of a value that begins at `at`: a comma or bracket that is not inside of it, or the end of the text. */
static size_t value_end(const char *text, size_t length, size_t at)
{
    size_t depth = 0;
    for (; at < length; at++) {
        switch (text[at]) {
        case '"':
            for (at++; at < length && text[at] != '"'; at++)
                at += text[at] == '\\';
            break;
        case '[':
        case '{':
            depth++;
            break;
        case ']':
        case '}':
            if (depth-- == 0)
                return at;
            break;
        case ',':
            if (depth == 0)
                return at;
            break;
        default:
            break;
        }
    }
    return length;
}

static size_t skip_space(const char *text, size_t length, size_t at)
{
    while (at < length && memchr(" \t\r\n", text[at], 4))
        at++;
    return at;
}

/* The body is wrong at some place, or so many lines and columns behind it. */
static int wrong_text(struct call *c, const struct bulk *b, size_t at, const json_error_t *why)
{
    int line = 1, column = 1;
    for (size_t i = 0; i < at && i < b->length; i++) {
        column = b->body[i] == '\n' ? 1 : column + 1;
        line += b->body[i] == '\n';
    }
    if (!why)
        return api_refuse(c, 400, NULL, "the body is no JSON: line %d, column %d: expected %s",
                          line, column, at < b->length ? "the end of the list" : "']'");
    return api_refuse(c, 400, NULL, "the body is no JSON: line %d, column %d: %s",
                      line + why->line - 1, why->line > 1 ? why->column : column + why->column - 1,
                      why->text);
}

/* ---- Counting ---- */

static int begin_reading(struct call *c, struct bulk *b)
{
    server_t *s = b->s;
    if (skip_space(b->body, b->length, b->at + 1) < b->length)
        return wrong_text(c, b, b->at + 1, NULL);
    b->jobs = calloc(b->total + 1, sizeof(*b->jobs));
    if (!b->jobs || !strbuf_room(c->out, b->total * (STRBUF_NUMBER_MAX + 1) + 20))
        return api_refuse(c, 503, NULL, "out of memory");
    b->first = s->table.next;
    b->phase = BULK_READ;
    b->at = b->begin + 1;
    s->table.next += (int64_t)b->total;
    return 0;
}

/* Count the values of the list. */
static int count_one(struct call *c, struct bulk *b, size_t *steps)
{
    size_t from = b->at + 1, end = value_end(b->body, b->length, from);
    work_spend(steps, 1 + (end - from) / SCAN_BYTES);
    b->at = end;
    if (end == b->length || (b->body[end] != ',' && b->body[end] != ']'))
        return wrong_text(c, b, end, NULL);
    bool is_empty =
        b->body[end] == ']' && b->total == 0 && skip_space(b->body, b->length, from) == end;
    b->total += !is_empty;
    if (b->total > API_JOBS_MAX)
        return api_refuse(c, 413, NULL, "more than %d jobs at once", API_JOBS_MAX);
    return b->body[end] == ']' ? begin_reading(c, b) : 0;
}

/* ---- Reading ---- */

static json_t *parse(struct call *c, struct bulk *b, size_t *steps)
{
    json_error_t why;
    size_t from = skip_space(b->body, b->length, b->at), end = value_end(b->body, b->length, from);
    work_spend(steps, READ_STEPS + (end - from) / SCAN_BYTES);
    if (end - from > API_READ_MAX || api_is_heavy(b->body + from, end - from)) {
        api_refuse(c, 413, NULL, "%s%s", b->what,
                   end - from > API_READ_MAX ? "a job is larger than 3 MiB" : "too many values");
        return NULL;
    }
    bool no_memory;
    json_t *value = api_load(b->body + from, end - from, JSON_DECODE_ANY, &no_memory, &why);
    b->at = end + 1;
    if (no_memory)
        api_refuse(c, 503, NULL, "out of memory");
    else if (!value)
        wrong_text(c, b, from, &why);
    return value;
}

/* The next job is read, and the core has it. */
static int read_one(struct call *c, struct bulk *b, size_t *steps)
{
    server_t *s = b->s;
    berth_error_t why = {""};
    snprintf(b->what, sizeof(b->what), "jobs[%zu]: ", b->n);
    json_t *value = parse(c, b, steps);
    if (!value)
        return -1;
    struct job *job = job_read(&b->context, value, b->first + (int64_t)b->n, &why);
    json_decref(value);
    if (!job)
        return api_wrong(c, &why);
    int64_t entered = -1;
    if (api_may_submit(c, b->context.user, job, &why) == 0 && job_reserve(s, 1, job->members) == 0)
        entered = enter_first(s, job, *steps, true, &why);
    else if (!why.text[0])
        errtext_set(&why, ENOMEM, "out of memory");
    if (entered >= 0 && entered < job->members && enter_keep(s, job, (uint32_t)entered) < 0) {
        enter_back(s, job);
        entered = errtext_set(&why, ENOMEM, "out of memory");
    }
    if (entered < 0) {
        int saved = errno;
        job_discard(s, job);
        if (strncmp(why.text, b->what, strlen(b->what)) != 0) {
            berth_error_t plain = why;
            errtext_set(&why, saved, "%s%.230s", b->what, plain.text);
        }
        errno = saved;
        return api_wrong(c, &why);
    }
    job_count(s, job, true);
    s->table.kept_jobs++;
    s->table.kept_members += job->members;
    work_spend(steps, (size_t)entered);
    b->jobs[b->n++] = job;
    return 0;
}

/* ---- Taken ---- */

static void put_answer(struct call *c, const struct bulk *b)
{
    struct json_out out = {.text = c->out};
    strbuf_reset(c->out);
    json_open(&out, NULL, '{');
    json_open(&out, "ids", '[');
    for (size_t i = 0; i < b->total; i++)
        json_put_int(&out, NULL, b->first + (int64_t)i);
    strbuf_puts(c->out, "]}\n");
    c->reply->status = 201;
    c->reply->wait = true;
}

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
static void show(struct bulk *b, size_t i)
{
    server_t *s = b->s;
    struct job *job = b->jobs[i];
    s->table.kept_jobs--;
    s->table.kept_members -= job->members;
    job_count(s, job, false);
    job_enter(s, job);
    b->jobs[i] = NULL;
    server_event(s, job->id, -1, "submitted", NULL);
    for (uint32_t k = 0; k < enter_known(job); k++)
        if (job->member[k].handle < 0)
            member_reject(s, job, k, job->member[k].reason ? job->member[k].reason : "refused");
    enter_rest(s, job);
}

static void unlink_bulk(struct bulk *b)
{
    struct bulk **at = &b->s->bulks;
    while (*at && *at != b)
        at = &(*at)->next;
    if (*at)
        *at = b->next;
    if (b->is_stored)
        store_unkeep_jobs(b->s->store, b->first, b->first + (int64_t)b->total - 1);
    b->s->dirty.lists = b->s->dirty.lists || b->is_stored;
    b->s->dirty.urgent = b->s->dirty.urgent || b->is_stored;
}

/* ---- Taken back ---- */

static void back_one(struct bulk *b, size_t *steps)
{
    server_t *s = b->s;
    struct job *job = b->jobs[--b->n];
    b->jobs[b->n] = NULL;
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

static int drop_some(struct bulk *b, size_t *steps)
{
    int64_t dropped = 0, most = (int64_t)(*steps / BACK_STEPS) + 1;
    if (store_drop_jobs(b->s->store, b->first, b->first + (int64_t)b->total - 1, most, &dropped,
                        NULL) < 0)
        return -1;
    work_spend(steps, (size_t)dropped * BACK_STEPS);
    if (dropped < most)
        b->phase = BULK_END;
    return 0;
}

/* None of it is in memory any more. */
static void end_back(struct bulk *b)
{
    if (b->s->table.next == b->first + (int64_t)b->total && !b->is_stored)
        b->s->table.next = b->first; /* nobody has heard of them */
    b->phase = b->is_stored ? BULK_DROP : BULK_END;
}

/* ---- Going on ---- */

/* All have been read. What is done within the request goes with the next commit, as one job does. */
static int all_read(struct bulk *b)
{
    server_t *s = b->s;
    b->done = 0;
    if (b->total > 0 && b->begun) {
        if (store_keep_jobs(s->store, b->first, b->first + (int64_t)b->total - 1) < 0)
            return -1;
        b->phase = BULK_WRITE;
        b->is_stored = s->dirty.lists = true;
        return 0;
    }
    if (array_grow((void **)&s->dirty.jobs, &s->dirty.cap_jobs, s->dirty.n_jobs + b->total,
                   sizeof(struct job *)) < 0)
        return -1;
    for (size_t i = 0; i < b->total; i++)
        if (release(s, b->jobs[i]) < 0)
            return -1;
    for (size_t i = 0; i < b->total; i++) {
        job_mark(s, b->jobs[i]);
        show(b, i);
    }
    b->phase = BULK_END;
    return 0;
}

static int write_one(struct bulk *b, size_t *steps)
{
    if (job_room(b->s, 0) < 0)
        return -1;
    job_mark(b->s, b->jobs[b->done++]);
    work_spend(steps, WRITE_STEPS);
    if (b->done == b->total) {
        b->phase = BULK_COMPLETE;
        b->complete = b->s->dirty.n_commits;
        b->s->dirty.lists = true;
        b->done = 0;
    }
    return 0;
}

static int show_one(struct bulk *b, size_t *steps)
{
    struct job *job = b->jobs[b->done];
    if (release(b->s, job) < 0)
        return -1;
    work_spend(steps, SHOW_STEPS + (job->members < *steps ? job->members : *steps));
    show(b, b->done);
    b->s->dirty.lists = true;
    if (++b->done == b->total)
        b->phase = BULK_END;
    return 0;
}

/* A part of any phase. 0, or -1: there is no memory, or no room on the disk, to go on. c is NULL once it is answered. */
static int advance(struct call *c, struct bulk *b, size_t *steps)
{
    switch (b->phase) {
    case BULK_COUNT:
        if (count_one(c, b, steps) < 0)
            b->phase = BULK_BACK;
        return 0;
    case BULK_READ:
        if (b->n < b->total) {
            if (read_one(c, b, steps) < 0)
                b->phase = BULK_BACK;
            return 0;
        }
        return all_read(b);
    case BULK_WRITE:
        return write_one(b, steps);
    case BULK_COMPLETE:
        if (b->s->dirty.n_commits > b->complete)
            b->phase = BULK_SHOW;
        else
            *steps = 0;
        return 0;
    case BULK_SHOW:
        return show_one(b, steps);
    case BULK_BACK:
        if (b->n > 0)
            back_one(b, steps);
        else
            end_back(b);
        return 0;
    case BULK_DROP:
        return drop_some(b, steps);
    default:
        return 0;
    }
}

static void destroy(struct bulk *b)
{
    unlink_bulk(b);
    for (size_t i = 0; i < b->n; i++)
        job_discard(b->s, b->jobs[i]);
    shared_leave(b->context.environment);
    shared_leave(b->context.script);
    free(b->jobs);
    free(b->copy);
    free(b);
}

/* Once the request is answered. */
static int go_on_after(struct server_work *work, size_t *steps)
{
    struct bulk *b = ((struct bulk_work *)work)->bulk;
    while (*steps > 0 && b->phase != BULK_END)
        if (advance(NULL, b, steps) < 0)
            return -1;
    return b->phase == BULK_END;
}

/* The body is gone with the request. */
static int keep_body(struct call *c, struct bulk *b)
{
    b->begun = true;
    b->copy = malloc(b->length + 1);
    if (!b->copy)
        return api_refuse(c, 503, NULL, "out of memory");
    memcpy(b->copy, b->body, b->length);
    b->body = b->copy;
    return 0;
}

static int go_on(struct server_work *work, size_t *steps)
{
    struct bulk *b = ((struct bulk_work *)work)->bulk;
    struct call *c = &work->call;
    while (*steps > 0 && b->phase < BULK_BACK) {
        if (advance(c, b, steps) < 0) {
            if (b->begun)
                return -1;
            api_refuse(c, 503, NULL, "out of memory");
            b->phase = BULK_BACK;
        }
    }
    if (b->phase >= BULK_BACK && b->phase != BULK_END)
        return 1; /* it has been refused */
    if (b->phase == BULK_END) {
        put_answer(c, b);
        return 1;
    }
    if (!b->begun && keep_body(c, b) < 0) {
        b->phase = BULK_BACK;
        return 1;
    }
    return 0;
}

static void clear_after(struct server_work *work)
{
    struct bulk_work *w = (struct bulk_work *)work;
    if (w->bulk)
        destroy(w->bulk);
}

/* What it has begun is done, or taken back, without the request. */
static void clear(struct server_work *work)
{
    struct bulk *b = ((struct bulk_work *)work)->bulk;
    if (!b)
        return;
    struct server_work *after = b->after;
    b->after = NULL;
    if (b->phase < BULK_COMPLETE ||
        (b->phase == BULK_COMPLETE && b->s->dirty.n_commits <= b->complete))
        b->phase = BULK_BACK;
    size_t enough = SIZE_MAX;
    while (!b->begun && b->phase != BULK_END) /* it is a small one */
        advance(NULL, b, &enough);
    if (b->phase != BULK_END) {
        work_start_behind(b->s, after);
        return;
    }
    ((struct bulk_work *)after)->bulk = NULL;
    work_drop(after);
    destroy(b);
}

/* How much of a user's lists is kept. */
static size_t bytes_of(const server_t *s, const struct user *user)
{
    size_t bytes = 0;
    for (const struct bulk *b = s->bulks; b; b = b->next)
        bytes += b->context.user == user && b->copy ? b->length : 0;
    return bytes;
}

static struct bulk *bulk_make(struct call *c, struct user *user)
{
    server_t *s = c->s;
    struct bulk *b = calloc(1, sizeof(*b));
    struct bulk_work *after =
        b ? (struct bulk_work *)work_make_behind(s, user->uid, sizeof(*after)) : NULL;
    if (!after) {
        free(b);
        api_refuse(c, 503, NULL, "out of memory");
        return NULL;
    }
    after->bulk = b;
    after->work.go = go_on_after;
    after->work.clear = clear_after;
    b->after = &after->work;
    b->s = s;
    b->body = c->request->body;
    b->length = c->request->length;
    b->at = b->begin = skip_space(b->body, b->length, 0);
    b->context = (struct job_context){.s = s, .user = user, .what = b->what};
    b->next = s->bulks;
    s->bulks = b;
    return b;
}

void bulk_start(struct call *c, struct user *user)
{
    if (bytes_of(c->s, user) + c->request->length > API_BODY_MAX) {
        api_refuse(c, c->request->length > API_BODY_MAX ? 413 : 429, NULL,
                   c->request->length > API_BODY_MAX
                       ? "the body is larger than 64 MiB"
                       : "other lists of your jobs are being taken: wait for them");
        return;
    }
    struct bulk_work *w = (struct bulk_work *)work_make(c, sizeof(*w));
    if (!w)
        return;
    w->work.go = go_on;
    w->work.clear = clear;
    w->bulk = bulk_make(c, user);
    if (!w->bulk) {
        work_drop(&w->work);
        return;
    }
    work_start(c, &w->work);
}

/* ---- For the rest of the server ---- */

void bulk_rejected(server_t *s, int64_t id, uint32_t member, const char *reason)
{
    for (struct bulk *b = s->bulks; b; b = b->next) {
        if (id < b->first || id - b->first >= (int64_t)b->n)
            continue;
        struct job *job = b->jobs[id - b->first];
        if (!job || member >= job->members)
            continue;
        job->member[member].handle = -1;
        member_text(&job->member[member].reason, reason);
    }
}

/* A line for each that the store has something of: its first number, how many there are, and how many have come up; -1: they
 * are not complete.
 */
int bulk_write(server_t *s, berth_error_t *err)
{
    struct strbuf text = {0};
    for (const struct bulk *b = s->bulks; b; b = b->next) {
        if (!b->is_stored)
            continue;
        bool complete = b->phase == BULK_COMPLETE || b->phase == BULK_SHOW || b->phase == BULK_END;
        strbuf_put_int(&text, b->first);
        strbuf_putc(&text, ' ');
        strbuf_put_uint(&text, b->total);
        strbuf_putc(&text, ' ');
        strbuf_put_int(&text, complete && b->phase != BULK_END ? (int64_t)b->done
                              : complete                       ? (int64_t)b->total
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
        *total < 1 || *total > API_JOBS_MAX)
        return false;
    *at += strcspn(*at, "\n");
    *at += **at == '\n';
    return true;
}

int bulk_drop(server_t *s, berth_error_t *err)
{
    const char *text;
    int64_t first, total, shown, dropped = DROP_AT_ONCE;
    if (store_get(s->store, "lists", &text, err) < 0)
        return -1;
    s->lists = strdup(text ? text : "");
    if (!s->lists)
        return errtext_set(err, ENOMEM, "out of memory");
    for (const char *at = s->lists; next_line(&at, &first, &total, &shown);)
        for (dropped = DROP_AT_ONCE; shown < 0 && dropped == DROP_AT_ONCE;)
            if (store_drop_jobs(s->store, first, first + total - 1, DROP_AT_ONCE, &dropped, err) <
                0)
                return -1;
    return 0;
}

void bulk_load(server_t *s)
{
    int64_t first, total, shown;
    s->dirty.lists = *s->lists != '\0';
    s->dirty.urgent = s->dirty.urgent || s->dirty.lists;
    for (const char *at = s->lists; next_line(&at, &first, &total, &shown);)
        for (int64_t id = first + shown; shown >= 0 && id < first + total; id++)
            if (job_lookup(s, id))
                server_event(s, id, -1, "submitted", NULL);
    free(s->lists);
    s->lists = NULL;
}

int64_t bulk_first(const server_t *s, int64_t id)
{
    for (const struct bulk *b = s->bulks; b; b = b->next)
        if (id >= b->first && id - b->first < (int64_t)b->total)
            return b->first;
    return id;
}

void bulk_count(const server_t *s, struct user *u)
{
    for (const struct bulk *b = s->bulks; b; b = b->next)
        for (size_t i = 0; b->context.user->uid == u->uid && i < b->n; i++)
            if (b->jobs[i])
                user_add(u, b->jobs[i]);
}

bool bulk_check(const server_t *s)
{
    size_t jobs = 0, members = 0;
    for (const struct bulk *b = s->bulks; b; b = b->next) {
        for (size_t i = 0; i < b->n; i++) {
            jobs += b->jobs[i] != NULL;
            members += b->jobs[i] ? b->jobs[i]->members : 0;
        }
    }
    return jobs == s->table.kept_jobs && members == s->table.kept_members;
}
