#include "server/core/hooks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The server has set these, whatever the user's environment says; nothing else of it reaches what may run as root. */
static const char *const told[] = {
    "BERTH_JOB_ID=",  "BERTH_JOB_NAME=", "BERTH_QUEUE=", "BERTH_TASKS=",      "BERTH_NODES=",
    "BERTH_ATTEMPT=", "BERTH_CORES=",    "BERTH_GPUS=",  "BERTH_ARRAY_INDEX="};
#define TOLD (sizeof(told) / sizeof(*told))

static const char *find_in_environment(const char *const *env, const char *name)
{
    for (; *env; env++)
        if (strncmp(*env, name, strlen(name)) == 0)
            return *env;
    return NULL;
}

/* "NAME=TEXT" in the arena. NULL with ENOMEM. */
static const char *join_variable(struct arena *arena, const char *name, const char *text)
{
    size_t length = strlen(name) + strlen(text) + 1;
    char *joined = arena_alloc(arena, length);
    if (joined)
        snprintf(joined, length, "%s%s", name, text);
    return joined;
}

static const char *const *hook_env(const server_t *s, const struct job *job, const char *const *env,
                                   struct arena *arena)
{
    const char **list = arena_alloc(arena, (TOLD + 6) * sizeof(*list));
    char uid[16], gid[16];
    size_t n = 0;
    if (!list)
        return NULL;
    for (size_t i = 0; i < TOLD - (job->members == 1); i++)
        if (find_in_environment(env, told[i]))
            list[n++] = find_in_environment(env, told[i]);
    snprintf(uid, sizeof(uid), "%" PRIu32, (uint32_t)job->uid);
    snprintf(gid, sizeof(gid), "%" PRIu32, (uint32_t)job->gid);
    list[n++] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    list[n++] = join_variable(arena, "BERTH_DIR=", s->directory);
    list[n++] = join_variable(arena, "BERTH_USER=", job->user);
    list[n++] = join_variable(arena, "BERTH_UID=", uid);
    list[n++] = join_variable(arena, "BERTH_GID=", gid);
    list[n] = NULL;
    for (size_t i = n - 5; i < n; i++)
        if (!list[i])
            return NULL;
    return list;
}

int hooks_make(const server_t *s, const struct job *job, const char *const *env,
               struct arena *arena, struct engine_run *to)
{
    const struct config_server *server = &s->config->server;
    to->hooks = NULL;
    if (!server->prologue && !server->epilogue)
        return 0;
    struct engine_hooks *hooks = arena_alloc(arena, sizeof(*hooks));
    if (hooks) {
        *hooks = (struct engine_hooks){.prologue = server->prologue,
                                       .epilogue = server->epilogue,
                                       .limit = server->hook_limit,
                                       .env = hook_env(s, job, env, arena)};
        to->hooks = hooks;
    }
    if (hooks && hooks->env)
        return 0;
    errno = ENOMEM;
    return -1;
}
