/* The module lies beside the program where that is built, else in the library folder it was installed in. */
#include "cli/hwloc_load.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/hwloc_module.h"
#include "resource/readers/machine.h"

#define MODULE "berth-hwloc.so"

/* Where to look, as seen from the program: in the build directory and the folders of its tests, then where it was
 * installed, be it moved to some other place since.
 */
static const char *const folders[] = {"", "../", "../../", BERTH_MODULE_FROM_BIN "/"};

/* Write the path of the module, or return false. */
static bool find_module(char path[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (length <= 0)
        return false;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        const char *from = folders[i][0] == '/' ? "" : self;
        int n = snprintf(path, PATH_MAX, "%s%s" MODULE, from, folders[i]);
        if (n > 0 && n < PATH_MAX && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

int hwloc_load(struct graph *g, const char *xml, size_t length, const char *allow,
               berth_error_t *err)
{
    int (*read)(const char *, size_t, const char *, struct machine *, berth_error_t *);
    struct machine machine = {0};
    char path[PATH_MAX];
    void *module, *symbol;
    int rc;

    if (!find_module(path))
        return errtext_set(err, ENOENT,
                           MODULE " is neither beside the program nor installed, expected it there "
                                  "to look at machines with hwloc");
    /* It stays once it is there: what hwloc brings along does not like to be unloaded. */
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    symbol = module ? dlsym(module, HWLOC_MODULE_FUNCTION) : NULL;
    if (!symbol) {
        errtext_set(err, ENOENT, "cannot load " MODULE ": %s", dlerror());
        rc = -1;
        goto out;
    }
    memcpy(&read, &symbol, sizeof(read));
    rc = read(xml, length, allow, &machine, err);
    if (rc == 0)
        rc = read_machine(g, &machine, err);
    machine_clear(&machine);
out:
    if (module) {
        int saved = errno;
        dlclose(module);
        errno = saved;
    }
    return rc;
}

struct graph *hwloc_graph(const char *xml, size_t length, const char *allow, berth_error_t *err)
{
    struct graph *graph = graph_create();

    if (!graph) {
        errtext_set(err, ENOMEM, "out of memory");
        return NULL;
    }
    if (hwloc_load(graph, xml, length, allow, err) == 0)
        return graph;
    int saved = errno;
    graph_destroy(graph);
    errno = saved;
    return NULL;
}
