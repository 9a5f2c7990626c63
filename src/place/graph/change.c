/* A machine that changes: status, properties, what is attached and removed, and blocks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "match/text/names.h"
#include "place/graph/graph_priv.h"

/* Vertices are free from now on. */
static void free_all(struct graph_place *n, const uint32_t *v, size_t count)
{
    for (size_t i = 0; i < count; i++)
        graph_place_free(n, v[i], n->now, INT64_MAX);
    n->place.freed.next++;
}

/* Those that have another status. Returns how many. */
static size_t keep_others(const struct graph_place *n, uint32_t *v, size_t count, bool up)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (match_is_down(n->match, v[i]) == up)
            v[kept++] = v[i];
    return kept;
}

static int set_status(struct graph_place *n, const struct place_change *change, berth_error_t *err)
{
    bool up = change->status == RESOURCE_UP;
    uint32_t *v;
    size_t count;

    if (match_select(n->match, change->resources, &v, &count, err) < 0)
        return -1;
    count = keep_others(n, v, count, up);
    if (count == 0) {
        free(v);
        return 1;
    }
    uint64_t *those = match_vertex_set(n->match, v, count);
    int rc = those ? match_set_down(n->match, v, count, !up) : -1;
    if (rc == 0) {
        n->status_changes++;
        graph_place_recount(n, those);
        capacity_reset(n);
        if (up)
            free_all(n, v, count);
    }
    free(v);
    free(those);
    return rc < 0 ? errtext_no_memory(err) : 0;
}

/* The structure or what constraints ask for has changed. Without memory, parts are built again when they are
 * needed.
 */
static void note_structure_change(struct graph_place *n)
{
    n->stale = true;
    n->changes++;
    graph_place_refresh(n);
}

static int set_property(struct graph_place *n, const struct place_change *change,
                        berth_error_t *err)
{
    uint32_t *v;
    size_t count;

    if (match_select(n->match, change->resources, &v, &count, err) < 0)
        return -1;
    int rc = match_set_properties(n->match, v, count, change->key, change->value);
    if (rc == 0)
        free_all(n, v, count);
    free(v);
    if (rc < 0)
        return errtext_no_memory(err);
    note_structure_change(n);
    return 0;
}

static int attach_subgraph(struct graph_place *n, const struct place_change *change,
                           berth_error_t *err)
{
    if (match_attach(n->match, change->jgf, change->length, err) < 0)
        return -1;
    freed_add_all(&n->place.freed);
    note_structure_change(n);
    return 0;
}

static int remove_those(struct graph_place *n, const struct place_change *change,
                        berth_error_t *err)
{
    uint32_t *v;
    size_t count;

    if (match_select(n->match, change->resources, &v, &count, err) < 0)
        return -1;
    int rc = match_remove(n->match, v, count, err), error = errno;
    free(v);
    errno = error;
    if (rc < 0)
        return -1;
    freed_add_all(&n->place.freed);
    note_structure_change(n);
    return 0;
}

int graph_place_change(struct place *place, const struct place_change *change, berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);

    switch (change->kind) {
    case PLACE_STATUS:
        return set_status(n, change, err);
    case PLACE_PROPERTY:
        return set_property(n, change, err);
    case PLACE_ATTACH:
        return attach_subgraph(n, change, err);
    case PLACE_REMOVE:
        return remove_those(n, change, err);
    }
    return errtext_set(err, EINVAL, "no such change");
}

int graph_place_touches(struct place *place, int64_t booking, const char *resources,
                        berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);

    if (!n->touched || n->touched_version != n->graph->version ||
        strcmp(n->touched, resources) != 0) {
        uint32_t *v;
        size_t count;
        if (match_select(n->match, resources, &v, &count, err) < 0)
            return -1;
        char *text = strdup(resources);
        uint64_t *those = match_vertex_set(n->match, v, count);
        free(v);
        if (!text || !those) {
            free(text);
            free(those);
            return errtext_no_memory(err);
        }
        free(n->touched);
        free(n->those);
        n->touched = text;
        n->those = those;
        n->touched_version = n->graph->version;
    }
    return booking >= 0 && match_job_touches(n->match, booking, n->those);
}

static void unblock(struct graph_place *n, uint32_t number)
{
    match_block(n->match, number, NULL, 0, 0, 0, 0);
    n->block_changes++;
    n->turn = match_block_next_change(n->match, n->now);
    freed_add_all(&n->place.freed);
}

/* The vertices of a block, in an array that the caller frees: those that are named, or the root for all there are. */
static int select_block(struct graph_place *n, const char *resources, uint32_t **v, size_t *count,
                        berth_error_t *err)
{
    if (strcmp(resources, PLACE_ALL) != 0)
        return match_select(n->match, resources, v, count, err);
    if (n->graph->root[GRAPH_CONTAINMENT] == VERTEX_NONE)
        return errtext_set(err, ENOENT, "there are no resources");
    *v = malloc(sizeof(**v));
    if (!*v)
        return errtext_no_memory(err);
    **v = n->graph->root[GRAPH_CONTAINMENT];
    *count = 1;
    return 0;
}

int graph_place_block(struct place *place, uint32_t number, const char *resources, int64_t start,
                      int64_t duration, int64_t every, berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);
    uint32_t *v;
    size_t count;

    if (number >= BLOCKS_MAX)
        return errtext_set(err, EINVAL, "too many blocks: expected up to %d", BLOCKS_MAX);
    if (!resources) {
        unblock(n, number);
        return 0;
    }
    if (start < 0 || start > MATCH_END_MAX)
        return errtext_set(err, EINVAL, "block: expected a start of 0 or later");
    if (duration < 1 || duration > MATCH_END_MAX)
        return errtext_set(err, EINVAL, "block: expected a duration of 1 tick or more");
    if (every != 0 && (every <= duration || every > MATCH_END_MAX))
        return errtext_set(err, EINVAL, "block: expected \"every\" to be more than the duration");
    if (select_block(n, resources, &v, &count, err) < 0)
        return -1;
    if (match_block(n->match, number, v, count, start, duration, every) < 0) {
        free(v);
        return errtext_no_memory(err);
    }
    n->block_changes++;
    n->turn = match_block_next_change(n->match, n->now);
    freed_add_all(&n->place.freed);
    return 0;
}

int64_t graph_place_turn(const struct place *place, int64_t now)
{
    struct graph_place *n = graph_place_of(place);

    graph_place_tell(n, now);
    return match_block_next_change(n->match, now);
}

int graph_place_hints(struct place *place, const char **text, size_t *length)
{
    struct graph_place *n = graph_place_of(place);
    strbuf_reset(&n->text);
    if (match_hints_write(n->match, &n->text) < 0)
        return -1;
    *text = strbuf_text(&n->text);
    *length = n->text.len;
    return 0;
}

int graph_place_take_hints(struct place *place, const char *text, size_t length, berth_error_t *err)
{
    return match_hints_read(graph_place_of(place)->match, text, length, err);
}
