/* Users: looked up in the system, cached, and their limits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/bulk.h"
#include "server/core/users.h"

#define KNOWN_FOR (60 * SERVER_SECOND) /* then a user is looked up again: groups change */

static void forget_texts(struct user *u)
{
    for (size_t i = 0; i < u->n_groups; i++)
        free(u->groups[i]);
    free(u->groups);
    free(u->name);
    free(u->gids);
    free(u->home);
    free(u->shell);
}

static char *copy_or_fail(const char *text, bool *failed)
{
    char *to = strdup(text ? text : "");
    *failed = *failed || !to;
    return to;
}

/* Copy what the system returned. Returns 0, or -1 with ENOMEM and the user unchanged. */
static int update_user(server_t *s, struct user *u, const struct server_user *said)
{
    bool failed = false;
    struct user new = *u;
    new.gid = said->gid;
    new.name = copy_or_fail(said->name, &failed);
    new.home = copy_or_fail(said->home, &failed);
    new.shell = copy_or_fail(said->shell, &failed);
    new.n_gids = said->n_groups;
    new.gids = calloc(said->n_groups + 1, sizeof(*new.gids));
    new.groups = calloc(said->n_groups + 1, sizeof(*new.groups));
    new.n_groups = 0;
    failed = failed || !new.gids || !new.groups;
    for (size_t i = 0; !failed && i < said->n_groups; i++) {
        new.gids[i] = said->groups[i];
        if (said->group_names && said->group_names[i])
            new.groups[new.n_groups++] = copy_or_fail(said->group_names[i], &failed);
    }
    if (failed) {
        forget_texts(&new);
        errno = ENOMEM;
        return -1;
    }
    forget_texts(u);
    *u = new;
    u->known = s->clock.now;
    u->has_folder = false; /* it may have been removed */
    u->is_there = true;
    return 0;
}

void user_charge_job(struct user *u, const struct job *job)
{
    u->live += job->live;
    u->bytes += (int64_t)job->bytes;
    u->unstored += job->is_new ? job->weight : 0;
}

/* Recount what is counted for a user. */
static void recount_user(const server_t *s, struct user *u)
{
    u->live = u->bytes = u->unstored = 0;
    for (size_t i = 0; i < s->table.n; i++)
        if (s->table.jobs[i].job && s->table.jobs[i].job->uid == u->uid)
            user_charge_job(u, s->table.jobs[i].job);
    bulk_charge_user(s, u);
}

static struct user *add_user(server_t *s, uint32_t uid)
{
    if (array_grow((void **)&s->users.v, &s->users.cap, s->users.n + 1, sizeof(*s->users.v)) < 0)
        return NULL;
    struct user *u = calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    u->uid = uid;
    u->counted = INT64_MIN;
    u->stored = -1;
    recount_user(s, u);
    s->users.v[s->users.n++] = u;
    return u;
}

static struct user *cached_user(server_t *s, uint32_t uid)
{
    for (size_t i = 0; i < s->users.n; i++)
        if (s->users.v[i]->uid == uid)
            return s->users.v[i];
    return add_user(s, uid);
}

struct user *user_find(server_t *s, uint32_t uid)
{
    struct server_user said = {0};
    struct user *u = cached_user(s, uid);
    if (!u)
        return NULL;
    if (u->is_there && s->clock.now - u->known < KNOWN_FOR)
        return u;
    if (s->platform.user(s->platform.context, uid, &said) < 0) {
        if (u->is_there) /* it was removed, or the lookup failed */
            return u;
        return NULL;
    }
    return update_user(s, u, &said) < 0 ? NULL : u;
}

bool user_is_admin(server_t *s, uint32_t uid)
{
    const struct config_server *c = &s->config->server;
    if (uid == 0 || uid == s->options.uid)
        return true;
    struct user *u = user_find(s, uid);
    for (size_t i = 0; u && i < c->n_administrators; i++)
        if (strcmp(c->administrators[i], u->name) == 0)
            return true;
    return false;
}

void user_charge(server_t *s, uint32_t uid, int64_t live, int64_t bytes, int64_t unstored)
{
    for (size_t i = 0; i < s->users.n; i++) {
        if (s->users.v[i]->uid != uid)
            continue;
        s->users.v[i]->live += live;
        s->users.v[i]->bytes += bytes;
        s->users.v[i]->unstored += unstored;
    }
}

bool users_check(const server_t *s)
{
    for (size_t i = 0; i < s->users.n; i++) {
        struct user sum = {.uid = s->users.v[i]->uid};
        recount_user(s, &sum);
        if (sum.live != s->users.v[i]->live || sum.bytes != s->users.v[i]->bytes ||
            sum.unstored != s->users.v[i]->unstored)
            return false;
    }
    return true;
}

/* A token bucket: each second adds `rate` requests, up to `rate`. */
bool user_may_request(server_t *s, uint32_t uid)
{
    int64_t rate = s->config->server.requests_per_second;
    struct user *u = uid == 0 || rate > 1000000 ? NULL : cached_user(s, uid);
    if (!u)
        return true;
    int64_t most = rate * SERVER_SECOND;
    int64_t since = u->counted == INT64_MIN ? SERVER_SECOND : s->clock.now - u->counted;
    u->counted = s->clock.now;
    if (since >= SERVER_SECOND || u->tokens + since * rate > most)
        u->tokens = most;
    else
        u->tokens += since * rate;
    if (u->tokens < SERVER_SECOND)
        return false;
    u->tokens -= SERVER_SECOND;
    return true;
}

void users_clear(server_t *s)
{
    for (size_t i = 0; i < s->users.n; i++) {
        forget_texts(s->users.v[i]);
        free(s->users.v[i]);
    }
    free(s->users.v);
}
