#include "cli/query/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/query/session.h"
#include "cli/verb.h"
#include "config/hwloc_load.h"
#include "config/machine_open.h"
#include "report/report.h"
#include "resource/graph.h"

int query_fail(const char *name, const char *why)
{
    char *clean = report_clean_text(name);
    fprintf(stderr, "berth query: %s: %s\n", clean ? clean : "?", why);
    free(clean);
    return CLI_FAILED;
}

static resource_graph_t *read_graph(const struct query_options *o, berth_error_t *err)
{
    if (o->local)
        return hwloc_graph(NULL, 0, o->allowlist, err);
    if (o->allowlist && strcmp(o->load_format, "hwloc") != 0)
        fputs("WARN: allowlist unsupported\n", stderr);
    return config_graph_read(o->load_format, o->load_file, o->allowlist, err);
}

int query_load(const struct query_options *o, match_t **ret)
{
    berth_error_t err = {""};
    const char *name = o->local ? "this machine" : o->load_file;
    resource_graph_t *graph = read_graph(o, &err);
    if (!graph)
        return query_fail(name, err.text);
    *ret = match_create(graph, &o->match, &err);
    if (*ret)
        return CLI_OK;
    if (errno == EINVAL)
        return cli_usage("query", "%s", err.text);
    return query_fail(name, err.text);
}
