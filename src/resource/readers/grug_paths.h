/* The paths of vertices while a recipe is followed.
 *
 * A vertex made by multiplying has, in its own subsystem, the path of the vertex it was made under,
 * followed by its name. Associating it with a source gives it, in the edge's subsystem, that source's
 * path followed by its name; what was made under it before keeps its path. So most paths follow from the
 * vertex above, and only the others are stored.
 *
 * 1. A stored path is the vertex's path. Any other path is that of the vertex it was made under, and the
 *    name.
 * 2. Before a path of a vertex is stored, the paths that follow from it are, those of all made under it.
 */
#ifndef RESOURCE_GRUG_PATHS_H
#define RESOURCE_GRUG_PATHS_H

#include <stdint.h>

#include "base/intern.h"
#include "base/strbuf.h"
#include "resource/graph.h"

struct grug_paths {
    const struct graph *g;
    uint32_t *made_under; /* by vertex: the vertex it was made under, VERTEX_NONE for a root */
    uint32_t n;
    size_t capacity;
    struct intern written; /* a vertex and a subsystem */
    uint32_t *text;        /* of written[i], in texts */
    size_t text_capacity;
    struct intern texts;
};

/* To begin, set the graph, and the rest to zeroes. Calls that return int return 0, or -1 with ENOMEM. */
void grug_paths_clear(struct grug_paths *p);

/* Note under which vertex the graph's newest was made. This must be called for every vertex, in order. */
int grug_paths_made(struct grug_paths *p, uint32_t under);

/* Append the path of a vertex in a subsystem; nothing if it has none. O(depth). */
void grug_path(const struct grug_paths *p, uint32_t v, uint8_t subsystem, struct strbuf *out);

/* Store the paths of what was made under vertices that get another path in a subsystem; is_one[v] says
 * which do. O(vertices).
 */
int grug_paths_keep(struct grug_paths *p, const uint8_t *is_one, uint8_t subsystem);

/* Give a vertex the path of another, followed by its own name. */
int grug_paths_put(struct grug_paths *p, uint32_t v, uint32_t under, uint8_t subsystem);

/* Set the stored paths in the sealed graph, which is p's, where they don't follow from its edges; and
 * seal it again if there are any. O(vertices), plus the stored paths.
 */
int grug_paths_settle(struct grug_paths *p, struct graph *g);

#endif
