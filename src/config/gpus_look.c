/* GPUs as the drivers show them in files. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/gpus_priv.h"

enum { TEXT_SIZE = 4096 };

/* Read the beginning of a file, in a folder's entry. Returns whether there is one. */
static bool read_entry_file(char *text, const char *root, const char *folder, const char *entry,
                            const char *file)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s%s/%s/%s", root, folder, entry, file);
    FILE *in = n > 0 && n < PATH_MAX ? fopen(path, "re") : NULL;

    if (!in)
        return false;
    size_t length = fread(text, 1, TEXT_SIZE - 1, in);
    text[length] = '\0';
    fclose(in);
    return true;
}

/* What stands behind a key at the beginning of a line, to the line's end, without spaces at both ends. */
static const char *value_behind(char *text, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);

    *value = '\0';
    for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, key, length) != 0)
            continue;
        const char *at = line + length + strspn(line + length, ": \t");
        size_t n = strcspn(at, "\n");
        while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t'))
            n--;
        snprintf(value, size, "%.*s", (int)(n < size ? n : size - 1), at);
        break;
    }
    return value;
}

/* The entries of a folder, in the order of their names. Returns how many; 0: there is no such folder. */
static int list_folder(const char *root, const char *folder, struct dirent ***entries,
                       int (*order)(const struct dirent **, const struct dirent **))
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s%s", root, folder);

    if (n < 0 || n >= PATH_MAX)
        return 0;
    n = scandir(path, entries, NULL, order);
    return n < 0 ? 0 : n;
}

static void free_entries(struct dirent **entries, int n)
{
    int saved = errno;
    for (int i = 0; i < n; i++)
        free(entries[i]);
    if (n > 0)
        free(entries);
    errno = saved;
}

/* A driver that has not looked at a GPU yet has no name for it. */
static bool is_known_name(const char *name)
{
    return *name && !strchr(name, '?');
}

int gpus_look_nvidia(struct gpus *gpus, const char *root)
{
    static const char folder[] = "/proc/driver/nvidia/gpus";
    char text[TEXT_SIZE], name[128], model[128], number[32], file[64];
    struct dirent **entries;
    int n = list_folder(root, folder, &entries, alphasort), rc = 0;

    for (int i = 0; i < n && rc == 0; i++) {
        if (entries[i]->d_name[0] == '.' ||
            !read_entry_file(text, root, folder, entries[i]->d_name, "information"))
            continue;
        value_behind(text, "GPU UUID", name, sizeof(name));
        value_behind(text, "Model", model, sizeof(model));
        value_behind(text, "Device Minor", number, sizeof(number));
        snprintf(file, sizeof(file), "/dev/nvidia%s", number);
        if (is_known_name(name))
            rc = gpus_add(gpus, name, model, 0, root, *number ? file : NULL);
    }
    free_entries(entries, n);
    return rc;
}

/* The bytes of memory of the GPU with a render node; 0: unknown. */
static uint64_t memory_of(const char *root, const char *number)
{
    char text[TEXT_SIZE], entry[64];

    snprintf(entry, sizeof(entry), "renderD%s/device", number);
    return read_entry_file(text, root, "/sys/class/drm", entry, "mem_info_vram_total")
               ? strtoull(text, NULL, 10)
               : 0;
}

/* A node of the topology is a GPU if it has units that compute. */
int gpus_look_amd(struct gpus *gpus, const char *root)
{
    static const char folder[] = "/sys/class/kfd/kfd/topology/nodes";
    char text[TEXT_SIZE], units[32], id[32], name[64], model[128], number[32], file[64];
    struct dirent **entries;
    int n = list_folder(root, folder, &entries, versionsort), rc = 0;

    for (int i = 0; i < n && rc == 0; i++) {
        if (entries[i]->d_name[0] == '.' ||
            !read_entry_file(text, root, folder, entries[i]->d_name, "properties") ||
            strtoull(value_behind(text, "simd_count", units, sizeof(units)), NULL, 10) == 0)
            continue;
        uint64_t unique = strtoull(value_behind(text, "unique_id", id, sizeof(id)), NULL, 10);
        if (unique == 0)
            continue;
        snprintf(name, sizeof(name), "GPU-%016" PRIx64, unique);
        value_behind(text, "drm_render_minor", number, sizeof(number));
        snprintf(file, sizeof(file), "/dev/dri/renderD%s", number);
        *model = '\0';
        if (read_entry_file(text, root, folder, entries[i]->d_name, "name"))
            snprintf(model, sizeof(model), "%.*s", (int)strcspn(text, "\n"), text);
        rc = gpus_add(gpus, name, model, memory_of(root, number), root, *number ? file : NULL);
    }
    free_entries(entries, n);
    return rc;
}
