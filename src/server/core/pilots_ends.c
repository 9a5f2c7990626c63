/* The ends of pilots in the calendars: nothing is planned on nodes for the time after they are taken back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "pilot/ends.h"
#include "server/core/entry.h"
#include "server/core/machine.h"
#include "server/core/pilots.h"
#include "server/core/priv.h"

#define BEFORE_END (PILOT_BEFORE_END * SERVER_SECOND)
#define CENTURY    (INT64_C(36500) * 86400 * SERVER_SECOND) /* as such blocks were before */

/* A node that is taken back at a known time: the first at which one of its pilot's is. */
struct ending {
    const char *vertex;
    int64_t pilot, end;
};

struct endings {
    struct ending *v;
    int64_t *end;
    size_t *group;
    size_t n, groups;
};

static int by_pilot(const void *a, const void *b)
{
    const struct ending *x = a, *y = b;
    int order = (x->pilot > y->pilot) - (x->pilot < y->pilot);
    return order ? order : (x->end > y->end) - (x->end < y->end);
}

static int by_end(const void *a, const void *b)
{
    const struct ending *x = a, *y = b;
    int order = (x->end > y->end) - (x->end < y->end);
    order = order ? order : (x->pilot > y->pilot) - (x->pilot < y->pilot);
    return order ? order : strcmp(x->vertex, y->vertex);
}

static bool is_of_pilots(const json_t *block)
{
    int64_t duration = entry_number(block, "duration");
    return (duration == PILOT_GONE || duration == CENTURY) &&
           strncmp(json_string_value(json_object_get(block, "name")), "pilot", 5) == 0;
}

size_t pilots_blocks_left(const server_t *s)
{
    size_t i, others = s->config->sched.n_blocks;
    const json_t *block;
    json_array_foreach (json_object_get(s->settings, "blocks"), i, block) {
        others += !is_of_pilots(block);
    }
    size_t left = others < BLOCKS_MAX ? BLOCKS_MAX - others : 0;
    return left < PILOT_BLOCKS ? left : PILOT_BLOCKS;
}

/* All of them in groups, the earliest first. Returns 0, or -1 with ENOMEM. */
static int gather_ends(const server_t *s, struct endings *e)
{
    size_t i, n = json_array_size(pilots_nodes(s)), most = pilots_blocks_left(s);
    const json_t *node;
    e->v = calloc(n + 1, sizeof(*e->v));
    e->end = calloc(n + 1, sizeof(*e->end));
    e->group = calloc(n + 1, sizeof(*e->group));
    if (!e->v || !e->end || !e->group)
        return -1;
    json_array_foreach (pilots_nodes(s), i, node) {
        if (entry_number(node, "end") > 0)
            e->v[e->n++] = (struct ending){json_string_value(json_object_get(node, "vertex")),
                                           entry_number(node, "pilot"), entry_number(node, "end")};
    }
    qsort(e->v, e->n, sizeof(*e->v), by_pilot);
    for (i = 1; i < e->n; i++)
        if (e->v[i].pilot == e->v[i - 1].pilot)
            e->v[i].end = e->v[i - 1].end;
    qsort(e->v, e->n, sizeof(*e->v), by_end);
    for (i = 0; i < e->n; i++)
        e->end[i] = e->v[i].end;
    e->groups = most > 0 ? pilot_group_ends(e->end, e->n, most, e->group) : 0;
    return 0;
}

static void clear_ends(struct endings *e)
{
    free(e->v);
    free(e->end);
    free(e->group);
}

/* The block of the group that begins at *i, which goes on to the next one. NULL with ENOMEM. */
static json_t *make_block(const struct endings *e, size_t *i)
{
    struct strbuf names = {0};
    const struct ending *first = &e->v[*i];
    size_t group = e->group[*i], others = 0;
    char name[PILOT_BLOCK_NAME];
    for (size_t from = *i; *i < e->n && e->group[*i] == group; ++*i) {
        strbuf_puts(&names, names.len ? "," : "");
        strbuf_puts(&names, e->v[*i].vertex);
        others += *i > from && e->v[*i].pilot != e->v[*i - 1].pilot;
    }
    pilot_block_name(name, first->pilot, others);
    json_t *block = names.failed ? NULL
                                 : json_pack("{s:s, s:s, s:I, s:I, s:I}", "name", name, "resources",
                                             strbuf_text(&names), "start",
                                             (json_int_t)(first->end - BEFORE_END), "duration",
                                             (json_int_t)PILOT_GONE, "every", (json_int_t)0);
    strbuf_clear(&names);
    return block;
}

/* Those that pilots are to have, a list. NULL with ENOMEM. */
static json_t *make_blocks(const server_t *s)
{
    struct endings e = {0};
    json_t *list = gather_ends(s, &e) == 0 ? json_array() : NULL;
    for (size_t i = 0; list && e.groups > 0 && i < e.n;)
        if (json_array_append_new(list, make_block(&e, &i)) < 0) {
            json_decref(list);
            list = NULL;
        }
    clear_ends(&e);
    return list;
}

static bool is_same_block(const json_t *a, const json_t *b)
{
    return entry_number(a, "start") == entry_number(b, "start") &&
           json_equal(json_object_get(a, "name"), json_object_get(b, "name")) &&
           json_equal(json_object_get(a, "resources"), json_object_get(b, "resources")) &&
           entry_number(a, "duration") == entry_number(b, "duration") &&
           !json_object_get(a, "problem");
}

/* Those that are as they are to be go from the list, all others from the settings. */
static void remove_old(server_t *s, json_t *list)
{
    json_t *old = json_object_get(s->settings, "blocks");
    berth_error_t why;
    for (size_t i = json_array_size(old); i-- > 0;) {
        const json_t *block = json_array_get(old, i);
        size_t k = 0, n = json_array_size(list);
        if (!is_of_pilots(block))
            continue;
        while (k < n && !is_same_block(block, json_array_get(list, k)))
            k++;
        if (k < n)
            json_array_remove(list, k);
        else
            settings_block_remove(s, json_string_value(json_object_get(block, "name")), &why);
    }
}

void pilots_block_ends(server_t *s)
{
    size_t i;
    json_t *block, *list = make_blocks(s);
    berth_error_t why = {"out of memory"};
    if (list)
        remove_old(s, list);
    else
        server_notice(s, "cannot keep jobs off pilots at their ends: %s", why.text);
    json_array_foreach (list, i, block) {
        if (settings_block_add(s, block, &why) < 0)
            server_notice(s, "cannot keep jobs off pilots at their ends: %s", why.text);
    }
    json_decref(list);
}
