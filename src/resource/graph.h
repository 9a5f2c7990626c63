/* The resource graph: what a machine is made of, in flat arrays.
 *
 * A vertex is a resource or a pool of resources: it has a type, a size in units, a name and, if it is an
 * execution target, a rank. Edges lead from a parent to a child and belong to a subsystem. The
 * containment subsystem is a tree in all ordinary machines; other subsystems (power, network) may have
 * any shape. The graph knows what there is and its status; the matcher (match/) knows what is taken when.
 *
 * A graph is changed in two steps: vertices and edges are added, then graph_seal makes the arrays that
 * the rest of the library walks: parents, and children in the order in which their edges were added. Only
 * a sealed graph may be asked for children, parents or paths.
 *
 * Vertices are numbered from 0 in the order of their creation. A removed vertex keeps its number and is
 * only marked as gone, so that numbers kept elsewhere stay valid.
 */
#ifndef RESOURCE_GRAPH_H
#define RESOURCE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/strbuf.h"
#include "resource/propset.h"

#define VERTEX_NONE      UINT32_MAX
#define GRAPH_VERTEX_MAX (UINT32_MAX / 4) /* vertices, and edges */

#define GRAPH_SUBSYSTEM_MAX 16
#define GRAPH_CONTAINMENT   0 /* the number of the containment subsystem, always there */

/* Numbers of the types that are known from the start, in this order (known_types). */
enum {
    TYPE_CLUSTER,
    TYPE_CORE,
    TYPE_SOCKET,
    TYPE_GPU,
    TYPE_NODE,
    TYPE_RACK,
    TYPE_SLOT,
    TYPE_XOR_SLOT,
    TYPE_SSD,
    TYPE_STORAGE_NODE,
    TYPE_ALL /* "*" */
};

struct vertex {
    int64_t id;        /* logical id, -1 if it has none */
    int64_t size;      /* units in the pool */
    uint32_t basename; /* in names */
    uint32_t name;     /* in names; 0: the basename followed by the id, if it has one */
    int32_t rank;      /* of the execution target, -1 if it is none */
    uint32_t props;    /* its set of properties (propset.h); 0: none */
    uint16_t type;     /* in types */
    uint16_t unit;     /* in names; 0: none */
    uint8_t subsystem; /* the one in which it was made */
    bool down;         /* it and everything below it is not available */
    bool gone;         /* removed */
    bool divisible;    /* a pool that gives exactly the units asked for, to many jobs at once */
};

/* What a reader gives for a new vertex. */
struct vertex_spec {
    const char *type;
    const char *basename; /* NULL: the type */
    const char *name;     /* NULL: basename and id */
    const char *unit;     /* NULL or "": none */
    int64_t id;           /* -1: none */
    int64_t uniq_id;      /* -1: the number of the vertex */
    int64_t size;
    int32_t rank; /* -1: none */
    uint8_t subsystem;
    bool down;
};

struct graph {
    struct intern types;
    struct intern names; /* basenames, names and units; number 0 is the empty text */
    struct propset props;

    struct vertex *v;
    uint32_t n; /* vertices, including those that are gone */
    uint32_t capacity;
    int64_t *uniq_id; /* NULL: the unique id of each vertex is its number */
    uint32_t live;    /* vertices that are not gone */

    struct intern subsystems;           /* "containment" first */
    uint32_t root[GRAPH_SUBSYSTEM_MAX]; /* VERTEX_NONE: none */

    /* Edges: sealed ones by source, then those added since the last seal. */
    uint32_t *first; /* of vertex v: child[first[v]] to child[first[v + 1] - 1] */
    uint32_t *child;
    uint8_t *child_subsystem; /* NULL: all are containment's */
    uint32_t n_edges;
    struct graph_edge {
        uint32_t source, target;
        uint8_t subsystem;
    } * loose;
    uint32_t n_loose;
    size_t loose_capacity;
    uint32_t *parent
        [GRAPH_SUBSYSTEM_MAX]; /* source of the first edge to v, or VERTEX_NONE; NULL: no edges */

    struct graph_path {
        uint32_t vertex;
        uint8_t subsystem;
        uint32_t text; /* in names */
    } * paths;         /* paths that do not follow from the edges, by vertex when sealed */
    uint32_t n_paths;
    size_t paths_capacity;

    uint32_t sealed;  /* vertices that the last graph_seal saw */
    uint64_t version; /* counts changes of the structure and of properties */
};

/* Make an empty graph. NULL with ENOMEM. */
struct graph *graph_create(void);
void graph_destroy(struct graph *g);

/* The number of a type or subsystem, which is added if it is new. Returns UINT32_MAX with ENOMEM, or
 * EOVERFLOW if there are too many.
 */
uint32_t graph_type(struct graph *g, const char *name);
uint32_t graph_subsystem(struct graph *g, const char *name);

/* Add a vertex. Returns its number, or VERTEX_NONE with ENOMEM, or EOVERFLOW if there are too many. The
 * first vertex that graph_set_root is called for is the root of its subsystem.
 */
uint32_t graph_add(struct graph *g, const struct vertex_spec *spec);

/* As graph_add, for a vertex that differs from another only in id, rank and name; for readers that make
 * thousands of them.
 */
uint32_t graph_add_like(struct graph *g, uint32_t like, int64_t id, int32_t rank);

void graph_set_root(struct graph *g, uint8_t subsystem, uint32_t v);

/* Add an edge. Adding the same pair again only changes the edge's subsystem. Returns 0, or -1 with ENOMEM. */
int graph_connect(struct graph *g, uint32_t source, uint32_t target, uint8_t subsystem);

/* Set a property, with the value "" if it has none; or remove one. Returns 0, or -1 with ENOMEM; ENOENT:
 * no such property to remove.
 */
int graph_set_property(struct graph *g, uint32_t v, const char *key, const char *value);
int graph_remove_property(struct graph *g, uint32_t v, const char *key);

/* Set v's path in a subsystem, where it does not follow from the edges (the parent's path, "/", its name)
 * or no edge leads to v. Returns 0, or -1 with ENOMEM.
 */
int graph_set_path(struct graph *g, uint32_t v, uint8_t subsystem, const char *path);

#define GRAPH_DEPTH_MAX 256 /* levels of containment */

/* Make the arrays of children and parents. Returns 0, or -1 with ENOMEM, or ELOOP if containment has a
 * cycle or more than GRAPH_DEPTH_MAX levels; then everything added since the last seal is removed again.
 * O(vertices + edges).
 */
int graph_seal(struct graph *g);

/* Remove the vertices, edges, paths and roots added since the last seal. Names and types stay in their
 * tables.
 */
void graph_take_back(struct graph *g);

/* Remove n vertices from the graph, with everything below them in a subsystem and the edges that lead to
 * them. The graph must be sealed, and is sealed again afterwards. Returns 0, or -1 with ENOMEM and
 * nothing changed.
 */
int graph_remove(struct graph *g, const uint32_t *roots, size_t n, uint8_t subsystem);

/* Save a sealed graph: it goes on with copies of its arrays, and *was has the original ones. Then either
 * graph_restore undoes all changes since, also of names and types, so that pointers into the arrays are
 * right again; or graph_forget frees the arrays of *was. O(vertices + edges). Returns 0, or -1 with
 * ENOMEM and nothing to restore or forget.
 */
int graph_save(struct graph *g, struct graph *was);
void graph_restore(struct graph *g, struct graph *was);
void graph_forget(struct graph *g);

/* Append a vertex's name to out; or its path in a subsystem, and false if it has none there. */
void graph_name(const struct graph *g, uint32_t v, struct strbuf *out);
bool graph_path(const struct graph *g, uint32_t v, uint8_t subsystem, struct strbuf *out);

/* True if the vertex's name is the length bytes of text. */
bool graph_is_named(const struct graph *g, uint32_t v, const char *text, size_t length);
bool graph_has_path(const struct graph *g, uint32_t v, uint8_t subsystem);

/* True if graph_find_path finds what is below v in a subsystem: v is below the root there, or below a
 * vertex whose path was set. O(depth).
 */
bool graph_is_found(const struct graph *g, uint32_t v, uint8_t subsystem);

int64_t graph_uniq_id(const struct graph *g, uint32_t v);

/* Find the vertices whose path in any subsystem is this text: *n of them, in the order of their creation,
 * in an array that the caller frees. Returns 0, or -1 with ENOMEM. O(fan-out x depth).
 */
int graph_find_path(const struct graph *g, const char *path, uint32_t **found, size_t *n);

/* The children of v in all subsystems. Returns their number. */
static inline uint32_t graph_children(const struct graph *g, uint32_t v, const uint32_t **children)
{
    *children = g->child + g->first[v];
    return g->first[v + 1] - g->first[v];
}

/* The subsystem of the edge to v's i-th child. */
static inline uint8_t graph_child_subsystem(const struct graph *g, uint32_t v, uint32_t i)
{
    return g->child_subsystem ? g->child_subsystem[g->first[v] + i] : GRAPH_CONTAINMENT;
}

static inline uint32_t graph_parent(const struct graph *g, uint32_t v, uint8_t subsystem)
{
    return g->parent[subsystem] ? g->parent[subsystem][v] : VERTEX_NONE;
}

static inline const char *graph_type_name(const struct graph *g, uint32_t v)
{
    return intern_text(&g->types, g->v[v].type);
}

static inline const char *graph_basename(const struct graph *g, uint32_t v)
{
    return intern_text(&g->names, g->v[v].basename);
}

/* True if all arrays agree. For tests. */
bool graph_check(const struct graph *g);

#endif
