/* berth sim --scenario: the run. */
#include "cli/sim_scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "cli/sim_config.h"
#include "cli/sim_jobs.h"
#include "cli/sim_plot.h"
#include "cli/sim_what_if.h"
#include "cli/verb.h"
#include "report/outfile.h"
#include "report/report.h"
#include "sim/queues.h"
#include "sim/swf.h"

struct scene {
    const struct sim_options *options;
    struct sim_stage stage;
    struct scenario *scenario;
    struct trace trace;
    struct decisions decisions;
    struct sharing *sharing;                 /* for JSON and the picture */
    struct outfile *decided, *saved, *drawn; /* NULL: none, or already written */
    struct play *play;
};

static void tell_unmet(void *arg, const char *text)
{
    berth_error_t line; /* one clean line */
    (void)arg;
    errtext_set(&line, 0, "%s", text);
    fprintf(stderr, "%s\n", line.text);
}

static void write_decisions(void *arg, const char *bytes, size_t n)
{
    outfile_write(arg, bytes, n);
}

static void print_decisions(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    fwrite(bytes, 1, n, stdout);
}

/* Open a file to write, unless it is one of the inputs. */
static int open_output(const struct sim_options *o, const char *option, const char *path,
                       struct outfile **out, berth_error_t *err)
{
    *out = outfile_open(path, err);
    if (!*out)
        return CLI_FAILED;
    const char *what = sim_replaced(*out, o);
    return what ? cli_usage("sim", "--%s: '%.60s' is the %s", option, path, what) : CLI_OK;
}

static int open_outputs(struct scene *s, berth_error_t *err)
{
    const struct sim_options *o = s->options;
    int status = CLI_OK;
    if (o->decisions && !sim_is_output(o->decisions))
        status = open_output(o, "decisions", o->decisions, &s->decided, err);
    if (status == CLI_OK && o->save)
        status = open_output(o, "save", o->save, &s->saved, err);
    if (status == CLI_OK && o->plot_path)
        status = open_output(o, "plot", o->plot_path, &s->drawn, err);
    if (status != CLI_OK)
        return status;
    const char *decided = s->decided ? outfile_target(s->decided) : NULL;
    const char *saved = s->saved ? outfile_target(s->saved) : NULL;
    if ((decided && saved && strcmp(decided, saved) == 0) ||
        (sim_is_output(o->decisions) && sim_is_output(o->save)))
        return cli_usage("sim", "--decisions and --save are the same file, '%.60s'", o->save);
    if (o->decisions) {
        s->decisions.write = sim_is_output(o->decisions) ? print_decisions : write_decisions;
        s->decisions.arg = s->decided;
        s->stage.options.decisions = &s->decisions;
    }
    return CLI_OK;
}

/* Load the state from a file. */
static int load_state(struct scene *s, berth_error_t *err)
{
    const char *path = s->options->load;
    json_error_t why;
    json_t *state = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (!state && why.line < 0)
        return errtext_set(err, EINVAL, "%s", why.text);
    if (!state)
        return errtext_set(err, EINVAL, "%s:%d:%d: %s", path, why.line, why.column, why.text);
    s->play = play_load(&s->stage.options, state, path, err);
    json_decref(state);
    return s->play ? 0 : -1;
}

/* The jobs that are submitted beside the scenario's. */
static int load_trace(struct scene *s, berth_error_t *err)
{
    const struct sim_options *o = s->options;
    struct swf_options swf = {.exact = o->exact, .limit = o->limit, .who = true};
    swf.procs = queues_procs(s->stage.config, s->stage.machine, err);
    if (swf.procs < 0 || swf_read(o->trace, &swf, &s->trace, err) < 0)
        return -1;
    s->stage.options.trace = &s->trace;
    return 0;
}

static int open_all(struct scene *s, berth_error_t *err)
{
    const struct sim_options *o = s->options;
    s->stage.options.unmet = tell_unmet;
    if ((o->json || o->plot_path) && !(s->sharing = sharing_create()))
        return errtext_no_memory(err);
    s->stage.options.sharing = s->sharing;
    s->stage.options.keeps_runs = o->plot_path != NULL;
    if (sim_stage_open(&s->stage, o, err) < 0)
        return -1;
    if (o->trace && load_trace(s, err) < 0)
        return -1;
    if (o->load ? load_state(s, err) < 0 : !(s->play = play_create(&s->stage.options, err)))
        return -1;
    if (!o->scenario)
        return 0;
    s->scenario = scenario_open(o->scenario, err);
    if (s->scenario && o->load)
        scenario_begin_at(s->scenario, play_now(s->play));
    return s->scenario ? 0 : -1;
}

static int dump(const char *bytes, size_t n, void *out)
{
    outfile_write(out, bytes, n);
    return 0;
}

static void write_scene_text(struct outfile *out, const char *text)
{
    outfile_write(out, text, strlen(text));
}

/* Write a value of the state, each element of a list on its own line. Returns 0, or -1 with ENOMEM. */
static int write_state_value(struct outfile *out, const json_t *value)
{
    size_t i;
    const json_t *element;
    if (!json_is_array(value))
        return json_dump_callback(value, dump, out, JSON_ENCODE_ANY);
    write_scene_text(out, "[");
    json_array_foreach (value, i, element) {
        write_scene_text(out, i > 0 ? ",\n  " : "\n  ");
        if (json_dump_callback(element, dump, out, 0) < 0)
            return -1;
    }
    write_scene_text(out, "]");
    return 0;
}

static int write_state(struct scene *s, berth_error_t *err)
{
    const char *key, *before = "{";
    json_t *value, *state = play_save(s->play, err);
    int rc = 0;
    if (!state)
        return -1;
    json_object_foreach (state, key, value) {
        write_scene_text(s->saved, before);
        write_scene_text(s->saved, "\"");
        write_scene_text(s->saved, key);
        write_scene_text(s->saved, "\": ");
        rc = rc < 0 ? rc : write_state_value(s->saved, value);
        before = ",\n ";
    }
    write_scene_text(s->saved, "}\n");
    json_decref(state);
    int closed = outfile_close(s->saved, rc == 0, err);
    s->saved = NULL;
    return rc < 0 ? errtext_set(err, ENOMEM, "out of memory for the state") : closed;
}

static int ask_what_if(struct scene *s, berth_error_t *err)
{
    json_t *state = play_save(s->play, err);
    int rc = state ? sim_what_if(s->options, state, err) : -1;
    json_decref(state);
    return rc;
}

static int print_scene_jobs(struct scene *s, berth_error_t *err)
{
    const struct sim_options *o = s->options;
    const char *path = o->scenario ? o->scenario : o->load;
    bool is_taken =
        sim_is_output(o->decisions) || sim_is_output(o->save) || sim_is_output(o->plot_path);
    struct outfile *drawn = s->drawn;
    const struct sharing *sharing = s->sharing && s->sharing->n > 0 ? s->sharing : NULL;
    if (is_taken && !drawn)
        return 0;
    char *name = report_clean_text(strcmp(path, "-") == 0 ? "standard input" : path);
    if (!name)
        return errtext_no_memory(err);
    s->drawn = NULL;
    int rc = drawn ? sim_plot(s->play, s->stage.machine, sharing, name, drawn, err) : 0;
    if (rc == 0 && !is_taken)
        rc = sim_jobs_print(s->play, name, sharing, o->json, err);
    free(name);
    return rc;
}

static int play(struct scene *s, berth_error_t *err)
{
    const struct sim_options *o = s->options;
    enum driver_end end = o->stops             ? DRIVER_TO_TIME
                          : o->save || o->asks ? DRIVER_TO_EVENTS
                                               : DRIVER_TO_END;
    if (o->stops && o->until < play_now(s->play))
        return errtext_set(err, EINVAL, "--until: the state of %s is of a later time", o->load);
    if (play_run(s->play, s->scenario, end, o->until, err) < 0)
        return -1;
    if (s->decisions.failed)
        return errtext_no_memory(err);
    if (s->decided) {
        int rc = outfile_close(s->decided, true, err);
        s->decided = NULL;
        if (rc < 0)
            return -1;
    }
    if (s->saved && write_state(s, err) < 0)
        return -1;
    return o->asks ? ask_what_if(s, err) : print_scene_jobs(s, err);
}

int sim_scenario(const struct sim_options *options)
{
    struct scene s = {.options = options};
    berth_error_t err = {""};
    int status = open_outputs(&s, &err);
    if (status == CLI_OK && (open_all(&s, &err) < 0 || play(&s, &err) < 0))
        status = CLI_FAILED;
    if (status == CLI_FAILED)
        fprintf(stderr, "berth sim: %s\n", err.text);
    else if (status == CLI_OK && play_unmet(s.play) > 0)
        status = CLI_FAILED;
    outfile_close(s.decided, false, NULL);
    outfile_close(s.saved, false, NULL);
    outfile_close(s.drawn, false, NULL);
    scenario_close(s.scenario);
    play_destroy(s.play);
    trace_clear(&s.trace);
    decisions_clear(&s.decisions);
    sharing_destroy(s.sharing);
    sim_stage_close(&s.stage);
    return status;
}
