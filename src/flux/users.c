#include "flux/users.h"

#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct user {
    uint32_t uid;
    char *name;
};

struct flux_users {
    struct user *v; /* ascending */
    size_t n, cap;
};

struct flux_users *flux_users_create(void)
{
    return calloc(1, sizeof(struct flux_users));
}

void flux_users_destroy(struct flux_users *users)
{
    for (size_t i = 0; users && i < users->n; i++)
        free(users->v[i].name);
    if (users)
        free(users->v);
    free(users);
}

static char *ask_user_name(uint32_t uid)
{
    enum { ROOM = 16384 };
    struct passwd entry, *found = NULL;
    char *room = malloc(ROOM), *name = NULL;

    if (!room)
        return NULL;
    if (getpwuid_r((uid_t)uid, &entry, room, ROOM, &found) == 0 && found)
        name = strdup(found->pw_name);
    else if (asprintf(&name, "%u", (unsigned)uid) < 0)
        name = NULL;
    free(room);
    return name;
}

const char *flux_users_name(struct flux_users *users, uint32_t uid)
{
    size_t low = 0, high = users->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (users->v[middle].uid < uid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < users->n && users->v[low].uid == uid)
        return users->v[low].name;
    if (array_grow((void **)&users->v, &users->cap, users->n + 1, sizeof(*users->v)) < 0)
        return NULL;
    char *name = ask_user_name(uid);
    if (!name)
        return NULL;
    memmove(users->v + low + 1, users->v + low, (users->n - low) * sizeof(*users->v));
    users->v[low] = (struct user){uid, name};
    users->n++;
    return name;
}
