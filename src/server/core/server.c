/* Opening and closing the server; its clock, notices and events. */
#include "server/server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/errtext.h"
#include "base/json_out.h"
#include "server/core/gang_env.h"
#include "server/core/machine.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/users.h"

#define WALL_MAX (INT64_C(90) * 365 * 86400 * SERVER_SECOND) /* a later wall clock is wrong */

void server_update_clock(server_t *s)
{
    int64_t now = s->platform.steady(s->platform.context) + s->clock.offset;
    s->clock.now = now > s->clock.now ? now : s->clock.now;
    s->clock.wall = s->platform.wall(s->platform.context);
}

/* Ticks of a wall time - us since 1970. Each look at the two clocks gives a difference of its own, by microseconds: for
 * as long as that is all, it is the one by which blocks begin, so that everybody tells a time alike.
 */
static int64_t ticks_ahead(const server_t *s)
{
    int64_t ahead = s->clock.now - s->clock.wall, by = ahead - s->block_offset;
    return by > -SERVER_SECOND && by < SERVER_SECOND ? s->block_offset : ahead;
}

int64_t server_wall_time(const server_t *s, int64_t ticks)
{
    return ticks < 0 || ticks == INT64_MAX ? -1 : ticks - ticks_ahead(s);
}

int64_t server_tick(const server_t *s, int64_t wall)
{
    int64_t tick = wall + ticks_ahead(s);
    return tick > 0 ? tick : 0;
}

int64_t server_start_time(const server_t *s, int64_t ticks)
{
    return ticks - s->clock.now >= SERVER_FAR ? -1 : server_wall_time(s, ticks);
}

const char *server_intern_name(server_t *s, const char *text)
{
    uint32_t number;
    if (intern_put(&s->names, text, strlen(text), &number) < 0)
        return NULL;
    return intern_text(&s->names, number);
}

void server_notice(server_t *s, const char *format, ...)
{
    char line[512];
    struct strbuf text = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (s->n_notices >= SERVER_NOTICES_MAX)
        return;
    struct json_out out = {.text = &text};
    if (s->notices)
        json_put_raw(&out, NULL, s->notices);
    json_put_string(&out, NULL, line);
    char *notices = strbuf_steal(&text);
    if (!notices)
        return;
    free(s->notices);
    s->notices = notices;
    s->n_notices++;
}

void server_event(server_t *s, int64_t job, int64_t member, const char *kind, char *data)
{
    if (array_grow((void **)&s->unsaved.events, &s->unsaved.cap_events, s->unsaved.n_events + 1,
                   sizeof(*s->unsaved.events)) < 0) {
        free(data);
        return;
    }
    s->unsaved.urgent = true;
    s->unsaved.events[s->unsaved.n_events++] = (struct unsaved_event){
        .job = job, .member = member, .wall = s->clock.wall, .kind = kind, .data = data};
}

void member_event(server_t *s, const struct job *job, uint32_t member, const char *kind, char *data)
{
    server_event(s, job->id, job->members > 1 ? (int64_t)member : -1, kind, data);
}

/* Continue the scheduler's clock: on the same boot with the same offset, after a reboot with the time that
 * has passed by the wall clock. A new store begins at the time since 1970, so that times that repeat daily
 * do so at the same time of day.
 */
static int open_clock(server_t *s, berth_error_t *err)
{
    const char *text;
    char boot[80];
    int64_t offset, now, wall;
    int64_t steady = s->platform.steady(s->platform.context);
    s->clock.wall = s->platform.wall(s->platform.context);
    if (store_get(s->store, "clock", &text, err) < 0)
        return -1;
    if (!text) {
        int64_t begin = s->clock.wall < 0 ? 0 : s->clock.wall > WALL_MAX ? WALL_MAX : s->clock.wall;
        s->clock.offset = begin - steady;
        s->clock.now = begin;
        return 0;
    }
    if (sscanf(text, "%79s %" SCNd64 " %" SCNd64 " %" SCNd64, boot, &offset, &now, &wall) != 4 ||
        now < 0 || now > INT64_MAX / 4)
        return errtext_set(err, EINVAL, "the stored clock is malformed: %.100s", text);
    s->clock.other_boot = strcmp(boot, s->platform.boot(s->platform.context)) != 0;
    if (s->clock.other_boot)
        offset = now + (s->clock.wall > wall ? s->clock.wall - wall : 0) - steady;
    s->clock.offset = offset;
    s->clock.now = now;
    s->clock.stored =
        s->clock.other_boot ? now - SERVER_CLOCK_EVERY : now; /* nothing of this boot is stored */
    return 0;
}

static int open_store(server_t *s, berth_error_t *err)
{
    struct strbuf path = {0};
    strbuf_puts(&path, s->directory);
    if (!s->platform.vfs) {
        mkdir(strbuf_text(&path), 0700);
        size_t length = path.len;
        strbuf_puts(&path, "/logs");
        /* Users look for their files below it, whatever the umask is. */
        if (mkdir(strbuf_text(&path), 0700) == 0 && s->options.for_all)
            chmod(strbuf_text(&path), 0711);
        path.len = length;
    }
    strbuf_puts(&path, "/berth.db");
    char *text = strbuf_steal(&path);
    s->store = text ? store_open(text, s->platform.vfs, err) : NULL;
    if (!text)
        errtext_no_memory(err);
    free(text);
    return s->store ? 0 : -1;
}

static int copy_options(server_t *s, const struct server_options *options, berth_error_t *err)
{
    s->options = *options;
    s->directory = strdup(options->directory);
    s->config_path = options->config ? strdup(options->config) : NULL;
    if (!s->directory || (options->config && !s->config_path))
        return errtext_no_memory(err);
    s->options.directory = s->directory;
    s->options.config = s->config_path;
    return 0;
}

server_t *server_open(const struct server_platform *platform, const struct server_options *options,
                      berth_error_t *err)
{
    server_t *s = calloc(1, sizeof(*s));
    if (!s) {
        errtext_no_memory(err);
        return NULL;
    }
    s->platform = *platform;
    s->unsaved.commit_at = INT64_MAX;
    if (copy_options(s, options, err) == 0 && open_store(s, err) == 0 && open_clock(s, err) == 0) {
        server_update_clock(s);
        s->clock.started = s->clock.wall;
        s->retain_at = s->clock.now;
        if (machine_open(s, err) == 0 && server_load(s, err) == 0)
            return s;
    }
    int saved = errno;
    server_close(s);
    errno = saved;
    return NULL;
}

bool server_is_stopping(const server_t *s)
{
    return s->stopping;
}

static void clear_jobs(server_t *s)
{
    for (size_t i = 0; i < s->table.n; i++)
        job_discard(s, s->table.jobs[i].job);
    for (size_t i = 0; i < s->unsaved.n_events; i++)
        free(s->unsaved.events[i].data);
    free(s->table.jobs);
    free(s->runs.v);
    free(s->runs.by_key);
    free(s->unsaved.jobs);
    free(s->unsaved.members);
    free(s->engine.starts);
    free(s->unsaved.events);
    free(s->engine.signals);
    free(s->engine.orphans);
}

void server_close(server_t *s)
{
    if (!s)
        return;
    int saved = errno;
    work_clear(s);
    sched_destroy(s->sched);
    match_destroy(s->machine);
    clear_jobs(s);
    users_clear(s);
    gpu_names_clear(&s->gpu_names);
    store_close(s->store);
    config_destroy(s->config);
    gang_env_clear(s);
    intern_clear(&s->names);
    intern_clear(&s->ended_ids);
    heap_clear(&s->runs.timers);
    json_decref(s->settings);
    strbuf_clear(&s->text);
    strbuf_clear(&s->unsaved.uneven);
    strbuf_clear(&s->unsaved.stored_uneven);
    free(s->notices);
    free(s->pilots.kept);
    free(s->pilots.spares);
    free(s->bulks_text);
    free(s->directory);
    free(s->config_path);
    free(s);
    errno = saved;
}
