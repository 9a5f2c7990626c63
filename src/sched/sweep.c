/* The sweep: after ends, each reservation in queue order moves to its earliest time, given all the others.
 *
 * Most can't move, and are not looked at: a reservation stood at its earliest time when it was last tried, so
 * it can move only into what was freed since (freed.h). That is what ends freed since the last sweep, what
 * reservations that moved in this sweep have left, and, for those that came before a mover in the last sweep,
 * what that one left then. The queue of held jobs finds the next reservation that one of these notes allows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/sched_priv.h"

enum { BLOCK = 16 }; /* moves of the last sweep that are passed before its notes are read again */

/* The last sweep's moves as seen from a place in the queue: those of jobs that come later there. */
struct echo {
    const struct moves *moves;
    size_t i;          /* first move of a later job */
    struct front *tail; /* tail[b]: the notes of the moves from b * BLOCK on */
    size_t tails;
};

static int echo_init(struct echo *echo, const struct moves *moves, int64_t now)
{
    struct front front = {0};
    *echo = (struct echo){.moves = moves, .tails = (moves->n + BLOCK - 1) / BLOCK};
    if (echo->tails == 0)
        return 0;
    echo->tail = malloc(echo->tails * sizeof(*echo->tail));
    if (!echo->tail)
        return -1;
    for (size_t i = moves->n; i-- > 0;) {
        struct note note = moves->v[i].note;
        if (moves->v[i].to > now) {
            note.from = note.from > now ? note.from : now;
            front_add(&front, note);
        }
        if (i % BLOCK == 0)
            echo->tail[i / BLOCK] = front;
    }
    return 0;
}

static const struct front *echo_front(const struct echo *echo)
{
    static const struct front none = {0};
    return echo->i < echo->moves->n ? &echo->tail[echo->i / BLOCK] : &none;
}

static void echo_pass(struct echo *echo, struct queue_key key)
{
    while (echo->i < echo->moves->n && !queue_before(key, echo->moves->v[echo->i].key))
        echo->i++;
}

static int moves_push(struct moves *moves, const struct move *move)
{
    if (moves->n == moves->cap) {
        size_t cap = moves->cap ? moves->cap * 2 : 32;
        struct move *v = reallocarray(moves->v, cap, sizeof(*v));
        if (!v)
            return -1;
        moves->v = v;
        moves->cap = cap;
    }
    moves->v[moves->n++] = *move;
    return 0;
}

/* Try to move one reservation, knowing that nothing was freed for it before `from`. What it leaves is noted in
 * *live and *moves. 0, or -1 with ENOMEM.
 */
static int pull(sched_t *s, uint32_t slot, int64_t from, struct front *live, struct moves *moves)
{
    struct job *job = &s->jobs[slot];
    int64_t duration = job->ask.duration;
    int64_t earliest = from > duration ? from - duration + 1 : 0;
    if (decision_reserve(s) < 0)
        return -1;
    earliest = earliest > s->now ? earliest : s->now;
    int64_t at = s->place->ops->pull(s->place, job->booking, earliest);
    if (at < 0)
        return -1;
    if (at == job->at)
        return 0;
    struct move move = {
        .key = job->key,
        .note.from = at + duration > job->at ? at + duration : job->at,
        .to = job->at + duration,
    };
    move.note.most = s->place->ops->free_most(s->place, move.note.from, move.to);
    job->at = at;
    queue_set_value(s->held, job->key, -at);
    heap_move(&s->due, slot, at, job->key.seq);
    decision_add(s, SCHED_RESERVE, slot, at, NULL);
    front_add(live, move.note);
    if (moves_push(moves, &move) < 0) { /* the next sweep then takes it for what an end freed */
        front_add(&s->freed, move.note);
        return -1;
    }
    return 0;
}

static int sweep_held(sched_t *s, struct echo *echo, struct front *live, struct moves *moves)
{
    struct queue_entry entry;
    struct queue_key after;
    bool begun = false;
    for (;;) {
        struct front front = *live;
        struct queue_bound bound[FRONT_MAX];
        front_join(&front, echo_front(echo));
        size_t n = front_bounds(&front, bound);
        if (!queue_match(s->held, begun ? &after : NULL, bound, n, &entry))
            return 0;
        begun = true;
        after = entry.key;
        echo_pass(echo, after);
        int64_t here = front_match(live, entry.units, -entry.value);
        int64_t later = front_match(echo_front(echo), entry.units, -entry.value);
        int64_t from = here < later ? here : later;
        if (from != INT64_MAX && pull(s, entry.item, from, live, moves) < 0)
            return -1;
    }
}

int sweep(sched_t *s)
{
    struct front live = s->freed;
    struct moves moves = {0};
    struct echo echo;
    if (queue_size(s->held) == 0) {
        s->freed.n = 0;
        s->moves.n = 0;
        s->swept = true;
        return 0;
    }
    if (echo_init(&echo, &s->moves, s->now) < 0)
        return -1;
    int rc = sweep_held(s, &echo, &live, &moves);
    if (rc == 0) {
        s->freed.n = 0;
        s->swept = true;
        free(s->moves.v);
        s->moves = moves;
    } else { /* the next one begins anew: what was left so far is then free like anything else */
        for (size_t i = 0; i < moves.n; i++)
            front_add(&s->freed, moves.v[i].note);
        free(moves.v);
        errno = ENOMEM;
    }
    free(echo.tail);
    return rc;
}
