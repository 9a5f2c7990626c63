/* Readers: from text to a graph, or to a neutral form of it. Each format has one reader, and nothing else
 * parses it.
 *
 * A reader takes a text and its length; a terminating NUL is not needed. It uses no more memory than a
 * small multiple of what the text describes. Its error says what is wrong, where, and what was expected.
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
    const char *free_ranks; /* the text of an idset, or NULL */
    const char *prefix;     /* the path of the graph in the text: "" or "scheduling." */
    void *json;             /* owns the strings above */
};

/* Parse a graph, or an R whose "scheduling" is one. An edge to or from a node that is not in the text is
 * left out if there are free_ranks, else it is an error. Returns 0, or -1 with EINVAL or ENOMEM, and *j
 * empty.
 */
int jgf_parse(struct jgf *j, const char *text, size_t length, berth_error_t *err);
void jgf_free(struct jgf *j);

/* R, version 1 (RFC 20): the children of each rank. */
struct rv1_rank {
    int32_t rank;
    /* from the nodelist: the hosts in order belong to the ranks in ascending order */
    const char *host;
    size_t entry; /* of R_lite */
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

/* Fill a graph, and seal it. read_jgf can also add to a graph: vertices that are there already, by a path
 * and the rank, are not made again, and an edge is added if at least one of its ends is new. Returns 0,
 * or -1 with the graph as it was: EINVAL, ENOMEM, or EEXIST for a graph that is not empty, a rank that
 * comes twice (read_rv1), or a second child with the same unique id (read_jgf).
 */
int read_grug(struct graph *g, const char *text, size_t length, berth_error_t *err);
int read_jgf(struct graph *g, const char *text, size_t length, berth_error_t *err);
int read_rv1(struct graph *g, const char *text, size_t length, berth_error_t *err);

#endif
