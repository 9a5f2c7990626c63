#include "match/walk/no_room.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "match/plan.h"
#include "match/walk/walk.h"

/* A note: during [at, at + duration) there was none, and until `until` the same is booked as at `at`. */
struct no_room {
    uint64_t kind; /* 0: no note */
    uint32_t node, given_back;
    int64_t at, until, duration;
};

bool no_room_counts(const struct walk *w, uint32_t level)
{
    const struct request *q = &w->rq[level];
    return w->ask && w->ask->kind && !w->wants_retry && !w->search && w->blocks == 0 &&
           q->type == TYPE_NODE && q->next == REQUEST_NONE && level == w->top &&
           w->requests->n_variants == 1 && !w->requests->by_property && !w->spec->constraints &&
           w->t->is_tree && !w->m->flexible;
}

static struct no_room *note_of(const struct walk *w, uint32_t node)
{
    uint64_t mixed = (w->ask->kind << 32 | node) * UINT64_C(0x9e3779b97f4a7c15);
    return &w->m->no_room[mixed >> (64 - NO_ROOM_BITS)];
}

/* How often something of a node was given back. */
static uint32_t given_back(const struct walk *w, uint32_t node)
{
    return w->m->state[node] ? w->m->state[node]->given_back : 0;
}

bool no_room_is_known(const struct walk *w, uint32_t node)
{
    const struct no_room *note = w->m->no_room ? note_of(w, node) : NULL;
    return note && note->kind == w->ask->kind && note->node == node && note->at <= w->at &&
           w->at < note->until && w->end - w->at >= note->duration &&
           note->given_back == given_back(w, node);
}

/* The first time after the window's beginning at which something else may be booked of a node. */
static int64_t node_changes_at(const struct walk *w, uint32_t node)
{
    const struct state *s = w->m->state[node];
    struct profile_view view;
    struct profile_cursor c;
    const struct profile *users = s ? state_users(s, &view) : NULL;
    if (!users || !users->root)
        return INT64_MAX;
    profile_seek(&c, users, w->at);
    return profile_cursor_time(&c) > w->at || profile_next(&c) ? profile_cursor_time(&c)
                                                               : INT64_MAX;
}

void no_room_note(struct walk *w, uint32_t node)
{
    struct match *m = w->m;
    if (!m->no_room)
        m->no_room = calloc((size_t)1 << NO_ROOM_BITS, sizeof(*m->no_room));
    if (!m->no_room)
        return;
    *note_of(w, node) = (struct no_room){.kind = w->ask->kind,
                                         .node = node,
                                         .given_back = given_back(w, node),
                                         .at = w->at,
                                         .until = node_changes_at(w, node),
                                         .duration = w->end - w->at};
}

void no_room_clear(struct match *m)
{
    free(m->no_room);
    m->no_room = NULL;
}
