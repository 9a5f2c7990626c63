#include "cli/sim_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errtext.h"
#include "config/file_text.h"
#include "config/machine_open.h"
#include "config/seconds.h"
#include "report/report.h"
#include "sim/simulate.h"

struct config *sim_config_read(const char *path, int64_t second, berth_error_t *err)
{
    struct text text = {0};
    struct config *config = NULL;
    if (text_read(&text, path, CONFIG_TEXT_MAX) < 0)
        errtext_set(err, errno, "%s: %s", path, strerror(errno));
    else
        config = config_read(path, text.bytes, text.length, second, err);
    text_clear(&text);
    if (config && config->resources.source == CONFIG_SLURM) {
        config_destroy(config);
        config = NULL;
        errtext_set(err, EINVAL,
                    "%s: key \"engine\": expected resources instead: a simulation does not ask "
                    "Slurm for its nodes",
                    path);
    }
    return config;
}

match_t *sim_machine_load(const struct sim_options *o, int64_t *procs, berth_error_t *err)
{
    berth_error_t why = {""};
    match_options_t options = {.policy = o->match_policy};
    resource_graph_t *graph = config_graph_read(o->machine_format, o->machine, NULL, &why);
    match_t *machine = graph ? match_create(graph, &options, &why) : NULL;
    *procs = machine ? simulate_procs(machine, &why) : -1;
    if (*procs > 0)
        return machine;
    int errnum = errno;
    match_destroy(machine);
    char *name = report_clean_text(o->machine);
    errtext_set(err, errnum, "%s: %s", name ? name : "machine", why.text);
    free(name);
    errno = errnum;
    return NULL;
}

/* Whether a path is that of a file; "-" may be standard input. */
static bool is_file(const struct stat *file, const char *path, bool may_be_stdin)
{
    struct stat in;
    if (!path)
        return false;
    int rc = may_be_stdin && strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &in) : stat(path, &in);
    return rc == 0 && in.st_dev == file->st_dev && in.st_ino == file->st_ino;
}

const char *sim_replaced(const struct outfile *out, const struct sim_options *o)
{
    struct stat old;
    const char *target = outfile_target(out);
    if (!target || stat(target, &old) < 0)
        return NULL;
    return is_file(&old, o->trace, true)      ? "trace"
           : is_file(&old, o->scenario, true) ? "scenario"
           : is_file(&old, o->config, false)  ? "configuration"
           : is_file(&old, o->machine, false) ? "machine"
                                              : NULL;
}

int sim_stage_open(struct sim_stage *stage, const struct sim_options *o, berth_error_t *err)
{
    const char *slash = o->scenario ? strrchr(o->scenario, '/') : NULL;
    stage->config = sim_config_read(o->config, SECONDS_TICKS, err);
    if (!stage->config || !(stage->machine = config_machine_open(stage->config, o->config, err)) ||
        config_check_types(stage->config, stage->machine, o->config, err) < 0)
        return -1;
    if (slash && !(stage->folder = strndup(o->scenario, (size_t)(slash - o->scenario) + 1)))
        return errtext_no_memory(err);
    stage->options.config = stage->config;
    stage->options.machine = stage->machine;
    stage->options.folder = stage->folder;
    return 0;
}

void sim_stage_close(struct sim_stage *stage)
{
    match_destroy(stage->machine);
    config_destroy(stage->config);
    free(stage->folder);
    *stage = (struct sim_stage){0};
}
