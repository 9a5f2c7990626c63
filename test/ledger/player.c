/* Plays scenes, one for each line of standard input, so that thousands cost one start of a program:
 *
 *   {"folder": ..., "config": the text of a configuration, "events": [lines of a scenario]}
 *
 * Events that can't be, such as the end of a job that does not run, are left out; submissions can always be. For
 * each scene it writes the numbers of those lines, then all decisions as `berth sim --decisions` does, after those
 * of each instant what waiting jobs are promised then and what they claim, and a last line:
 *
 *   {"left out": [3, 7]}
 *   {"at": 0, "job": "a", "decision": "reserve", "start": 50}
 *   {"at": 0, "promised": {"a": "node[0-1]"}}
 *   {"at": 0, "claimed": {"b": "node[2-3]"}}
 *   {"over": true, "same": true}
 *
 * A scene is played twice, without a stop and with one at each instant; `same` says whether that made no difference.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "berth/error.h"
#include "berth/sched_query.h"
#include "config/config.h"
#include "config/machine_open.h"
#include "config/seconds.h"
#include "sim/play.h"
#include "sim/play_priv.h" /* the core that it plays with */

struct line {
    int64_t at;
    const char *text;
    bool left_out;
};

struct scene {
    json_t *json;
    const char *folder;
    struct config *config;
    struct line *line;
    size_t n;
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "player: %s: %s\n", what, why);
    exit(1);
}

static void scene_open(struct scene *s, const char *text)
{
    json_error_t wrong;
    berth_error_t err = {""};
    s->json = json_loads(text, 0, &wrong);
    if (!s->json)
        die("a scene", wrong.text);
    s->folder = json_string_value(json_object_get(s->json, "folder"));
    const char *config = json_string_value(json_object_get(s->json, "config"));
    const json_t *events = json_object_get(s->json, "events");
    s->n = json_array_size(events);
    s->line = calloc(s->n + 1, sizeof(*s->line));
    s->config =
        config ? config_read("config.json", config, strlen(config), SECONDS_TICKS, &err) : NULL;
    if (!s->config || !s->line)
        die("a scene", err.text);
    for (size_t i = 0; i < s->n; i++) {
        s->line[i].text = json_string_value(json_array_get(events, i));
        json_t *event = json_loads(s->line[i].text, 0, &wrong);
        s->line[i].at = json_integer_value(json_object_get(event, "at")) * SECONDS_TICKS;
        json_decref(event);
    }
}

static void scene_close(struct scene *s)
{
    config_destroy(s->config);
    json_decref(s->json);
    free(s->line);
}

/* One play of a scene. */
struct stage {
    match_t *machine;
    struct decisions decisions;
    struct play *play;
    struct strbuf told;
};

static void take(void *arg, const char *bytes, size_t n)
{
    strbuf_put(arg, bytes, n);
}

static void stage_open(struct stage *g, const struct scene *s)
{
    berth_error_t err = {""};
    g->machine = config_machine_open(s->config, "config.json", &err);
    g->decisions = (struct decisions){.write = take, .arg = &g->told};
    struct play_options options = {.config = s->config,
                                   .machine = g->machine,
                                   .folder = s->folder,
                                   .decisions = &g->decisions};
    g->play = g->machine ? play_create(&options, &err) : NULL;
    if (!g->play)
        die("a scene", err.text);
}

static void stage_close(struct stage *g)
{
    play_destroy(g->play);
    match_destroy(g->machine);
    decisions_clear(&g->decisions);
    strbuf_clear(&g->told);
}

/* Play the lines [i, end) at a time. One that can't be is left out, and the others go on. */
static void play_lines(struct stage *g, struct scene *s, size_t i, size_t end, int64_t at)
{
    berth_error_t err = {""};
    struct strbuf text = {0};
    for (bool done = false; !done;) {
        strbuf_reset(&text);
        for (size_t k = i; k < end; k++) {
            strbuf_puts(&text, s->line[k].left_out ? "#" : s->line[k].text);
            strbuf_putc(&text, '\n');
        }
        struct scenario *events = scenario_from_text("", strbuf_text(&text), text.len, &err);
        if (!events)
            die("events", err.text);
        done = play_run(g->play, events, DRIVER_TO_TIME, at, &err) == 0;
        scenario_close(events);
        if (done)
            break;
        size_t wrong = i + strtoul(err.text + 1, NULL, 10) - 1; /* ":LINE: ..." */
        if (err.text[0] != ':' || wrong >= end || strstr(s->line[wrong].text, "\"submit\""))
            die("events", err.text);
        s->line[wrong].left_out = true;
        i = wrong + 1;
    }
    strbuf_clear(&text);
}

static size_t lines_until(const struct scene *s, size_t i, int64_t at)
{
    while (i < s->n && s->line[i].at <= at)
        i++;
    return i;
}

/* What happens without a stop, but for one after each instant of an event. */
static void play_through(struct stage *g, struct scene *s)
{
    berth_error_t err = {""};
    for (size_t i = 0, end; i < s->n; i = end) {
        end = lines_until(s, i, s->line[i].at);
        play_lines(g, s, i, end, s->line[i].at);
    }
    if (play_run(g->play, NULL, DRIVER_TO_END, 0, &err) < 0)
        die("the end", err.text);
}

/* What a job is promised, or claims. NULL: nothing. */
static const char *withheld_of(struct stage *g, size_t job, const struct play_row *row, bool claims)
{
    const char *resources;
    if (!claims)
        return strcmp(row->state, "reserved") == 0 ? row->resources : NULL;
    if (!play_waits(g->play, job) || !sched_claims(g->play->d.sched, play_handle(g->play, job)))
        return NULL;
    if (sched_resources(g->play->d.sched, play_handle(g->play, job), &resources) < 0)
        die("a claim", strerror(errno));
    return resources;
}

static void print_withheld(struct stage *g, int64_t at, bool claims)
{
    struct play_row row;
    const char *before = "";
    for (size_t job = 0; job < play_jobs(g->play); job++) {
        if (play_row(g->play, job, &row) < 0)
            die("a row", strerror(errno));
        const char *resources = withheld_of(g, job, &row, claims);
        if (!resources)
            continue;
        if (!*before)
            printf("{\"at\": %lld.%06lld, \"%s\": {", (long long)(at / SECONDS_TICKS),
                   (long long)(at % SECONDS_TICKS), claims ? "claimed" : "promised");
        printf("%s\"%s\": \"%s\"", before, row.name, resources);
        before = ", ";
    }
    if (*before)
        puts("}}");
}

static int64_t decided_at(const char *line)
{
    return llround(strtod(line + strlen("{\"at\": "), NULL) * SECONDS_TICKS);
}

/* The same with a look at each instant at which something happens or was decided. */
static void play_slowly(struct stage *g, struct scene *s, const char *told)
{
    size_t i = 0, printed = 0;
    while (i < s->n || *told) {
        int64_t at = *told ? decided_at(told) : INT64_MAX;
        at = i < s->n && s->line[i].at < at ? s->line[i].at : at;
        size_t end = lines_until(s, i, at);
        play_lines(g, s, i, end, at);
        fputs(strbuf_text(&g->told) + printed, stdout);
        printed = g->told.len;
        print_withheld(g, at, false);
        print_withheld(g, at, true);
        i = end;
        while (*told && decided_at(told) <= at)
            told = strchr(told, '\n') + 1;
    }
}

static size_t lines_left_out(const struct scene *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->line[i].left_out;
    return n;
}

/* An event that can't be stops the play within an instant: once more without those. */
static void play_whole(struct stage *g, struct scene *s)
{
    stage_open(g, s);
    play_through(g, s);
    if (lines_left_out(s) == 0)
        return;
    stage_close(g);
    *g = (struct stage){0};
    stage_open(g, s);
    play_through(g, s);
}

static void play_scene(const char *text)
{
    struct scene s = {0};
    struct stage whole = {0}, slow = {0};
    scene_open(&s, text);
    play_whole(&whole, &s);
    const char *before = "";
    printf("{\"left out\": [");
    for (size_t i = 0; i < s.n; i++)
        if (s.line[i].left_out) {
            printf("%s%zu", before, i);
            before = ", ";
        }
    puts("]}");
    stage_open(&slow, &s);
    play_slowly(&slow, &s, strbuf_text(&whole.told));
    bool same = strcmp(strbuf_text(&whole.told), strbuf_text(&slow.told)) == 0;
    printf("{\"over\": true, \"same\": %s}\n", same ? "true" : "false");
    fflush(stdout);
    stage_close(&whole);
    stage_close(&slow);
    scene_close(&s);
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0)
        play_scene(line);
    free(line);
    return 0;
}
