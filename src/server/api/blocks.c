/* Routes of blocks: those of the configuration, and those that administrators add and remove. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/number.h"
#include "config/keys.h"
#include "config/seconds.h"
#include "server/api/api.h"
#include "server/core/job_text.h"
#include "server/core/machine.h"
#include "server/core/members.h"

#define NAME_MOST      100          /* bytes of a name */
#define LIST_MOST      100          /* users, queues or jobs for which a block is */
#define TEXT_MOST      255          /* bytes of each */
#define RESOURCES_MOST 4000         /* bytes */
#define SPAN_MOST      (100 * YEAR) /* of durations */
#define YEAR           (365 * 86400 * SECONDS_TICKS)

/* What is asked for, in us. */
struct block_ask {
    const char *name, *resources;
    int64_t start, end, duration, every; /* -1: not given; every: 0 */
    json_t *permit;
    json_t *users, *queues, *jobs;
};

static const struct key block_keys[] = {
    KEY_OF(struct block_ask, name, KEY_TEXT, .needed = true),
    KEY_OF(struct block_ask, resources, KEY_TEXT, .needed = true),
    KEY_OF(struct block_ask, start, KEY_SECONDS),
    KEY_OF(struct block_ask, end, KEY_SECONDS),
    KEY_OF(struct block_ask, duration, KEY_DURATION, .max = SPAN_MOST),
    KEY_OF(struct block_ask, every, KEY_DURATION, .max = SPAN_MOST),
    KEY_AS(struct block_ask, permit, "for", KEY_OBJECT),
};

static const struct key permit_keys[] = {
    KEY_OF(struct block_ask, users, KEY_TEXTS),
    KEY_OF(struct block_ask, queues, KEY_TEXTS),
    KEY_OF(struct block_ask, jobs, KEY_TEXTS),
};

static int check_name(const char *name, berth_error_t *why)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (strlen(name) <= NAME_MOST && strspn(name, known) == strlen(name))
        return 0;
    return errtext_set(why, EINVAL,
                       "key \"name\": expected at most %d letters, digits, '-', '_' and '.'",
                       NAME_MOST);
}

static int check_list(const char *key, const json_t *list, berth_error_t *why)
{
    size_t i;
    const json_t *value;
    bool fits = json_array_size(list) <= LIST_MOST;
    json_array_foreach (list, i, value)
        fits = fits && json_string_length(value) <= TEXT_MOST &&
               text_is_plain(json_string_value(value));
    return fits ? 0
                : errtext_set(why, EINVAL,
                              "key \"%s\": expected at most %d names of at most %d bytes", key,
                              LIST_MOST, TEXT_MOST);
}

static int check_queues(const server_t *s, const json_t *queues, berth_error_t *why)
{
    for (size_t i = 0; i < json_array_size(queues); i++) {
        const char *name = json_string_value(json_array_get(queues, i));
        if (!machine_queue(s, name))
            return errtext_set(why, EINVAL, "key \"queues\": there is no queue \"%.100s\"", name);
    }
    return 0;
}

/* Jobs that wait or run, by number. */
static int check_jobs(const server_t *s, const json_t *jobs, berth_error_t *why)
{
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const char *text = json_string_value(json_array_get(jobs, i));
        char *end;
        int64_t id = is_digit(*text) ? strtoll(text, &end, 10) : -1;
        if (id < 1 || *end || *text == '0' || !job_lookup(s, id))
            return errtext_set(why, EINVAL,
                               "key \"jobs\": there is no job \"%.100s\" that waits or runs", text);
    }
    return 0;
}

/* Its start, and for how long it lasts. */
static int check_times(const server_t *s, struct block_ask *in, berth_error_t *why)
{
    if (in->start < 0)
        in->start = s->clock.wall;
    if ((in->end < 0) == (in->duration < 0))
        return errtext_set(why, EINVAL, "key \"duration\": expected either a duration or an end");
    if (in->duration < 0)
        in->duration = in->end - in->start;
    if (in->duration <= 0)
        return errtext_set(why, EINVAL, "key \"end\": expected a time after the start");
    if (in->every > 0 && in->every <= in->duration)
        return errtext_set(why, EINVAL, "key \"every\": expected more than the block lasts");
    if (in->every == 0 && in->start + in->duration <= s->clock.wall)
        return errtext_set(why, EINVAL, "key \"%s\": expected a time that has not passed",
                           in->end < 0 ? "duration" : "end");
    return 0;
}

static int read_block(struct call *c, struct block_ask *in, berth_error_t *why)
{
    const struct key_table table = {"", block_keys, sizeof(block_keys) / sizeof(*block_keys)};
    const struct key_table permits = {"for: ", permit_keys,
                                      sizeof(permit_keys) / sizeof(*permit_keys)};
    const struct key_place place = {"request", 0};
    *in = (struct block_ask){.start = -1, .end = -1, .duration = -1};
    if (keys_read(c->body, &table, &place, in, why) < 0 ||
        (in->permit && keys_read(in->permit, &permits, &place, in, why) < 0))
        return -1;
    if (strlen(in->resources) > RESOURCES_MOST)
        return errtext_set(why, EINVAL, "key \"resources\": expected at most %d bytes",
                           RESOURCES_MOST);
    if (check_name(in->name, why) < 0 || check_times(c->s, in, why) < 0 ||
        check_list("users", in->users, why) < 0 || check_list("queues", in->queues, why) < 0 ||
        check_list("jobs", in->jobs, why) < 0)
        return -1;
    return check_queues(c->s, in->queues, why) < 0 ? -1 : check_jobs(c->s, in->jobs, why);
}

void api_blocks_post(struct call *c)
{
    struct block_ask in;
    berth_error_t why = {""};
    if (!json_is_object(c->body)) {
        api_refuse(c, 400, NULL, "expected an object");
        return;
    }
    if (read_block(c, &in, &why) < 0) {
        api_wrong(c, &why);
        return;
    }
    json_t *block = json_pack("{s:s, s:s, s:I, s:I, s:I, s:O?, s:O?, s:O?}", "name", in.name,
                              "resources", in.resources, "start", (json_int_t)in.start, "duration",
                              (json_int_t)in.duration, "every", (json_int_t)in.every, "users",
                              in.users, "queues", in.queues, "jobs", in.jobs);
    if (!block)
        errno = ENOMEM;
    if (!block || settings_block_add(c->s, block, &why) < 0) {
        api_wrong(c, &why);
    } else {
        api_event_body(c, "block", NULL, NULL);
        api_done(c);
    }
    json_decref(block);
}

void api_block_delete(struct call *c)
{
    berth_error_t why = {""};
    if (settings_block_remove(c->s, c->rest, &why) < 0) {
        api_wrong(c, &why);
        return;
    }
    api_event_body(c, "unblock", "name", c->rest);
    api_done(c);
}

/* ---- Listing ---- */

struct block_row {
    const char *name, *resources, *problem;
    int64_t start, duration, every; /* us since 1970; us */
    bool is_configured;
};

/* When it is on next, or since when it is; -1: it is over. */
static int64_t next_start(const struct block_row *b, int64_t now)
{
    if (now < b->start + b->duration)
        return b->start;
    if (b->every == 0)
        return -1;
    int64_t start = b->start + (now - b->start) / b->every * b->every;
    return now < start + b->duration ? start : start + b->every;
}

static void open_row(struct json_out *out, const struct block_row *b, int64_t now)
{
    int64_t next = next_start(b, now);
    json_line(out);
    json_open(out, NULL, '{');
    json_put_text(out, "name", b->name);
    json_put_text(out, "resources", b->resources);
    json_put_seconds(out, "start", b->start);
    json_put_seconds(out, "duration", b->duration);
    json_put_seconds(out, "every", b->every > 0 ? b->every : -1);
    json_put_text(out, "state", next < 0 ? "over" : next <= now ? "active" : "planned");
    json_put_seconds(out, "next", next);
    json_put_bool(out, "configured", b->is_configured);
    json_put_text(out, "problem", b->problem);
    json_open(out, "for", '{');
}

static void close_row(struct json_out *out)
{
    json_close(out, '}');
    json_close(out, '}');
}

static void put_texts(struct json_out *out, const char *key, const char *const *v, size_t n)
{
    json_open(out, key, '[');
    for (size_t i = 0; i < n; i++)
        json_put_text(out, NULL, v[i]);
    json_close(out, ']');
}

static void put_configured(const server_t *s, struct json_out *out, const struct sched_block *b)
{
    const struct block_row row = {.name = b->name,
                                  .resources = b->resources,
                                  .start = blocks_wall_time(s, b->start),
                                  .duration = b->duration,
                                  .every = b->every,
                                  .is_configured = true};
    open_row(out, &row, s->clock.wall);
    put_texts(out, "users", b->users, b->n_users);
    put_texts(out, "queues", b->queues, b->n_queues);
    put_texts(out, "jobs", b->jobs, b->n_jobs);
    close_row(out);
}

static void put_texts_of_entry(struct json_out *out, const json_t *entry, const char *key)
{
    size_t i;
    const json_t *value;
    json_open(out, key, '[');
    json_array_foreach (json_object_get(entry, key), i, value)
        json_put_text(out, NULL, json_string_value(value));
    json_close(out, ']');
}

/* One that is over is about to go. */
static void put_added(const server_t *s, struct json_out *out, const json_t *entry)
{
    const struct block_row row = {
        .name = json_string_value(json_object_get(entry, "name")),
        .resources = json_string_value(json_object_get(entry, "resources")),
        .problem = json_string_value(json_object_get(entry, "problem")),
        .start = json_integer_value(json_object_get(entry, "start")),
        .duration = json_integer_value(json_object_get(entry, "duration")),
        .every = json_integer_value(json_object_get(entry, "every"))};
    if (next_start(&row, s->clock.wall) < 0)
        return;
    open_row(out, &row, s->clock.wall);
    put_texts_of_entry(out, entry, "users");
    put_texts_of_entry(out, entry, "queues");
    put_texts_of_entry(out, entry, "jobs");
    close_row(out);
}

void api_blocks_get(struct call *c)
{
    const server_t *s = c->s;
    const struct sched_config *sched = &s->config->sched;
    struct json_out out = {.text = c->out};
    size_t i;
    const json_t *entry;
    json_open(&out, NULL, '{');
    json_open(&out, "blocks", '[');
    for (i = 0; i < sched->n_blocks; i++)
        put_configured(s, &out, &sched->blocks[i]);
    json_array_foreach (json_object_get(s->settings, "blocks"), i, entry)
        put_added(s, &out, entry);
    strbuf_puts(c->out, "\n]}\n");
}
