#include "server/http/users.h"

#include <stdlib.h>

#include "base/array.h"
#include "server/http/http.h"

#define MANY     256
#define HELD_MAX ((size_t)64 << 20) /* bytes, exceeded by one reply at most */

static struct http_user *user_entry(const struct http_users *u, uid_t uid)
{
    for (size_t i = 0; i < u->n; i++)
        if (u->v[i].uid == uid)
            return &u->v[i];
    return NULL;
}

/* Limited only by the totals, and entitled to the reserve. */
static bool is_first(const struct http_users *u, uid_t uid)
{
    return uid == 0 || uid == u->owner;
}

bool http_users_may_connect(const struct http_users *u, uid_t uid)
{
    const struct http_user *user = user_entry(u, uid);
    if (is_first(u, uid))
        return u->connections < HTTP_CONNECTIONS;
    return u->connections < HTTP_CONNECTIONS - HTTP_RESERVE &&
           (!user || user->connections < u->limit);
}

static void forget_absent(struct http_users *u)
{
    size_t kept = 0;
    for (size_t i = 0; i < u->n; i++)
        if (u->v[i].connections)
            u->v[kept++] = u->v[i];
    u->n = kept;
}

int http_users_connect(struct http_users *u, uid_t uid)
{
    struct http_user *user = user_entry(u, uid);

    if (!user) {
        if (u->n >= MANY)
            forget_absent(u);
        if (array_grow((void **)&u->v, &u->cap, u->n + 1, sizeof(*u->v)) < 0)
            return -1;
        user = &u->v[u->n++];
        *user = (struct http_user){.uid = uid};
    }
    user->connections++;
    u->connections++;
    return 0;
}

void http_users_disconnect(struct http_users *u, uid_t uid)
{
    struct http_user *user = user_entry(u, uid);
    if (!user || !user->connections)
        return;
    user->connections--;
    u->connections--;
}

/* The bytes of a body that count: not the first, which are bounded by the number of connections. */
static size_t counted_bytes(size_t bytes)
{
    return bytes > HTTP_BODY_SMALL ? bytes - HTTP_BODY_SMALL : 0;
}

bool http_users_send(struct http_users *u, uid_t uid, size_t had, size_t n, size_t *counted)
{
    struct http_user *user = user_entry(u, uid);
    size_t more = counted_bytes(had + n) - counted_bytes(had);
    size_t most = is_first(u, uid) ? HTTP_BODIES_MAX : HTTP_BODIES_MAX - HTTP_BODY_MAX;
    *counted = 0;
    if (!user || more == 0)
        return user != NULL;
    if (u->bodies + more > most || (!is_first(u, uid) && user->bodies + more > HTTP_BODY_MAX))
        return false;
    user->bodies += more;
    u->bodies += more;
    *counted = more;
    return true;
}

void http_users_sent(struct http_users *u, uid_t uid, size_t counted)
{
    struct http_user *user = user_entry(u, uid);
    if (!user || user->bodies < counted)
        return;
    user->bodies -= counted;
    u->bodies -= counted;
}

bool http_users_stream(struct http_users *u, uid_t uid)
{
    struct http_user *user = user_entry(u, uid);
    bool may = is_first(u, uid) ? u->streams < HTTP_STREAMS
                                : user && user->streams < HTTP_STREAMS_OF_USER &&
                                      u->streams < HTTP_STREAMS - HTTP_RESERVE;
    if (!user || !may)
        return false;
    user->streams++;
    u->streams++;
    return true;
}

void http_users_streamed(struct http_users *u, uid_t uid)
{
    struct http_user *user = user_entry(u, uid);
    if (!user || !user->streams)
        return;
    user->streams--;
    u->streams--;
}

void http_users_begin_round(struct http_users *u)
{
    u->round++;
    u->work = 0;
}

bool http_users_may_work(const struct http_users *u, uid_t uid)
{
    const struct http_user *user = user_entry(u, uid);
    if (!user || user->round != u->round || user->work == 0)
        return true;
    return user->work < HTTP_WORK_OF_USER && u->work < HTTP_WORK;
}

void http_users_work(struct http_users *u, uid_t uid, uint64_t ns)
{
    struct http_user *user = user_entry(u, uid);
    u->work += ns;
    if (!user)
        return;
    user->work = user->round == u->round ? user->work + ns : ns;
    user->round = u->round;
}

void http_users_hold(struct http_users *u, uid_t uid, size_t bytes)
{
    struct http_user *user = user_entry(u, uid);
    if (user)
        user->held += bytes;
}

void http_users_release(struct http_users *u, uid_t uid, size_t bytes)
{
    struct http_user *user = user_entry(u, uid);
    if (user)
        user->held -= bytes < user->held ? bytes : user->held;
}

bool http_users_may_ask(const struct http_users *u, uid_t uid)
{
    const struct http_user *user = user_entry(u, uid);
    return uid == 0 || !user || user->held < HELD_MAX;
}

void http_users_clear(struct http_users *u)
{
    free(u->v);
    u->v = NULL;
    u->n = u->cap = 0;
}
