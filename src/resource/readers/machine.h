/* A machine as those see it who look at it: things in things, in a form that owes nothing to the library
 * that found them. So what looks (hwloc, which takes long to load) stays outside of the core.
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

struct machine_thing {
    uint32_t in;             /* a thing before this one, or MACHINE_NONE: the cluster itself */
    uint32_t type, basename; /* in texts */
    uint32_t name;           /* in texts, or MACHINE_NONE: the basename and the id */
    uint32_t unit;           /* in texts, or MACHINE_NONE: none */
    uint32_t property_key, property_value; /* in texts, or MACHINE_NONE: none */
    int64_t id;                            /* -1: none */
    int64_t size;
    bool divisible; /* see struct vertex */
};

struct machine {
    struct machine_thing *thing; /* depth first */
    uint32_t n;
    size_t capacity;
    struct intern texts;
};

/* An empty machine is all zeroes. */
void machine_clear(struct machine *m);

/* Add a thing; its texts by their numbers. Returns 0, or -1 with ENOMEM. */
int machine_add(struct machine *m, const struct machine_thing *thing);

/* Let the sizes of all things of a type add up to a total >= 1, each in proportion to what it was, but at
 * least 1. Returns how many things there are. O(things).
 */
uint32_t machine_share(struct machine *m, const char *type, int64_t total);

/* A machine as bytes, for the same program on the same machine: appended to out; and read from all that
 * there is, where everything is checked that read_machine relies on. *m is empty before. Returns 0, or -1
 * with EINVAL or ENOMEM and a text, and *m empty.
 */
#define MACHINE_THINGS_MAX 1000000
void machine_pack(const struct machine *m, struct strbuf *out);
int machine_unpack(struct machine *m, const char *bytes, size_t length, berth_error_t *err);

/* Make a graph of a machine, under a vertex `cluster0`: nodes are ranked from 0 in the order of their
 * coming. Returns 0, or -1 with EINVAL, EEXIST if there is a graph already, or ENOMEM, and the graph as
 * it was.
 */
int read_machine(struct graph *g, const struct machine *m, berth_error_t *err);

#endif
