/* Whose work is gone on with, and for how long. */
#include "server/core/work.h"

#include <stdlib.h>
#include <string.h>

#define SLICE 2000 /* steps of a turn, and of the requests before it */
#define SMALL 100  /* that a request has in any case */

/* The works of a user, first come first. */
struct work_queue {
    uint32_t uid;
    size_t n; /* that somebody waits for */
    struct server_work *first, *last;
};

static size_t slice_of(const server_t *s)
{
    return s->options.slice > 0 ? s->options.slice : SLICE;
}

static struct work_queue *queue_of(const server_t *s, uint32_t uid)
{
    for (size_t i = 0; i < s->works.n; i++)
        if (s->works.queues[i].uid == uid)
            return &s->works.queues[i];
    return NULL;
}

static void destroy(struct server_work *w)
{
    if (w->clear)
        w->clear(w);
    strbuf_clear(&w->reply.body);
    server_stream_close(w->reply.stream);
    free(w);
}

struct server_work *work_make(server_t *s, uint32_t uid, size_t size)
{
    struct server_work *w = NULL;
    if (array_grow((void **)&s->works.queues, &s->works.cap, s->works.n + s->works.kept + 1,
                   sizeof(*s->works.queues)) == 0)
        w = calloc(1, size);
    if (!w)
        return NULL;
    w->uid = uid;
    w->s = s;
    return w;
}

struct server_work *work_make_behind(server_t *s, uint32_t uid, size_t size)
{
    struct server_work *w = work_make(s, uid, size);
    if (!w)
        return NULL;
    w->left = w->is_behind = true;
    s->works.kept++;
    return w;
}

void work_drop(struct server_work *w)
{
    w->s->works.kept -= w->is_behind;
    destroy(w);
}

void work_line_up(struct server_work *w)
{
    server_t *s = w->s;
    struct work_queue *q = queue_of(s, w->uid);
    if (!q) {
        q = &s->works.queues[s->works.n++]; /* work_make has made room */
        *q = (struct work_queue){.uid = w->uid};
    }
    if (q->last)
        q->last->next = w;
    else
        q->first = w;
    q->last = w;
    q->n += !w->is_behind;
}

/* What a request may take before the next turn. Who has work waiting gets no more than anybody gets in
 * any case.
 */
size_t work_allowance(const server_t *s, uint32_t uid)
{
    size_t least = SMALL < slice_of(s) ? SMALL : slice_of(s);
    return s->works.steps < least || queue_of(s, uid) ? least : s->works.steps;
}

void work_took(server_t *s, size_t steps)
{
    work_spend(&s->works.steps, steps);
}

void work_start_behind(server_t *s, struct server_work *w)
{
    s->works.kept--;
    work_line_up(w);
}

bool work_is_full(const server_t *s, uint32_t uid)
{
    const struct work_queue *q = queue_of(s, uid);
    return q && q->n >= WORK_MAX;
}

/* ---- Turns ---- */

/* Whose turn it is: root's every other time, and others' one after the other. */
static struct work_queue *next_queue(server_t *s)
{
    struct work_queue *root = queue_of(s, 0);
    if (root && !s->works.root_had_turn) {
        s->works.root_had_turn = true;
        return root;
    }
    s->works.root_had_turn = false;
    struct work_queue *q;
    do {
        if (s->works.next >= s->works.n)
            s->works.next = 0;
        q = &s->works.queues[s->works.next++];
    } while (q == root && s->works.n > 1);
    return q;
}

static void drop_queue(server_t *s, size_t i)
{
    memmove(&s->works.queues[i], &s->works.queues[i + 1],
            (s->works.n - i - 1) * sizeof(*s->works.queues));
    s->works.n--;
    if (s->works.next > i)
        s->works.next--;
}

/* The first of a queue is done. */
static void take_first(server_t *s, struct work_queue *q)
{
    struct server_work *w = q->first;
    q->first = w->next;
    q->n -= !w->is_behind;
    w->next = s->works.done;
    s->works.done = w;
    if (q->first)
        return;
    drop_queue(s, (size_t)(q - s->works.queues));
}

/* The first of a queue can't go on now. What nobody waits for lets those behind it go before it: it may
 * be the disk that fails, of which they are to be told.
 */
static void put_off(server_t *s, struct work_queue *q)
{
    struct server_work *w = q->first;
    s->works.at = s->clock.now + SERVER_SECOND;
    if (!w->is_behind || !w->next)
        return;
    q->first = w->next;
    q->last->next = w;
    q->last = w;
    w->next = NULL;
}

void server_work(server_t *s)
{
    size_t steps = slice_of(s);
    s->works.steps = steps;
    while (s->works.n > 0 && steps > 0 && s->works.at <= s->clock.now) {
        struct work_queue *q = next_queue(s);
        int rc = q->first->go(q->first, &steps);
        if (rc == 1)
            take_first(s, q);
        else if (rc < 0)
            put_off(s, q);
    }
}

int64_t server_work_due(const server_t *s)
{
    return s->works.n == 0 ? INT64_MAX : s->works.at > s->clock.now ? s->works.at : s->clock.now;
}

/* Work that is done has its answer. */
static void answer(struct server_work *w)
{
    w->answered = true;
    if (w->left)
        destroy(w);
}

void server_work_stored(server_t *s)
{
    while (s->works.done) {
        struct server_work *w = s->works.done;
        s->works.done = w->next;
        answer(w);
    }
}

/* Those that wait behind go on: what they are for is durable. */
void server_work_failed(server_t *s, const berth_error_t *why)
{
    for (size_t i = s->works.n; i-- > 0;) {
        struct server_work *behind = NULL, **last = &behind, *next;
        struct work_queue *q = &s->works.queues[i];
        for (struct server_work *w = q->first; w; w = next) {
            next = w->next;
            w->next = NULL;
            if (w->is_behind) {
                *last = w;
                last = &w->next;
                q->last = w;
            } else {
                w->next = s->works.done;
                s->works.done = w;
            }
        }
        q->first = behind;
        q->n = 0;
        if (!behind)
            drop_queue(s, i);
    }
    for (struct server_work *w = s->works.done; w; w = w->next)
        if (!w->is_behind)
            server_failed(s, why, &w->reply);
    server_work_stored(s);
}

void work_clear(server_t *s)
{
    while (s->works.n > 0 || s->works.done) { /* one may leave another behind */
        while (s->works.n > 0)
            take_first(s, &s->works.queues[0]);
        struct server_work *w = s->works.done;
        s->works.done = w->next;
        destroy(w);
    }
    free(s->works.queues);
}

void server_work_leave(struct server_work *w)
{
    if (!w)
        return;
    w->left = true;
    if (w->answered)
        destroy(w);
}
