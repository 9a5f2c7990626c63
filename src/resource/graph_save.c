/* Keeping a graph, to put it back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resource/graph.h"

void graph_forget(struct graph *g)
{
    int saved = errno;

    for (int s = 0; s < GRAPH_SUBSYSTEM_MAX; s++)
        free(g->parent[s]);
    free(g->v);
    free(g->uniq_id);
    free(g->first);
    free(g->child);
    free(g->child_subsystem);
    free(g->loose);
    free(g->paths);
    errno = saved;
}

/* A copy of an array, which may be NULL; false without memory. */
static bool copy(void *to, const void *from, size_t n, size_t size)
{
    void *array = from ? reallocarray(NULL, n + 1, size) : NULL;

    if (array)
        memcpy(array, from, n * size);
    memcpy(to, &array, sizeof(array));
    return array || !from;
}

int graph_save(struct graph *g, struct graph *was)
{
    struct graph new = *g;
    bool good = copy(&new.v, g->v, g->n, sizeof(*g->v));

    good &= copy(&new.uniq_id, g->uniq_id, g->n, sizeof(*g->uniq_id));
    good &= copy(&new.first, g->first, (size_t)g->n + 1, sizeof(*g->first));
    good &= copy(&new.child, g->child, g->n_edges, sizeof(*g->child));
    good &= copy(&new.child_subsystem, g->child_subsystem, g->n_edges, 1);
    good &= copy(&new.paths, g->paths, g->n_paths, sizeof(*g->paths));
    for (int s = 0; s < GRAPH_SUBSYSTEM_MAX; s++)
        good &= copy(&new.parent[s], g->parent[s], g->n, sizeof(**g->parent));
    new.loose = NULL;
    new.loose_capacity = 0;
    if (!good) {
        graph_forget(&new);
        errno = ENOMEM;
        return -1;
    }
    new.capacity = g->n;
    new.paths_capacity = g->n_paths;
    *was = *g;
    *g = new;
    return 0;
}

/* A table as it was; since then it has only grown. */
static void restore_table(struct intern *t, struct intern *was)
{
    intern_shrink(t, was->n);
    *was = *t;
}

void graph_restore(struct graph *g, struct graph *was)
{
    int saved = errno;

    graph_forget(g);
    restore_table(&g->types, &was->types);
    restore_table(&g->names, &was->names);
    restore_table(&g->subsystems, &was->subsystems);
    restore_table(&g->props.texts, &was->props.texts);
    restore_table(&g->props.sets, &was->props.sets);
    *g = *was;
    errno = saved;
}
