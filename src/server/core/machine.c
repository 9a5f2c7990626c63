/* The machine and its queues: from the configuration, and as changed by administrators since. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "config/file_text.h"
#include "config/machine_open.h"
#include "resource/graph.h"
#include "server/core/machine.h"
#include "server/core/pilots.h"
#include "server/core/priv.h"
#include "server/core/shares_kept.h"

/* The configuration where there is no file. */
static struct config *default_config(berth_error_t *err)
{
    static const char text[] = "resources: local\n"
                               "match: {policy: low}\n";
    return config_read("config", text, sizeof(text) - 1, SERVER_SECOND, err);
}

/* path NULL: there is no file. */
static struct config *read_config(const char *path, berth_error_t *err)
{
    struct text text = {0};
    struct config *config = NULL;
    if (!path)
        return default_config(err);
    if (text_read(&text, path, CONFIG_TEXT_MAX) < 0)
        errtext_set(err, errno, "%s: %s", path, strerror(errno));
    else
        config = config_read(path, text.bytes, text.length, SERVER_SECOND, err);
    int saved = errno;
    text_clear(&text);
    errno = saved;
    return config;
}

static match_t *machine_make(const server_t *s, berth_error_t *err)
{
    if (s->platform.machine)
        return s->platform.machine(s->platform.context, s->config, s->config_path, err);
    if (s->config->resources.source != CONFIG_NODES) {
        errtext_set(err, ENOENT, "resources: support for hwloc is not installed");
        return NULL;
    }
    match_options_t options = s->config->match;
    options.end = MATCH_END_MAX;
    resource_graph_t *graph = config_make_nodes(&s->config->resources, err);
    if (graph && config_add_licenses(graph, s->config, err) < 0) {
        resource_graph_destroy(graph);
        return NULL;
    }
    return graph ? match_create(graph, &options, err) : NULL;
}

static bool has_type(const struct graph *g, uint32_t v, const char *type)
{
    return strcmp(intern_text(&g->types, g->v[v].type), type) == 0;
}

int64_t machine_memory_unit(const server_t *s)
{
    int64_t unit = s->memory_unit; /* nodes are attached without one */
    bool is_lent = s->config->resources.source == CONFIG_SLURM || server_has_pilots(s);
    return unit > 0 ? unit : is_lent ? INT64_C(1) << 20 : 0;
}

/* Count the cores of the machine and of its largest node, and see whether there is a GPU. */
int machine_measure(server_t *s, berth_error_t *err)
{
    const struct graph *g = match_graph(s->machine);
    uint32_t *cores = calloc(g->n + 1, sizeof(*cores));
    if (!cores)
        return errtext_no_memory(err);
    s->size = (struct machine_size){.memory_unit = machine_memory_unit(s),
                                    .gpu_memory_unit = config_gpu_memory_unit(s->machine)};
    for (uint32_t v = 0; v < g->n; v++) {
        if (g->v[v].gone)
            continue;
        s->size.has_gpus |= has_type(g, v, "gpu");
        if (!has_type(g, v, "core"))
            continue;
        uint32_t at = v;
        while (at != VERTEX_NONE && !has_type(g, at, "node"))
            at = graph_parent(g, at, GRAPH_CONTAINMENT);
        s->size.cores += !graph_is_spare(g, v);
        if (at != VERTEX_NONE && ++cores[at] > s->size.node_cores)
            s->size.node_cores = cores[at];
    }
    free(cores);
    return 0;
}

int64_t machine_processes(const server_t *s, int64_t cores)
{
    int64_t each = s->config->server.processes_per_core, all;
    if (cores < 1)
        cores = 1;
    if (each == SCHED_UNLIMITED || (each == 0 && s->platform.processes == 0))
        return 0;
    if (each == 0) /* half of the system's limit, for all jobs together */
        each = s->platform.processes / 2 / (s->size.cores > 0 ? s->size.cores : 1);
    if (each == 0)
        return cores;
    return __builtin_mul_overflow(each, cores, &all) ? 0 : all;
}

static int load_settings(server_t *s, berth_error_t *err)
{
    const char *text;
    if (store_get(s->store, "settings", &text, err) < 0)
        return -1;
    s->settings = text ? json_loads(text, 0, NULL) : json_object();
    if (!json_is_object(s->settings)) {
        server_notice(s,
                      "the stored settings of queues and resources are malformed and were dropped: "
                      "check both");
        json_decref(s->settings);
        s->settings = json_object();
    }
    if (!s->settings)
        return errtext_no_memory(err);
    blocks_load_offset(s);
    return 0;
}

static enum resource_status status_from_word(const char *word)
{
    if (word && strcmp(word, "down") == 0)
        return RESOURCE_DOWN;
    return word && strcmp(word, "drained") == 0 ? RESOURCE_DRAINED : RESOURCE_UP;
}

/* Administrators' changes, in a new scheduler. */
static void settings_apply(server_t *s, sched_t *sched)
{
    json_t *value;
    size_t i;
    berth_error_t why;
    for (i = 0; i < s->config->sched.n_queues; i++) {
        bool enabled, started;
        const char *name = s->config->sched.queues[i].name;
        settings_of_queue(s, name, &enabled, &started);
        if (!enabled || !started)
            sched_queue_set(sched, s->clock.now, name, enabled, started, NULL);
    }
    json_array_foreach (json_object_get(s->settings, "resources"), i, value) {
        const char *what = json_string_value(json_object_get(value, "resources"));
        enum resource_status status =
            status_from_word(json_string_value(json_object_get(value, "status")));
        if (what && sched_set_status(sched, s->clock.now, what, status, &why) < 0)
            server_notice(s, "cannot restore the status of resources %s: %s", what, why.text);
    }
}

int machine_open(server_t *s, berth_error_t *err)
{
    if (load_settings(s, err) < 0)
        return -1;
    s->config = read_config(s->config_path, err);
    if (s->config)
        blocks_shift(s->config, s->block_offset);
    s->machine = s->config ? machine_make(s, err) : NULL;
    if (!s->machine)
        return -1;
    s->memory_unit = config_memory_unit(s->machine);
    if (config_check_types(s->config, s->machine, s->config_path, err) < 0 ||
        machine_measure(s, err) < 0)
        return -1;
    if (gpu_names_collect(&s->gpu_names, match_graph(s->machine)) < 0)
        return errtext_no_memory(err);
    struct class_overlay classes;
    if (class_overlay_make(s, &s->config->sched, &classes, err) < 0)
        return -1;
    s->sched = sched_create(s->machine, &classes.sched, err);
    int saved = errno;
    class_overlay_clear(&classes);
    errno = saved;
    if (!s->sched)
        return -1;
    pilots_attach(s);
    settings_apply(s, s->sched);
    settings_apply_blocks(s, s->sched);
    return 0;
}

static bool equal_texts(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_resources(const struct config_resources *a, const struct config_resources *b)
{
    if (a->source != b->source)
        return false;
    if (a->source == CONFIG_FILE)
        return equal_texts(a->file, b->file) && equal_texts(a->format, b->format);
    return a->source == CONFIG_LOCAL ||
           (a->nodes == b->nodes && a->cores == b->cores && a->gpus == b->gpus &&
            a->memory == b->memory && a->gpu_memory == b->gpu_memory);
}

static bool same_licenses(const struct config *a, const struct config *b)
{
    bool same = a->n_licenses == b->n_licenses;
    for (size_t i = 0; same && i < a->n_licenses; i++)
        same = strcmp(a->licenses[i].name, b->licenses[i].name) == 0 &&
               a->licenses[i].count == b->licenses[i].count;
    return same;
}

/* Apply another configuration, and take ownership of it on success. */
static int change_config(server_t *s, struct config *config, const char *path, berth_error_t *err)
{
    int64_t offset = blocks_offset(s);
    blocks_shift(config, offset);
    if (!same_resources(&config->resources, &s->config->resources))
        return errtext_set(err, EINVAL,
                           "key \"resources\": cannot replace the machine while the server runs: "
                           "restart the server");
    if (!equal_texts(config->slurm.partition, s->config->slurm.partition) ||
        !equal_texts(config->slurm.options, s->config->slurm.options))
        return errtext_set(err, EINVAL,
                           "key \"engine\": cannot be changed while the server runs: restart the "
                           "server");
    if (!same_licenses(config, s->config))
        return errtext_set(err, EINVAL,
                           "key \"licenses\": cannot be changed while the server runs: restart the "
                           "server");
    if (config_check_types(config, s->machine, path, err) < 0 ||
        settings_check_blocks(s, config, err) < 0)
        return -1;
    if (classes_configure(s, &config->sched, err) < 0)
        return -1;
    config_destroy(s->config);
    s->config = config;
    bool was_set = offset != s->block_offset;
    blocks_set_offset(s, offset);
    settings_retry_blocks(s, was_set);
    shares_renumbered(s);
    return 0;
}

int machine_follow_clock(server_t *s)
{
    struct sched_config *sched = &s->config->sched;
    int64_t offset = blocks_offset(s), by = offset - s->block_offset;
    if (by == 0)
        return 0;
    blocks_shift(s->config, by);
    if (sched->n_blocks > 0 && classes_configure(s, sched, NULL) < 0) {
        blocks_shift(s->config, -by);
        return -1;
    }
    blocks_set_offset(s, offset);
    settings_retry_blocks(s, true);
    return 0;
}

/* The configuration in the server's directory, or elsewhere, which may be newer than the server; NULL: there is none. */
static char *default_config_path(const server_t *s)
{
    char *path = NULL;
    if (s->platform.vfs || asprintf(&path, "%s/berth.yaml", s->directory) < 0)
        return NULL;
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    const char *other = s->options.config_elsewhere;
    return other && access(other, F_OK) == 0 ? strdup(other) : NULL;
}

int machine_reload(server_t *s, berth_error_t *err)
{
    char *found = s->config_path ? NULL : default_config_path(s);
    const char *path = found ? found : s->config_path;
    struct config *config = read_config(path, err);
    if (!config || change_config(s, config, path, err) < 0) {
        int saved = errno;
        config_destroy(config);
        free(found);
        errno = saved;
        return -1;
    }
    if (found)
        s->options.config = s->config_path = found;
    return 0;
}

const struct sched_queue_config *machine_queue(const server_t *s, const char *name)
{
    const struct sched_config *sched = &s->config->sched;
    for (size_t i = 0; name && i < sched->n_queues; i++)
        if (strcmp(sched->queues[i].name, name) == 0)
            return &sched->queues[i];
    return NULL;
}

/* A member of the settings, created if need be. */
static json_t *settings_part(server_t *s, const char *name, json_t *(*make)(void))
{
    json_t *found = json_object_get(s->settings, name);
    if (found)
        return found;
    if (json_object_set_new(s->settings, name, make()) < 0)
        return NULL;
    return json_object_get(s->settings, name);
}

void settings_note_change(server_t *s)
{
    s->unsaved.settings = s->unsaved.urgent = true;
}

int settings_queue(server_t *s, const char *queue, bool enabled, bool started)
{
    json_t *queues = settings_part(s, "queues", json_object);
    if (!queues ||
        json_object_set_new(queues, queue,
                            json_pack("{s:b, s:b}", "enabled", enabled, "started", started)) < 0) {
        errno = ENOMEM;
        return -1;
    }
    settings_note_change(s);
    return 0;
}

/* Only the last change of the same resources is kept. */
int settings_resources(server_t *s, const char *resources, const char *status, const char *reason)
{
    json_t *list = settings_part(s, "resources", json_array), *value;
    size_t i;
    if (!list) {
        errno = ENOMEM;
        return -1;
    }
    json_array_foreach (list, i, value) {
        const char *what = json_string_value(json_object_get(value, "resources"));
        if (what && strcmp(what, resources) == 0) {
            json_array_remove(list, i);
            break;
        }
    }
    json_t *entry = json_pack("{s:s, s:s, s:s?, s:I}", "resources", resources, "status", status,
                              "reason", reason, "since", (json_int_t)s->clock.wall);
    if (json_array_append_new(list, entry) < 0) {
        errno = ENOMEM;
        return -1;
    }
    settings_note_change(s);
    return 0;
}

void settings_of_queue(const server_t *s, const char *queue, bool *enabled, bool *started)
{
    const json_t *q = json_object_get(json_object_get(s->settings, "queues"), queue);
    *enabled = !json_is_false(json_object_get(q, "enabled"));
    *started = !json_is_false(json_object_get(q, "started"));
}
