/* The section about licences: tokens of the whole machine, which jobs take beside what they have of nodes. */

#include "base/errtext.h"
#include "config/read.h"
#include "jobspec/short.h"
#include "resource/graph.h"

#define LICENSES_EXPECTED "names and numbers, as in {matlab: 10}"

int read_licenses(struct reading *r, uint32_t i)
{
    const struct doc *d = &r->doc;
    struct config_license *all;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_MAPPING)
        return doc_expected(d, i, "licenses", LICENSES_EXPECTED);
    all = reading_array(r, d->node[i].count, sizeof(*all));
    if (!all)
        return -1;
    r->config->licenses = all;
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
        struct config_license *one = &all[r->config->n_licenses];
        if (value_text(r, key, "licenses", &one->name) < 0)
            return -1;
        if (!short_license_is_name(one->name))
            return doc_expected(d, key, "licenses", SHORT_LICENSE_NAME);
        if (value_number(r, key + 1, one->name, 1, SHORT_LICENSES_MAX, false, &one->count) < 0)
            return -1;
        r->config->n_licenses++;
    }
    return 0;
}

/* Add the tokens of one name as a pool beside the nodes. */
static int add_pool(struct graph *g, const struct config_license *one)
{
    char type[SHORT_LICENSE_TYPE_SIZE];
    struct vertex_spec spec = {.type = type,
                               .basename = one->name,
                               .name = one->name,
                               .id = -1,
                               .uniq_id = -1,
                               .size = one->count,
                               .rank = -1};

    short_license_type(one->name, type);
    uint32_t v = graph_add(g, &spec);
    if (v == VERTEX_NONE || graph_connect(g, g->root[GRAPH_CONTAINMENT], v, GRAPH_CONTAINMENT) < 0)
        return -1;
    g->v[v].divisible = true;
    return 0;
}

int config_add_licenses(resource_graph_t *graph, const struct config *config, berth_error_t *err)
{
    if (config->n_licenses == 0)
        return 0;
    for (size_t i = 0; i < config->n_licenses; i++)
        if (add_pool(graph, &config->licenses[i]) < 0)
            return errtext_no_memory(err);
    return graph_seal(graph) == 0 ? 0 : errtext_no_memory(err);
}
