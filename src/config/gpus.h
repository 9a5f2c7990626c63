/* The GPUs of this machine, as their vendors' libraries name them: libnvidia-ml, else librocm_smi64, which are
 * loaded where they are installed; else what the drivers of both show below /proc and /sys. hwloc's plugins for
 * them are seldom installed.
 *
 * Sources: NVIDIA's NVML API reference; AMD's ROCm SMI library manual; the drivers' README and the kernel's
 * documentation of amdkfd.
 */
#ifndef CONFIG_GPUS_H
#define CONFIG_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/error.h"

enum { GPUS_MAX = 1024, GPU_DEVICE_SIZE = 24 };

struct gpu {
    char *
        name; /* as CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES has it: "GPU-5ae1...", "MIG-..." */
    char *model;    /* "NVIDIA A100-SXM4-40GB"; "": unknown */
    int64_t memory; /* MiB; 0: unknown */
    /* The character device by which programs reach it, as "MAJOR:MINOR"; "": unknown. Instances of a divided GPU have
     * the device of the whole.
     */
    char device[GPU_DEVICE_SIZE];
};

struct gpus {
    struct gpu *v; /* by id: in the order in which the library or the system lists them */
    size_t n;
    const char *vendor; /* "nvidia" or "amd"; NULL: there are none */
};

/* Find the GPUs. A GPU that is divided (MIG) is so many GPUs as it has instances. If `only` is not NULL, it is a
 * list such as CUDA_VISIBLE_DEVICES has (numbers or names, up to the first that is neither), and the others are
 * left out. `root` comes before /proc and /sys, for tests; "" else. Returns 0, with n = 0 where there are none
 * or no driver, or -1 with ENOMEM and *gpus empty.
 */
int gpus_find(struct gpus *gpus, const char *root, const char *only);

/* As gpus_find, with what this process may use by its variables CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES: a
 * server in the job of another scheduler has that job's GPUs.
 */
int gpus_find_own(struct gpus *gpus);

void gpus_clear(struct gpus *gpus);

/* The i-th property that says of what kind a GPU is: "gpu:a100", a word of its model in lower case; a node has those of all
 * its GPUs. Returns whether there is one; out->failed: no memory. O(text of the model).
 */
bool gpu_property(const struct gpu *gpu, size_t i, struct strbuf *out);

#endif
