/* Modules: parts of the programs that are loaded when they are needed. */
#ifndef CONFIG_MODULE_LOAD_H
#define CONFIG_MODULE_LOAD_H

#include "berth/error.h"

/* Load a module ("berth-hwloc.so"), which lies beside the program where that is built, else in the library folder it was
 * installed in, and find a function of it. It stays loaded. NULL with ENOENT and a text.
 */
void *module_load(const char *module, const char *function, berth_error_t *err);

#endif
