/* What an event of a scenario says of a block. */
#include <errno.h>

#include "config/keys.h"
#include "sim/scenario_event.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A block as read, except that "for" is still JSON; times are -1 if they are not given. */
struct block_text {
    struct scenario_block block;
    int64_t end;
    json_t *whom;
};

static const struct key block_keys[] = {
    KEY_AS(struct block_text, block.name, "name", KEY_TEXT, .needed = true),
    KEY_AS(struct block_text, block.resources, "resources", KEY_TEXT, .needed = true),
    KEY_AS(struct block_text, block.start, "start", KEY_SECONDS, .needed = true),
    KEY_AS(struct block_text, block.duration, "duration", KEY_SECONDS, .min = 1),
    KEY_OF(struct block_text, end, KEY_SECONDS),
    KEY_AS(struct block_text, block.every, "every", KEY_SECONDS, .min = 1),
    KEY_AS(struct block_text, whom, "for", KEY_OBJECT),
};
static const struct key_table block_table = {"block: ", block_keys, LENGTH(block_keys)};

static const struct key whom_keys[] = {
    KEY_OF(struct scenario_block, users, KEY_TEXTS),
    KEY_OF(struct scenario_block, queues, KEY_TEXTS),
    KEY_OF(struct scenario_block, jobs, KEY_TEXTS),
};
static const struct key_table whom_table = {"block: for: ", whom_keys, LENGTH(whom_keys)};

/* An end says for how long it lasts as well. */
static int take_end(struct block_text *text, const struct key_place *place, berth_error_t *err)
{
    struct scenario_block *b = &text->block;
    if ((text->end < 0) == (b->duration < 0))
        return keys_failed(place, EINVAL,
                           "block: key \"duration\": expected either a duration or an end", err);
    if (b->duration >= 0)
        return 0;
    if (text->end <= b->start)
        return keys_failed(place, EINVAL, "block: key \"end\": expected a time after the start",
                           err);
    b->duration = text->end - b->start;
    return 0;
}

int scenario_block_read(struct scenario_event *e, json_t *value, const struct key_place *place,
                        berth_error_t *err)
{
    struct block_text text = {.block.duration = -1, .end = -1};
    if (keys_read(value, &block_table, place, &text, err) < 0 || take_end(&text, place, err) < 0)
        return -1;
    e->block = text.block;
    return text.whom ? keys_read(text.whom, &whom_table, place, &e->block, err) : 0;
}
