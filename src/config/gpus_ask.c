/* GPUs as the vendors' libraries tell of them. The libraries are loaded if they are installed, and left loaded:
 * some do not stand to be loaded twice. Of each, only functions are used that have been there for years.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "config/gpus_priv.h"

enum { NAME_SIZE = 128, MODEL_SIZE = 128, FILE_SIZE = 40 };

/* A function of a library, and where its address goes. */
struct wanted {
    const char *name;
    void *at; /* of a pointer to a function */
};

static bool find_symbols(void *library, const struct wanted *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *symbol = dlsym(library, wanted[i].name);
        if (!symbol)
            return false;
        memcpy(wanted[i].at, &symbol, sizeof(symbol));
    }
    return true;
}

/* ---- NVIDIA ---- */

typedef void *nvml_device;

static struct {
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *n);
    int (*device)(unsigned i, nvml_device *device);
    int (*uuid)(nvml_device device, char *text, unsigned size);
    int (*name)(nvml_device device, char *text, unsigned size);
} nvml;

struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};

/* Where its device file is, and how much memory it has. */
static int (*nvml_minor)(nvml_device device, unsigned *number);
static int (*nvml_memory)(nvml_device device, struct nvml_memory *memory);

/* Those of divided GPUs; older libraries lack them. */
static struct {
    int (*mode)(nvml_device device, unsigned *now, unsigned *pending);
    int (*most)(nvml_device device, unsigned *n);
    int (*instance)(nvml_device device, unsigned i, nvml_device *instance);
} mig;

/* `whole` is the GPU of which it is an instance, or itself. */
static int add_nvidia(struct gpus *gpus, nvml_device device, nvml_device whole, const char *root)
{
    char file[FILE_SIZE];
    unsigned number;
    struct nvml_memory memory = {0};
    char name[NAME_SIZE] = "", model[MODEL_SIZE] = "";

    if (nvml.uuid(device, name, sizeof(name)) != 0 || !*name)
        return 0; /* it can't be given to anyone */
    if (nvml.name(device, model, sizeof(model)) != 0)
        *model = '\0';
    name[NAME_SIZE - 1] = model[MODEL_SIZE - 1] = '\0';
    bool known = nvml_minor && nvml_minor(whole, &number) == 0;
    if (known)
        snprintf(file, sizeof(file), "/dev/nvidia%u", number);
    if (nvml_memory && nvml_memory(device, &memory) != 0)
        memory.total = 0;
    return gpus_add(gpus, name, model, memory.total, root, known ? file : NULL);
}

static int add_instances(struct gpus *gpus, nvml_device device, const char *root)
{
    nvml_device instance;
    unsigned n = 0;

    if (mig.most(device, &n) != 0)
        return 0;
    for (unsigned i = 0; i < n && i < GPUS_MAX; i++)
        if (mig.instance(device, i, &instance) == 0 && add_nvidia(gpus, instance, device, root) < 0)
            return -1;
    return 0;
}

static int list_nvidia(struct gpus *gpus, bool has_mig, const char *root)
{
    unsigned n = 0;

    if (nvml.count(&n) != 0)
        return 0;
    for (unsigned i = 0; i < n && i < GPUS_MAX; i++) {
        unsigned now = 0, pending = 0;
        nvml_device device;
        if (nvml.device(i, &device) != 0)
            continue; /* one that has failed */
        bool divided = has_mig && mig.mode(device, &now, &pending) == 0 && now == 1;
        if ((divided ? add_instances(gpus, device, root) : add_nvidia(gpus, device, device, root)) <
            0)
            return -1;
    }
    return 0;
}

int gpus_ask_nvidia(struct gpus *gpus, const char *root)
{
    const struct wanted wanted[] = {
        {"nvmlInit_v2", &nvml.init},
        {"nvmlShutdown", &nvml.shutdown},
        {"nvmlDeviceGetCount_v2", &nvml.count},
        {"nvmlDeviceGetHandleByIndex_v2", &nvml.device},
        {"nvmlDeviceGetUUID", &nvml.uuid},
        {"nvmlDeviceGetName", &nvml.name},
    };
    const struct wanted of_files[] = {{"nvmlDeviceGetMinorNumber", &nvml_minor}};
    const struct wanted of_memory[] = {{"nvmlDeviceGetMemoryInfo", &nvml_memory}};
    const struct wanted of_mig[] = {
        {"nvmlDeviceGetMigMode", &mig.mode},
        {"nvmlDeviceGetMaxMigDeviceCount", &mig.most},
        {"nvmlDeviceGetMigDeviceHandleByIndex", &mig.instance},
    };
    void *library =
        *root ? NULL : dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (!library)
        return 0;
    int rc = 0;
    if (find_symbols(library, wanted, sizeof(wanted) / sizeof(*wanted)) && nvml.init() == 0) {
        find_symbols(library, of_files, 1);
        find_symbols(library, of_memory, 1);
        rc = list_nvidia(gpus, find_symbols(library, of_mig, sizeof(of_mig) / sizeof(*of_mig)),
                         root);
        nvml.shutdown();
    }
    dlclose(library);
    return rc;
}

/* ---- AMD ---- */

static struct {
    int (*init)(uint64_t flags);
    int (*shutdown)(void);
    int (*count)(uint32_t *n);
    int (*id)(uint32_t i, uint64_t *id);
    int (*name)(uint32_t i, char *text, size_t size);
} rocm;

/* Where its device file is, and how much memory it has; older libraries lack them. */
static int (*rocm_minor)(uint32_t i, uint32_t *number);
static int (*rocm_memory)(uint32_t i, int kind, uint64_t *bytes);
enum { ROCM_VRAM = 0 }; /* its own memory */

static int list_rocm(struct gpus *gpus, const char *root)
{
    uint32_t n = 0;

    if (rocm.count(&n) != 0)
        return 0;
    for (uint32_t i = 0; i < n && i < GPUS_MAX; i++) {
        char name[NAME_SIZE], model[MODEL_SIZE] = "", file[FILE_SIZE];
        uint64_t id, memory = 0;
        uint32_t number;
        if (rocm.id(i, &id) != 0)
            continue;
        snprintf(name, sizeof(name), "GPU-%016" PRIx64, id);
        if (rocm.name(i, model, sizeof(model)) != 0)
            *model = '\0';
        model[MODEL_SIZE - 1] = '\0';
        bool known = rocm_minor && rocm_minor(i, &number) == 0;
        if (known)
            snprintf(file, sizeof(file), "/dev/dri/renderD%" PRIu32, number);
        if (rocm_memory && rocm_memory(i, ROCM_VRAM, &memory) != 0)
            memory = 0;
        if (gpus_add(gpus, name, model, memory, root, known ? file : NULL) < 0)
            return -1;
    }
    return 0;
}

int gpus_ask_rocm(struct gpus *gpus, const char *root)
{
    const struct wanted wanted[] = {
        {"rsmi_init", &rocm.init},
        {"rsmi_shut_down", &rocm.shutdown},
        {"rsmi_num_monitor_devices", &rocm.count},
        {"rsmi_dev_unique_id_get", &rocm.id},
        {"rsmi_dev_name_get", &rocm.name},
    };
    const struct wanted of_files[] = {{"rsmi_dev_drm_render_minor_get", &rocm_minor}};
    const struct wanted of_memory[] = {{"rsmi_dev_memory_total_get", &rocm_memory}};
    static const char *const versions[] = {"librocm_smi64.so.7", "librocm_smi64.so.6",
                                           "librocm_smi64.so.5", "librocm_smi64.so.1"};
    void *library = NULL;

    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions) && !library && !*root; i++)
        library = dlopen(versions[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return 0;
    int rc = 0;
    if (find_symbols(library, wanted, sizeof(wanted) / sizeof(*wanted)) && rocm.init(0) == 0) {
        find_symbols(library, of_files, 1);
        find_symbols(library, of_memory, 1);
        rc = list_rocm(gpus, root);
        rocm.shutdown();
    }
    dlclose(library);
    return rc;
}
