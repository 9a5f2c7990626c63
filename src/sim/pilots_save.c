/* The state of pilots, as JSON. Which nodes are up is in the changes that the shell was told of; what runs, it tells anew. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/pilots_priv.h"

static json_t *save_pilot(const struct sim_pilot *pilot)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:i}", "pilot",
                     (json_int_t)pilot->number, "nodes", (json_int_t)pilot->nodes, "time",
                     (json_int_t)pilot->time, "asked", (json_int_t)pilot->asked, "up",
                     (json_int_t)pilot->up, "end", (json_int_t)pilot->end, "useless",
                     (json_int_t)pilot->useless, "leaves", pilot->leaves, "why", (int)pilot->why);
}

static json_t *save_block(const struct sim_block *block)
{
    return json_pack("{s:s, s:s, s:I}", "name", block->name, "resources", block->resources, "start",
                     (json_int_t)block->start);
}

json_t *sim_pilots_save(const struct sim_pilots *p)
{
    json_t *pilots = json_array(), *slots = json_array(), *blocks = json_array();
    int rc = 0;
    for (size_t i = 0; i < p->n_pilots; i++)
        rc |= json_array_append_new(pilots, save_pilot(&p->pilot[i]));
    for (int64_t i = 0; i < p->rule.max_nodes; i++)
        rc |= json_array_append_new(slots, json_integer(p->slot[i]));
    for (size_t i = 0; i < p->n_blocks; i++)
        rc |= json_array_append_new(blocks, save_block(&p->block[i]));
    json_t *state = json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "list", pilots,
                              "slots", slots, "blocks", blocks, "made", (json_int_t)p->made,
                              "lacking", (json_int_t)p->lacking, "asked_at",
                              (json_int_t)p->asked_at, "look_at", (json_int_t)p->look_at, "asked",
                              (json_int_t)p->asked, "had", (json_int_t)p->had, "used", p->used);
    if (rc == 0 && state)
        return state;
    json_decref(state);
    errno = ENOMEM;
    return NULL;
}

static int invalid_state(void)
{
    errno = EINVAL;
    return -1;
}

static int load_pilot(struct sim_pilots *p, json_t *from)
{
    struct sim_pilot pilot = {0};
    json_int_t number, nodes, time, asked, up, end, useless;
    int leaves, why;
    if (json_unpack(from, "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:i}", "pilot", &number,
                    "nodes", &nodes, "time", &time, "asked", &asked, "up", &up, "end", &end,
                    "useless", &useless, "leaves", &leaves, "why", &why) < 0 ||
        nodes < 1 || nodes > p->rule.max_nodes || time < 0 || why < 0 || why > PILOT_IS_STUCK)
        return invalid_state();
    if (array_grow((void **)&p->pilot, &p->cap_pilots, p->n_pilots + 1, sizeof(*p->pilot)) < 0)
        return -1;
    pilot = (struct sim_pilot){.number = number,
                               .nodes = nodes,
                               .time = time,
                               .asked = asked,
                               .up = up,
                               .end = end,
                               .useless = useless,
                               .leaves = leaves,
                               .why = (enum pilot_end)why};
    p->pilot[p->n_pilots++] = pilot;
    return 0;
}

static int load_block(struct sim_block *to, json_t *from)
{
    const char *name, *resources;
    json_int_t start;
    if (json_unpack(from, "{s:s, s:s, s:I}", "name", &name, "resources", &resources, "start",
                    &start) < 0 ||
        strlen(name) >= sizeof(to->name))
        return invalid_state();
    memcpy(to->name, name, strlen(name) + 1);
    to->start = start;
    to->resources = strdup(resources);
    return to->resources ? 0 : -1;
}

static int load_lists(struct sim_pilots *p, int64_t now, json_t *pilots, const json_t *slots,
                      const json_t *blocks)
{
    size_t i;
    json_t *entry;
    if (json_array_size(pilots) > (size_t)p->rule.max_nodes ||
        json_array_size(slots) != (size_t)p->rule.max_nodes ||
        json_array_size(blocks) > PILOT_BLOCKS)
        return invalid_state();
    json_array_foreach (pilots, i, entry)
        if (load_pilot(p, entry) < 0)
            return -1;
    json_array_foreach (slots, i, entry) {
        p->slot[i] = json_integer_value(entry);
    }
    p->block = calloc(PILOT_BLOCKS, sizeof(*p->block));
    if (!p->block)
        return -1;
    json_array_foreach (blocks, i, entry) {
        if (load_block(&p->block[i], entry) < 0)
            return -1;
        p->n_blocks++;
        if (sim_pilots_block(p, now, &p->block[i]) < 0)
            return -1;
    }
    return 0;
}

int sim_pilots_load(struct sim_pilots *p, int64_t now, const json_t *state)
{
    json_t *pilots, *slots, *blocks;
    json_int_t made, lacking, asked_at, look_at, asked, had;
    if (json_unpack((json_t *)(uintptr_t)state,
                    "{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:F}", "list", &pilots, "slots",
                    &slots, "blocks", &blocks, "made", &made, "lacking", &lacking, "asked_at",
                    &asked_at, "look_at", &look_at, "asked", &asked, "had", &had, "used",
                    &p->used) < 0)
        return invalid_state();
    p->made = made;
    p->lacking = lacking;
    p->asked_at = asked_at;
    p->look_at = look_at;
    p->asked = asked;
    p->had = had;
    return load_lists(p, now, pilots, slots, blocks);
}
