/* Blocks that administrators add while the server runs, beside those of the configuration.
 *
 * They are part of the settings, with the wall times that were asked for: the core's clock goes on when the
 * wall clock is set, so starts are reckoned into it anew then, and when the server is opened. One that can't
 * be in force then, since its resources or its name are not what they were, stays in the settings with the
 * reason, and is tried again with each reload.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "config/keys.h"
#include "config/seconds.h"
#include "pilot/ends.h"
#include "server/core/entry.h"
#include "server/core/machine.h"
#include "server/core/priv.h"

#define OFFSET_LEFT (60 * SERVER_SECOND)

enum { USERS, QUEUES, JOBS, LISTS };
static const char *const list_names[LISTS] = {"users", "queues", "jobs"};

/* A block of the settings as the core takes it. */
struct added {
    struct sched_block block;
    const char **list[LISTS];
};

static const char *text_of_entry(const json_t *entry, const char *key)
{
    return json_string_value(json_object_get(entry, key));
}

/* Move a block by so many ticks; what would begin before 0 begins there, or with its next turn. */
static void shift(struct sched_block *block, int64_t by)
{
    block->start += by;
    if (block->start >= 0)
        return;
    if (block->every > 0) {
        block->start = block->every - 1 - (-block->start - 1) % block->every;
    } else {
        int64_t end = block->start + block->duration;
        block->start = 0;
        block->duration = end > 1 ? end : 1; /* it was over before there was a server */
    }
}

/* Small differences are left: else whoever is promised a start just before a block, or just after it, might
 * lose that in a restart.
 */
int64_t blocks_offset(const server_t *s)
{
    int64_t offset = s->clock.now - s->clock.wall, by = offset - s->block_offset;
    return by > OFFSET_LEFT || by < -OFFSET_LEFT ? offset : s->block_offset;
}

int64_t blocks_wall_time(const server_t *s, int64_t ticks)
{
    return ticks - s->block_offset;
}

void blocks_load_offset(server_t *s)
{
    s->block_offset = json_integer_value(json_object_get(s->settings, "block_offset"));
    blocks_set_offset(s, blocks_offset(s));
}

void blocks_set_offset(server_t *s, int64_t offset)
{
    if (offset == s->block_offset)
        return;
    s->block_offset = offset;
    if (json_object_set_new(s->settings, "block_offset", json_integer((json_int_t)offset)) == 0)
        s->unsaved.settings = true;
}

void blocks_shift(struct config *config, int64_t by)
{
    /* They are read into memory of the configuration. */
    struct sched_block *blocks = (struct sched_block *)config->sched.blocks;
    for (size_t i = 0; by != 0 && i < config->sched.n_blocks; i++)
        shift(&blocks[i], by);
}

static void added_clear(struct added *a)
{
    for (int i = 0; i < LISTS; i++)
        free(a->list[i]);
}

/* Queues that are gone are left out: nobody is in them. */
static size_t known_queues(const server_t *s, const char **queues, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (machine_queue(s, queues[i]))
            queues[kept++] = queues[i];
    return kept;
}

/* Returns 0, or -1 with ENOMEM; added_clear() follows either way. */
static int added_read(const server_t *s, const json_t *entry, struct added *a)
{
    size_t n[LISTS] = {0};
    *a = (struct added){.block = {.name = text_of_entry(entry, "name"),
                                  .resources = text_of_entry(entry, "resources"),
                                  .start = entry_number(entry, "start"),
                                  .duration = entry_number(entry, "duration"),
                                  .every = entry_number(entry, "every")}};
    for (int i = 0; i < LISTS; i++)
        if (keys_texts(json_object_get(entry, list_names[i]), &a->list[i], &n[i]) < 0)
            return -1;
    n[QUEUES] = known_queues(s, a->list[QUEUES], n[QUEUES]);
    a->block.users = a->list[USERS];
    a->block.n_users = n[USERS];
    a->block.queues = a->list[QUEUES];
    a->block.n_queues = n[QUEUES];
    a->block.jobs = a->list[JOBS];
    a->block.n_jobs = n[JOBS];
    shift(&a->block, s->block_offset);
    return 0;
}

/* Have the core set a block. Returns 0, or -1 with errno and a text. */
static int put_in_force(server_t *s, sched_t *sched, const json_t *entry, berth_error_t *err)
{
    struct added a;
    int rc = added_read(s, entry, &a);
    if (rc < 0)
        errtext_no_memory(err);
    else
        rc = sched_block(sched, s->clock.now, &a.block, err);
    int saved = errno;
    added_clear(&a);
    errno = saved;
    return rc;
}

static const struct sched_block *configured(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->sched.n_blocks; i++)
        if (strcmp(config->sched.blocks[i].name, name) == 0)
            return &config->sched.blocks[i];
    return NULL;
}

static json_t *added_blocks(const server_t *s)
{
    return json_object_get(s->settings, "blocks");
}

/* Its place in the settings, or that behind the last. */
static size_t find_added(const server_t *s, const char *name)
{
    size_t i, n = json_array_size(added_blocks(s));
    for (i = 0; i < n; i++)
        if (strcmp(text_of_entry(json_array_get(added_blocks(s), i), "name"), name) == 0)
            break;
    return i;
}

static bool is_block_over(const server_t *s, const json_t *entry)
{
    return entry_number(entry, "every") == 0 &&
           entry_number(entry, "start") + entry_number(entry, "duration") <= s->clock.wall;
}

static bool is_in_force(const json_t *entry)
{
    return !json_object_get(entry, "problem");
}

static void drop_block(server_t *s, size_t i)
{
    const json_t *entry = json_array_get(added_blocks(s), i);
    if (is_in_force(entry))
        sched_unblock(s->sched, s->clock.now, text_of_entry(entry, "name"), NULL);
    json_array_remove(added_blocks(s), i);
    settings_note_change(s);
}

/* Those that are over make room for others. */
static void drop_over(server_t *s)
{
    for (size_t i = json_array_size(added_blocks(s)); i-- > 0;)
        if (is_block_over(s, json_array_get(added_blocks(s), i)))
            drop_block(s, i);
}

/* Append to the list, which is made if need be. */
static int keep_block(server_t *s, json_t *block)
{
    json_t *list = added_blocks(s);
    if (!list && json_object_set_new(s->settings, "blocks", json_array()) == 0)
        list = added_blocks(s);
    return list ? json_array_append(list, block) : -1;
}

int settings_block_add(server_t *s, json_t *block, berth_error_t *err)
{
    const char *name = text_of_entry(block, "name");
    if (configured(s->config, name))
        return errtext_set(err, EEXIST,
                           "key \"name\": the configuration has a block \"%.100s\" already: "
                           "choose another name",
                           name);
    drop_over(s);
    if (find_added(s, name) < json_array_size(added_blocks(s)))
        return errtext_set(err, EEXIST,
                           "key \"name\": there is a block \"%.100s\" already: remove it first, or "
                           "choose another name",
                           name);
    if (json_array_size(added_blocks(s)) + s->config->sched.n_blocks >= BLOCKS_MAX)
        return errtext_set(err, EINVAL, "there are %d blocks already: remove one first",
                           BLOCKS_MAX);
    if (keep_block(s, block) < 0)
        return errtext_no_memory(err);
    if (put_in_force(s, s->sched, block, err) < 0) {
        int saved = errno;
        json_array_remove(added_blocks(s), json_array_size(added_blocks(s)) - 1);
        errno = saved;
        return -1;
    }
    settings_note_change(s);
    return 0;
}

int settings_block_remove(server_t *s, const char *name, berth_error_t *err)
{
    size_t i = find_added(s, name);
    if (i < json_array_size(added_blocks(s))) {
        drop_block(s, i);
        return 0;
    }
    if (configured(s->config, name))
        return errtext_set(err, EEXIST,
                           "block \"%.100s\" is in the configuration: remove it there, and reload",
                           name);
    return errtext_set(err, ENOENT, "there is no block \"%.100s\"", name);
}

/* Set a block of the settings, or say in it why that can't be done. */
static void try_again(server_t *s, sched_t *sched, json_t *entry)
{
    const char *name = text_of_entry(entry, "name"), *before = text_of_entry(entry, "problem");
    berth_error_t why = {""};
    if (configured(s->config, name))
        errtext_set(&why, EEXIST, "the configuration has a block of this name");
    else if (put_in_force(s, sched, entry, &why) == 0) {
        json_object_del(entry, "problem");
        return;
    }
    if (before && strcmp(before, why.text) == 0)
        return;
    json_object_set_new(entry, "problem", json_string(why.text));
    server_notice(s, "block %.100s is not in force: %s", name, why.text);
}

/* The store may be damaged. */
static bool is_whole_entry(const json_t *entry)
{
    return text_of_entry(entry, "name") && text_of_entry(entry, "resources") &&
           entry_number(entry, "start") >= 0 &&
           entry_number(entry, "start") <= SECONDS_MAX * SECONDS_TICKS &&
           (entry_number(entry, "duration") <= SECONDS_MAX * SECONDS_TICKS ||
            entry_number(entry, "duration") == PILOT_GONE) &&
           entry_number(entry, "every") <= SECONDS_MAX * SECONDS_TICKS;
}

void settings_apply_blocks(server_t *s, sched_t *sched)
{
    json_t *entry;
    size_t i;
    for (i = json_array_size(added_blocks(s)); i-- > 0;)
        if (!is_whole_entry(json_array_get(added_blocks(s), i)))
            json_array_remove(added_blocks(s), i);
    json_array_foreach (added_blocks(s), i, entry) {
        if (!is_block_over(s, entry))
            try_again(s, sched, entry);
    }
}

/* Where the wall clock was set meanwhile, all of them begin at another time. */
void settings_retry_blocks(server_t *s, bool all)
{
    json_t *entry;
    size_t i;
    json_array_foreach (added_blocks(s), i, entry) {
        if (!is_block_over(s, entry) && (all || !is_in_force(entry)))
            try_again(s, s->sched, entry);
    }
}

int settings_check_blocks(const server_t *s, const struct config *config, berth_error_t *err)
{
    for (size_t i = 0; i < json_array_size(added_blocks(s)); i++) {
        const json_t *entry = json_array_get(added_blocks(s), i);
        const char *name = text_of_entry(entry, "name");
        if (!is_block_over(s, entry) && is_in_force(entry) && configured(config, name))
            return errtext_set(err, EEXIST,
                               "block \"%.100s\": \"berth block\" has added one of this name: "
                               "remove that first, or choose another name",
                               name);
    }
    return 0;
}
