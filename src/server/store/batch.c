/* The batch: changes are checked, copied and collected in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "server/store/priv.h"
#include "server/store/record.h"

/* A new change at the end of the batch, filled by the caller and part of it after batch_done. */
static struct change *batch_new(struct store *s, berth_error_t *err)
{
    struct batch *b = &s->batch;
    if (array_grow((void **)&b->change, &b->cap, b->n + 1, sizeof(*b->change)) < 0) {
        store_no_memory(s, err);
        return NULL;
    }
    struct change *c = &b->change[b->n];
    memset(c, 0, sizeof(*c));
    c->at = b->bytes.len;
    return c;
}

/* Append bytes to a change. Room is made first, so that failure leaves other changes intact. */
static int batch_put(struct store *s, const void *data, size_t length, berth_error_t *err)
{
    struct strbuf *bytes = &s->batch.bytes;
    if (length > STORE_TEXT_MAX)
        return errtext_set(err, EMSGSIZE, "%s: a text is longer than %zu bytes", s->path,
                           STORE_TEXT_MAX);
    if (length > bytes->cap - bytes->len) {
        size_t cap = bytes->cap + bytes->cap / 2 + length + 256;
        char *grown = realloc(bytes->data, cap + 1);
        if (!grown)
            return store_no_memory(s, err);
        bytes->data = grown;
        bytes->cap = cap;
    }
    if (length > 0)
        memcpy(bytes->data + bytes->len, data, length);
    bytes->len += length;
    return 0;
}

/* Append a text with its final zero; nothing for NULL. */
static int batch_text(struct store *s, const char *text, size_t *length, berth_error_t *err)
{
    *length = text ? strlen(text) + 1 : 0;
    return batch_put(s, text, *length, err);
}

static int batch_record(struct store *s, size_t *length, berth_error_t *err)
{
    *length = s->scratch.len;
    return s->scratch.failed ? store_no_memory(s, err)
                             : batch_put(s, s->scratch.data, *length, err);
}

/* Add the change if rc is 0, else remove its bytes. */
static int batch_done(struct store *s, const struct change *c, int rc)
{
    if (rc == 0)
        s->batch.n++;
    else
        s->batch.bytes.len = c->at;
    return rc;
}

static int put_inline(struct store *s, const char *data, size_t length, size_t *size,
                      berth_error_t *err)
{
    *size = 0;
    if (!store_text_is_inline(data, length))
        return 0;
    *size = length + 1;
    return batch_put(s, data, length, err) < 0 ? -1 : batch_put(s, "", 1, err);
}

static int add_texts(struct store *s, struct change *c, const struct store_job *job,
                     berth_error_t *err)
{
    const char *const data[TEXTS] = {job->request, job->environment, job->script};
    const size_t length[TEXTS] = {job->request ? strlen(job->request) : 0,
                                  job->environment ? strlen(job->environment) : 0,
                                  job->script ? job->script_length : 0};
    for (int kind = 0; kind < TEXTS; kind++)
        if (put_inline(s, data[kind], length[kind], &c->submitted.inline_text[kind], err) < 0)
            return -1;
    for (int kind = 0; kind < TEXTS; kind++) {
        if (store_text_take(&s->batch, (enum store_text)kind, job->uid, data[kind], length[kind],
                            &c->submitted.text[kind]) == 0)
            continue;
        if (errno == EMSGSIZE)
            errtext_set(err, EMSGSIZE, "%s: a text is longer than %zu bytes", s->path,
                        STORE_TEXT_MAX);
        else
            store_no_memory(s, err);
        while (kind-- > 0)
            store_text_untake(c->submitted.text[kind]);
        return -1;
    }
    return 0;
}

int store_reserve_ids(store_t *s, int64_t first, int64_t last)
{
    if (array_grow((void **)&s->kept, &s->cap_kept, s->n_kept + 1, sizeof(*s->kept)) < 0)
        return -1;
    s->kept[s->n_kept++] = (struct kept){first, last};
    return 0;
}

void store_release_ids(store_t *s, int64_t first, int64_t last)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_kept; i++)
        if (s->kept[i].first < first || s->kept[i].last > last)
            s->kept[n++] = s->kept[i];
    s->n_kept = n;
}

bool store_is_reserved(const struct store *s, int64_t id)
{
    for (size_t i = 0; i < s->n_kept; i++)
        if (id >= s->kept[i].first && id <= s->kept[i].last)
            return true;
    return false;
}

/* Add a change that has all of a job. Returns 0, or -1 and there is none. */
static int put_whole_job(struct store *s, enum change_kind kind, const struct store_job *job,
                         berth_error_t *err)
{
    struct change *c = batch_new(s, err);
    if (!c)
        return -1;
    c->kind = kind;
    c->job = job->id;
    c->submitted.uid = job->uid;
    c->submitted.members = job->count;
    c->submitted.priority = job->priority;
    c->submitted.held = job->held;
    c->submitted.limit = job->limit;
    c->submitted.estimate = job->estimate;
    strbuf_reset(&s->scratch);
    store_job_encode(&s->scratch, job);
    int rc = batch_text(s, job->queue, &c->first, err);
    if (rc == 0)
        rc = batch_record(s, &c->second, err);
    if (rc == 0)
        rc = add_texts(s, c, job, err);
    return batch_done(s, c, rc);
}

int store_add_job(store_t *s, const struct store_job *job, berth_error_t *err)
{
    if (!store_job_is_valid(job) || job->limit < 0 || job->estimate < 0 ||
        (job->id <= s->batch.last_job && !store_is_reserved(s, job->id)))
        return errtext_set(err, EINVAL, "%s: job %lld: invalid job", s->path, (long long)job->id);
    if (put_whole_job(s, CHANGE_JOB, job, err) < 0)
        return -1;
    if (job->id > s->batch.last_job)
        s->batch.last_job = job->id;
    return 0;
}

static int unknown_job(struct store *s, int64_t job, berth_error_t *err)
{
    return errtext_set(err, ENOENT, "%s: no job %lld", s->path, (long long)job);
}

int store_set_job(store_t *s, const struct store_job *job, berth_error_t *err)
{
    if (job->id <= 0 || job->id > s->batch.last_job)
        return unknown_job(s, job->id, err);
    if (job->limit < 0 || job->estimate < 0)
        return errtext_set(err, EINVAL, "%s: job %lld: negative limit or estimate", s->path,
                           (long long)job->id);
    struct change *c = batch_new(s, err);
    if (!c)
        return -1;
    c->kind = CHANGE_SET_JOB;
    c->job = job->id;
    c->set.priority = job->priority;
    c->set.held = job->held;
    c->set.limit = job->limit;
    c->set.estimate = job->estimate;
    return batch_done(s, c, batch_text(s, job->queue, &c->first, err));
}

int store_rewrite_job(store_t *s, const struct store_job *job, berth_error_t *err)
{
    struct store_job to = *job;
    if (job->id <= 0 || job->id > s->batch.last_job)
        return unknown_job(s, job->id, err);
    if (!store_job_is_valid(job))
        return errtext_set(err, EINVAL, "%s: job %lld: invalid job", s->path, (long long)job->id);
    to.environment = to.script = NULL;
    return put_whole_job(s, CHANGE_REWRITE, &to, err);
}

int store_set_member(store_t *s, const struct store_member *member, berth_error_t *err)
{
    if (member->job <= 0 || member->job > s->batch.last_job)
        return unknown_job(s, member->job, err);
    if (!store_member_is_valid(member))
        return errtext_set(err, EINVAL, "%s: job %lld: member %u: invalid state", s->path,
                           (long long)member->job, member->member);
    struct change *c = batch_new(s, err);
    if (!c)
        return -1;
    c->kind = CHANGE_MEMBER;
    c->job = member->job;
    bool range = member->last > member->member;
    c->member.number = member->member;
    c->member.last = range ? member->last : 0;
    c->member.count = range ? member->count : 1;
    c->member.state = member->state;
    c->member.end_wall = member->end_wall;
    strbuf_reset(&s->scratch);
    store_member_encode(&s->scratch, member);
    return batch_done(s, c, batch_record(s, &c->first, err));
}

int store_add_event(store_t *s, struct store_event *event, berth_error_t *err)
{
    if (event->job < 0 || event->member < -1 || event->member > UINT32_MAX || !event->kind)
        return errtext_set(err, EINVAL, "%s: job %lld: invalid event", s->path,
                           (long long)event->job);
    struct change *c = batch_new(s, err);
    if (!c)
        return -1;
    c->kind = CHANGE_EVENT;
    c->job = event->job;
    c->event.wall = event->wall;
    c->event.member = event->member;
    c->event.number = s->batch.last_event + 1;
    int rc = batch_text(s, event->kind, &c->first, err);
    if (rc == 0)
        rc = batch_text(s, event->data, &c->second, err);
    if (rc == 0)
        event->number = ++s->batch.last_event;
    return batch_done(s, c, rc);
}

int store_put(store_t *s, const char *name, const char *value, berth_error_t *err)
{
    if (!value)
        return errtext_set(err, EINVAL, "%s: %s: invalid value", s->path, name);
    struct change *c = batch_new(s, err);
    if (!c)
        return -1;
    c->kind = CHANGE_VALUE;
    int rc = batch_text(s, name, &c->first, err);
    if (rc == 0)
        rc = batch_text(s, value, &c->second, err);
    return batch_done(s, c, rc);
}

int store_drop_values(store_t *s, const char *prefix, berth_error_t *err)
{
    char above[100];
    if (!store_above(prefix, above, sizeof(above)))
        return errtext_set(err, EINVAL, "%s: %s: invalid prefix", s->path, prefix);
    struct change *c = batch_new(s, err);
    if (!c)
        return -1;
    c->kind = CHANGE_VALUES;
    int rc = batch_text(s, prefix, &c->first, err);
    if (rc == 0)
        rc = batch_text(s, above, &c->second, err);
    return batch_done(s, c, rc);
}
