/* Requests that may take more than one turn. */
#include "server/api/call_work.h"

static void call_work_clear(struct server_work *work)
{
    struct call_work *w = (struct call_work *)work;
    if (w->clear)
        w->clear(work);
    json_decref(w->call.body);
}

struct call_work *call_work_make(struct call *c, size_t size)
{
    server_t *s = c->s;
    uint32_t uid = c->request->peer.uid;
    if (work_is_full(s, uid)) {
        api_refuse(c, 429, NULL,
                   "at most %d large requests per user may be in progress: wait for them",
                   WORK_MAX);
        return NULL;
    }
    struct call_work *w = (struct call_work *)work_create(s, uid, size);
    if (!w || !strbuf_room(&w->work.reply.body, 256)) {
        if (w)
            work_destroy(&w->work);
        api_refuse(c, 503, NULL, "out of memory");
        return NULL;
    }
    w->work.clear = call_work_clear;
    w->work.reply.status = c->reply->status;
    w->work.reply.type = c->reply->type;
    w->work.reply.stays = c->reply->stays;
    w->request.peer = c->request->peer;
    w->call = *c;
    w->call.request = &w->request;
    w->call.reply = &w->work.reply;
    w->call.out = &w->work.reply.body;
    if (c->rest == c->job)
        w->call.rest = w->call.job;
    json_incref(c->body);
    return w;
}

/* Move the work's reply to the client's, and free the work. */
static void give_reply(struct server_work *w, struct server_reply *reply)
{
    strbuf_clear(&reply->body);
    *reply = w->reply;
    w->reply = (struct server_reply){0};
    work_destroy(w);
}

void call_work_start(struct call *c, struct call_work *w)
{
    size_t given = work_allowance(c->s, c->request->peer.uid), left = given;
    int rc = w->work.go(&w->work, &left);
    work_allowance_used(c->s, given - left);
    if (rc == 1) {
        give_reply(&w->work, c->reply);
        return;
    }
    work_enqueue(&w->work);
    c->reply->wait = true;
    c->reply->work = &w->work;
}

bool server_work_done(struct server_work *w, struct server_reply *reply)
{
    if (!w->answered)
        return false;
    if (w->reply.body.failed)
        api_no_memory(&w->reply);
    w->reply.wait = false;
    give_reply(w, reply);
    return true;
}
