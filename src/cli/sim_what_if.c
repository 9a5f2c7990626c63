/* berth sim --what-if: when would jobs start, as it is and with some events more? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "cli/sim_scenario.h"
#include "config/seconds.h"

/* One way on from the state. */
struct branch {
    struct sim_stage stage;
    struct play *play;
};

static void branch_close(struct branch *b)
{
    play_destroy(b->play);
    sim_stage_close(&b->stage);
}

/* The events, a line each. */
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
    int rc = play_run(b->play, scenario, PLAY_TO_END, 0, err);
    scenario_close(scenario);
    return rc;
}

static void put_start(struct strbuf *out, int64_t start, const char *never)
{
    if (start < 0)
        strbuf_puts(out, never);
    else
        seconds_put(out, start);
}

/* Whether a job waited in the state; what is submitted later does too. */
static bool waited(const json_t *state, size_t job)
{
    const json_t *saved = json_array_get(json_object_get(state, "jobs"), job);
    const char *was = json_string_value(json_object_get(saved, "state"));
    return !was || strcmp(was, "waiting") == 0;
}

/* Starts that are only estimates, of jobs that will not start any more, are none. */
static int64_t start_of(const struct play_row *row)
{
    return row->waits ? -1 : row->start;
}

static int print_row(struct branch *as_is, struct branch *with, size_t i, bool json, bool first,
                     berth_error_t *err)
{
    struct play_row row;
    struct strbuf was = {0}, would = {0}, name = {0};
    const char *never = json ? "null" : "never";
    struct play *p = with ? with->play : as_is->play;
    int rc = play_row(p, i, &row);
    if (rc == 0) {
        if (json)
            strbuf_put_json(&name, row.name, strlen(row.name));
        else
            strbuf_puts(&name, row.name);
        put_start(&would, start_of(&row), never);
        if (with && i < play_jobs(as_is->play)) {
            rc = play_row(as_is->play, i, &row);
            put_start(&was, rc == 0 ? start_of(&row) : -1, never);
        } else if (with) {
            strbuf_puts(&was, json ? "null" : "-");
        }
    }
    if (json && with)
        printf("%s\n  {\"job\": %s, \"start\": %s, \"what_if\": %s}", first ? "" : ",",
               strbuf_text(&name), strbuf_text(&was), strbuf_text(&would));
    else if (json)
        printf("%s\n  {\"job\": %s, \"start\": %s}", first ? "" : ",", strbuf_text(&name),
               strbuf_text(&would));
    else if (with)
        printf("%-24s %16s %16s\n", strbuf_text(&name), strbuf_text(&was), strbuf_text(&would));
    else
        printf("%-24s %16s\n", strbuf_text(&name), strbuf_text(&would));
    bool failed = rc < 0 || was.failed || would.failed || name.failed;
    strbuf_clear(&was);
    strbuf_clear(&would);
    strbuf_clear(&name);
    return failed ? errtext_set(err, ENOMEM, "out of memory") : 0;
}

static int print_all(struct branch *as_is, struct branch *with, const json_t *state, bool json,
                     berth_error_t *err)
{
    struct play *p = with ? with->play : as_is->play;
    bool first = true;
    if (json)
        printf("{\"jobs\": [");
    else
        printf(with ? "%-24s %16s %16s\n" : "%-24s %16s\n", "job", "start", "what if");
    for (size_t i = 0; i < play_jobs(p); i++) {
        if (!waited(state, i))
            continue;
        if (print_row(as_is, with, i, json, first, err) < 0)
            return -1;
        first = false;
    }
    if (json)
        puts(first ? "]}" : "\n]}");
    return 0;
}

int sim_what_if(const struct sim_options *o, json_t *state, berth_error_t *err)
{
    struct branch as_is = {0}, with = {0};
    char *events = o->n_what_if > 0 ? events_text(o) : NULL;
    int rc = o->n_what_if > 0 && !events ? errtext_set(err, ENOMEM, "out of memory") : 0;
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
