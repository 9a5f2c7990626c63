/* The nodes of the engine `slurm`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/slurm/slurm_priv.h"

void slurm_clear_node(struct ruled_node *n)
{
    node_clear(&n->brings);
    free(n->id);
    free(n->properties);
    free(n->reason);
    free(n);
}

/* "0", "1", ..., or texts that say nothing. NULL: memory is short. */
static char **make_names(size_t n, bool numbers)
{
    char **list = calloc(n + 1, sizeof(*list));
    char digits[24] = "";
    for (size_t i = 0; list && i < n; i++) {
        if (numbers)
            snprintf(digits, sizeof(digits), "%zu", i);
        list[i] = strdup(digits);
        if (list[i])
            continue;
        while (i-- > 0)
            free(list[i]);
        free(list);
        list = NULL;
    }
    return list;
}

/* Which of its cores and GPUs a run gets is Slurm's choice: they have no names. */
static int describe_brought(struct ruled_node *n, const struct talk_node *from)
{
    struct node *b = &n->brings;
    node_clear(b);
    *b = (struct node){.name = strdup(from->name),
                       .boot = strdup(""),
                       .job = strdup(""),
                       .address = strdup(from->address),
                       .memory = from->memory,
                       .cores = make_names(from->cores, false)};
    b->n_cores = b->cores ? from->cores : 0;
    b->gpus = make_names(from->gpus, true);
    b->n_gpus = b->gpus ? from->gpus : 0;
    return b->name && b->boot && b->job && b->address && b->cores && b->gpus ? 0 : -1;
}

static struct ruled_node *find_ruled_node(const struct slurm *s, const char *name)
{
    for (size_t i = 0; i < s->n_nodes; i++)
        if (strcmp(s->nodes[i]->id + sizeof(DIRECTED_ID) - 1, name) == 0)
            return s->nodes[i];
    return NULL;
}

static struct ruled_node *add_ruled_node(struct slurm *s, const char *name)
{
    struct ruled_node *n = calloc(1, sizeof(*n));
    if (!n || asprintf(&n->id, DIRECTED_ID "%s", name) < 0 ||
        array_grow((void **)&s->nodes, &s->cap_nodes, s->n_nodes + 1, sizeof(*s->nodes)) < 0) {
        free(n);
        return NULL;
    }
    return s->nodes[s->n_nodes++] = n;
}

static void take_told_node(struct slurm *s, const struct talk_node *from)
{
    struct ruled_node *n = find_ruled_node(s, from->name);
    n = n ? n : add_ruled_node(s, from->name);
    char *properties = strdup(from->properties), *reason = strdup(from->reason);
    if (!n || !properties || !reason || describe_brought(n, from)) {
        free(properties);
        free(reason);
        return;
    }
    free(n->properties);
    free(n->reason);
    n->properties = properties;
    n->reason = reason;
    n->ruled = (struct engine_ruled){.properties = properties,
                                     .reason = reason,
                                     .drained = from->drained,
                                     .cores_taken = from->cores_taken,
                                     .gpus_taken = from->gpus_taken,
                                     .memory_taken = from->memory_taken};
    n->up = from->up;
    n->left = false;
    n->is_new = true;
}

int slurm_take_nodes(struct slurm *s, struct wire *w)
{
    struct talk_node node;
    size_t n = wire_count(w, 53);
    for (size_t i = 0; i < s->n_nodes; i++)
        s->nodes[i]->is_new = false;
    for (size_t i = 0; i < n; i++) {
        if (!talk_node(w, &node))
            return -1;
        take_told_node(s, &node);
    }
    for (size_t i = 0; i < s->n_nodes; i++)
        s->nodes[i]->left = !s->nodes[i]->is_new;
    s->change++;
    return 0;
}

size_t slurm_get_nodes(struct engine *e, const struct engine_node **nodes, uint64_t *change)
{
    struct slurm *s = slurm_of(e);
    struct engine_node *v = reallocarray(s->list, s->n_nodes + 1, sizeof(*v));
    *change = s->change;
    *nodes = v;
    if (!v)
        return 0;
    s->list = v;
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct ruled_node *n = s->nodes[i];
        v[i] = (struct engine_node){.id = n->id,
                                    .brings = n->properties ? &n->brings : NULL,
                                    .up = n->up,
                                    .left = n->left,
                                    .ruled = &n->ruled};
    }
    return s->n_nodes;
}

void slurm_lose_node(struct engine *e, const char *id)
{
    if (strncmp(id, DIRECTED_ID, sizeof(DIRECTED_ID) - 1) == 0)
        talk_put_text(&slurm_of(e)->out, TALK_LOSE, id + sizeof(DIRECTED_ID) - 1);
}

int slurm_forget_node(struct engine *e, const char *id)
{
    struct slurm *s = slurm_of(e);
    for (size_t i = 0; i < s->n_nodes; i++) {
        if (strcmp(s->nodes[i]->id, id) != 0)
            continue;
        slurm_clear_node(s->nodes[i]);
        s->nodes[i] = s->nodes[--s->n_nodes];
        s->change++;
        break;
    }
    return 0;
}
