/* What tests ask of a graph. */
#ifndef GRAPH_LOOK_H
#define GRAPH_LOOK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resource/graph.h"

/* A vertex's path in a subsystem, or "" if it has none; until the next call with the same buffer. */
static inline const char *look_path(const struct graph *g, uint32_t v, uint8_t subsystem,
                                    struct strbuf *out)
{
    strbuf_reset(out);
    graph_path(g, v, subsystem, out);
    return strbuf_text(out);
}

/* The one vertex of that path. */
static inline uint32_t look_find(const struct graph *g, const char *path)
{
    uint32_t *found, v;
    size_t n;

    assert_int_equal(graph_find_path(g, path, &found, &n), 0);
    if (n != 1)
        fail_msg("%zu vertices have the path %s", n, path);
    v = found[0];
    free(found);
    return v;
}

/* The number of a subsystem, or of nothing. */
static inline uint8_t look_subsystem(const struct graph *g, const char *name)
{
    uint32_t id = UINT8_MAX;

    if (!intern_find(&g->subsystems, name, strlen(name), &id))
        fail_msg("no subsystem %s", name);
    return (uint8_t)id;
}

#endif
