#include "config/job_keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "config/quantity.h"

#define LICENSES_EXPECTED "names and whole numbers, as in {\"matlab\": 2}"

#define GB_MAX INT64_C(1000000000)

static int wrong_key(struct job_fault *fault, const char *key, const json_t *found,
                     const char *expected)
{
    *fault = (struct job_fault){key, found, expected};
    return -1;
}

static bool is_constraint(const json_t *requires)
{
    size_t i;
    json_t *element;
    json_array_foreach (requires, i, element) {
        if (json_string_length(element) == 0)
            return false;
    }
    return json_is_object(requires) || json_is_array(requires);
}

static bool are_licenses(json_t *licenses)
{
    const char *name;
    json_t *count;
    json_object_foreach (licenses, name, count) {
        json_int_t n = json_integer_value(count);
        if (!short_license_is_name(name) || !json_is_integer(count) || n < 1 ||
            n > SHORT_LICENSES_MAX)
            return false;
    }
    return true;
}

static int check_required(const struct job_keys *k, struct job_fault *fault)
{
    if (k->gpu_type && k->gpus == 0 && !k->gpu_memory)
        return wrong_key(fault, "gpu_type", NULL, "gpus beside it");
    if (!are_licenses(k->licenses))
        return wrong_key(fault, "licenses", k->licenses, LICENSES_EXPECTED);
    if (!k->requires || is_constraint(k->requires))
        return 0;
    return wrong_key(fault, "requires", k->requires,
                     "a constraint (RFC 31) or a list of properties");
}

/* A size in units that the machine has, rounded up. */
static int read_size(const char *key, const json_t *value, int64_t unit, const char *unknown,
                     int64_t *bytes, int64_t *units, struct job_fault *fault)
{
    *bytes = *units = 0;
    if (!value)
        return 0;
    if (!memory_read(value, bytes))
        return wrong_key(fault, key, value, "bytes, or a size such as \"4G\"");
    if (unit == 0)
        return wrong_key(fault, key, value, unknown);
    *units = (*bytes - 1) / unit + 1;
    return 0;
}

static int read_gpu_memory(const struct job_keys *k, int64_t unit, int64_t *units,
                           struct job_fault *fault)
{
    int64_t bytes;
    return read_size("gpu_memory", k->gpu_memory, unit,
                     "none: nothing is known of the memory of this machine's GPUs", &bytes, units,
                     fault);
}

int job_keys_form(const struct job_keys *k, struct job_units units, struct short_form *form,
                  int64_t *bytes, struct job_fault *fault)
{
    const char *expected;
    *form = (struct short_form){.nodes = k->nodes,
                                .nodes_max = k->nodes_max,
                                .tasks = k->tasks,
                                .cores = k->cores,
                                .gpus = k->gpus,
                                .exclusive = k->exclusive};
    if (read_size("memory", k->memory, units.memory,
                  "none: nothing is known of this machine's memory", bytes, &form->memory,
                  fault) < 0 ||
        read_gpu_memory(k, units.gpu_memory, &form->gpu_memory, fault) < 0)
        return -1;
    const char *key = short_complete(form, &expected);
    if (key)
        return wrong_key(fault, key, NULL, expected);
    return check_required(k, fault);
}

int job_keys_form_by_node(const struct job_keys *k, struct job_units units, struct short_form *form,
                          struct job_fault *fault)
{
    int64_t nodes = k->nodes > 0 ? k->nodes : 1, memory = json_integer_value(k->memory);
    if (k->memory && (!json_is_integer(k->memory) || memory < 0 || memory > GB_MAX))
        return wrong_key(fault, "memory", k->memory,
                         "GB of each node, or a size of all such as \"4G\"");
    if (k->nodes_max > 0 && k->nodes_max < nodes)
        return wrong_key(fault, "nodes_max", NULL, "at least as many as nodes");
    *form = (struct short_form){.nodes = nodes,
                                .nodes_max = k->nodes_max,
                                .tasks = nodes,
                                .cores = k->cores,
                                .gpus = k->gpus,
                                .memory = nodes * memory,
                                .unit = "GB",
                                .exclusive = k->exclusive};
    if (read_gpu_memory(k, units.gpu_memory, &form->gpu_memory, fault) < 0)
        return -1;
    if (k->gpu_memory && k->exclusive)
        return wrong_key(fault, "gpu_memory", k->gpu_memory, "no whole nodes beside it");
    return check_required(k, fault);
}

/* The property that GPUs of a kind have, and nodes that have some. */
static void put_gpu_property(struct strbuf *out, const char *type)
{
    strbuf_puts(out, "gpu:");
    for (const char *at = type; *at; at++)
        strbuf_putc(out, (char)tolower((unsigned char)*at));
}

/* A list of properties is a constraint too. */
static json_t *required(json_t *requires)
{
    return json_is_array(requires) ? json_pack("{s:O}", "properties", requires)
                                   : json_incref(requires);
}

static char *constraint_text(const struct job_keys *k, const char *gpu_property)
{
    json_t *constraint = k->requires ? required(k->requires) : NULL;
    json_t *gpus = k->gpu_type ? json_pack("{s:[s]}", "properties", gpu_property) : NULL;
    if (k->requires && k->gpu_type) /* takes both, also if one is NULL for want of memory */
        constraint = json_pack("{s:[oo]}", "and", constraint, gpus);
    else if (k->gpu_type)
        constraint = gpus;
    char *text = constraint ? json_dumps(constraint, JSON_COMPACT) : NULL;
    json_decref(constraint);
    return text;
}

/* The licences as a list; NULL: none, or no memory. */
static struct short_license *license_list(json_t *licenses)
{
    size_t n = json_object_size(licenses), i = 0;
    struct short_license *list = n > 0 ? calloc(n, sizeof(*list)) : NULL;
    const char *name;
    json_t *count;

    if (!list)
        return NULL;
    json_object_foreach (licenses, name, count)
        list[i++] = (struct short_license){name, json_integer_value(count)};
    return list;
}

void job_keys_put(const struct job_keys *k, struct short_form form, struct strbuf *out)
{
    bool constrained = k->requires || k->gpu_type;
    struct strbuf kind = {0};
    if (k->gpu_type)
        put_gpu_property(&kind, k->gpu_type);
    char *constraint = constrained ? constraint_text(k, strbuf_text(&kind)) : NULL;
    struct short_license *licenses = license_list(k->licenses);
    form.constraint = constraint;
    form.gpu_property = k->gpu_type ? strbuf_text(&kind) : NULL;
    form.licenses = licenses;
    form.n_licenses = licenses ? json_object_size(k->licenses) : 0;
    short_put(out, &form);
    if ((constrained && !constraint) || (json_object_size(k->licenses) > 0 && !licenses))
        out->failed = true;
    out->failed = out->failed || kind.failed;
    free(licenses);
    free(constraint);
    strbuf_clear(&kind);
}

const char *job_keys_asked(const json_t *object)
{
    static const char *const keys[] = {"nodes",    "nodes_max", "tasks",    "cores",
                                       "gpus",     "gpu_type",  "memory",   "gpu_memory",
                                       "licenses", "exclusive", "requires", "jobspec"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (json_object_get(object, keys[i]))
            return keys[i];
    return NULL;
}

bool job_keys_after(const json_t *value, int64_t *ticks)
{
    const char *text = json_string_value(value);
    return text && *text == '+' && quantity_duration(text + 1, ticks) == 0;
}

int job_keys_members(const struct job_keys *k, const char *what, const struct key_place *place,
                     struct members *to, berth_error_t *err)
{
    const json_t *value = k->array;
    json_int_t n = value ? json_integer_value(value) : 1;
    berth_error_t why = {""};
    char text[sizeof(why.text) + 64];
    if (json_is_string(value)) {
        if (members_read(to, json_string_value(value), json_string_length(value), &why) == 0)
            return 0;
        int errnum = errno;
        snprintf(text, sizeof(text), "%skey \"array\": %s", what, why.text);
        return keys_failed(place, errnum, text, err);
    }
    if (value && (!json_is_integer(value) || n < 1 || n > MEMBERS_MAX))
        return keys_wrong(
            place, what, "array", value,
            json_is_integer(value) ? "a whole number from 1 to 1000000" : MEMBERS_EXPECTED, err);
    return members_count(to, (uint32_t)n) < 0 ? errtext_no_memory(err) : 0;
}
