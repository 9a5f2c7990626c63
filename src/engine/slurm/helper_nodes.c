/* What berth-slurm knows of nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostlist.h"
#include "engine/slurm/command.h"
#include "engine/slurm/helper.h"
#include "engine/slurm/talk.h"

#define HOLD 30 /* s */

static int compare_nodes(const void *a, const void *b)
{
    return hostlist_compare(((const struct held_node *)a)->said.name,
                            ((const struct held_node *)b)->said.name);
}

struct held_node *helper_node(const struct helper *h, const char *name)
{
    const struct held_node key = {.said.name = name};
    return h->n_nodes > 0 ? bsearch(&key, h->nodes, h->n_nodes, sizeof(*h->nodes), compare_nodes)
                          : NULL;
}

static void clear_node(struct held_node *n)
{
    free((char *)(uintptr_t)n->said.name);
    free((char *)(uintptr_t)n->said.address);
    free((char *)(uintptr_t)n->said.reason);
    free((char *)(uintptr_t)n->said.features);
    free((char *)(uintptr_t)n->said.partitions);
}

/* Into the list, in the place of what was said before. */
static void keep_node(struct helper *h, const struct slurm_node *said, struct held_node **list,
                      size_t *n, size_t *cap)
{
    const struct held_node *before = helper_node(h, said->name);
    struct held_node node = {.said = *said, .held_until = before ? before->held_until : 0};
    node.said.name = strdup(said->name);
    node.said.address = strdup(said->address);
    node.said.reason = strdup(said->reason);
    node.said.features = strdup(said->features);
    node.said.partitions = strdup(said->partitions);
    if (node.said.name && node.said.address && node.said.reason && node.said.features &&
        node.said.partitions && array_grow((void **)list, cap, *n + 1, sizeof(**list)) == 0)
        (*list)[(*n)++] = node;
    else
        clear_node(&node);
}

/* The partition that jobs are given to: the one that was named, else Slurm's default. Returns whether it takes some. */
static bool choose_partition(struct helper *h, struct strbuf *said)
{
    char *rest = NULL, *text = *strbuf_text(said) ? said->data : NULL;
    bool is_up = false;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        struct slurm_partition p;
        if (slurm_partition_read(line, &p) ||
            (h->partition ? strcmp(h->partition, p.name) != 0 : !p.is_default))
            continue;
        snprintf(h->chosen, sizeof(h->chosen), "%s", p.name);
        is_up = p.is_up;
    }
    return is_up;
}

static void take_said_nodes(struct helper *h, struct strbuf *said, bool is_up)
{
    struct held_node *list = NULL;
    size_t n = 0, cap = 0;
    char *rest = NULL, *text = *strbuf_text(said) ? said->data : NULL;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        struct slurm_node node;
        if (slurm_node_read(line, &node) || !slurm_list_has(node.partitions, h->chosen))
            continue;
        if (!is_up && node.state == SLURM_NODE_UP) {
            node.state = SLURM_NODE_DRAINED;
            node.reason = "its partition takes no jobs";
        }
        keep_node(h, &node, &list, &n, &cap);
    }
    for (size_t i = 0; i < h->n_nodes; i++)
        clear_node(&h->nodes[i]);
    free(h->nodes);
    if (n > 0)
        qsort(list, n, sizeof(*list), compare_nodes);
    h->nodes = list;
    h->n_nodes = n;
    h->cap_nodes = cap;
}

/* What others hold of a node. */
struct taken {
    int64_t cpus, gpus, memory;
};

/* What all hold, less what Berth has booked for its own. */
static void find_taken(const struct helper *h, struct taken *taken)
{
    for (size_t i = 0; i < h->n_nodes; i++) {
        const struct slurm_node *n = &h->nodes[i].said;
        taken[i] = (struct taken){n->cpus_used, n->gpus_used, n->memory_used};
    }
    for (size_t i = 0; i < h->n; i++) {
        const struct held_run *run = h->v[i];
        for (size_t k = 0; (run->was_active || run->is_active) && k < run->ask.n_places; k++) {
            const struct directed_place *p = &run->ask.places[k];
            const struct held_node *at = helper_node(h, p->node);
            if (!at)
                continue;
            struct taken *of = &taken[at - h->nodes];
            of->cpus -= p->cores * at->said.cpus_per_core;
            of->gpus -= p->gpus;
            of->memory -= run->ask.memory;
        }
    }
}

static int64_t within(int64_t n, int64_t most)
{
    return n < 0 ? 0 : n < most ? n : most;
}

static struct talk_node describe_held(const struct held_node *n, const struct taken *taken,
                                      const char *properties, int64_t now)
{
    const struct slurm_node *said = &n->said;
    bool held = n->held_until > now;
    int64_t each = said->cpus_per_core, cores = (taken->cpus + each - 1) / each;
    return (struct talk_node){.name = said->name,
                              .address = said->address,
                              .properties = properties ? properties : "",
                              .reason =
                                  held ? "Slurm has not started a job there at once" : said->reason,
                              .up = said->state != SLURM_NODE_DOWN,
                              .drained = said->state == SLURM_NODE_DRAINED || held,
                              .cores = (uint32_t)said->cores,
                              .gpus = (uint32_t)said->gpus,
                              .memory = said->memory,
                              .cores_taken = (uint32_t)within(cores, said->cores),
                              .gpus_taken = (uint32_t)within(taken->gpus, said->gpus),
                              .memory_taken = within(taken->memory, said->memory)};
}

static void tell_nodes(struct helper *h)
{
    struct talk_node *told = calloc(h->n_nodes + 1, sizeof(*told));
    struct taken *taken = calloc(h->n_nodes + 1, sizeof(*taken));
    char **properties = calloc(h->n_nodes + 1, sizeof(*properties));
    int64_t now = helper_now();
    if (told && taken && properties) {
        find_taken(h, taken);
        for (size_t i = 0; i < h->n_nodes; i++) {
            const struct slurm_node *n = &h->nodes[i].said;
            if (asprintf(&properties[i], "%s%s%s", n->partitions, *n->features ? "," : "",
                         n->features) < 0)
                properties[i] = NULL;
            told[i] = describe_held(&h->nodes[i], &taken[i], properties[i], now);
        }
        talk_put_nodes(&h->out, told, h->n_nodes);
    }
    for (size_t i = 0; properties && i < h->n_nodes; i++)
        free(properties[i]);
    free(properties);
    free(taken);
    free(told);
}

/* Jobs are asked for before and after, so that none of our own is taken for another's. */
void helper_ask_nodes(struct helper *h)
{
    const struct command partitions = {.argv = {"scontrol", "-o", "show", "partition"}},
                         nodes = {.argv = {"scontrol", "-d", "-o", "show", "node"}};
    struct strbuf said = {0};
    helper_ask_queue(h);
    if (h->answers && helper_ask(h, &partitions, &said) == 0) {
        bool is_up = choose_partition(h, &said);
        strbuf_reset(&said);
        if (helper_ask(h, &nodes, &said) == 0) {
            take_said_nodes(h, &said, is_up);
            helper_ask_queue(h);
            tell_nodes(h);
        }
    }
    strbuf_clear(&said);
}

void helper_hold_nodes(struct helper *h, const struct held_run *run)
{
    for (size_t i = 0; i < run->ask.n_places; i++) {
        struct held_node *n = helper_node(h, run->ask.places[i].node);
        if (n)
            n->held_until = helper_now() + HOLD;
    }
}

bool helper_nodes_are_back(const struct helper *h, const struct held_run *run)
{
    for (size_t i = 0; i < run->ask.n_places; i++) {
        const struct held_node *n = helper_node(h, run->ask.places[i].node);
        if (!n || n->said.state == SLURM_NODE_DOWN)
            return false;
    }
    return true;
}
