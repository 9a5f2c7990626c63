/* Where tasks run, and what the machine is: the keys engine and resources. */
#include "config/read.h"

enum slurm_key { PARTITION, OPTIONS, SLURM_KEYS };
static const char *const slurm_names[] = {"partition", "options"};
static const struct doc_keys slurm_keys = {"the engine slurm", slurm_names, SLURM_KEYS, 0};

static const char *const engine_names[] = {"slurm"};
static const struct doc_keys engine_keys = {"the engine", engine_names, 1, 1};

static int read_slurm(struct reading *r, uint32_t i)
{
    struct config_slurm *slurm = &r->config->slurm;
    uint32_t value[SLURM_KEYS];

    if (doc_fields(&r->doc, i, &slurm_keys, value) < 0 ||
        value_name(r, value[PARTITION], "partition", &slurm->partition) < 0)
        return -1;
    return value_text(r, value[OPTIONS], "options", &slurm->options);
}

/* local, slurm, or {slurm: {...}}. With slurm the machine is Slurm's, else it must be given. */
int read_engine(struct reading *r, uint32_t i, uint32_t resources)
{
    uint32_t slurm;

    if (i == DOC_NONE || (doc_is_text(&r->doc, i) && doc_is(&r->doc, i, "local"))) {
        if (resources == DOC_NONE)
            return doc_fault(&r->doc, 0,
                             "key \"resources\": expected in a configuration, is missing");
        return read_resources(r, resources);
    }
    if (resources != DOC_NONE)
        return value_misplaced(r, resources, "resources",
                               "without engine: slurm, whose machine is Slurm's");
    r->config->resources.source = CONFIG_SLURM;
    if (doc_is_text(&r->doc, i) && doc_is(&r->doc, i, "slurm"))
        return 0;
    if (r->doc.node[i].kind != DOC_MAPPING)
        return doc_expected(&r->doc, i, "engine", "local, slurm or {slurm: ...}");
    return doc_fields(&r->doc, i, &engine_keys, &slurm) < 0 ? -1 : read_slurm(r, slurm);
}
