/* The attributes of a jobspec: the system attributes that a scheduler reads; all others may be anything. */
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

/* The value of a key, or DOC_NONE. */
static uint32_t key_value(const struct doc *d, uint32_t i, const char *name)
{
    if (d->node[i].kind == DOC_MAPPING) {
        for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
            if (doc_is(d, key, name))
                return key + 1;
        }
    }
    return DOC_NONE;
}

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

static int build_seconds(struct build *b, uint32_t i, const char *key, double *to)
{
    double seconds;
    if (!doc_is_text(b->doc, i) || !number_double(doc_text(b->doc, i), &seconds) || !(seconds >= 0))
        return doc_expected(b->doc, i, key, "a number of seconds, at least 0");
    *to = seconds;
    return 0;
}

static int build_preemptible_after(struct build *b, uint32_t i)
{
    return build_seconds(b, i, "preemptible-after", &b->spec->preemptible_after);
}

static int build_sla_waiting_time(struct build *b, uint32_t i)
{
    return build_seconds(b, i, "sla-waiting-time", &b->spec->sla_waiting_time);
}

static int build_queue(struct build *b, uint32_t i)
{
    return build_string(b, i, "queue", &b->spec->queue);
}

static int build_account(struct build *b, uint32_t i)
{
    return build_string(b, i, "account", &b->spec->account);
}

static int build_cwd(struct build *b, uint32_t i)
{
    return build_string(b, i, "cwd", &b->spec->cwd);
}

static int build_environment(struct build *b, uint32_t i)
{
    return environment_build(b, i, &b->spec->environment, &b->spec->nenvironment);
}

static void dependencies_need(struct need *need, const struct doc *d, uint32_t i)
{
    need_array(need, d->node[i].count, sizeof(struct jobspec_dependency));
    need_text(need, d, i);
}

/* One of them. Keys beside scheme and value are the scheme's affair. */
static int build_dependency(struct build *b, uint32_t i, struct jobspec_dependency *to)
{
    const struct doc *d = b->doc;
    if (d->node[i].kind != DOC_MAPPING)
        return doc_expected(d, i, "dependencies", "a mapping with scheme and value");
    uint32_t scheme = key_value(d, i, "scheme");
    uint32_t value = key_value(d, i, "value");
    if (scheme == DOC_NONE || value == DOC_NONE)
        return doc_fault(d, i, "key \"%s\": expected in a dependency, is missing",
                         scheme == DOC_NONE ? "scheme" : "value");
    if (build_string(b, scheme, "scheme", &to->scheme) < 0)
        return -1;
    return build_string(b, value, "value", &to->value);
}

static int build_dependencies(struct build *b, uint32_t list)
{
    const struct doc *d = b->doc;
    if (d->node[list].kind != DOC_LIST)
        return doc_expected(d, list, "dependencies", "a list of mappings with scheme and value");
    struct jobspec_dependency *to = build_array(b, d->node[list].count, sizeof(*to));
    uint32_t n = 0;
    for (uint32_t i = list + 1; i < d->node[list].end; i = d->node[i].end) {
        if (build_dependency(b, i, &to[n++]) < 0)
            return -1;
    }
    b->spec->dependencies = to;
    b->spec->ndependencies = n;
    return 0;
}

static const struct system_key system_keys[] = {
    {"duration", no_need, build_duration},
    {"queue", need_text, build_queue},
    {"account", need_text, build_account},
    {"cwd", need_text, build_cwd},
    {"environment", environment_need, build_environment},
    {"constraints", constraints_need, constraints_build},
    {"preemptible-after", no_need, build_preemptible_after},
    {"sla-waiting-time", no_need, build_sla_waiting_time},
    {"dependencies", dependencies_need, build_dependencies},
    {"gang", gang_need, gang_build},
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

void attributes_need(struct need *need, const struct doc *d, uint32_t i)
{
    uint32_t system = key_value(d, i, "system");
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
