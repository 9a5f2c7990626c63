/* The paths that vertices have while a recipe is followed.
 *
 * A vertex made by multiplying has the path of what it was made under, followed by its name, in its own
 * subsystem. To associate it with a source gives it that source's path, followed by its name, in the
 * edge's subsystem; what was made under it before keeps the path it had. So of most vertices the path
 * follows from the one above; only those that do not are written down.
 *
 * 1. A path that is written down is what counts; any other is that of the vertex it was made under, and the name.
 * 2. Before the path of a vertex is written down, so are those of all that was made under it and follow from it.
 */
#ifndef RESOURCE_GRUG_PATHS_H
#define RESOURCE_GRUG_PATHS_H

#include <stdint.h>

#include "base/intern.h"
#include "base/strbuf.h"
#include "resource/graph.h"

struct grug_paths {
    const struct graph *g;
    uint32_t *made_under; /* by vertex: what it was made under, VERTEX_NONE for a root */
    uint32_t n;
    size_t capacity;
    struct intern written; /* a vertex and a subsystem */
    uint32_t *text;        /* of written[i], in texts */
    size_t text_capacity;
    struct intern texts;
};

/* All zeroes but for the graph is a start. Calls that return int return 0, or -1 with ENOMEM. */
void grug_paths_clear(struct grug_paths *p);

/* The graph's newest vertex was made under another. Every vertex must be told of, in order. */
int grug_paths_made(struct grug_paths *p, uint32_t under);

/* Append the path of a vertex in a subsystem; nothing if it has none. O(depth). */
void grug_path(const struct grug_paths *p, uint32_t v, uint8_t subsystem, struct strbuf *out);

/* Write down what was made under vertices that get another path in a subsystem: is_one[v] says which.
 * O(vertices).
 */
int grug_paths_keep(struct grug_paths *p, const uint8_t *is_one, uint8_t subsystem);

/* Give a vertex the path of another, followed by its own name. */
int grug_paths_put(struct grug_paths *p, uint32_t v, uint32_t under, uint8_t subsystem);

/* Tell the sealed graph, which is p's, of the paths that don't follow from its edges, and seal it again
 * if there are any. O(vertices), and the paths that are written down.
 */
int grug_paths_settle(struct grug_paths *p, struct graph *g);

#endif
