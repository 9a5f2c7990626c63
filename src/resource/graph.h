/* The resource graph: what a machine is made of, in flat arrays.
 *
 * A vertex is a thing or a pool of things: it has a type, a size in units, a name and, where it runs an
 * execution target, a rank. Edges lead from a parent to a child and belong to a subsystem; the
 * containment subsystem is a tree in all ordinary machines, other subsystems (power, network) may be
 * anything. The graph knows what there is; what of it is taken when is the matcher's affair (match/),
 * apart from a vertex's status.
 *
 * A graph is changed in two steps: vertices and edges are added, then graph_seal makes the arrays that
 * the rest of the library walks: children in the order in which their edges were added, and parents. Only
 * a sealed graph may be asked for children, parents or paths.
 *
 * Vertices are numbered from 0 in the order of their creation. A removed vertex keeps its number and is only
 * marked as gone, so that numbers held elsewhere stay valid.
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

/* Numbers of the types that are known from the start, in this order (graph_types). */
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
    int32_t rank;      /* execution target, -1 if it has none */
    uint32_t props;    /* its set of properties (propset.h); 0: none */
    uint16_t type;     /* in types */
    uint16_t unit;     /* in names; 0: none */
    uint8_t subsystem; /* the one in which it was made */
    bool down;         /* not available now, with all that is below it */
    bool gone;         /* removed */
    bool divisible;    /* a pool that gives exactly the units asked for, to many jobs at once */
};

/* What a reader says of a new vertex. */
struct vertex_spec {
    const char *type;
    const char *basename; /* NULL: the type */
    const char *name;     /* NULL: basename and id */
    const char *unit;     /* NULL or "": none */
    int64_t id;           /* -1: none */
    int64_t uniq_id;      /* -1: the vertex's number */
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
    uint32_t n; /* vertices, the gone ones included */
    uint32_t capacity;
    int64_t *uniq_id; /* NULL: every vertex's is its number */
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

/* An empty graph, or NULL with ENOMEM. */
struct graph *graph_create(void);
void graph_destroy(struct graph *g);

/* Numbers for names. Each returns UINT32_MAX with ENOMEM; a type or a subsystem that is one too many is
 * refused with EOVERFLOW.
 */
uint32_t graph_type(struct graph *g, const char *name);
uint32_t graph_subsystem(struct graph *g, const char *name);

/* Add a vertex. Returns its number, or VERTEX_NONE with ENOMEM, or EOVERFLOW for one too many. The first
 * vertex that a reader declares root with graph_set_root is its subsystem's root.
 */
uint32_t graph_add(struct graph *g, const struct vertex_spec *spec);

/* As graph_add, for a vertex like another but for its id, rank and name; for readers that make thousands
 * alike.
 */
uint32_t graph_add_like(struct graph *g, uint32_t like, int64_t id, int32_t rank);

void graph_set_root(struct graph *g, uint8_t subsystem, uint32_t v);

/* Add an edge. Adding the same pair again only changes the edge's subsystem. Returns 0, or -1 with ENOMEM. */
int graph_connect(struct graph *g, uint32_t source, uint32_t target, uint8_t subsystem);

/* Properties: set one (the value "" for a plain one), or remove it. Returns 0, or -1 with ENOMEM, or
 * ENOENT.
 */
int graph_set_property(struct graph *g, uint32_t v, const char *key, const char *value);
int graph_remove_property(struct graph *g, uint32_t v, const char *key);

/* Say that v's path in a subsystem is not what follows from the edges (its parent's path, "/", its name),
 * or that it has a path in a subsystem where no edge leads to it. Returns 0, or -1 with ENOMEM.
 */
int graph_set_path(struct graph *g, uint32_t v, uint8_t subsystem, const char *path);

#define GRAPH_DEPTH_MAX 256 /* levels of containment */

/* Make the arrays. O(vertices + edges). Returns 0, or -1 with ENOMEM, or ELOOP where containment has a
 * cycle or more than GRAPH_DEPTH_MAX levels; then what was added since the last seal is taken out again.
 */
int graph_seal(struct graph *g);

/* Take the vertices, edges, paths and roots that came since the last seal out again. Names and types stay
 * known.
 */
void graph_take_back(struct graph *g);

/* Take a vertex with all that is below it in a subsystem out of the graph, and the edge that leads to it.
 * The graph must be sealed, and is again afterwards. Returns 0, or -1 with ENOMEM and nothing changed.
 */
int graph_remove(struct graph *g, const uint32_t *roots, size_t n, uint8_t subsystem);

/* Keep a sealed graph as it is: it goes on with copies of its arrays, and *was has its own. Then either
 * graph_restore undoes all changes since, of names and types too, so that what points into the arrays is
 * right again; or graph_forget frees those that *was has. O(vertices + edges). Returns 0, or -1 with
 * ENOMEM and nothing to restore or forget.
 */
int graph_save(struct graph *g, struct graph *was);
void graph_restore(struct graph *g, struct graph *was);
void graph_forget(struct graph *g);

/* Append to out: a vertex's name; its path in a subsystem, if it has one there (else false). */
void graph_name(const struct graph *g, uint32_t v, struct strbuf *out);
bool graph_path(const struct graph *g, uint32_t v, uint8_t subsystem, struct strbuf *out);

/* True if the vertex's name is the length bytes of text. */
bool graph_is_named(const struct graph *g, uint32_t v, const char *text, size_t length);
bool graph_has_path(const struct graph *g, uint32_t v, uint8_t subsystem);

/* Whether graph_find_path comes upon what hangs below v in a subsystem: v hangs below its root there, or
 * below a vertex whose path was set. O(depth).
 */
bool graph_is_found(const struct graph *g, uint32_t v, uint8_t subsystem);

int64_t graph_uniq_id(const struct graph *g, uint32_t v);

/* The vertices whose path in any subsystem is this text, in the order of their creation: *n of them, an
 * array that the caller frees. Returns 0, or -1 with ENOMEM. O(fan-out x depth).
 */
int graph_find_path(const struct graph *g, const char *path, uint32_t **found, size_t *n);

/* Children of v in all subsystems. */
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
