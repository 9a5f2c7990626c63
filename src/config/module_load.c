#include "config/module_load.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"

/* Where to look, relative to the program: in the build directory and the folders of its tests, then where it
 * was installed, even if it has been moved since.
 */
static const char *const folders[] = {"", "../", "../../", BERTH_MODULE_FROM_BIN "/"};

static bool find_module(const char *module, char path[PATH_MAX])
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
        int n = snprintf(path, PATH_MAX, "%s%s%s", from, folders[i], module);
        if (n > 0 && n < PATH_MAX && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

void *module_load(const char *module, const char *function, berth_error_t *err)
{
    char path[PATH_MAX];

    if (!find_module(module, path)) {
        errtext_set(err, ENOENT, "%s is neither beside the program nor installed", module);
        return NULL;
    }
    /* The module stays loaded, because its libraries may not survive being unloaded. */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *symbol = handle ? dlsym(handle, function) : NULL;
    if (!symbol)
        errtext_set(err, ENOENT, "cannot load %s: %s", module, dlerror());
    if (handle)
        dlclose(handle);
    return symbol;
}
