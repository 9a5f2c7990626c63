#include "cli/sim_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "config/file_text.h"
#include "report/report.h"
#include "sim/simulate.h"

#define MACHINE_MAX ((size_t)1 << 31) /* bytes of the file */

static resource_graph_t *read_graph(const struct sim_options *o, berth_error_t *err)
{
    struct text text = {0};
    resource_graph_t *graph = NULL;

    if (text_read(&text, o->machine, MACHINE_MAX) < 0)
        errtext_set(err, errno, "%s", strerror(errno));
    else
        graph = resource_graph_read(o->machine_format, text.bytes, text.length, err);
    int saved = errno;
    text_clear(&text);
    errno = saved;
    return graph;
}

static match_t *load(const struct sim_options *o, int64_t *procs, berth_error_t *err)
{
    match_options_t options = {.policy = o->match_policy};
    resource_graph_t *graph = read_graph(o, err);
    match_t *machine = graph ? match_create(graph, &options, err) : NULL;

    *procs = machine ? simulate_procs(machine, err) : -1;
    if (*procs > 0)
        return machine;
    match_destroy(machine);
    return NULL;
}

match_t *sim_machine_load(const struct sim_options *o, int64_t *procs, berth_error_t *err)
{
    berth_error_t why = {""};
    match_t *machine = load(o, procs, &why);

    if (machine)
        return machine;
    int errnum = errno;
    char *name = report_clean_text(o->machine);
    errtext_set(err, errnum, "%s: %s", name ? name : "machine", why.text);
    free(name);
    errno = errnum;
    return NULL;
}
