/* GET /v1/events: the events from a number on, and new ones as they happen. */
#include <stdlib.h>
#include <string.h>

#include "server/api/api.h"
#include "server/core/job_text.h"
#include "server/core/members.h"

#define AT_ONCE 256

struct events {
    struct server_stream stream;
    int64_t after, job;
    bool follow, all; /* all: including other users' jobs */
    uint32_t uid;
    struct strbuf text; /* the last batch that was read */
    struct {
        int64_t number, job;
        size_t end;
    } read[AT_ONCE];
    size_t n;
};

static int collect_event(void *context, const struct store_event *e)
{
    struct events *v = context;
    api_put_event(&v->text, e);
    v->read[v->n].number = e->number;
    v->read[v->n].job = e->job;
    v->read[v->n++].end = v->text.len;
    return v->n == AT_ONCE;
}

static bool may_see_job(const struct events *v, int64_t id)
{
    const server_t *s = v->stream.server;
    struct store_job job;
    if (v->all || id == 0)
        return v->all;
    const struct job *live = job_lookup(s, id);
    if (live)
        return live->uid == v->uid;
    return store_read_job(s->store, id, &job, NULL) == 0 && job.uid == v->uid;
}

static int events_read(struct server_stream *stream, struct strbuf *out, size_t max)
{
    struct events *v = (struct events *)stream;
    size_t begin = out->len;
    while (out->len - begin < max) {
        if (v->after >= store_last_event(v->stream.server->store))
            return v->follow ? 2 : 0;
        strbuf_reset(&v->text);
        v->n = 0;
        if (store_events(v->stream.server->store, v->after, v->job, AT_ONCE, v, collect_event,
                         NULL) < 0 ||
            v->text.failed)
            return -1;
        if (v->n == 0) { /* none of this job, or not durable yet */
            if (v->job && !v->stream.server->unsaved.n_events)
                v->after = store_last_event(v->stream.server->store);
            return v->follow ? 2 : 0;
        }
        size_t from = 0;
        for (size_t i = 0; i < v->n; i++) {
            if (may_see_job(v, v->read[i].job))
                strbuf_put(out, v->text.data + from, v->read[i].end - from);
            from = v->read[i].end;
            v->after = v->read[i].number;
        }
        if (out->len == begin)
            return out->failed
                       ? -1
                       : 1; /* all were other users': there may be millions, and others wait */
    }
    return out->failed ? -1 : 1;
}

static void events_close(struct server_stream *stream)
{
    struct events *v = (struct events *)stream;
    strbuf_clear(&v->text);
    free(v);
}

/* Whether the caller may see the events of the requested job. */
static bool may_follow(struct call *c, int64_t id)
{
    struct store_job job;
    const struct job *live = job_lookup(c->s, id);
    if (!live && store_read_job(c->s->store, id, &job, NULL) < 0)
        return api_refuse(c, 404, "job", "there is no job %lld", (long long)id) == 0;
    if (!api_owns(c, live ? live->uid : job.uid))
        return api_refuse(c, 403, "job", "job %lld is another user's", (long long)id) == 0;
    return true;
}

void api_events_get(struct call *c)
{
    struct api_query q[] = {{"since", NULL}, {"job", NULL}, {"follow", NULL}, {NULL, NULL}};
    int64_t since = -1, job = -1;
    bool good = api_query(c, q) == 0 && api_query_whole(c, &q[0], &since) == 0 &&
                api_query_whole(c, &q[1], &job) == 0 && (job < 0 || may_follow(c, job));
    bool follow = q[2].value && strcmp(q[2].value, "0") != 0;
    api_query_clear(q);
    if (!good)
        return;
    struct events *v = calloc(1, sizeof(*v));
    if (!v) {
        api_refuse(c, 503, NULL, "out of memory");
        return;
    }
    v->stream = (struct server_stream){events_read, events_close, c->s};
    v->after = since >= 0 ? since : follow && job < 0 ? store_last_event(c->s->store) : 0;
    v->job = job > 0 ? job : 0;
    v->follow = follow;
    v->all = c->admin || job > 0;
    v->uid = c->request->peer.uid;
    c->reply->type = "text/event-stream";
    c->reply->stream = &v->stream;
}
