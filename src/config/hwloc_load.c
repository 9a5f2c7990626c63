#include "config/hwloc_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "config/apart.h"
#include "config/hwloc_module.h"
#include "config/module_load.h"
#include "resource/readers/machine.h"

#define MODULE "berth-hwloc.so"

/* Bounds for hwloc when it reads a text from outside. */
#define SECONDS    10
#define MEMORY     ((size_t)1 << 30) /* and as much again for every MEMORY_PER bytes of text */
#define MEMORY_PER 8
#define ANSWER     ((size_t)1 << 28)

typedef int read_function(const char *, size_t, const char *, struct machine *, berth_error_t *);

struct question {
    read_function *read;
    const char *xml;
    size_t length;
    const char *allow;
};

static int work(void *context, struct strbuf *answer, berth_error_t *err)
{
    const struct question *q = context;
    struct machine machine = {0};

    if (q->read(q->xml, q->length, q->allow, &machine, err) < 0)
        return -1;
    machine_pack(&machine, answer);
    return 0; /* the process ends */
}

/* hwloc crashes on some texts that are not its own XML, so it reads them in a child process. */
static int read_apart(struct question *q, struct machine *machine, berth_error_t *err)
{
    struct apart apart = {.who = "hwloc",
                          .seconds = SECONDS,
                          .memory = MEMORY + MEMORY_PER * q->length,
                          .answer = ANSWER,
                          .work = work,
                          .context = q};
    struct strbuf answer = {0};
    int rc = apart_do(&apart, &answer, err);

    if (rc == 0)
        rc = machine_unpack(machine, answer.data, answer.len, err);
    strbuf_clear(&answer);
    return rc;
}

int hwloc_machine(struct machine *machine, const char *xml, size_t length, const char *allow,
                  berth_error_t *err)
{
    struct question q = {.xml = xml, .length = length, .allow = allow};
    void *symbol = module_load(MODULE, HWLOC_MODULE_FUNCTION, err);

    if (!symbol)
        return -1;
    memcpy(&q.read, &symbol, sizeof(q.read));
    return xml ? read_apart(&q, machine, err) : q.read(NULL, 0, allow, machine, err);
}

int hwloc_load(struct graph *g, const char *xml, size_t length, const char *allow,
               berth_error_t *err)
{
    struct machine machine = {0};
    int rc = hwloc_machine(&machine, xml, length, allow, err);

    if (rc == 0)
        rc = read_machine(g, &machine, err);
    int saved = errno;
    machine_clear(&machine);
    errno = saved;
    return rc;
}

int hwloc_cpus(struct hwloc_cpus *cpus, berth_error_t *err)
{
    int (*read)(struct hwloc_cpus *, berth_error_t *);
    void *symbol = module_load(MODULE, HWLOC_MODULE_CPUS, err);

    if (!symbol)
        return -1;
    memcpy(&read, &symbol, sizeof(read));
    return read(cpus, err);
}

void hwloc_cpus_clear(struct hwloc_cpus *cpus)
{
    for (size_t i = 0; i < cpus->n; i++)
        free(cpus->v[i]);
    free(cpus->v);
    *cpus = (struct hwloc_cpus){0};
}

struct graph *hwloc_graph(const char *xml, size_t length, const char *allow, berth_error_t *err)
{
    struct graph *graph = graph_create();

    if (!graph) {
        errtext_no_memory(err);
        return NULL;
    }
    if (hwloc_load(graph, xml, length, allow, err) == 0)
        return graph;
    int saved = errno;
    graph_destroy(graph);
    errno = saved;
    return NULL;
}
