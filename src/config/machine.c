/* The sections about the machine: resources and match. */
#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "config/read.h"
#include "match/machine/filter_spec.h"
#include "match/walk/policy.h"
#include "resource/emission.h"

enum { PER_NODE_MAX = 1000000 };

#define MEMORY_MAX     INT64_C(1000000000) /* GB of a node */
#define GPU_MEMORY_MAX INT64_C(1000000)    /* GB of a GPU */

enum resources_key {
    RESOURCES_FILE,
    FORMAT,
    NODES,
    CORES,
    GPUS,
    MEMORY,
    GPU_MEMORY,
    RESOURCES_KEYS
};
static const char *const resources_names[] = {"file", "format", "nodes",     "cores",
                                              "gpus", "memory", "gpu-memory"};
static const struct doc_keys resources_keys = {"the resources", resources_names, RESOURCES_KEYS, 0};

static bool ends(const char *name, const char *end)
{
    size_t length = strlen(name), n = strlen(end);

    return length > n && strcmp(name + length - n, end) == 0;
}

static int read_file_keys(struct reading *r, const uint32_t *value)
{
    static const char *const formats[] = {
        "grug", "jgf", "jgf_shorthand", "rv1exec", "rv1exec_force", "hwloc", NULL};
    struct config_resources *resources = &r->config->resources;
    size_t format = 0;

    resources->source = CONFIG_FILE;
    for (uint32_t k = NODES; k < RESOURCES_KEYS; k++)
        if (value[k] != DOC_NONE)
            return value_misplaced(r, value[k], resources_names[k], "with nodes, not with a file");
    if (value_text(r, value[RESOURCES_FILE], "file", &resources->file) < 0)
        return -1;
    if (ends(resources->file, ".json"))
        format = 1;
    else if (ends(resources->file, ".xml"))
        format = 5;
    if (value_word(r, value[FORMAT], "format", formats, &format) < 0)
        return -1;
    resources->format = formats[format];
    return 0;
}

static int read_nodes(struct reading *r, uint32_t i, const uint32_t *value)
{
    struct config_resources *resources = &r->config->resources;
    berth_error_t why;

    resources->source = CONFIG_NODES;
    resources->cores = 1;
    if (value[FORMAT] != DOC_NONE)
        return value_misplaced(r, value[FORMAT], "format", "with a file, not with nodes");
    if (value_number(r, value[NODES], "nodes", 1, CONFIG_VERTICES_MAX, false, &resources->nodes) <
            0 ||
        value_number(r, value[CORES], "cores", 1, PER_NODE_MAX, false, &resources->cores) < 0 ||
        value_number(r, value[GPUS], "gpus", 0, PER_NODE_MAX, false, &resources->gpus) < 0 ||
        value_number(r, value[MEMORY], "memory", 0, MEMORY_MAX, false, &resources->memory) < 0 ||
        value_number(r, value[GPU_MEMORY], "gpu-memory", 0, GPU_MEMORY_MAX, false,
                     &resources->gpu_memory) < 0)
        return -1;
    if (resources->gpu_memory > 0 && resources->gpus == 0)
        return value_misplaced(r, value[GPU_MEMORY], "gpu-memory", "with gpus beside it");
    if (config_check_nodes(resources, &why) < 0)
        return doc_fault(&r->doc, i, "key \"resources\": %s", why.text);
    return 0;
}

int read_resources(struct reading *r, uint32_t i)
{
    uint32_t value[RESOURCES_KEYS];

    if (doc_is_text(&r->doc, i) && doc_is(&r->doc, i, "local")) {
        r->config->resources.source = CONFIG_LOCAL;
        return 0;
    }
    if (r->doc.node[i].kind != DOC_MAPPING)
        return doc_expected(&r->doc, i, "resources", "local, {file: ...} or {nodes: ...}");
    if (doc_fields(&r->doc, i, &resources_keys, value) < 0)
        return -1;
    if (value[RESOURCES_FILE] != DOC_NONE)
        return read_file_keys(r, value);
    if (value[NODES] != DOC_NONE)
        return read_nodes(r, i, value);
    return doc_fault(&r->doc, i, "key \"resources\": expected the key file or nodes in it");
}

enum match_key { POLICY, TRAVERSER, FILTERS, SUBSYSTEMS, MATCH_FORMAT, MATCH_KEYS };
static const char *const match_names[] = {"policy", "traverser", "filters", "subsystems", "format"};
static const struct doc_keys match_keys = {"the matching", match_names, MATCH_KEYS, 0};

static int read_policy(struct reading *r, uint32_t i)
{
    struct policy policy;

    if (i == DOC_NONE)
        return 0;
    r->has_policy = true;
    if (doc_is_text(&r->doc, i) && policy_parse(&policy, doc_text(&r->doc, i), NULL) == 0)
        return value_text(r, i, "policy", &r->config->match.policy);
    return doc_expected(
        &r->doc, i, "policy",
        "first, firstnodex, low, high, lonode, hinode, lonodex, hinodex, locality, "
        "variation, pack, spread, balance, options such as \"policy=low node_centric=true\", or "
        "weights from 1 to 1000000 such as \"spread=1 balance=2\"");
}

static int read_filters(struct reading *r, uint32_t i)
{
    struct filter_spec spec = {0};
    int rc;

    if (i == DOC_NONE)
        return 0;
    struct graph *types = graph_create();
    if (!types)
        return errtext_no_memory(r->doc.err);
    rc = doc_is_text(&r->doc, i) ? filter_spec_parse(&spec, types, doc_text(&r->doc, i), NULL) : -1;
    bool nomem = rc < 0 && doc_is_text(&r->doc, i) && errno == ENOMEM;
    filter_spec_clear(&spec);
    graph_destroy(types);
    if (nomem)
        return errtext_no_memory(r->doc.err);
    if (rc < 0)
        return doc_expected(&r->doc, i, "filters", "pairs of types such as \"ALL:core,rack:node\"");
    return value_text(r, i, "filters", &r->config->match.filters);
}

static int read_subsystems(struct reading *r, uint32_t i)
{
    static const char *const names[] = {"CA",      "IBA",      "IBBA",     "PFS1BA", "PA",
                                        "C+IBA",   "C+IBBA",   "C+PFS1BA", "C+PA",   "IB+IBBA",
                                        "C+P+IBA", "V+PFS1BA", "VA",       "ALL",    NULL};
    size_t which = 0;

    if (value_word(r, i, "subsystems", names, &which) < 0)
        return -1;
    r->config->match.matcher = names[which];
    return 0;
}

static int read_format(struct reading *r, uint32_t i)
{
    static const char *const names[] = {"simple", "pretty_simple", "rlite",
                                        "rv1",    "rv1_nosched",   "rv1_shorthand",
                                        "jgf",    "jgf_shorthand", NULL};
    size_t which = 4;

    if (value_word(r, i, "format", names, &which) < 0)
        return -1;
    r->config->match_format = names[which];
    return 0;
}

int read_match(struct reading *r, uint32_t i)
{
    static const char *const traversers[] = {"simple", "flexible", NULL};
    uint32_t value[MATCH_KEYS];
    size_t traverser = 0;

    r->config->match = (match_options_t){
        .policy = "first", .traverser = "simple", .filters = "ALL:core,ALL:node", .matcher = "CA"};
    for (uint32_t k = 0; k < MATCH_KEYS; k++)
        value[k] = DOC_NONE;
    if ((i != DOC_NONE && doc_fields(&r->doc, i, &match_keys, value) < 0) ||
        read_policy(r, value[POLICY]) < 0 ||
        value_word(r, value[TRAVERSER], "traverser", traversers, &traverser) < 0 ||
        read_filters(r, value[FILTERS]) < 0 || read_subsystems(r, value[SUBSYSTEMS]) < 0 ||
        read_format(r, value[MATCH_FORMAT]) < 0)
        return -1;
    r->config->match.traverser = traversers[traverser];
    return 0;
}
