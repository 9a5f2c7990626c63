#include "sim/queues.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "jobspec/short.h"
#include "resource/graph.h"

static bool takes_nodes(const struct config *config)
{
    return config->trace.processor && strcmp(config->trace.processor, "node") == 0;
}

int64_t queues_procs(const struct config *config, const match_t *machine, berth_error_t *err)
{
    const struct graph *g = match_graph(machine);
    uint16_t type = takes_nodes(config) ? TYPE_NODE : TYPE_CORE;
    int64_t n = 0;
    for (uint32_t v = 0; v < g->n; v++)
        if (!g->v[v].gone && g->v[v].type == type)
            n++;
    /* Those that pilots may bring. */
    n += config->pilots.rule.max_nodes *
         (type == TYPE_NODE ? 1 : config->pilots.rule.node[PILOT_CORES]);
    if (n == 0)
        return errtext_set(err, EINVAL, "the machine has no %s",
                           type == TYPE_NODE ? "nodes" : "cores");
    return n;
}

void queues_request_clear(struct queues_request *r)
{
    strbuf_clear(&r->jobspec);
    free(r->groups);
    r->groups = NULL;
}

/* What a number stands for; NULL: nothing. */
static const char *name_of_number(const struct config_name *names, size_t n, int64_t number)
{
    for (size_t i = 0; i < n; i++)
        if (names[i].number == number)
            return names[i].name;
    return NULL;
}

/* A user's groups: those in the configuration, and that of the trace. */
static int find_groups(struct queues_request *r, const struct config *config, const char *user,
                       const char *group, struct sched_request *request)
{
    const struct config_user *u = config_user(config, user);
    size_t n = u ? u->n_groups : 0;
    if (n + 1 > r->cap_groups) {
        const char **groups = reallocarray(r->groups, n + 1, sizeof(*groups));
        if (!groups)
            return -1;
        r->groups = groups;
        r->cap_groups = n + 1;
    }
    for (size_t i = 0; i < n; i++)
        r->groups[i] = u->groups[i];
    if (group)
        r->groups[n++] = group;
    request->groups = r->groups;
    request->n_groups = n;
    return 0;
}

int queues_request(struct queues_request *r, const struct config *config,
                   const struct schedule_job *job, const struct trace_who *who,
                   struct sched_request *request)
{
    const struct config_trace *t = &config->trace;
    const char *constraint = NULL, *user = NULL, *group = NULL;
    *request = (struct sched_request){.duration = job->limit};
    if (who) {
        request->queue = name_of_number(t->queues, t->n_queues, who->queue);
        constraint = name_of_number(t->partitions, t->n_partitions, who->partition);
        user = name_of_number(t->users, t->n_users, who->user);
        group = name_of_number(t->groups, t->n_groups, who->group);
    }
    if (who && !user && who->user >= 0) {
        snprintf(r->user, sizeof(r->user), "u%" PRId64, who->user);
        user = r->user;
    }
    if (who && !group && who->group >= 0) {
        snprintf(r->group, sizeof(r->group), "g%" PRId64, who->group);
        group = r->group;
    }
    request->user = user;
    if (find_groups(r, config, user, group, request) < 0)
        return -1;
    struct short_form form = {.tasks = job->procs, .constraint = constraint};
    if (takes_nodes(config))
        form.nodes = job->procs;
    else
        form.cores = 1;
    strbuf_reset(&r->jobspec);
    short_put(&r->jobspec, &form);
    request->jobspec = strbuf_text(&r->jobspec);
    request->jobspec_length = r->jobspec.len;
    if (!r->jobspec.failed)
        return 0;
    errno = ENOMEM;
    return -1;
}
