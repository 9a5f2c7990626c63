/* Bulk submissions: the list is counted, then read job by job; core/bulk.c does the rest. */
#include "server/api/bulk.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/json_out.h"
#include "berth/sched_admin.h"
#include "config/members.h"
#include "server/api/call_work.h"
#include "server/api/job_read.h"
#include "server/core/bulk.h"
#include "server/core/members.h"
#include "server/core/priv.h"

#define READ_STEPS 5    /* to read a job and admit it */
#define SCAN_BYTES 2048 /* of the body, scanned per step */

struct bulk_request {
    struct bulk list;
    const char *body;
    char *copy;           /* of the body, for when the request is gone */
    size_t length, begin; /* of the body, and where its list begins */
    size_t at;            /* how far it was scanned */
    size_t counted;       /* jobs counted so far */
    bool is_counted;      /* the whole list was counted */
    bool begun;           /* it goes on after the request */
    struct job_context context;
    char what[40];
};

struct request_work {
    struct call_work work;
    struct bulk_request *bulk; /* NULL: not created */
};

/* ---- The text ---- */

/* The end of the value that begins at `at`: the next comma or bracket outside of it, or the end of the
 * text.
 */
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

/* Refuse a body that is malformed at `at`, or at a line and column after that. */
static int wrong_text(struct call *c, const struct bulk_request *b, size_t at,
                      const json_error_t *why)
{
    int line = 1, column = 1;
    for (size_t i = 0; i < at && i < b->length; i++) {
        column = b->body[i] == '\n' ? 1 : column + 1;
        line += b->body[i] == '\n';
    }
    if (!why)
        return api_refuse(c, 400, NULL,
                          "the body is not valid JSON: line %d, column %d: expected %s", line,
                          column, at < b->length ? "the end of the list" : "']'");
    return api_refuse(c, 400, NULL, "the body is not valid JSON: line %d, column %d: %s",
                      line + why->line - 1, why->line > 1 ? why->column : column + why->column - 1,
                      why->text);
}

/* ---- Counting ---- */

static int begin_reading(struct call *c, struct bulk_request *b)
{
    if (skip_space(b->body, b->length, b->at + 1) < b->length)
        return wrong_text(c, b, b->at + 1, NULL);
    if (!strbuf_room(c->out, b->counted * (STRBUF_NUMBER_MAX + 1) + 20) ||
        bulk_reserve_ids(&b->list, b->counted) < 0)
        return api_refuse(c, 503, NULL, "out of memory");
    b->is_counted = true;
    b->context.array = b->list.first;
    b->at = b->begin + 1;
    return 0;
}

/* Count one more job. */
static int count_one(struct call *c, struct bulk_request *b, size_t *steps)
{
    size_t from = b->at + 1, end = value_end(b->body, b->length, from);
    work_spend(steps, 1 + (end - from) / SCAN_BYTES);
    b->at = end;
    if (end == b->length || (b->body[end] != ',' && b->body[end] != ']'))
        return wrong_text(c, b, end, NULL);
    bool is_empty =
        b->body[end] == ']' && b->counted == 0 && skip_space(b->body, b->length, from) == end;
    b->counted += !is_empty;
    if (b->counted > BULK_JOBS_MAX)
        return api_refuse(c, 413, NULL, "expected at most %d jobs at once", BULK_JOBS_MAX);
    return b->body[end] == ']' ? begin_reading(c, b) : 0;
}

/* ---- Reading ---- */

static json_t *parse_next(struct call *c, struct bulk_request *b, size_t *steps)
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

/* Read the next job and admit it to the core. */
static int read_one(struct call *c, struct bulk_request *b, size_t *steps)
{
    server_t *s = c->s;
    berth_error_t why = {""};
    snprintf(b->what, sizeof(b->what), "jobs[%zu]: ", b->list.n);
    json_t *value = parse_next(c, b, steps);
    if (!value)
        return -1;
    if (bulk_name_earlier(b->what, value, b->list.first, (int64_t)b->list.n, &why) < 0) {
        json_decref(value);
        return api_wrong(c, &why);
    }
    struct job *job = job_read(&b->context, value, b->list.first + (int64_t)b->list.n, &why);
    json_decref(value);
    if (!job)
        return api_wrong(c, &why);
    int entered = -1;
    if (api_may_submit(c, b->context.user, job, &why) == 0 && job_table_reserve(s, 1) == 0)
        entered = admit_job(s, job, true, &why);
    else if (!why.text[0])
        errtext_no_memory(&why);
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
    work_spend(steps, 1);
    bulk_add(&b->list, job);
    return 0;
}

/* ---- Answering ---- */

static void put_new_ids(struct call *c, const struct bulk_request *b)
{
    struct json_out out = {.text = c->out};
    strbuf_reset(c->out);
    json_open(&out, NULL, '{');
    json_open(&out, "ids", '[');
    for (size_t i = 0; i < b->list.total; i++)
        json_put_int(&out, NULL, b->list.first + (int64_t)i);
    strbuf_puts(c->out, "]}\n");
    c->reply->status = 201;
    c->reply->wait = true;
}

/* ---- Phases ---- */

/* Continue any phase. 0, or -1: no memory, or no room on the disk. */
static int request_advance(struct call *c, struct bulk_request *b, size_t *steps)
{
    struct bulk *list = &b->list;
    if (list->phase != BULK_READ)
        return bulk_advance(list, steps);
    if (b->is_counted && list->n == list->total)
        return bulk_accept(list, !b->begun);
    if ((b->is_counted ? read_one(c, b, steps) : count_one(c, b, steps)) < 0)
        list->phase = BULK_UNDO;
    return 0;
}

/* Keep the body beyond the request. */
static int keep_body(struct call *c, struct bulk_request *b)
{
    b->begun = true;
    b->copy = malloc(b->length + 1);
    if (!b->copy)
        return api_refuse(c, 503, NULL, "out of memory");
    memcpy(b->copy, b->body, b->length);
    b->body = b->copy;
    b->list.bytes = b->length;
    return 0;
}

static int request_work_step(struct server_work *work, size_t *steps)
{
    struct bulk_request *b = ((struct request_work *)work)->bulk;
    struct call *c = &((struct call_work *)work)->call;
    while (*steps > 0 && b->list.phase < BULK_UNDO) {
        if (request_advance(c, b, steps) < 0) {
            if (b->begun)
                return -1;
            api_refuse(c, 503, NULL, "out of memory");
            b->list.phase = BULK_UNDO;
        }
    }
    if (b->list.phase >= BULK_UNDO && b->list.phase != BULK_DONE)
        return 1; /* refused */
    if (b->list.phase == BULK_DONE) {
        put_new_ids(c, b);
        return 1;
    }
    if (!b->begun && keep_body(c, b) < 0) {
        b->list.phase = BULK_UNDO;
        return 1;
    }
    return 0;
}

static void request_work_clear(struct server_work *work)
{
    struct bulk_request *b = ((struct request_work *)work)->bulk;
    if (b)
        bulk_abandon(&b->list, !b->begun); /* if it ends within the request, it is small */
}

static void clear_list(struct bulk *list)
{
    struct bulk_request *b = (struct bulk_request *)list;
    shared_text_release(b->context.environment);
    shared_text_release(b->context.script);
    free(b->copy);
}

static struct bulk_request *bulk_request_create(struct call *c, struct user *user)
{
    struct bulk_request *b = (struct bulk_request *)bulk_create(c->s, user, sizeof(*b));
    if (!b) {
        api_refuse(c, 503, NULL, "out of memory");
        return NULL;
    }
    b->list.clear = clear_list;
    b->body = c->request->body;
    b->length = c->request->length;
    b->at = b->begin = skip_space(b->body, b->length, 0);
    b->context = (struct job_context){.s = c->s, .user = user, .what = b->what};
    return b;
}

void bulk_start(struct call *c, struct user *user)
{
    if (bulk_bytes_of_user(c->s, user) + c->request->length > API_BODY_MAX) {
        api_refuse(c, c->request->length > API_BODY_MAX ? 413 : 429, NULL,
                   c->request->length > API_BODY_MAX
                       ? "the body is larger than 64 MiB"
                       : "other arrays of your jobs are still being submitted: wait for them");
        return;
    }
    struct request_work *w = (struct request_work *)call_work_make(c, sizeof(*w));
    if (!w)
        return;
    w->work.work.go = request_work_step;
    w->work.clear = request_work_clear;
    w->bulk = bulk_request_create(c, user);
    if (!w->bulk) {
        work_destroy(&w->work.work);
        return;
    }
    call_work_start(c, &w->work);
}
