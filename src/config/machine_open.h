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

/* Check that the machine has the types of resources that limits and shares name. 0, or -1 with EINVAL and a text that
 * says where it has not, and begins with the file's name (NULL: without one). O(names).
 */
int config_check_types(const struct config *config, const match_t *machine, const char *name,
                       berth_error_t *err);

#define GRAPH_TEXT_MAX ((size_t)1 << 31) /* bytes of a file that describes a graph */

/* Read a graph from a file, in one of the formats of resource_graph_read or as hwloc's XML, of which only
 * some types are taken (hwloc_load.h). NULL with errno and a text, which doesn't name the file.
 */
resource_graph_t *config_graph_read(const char *format, const char *path, const char *allow,
                                    berth_error_t *err);

/* Bytes in a unit of the machine's memory, which is the same for all its pools. 0: it has none. */
int64_t config_memory_unit(const match_t *machine);
int64_t config_gpu_memory_unit(const match_t *machine); /* of the memory of GPUs */

#endif
