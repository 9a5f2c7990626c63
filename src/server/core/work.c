/* Large requests in turn: whose, and for how long. */
#include "server/core/work.h"
#include "server/core/priv.h"

#include <stdlib.h>
#include <string.h>

#define SLICE 2000 /* steps per turn, including requests before it */
#define SMALL 100  /* steps that every request gets */

/* A user's work, in order of arrival. */
struct work_queue {
    uint32_t uid;
    size_t n; /* work with a client waiting */
    struct server_work *first, *last;
};

static size_t slice_of(const server_t *s)
{
    return s->options.slice > 0 ? s->options.slice : SLICE;
}

static struct work_queue *queue_of(const server_t *s, uint32_t uid)
{
    for (size_t i = 0; i < s->work.n; i++)
        if (s->work.queues[i].uid == uid)
            return &s->work.queues[i];
    return NULL;
}

static void work_free(struct server_work *w)
{
    if (w->clear)
        w->clear(w);
    strbuf_clear(&w->reply.body);
    server_stream_close(w->reply.stream);
    free(w);
}

struct server_work *work_create(server_t *s, uint32_t uid, size_t size)
{
    struct server_work *w = NULL;
    if (array_grow((void **)&s->work.queues, &s->work.cap, s->work.n + s->work.kept + 1,
                   sizeof(*s->work.queues)) == 0)
        w = calloc(1, size);
    if (!w)
        return NULL;
    w->uid = uid;
    w->s = s;
    return w;
}

struct server_work *work_create_background(server_t *s, uint32_t uid, size_t size)
{
    struct server_work *w = work_create(s, uid, size);
    if (!w)
        return NULL;
    w->left = w->is_background = true;
    s->work.kept++;
    return w;
}

void work_destroy(struct server_work *w)
{
    w->s->work.kept -= w->is_background;
    work_free(w);
}

void work_enqueue(struct server_work *w)
{
    server_t *s = w->s;
    struct work_queue *q = queue_of(s, w->uid);
    if (!q) {
        q = &s->work.queues[s->work.n++]; /* work_create has reserved room */
        *q = (struct work_queue){.uid = w->uid};
    }
    if (q->last)
        q->last->next = w;
    else
        q->first = w;
    q->last = w;
    q->n += !w->is_background;
}

/* A user whose work is waiting gets only the minimum. */
size_t work_allowance(const server_t *s, uint32_t uid)
{
    size_t least = SMALL < slice_of(s) ? SMALL : slice_of(s);
    return s->work.steps < least || queue_of(s, uid) ? least : s->work.steps;
}

void work_allowance_used(server_t *s, size_t steps)
{
    work_spend(&s->work.steps, steps);
}

void work_start_background(server_t *s, struct server_work *w)
{
    s->work.kept--;
    work_enqueue(w);
}

bool work_is_full(const server_t *s, uint32_t uid)
{
    const struct work_queue *q = queue_of(s, uid);
    return q && q->n >= WORK_MAX;
}

/* ---- Turns ---- */

/* The next user: root every other time, the others in turn. */
static struct work_queue *next_queue(server_t *s)
{
    struct work_queue *root = queue_of(s, 0);
    if (root && !s->work.root_had_turn) {
        s->work.root_had_turn = true;
        return root;
    }
    s->work.root_had_turn = false;
    struct work_queue *q;
    do {
        if (s->work.next >= s->work.n)
            s->work.next = 0;
        q = &s->work.queues[s->work.next++];
    } while (q == root && s->work.n > 1);
    return q;
}

static void drop_queue(server_t *s, size_t i)
{
    memmove(&s->work.queues[i], &s->work.queues[i + 1],
            (s->work.n - i - 1) * sizeof(*s->work.queues));
    s->work.n--;
    if (s->work.next > i)
        s->work.next--;
}

/* The first work of a queue is finished. */
static void take_finished(server_t *s, struct work_queue *q)
{
    struct server_work *w = q->first;
    q->first = w->next;
    q->n -= !w->is_background;
    w->next = s->work.done;
    s->work.done = w;
    if (q->first)
        return;
    drop_queue(s, (size_t)(q - s->work.queues));
}

/* The first work of a queue cannot continue now. Background work lets others go first: perhaps the disk
 * fails, and their clients must be told.
 */
static void postpone_first(server_t *s, struct work_queue *q)
{
    struct server_work *w = q->first;
    s->work.at = s->clock.now + SERVER_SECOND;
    if (!w->is_background || !w->next)
        return;
    q->first = w->next;
    q->last->next = w;
    q->last = w;
    w->next = NULL;
}

void work_run_slice(server_t *s)
{
    size_t steps = slice_of(s);
    s->work.steps = steps;
    while (s->work.n > 0 && steps > 0 && s->work.at <= s->clock.now) {
        struct work_queue *q = next_queue(s);
        int rc = q->first->go(q->first, &steps);
        if (rc == 1)
            take_finished(s, q);
        else if (rc < 0)
            postpone_first(s, q);
    }
}

int64_t work_due(const server_t *s)
{
    return s->work.n == 0 ? INT64_MAX : s->work.at > s->clock.now ? s->work.at : s->clock.now;
}

/* Finished work can be answered. */
static void mark_answered(struct server_work *w)
{
    w->answered = true;
    if (w->left)
        work_free(w);
}

void work_stored(server_t *s)
{
    while (s->work.done) {
        struct server_work *w = s->work.done;
        s->work.done = w->next;
        mark_answered(w);
    }
}

/* Answer all work with the failure, but for background work: what that serves is durable. */
void work_failed(server_t *s, const berth_error_t *why)
{
    for (size_t i = s->work.n; i-- > 0;) {
        struct server_work *behind = NULL, **last = &behind, *next;
        struct work_queue *q = &s->work.queues[i];
        for (struct server_work *w = q->first; w; w = next) {
            next = w->next;
            w->next = NULL;
            if (w->is_background) {
                *last = w;
                last = &w->next;
                q->last = w;
            } else {
                w->next = s->work.done;
                s->work.done = w;
            }
        }
        q->first = behind;
        q->n = 0;
        if (!behind)
            drop_queue(s, i);
    }
    for (struct server_work *w = s->work.done; w; w = w->next)
        if (!w->is_background)
            server_failed(s, why, &w->reply);
    work_stored(s);
}

void work_clear(server_t *s)
{
    while (s->work.n > 0 || s->work.done) { /* one may start another in the background */
        while (s->work.n > 0)
            take_finished(s, &s->work.queues[0]);
        struct server_work *w = s->work.done;
        s->work.done = w->next;
        work_free(w);
    }
    free(s->work.queues);
}

void server_work_abandon(struct server_work *w)
{
    if (!w)
        return;
    w->left = true;
    if (w->answered)
        work_free(w);
}
