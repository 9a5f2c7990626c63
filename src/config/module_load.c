#include "config/module_load.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"

/* Where to look, relative to the program: in the build directory and the folders of its tests, then where it
 * was installed, even if it has been moved since.
 */
static const char *const folders[] = {"", "../", "../../", BERTH_MODULE_FROM_BIN "/"};

/* The module beside a file, by its path, or in a folder from there. */
static bool find_beside(const char *file, const char *const *from, size_t n_from,
                        const char *module, char path[PATH_MAX])
{
    const char *slash = strrchr(file, '/');
    int length = slash ? (int)(slash + 1 - file) : 0;

    for (size_t i = 0; i < n_from; i++) {
        int n = snprintf(path, PATH_MAX, "%.*s%s%s", from[i][0] == '/' ? 0 : length, file, from[i],
                         module);
        if (n > 0 && n < PATH_MAX && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* Where this code is: the program, or a module of another program, such as a broker of
 * Flux, wherever links to it are.
 */
static bool find_module(const char *module, char path[PATH_MAX])
{
    static const char here;
    static const char *const from_flux[] = {"", "../../berth/"};
    char self[PATH_MAX], library[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    Dl_info info;

    if (length <= 0)
        return false;
    self[length] = '\0';
    return find_beside(self, folders, sizeof(folders) / sizeof(*folders), module, path) ||
           (dladdr(&here, &info) != 0 && info.dli_fname && realpath(info.dli_fname, library) &&
            find_beside(library, from_flux, sizeof(from_flux) / sizeof(*from_flux), module, path));
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
