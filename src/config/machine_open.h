/* The machine of a configuration. */
#ifndef CONFIG_MACHINE_OPEN_H
#define CONFIG_MACHINE_OPEN_H

#include "berth/error.h"
#include "berth/match.h"
#include "config/config.h"

/* Make the matcher that a configuration describes; a file's name is seen from the folder of the configuration, whose
 * own path is given. Returns a matcher to destroy, or NULL with errno and a text that begins with what is wrong: the
 * file's name, or "resources".
 */
match_t *config_machine_open(const struct config *config, const char *config_path,
                             berth_error_t *err);

/* Bytes in a unit of the machine's memory: what its pools say, which are alike. 0: it has none. */
int64_t config_memory_unit(const match_t *machine);

#endif
