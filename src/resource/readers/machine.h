/* A description of a real machine, as objects in objects, independent of the library that found them. So
 * that library (hwloc, which takes long to load) stays outside of the core.
 */
#ifndef RESOURCE_MACHINE_H
#define RESOURCE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/strbuf.h"
#include "berth/error.h"
#include "resource/graph.h"

#define MACHINE_NONE UINT32_MAX

struct machine_object {
    /* the object that contains it, which comes before it; MACHINE_NONE: the cluster */
    uint32_t in;
    uint32_t type, basename;               /* in texts */
    uint32_t name;                         /* in texts, or MACHINE_NONE: the basename and the id */
    uint32_t unit;                         /* in texts, or MACHINE_NONE: none */
    uint32_t property_key, property_value; /* in texts, or MACHINE_NONE: none */
    int64_t id;                            /* -1: none */
    int64_t size;
    bool divisible; /* see struct vertex */
};

struct machine {
    struct machine_object *object; /* depth first */
    uint32_t n;
    size_t capacity;
    struct intern texts;
};

/* Make a machine empty, which is all zeroes. */
void machine_clear(struct machine *m);

/* Add an object, whose texts are given by number. Returns 0, or -1 with ENOMEM. */
int machine_add(struct machine *m, const struct machine_object *object);

/* Scale the sizes of all objects of a type so that they add up to a total >= 1, each in proportion to its
 * old size, but at least 1. Returns how many such objects there are. O(objects).
 */
uint32_t machine_share(struct machine *m, const char *type, int64_t total);

/* Append a machine as bytes, for the same program on the same machine. And read one from such bytes into
 * *m, which is empty before; everything that read_machine relies on is checked. Returns 0, or -1 with
 * EINVAL or ENOMEM and a text, and *m empty.
 */
#define MACHINE_OBJECTS_MAX 1000000
void machine_pack(const struct machine *m, struct strbuf *out);
int machine_unpack(struct machine *m, const char *bytes, size_t length, berth_error_t *err);

/* Make a graph of a machine, below a vertex `cluster0`. Nodes get ranks from 0 in their order. Returns 0,
 * or -1 with the graph as it was: EINVAL, EEXIST if the graph is not empty, or ENOMEM.
 */
int read_machine(struct graph *g, const struct machine *m, berth_error_t *err);

#endif
