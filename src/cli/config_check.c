#include "cli/config_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/hostlist.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "berth/sched_config.h"
#include "config/machine_open.h"
#include "resource/graph.h"

/* The names that blocks use, and which of them the machine has. */
struct names {
    struct intern table;
    bool *seen;  /* by number */
    int64_t max; /* names of a block to look at: of so many different ones, one is surely missing */
    char missing[HOSTLIST_NAME_SIZE];
};

/* Call back for each name of a block until that returns nonzero, and return that; or -1 with ENOMEM. */
static int each_name(const struct sched_block *block, struct names *names,
                     int (*call)(struct names *, const char *))
{
    struct hostlist list = {0};
    struct hostlist_cursor cursor = {0};
    char name[HOSTLIST_NAME_SIZE];
    int rc = -1;

    if (hostlist_decode(&list, block->resources, strlen(block->resources), NULL) == 0 &&
        hostlist_uniq(&list) == 0) {
        rc = 0;
        for (int64_t n = 0; rc == 0 && n < names->max && hostlist_next(&list, &cursor, name); n++)
            rc = call(names, name);
    }
    hostlist_clear(&list);
    return rc;
}

static int put_node_name(struct names *names, const char *name)
{
    uint32_t id;

    return intern_put(&names->table, name, strlen(name), &id);
}

/* Whether a name is missing, which then is noted. */
static int is_missing(struct names *names, const char *name)
{
    uint32_t id;

    if (intern_find(&names->table, name, strlen(name), &id) && names->seen[id])
        return 0;
    snprintf(names->missing, sizeof(names->missing), "%s", name);
    return 1;
}

/* Note the names and paths of all vertices. */
static int count_machine_types(struct names *names, const struct graph *g)
{
    struct strbuf text = {0};
    uint32_t id;

    names->seen = calloc((size_t)names->table.n + 1, sizeof(*names->seen));
    for (uint32_t v = 0; names->seen && !text.failed && v < g->n; v++) {
        for (int path = 0; path < 2 && !g->v[v].gone; path++) {
            strbuf_reset(&text);
            if (path)
                graph_path(g, v, GRAPH_CONTAINMENT, &text);
            else
                graph_name(g, v, &text);
            if (text.len > 0 && intern_find(&names->table, text.data, text.len, &id))
                names->seen[id] = true;
        }
    }
    bool failed = !names->seen || text.failed;
    strbuf_clear(&text);
    return failed ? -1 : 0;
}

static int check_block_targets(const struct sched_config *sched, const struct graph *g,
                               berth_error_t *err)
{
    struct names names = {.max = 2 * (int64_t)g->n + 1};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sched->n_blocks; i++)
        rc = each_name(&sched->blocks[i], &names, put_node_name);
    if (rc == 0 && sched->n_blocks > 0)
        rc = count_machine_types(&names, g);
    for (size_t i = 0; rc == 0 && i < sched->n_blocks; i++) {
        rc = each_name(&sched->blocks[i], &names, is_missing);
        if (rc > 0)
            errtext_set(err, EINVAL,
                        "block \"%s\": key \"resources\": expected resources of the machine, got "
                        "\"%.80s\"",
                        sched->blocks[i].name, names.missing);
    }
    intern_clear(&names.table);
    free(names.seen);
    if (rc < 0)
        return errtext_no_memory(err);
    return rc == 0 ? 0 : -1;
}

static void count_type_named(const struct graph *g, struct config_found *found)
{
    for (uint32_t v = 0; v < g->n; v++) {
        const struct vertex *x = &g->v[v];
        if (x->gone)
            continue;
        found->nodes += x->type == TYPE_NODE ? x->size : 0;
        found->cores += x->type == TYPE_CORE ? x->size : 0;
        found->gpus += x->type == TYPE_GPU ? x->size : 0;
    }
}

int config_check(const struct config *config, const match_t *machine, struct config_found *found,
                 berth_error_t *err)
{
    const struct sched_config *sched = &config->sched;

    *found = (struct config_found){.queues = (int64_t)sched->n_queues,
                                   .blocks = (int64_t)sched->n_blocks};
    if (config_check_types(config, machine, NULL, err) < 0 ||
        check_block_targets(sched, match_graph(machine), err) < 0)
        return -1;
    count_type_named(match_graph(machine), found);
    return 0;
}

static void print_found(const char *before, int64_t n, const char *what)
{
    printf("%s%lld %s%s", before, (long long)n, what, n == 1 ? "" : "s");
}

void config_found_print(const struct config_found *found)
{
    print_found("", found->queues, "queue");
    if (found->blocks)
        print_found(", ", found->blocks, "block");
    print_found("; ", found->nodes, "node");
    print_found(", ", found->cores, "core");
    if (found->gpus)
        print_found(", ", found->gpus, "gpu");
    printf("\n");
}

void config_found_print_json(const struct config_found *found)
{
    printf("{\"queues\":%lld,\"blocks\":%lld,\"nodes\":%lld,\"cores\":%lld,\"gpus\":%lld}\n",
           (long long)found->queues, (long long)found->blocks, (long long)found->nodes,
           (long long)found->cores, (long long)found->gpus);
}
