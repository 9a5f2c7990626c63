/* The store is shared: each user has a limit. Beyond it the user's oldest history is dropped, and if that
 * is not enough, requests that need more are refused. No user's history makes room for another user.
 *
 * What counts is what is stored, what is about to be, and what pending and running members will leave
 * behind as events and records of their end. Administrators have no limit.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/errtext.h"
#include "server/core/users.h"

#define LEAVES     500  /* bytes that a live member leaves behind, about */
#define SLICE      1000 /* rows dropped at once, while a request waits */
#define SLICE_LAZY 200  /* and in the background */

/* Dropping goes on down to here, so that there is room for a while. */
static int64_t trim_target(int64_t most)
{
    return most - most / 8;
}

static int read_stored(server_t *s, struct user *u, berth_error_t *err)
{
    return u->stored >= 0 ? 0 : store_used(s->store, u->uid, &u->stored, err);
}

static int trim_history(server_t *s, struct user *u, int64_t to, int64_t rows, int64_t *dropped,
                        berth_error_t *err)
{
    if (store_trim(s->store, u->uid, to > 0 ? to : 0, rows, dropped, err) < 0)
        return -1;
    u->stored = -1;
    return read_stored(s, u, err);
}

static int store_is_full(const struct user *u, int64_t most, berth_error_t *err)
{
    return errtext_set(err, EDQUOT,
                       "the store is full for user %s: at most %" PRId64
                       " bytes, and no history is left to drop",
                       u->name, most);
}

int user_make_room(server_t *s, struct user *u, int64_t bytes, int64_t members, int *slices,
                   berth_error_t *err)
{
    int64_t most = s->config->server.max_stored_per_user;
    int64_t need = u->unstored + bytes + (u->live + members) * LEAVES;
    int64_t dropped = 1;
    if (most == SCHED_UNLIMITED)
        return 0;
    if (need > most)
        return store_is_full(u, most, err);
    if (read_stored(s, u, err) < 0)
        return -1;
    while (u->stored > most - need) {
        u->trimmed = true;
        if (dropped == 0)
            return store_is_full(u, most, err);
        if (--*slices < 0) {
            s->retain_at = s->clock.now;
            return errtext_set(err, EAGAIN,
                               "the store is full for user %s until history is dropped: try again",
                               u->name);
        }
        if (trim_history(s, u, trim_target(most) - need, SLICE, &dropped, err) < 0)
            return -1;
    }
    return 0;
}

void users_forget_stored(server_t *s)
{
    for (size_t i = 0; i < s->users.n; i++)
        s->users.v[i]->stored = -1;
}

/* Drop a slice of a user's history. True: more must be dropped. */
static bool trim_user(server_t *s, struct user *u, int64_t most)
{
    int64_t dropped = 0;
    int64_t to = trim_target(most) - u->unstored - u->live * LEAVES;
    if (read_stored(s, u, NULL) < 0 || u->stored <= (u->trimmed ? to : most) ||
        user_is_admin(s, u->uid) || trim_history(s, u, to, SLICE_LAZY, &dropped, NULL) < 0)
        return false;
    return dropped > 0 && u->stored > to;
}

bool users_trim(server_t *s)
{
    int64_t most = s->config->server.max_stored_per_user;
    bool more = false;
    for (size_t i = 0; most != SCHED_UNLIMITED && i < s->users.n; i++) {
        struct user *u = s->users.v[i];
        u->trimmed = trim_user(s, u, most);
        more = more || u->trimmed;
    }
    return more;
}
