#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/resource.h"
#include "flux/fluxion/options.h"

static const struct {
    const char *key, *usual;
} known[N_RESOURCE_OPTIONS] = {
    [OPTION_LOAD_FILE] = {"load-file", NULL},
    [OPTION_LOAD_FORMAT] = {"load-format", "rv1exec"},
    [OPTION_LOAD_ALLOWLIST] = {"load-allowlist", NULL},
    [OPTION_POLICY] = {"policy", "first"},
    [OPTION_MATCH_FORMAT] = {"match-format", "rv1_nosched"},
    [OPTION_SUBSYSTEMS] = {"subsystems", "containment"},
    [OPTION_RESERVE_VTX_VEC] = {"reserve-vtx-vec", "0"},
    [OPTION_PRUNE_FILTERS] = {"prune-filters", "ALL:core,ALL:node"},
    [OPTION_UPDATE_INTERVAL] = {"update-interval", "0"},
    [OPTION_TRAVERSER] = {"traverser", "simple"},
};

#define NUMBER_MAX 2000000

static int option_of(const char *key, size_t length)
{
    if (length == strlen("match-policy") && strncmp(key, "match-policy", length) == 0)
        return OPTION_POLICY;
    for (int i = 0; i < N_RESOURCE_OPTIONS; i++)
        if (strlen(known[i].key) == length && strncmp(known[i].key, key, length) == 0)
            return i;
    return -1;
}

static bool is_in_words(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(*words, text) == 0)
            return true;
    return false;
}

/* Fluxion takes its default for formats that it does not know, and for numbers that are none. */
static bool accepts_value(enum resource_option option, const char *value)
{
    static const char *const loads[] = {"grug",    "hwloc",         "jgf", "jgf_shorthand",
                                        "rv1exec", "rv1exec_force", NULL};
    static const char *const writes[] = {"simple", "pretty_simple", "rlite",
                                         "rv1",    "rv1_nosched",   "rv1_shorthand",
                                         "jgf",    "jgf_shorthand", NULL};
    char *end;

    switch (option) {
    case OPTION_LOAD_FORMAT:
        return is_in_words(value, loads);
    case OPTION_MATCH_FORMAT:
        return is_in_words(value, writes);
    case OPTION_RESERVE_VTX_VEC:
    case OPTION_UPDATE_INTERVAL: {
        long n = strtol(value, &end, 10);
        return *value && !*end && n > 0 && n <= NUMBER_MAX;
    }
    default:
        return true;
    }
}

/* Filters of one source add up. */
static int set_option(struct resource_options *o, const char *key, size_t length, const char *value,
                      bool *has_filters, berth_error_t *err)
{
    int option = option_of(key, length);
    json_t *sum = NULL;

    if (option < 0)
        return errtext_set(err, EINVAL, "Unknown option (%.*s).", (int)(length < 64 ? length : 64),
                           key);
    if (!accepts_value((enum resource_option)option, value))
        return 0;
    if (option == OPTION_PRUNE_FILTERS) {
        if (*has_filters && o->value[option])
            value = json_string_value(sum = json_sprintf("%s,%s", o->value[option], value));
        *has_filters = true;
    }
    char *copy = value ? strdup(value) : NULL;
    json_decref(sum);
    if (!copy)
        return errtext_no_memory(err);
    free(o->value[option]);
    o->value[option] = copy;
    return 0;
}

static int read_table(struct resource_options *o, const json_t *table, berth_error_t *err)
{
    bool has_filters = false;
    const char *key;
    const json_t *value;
    int rc = 0;

    json_object_foreach ((json_t *)table, key, value) {
        char *text = json_is_string(value) ? strdup(json_string_value(value))
                                           : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        rc = text ? set_option(o, key, strlen(key), text, &has_filters, err)
                  : errtext_no_memory(err);
        free(text);
        if (rc < 0)
            break;
    }
    return rc;
}

/* A matcher of one node says whether the policy and the traverser are any. */
static int check_by_matcher(const struct resource_options *o, berth_error_t *err)
{
    static const char node[] =
        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":{"
        "\"core\":\"0\"}}],\"starttime\":0,\"expiration\":0,\"nodelist\":[\"n\"]}}";
    match_options_t options = resource_options_match(o);
    resource_graph_t *graph = resource_graph_read("rv1exec", node, strlen(node), err);
    match_t *machine = graph ? match_create(graph, &options, err) : NULL;
    int error = errno;

    match_destroy(machine);
    errno = error;
    return machine ? 0 : -1;
}

int resource_options_read(struct resource_options *o, const char *table, const json_t *conf,
                          int argc, char **argv, berth_error_t *err)
{
    bool has_filters = false;

    memset(o, 0, sizeof(*o));
    for (int i = 0; i < N_RESOURCE_OPTIONS; i++)
        if (known[i].usual && !(o->value[i] = strdup(known[i].usual)))
            return errtext_no_memory(err);
    if (read_table(o, json_object_get(conf, table), err) < 0)
        return -1;
    for (int i = 0; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        if (set_option(o, argv[i], length, equals ? equals + 1 : "", &has_filters, err) < 0)
            return -1;
    }
    if (strcmp(o->value[OPTION_LOAD_FORMAT], "hwloc") == 0 && !o->value[OPTION_LOAD_FILE])
        return errtext_set(err, EINVAL, "load-format hwloc: expected a load-file");
    return check_by_matcher(o, err);
}

void resource_options_clear(struct resource_options *o)
{
    for (int i = 0; i < N_RESOURCE_OPTIONS; i++) {
        free(o->value[i]);
        o->value[i] = NULL;
    }
}

match_options_t resource_options_match(const struct resource_options *o)
{
    match_options_t options = {.policy = o->value[OPTION_POLICY],
                               .traverser = o->value[OPTION_TRAVERSER],
                               .filters = o->value[OPTION_PRUNE_FILTERS],
                               .end = FLUXION_END};
    return options;
}

json_t *resource_options_json(const struct resource_options *o)
{
    json_t *object = json_object();

    for (int i = 0; i < N_RESOURCE_OPTIONS; i++) {
        json_t *value = !o->value[i] ? json_null()
                        : i == OPTION_RESERVE_VTX_VEC || i == OPTION_UPDATE_INTERVAL
                            ? json_integer(strtol(o->value[i], NULL, 10))
                            : json_string(o->value[i]);
        if (json_object_set_new(object, known[i].key, value) < 0) {
            json_decref(object);
            errno = ENOMEM;
            return NULL;
        }
    }
    return object;
}
