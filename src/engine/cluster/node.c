/* Looking at a node: what this process, and so the runs that it starts, may use of it. */
#include "engine/cluster/node.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/idset.h"

#define CPUS_MOST 16384
#define MIB       ((int64_t)1 << 20)
#define OWN       (100 * MIB) /* for agent and keeper */
#define PATH_MOST 4096

/* The first line of a file; "" if there is none. */
static const char *first_line(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static int64_t number_in(const char *name)
{
    const char *text = getenv(name);
    char *end;
    int64_t n = text ? strtoll(text, &end, 10) : 0;
    return text && end != text && n > 0 ? n : 0;
}

/* ---- Cores ---- */

static int read_affinity(struct idset *cpus)
{
    cpu_set_t *set = CPU_ALLOC(CPUS_MOST);
    size_t size = CPU_ALLOC_SIZE(CPUS_MOST);
    int rc = set && sched_getaffinity(0, size, set) == 0 ? 0 : -1;
    for (int i = 0; rc == 0 && i < CPUS_MOST; i++)
        if (CPU_ISSET_S((size_t)i, size, set))
            rc = idset_add(cpus, (uint32_t)i);
    CPU_FREE(set);
    return rc;
}

/* The CPUs of the core to which a CPU belongs, as far as they may be used. */
static int siblings_of(const struct idset *may, uint32_t cpu, struct idset *core)
{
    char path[128], text[1024];
    struct idset all = {0};
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
             (unsigned)cpu);
    first_line(path, text, sizeof(text));
    int rc = 0;
    if (text[0] && idset_decode(&all, text, strlen(text), NULL) == 0)
        for (uint32_t i = idset_first(&all); i != IDSET_NONE && rc == 0; i = idset_next(&all, i))
            if (idset_has(may, i))
                rc = idset_add(core, i);
    idset_clear(&all);
    return rc == 0 ? idset_add(core, cpu) : -1;
}

static int add_core(struct node *node, const char *cpus)
{
    node->cores[node->n_cores] = strdup(cpus);
    return node->cores[node->n_cores++] ? 0 : -1;
}

static int list_cores(struct node *node, const struct idset *may)
{
    int rc = 0;
    for (uint32_t cpu = idset_first(may); cpu != IDSET_NONE && rc == 0;
         cpu = idset_next(may, cpu)) {
        struct idset core = {0};
        struct strbuf text = {0};
        rc = siblings_of(may, cpu, &core);
        if (rc == 0 && idset_first(&core) == cpu) {
            idset_encode(&core, false, &text);
            rc = text.failed ? -1 : add_core(node, strbuf_text(&text));
        }
        strbuf_clear(&text);
        idset_clear(&core);
    }
    return rc;
}

/* Where Slurm has given another number of CPUs than this process may use, it does not bind its jobs, and what
 * it has given is only a number.
 */
static int look_at_cores(struct node *node)
{
    struct idset may = {0};
    int64_t given = number_in("SLURM_CPUS_ON_NODE");
    int rc = read_affinity(&may);
    size_t room = rc == 0 && (uint64_t)given < may.count ? (size_t)may.count : (size_t)given;
    room = room < NODE_CORES_MOST ? room : NODE_CORES_MOST;
    node->cores = rc == 0 ? calloc(room + 1, sizeof(*node->cores)) : NULL;
    rc = node->cores ? 0 : -1;
    if (rc == 0 && (given == 0 || (uint64_t)given == may.count) && may.count <= room)
        rc = list_cores(node, &may);
    else
        for (int64_t i = 0; rc == 0 && i < given && (size_t)i < room; i++)
            rc = add_core(node, "");
    idset_clear(&may);
    return rc;
}

/* ---- Memory ---- */

static int64_t memory_total(void)
{
    char line[256];
    unsigned long long kib;
    first_line("/proc/meminfo", line, sizeof(line)); /* MemTotal is the first */
    return sscanf(line, "MemTotal: %llu", &kib) == 1 ? (int64_t)kib * 1024 : INT64_MAX;
}

static int64_t limit_at(const char *root, const char *group, const char *file)
{
    char path[PATH_MOST], text[64];
    int n = snprintf(path, sizeof(path), "%s%s/%s", root, group, file);
    if (n < 0 || n >= (int)sizeof(path))
        return INT64_MAX;
    int64_t limit = strtoll(first_line(path, text, sizeof(text)), NULL, 10);
    return limit > 0 ? limit : INT64_MAX;
}

/* The least limit of a control group and of all above it. */
static int64_t group_limit(const char *root, char *group, const char *file)
{
    int64_t least = INT64_MAX;
    for (;;) {
        int64_t limit = limit_at(root, group, file);
        least = limit < least ? limit : least;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

static int64_t memory_of_groups(void)
{
    char line[PATH_MOST];
    int64_t least = INT64_MAX, limit;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        if (list[1] == '\0')
            limit = group_limit("/sys/fs/cgroup", group, "memory.max");
        else if (strstr(list + 1, "memory"))
            limit = group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
        else
            continue;
        least = limit < least ? limit : least;
    }
    if (file)
        fclose(file);
    return least;
}

static void look_at_memory(struct node *node)
{
    int64_t least = memory_total(), limit = memory_of_groups();
    int64_t each = number_in("SLURM_MEM_PER_CPU"), whole = number_in("SLURM_MEM_PER_NODE");
    least = limit < least ? limit : least;
    if (whole > 0 && whole < least / MIB)
        least = whole * MIB;
    if (each > 0 && each * (int64_t)node->n_cores < least / MIB)
        least = each * (int64_t)node->n_cores * MIB;
    node->memory = least < INT64_MAX && least > OWN ? least - OWN : 0;
}

/* ---- GPUs and names ---- */

static int look_at_gpus(struct node *node)
{
    static const char *const lists[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                        "ZE_AFFINITY_MASK"};
    const char *at = NULL;
    for (size_t i = 0; i < 3 && (!at || !*at); i++)
        at = getenv(lists[i]);
    node->gpus = calloc(NODE_GPUS_MOST + 1, sizeof(*node->gpus));
    if (!node->gpus)
        return -1;
    if (at && strncmp(at, "NoDevFiles", 10) == 0)
        return 0;
    while (at && *at && node->n_gpus < NODE_GPUS_MOST) {
        size_t n = strcspn(at, ",");
        if (n > 0 && !(node->gpus[node->n_gpus++] = strndup(at, n)))
            return -1;
        at += n + (at[n] == ',');
    }
    return 0;
}

/* What could stand in a path or in a list of hosts becomes '-'. */
static char *plain(const char *text)
{
    char *name = strndup(text, NODE_NAME_MOST);
    for (char *c = name; c && *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *c))
            *c = '-';
    return name;
}

static int look_at_names(struct node *node)
{
    char host[256] = "node", boot[128];
    const char *name = getenv("SLURMD_NODENAME"), *job = getenv("SLURM_JOB_ID");
    if (gethostname(host, sizeof(host) - 1))
        host[0] = '\0';
    node->name = plain(name && *name ? name : host[0] ? host : "node");
    node->boot = plain(first_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)));
    node->job = plain(job ? job : "");
    node->address = strdup("");
    return node->name && node->boot && node->job && node->address ? 0 : -1;
}

int node_look(struct node *node, berth_error_t *err)
{
    *node = (struct node){.name = NULL};
    if (look_at_names(node) || look_at_cores(node) || look_at_gpus(node)) {
        node_clear(node);
        return errtext_no_memory(err);
    }
    look_at_memory(node);
    if (node->n_cores > 0)
        return 0;
    node_clear(node);
    return errtext_set(err, ENOENT, "this process may use no CPU");
}
