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
    return (!s->users.root || profile_check(&s->users)) &&
           (!s->units.root || profile_check(&s->units));
}
