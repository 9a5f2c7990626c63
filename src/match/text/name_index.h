/* Vertices by name.
 *
 * A name is split into a stem and the number at its end, "node" and 12, so that vertices are found
 * without printing their names. The number has up to 18 digits and no leading zeros: "node007" is
 * "node00" and 7. So each name is split in one way only, whatever the vertex's basename and id.
 */
#ifndef MATCH_NAME_INDEX_H
#define MATCH_NAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "match/machine/topo.h"

#define NAME_NONE UINT32_MAX

struct name_index {
    struct intern stems;
    struct name_group {
        int64_t number; /* -1: none */
        uint32_t stem;
        /* its first index in `member`; its last is before the next group's first */
        uint32_t first;
    } * group; /* one for each name, in the order in which names first appear; one more marks the end */
    uint32_t n, capacity;
    uint32_t *slot; /* open addressing: a group plus 1, or 0 */
    uint32_t slots;
    uint32_t *member; /* vertices, by group and ascending */
    uint32_t *of;     /* by vertex: its group, or NAME_NONE */
};

/* Make the index of the vertices that exist and are in the topology. Returns 0, or -1 with ENOMEM and
 * nothing to clear. O(vertices).
 */
int name_index_make(struct name_index *x, const struct graph *g, const struct topo *t);

/* Clear an index. It is then all zeroes, which means that there is none. */
void name_index_clear(struct name_index *x);

static inline bool name_index_is_made(const struct name_index *x)
{
    return x->of != NULL;
}

/* The group of a name, or NAME_NONE. O(length). */
uint32_t name_index_find(const struct name_index *x, const char *name, size_t length);

/* The vertices of a group, *n of them. */
static inline const uint32_t *name_index_members(const struct name_index *x, uint32_t group,
                                                 uint32_t *n)
{
    *n = x->group[group + 1].first - x->group[group].first;
    return x->member + x->group[group].first;
}

/* True if each vertex, and nothing else, is found by its name. For tests. */
bool name_index_check(const struct name_index *x, const struct graph *g, const struct topo *t);

#endif
