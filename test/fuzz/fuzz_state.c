/* Any bytes are a state that a scheduler can take up and play on from, or an error of one line.
 *
 * What was taken up is saved again, and that must be taken up too, to the same text.
 */
#include <errno.h>
#include <string.h>

#include "config/config.h"
#include "config/seconds.h"
#include "fuzz.h"
#include "sim/play.h"

static const char configuration[] = "resources: {nodes: 3, cores: 2}\n"
                                    "match: {policy: low}\n"
                                    "default-queue: batch\n"
                                    "queues:\n"
                                    "  batch: {policy: easy}\n"
                                    "  low: {policy: fcfs, preemptible: requeue}\n";

static match_t *machine(const struct config *config)
{
    match_options_t options = config->match;
    options.end = MATCH_END * SECONDS_TICKS;
    resource_graph_t *graph = config_make_nodes(&config->resources, NULL);
    match_t *m = graph ? match_create(graph, &options, NULL) : NULL;
    FUZZ_CHECK(m);
    return m;
}

/* Take a state up and give its text as it is saved again; NULL if it isn't one. */
static char *take_up(json_t *state, const struct config *config, bool play_on)
{
    struct play_options options = {.config = config, .machine = machine(config)};
    berth_error_t err = {""};
    char *text = NULL;
    struct play *p = play_load(&options, state, "fuzz", &err);
    if (!p) {
        FUZZ_CHECK(errno != 0 && *err.text && !strchr(err.text, '\n'));
    } else {
        json_t *saved = play_save(p, &err);
        FUZZ_CHECK(saved);
        text = json_dumps(saved, 0);
        json_decref(saved);
        if (play_on && play_now(p) < SECONDS_MAX * SECONDS_TICKS)
            play_run(p, NULL, DRIVER_TO_TIME, play_now(p) + 100000 * SECONDS_TICKS, &err);
    }
    play_destroy(p);
    match_destroy(options.machine);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *state = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (!state)
        return 0;
    struct config *config =
        config_read("c", configuration, strlen(configuration), SECONDS_TICKS, NULL);
    FUZZ_CHECK(config);
    char *once = take_up(state, config, true);
    json_decref(state);
    if (once) {
        state = json_loads(once, 0, NULL);
        char *twice = take_up(state, config, false);
        FUZZ_CHECK(twice && strcmp(once, twice) == 0);
        json_decref(state);
        free(twice);
    }
    free(once);
    config_destroy(config);
    return 0;
}
