#include "server/http_users.h"

#include <stdlib.h>

#define MANY     256
#define HELD_MAX ((size_t)64 << 20) /* bytes; one reply more may come on top */

static struct http_user *find(const struct http_users *u, uid_t uid)
{
    for (size_t i = 0; i < u->n; i++)
        if (u->v[i].uid == uid)
            return &u->v[i];
    return NULL;
}

bool http_users_may_connect(const struct http_users *u, uid_t uid)
{
    const struct http_user *user = find(u, uid);
    return uid == 0 || uid == u->owner || !user || user->connections < u->limit;
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
    struct http_user *user = find(u, uid);

    if (!user) {
        if (u->n >= MANY)
            forget_absent(u);
        if (u->n == u->cap) {
            size_t cap = u->cap ? 2 * u->cap : 8;
            struct http_user *grown = realloc(u->v, cap * sizeof(*grown));
            if (!grown)
                return -1;
            u->v = grown;
            u->cap = cap;
        }
        user = &u->v[u->n++];
        *user = (struct http_user){.uid = uid};
    }
    user->connections++;
    return 0;
}

void http_users_disconnect(struct http_users *u, uid_t uid)
{
    struct http_user *user = find(u, uid);
    if (user && user->connections)
        user->connections--;
}

void http_users_hold(struct http_users *u, uid_t uid, size_t bytes)
{
    struct http_user *user = find(u, uid);
    if (user)
        user->held += bytes;
}

void http_users_release(struct http_users *u, uid_t uid, size_t bytes)
{
    struct http_user *user = find(u, uid);
    if (user)
        user->held -= bytes < user->held ? bytes : user->held;
}

bool http_users_may_ask(const struct http_users *u, uid_t uid)
{
    const struct http_user *user = find(u, uid);
    return uid == 0 || !user || user->held < HELD_MAX;
}

void http_users_clear(struct http_users *u)
{
    free(u->v);
    u->v = NULL;
    u->n = u->cap = 0;
}
