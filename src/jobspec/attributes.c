/* The attributes of a jobspec: of those of the system, what a scheduler reads; all others are free.
 */
#include "jobspec/build.h"
#include "jobspec/number.h"

enum attribute_key { USER, SYSTEM, ATTRIBUTE_KEYS };
static const char *const attribute_names[] = {"user", "system"};
static const struct doc_keys attribute_keys = {"the attributes", attribute_names, ATTRIBUTE_KEYS,
                                               0};

struct system_key {
    const char *name;
    void (*need)(struct need *need, const struct doc *d, uint32_t i);
    int (*build)(struct build *b, uint32_t i);
};

static void no_need(struct need *need, const struct doc *d, uint32_t i)
{
    (void)need;
    (void)d;
    (void)i;
}

static int build_duration(struct build *b, uint32_t i)
{
    if (!doc_is_text(b->doc, i) || !number_double(doc_text(b->doc, i), &b->spec->duration))
        return doc_expected(b->doc, i, "duration", "a number of seconds");
    return 0;
}

static int build_queue(struct build *b, uint32_t i)
{
    return build_string(b, i, "queue", &b->spec->queue);
}

static int build_cwd(struct build *b, uint32_t i)
{
    return build_string(b, i, "cwd", &b->spec->cwd);
}

static int build_environment(struct build *b, uint32_t i)
{
    return environment_build(b, i, &b->spec->environment, &b->spec->nenvironment);
}

static const struct system_key system_keys[] = {
    {"duration", no_need, build_duration},
    {"queue", need_text, build_queue},
    {"cwd", need_text, build_cwd},
    {"environment", environment_need, build_environment},
    {"constraints", constraints_need, constraints_build},
    {NULL, NULL, NULL},
};

static const struct system_key *find_system_key(const struct doc *d, uint32_t key)
{
    for (const struct system_key *k = system_keys; k->name; k++) {
        if (doc_is(d, key, k->name))
            return k;
    }
    return NULL;
}

/* The value of a key, or DOC_NONE. */
static uint32_t find(const struct doc *d, uint32_t i, const char *name)
{
    if (d->node[i].kind == DOC_MAPPING) {
        for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
            if (doc_is(d, key, name))
                return key + 1;
        }
    }
    return DOC_NONE;
}

void attributes_need(struct need *need, const struct doc *d, uint32_t i)
{
    uint32_t system = find(d, i, "system");
    if (system == DOC_NONE || d->node[system].kind != DOC_MAPPING)
        return;
    for (uint32_t key = system + 1; key < d->node[system].end; key = d->node[key + 1].end) {
        const struct system_key *k = find_system_key(d, key);
        if (k)
            k->need(need, d, key + 1);
    }
}

int attributes_build(struct build *b, uint32_t i)
{
    const struct doc *d = b->doc;
    if (doc_is_null(d, i))
        return 0;
    uint32_t value[ATTRIBUTE_KEYS];
    if (doc_fields(d, i, &attribute_keys, value) < 0)
        return -1;
    uint32_t system = value[SYSTEM];
    if (system == DOC_NONE || doc_is_null(d, system))
        return 0;
    if (d->node[system].kind != DOC_MAPPING)
        return doc_expected(d, system, "system", "a mapping");
    for (uint32_t key = system + 1; key < d->node[system].end; key = d->node[key + 1].end) {
        const struct system_key *k = find_system_key(d, key);
        if (k && k->build(b, key + 1) < 0)
            return -1;
    }
    return 0;
}
