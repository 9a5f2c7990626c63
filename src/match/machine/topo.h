/* The topology: the tree that a match walks, which is the dominant subsystem of a graph, and the classes
 * of its subtrees.
 *
 * Two vertices are of one class if their types and sizes are equal and their children, in order, are
 * equal in class and in id. What is true of an idle subtree (whether it satisfies a request, what it has
 * in total) is therefore true of its class, and is found out once. A class does not depend on the id of
 * its own vertex, nor on properties, ranks or status.
 *
 * The topology is rebuilt when the graph's structure changes: O(vertices).
 */
#ifndef MATCH_TOPO_H
#define MATCH_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resource/graph.h"

#define CLASS_NONE UINT32_MAX

/* What a subtree has of a type, without its own vertex. Each vertex counts once, where it is reached
 * first.
 */
struct class_sum {
    uint16_t type;
    uint32_t count;         /* vertices */
    uint32_t in_node;       /* how many of them are below a node of the subtree */
    uint64_t units;         /* the sum of their sizes */
    int64_t size;           /* the size of each of them; 0: they differ */
    int64_t min_id, max_id; /* of those vertices */
};

/* Children of a type that follow one another. */
struct class_run {
    uint16_t type;
    bool ascending;      /* each id is greater than the one before */
    bool alike;          /* all are of one class, and each id is the one before plus 1 */
    uint32_t first, end; /* indexes among the children */
};

struct class
{
    uint32_t sample;      /* a vertex of the class */
    uint32_t hash, next;  /* for the table that finds classes */
    uint32_t run, n_runs; /* in topo.run */
    uint32_t sum, n_sums; /* in topo.sum, by type */
    bool uniform;         /* vertices of the same type are of the same size */
};

struct topo {
    const struct graph *g;
    uint8_t subsystem;
    uint32_t root;
    const uint32_t *first, *child; /* as in the graph, but only the dominant subsystem */
    const uint32_t *parent;
    uint32_t *own_first, *own_child; /* those arrays if they are not the graph's own */
    bool is_tree;                    /* no vertex is reached in two ways */
    bool ascending;                  /* children always have ascending numbers */

    /* by vertex: the vertex from which it is reached first, where it is counted; NULL if this is a tree */
    uint32_t *owner;
    uint32_t *class_of; /* by vertex; CLASS_NONE: not reached from the root */
    struct class *class;
    uint32_t n_classes;
    struct class_run *run;
    uint32_t n_runs;
    struct class_sum *sum;
    uint32_t n_sums;
};

/* Make a topology. Returns 0, or -1 with ENOMEM, ENOTSUP (the subsystem has no root) or ELOOP (it is
 * deeper than GRAPH_DEPTH_MAX or has a cycle).
 */
int topo_init(struct topo *t, const struct graph *g, uint8_t subsystem);
void topo_clear(struct topo *t);

static inline uint32_t topo_children(const struct topo *t, uint32_t v, const uint32_t **children)
{
    *children = t->child + t->first[v];
    return t->first[v + 1] - t->first[v];
}

static inline bool topo_is_leaf(const struct topo *t, uint32_t v)
{
    return t->first[v + 1] == t->first[v];
}

static inline const struct class *topo_class(const struct topo *t, uint32_t v)
{
    return &t->class[t->class_of[v]];
}

/* What v's subtree has of a type, or NULL if it has nothing. */
const struct class_sum *topo_sum(const struct topo *t, uint32_t v, uint16_t type);

/* True if a child of v is of the type. */
bool topo_has_child(const struct topo *t, uint32_t v, uint16_t type);

/* True if the topology agrees with the graph. For tests. */
bool topo_check(const struct topo *t);

#endif
