/* A recipe for a graph, as GraphML has it: nodes say what a kind of vertex is, edges how many of the one
 * kind there are under each of the other, or which ones that are already there belong together.
 */
#ifndef RESOURCE_GRUG_RECIPE_H
#define RESOURCE_GRUG_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "berth/error.h"

enum grug_method {
    GRUG_MULTIPLY,
    GRUG_ASSOCIATE_IN,
    GRUG_ASSOCIATE_BY_PATH_IN,
};

struct grug_node {
    const char *id;
    const char *type, *basename, *unit, *subsystem;
    int64_t root, size;
    uint64_t line;
};

struct grug_edge {
    const char *from, *to; /* ids of nodes */
    uint32_t source, target;
    const char *subsystem, *as_subsystem;
    int64_t scope, start, stride; /* of the new vertices' ids */
    int64_t method, scale;
    int64_t as_target_up, as_source_up; /* how many levels of a path don't count */
    uint64_t line;
};

struct grug_recipe {
    struct grug_node *node;
    struct grug_edge *edge; /* in the order of the text */
    uint32_t n, n_edges;
    size_t node_capacity, edge_capacity;
    struct intern ids;   /* of nodes, numbered as they are */
    struct intern texts; /* all others */
};

/* Parse. Returns 0, or -1 with EINVAL or ENOMEM and an empty recipe. O(length). */
int grug_recipe_parse(struct grug_recipe *r, const char *text, size_t length, berth_error_t *err);
void grug_recipe_clear(struct grug_recipe *r);

#endif
