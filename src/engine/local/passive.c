#include "engine/local/passive.h"

#include <unistd.h>

#include "engine/local/local.h"
#include "engine/local/outputs.h"

static struct local *local_of(struct engine *e)
{
    return (struct local *)(void *)e;
}

struct engine *passive_open(const char *outputs)
{
    struct local *l = local_make();
    if (!l)
        return NULL;
    l->passive = l->met = true;
    l->outputs = outputs_open(outputs);
    if (l->outputs)
        return &l->engine;
    local_close(&l->engine);
    return NULL;
}

void passive_link(struct engine *e, int fd)
{
    struct local *l = local_of(e);
    if (l->over)
        close(fd);
    else
        local_take_link(l, fd);
}

bool passive_linked(const struct engine *e)
{
    return ((const struct local *)(const void *)e)->link >= 0;
}

int passive_expect(struct engine *e, const struct engine_expected *expected)
{
    struct wanted *run = local_find(local_of(e), expected->key);
    if (!run)
        run = local_enter(local_of(e), expected->key);
    if (run)
        run->unheard = !expected->started;
    return run ? 0 : -1;
}

void passive_lose(struct engine *e)
{
    local_lose_all(local_of(e));
}

bool passive_has(const struct engine *e, uint64_t key)
{
    return local_find((const struct local *)(const void *)e, key) != NULL;
}

bool passive_over(const struct engine *e)
{
    return ((const struct local *)(const void *)e)->over;
}

bool passive_empty(const struct engine *e)
{
    return ((const struct local *)(const void *)e)->first == NULL;
}

int passive_hold(struct engine *e, const struct engine_run *run, berth_error_t *err)
{
    struct wanted *wanted = local_want(local_of(e), run, err);
    if (wanted)
        wanted->held = true;
    return wanted ? 0 : -1;
}

void passive_go(struct engine *e, uint64_t key)
{
    struct local *l = local_of(e);
    struct wanted *run = local_find(l, key);
    if (!run || !run->held || run->over)
        return;
    run->held = false;
    local_send_later(l, run);
    if (l->link < 0)
        return;
    local_fill(l, SIZE_MAX); /* what it is sent to goes first */
    local_put_signals(l, run);
}

bool passive_drop(struct engine *e, uint64_t key)
{
    struct local *l = local_of(e);
    struct wanted *run = local_find(l, key);
    if (!run || !run->held || run->end)
        return false;
    local_drop(l, run);
    return true;
}
