#include "jobspec/short.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/json_out.h"

static const char license_type[] = "license:";

bool short_license_is_name(const char *name)
{
    size_t n = 0;

    if (!isalpha((unsigned char)*name))
        return false;
    while (isalnum((unsigned char)name[n]) || (name[n] && strchr("._-", name[n])))
        n++;
    return !name[n] && n <= SHORT_LICENSE_NAME_MAX;
}

void short_license_type(const char *name, char type[SHORT_LICENSE_TYPE_SIZE])
{
    snprintf(type, SHORT_LICENSE_TYPE_SIZE, "%s%s", license_type, name);
}

const char *short_license_of(const char *type)
{
    size_t n = sizeof(license_type) - 1;
    return strncmp(type, license_type, n) == 0 ? type + n : NULL;
}

#define MANY (UINT32_MAX / 2) /* of what a jobspec counts */

const char *short_complete(struct short_form *f, const char **expected)
{
    bool is_whole = f->nodes > 0 && f->tasks == 0 && f->cores == 0 && f->gpus == 0 &&
                    f->memory == 0 && f->gpu_memory == 0;
    if (f->tasks == 0)
        f->tasks = f->nodes > 0 ? f->nodes : 1;
    if (f->cores == 0 && !is_whole)
        f->cores = 1;
    if (f->nodes > f->tasks) {
        *expected = "at least as many tasks as nodes";
        return "tasks";
    }
    if (f->nodes_max > 0 && (f->nodes == 0 || f->nodes_max < f->nodes)) {
        *expected = f->nodes == 0 ? "nodes beside it" : "at least as many as nodes";
        return "nodes_max";
    }
    if (f->nodes_max > 0 && f->tasks % f->nodes != 0) {
        *expected = "as many on each node, of which there may be more";
        return "tasks";
    }
    if (f->gpu_memory > 0 && f->exclusive) {
        *expected = "no whole nodes beside it, which have all of their GPUs";
        return "gpu_memory";
    }
    int64_t most = f->nodes_max > f->nodes ? f->nodes_max / f->nodes + 1 : 1;
    if (f->cores > MANY / f->tasks / most || f->memory > MANY || f->gpu_memory > MANY) {
        *expected = "fewer in all";
        return "cores";
    }
    return NULL;
}

/* A count, or as many as there are of a range. */
static void put_count(struct json_out *out, int64_t least, int64_t most)
{
    if (most <= least) {
        json_put_int(out, "count", least);
        return;
    }
    json_open(out, "count", '{');
    json_put_int(out, "min", least);
    json_put_int(out, "max", most);
    json_put_string(out, "operator", "+");
    json_put_int(out, "operand", 1);
    json_close(out, '}');
}

static void put_type_count(struct json_out *out, const char *type, int64_t count, const char *unit)
{
    if (count <= 0)
        return;
    json_open(out, NULL, '{');
    json_put_string(out, "type", type);
    json_put_int(out, "count", count);
    if (unit)
        json_put_string(out, "unit", unit);
    json_close(out, '}');
}

/* Whole GPUs. */
static void put_whole_gpus(struct json_out *out, const struct short_form *f, int64_t count)
{
    if (count <= 0)
        return;
    json_open(out, NULL, '{');
    json_put_string(out, "type", "gpu");
    json_put_int(out, "count", count);
    if (f->gpu_property)
        json_put_text(out, "property", f->gpu_property);
    json_close(out, '}');
}

static void close_with(struct json_out *out)
{
    json_close(out, ']');
    json_close(out, '}');
}

/* A part of each of so many GPUs, which others may share. */
static void put_shared_gpus(struct json_out *out, const struct short_form *f, int64_t gpus)
{
    json_open(out, NULL, '{');
    json_put_string(out, "type", "gpu");
    json_put_int(out, "count", gpus > 0 ? gpus : 1);
    json_put_bool(out, "exclusive", false);
    if (f->gpu_property)
        json_put_text(out, "property", f->gpu_property);
    json_open(out, "with", '[');
    json_open(out, NULL, '{');
    json_put_string(out, "type", "gpu-memory");
    json_put_int(out, "count", f->gpu_memory);
    json_put_bool(out, "exclusive", true); /* of a divisible pool: these many units */
    json_close(out, '}');
    close_with(out);
}

/* Append what comes before the parts of a slot. */
static void open_slot(struct json_out *out, int64_t count, int64_t most)
{
    json_open(out, NULL, '{');
    json_put_string(out, "type", "slot");
    put_count(out, count, most);
    json_put_string(out, "label", "task");
    json_open(out, "with", '[');
}

static int64_t ceiling(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

/* All tasks of a node together, so that its memory is for them all. */
static void put_node_request(struct json_out *out, const struct short_form *f)
{
    int64_t nodes = f->nodes > 0 ? f->nodes : 1, tasks = ceiling(f->tasks, nodes);
    json_open(out, NULL, '{');
    json_put_string(out, "type", "node");
    put_count(out, nodes, f->nodes_max);
    if (f->exclusive)
        json_put_bool(out, "exclusive", true);
    json_open(out, "with", '[');
    open_slot(out, 1, 1);
    put_type_count(out, "core", tasks * f->cores, NULL);
    if (f->gpu_memory == 0)
        put_whole_gpus(out, f, tasks * f->gpus);
    put_type_count(out, "memory", ceiling(f->memory, nodes), f->unit);
    close_with(out);
    if (f->gpu_memory > 0)
        put_shared_gpus(out, f, tasks * f->gpus);
    close_with(out);
}

static void put_short_request(struct json_out *out, const struct short_form *f)
{
    bool is_whole = f->cores == 0 && f->gpus == 0 && f->memory == 0;
    if (!is_whole && (f->nodes > 0 || f->exclusive || f->memory > 0 || f->gpu_memory > 0)) {
        put_node_request(out, f);
        return;
    }
    open_slot(out, is_whole ? f->nodes : f->tasks, is_whole ? f->nodes_max : 0);
    if (is_whole) {
        json_open(out, NULL, '{');
        json_put_string(out, "type", "node");
        json_put_int(out, "count", 1);
        json_put_bool(out, "exclusive", true);
        json_close(out, '}');
    }
    put_type_count(out, "core", f->cores, NULL);
    put_whole_gpus(out, f, f->gpus);
    close_with(out);
}

static void put_license_pools(struct json_out *out, const struct short_form *f)
{
    char type[SHORT_LICENSE_TYPE_SIZE];

    for (size_t i = 0; i < f->n_licenses; i++) {
        short_license_type(f->licenses[i].name, type);
        json_open(out, NULL, '{');
        json_put_string(out, "type", type);
        json_put_int(out, "count", f->licenses[i].count);
        json_put_bool(out, "exclusive", true); /* of a divisible pool: these many units */
        json_close(out, '}');
    }
}

void short_put(struct strbuf *text, const struct short_form *f)
{
    struct json_out out = {.text = text};
    json_open(&out, NULL, '{');
    json_put_int(&out, "version", 9999);
    json_open(&out, "resources", '[');
    put_short_request(&out, f);
    put_license_pools(&out, f);
    json_close(&out, ']');
    json_put_raw(&out, "tasks",
                 "[{\"command\":[\"job\"],\"slot\":\"task\",\"count\":{\"per_slot\":1}}]");
    json_open(&out, "attributes", '{');
    json_open(&out, "system", '{');
    if (f->constraint)
        json_put_raw(&out, "constraints", f->constraint);
    strbuf_puts(text, "}}}");
}
