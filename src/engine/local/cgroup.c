/* Control groups. */
#include "engine/local/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/errtext.h"
#include "engine/local/devices.h"
#include "engine/local/procs.h"

#define ROOT  "/sys/fs/cgroup"
#define SMALL 4096

/* In a real hierarchy the file exists, or can't be made. */
static int write_control(int directory, const char *file, const char *text)
{
    int fd = openat(directory, file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return -1;
    ssize_t n = write(fd, text, strlen(text));
    int saved = errno;
    close(fd);
    errno = saved;
    return n < 0 ? -1 : 0;
}

static int write_control_number(int directory, const char *file, int64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, number);
    return write_control(directory, file, text);
}

/* A folder in a folder, made if need be. All may read it, whatever the umask: programs look for their own
 * limits there.
 */
static int folder(int directory, const char *name)
{
    int rc = mkdirat(directory, name, 0755);
    if (rc ? errno != EEXIST : fchmodat(directory, name, 0755, 0))
        return -1;
    return openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static void note_refusal(struct cgroups *c, const char *why, const char *path)
{
    snprintf(c->notice, sizeof(c->notice),
             "limits of memory, processes and cores are not enforced: %s%s%s", path,
             path[0] ? ": " : "", why);
}

/* The own cgroup below the root, from "0::/PATH". */
static int own_path(char *path, size_t size)
{
    char text[SMALL];
    errno = ENOENT;
    if (procs_read_file(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)) <= 0)
        return -1;
    const char *line = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");
    if (!line)
        return -1;
    line += *line == '\n' ? 5 : 4;
    size_t n = strcspn(line, "\n");
    if (n >= size)
        return -1;
    memcpy(path, line, n);
    path[n] = '\0';
    return 0;
}

static bool has_controller(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\n' || at[n] == '\0'))
            return true;
    return false;
}

/* Let the folders in this folder have a controller. */
static bool enable(int fd, const char *controllers, const char *name)
{
    char text[16];
    snprintf(text, sizeof(text), "+%s", name);
    return has_controller(controllers, name) &&
           write_control(fd, "cgroup.subtree_control", text) == 0;
}

static void keeper_name(const struct cgroups *c, char name[CGROUP_NAME_MAX])
{
    snprintf(name, CGROUP_NAME_MAX, "keeper-%016" PRIx64, c->id);
}

/* A folder for the keeper, which may not stay where others are limited. */
static int move_keeper(const struct cgroups *c, int base, pid_t server)
{
    char name[CGROUP_NAME_MAX];
    keeper_name(c, name);
    int fd = folder(base, name);
    if (fd < 0)
        return -1;
    int rc = cgroup_join(fd, getpid());
    if (rc == 0 && server > 0) {
        cgroup_join(fd, server);
        if (getppid() > 1)
            cgroup_join(fd, getppid()); /* which waits until the keeper is ready */
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

/* Enable the controllers of a folder for the folders below it; each flag is false if that is not possible. */
static void enable_all(struct cgroups *c, int fd)
{
    char text[SMALL];
    if (procs_read_file(fd, "cgroup.controllers", text, sizeof(text)) < 0)
        text[0] = '\0';
    c->cores = enable(fd, text, "cpuset");
    c->memory = enable(fd, text, "memory");
    c->processes = enable(fd, text, "pids");
}

/* Only root's runs can be kept from devices, and those in a real hierarchy. */
static bool needs_devices(int root)
{
    struct statfs fs;
    return geteuid() == 0 && fstatfs(root, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static int open_base(struct cgroups *c, int root, pid_t server)
{
    char path[SMALL];
    int base = -1;
    if (geteuid() == 0) {
        enable_all(c, root);
        base = folder(root, "berth");
        server = 0; /* it stands elsewhere */
    } else if (own_path(path, sizeof(path)) == 0) {
        base = openat(root, path[0] ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (base < 0)
        return -1;
    if (move_keeper(c, base, server)) {
        int saved = errno;
        close(base);
        errno = saved;
        return -1;
    }
    enable_all(c, base);
    c->whole = faccessat(base, "cgroup.events", R_OK, 0) == 0 &&
               faccessat(base, "cgroup.kill", W_OK, 0) == 0;
    return base;
}

static void tell_missing(struct cgroups *c, bool devices)
{
    char what[64] = "";
    if (!c->memory)
        strcat(what, " memory");
    if (!c->processes)
        strcat(what, " processes");
    if (!c->cores)
        strcat(what, " cores");
    if (!c->devices && devices)
        strcat(what, " devices");
    if (what[0])
        snprintf(c->notice, sizeof(c->notice),
                 "limits are not enforced for:%s (the controllers of cgroup v2 are not to be had)",
                 what);
}

void cgroups_open(struct cgroups *c, const char *root, uint64_t id, pid_t server)
{
    *c = (struct cgroups){.root = -1, .base = -1, .id = id};
    if (!root)
        root = ROOT;
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || faccessat(fd, "cgroup.controllers", R_OK, 0)) {
        note_refusal(c, "cgroup v2 is not there", root);
    } else {
        bool devices = needs_devices(fd);
        c->base = open_base(c, fd, server);
        c->devices = c->base >= 0 && devices && devices_deniable();
        if (c->base < 0)
            note_refusal(c, strerror(errno), root);
        else
            tell_missing(c, devices);
    }
    if (c->base >= 0 && geteuid() == 0)
        c->root = fd;
    else if (fd >= 0)
        close(fd);
}

void cgroups_close(struct cgroups *c)
{
    char name[CGROUP_NAME_MAX];
    if (c->root < 0)
        return;
    keeper_name(c, name);
    if (cgroup_join(c->root, getpid()) == 0)
        unlinkat(c->base, name, AT_REMOVEDIR);
}

static void name_folder(const struct cgroups *c, uint64_t key, char name[CGROUP_NAME_MAX])
{
    snprintf(name, CGROUP_NAME_MAX, "%016" PRIx64 ".%" PRIu64, c->id, key);
}

/* Returns what could not be set, or NULL. */
static const char *set_limits(const struct cgroups *c, int fd, const struct engine_run *run)
{
    if (c->memory && run->memory > 0) {
        if (write_control_number(fd, "memory.max", run->memory))
            return "memory.max";
        write_control(fd, "memory.swap.max", "0"); /* it is not there without swap */
        write_control(fd, "memory.oom.group", "1");
    }
    if (c->processes && run->processes > 0 && write_control_number(fd, "pids.max", run->processes))
        return "pids.max";
    if (c->cores && run->cpus && write_control(fd, "cpuset.cpus", run->cpus))
        return "cpuset.cpus";
    if (c->devices && run->denied && devices_deny(fd, run->denied))
        return "devices";
    return NULL;
}

int cgroup_make(const struct cgroups *c, const struct engine_run *run, berth_error_t *err)
{
    char name[CGROUP_NAME_MAX];
    name_folder(c, run->key, name);
    int fd = folder(c->base, name);
    if (fd < 0)
        return errtext_set(err, errno, "cgroup %s: %s", name, strerror(errno));
    const char *missed = set_limits(c, fd, run);
    if (!missed)
        return fd;
    errtext_set(err, errno, "cgroup: %s: %s", missed, strerror(errno));
    cgroup_remove(c, run->key, fd);
    return -1;
}

int cgroup_find(const struct cgroups *c, uint64_t key)
{
    char name[CGROUP_NAME_MAX];
    if (c->base < 0)
        return -1;
    name_folder(c, key, name);
    return openat(c->base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* The key in the name of a run's folder; 0: it is none of these. */
static uint64_t key_of_name(const struct cgroups *c, const char *name)
{
    char again[CGROUP_NAME_MAX];
    const char *dot = strrchr(name, '.');
    uint64_t key = dot ? strtoull(dot + 1, NULL, 10) : 0;
    name_folder(c, key, again);
    return strcmp(name, again) == 0 ? key : 0;
}

int cgroup_list(const struct cgroups *c, uint64_t **keys, size_t *n)
{
    size_t cap = 0;
    struct dirent *entry;
    *keys = NULL;
    *n = 0;
    if (c->base < 0)
        return 0;
    int fd = openat(c->base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int rc = dir ? 0 : -1;
    while (rc == 0 && (entry = readdir(dir))) {
        uint64_t key = key_of_name(c, entry->d_name);
        int folder = key > 0 ? cgroup_find(c, key) : -1;
        if (folder >= 0 && !cgroup_empty(folder)) {
            rc = array_grow((void **)keys, &cap, *n + 1, sizeof(**keys));
            if (rc == 0)
                (*keys)[(*n)++] = key;
        }
        if (folder >= 0)
            close(folder);
    }
    int saved = errno;
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    if (rc)
        free(*keys);
    errno = saved;
    return rc;
}

int cgroup_join(int fd, pid_t pid)
{
    return write_control_number(fd, "cgroup.procs", pid);
}

void cgroup_kill(int fd)
{
    write_control(fd, "cgroup.kill", "1");
}

bool cgroup_empty(int fd)
{
    char text[SMALL];
    if (procs_read_file(fd, "cgroup.events", text, sizeof(text)) <= 0)
        return true;
    return strstr(text, "populated 1") == NULL;
}

bool cgroup_out_of_memory(int fd, int64_t *limit)
{
    char text[SMALL];
    if (procs_read_file(fd, "memory.events", text, sizeof(text)) <= 0)
        return false;
    const char *kills = strstr(text, "\noom_kill ");
    if (!kills || strtoll(kills + strlen("\noom_kill "), NULL, 10) <= 0)
        return false;
    *limit = -1;
    if (procs_read_file(fd, "memory.max", text, sizeof(text)) > 0 && text[0] != 'm')
        *limit = strtoll(text, NULL, 10);
    return true;
}

void cgroup_usage(int fd, int64_t *peak_memory, int64_t *cpu_time)
{
    char text[SMALL];
    if (procs_read_file(fd, "memory.peak", text, sizeof(text)) > 0)
        *peak_memory = strtoll(text, NULL, 10);
    if (procs_read_file(fd, "cpu.stat", text, sizeof(text)) > 0) {
        const char *usage = strstr(text, "usage_usec ");
        if (usage)
            *cpu_time = strtoll(usage + strlen("usage_usec "), NULL, 10);
    }
}

void cgroup_remove(const struct cgroups *c, uint64_t key, int fd)
{
    char name[CGROUP_NAME_MAX];
    int saved = errno;
    name_folder(c, key, name);
    close(fd);
    unlinkat(c->base, name, AT_REMOVEDIR);
    errno = saved;
}
