/* Modules: parts of the programs that are loaded on demand. */
#ifndef CONFIG_MODULE_LOAD_H
#define CONFIG_MODULE_LOAD_H

#include "berth/error.h"

/* Load a module ("berth-hwloc.so") and find a function of it. The module lies beside the program in the build
 * directory, else in the library folder in which it was installed. It stays loaded. NULL with ENOENT and a
 * text.
 */
void *module_load(const char *module, const char *function, berth_error_t *err);

#endif
