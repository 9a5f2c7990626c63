/* Readers: text into a graph, or into a neutral form of it. Each format has one reader and nothing else
 * parses it.
 *
 * All take the text and its length (no terminating NUL needed), never more memory than a small multiple
 * of what the text really describes, and name on failure what is wrong, where, and what was expected.
 */
#ifndef RESOURCE_READER_H
#define RESOURCE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idset.h"
#include "berth/error.h"
#include "resource/graph.h"

/* A description of vertices with their paths: the JSON Graph Format that Fluxion writes. */
struct jgf_vertex {
    const char *outer_id; /* the node's "id" */
    const char *type, *basename, *unit;
    const char *name; /* NULL: the basename followed by the id, if that isn't -1 */
    int64_t id, uniq_id, size;
    int32_t rank;
    bool exclusive, down;
    struct jgf_path {
        const char *subsystem, *path;
    } * paths; /* in the order of the text */
    size_t n_paths;
    struct jgf_property {
        const char *key, *value;
    } * properties;
    size_t n_properties;
};

struct jgf_edge {
    uint32_t source, target; /* indices of vertices */
    const char *subsystem;
};

struct jgf {
    struct jgf_vertex *vertex;
    size_t n;
    struct jgf_edge *edge;
    size_t n_edges;
    const char *free_ranks; /* an idset's text, or NULL */
    const char *prefix;     /* where in the text the graph is: "" or "scheduling." */
    void *json;             /* what the strings above belong to */
};

/* Parse a graph, or an R whose "scheduling" is one. Edges whose ends are not among the nodes are left out
 * if there are free_ranks, else refused. Returns 0, or -1 with EINVAL or ENOMEM; *j is then empty.
 */
int jgf_parse(struct jgf *j, const char *text, size_t length, berth_error_t *err);
void jgf_free(struct jgf *j);

/* R, version 1 (RFC 20): which children each rank has. */
struct rv1_rank {
    int32_t rank;
    const char *host; /* from the nodelist: ranks in ascending order take hosts in order */
    size_t entry;     /* of R_lite */
};

struct rv1_children { /* one type of an entry's children, in the order of the text */
    size_t entry;
    const char *type;
    struct idset *ids;
};

struct rv1 {
    struct rv1_rank *rank; /* in the order of the text: entry by entry, rank by rank */
    size_t n;
    struct rv1_children *children;
    size_t n_children;
    struct rv1_property {
        const char *key;
        struct idset *ranks;
    } * property;
    size_t n_properties;
    void *json;
    void *hosts;
};

/* Parse. Returns 0, or -1 with EINVAL or ENOMEM; *r is then empty. */
int rv1_parse(struct rv1 *r, const char *text, size_t length, berth_error_t *err);
void rv1_free(struct rv1 *r);

/* Fill a graph, sealed afterwards. read_jgf also adds to one: vertices that it has, by a path and the
 * rank, are not made again, and an edge is added where at least one of its ends is new. Returns 0, or -1
 * with the graph as it was: EINVAL, ENOMEM, or EEXIST for a graph that there is already, a rank that
 * comes twice (read_rv1), or a second child with the same unique id (read_jgf).
 */
int read_grug(struct graph *g, const char *text, size_t length, berth_error_t *err);
int read_jgf(struct graph *g, const char *text, size_t length, berth_error_t *err);
int read_rv1(struct graph *g, const char *text, size_t length, berth_error_t *err);

#endif
