/* What berth-hwloc.so shows. It is loaded by who needs it (config/hwloc_load.h), since hwloc takes longer to load than
 * all else that berth does at its start.
 */
#ifndef CONFIG_HWLOC_MODULE_H
#define CONFIG_HWLOC_MODULE_H

#include <stddef.h>

#include "berth/error.h"
#include "config/hwloc_load.h"
#include "resource/readers/machine.h"

#define HWLOC_MODULE_FUNCTION "berth_hwloc_read"
#define HWLOC_MODULE_CPUS     "berth_hwloc_cpus"

/* Describe the machine that hwloc's XML of length bytes describes, of version 1 or 2; or the one this runs on, if
 * that is NULL. What is allowed is a list with commas of what to look at:
 *
 *   node socket core pu gpu storage group numanode L1cache L2cache L3cache memory
 *
 * or NULL: all but memory, which hwloc's XML means otherwise in Fluxion; of this machine node, socket, core, gpu and
 * memory. Memory is one pool in MiB for each NUMA node, which gives exactly what is asked for; of this machine they add up to
 * what the system has, whatever the NUMA nodes tell.
 *
 * Returns 0, or -1 with EINVAL, EOVERFLOW or ENOMEM, the reason, and the machine as it was.
 */
int berth_hwloc_read(const char *xml, size_t length, const char *allow, struct machine *machine,
                     berth_error_t *err);

/* The CPUs of each core of this machine. Returns 0, or -1 with EINVAL or ENOMEM, and the reason. */
int berth_hwloc_cpus(struct hwloc_cpus *cpus, berth_error_t *err);

#endif
