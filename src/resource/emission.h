/* An emission: what a match, an update or a search has found. Every vertex comes after what is below it, and
 * brings the edge that leads to it, which is written right after it; the last vertex is the root and has no
 * edge. Writers (writers/) turn an emission into text.
 */
#ifndef RESOURCE_EMISSION_H
#define RESOURCE_EMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "resource/graph.h"

enum {
    EMIT_EXCLUSIVE = 1, /* the job has the vertex to itself */
    EMIT_EXCLUSIVE_PARENT =
        2 /* the job has the parent to itself: shorthand formats leave out the vertex and the edge to it */
};

struct emitted {
    uint32_t vertex;
    uint16_t depth; /* 1 for the root */
    uint16_t flags;
    uint32_t parent;   /* the edge's source, VERTEX_NONE for the root */
    int64_t needs;     /* units */
    const char *label; /* of the request that it satisfies, or NULL */
    /* from match_find: counts by type, as the members of a JSON object, or NULL */
    const char *usage;
};

struct emission {
    struct emitted *item;
    size_t n, capacity;
    int64_t start, end; /* ticks */
    const char *queue;  /* NULL: none */
    uint8_t subsystem;  /* the subsystem of the edges */
};

enum write_format {
    WRITE_SIMPLE,
    WRITE_PRETTY_SIMPLE,
    WRITE_RLITE,
    WRITE_RV1,
    WRITE_RV1_NOSCHED,
    WRITE_RV1_SHORTHAND,
    WRITE_JGF,
    WRITE_JGF_SHORTHAND
};

/* The format of that name, or -1. */
int write_format_parse(const char *name);

/* Append the text of an emission, with a newline. An empty emission has no text; it is EINVAL for rlite.
 * ENOENT: a graph format, and there are vertices without edges or edges without vertices; EINVAL: a rank
 * that must be written is negative. Returns 0, or -1 with errno (also ENOMEM) and nothing appended.
 */
int emission_write(const struct emission *e, const struct graph *g, enum write_format format,
                   struct strbuf *out);

#endif
