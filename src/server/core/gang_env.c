#include "server/core/gang_env.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_query.h"
#include "server/core/members.h"
#include "server/core/pilots.h"
#include "server/core/roles.h"

#define HOSTS_MAX 100000 /* bytes; a longer list of hosts is left out of the environment */

static bool is_member_there(const struct member *m)
{
    return m->state == STORE_STARTING || m->state == STORE_RUNNING;
}

struct gang_rank gang_rank(const struct job *job, uint32_t member, uint64_t tasks)
{
    struct gang_rank rank = {0};
    const struct job_role *own = job_role_of(job, member);
    for (uint32_t i = 0; (i = member_next_own(job, i)) < member; i++) {
        const struct job_role *role = job_role_of(job, i);
        if (!is_member_there(member_record(job, i)))
            continue;
        rank.members++;
        rank.of_role += role == own;
        rank.tasks += role ? (uint64_t)role->tasks : tasks;
    }
    return rank;
}

void gang_env_clear(server_t *s)
{
    free(s->gang.hosts);
    free(s->gang.address);
    free(s->gang.roles);
    s->gang = (struct gang_seen){0};
}

/* The address of a host: of a pilot's node as its agent knows it, else its name. */
static const char *address_of(const server_t *s, const char *host)
{
    const json_t *node = pilots_node_named(s, host);
    const char *address = node ? json_string_value(json_object_get(node, "address")) : NULL;
    return address && *address ? address : host;
}

/* "server:1,worker:6". NULL with ENOMEM; of a gang without roles it is empty. */
static char *roles_text(const struct job *job, const uint32_t of_role[SCHED_ROLES_MAX])
{
    struct strbuf text = {0};
    for (size_t i = 0; job->roles && i < job->roles->n; i++) {
        strbuf_puts(&text, i > 0 ? "," : "");
        strbuf_puts(&text, job->roles->role[i].name);
        strbuf_putc(&text, ':');
        strbuf_put_uint(&text, of_role[i]);
    }
    return text.len == 0 && !text.failed ? strdup("") : strbuf_steal(&text);
}

/* Members meet at the first one's host. All on this machine meet at its own address, which needs no name. */
static int keep_environment(server_t *s, const struct job *job, struct strbuf *hosts,
                            const uint32_t of_role[SCHED_ROLES_MAX], bool is_here)
{
    const char *comma = hosts->len > 0 ? memchr(hosts->data, ',', hosts->len) : NULL;
    char *first = strndup(hosts->len > 0 ? hosts->data : "",
                          comma ? (size_t)(comma - hosts->data) : hosts->len);
    gang_env_clear(s);
    s->gang.address = is_here ? strdup("127.0.0.1") : first ? strdup(address_of(s, first)) : NULL;
    free(first);
    s->gang.hosts = strbuf_steal(hosts);
    s->gang.roles = roles_text(job, of_role);
    memcpy(s->gang.of_role, of_role, sizeof(s->gang.of_role));
    if (!s->gang.address || !s->gang.hosts || !s->gang.roles) {
        gang_env_clear(s);
        errno = ENOMEM;
        return -1;
    }
    s->gang.job = job->id;
    s->gang.commit = s->unsaved.n_commits;
    return 0;
}

/* Look who is there, once for all members that start together. Returns 0, or -1 with ENOMEM. */
static int look_who_is_there(server_t *s, const struct job *job)
{
    struct strbuf hosts = {0};
    struct sched_allocation a;
    uint32_t of_role[SCHED_ROLES_MAX] = {0};
    bool is_here = true;
    if (s->gang.job == job->id && s->gang.commit == s->unsaved.n_commits)
        return 0;
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++) {
        const struct member *m = member_record(job, i);
        bool known = is_member_there(m) && m->handle >= 0 &&
                     sched_allocation(s->sched, m->handle, &a) == 0 && a.n_hosts > 0;
        if (!is_member_there(m))
            continue;
        if (job->roles)
            of_role[job_role_of(job, i) - job->roles->role]++;
        strbuf_puts(&hosts, hosts.len ? "," : "");
        strbuf_puts(&hosts, known ? a.hosts[0].name : "?");
        is_here = is_here && known && !pilots_node_named(s, a.hosts[0].name);
    }
    if (!hosts.failed)
        return keep_environment(s, job, &hosts, of_role, is_here);
    strbuf_clear(&hosts);
    errno = ENOMEM;
    return -1;
}

/* Jobs of a server have different ports, and servers that share a node mostly have. */
static uint32_t port_of(const server_t *s, const struct job *job)
{
    uint32_t hash = 2166136261; /* FNV-1a */
    for (const char *at = s->directory; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619;
    return GANG_PORT + (uint32_t)((hash + (uint64_t)job->id) % GANG_PORTS);
}

/* The tasks of all members, where one without a role has so many. */
static uint64_t world_of(const server_t *s, const struct job *job, uint64_t tasks)
{
    uint64_t all = 0;
    if (!job->roles)
        return job_running(job) * tasks;
    for (size_t i = 0; i < job->roles->n; i++)
        all += s->gang.of_role[i] * (uint64_t)job->roles->role[i].tasks;
    return all;
}

struct gang_variable {
    const char *name, *value;
};

static int add_all(const struct gang_variable *v, size_t n,
                   int (*add)(void *context, const char *name, const char *value), void *context)
{
    for (size_t i = 0; i < n; i++)
        if (add(context, v[i].name, v[i].value) < 0)
            return -1;
    return 0;
}

/* Of its role: which it is, its number among those, and how many these and those of other roles are. */
static int add_role(const server_t *s, const struct job *job, uint32_t member, uint32_t rank,
                    int (*add)(void *context, const char *name, const char *value), void *context)
{
    const struct job_role *role = job_role_of(job, member);
    char number[24], count[24];
    if (!role)
        return 0;
    snprintf(number, sizeof(number), "%" PRIu32, rank);
    snprintf(count, sizeof(count), "%" PRIu32, s->gang.of_role[role - job->roles->role]);
    const struct gang_variable all[] = {{"BERTH_ROLE", role->name},
                                        {"BERTH_ROLE_RANK", number},
                                        {"BERTH_ROLE_COUNT", count},
                                        {"BERTH_ROLES", s->gang.roles}};
    return add_all(all, sizeof(all) / sizeof(*all), add, context);
}

int gang_env_each(server_t *s, const struct job *job, uint32_t member, uint64_t tasks,
                  int (*add)(void *context, const char *name, const char *value), void *context)
{
    if (look_who_is_there(s, job) < 0)
        return -1;
    char count[24], rank[24], port[24], world[24], local[24], meet[300];
    const char *address = s->gang.address;
    struct gang_rank before = gang_rank(job, member, tasks);
    snprintf(rank, sizeof(rank), "%" PRIu32, before.members);
    snprintf(count, sizeof(count), "%" PRIu32, job_running(job));
    snprintf(port, sizeof(port), "%" PRIu32, port_of(s, job));
    snprintf(world, sizeof(world), "%" PRIu64, world_of(s, job, tasks));
    snprintf(local, sizeof(local), "%" PRIu64, tasks);
    snprintf(meet, sizeof(meet), strchr(address, ':') ? "[%.255s]:%s" : "%.255s:%s", address, port);
    const struct gang_variable all[] = {
        {"BERTH_MEMBER_RANK", rank}, {"BERTH_MEMBER_COUNT", count},
        {"BERTH_RENDEZVOUS", meet},  {"MASTER_ADDR", address},
        {"MASTER_PORT", port},       {"WORLD_SIZE", world},
        {"LOCAL_WORLD_SIZE", local}, {"PET_NNODES", count},
        {"PET_NODE_RANK", rank},     {"PET_MASTER_ADDR", address},
        {"PET_MASTER_PORT", port},   {"BERTH_MEMBER_HOSTS", s->gang.hosts}};
    size_t n = sizeof(all) / sizeof(*all) - (strlen(s->gang.hosts) > HOSTS_MAX);
    return add_all(all, n, add, context) < 0
               ? -1
               : add_role(s, job, member, before.of_role, add, context);
}
