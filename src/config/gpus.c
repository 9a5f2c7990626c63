#include "config/gpus.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "config/gpus_priv.h"

static const struct {
    int (*find)(struct gpus *gpus, const char *root);
    const char *vendor, *variable;
} sources[] = {
    {gpus_ask_nvidia, "nvidia", "CUDA_VISIBLE_DEVICES"},
    {gpus_look_nvidia, "nvidia", "CUDA_VISIBLE_DEVICES"},
    {gpus_ask_rocm, "amd", "ROCR_VISIBLE_DEVICES"},
    {gpus_look_amd, "amd", "ROCR_VISIBLE_DEVICES"},
};

/* What a device file stands for; "": there is none. */
static void read_device(char text[GPU_DEVICE_SIZE], const char *root, const char *file)
{
    struct stat st;
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s%s", root, file ? file : "");

    *text = '\0';
    if (file && n > 0 && n < PATH_MAX && stat(path, &st) == 0 && S_ISCHR(st.st_mode))
        snprintf(text, GPU_DEVICE_SIZE, "%u:%u", major(st.st_rdev), minor(st.st_rdev));
}

int gpus_add(struct gpus *gpus, const char *name, const char *model, uint64_t memory,
             const char *root, const char *file)
{
    if (gpus->n >= GPUS_MAX) {
        errno = ENOSPC;
        return -1;
    }
    struct gpu *grown = realloc(gpus->v, (gpus->n + 1) * sizeof(*grown));
    if (!grown)
        return -1;
    gpus->v = grown;
    struct gpu gpu = {
        .name = strdup(name), .model = strdup(model), .memory = (int64_t)(memory >> 20)};
    if (!gpu.name || !gpu.model) {
        free(gpu.name);
        free(gpu.model);
        errno = ENOMEM;
        return -1;
    }
    read_device(gpu.device, root, file);
    gpus->v[gpus->n++] = gpu;
    return 0;
}

void gpus_clear(struct gpus *gpus)
{
    for (size_t i = 0; i < gpus->n; i++) {
        free(gpus->v[i].name);
        free(gpus->v[i].model);
    }
    free(gpus->v);
    *gpus = (struct gpus){0};
}

/* ---- A part of them ---- */

/* The GPU that an entry of a list means: a number, or the beginning of a name that no other has. GPUS_MAX: none. */
static size_t find_entry(const struct gpus *gpus, const char *entry, size_t length)
{
    size_t found = GPUS_MAX;

    if (length > 0 && strspn(entry, "0123456789") >= length) {
        size_t number = 0;
        for (size_t i = 0; i < length && number < GPUS_MAX; i++)
            number = 10 * number + (size_t)(entry[i] - '0');
        return number < gpus->n ? number : GPUS_MAX;
    }
    for (size_t i = 0; i < gpus->n && length > 0; i++) {
        if (strncmp(gpus->v[i].name, entry, length) != 0)
            continue;
        if (found != GPUS_MAX)
            return GPUS_MAX;
        found = i;
    }
    return found;
}

/* Leave those that a list has, in its order. An entry that is no GPU ends it, as the vendors' libraries read it. */
static void keep_only(struct gpus *gpus, const char *only)
{
    struct gpu kept[GPUS_MAX];
    bool taken[GPUS_MAX] = {false};
    size_t n = 0;

    while (*only) {
        size_t length = strcspn(only, ",");
        size_t at = find_entry(gpus, only, length);
        if (at == GPUS_MAX || taken[at])
            break;
        taken[at] = true;
        kept[n++] = gpus->v[at];
        only += length + (only[length] == ',');
    }
    for (size_t i = 0; i < gpus->n; i++) {
        if (taken[i])
            continue;
        free(gpus->v[i].name);
        free(gpus->v[i].model);
    }
    gpus->n = n;
    if (n > 0)
        memcpy(gpus->v, kept, n * sizeof(*kept));
}

/* *variable becomes the one that tells programs which of them they may use. */
static int find_gpus(struct gpus *gpus, const char *root, const char **variable)
{
    *gpus = (struct gpus){0};
    *variable = NULL;
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        if (sources[i].find(gpus, root) < 0 && errno == ENOMEM) {
            gpus_clear(gpus);
            errno = ENOMEM;
            return -1;
        }
        if (gpus->n > 0) {
            gpus->vendor = sources[i].vendor;
            *variable = sources[i].variable;
            return 0;
        }
    }
    return 0;
}

int gpus_find(struct gpus *gpus, const char *root, const char *only)
{
    const char *variable;
    int rc = find_gpus(gpus, root, &variable);

    if (rc == 0 && only)
        keep_only(gpus, only);
    return rc;
}

int gpus_find_own(struct gpus *gpus)
{
    const char *variable, *only = NULL;
    int rc = find_gpus(gpus, "", &variable);

    if (rc == 0 && variable)
        only = getenv(variable);
    if (only)
        keep_only(gpus, only);
    return rc;
}

/* ---- Kinds ---- */

static bool is_kind_char(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_';
}

bool gpu_property(const struct gpu *gpu, size_t i, struct strbuf *out)
{
    strbuf_clear(out);
    for (const char *at = gpu->model; *at;) {
        size_t n = 0;
        while (is_kind_char(at[n]))
            n++;
        if (n > 0 && i-- == 0) {
            strbuf_puts(out, "gpu:");
            for (size_t k = 0; k < n; k++)
                strbuf_putc(out, (char)tolower((unsigned char)at[k]));
            return true;
        }
        at += n > 0 ? n : 1;
    }
    return false;
}
