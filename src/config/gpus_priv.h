/* Where GPUs are found: a row for each source. */
#ifndef CONFIG_GPUS_PRIV_H
#define CONFIG_GPUS_PRIV_H

#include "config/gpus.h"

/* Append a GPU with so many bytes of memory (0: unknown); texts are copied. `file` is its device file, below `root`; NULL:
 * unknown. Returns 0, or -1 with ENOMEM, or ENOSPC beyond GPUS_MAX.
 */
int gpus_add(struct gpus *gpus, const char *name, const char *model, uint64_t memory,
             const char *root, const char *file);

/* Each appends what it finds; nothing where its library or driver is not there. -1 with ENOMEM. */
int gpus_ask_nvidia(struct gpus *gpus, const char *root);  /* libnvidia-ml */
int gpus_ask_rocm(struct gpus *gpus, const char *root);    /* librocm_smi64 */
int gpus_look_nvidia(struct gpus *gpus, const char *root); /* /proc/driver/nvidia */
int gpus_look_amd(struct gpus *gpus, const char *root);    /* /sys/class/kfd */

#endif
