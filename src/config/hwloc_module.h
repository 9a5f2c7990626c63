/* The interface of berth-hwloc.so. It is loaded on demand (config/hwloc_load.h), since hwloc takes longer to
 * load than the rest of berth takes to start.
 */
#ifndef CONFIG_HWLOC_MODULE_H
#define CONFIG_HWLOC_MODULE_H

#include <stddef.h>

#include "berth/error.h"
#include "config/hwloc_load.h"
#include "resource/readers/machine.h"

#define HWLOC_MODULE_FUNCTION "berth_hwloc_read"
#define HWLOC_MODULE_CPUS     "berth_hwloc_cpus"

/* Describe the machine in hwloc's XML of length bytes, version 1 or 2; or if that is NULL, the local machine.
 * `allow` lists the types to look at, separated by commas:
 *
 *   node socket core pu gpu storage group numanode L1cache L2cache L3cache memory
 *
 * or NULL: of XML all but memory, which Fluxion understands differently in XML; of the local machine node,
 * socket, core, gpu and memory. Memory is one pool in MiB for each NUMA node, any part of which can be given
 * out. The pools of the local machine add up to what the system has, whatever the NUMA nodes report.
 *
 * Returns 0, or -1 with EINVAL, EOVERFLOW or ENOMEM, the reason, and the machine as it was.
 */
int berth_hwloc_read(const char *xml, size_t length, const char *allow, struct machine *machine,
                     berth_error_t *err);

/* The CPUs of each core of the local machine. Returns 0, or -1 with EINVAL or ENOMEM, and the reason. */
int berth_hwloc_cpus(struct hwloc_cpus *cpus, berth_error_t *err);

#endif
