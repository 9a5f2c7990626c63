#include "config/machine_open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "config/file_text.h"
#include "config/hwloc_load.h"
#include "config/local.h"
#include "resource/graph.h"

/* A file's path, to free, or NULL with ENOMEM. */
static char *path_of(const char *file, const char *config_path)
{
    const char *slash = strrchr(config_path, '/');
    char *path;
    int folder = *file == '/' || !slash ? 0 : (int)(slash + 1 - config_path);

    if (asprintf(&path, "%.*s%s", folder, config_path, file) >= 0)
        return path;
    errno = ENOMEM;
    return NULL;
}

resource_graph_t *config_graph_read(const char *format, const char *path, const char *allow,
                                    berth_error_t *err)
{
    struct text text = {0};
    resource_graph_t *graph = NULL;

    if (text_read(&text, path, GRAPH_TEXT_MAX) < 0)
        errtext_set(err, errno, "%s", strerror(errno));
    else if (strcmp(format, "hwloc") == 0)
        graph = hwloc_graph(text.bytes, text.length, allow, err);
    else
        graph = resource_graph_read(format, text.bytes, text.length, err);
    text_clear(&text);
    return graph;
}

static match_t *load_machine(const struct config *config, const char *path, berth_error_t *err)
{
    const struct config_resources *resources = &config->resources;
    resource_graph_t *graph = NULL;

    if (resources->source == CONFIG_FILE)
        graph = config_graph_read(resources->format, path, NULL, err);
    else if (resources->source == CONFIG_LOCAL)
        graph = local_graph(err);
    else
        graph = config_make_nodes(resources, err); /* of Slurm's none yet: berthd learns of them */
    match_options_t options = config->match;
    options.end = MATCH_END_MAX; /* room for jobs of unknown end, whatever the time is */
    if (graph && config_add_licenses(graph, config, err) < 0) {
        resource_graph_destroy(graph);
        return NULL;
    }
    return graph ? match_create(graph, &options, err) : NULL;
}

match_t *config_machine_open(const struct config *config, const char *config_path,
                             berth_error_t *err)
{
    const char *file = config->resources.source == CONFIG_FILE ? config->resources.file : NULL;
    char *path = file ? path_of(file, config_path) : NULL;
    berth_error_t why = {""};
    match_t *machine = NULL;

    if (file && !path)
        errtext_no_memory(&why);
    else
        machine = load_machine(config, path, &why);
    int saved = errno;
    if (!machine) {
        errtext_set(err, saved, "%s: %s", path ? path : "resources", why.text);
    }
    free(path);
    errno = saved;
    return machine;
}

/* The bytes in a unit of a type of pools; 0: there are none. */
static int64_t unit_of_pools(const match_t *machine, const char *type)
{
    const struct graph *g = match_graph(machine);
    for (uint32_t v = 0; v < g->n; v++) {
        if (strcmp(intern_text(&g->types, g->v[v].type), type) != 0)
            continue;
        const char *unit = intern_text(&g->names, g->v[v].unit);
        static const struct {
            const char *name;
            int shift;
        } units[] = {{"KiB", 10}, {"KB", 10}, {"MiB", 20}, {"MB", 20}, {"TiB", 40}, {"TB", 40}};
        for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
            if (strcmp(unit, units[i].name) == 0)
                return INT64_C(1) << units[i].shift;
        return INT64_C(1) << 30;
    }
    return 0;
}

int64_t config_memory_unit(const match_t *machine)
{
    return unit_of_pools(machine, "memory");
}

int64_t config_gpu_memory_unit(const match_t *machine)
{
    return unit_of_pools(machine, "gpu-memory");
}
