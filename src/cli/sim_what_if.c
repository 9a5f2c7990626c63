/* berth sim --what-if: when would jobs start, without and with some events? */
#include "cli/sim_what_if.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/json_out.h"
#include "cli/sim_config.h"
#include "cli/sim_jobs.h"
#include "config/seconds.h"

/* One way to play on from the state. */
struct branch {
    struct sim_stage stage;
    struct play *play;
};

static void branch_close(struct branch *b)
{
    play_destroy(b->play);
    sim_stage_close(&b->stage);
}

/* The events, one on each line. */
static char *events_text(const struct sim_options *o)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < o->n_what_if; i++) {
        strbuf_puts(&text, o->what_if[i]);
        strbuf_putc(&text, '\n');
    }
    return strbuf_steal(&text);
}

static int branch_play(struct branch *b, const struct sim_options *o, json_t *state,
                       const char *events, berth_error_t *err)
{
    struct scenario *scenario = NULL;
    if (sim_stage_open(&b->stage, o, err) < 0)
        return -1;
    b->play = play_load(&b->stage.options, state, "what-if", err);
    if (!b->play)
        return -1;
    if (events) {
        scenario = scenario_from_text("what-if", events, strlen(events), err);
        if (!scenario)
            return -1;
        scenario_begin_at(scenario, play_now(b->play));
    }
    int rc = play_run(b->play, scenario, DRIVER_TO_END, 0, err);
    scenario_close(scenario);
    return rc;
}

/* Whether a job waited in the state; jobs that are submitted later count as waiting. */
static bool waited(const json_t *state, size_t job)
{
    const json_t *saved = json_array_get(json_object_get(state, "jobs"), job);
    const char *was = json_string_value(json_object_get(saved, "state"));
    return !was || strcmp(was, "waiting") == 0;
}

/* The estimated start of a job that will not start any more does not count. */
static int64_t start_of(const struct play_row *row)
{
    return row->waits ? -1 : row->start;
}

/* When a job starts: without the events, if it exists then, and with them. */
struct outlook {
    struct strbuf name;
    bool has_was;
    int64_t was, would; /* -1: never */
};

static int look_ahead(struct branch *as_is, struct branch *with, size_t i, struct outlook *o)
{
    struct play_row row;
    if (play_row(with ? with->play : as_is->play, i, &row) < 0)
        return -1;
    strbuf_reset(&o->name);
    strbuf_puts(&o->name, row.name);
    o->would = start_of(&row);
    o->has_was = with && i < play_jobs(as_is->play);
    if (!o->has_was)
        return o->name.failed ? -1 : 0;
    int rc = play_row(as_is->play, i, &row);
    o->was = start_of(&row);
    return o->name.failed ? -1 : rc;
}

static void put_object(struct json_out *out, struct outlook *o, bool with)
{
    json_line(out);
    strbuf_puts(out->text, "  ");
    json_open(out, NULL, '{');
    json_put_string(out, "job", strbuf_text(&o->name));
    if (with)
        json_put_seconds(out, "start", o->has_was ? o->was : -1);
    json_put_seconds(out, with ? "what_if" : "start", o->would);
    json_close(out, '}');
}

static void put_start(struct strbuf *out, int64_t start)
{
    if (start < 0)
        strbuf_puts(out, "never");
    else
        seconds_put(out, start);
}

/* Returns 0, or -1 if memory has run out. */
static int print_cells(struct outlook *o, bool with)
{
    struct strbuf was = {0}, would = {0};
    put_start(&would, o->would);
    if (o->has_was)
        put_start(&was, o->was);
    else
        strbuf_putc(&was, '-');
    if (with)
        printf("%-24s %16s %16s\n", strbuf_text(&o->name), strbuf_text(&was), strbuf_text(&would));
    else
        printf("%-24s %16s\n", strbuf_text(&o->name), strbuf_text(&would));
    bool failed = was.failed || would.failed;
    strbuf_clear(&was);
    strbuf_clear(&would);
    return failed ? -1 : 0;
}

/* Print a row, as an object into `out`, or as cells if that is NULL. */
static int print_row(struct json_out *out, struct outlook *o, bool with)
{
    if (!out)
        return print_cells(o, with);
    put_object(out, o, with);
    return sim_print_text(out->text);
}

static int print_all(struct branch *as_is, struct branch *with, const json_t *state, bool json,
                     berth_error_t *err)
{
    struct play *p = with ? with->play : as_is->play;
    struct outlook o = {0};
    struct strbuf text = {0};
    struct json_out out = {.text = &text, .spaced = true};
    int rc = 0;
    if (json)
        printf("{\"jobs\": [");
    else
        printf(with ? "%-24s %16s %16s\n" : "%-24s %16s\n", "job", "start", "what if");
    for (size_t i = 0; i < play_jobs(p) && rc == 0; i++) {
        if (!waited(state, i))
            continue;
        rc = look_ahead(as_is, with, i, &o);
        if (rc == 0)
            rc = print_row(json ? &out : NULL, &o, with != NULL);
    }
    if (json && rc == 0)
        puts(out.has_value ? "\n]}" : "]}");
    strbuf_clear(&o.name);
    strbuf_clear(&text);
    return rc < 0 ? errtext_no_memory(err) : 0;
}

int sim_what_if(const struct sim_options *o, json_t *state, berth_error_t *err)
{
    struct branch as_is = {0}, with = {0};
    char *events = o->n_what_if > 0 ? events_text(o) : NULL;
    int rc = o->n_what_if > 0 && !events ? errtext_no_memory(err) : 0;
    if (rc == 0)
        rc = branch_play(&as_is, o, state, NULL, err);
    if (rc == 0 && events)
        rc = branch_play(&with, o, state, events, err);
    if (rc == 0)
        rc = print_all(&as_is, events ? &with : NULL, state, o->json, err);
    branch_close(&as_is);
    branch_close(&with);
    free(events);
    return rc;
}
