/* Plays a scenario in one go, and cut in two at the time of each of its events: played to there, saved, and played on by
 * another player from what was saved. That is to make no difference.
 *
 * usage: cut_anywhere CONFIG EVENTS   both in the current folder
 *
 * The configuration that holds after the cut is the one that was loaded last by then. Where a play goes on another way, it
 * says at which time it was cut and which line is the first to differ; the status is then 1.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "berth/error.h"
#include "config/config.h"
#include "config/file_text.h"
#include "config/machine_open.h"
#include "config/seconds.h"
#include "sim/play.h"

struct line {
    int64_t at;
    const char *text;
};

struct scene {
    char *text;
    struct line *line;
    size_t n;
};

/* One player, with what was decided and what was expected in vain. */
struct stage {
    struct config *config;
    match_t *machine;
    struct decisions decisions;
    struct play_options options;
    struct play *play;
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "cut_anywhere: %s: %s\n", what, why);
    exit(1);
}

static struct text read_text(const char *path)
{
    struct text text = {0};
    if (text_read(&text, path, CONFIG_TEXT_MAX) < 0)
        die(path, strerror(errno));
    return text;
}

static int64_t time_of(const char *line)
{
    json_error_t wrong;
    json_t *event = json_loads(line, 0, &wrong), *at = json_object_get(event, "at");
    if (!json_is_number(at))
        die(line, "no time in seconds");
    int64_t ticks = llround(json_number_value(at) * (double)SECONDS_TICKS);
    json_decref(event);
    return ticks;
}

static struct scene scene_open(const char *path)
{
    struct text text = read_text(path);
    struct scene s = {.text = strndup(text.length > 0 ? text.bytes : "", text.length)};
    s.line = calloc(text.length + 1, sizeof(*s.line));
    text_clear(&text);
    if (!s.text || !s.line)
        die(path, strerror(errno));
    for (char *rest, *line = strtok_r(s.text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        if (*line == '{')
            s.line[s.n++] = (struct line){.at = time_of(line), .text = line};
    return s;
}

static void scene_close(struct scene *s)
{
    free(s->text);
    free(s->line);
}

/* The configuration that was loaded last among the first lines; `first` if there is none. To be freed. */
static char *config_after(const struct scene *s, size_t lines, const char *first)
{
    char *name = strdup(first);
    for (size_t i = 0; i < lines; i++) {
        json_error_t wrong;
        json_t *event = json_loads(s->line[i].text, 0, &wrong);
        const char *loaded = json_string_value(json_object_get(event, "config"));
        if (loaded) {
            free(name);
            name = strdup(loaded);
        }
        json_decref(event);
    }
    return name;
}

static void take(void *arg, const char *bytes, size_t n)
{
    strbuf_put(arg, bytes, n);
}

static void take_unmet(void *arg, const char *text)
{
    strbuf_puts(arg, text);
    strbuf_putc(arg, '\n');
}

/* Open all but the player. */
static void stage_open(struct stage *g, const char *path, struct strbuf *told)
{
    berth_error_t err = {""};
    struct text text = read_text(path);
    g->config = config_read(path, text.bytes, text.length, SECONDS_TICKS, &err);
    text_clear(&text);
    g->machine = g->config ? config_machine_open(g->config, path, &err) : NULL;
    if (!g->machine)
        die(path, err.text);
    g->decisions = (struct decisions){.write = take, .arg = told};
    g->options = (struct play_options){.config = g->config,
                                       .machine = g->machine,
                                       .decisions = &g->decisions,
                                       .unmet = take_unmet,
                                       .unmet_arg = told};
}

static void stage_close(struct stage *g)
{
    play_destroy(g->play);
    match_destroy(g->machine);
    config_destroy(g->config);
    decisions_clear(&g->decisions);
}

/* Play lines [from, to). */
static void play_lines(struct stage *g, const struct scene *s, size_t from, size_t to,
                       enum driver_end end, int64_t until)
{
    berth_error_t err = {""};
    struct strbuf text = {0};
    for (size_t i = from; i < to; i++) {
        strbuf_puts(&text, s->line[i].text);
        strbuf_putc(&text, '\n');
    }
    struct scenario *events = scenario_from_text("events", strbuf_text(&text), text.len, &err);
    if (!g->play || !events)
        die("a play", err.text);
    scenario_begin_at(events, play_now(g->play));
    if (play_run(g->play, events, end, until, &err) < 0)
        die("a play", err.text);
    scenario_close(events);
    strbuf_clear(&text);
}

static void play_whole(const struct scene *s, const char *config, struct strbuf *told)
{
    berth_error_t err = {""};
    struct stage g = {0};
    stage_open(&g, config, told);
    g.play = play_create(&g.options, &err);
    play_lines(&g, s, 0, s->n, DRIVER_TO_END, 0);
    stage_close(&g);
}

/* Play the first lines, and the others from what was saved then, as a text like that of a file. */
static void play_cut(const struct scene *s, const char *config, size_t lines, struct strbuf *told)
{
    berth_error_t err = {""};
    json_error_t wrong;
    int64_t at = s->line[lines - 1].at;
    struct stage before = {0}, after = {0};
    stage_open(&before, config, told);
    before.play = play_create(&before.options, &err);
    play_lines(&before, s, 0, lines, DRIVER_TO_TIME, at);
    json_t *saved = play_save(before.play, &err);
    char *text = saved ? json_dumps(saved, 0) : NULL;
    if (!text)
        die("a save", err.text);
    json_decref(saved);
    stage_close(&before);

    char *then = config_after(s, lines, config);
    stage_open(&after, then, told);
    json_t *state = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);
    after.play = state ? play_load(&after.options, state, "state", &err) : NULL;
    if (!after.play)
        die("a load", state ? err.text : wrong.text);
    play_lines(&after, s, lines, s->n, DRIVER_TO_END, 0);
    stage_close(&after);
    json_decref(state);
    free(text);
    free(then);
}

/* Say where two texts begin to differ. */
static void print_difference(const char *whole, const char *cut)
{
    size_t same = 0;
    for (size_t i = 0; whole[i] && whole[i] == cut[i]; i++)
        if (whole[i] == '\n')
            same = i + 1;
    printf("    in one go: %.*s\n", (int)strcspn(whole + same, "\n"), whole + same);
    printf("    cut:       %.*s\n", (int)strcspn(cut + same, "\n"), cut + same);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        die("usage", "cut_anywhere CONFIG EVENTS");
    struct scene s = scene_open(argv[2]);
    struct strbuf whole = {0}, cut = {0};
    int status = 0;
    play_whole(&s, argv[1], &whole);
    for (size_t lines = 1; lines <= s.n; lines++) {
        if (lines < s.n && s.line[lines].at == s.line[lines - 1].at)
            continue;
        strbuf_reset(&cut);
        play_cut(&s, argv[1], lines, &cut);
        if (strcmp(strbuf_text(&whole), strbuf_text(&cut)) == 0)
            continue;
        printf("%s with %s, saved at %g and loaded, goes on another way:\n", argv[2], argv[1],
               (double)s.line[lines - 1].at / (double)SECONDS_TICKS);
        print_difference(strbuf_text(&whole), strbuf_text(&cut));
        status = 1;
    }
    strbuf_clear(&whole);
    strbuf_clear(&cut);
    scene_close(&s);
    return status;
}
