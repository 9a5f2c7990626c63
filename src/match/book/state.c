#include "match/book/state.h"

#include <errno.h>
#include <stdlib.h>

int state_book(struct profile *p, int64_t at, int64_t end, int64_t amount)
{
    return p->root ? profile_book(p, at, end, amount) : profile_init_booked(p, 0, at, end, amount);
}

void state_unbook(struct profile *p, int64_t at, int64_t end, int64_t amount)
{
    profile_unbook(p, at, end, amount);
}

const struct profile *state_users(const struct state *s, struct profile_view *view)
{
    if (s->users.root || s->only.at == s->only.end)
        return &s->users;
    bool begins = s->only.at == 0;
    profile_view_init(view);
    profile_view_push(view, 0, begins ? s->only.load : 0, 1 + begins);
    if (!begins)
        profile_view_push(view, s->only.at, s->only.load, 1);
    profile_view_push(view, s->only.end, 0, 1);
    return &view->profile;
}

/* Make the profile, which has the only booking in it. */
static int make_users(struct state *s)
{
    if (profile_init_booked(&s->users, 0, s->only.at, s->only.end, s->only.load) < 0)
        return -1;
    s->taken.at = s->taken.end = 0;
    return 0;
}

int state_book_load(struct state *s, int64_t at, int64_t end, int64_t load)
{
    if (!s->users.root && s->only.at == s->only.end) {
        s->only.at = at;
        s->only.end = end;
        s->only.load = load;
        return 0;
    }
    if (!s->users.root && make_users(s) < 0)
        return -1;
    return profile_book(&s->users, at, end, load);
}

void state_unbook_load(struct state *s, int64_t at, int64_t end, int64_t load)
{
    if (s->users.root)
        profile_unbook(&s->users, at, end, load);
    else
        s->only.at = s->only.end = 0;
}

void state_add_load(struct state *s, int64_t at, int64_t end, int64_t delta)
{
    if (s->users.root)
        profile_add(&s->users, at, end, delta);
    else
        s->only.load += delta;
}

int state_need_counts(struct state_below *b, uint32_t n)
{
    if (b->counts || n == 0)
        return 0;
    b->counts = calloc(n, sizeof(*b->counts));
    if (!b->counts)
        return -1;
    b->n_counts = n;
    return 0;
}

static void state_drop_counts(struct state_below *b)
{
    for (uint32_t i = 0; i < b->n_counts; i++)
        profile_clear(&b->counts[i]);
    free(b->counts);
    b->counts = NULL;
    b->n_counts = 0;
}

static void state_below_clear(struct state_below *b)
{
    profile_clear(&b->units);
    state_drop_counts(b);
    free(b->weight);
    free(b->full);
    free(b->full_block);
}

void state_clear(struct state *s)
{
    int saved = errno;

    if (!s)
        return;
    profile_clear(&s->users);
    if (s->below)
        state_below_clear(s->below);
    errno = saved;
}

bool state_check(const struct state *s)
{
    const struct state_below *b = state_below(s);

    for (uint32_t i = 0; i < b->n_counts; i++)
        if (b->counts[i].root && !profile_check(&b->counts[i]))
            return false;
    return (s->users.root ? profile_check(&s->users) : s->only.at <= s->only.end) &&
           (!b->units.root || profile_check(&b->units));
}
