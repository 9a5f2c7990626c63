#include "cli/client/early.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"

static int check_program(const char *name, const char *directory, size_t words, berth_error_t *err)
{
    char path[2 * PATH_MAX];
    if (!strchr(name, '/') || strpbrk(name, " ;|&<>")) {
        /* a name with blanks is rarely that of a program */
        if (words > 1 || !strpbrk(name, " ;|&<>"))
            return 0;
        if (strchr(name, '/') && access(name, F_OK) == 0)
            return 0;
        return errtext_set(err, ENOENT,
                           "there is no program '%.80s'; a line for the shell is --wrap '%.80s'",
                           name, name);
    }
    snprintf(path, sizeof(path), "%s%s%s", *name == '/' ? "" : directory, *name == '/' ? "" : "/",
             name);
    return access(path, F_OK) == 0 || errno != ENOENT
               ? 0
               : errtext_set(err, ENOENT, "%.200s: there is no such file", name);
}

/* A folder whose name depends on the job is there or not when it starts. */
static int check_folder_of(const json_t *job, const char *key, const char *directory,
                           berth_error_t *err)
{
    const char *file = json_string_value(json_object_get(job, key));
    const char *slash = file ? strrchr(file, '/') : NULL;
    char path[2 * PATH_MAX];
    if (!slash || slash == file || memchr(file, '%', (size_t)(slash - file)))
        return 0;
    snprintf(path, sizeof(path), "%s%s%.*s", *file == '/' ? "" : directory, *file == '/' ? "" : "/",
             (int)(slash - file), file);
    return access(path, F_OK) == 0 || errno != ENOENT
               ? 0
               : errtext_set(err, ENOENT, "--%s: there is no folder %.200s", key, path);
}

int early_check(const json_t *job, berth_error_t *err)
{
    const json_t *command = json_object_get(job, "command");
    const char *directory = json_string_value(json_object_get(job, "directory"));
    const char *name = json_string_value(json_array_get(command, 0));
    if (!directory || json_object_get(job, "dependency") || json_object_get(job, "begin"))
        return 0;
    if (!strchr(directory, '%') && access(directory, F_OK) < 0 && errno == ENOENT)
        return errtext_set(err, ENOENT, "%.200s: there is no such directory", directory);
    if (!strchr(directory, '%') && (check_folder_of(job, "output", directory, err) < 0 ||
                                    check_folder_of(job, "error", directory, err) < 0))
        return -1;
    return name ? check_program(name, directory, json_array_size(command), err) : 0;
}
