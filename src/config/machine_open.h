/* The machine of a configuration. */
#ifndef CONFIG_MACHINE_OPEN_H
#define CONFIG_MACHINE_OPEN_H

#include "berth/error.h"
#include "berth/match.h"
#include "config/config.h"

/* Make the matcher that a configuration describes. File names are relative to the folder of the
 * configuration, whose path is given. Returns a matcher, which the caller destroys, or NULL with errno and a
 * text that begins with the file's name or "resources".
 */
match_t *config_machine_open(const struct config *config, const char *config_path,
                             berth_error_t *err);

/* Bytes in a unit of the machine's memory, which is the same for all its pools. 0: it has none. */
int64_t config_memory_unit(const match_t *machine);

#endif
