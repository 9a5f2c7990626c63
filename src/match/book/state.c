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

int state_need_counts(struct state *s, uint32_t n)
{
    if (s->counts || n == 0)
        return 0;
    s->counts = calloc(n, sizeof(*s->counts));
    if (!s->counts)
        return -1;
    s->n_counts = n;
    return 0;
}

static void state_drop_counts(struct state *s)
{
    for (uint32_t i = 0; i < s->n_counts; i++)
        profile_clear(&s->counts[i]);
    free(s->counts);
    s->counts = NULL;
    s->n_counts = 0;
}

void state_clear(struct state *s)
{
    int saved = errno;

    if (!s)
        return;
    profile_clear(&s->users);
    profile_clear(&s->units);
    state_drop_counts(s);
    free(s->weight);
    free(s->full);
    free(s->full_block);
    errno = saved;
}

bool state_check(const struct state *s)
{
    for (uint32_t i = 0; i < s->n_counts; i++)
        if (s->counts[i].root && !profile_check(&s->counts[i]))
            return false;
    return (s->users.root ? profile_check(&s->users) : s->only.at <= s->only.end) &&
           (!s->units.root || profile_check(&s->units));
}
