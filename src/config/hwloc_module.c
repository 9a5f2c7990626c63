/* What hwloc sees, as a machine: its objects depth first. Those not asked for are left out, and what is in
 * them stands in the nearest one that isn't.
 */
#include "config/hwloc_module.h"

#include <errno.h>
#include <hwloc.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "resource/readers/common.h"

#define DEPTH_MAX 512

/* The families of names that hwloc gives a GPU; one GPU may have a name of each. */
static const char *const gpu_families[] = {"cuda", "rsmi", "ze", "opencl", "nvml"};
#define FAMILIES (sizeof(gpu_families) / sizeof(gpu_families[0]))

struct view {
    hwloc_topology_t topology;
    const char *allow; /* NULL: see the header */
    bool live;
    const char *gpu_family; /* of this machine: the one that counts */
    struct machine *machine;
    berth_error_t *err;
};

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; *at; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    }
    return false;
}

static bool is_allowed(const struct view *w, const char *name)
{
    if (w->allow)
        return is_listed(w->allow, name);
    return w->live ? is_listed("node,socket,core,gpu,memory", name) : strcmp(name, "memory") != 0;
}

static int put_object_text(struct view *w, const char *text, uint32_t *number)
{
    if (intern_put(&w->machine->texts, text, strlen(text), number) < 0)
        return errtext_no_memory(w->err);
    return 0;
}

static struct machine_object object_in(uint32_t in, hwloc_obj_t o)
{
    return (struct machine_object){.in = in,
                                   .name = MACHINE_NONE,
                                   .unit = MACHINE_NONE,
                                   .property_key = MACHINE_NONE,
                                   .property_value = MACHINE_NONE,
                                   .id = o->logical_index,
                                   .size = 1};
}

/* Add an object of a type; *in becomes its number. */
static int add_machine_object(struct view *w, struct machine_object *t, const char *type,
                              const char *basename, uint32_t *in)
{
    if (w->machine->n >= MACHINE_OBJECTS_MAX)
        return errtext_set(w->err, EINVAL, "too many objects, expected at most %d",
                           MACHINE_OBJECTS_MAX);
    if (put_object_text(w, type, &t->type) < 0 || put_object_text(w, basename, &t->basename) < 0)
        return -1;
    *in = w->machine->n;
    return machine_add(w->machine, t) < 0 ? errtext_no_memory(w->err) : 0;
}

static int add_host(struct view *w, hwloc_obj_t o, uint32_t *in)
{
    const char *host = hwloc_obj_get_info_by_name(o, "HostName");
    struct machine_object t = object_in(*in, o);
    char name[256] = "localhost";
    size_t length;

    if (w->live && !host) {
        gethostname(name, sizeof(name) - 1);
        host = name;
    }
    if (!host || !is_allowed(w, "node"))
        return 0;
    if (!*host || strlen(host) >= sizeof(name) || strchr(host, '/'))
        return errtext_set(w->err, EINVAL, "HostName is '%s', expected a host name", host);
    if (host_split(host, &length, &t.id) < 0)
        return errtext_set(w->err, EOVERFLOW, "HostName '%s' ends in too large a number", host);
    memmove(name, host, strlen(host) + 1);
    if (put_object_text(w, name, &t.name) < 0)
        return -1;
    name[length] = '\0';
    return add_machine_object(w, &t, "node", name, in);
}

/* A cache, in KiB. */
static int add_cache(struct view *w, hwloc_obj_t o, const char *basename, uint32_t *in)
{
    struct machine_object t = object_in(*in, o);

    if (!is_allowed(w, basename))
        return 0;
    t.size = (int64_t)(o->attr->cache.size / 1024);
    return add_machine_object(w, &t, "cache", basename, in);
}

/* A pool, in MiB. */
static int add_memory(struct view *w, struct machine_object *t, uint32_t in)
{
    t->divisible = true;
    if (put_object_text(w, "MiB", &t->unit) < 0)
        return -1;
    return add_machine_object(w, t, "memory", "memory", &in);
}

static int add_numa(struct view *w, hwloc_obj_t o, uint32_t *in)
{
    struct machine_object t = object_in(*in, o);

    if (is_allowed(w, "numanode") && add_machine_object(w, &t, "numanode", "numanode", in) < 0)
        return -1;
    t = object_in(*in, o);
    t.size = (int64_t)(o->attr->numanode.local_memory >> 20);
    if (!is_allowed(w, "memory") || t.size < 1)
        return 0;
    return add_memory(w, &t, *in);
}

/* The number in a device's name: behind its family, or of OpenCL behind the platform's and a 'd'. -1: no
 * GPU.
 */
static int64_t gpu_number(const char *name, const char *family)
{
    size_t length = strlen(family);
    char *end;

    if (strncmp(name, family, length) != 0)
        return -1;
    const char *digits = name + length;
    if (strcmp(family, "opencl") == 0) {
        digits = strchr(digits, 'd');
        if (!digits)
            return -1;
        digits++;
    }
    if (*digits < '0' || *digits > '9')
        return -1;
    int64_t number = strtol(digits, &end, 10);
    return number <= INT_MAX ? number : -1;
}

static bool is_gpu(const struct view *w, hwloc_obj_t o)
{
    hwloc_obj_osdev_type_t type = o->attr->osdev.type;

    if (!o->name)
        return false;
    if (w->live)
        return w->gpu_family && gpu_number(o->name, w->gpu_family) >= 0;
    return type == HWLOC_OBJ_OSDEV_COPROC ||
           (type == HWLOC_OBJ_OSDEV_GPU && strncmp(o->name, "rsmi", 4) == 0);
}

static int add_gpu(struct view *w, hwloc_obj_t o, uint32_t *in)
{
    struct machine_object t = object_in(*in, o);

    if (!is_allowed(w, "gpu"))
        return 0;
    for (size_t f = 0; f < FAMILIES; f++) {
        int64_t number = gpu_number(o->name, gpu_families[f]);
        if (number >= 0)
            t.id = number;
    }
    return add_machine_object(w, &t, "gpu", "gpu", in);
}

/* A block device, in GB. */
static int add_storage(struct view *w, hwloc_obj_t o, uint32_t *in)
{
    const char *size = hwloc_obj_get_info_by_name(o, "Size");
    const char *device = hwloc_obj_get_info_by_name(o, "LinuxDeviceID");
    struct machine_object t = object_in(*in, o);
    char *end;

    if (!is_allowed(w, "storage"))
        return 0;
    if (!size)
        return errtext_set(w->err, ENOENT, "block device '%s' has no Size", o->name ? o->name : "");
    errno = 0;
    int64_t kilobytes = strtoll(size, &end, 10);
    if (end == size || errno != 0 || kilobytes <= 0)
        return errtext_set(w->err, EINVAL, "Size of block device '%s' is '%s', expected kilobytes",
                           o->name ? o->name : "", size);
    t.size = kilobytes / 1000000;
    if (put_object_text(w, "LinuxDeviceID", &t.property_key) < 0 ||
        put_object_text(w, device ? device : "-1", &t.property_value) < 0)
        return -1;
    return add_machine_object(w, &t, "storage", "storage", in);
}

static int add_plain(struct view *w, hwloc_obj_t o, const char *type, uint32_t *in)
{
    struct machine_object t = object_in(*in, o);

    return is_allowed(w, type) ? add_machine_object(w, &t, type, type, in) : 0;
}

/* Add what an object is, if it is asked for; *in becomes what its children stand in. */
static int add_object(struct view *w, hwloc_obj_t o, uint32_t *in)
{
    switch (o->type) {
    case HWLOC_OBJ_MACHINE:
        return add_host(w, o, in);
    case HWLOC_OBJ_GROUP:
        return add_plain(w, o, "group", in);
    case HWLOC_OBJ_NUMANODE:
        return add_numa(w, o, in);
    case HWLOC_OBJ_PACKAGE:
        return add_plain(w, o, "socket", in);
    case HWLOC_OBJ_L1CACHE:
        return add_cache(w, o, "L1cache", in);
    case HWLOC_OBJ_L2CACHE:
        return add_cache(w, o, "L2cache", in);
    case HWLOC_OBJ_L3CACHE:
        return add_cache(w, o, "L3cache", in);
    case HWLOC_OBJ_CORE:
        return add_plain(w, o, "core", in);
    case HWLOC_OBJ_PU:
        return add_plain(w, o, "pu", in);
    case HWLOC_OBJ_OS_DEVICE:
        if (is_gpu(w, o))
            return add_gpu(w, o, in);
        if (o->attr->osdev.type == HWLOC_OBJ_OSDEV_BLOCK)
            return add_storage(w, o, in);
        return 0;
    default:
        return 0;
    }
}

/* Walk over all objects, depth first, without recursion: the text may be as deep as it likes. */
static int walk(struct view *w)
{
    struct {
        hwloc_obj_t object, child;
        uint32_t in;
    } open[DEPTH_MAX];
    int depth = 0;
    uint32_t in = MACHINE_NONE;
    hwloc_obj_t next = hwloc_get_root_obj(w->topology);

    while (next || depth > 0) {
        if (next) {
            if (depth == DEPTH_MAX)
                return errtext_set(w->err, EINVAL, "objects in objects, too deep");
            if (add_object(w, next, &in) < 0)
                return -1;
            open[depth].object = next;
            open[depth].child = NULL;
            open[depth++].in = in;
        }
        next = hwloc_get_next_child(w->topology, open[depth - 1].object, open[depth - 1].child);
        open[depth - 1].child = next;
        in = open[depth - 1].in;
        if (!next)
            depth--;
    }
    return 0;
}

/* What the system says it has, in MiB; 0 if it doesn't. */
static int64_t system_memory(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    int64_t kilobytes = 0;

    if (file && fscanf(file, "MemTotal: %" SCNd64 " kB", &kilobytes) != 1)
        kilobytes = 0;
    if (file)
        fclose(file);
    return kilobytes >> 10;
}

/* NUMA nodes may tell of less memory than there is, in virtual machines, say, or of more, in a container:
 * let the pools add up to what the system has.
 */
static int correct_memory(struct view *w)
{
    int64_t total = system_memory();
    struct machine *m = w->machine;

    if (!is_allowed(w, "memory") || total < 1 || !hwloc_topology_is_thissystem(w->topology) ||
        machine_share(m, "memory", total) > 0)
        return 0;
    uint32_t in = is_allowed(w, "node") && m->n > 0 ? 0 : MACHINE_NONE;
    struct machine_object t = object_in(in, hwloc_get_root_obj(w->topology));
    t.id = 0;
    t.size = total;
    return add_memory(w, &t, in);
}

/* The first family of names that a GPU of this machine has. */
static const char *find_gpu_family(hwloc_topology_t topology)
{
    for (size_t f = 0; f < FAMILIES; f++)
        for (hwloc_obj_t o = hwloc_get_next_osdev(topology, NULL); o;
             o = hwloc_get_next_osdev(topology, o))
            if (o->name && gpu_number(o->name, gpu_families[f]) >= 0)
                return gpu_families[f];
    return NULL;
}

static int load_topology(struct view *w, const char *xml, size_t length)
{
    hwloc_topology_t t = w->topology;

    if (hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) < 0 ||
        hwloc_topology_set_cache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_STRUCTURE) < 0 ||
        hwloc_topology_set_icache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_STRUCTURE) < 0)
        return errtext_set(w->err, EINVAL, "hwloc takes no filters");
    if (xml && (length > INT_MAX || hwloc_topology_set_xmlbuffer(t, xml, (int)length) < 0))
        return errtext_set(w->err, EINVAL, "not XML as hwloc writes it");
    if (hwloc_topology_load(t) < 0)
        return errtext_set(w->err, EINVAL,
                           xml ? "hwloc finds no machine in the XML" : "hwloc finds no machine");
    return 0;
}

int berth_hwloc_read(const char *xml, size_t length, const char *allow, struct machine *machine,
                     berth_error_t *err)
{
    struct machine found = {0};
    struct view w = {.allow = allow, .live = !xml, .machine = &found, .err = err};
    int rc;

    if (hwloc_get_api_version() >> 16 != HWLOC_API_VERSION >> 16)
        return errtext_set(err, EINVAL, "built for another hwloc than is installed");
    if (hwloc_topology_init(&w.topology) < 0)
        return errtext_no_memory(w.err);
    rc = load_topology(&w, xml, length);
    if (rc == 0) {
        w.gpu_family = w.live ? find_gpu_family(w.topology) : NULL;
        rc = walk(&w);
    }
    if (rc == 0 && w.live)
        rc = correct_memory(&w);
    int errnum = errno;
    hwloc_topology_destroy(w.topology);
    if (rc == 0) {
        machine_clear(machine);
        *machine = found;
    } else {
        machine_clear(&found);
        errno = errnum;
    }
    return rc;
}

/* Those of one core, as the kernel writes lists. */
static char *list_cpus(hwloc_obj_t core)
{
    char *list = NULL;
    return hwloc_bitmap_list_asprintf(&list, core->cpuset) < 0 ? NULL : list;
}

static int fill_cpus(hwloc_topology_t topology, struct hwloc_cpus *cpus, berth_error_t *err)
{
    int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);

    if (n < 0)
        n = 0;
    cpus->v = calloc((size_t)n + 1, sizeof(*cpus->v));
    if (!cpus->v)
        return errtext_no_memory(err);
    for (; cpus->n < (size_t)n; cpus->n++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)cpus->n);
        cpus->v[cpus->n] = list_cpus(core);
        if (!cpus->v[cpus->n]) {
            while (cpus->n > 0)
                free(cpus->v[--cpus->n]);
            free(cpus->v);
            return errtext_no_memory(err);
        }
    }
    return 0;
}

int berth_hwloc_cpus(struct hwloc_cpus *cpus, berth_error_t *err)
{
    struct view w = {.live = true, .err = err};
    int rc;

    *cpus = (struct hwloc_cpus){0};
    if (hwloc_get_api_version() >> 16 != HWLOC_API_VERSION >> 16)
        return errtext_set(err, EINVAL, "built for another hwloc than is installed");
    if (hwloc_topology_init(&w.topology) < 0)
        return errtext_no_memory(w.err);
    rc = load_topology(&w, NULL, 0);
    if (rc == 0)
        rc = fill_cpus(w.topology, cpus, err);
    int errnum = errno;
    hwloc_topology_destroy(w.topology);
    errno = errnum;
    return rc;
}
