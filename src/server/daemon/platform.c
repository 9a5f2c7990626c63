#include "server/daemon/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "config/hwloc_load.h"
#include "config/machine_open.h"
#include "resource/graph.h"
#include "server/daemon/notify.h"

#define TEXT_MAX ((size_t)1 << 20) /* limit of an entry of the user database */

struct platform {
    char boot[64];
    struct hwloc_cpus cpus;
    char *text;        /* strings of the last user's entry */
    char *group_texts; /* concatenated names of the groups */
    gid_t *groups;
    const char **names;
    struct server_user user;
};

static int64_t clock_micros(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t platform_steady(void *context)
{
    (void)context;
    return clock_micros(CLOCK_BOOTTIME);
}

static int64_t platform_wall(void *context)
{
    (void)context;
    return clock_micros(CLOCK_REALTIME);
}

static const char *platform_boot(void *context)
{
    struct platform *w = context;
    return w->boot;
}

static void read_boot_id(struct platform *w)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, w->boot, sizeof(w->boot) - 1);

    if (fd >= 0)
        close(fd);
    w->boot[n > 0 ? n : 0] = '\0';
    w->boot[strcspn(w->boot, "\n")] = '\0';
}

static void forget_user(struct platform *w)
{
    free(w->text);
    free(w->group_texts);
    free(w->groups);
    free(w->names);
    w->text = w->group_texts = NULL;
    w->groups = NULL;
    w->names = NULL;
}

/* Look up a user; the strings are in w->text. */
static int read_entry(struct platform *w, uid_t uid, struct passwd *entry)
{
    struct passwd *found = NULL;

    for (size_t size = 1024; size <= TEXT_MAX; size *= 4) {
        free(w->text);
        w->text = malloc(size);
        if (!w->text)
            return -1;
        int rc = getpwuid_r(uid, entry, w->text, size, &found);
        if (rc == ERANGE)
            continue;
        if (found)
            return 0;
        errno = ENOENT;
        return -1;
    }
    errno = ENOENT;
    return -1;
}

static int get_groups(struct platform *w, const char *name, gid_t gid)
{
    int n = 32;

    for (int tries = 0; tries < 4; tries++) {
        int room = n;
        free(w->groups);
        w->groups = malloc((size_t)n * sizeof(*w->groups));
        if (!w->groups)
            return -1;
        if (getgrouplist(name, gid, w->groups, &n) >= 0) {
            w->user.n_groups = (size_t)n;
            return 0;
        }
        n = n > room ? n : 2 * room;
    }
    errno = ENOMEM;
    return -1;
}

/* The names of the groups, or numbers for groups without a name. */
static int name_groups(struct platform *w)
{
    size_t n = w->user.n_groups, used = 0;
    size_t *at = calloc(n + 1, sizeof(*at));
    char number[16];

    w->names = calloc(n + 1, sizeof(*w->names));
    if (!at || !w->names)
        goto fail;
    for (size_t i = 0; i < n; i++) {
        struct group *group = getgrgid(w->groups[i]);
        snprintf(number, sizeof(number), "%u", (unsigned)w->groups[i]);
        const char *name = group ? group->gr_name : number;
        char *grown = realloc(w->group_texts, used + strlen(name) + 1);
        if (!grown)
            goto fail;
        w->group_texts = grown;
        memcpy(grown + used, name, strlen(name) + 1);
        at[i] = used;
        used += strlen(name) + 1;
    }
    for (size_t i = 0; i < n; i++)
        w->names[i] = w->group_texts + at[i];
    free(at);
    return 0;
fail:
    free(at);
    errno = ENOMEM;
    return -1;
}

static int platform_user(void *context, uid_t uid, struct server_user *out)
{
    struct platform *w = context;
    struct passwd entry;

    forget_user(w);
    if (read_entry(w, uid, &entry) < 0 || get_groups(w, entry.pw_name, entry.pw_gid) < 0 ||
        name_groups(w) < 0) {
        int saved = errno;
        forget_user(w);
        errno = saved;
        return -1;
    }
    w->user.name = entry.pw_name;
    w->user.gid = entry.pw_gid;
    w->user.groups = w->groups;
    w->user.group_names = w->names;
    w->user.home = entry.pw_dir;
    w->user.shell = entry.pw_shell;
    *out = w->user;
    return 0;
}

static uint32_t count_nodes(const struct graph *g)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < g->n; v++)
        n += !g->v[v].gone && strcmp(intern_text(&g->types, g->v[v].type), "node") == 0;
    return n;
}

static match_t *platform_machine(void *context, const struct config *config,
                                 const char *config_path, berth_error_t *err)
{
    struct platform *w = context;
    match_t *m = config_machine_open(config, config_path, err);

    if (m && !config->server.imagined && count_nodes(match_graph(m)) > 1) {
        match_destroy(m);
        errtext_set(err, EINVAL,
                    "%s: resources: there are several nodes, and jobs run on this one alone, "
                    "expected local, or under server: imagined: yes to pretend",
                    config_path);
        return NULL;
    }
    /* The cores of any other machine are unknown here, and its jobs are not bound. */
    hwloc_cpus_clear(&w->cpus);
    if (m && config->resources.source == CONFIG_LOCAL)
        hwloc_cpus(&w->cpus, NULL);
    return m;
}

static const char *platform_cpus(void *context, int64_t core)
{
    const struct platform *w = context;
    return core >= 0 && (size_t)core < w->cpus.n ? w->cpus.v[core] : NULL;
}

/* Read a limit from a file of the system; INT64_MAX: none. */
static int64_t read_system_limit(const char *path)
{
    char text[32] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0)
        close(fd);
    int64_t number = n > 0 ? strtoll(text, NULL, 10) : 0;
    return number > 0 ? number : INT64_MAX;
}

static int64_t platform_processes(void)
{
    int64_t pids = read_system_limit("/proc/sys/kernel/pid_max");
    int64_t threads = read_system_limit("/proc/sys/kernel/threads-max");
    int64_t least = pids < threads ? pids : threads;
    return least < INT64_MAX ? least : 0;
}

static void platform_notify(void *context, const struct server_notification *n)
{
    (void)context;
    notify_start(n);
}

/* Whether a folder of PATH has it. */
static bool has_program(const char *name)
{
    char path[PATH_MAX];
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        size_t n = strcspn(folder, ":");
        int length = snprintf(path, sizeof(path), "%.*s/%s", (int)n, folder, name);
        if (n > 0 && length > 0 && (size_t)length < sizeof(path) && access(path, X_OK) == 0)
            return true;
        folder += n + (folder[n] == ':');
    }
    return false;
}

/* Slurm's commands are of use where they find a cluster's configuration. */
static bool has_slurm(void)
{
    static const char *const files[] = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"};
    const char *conf = getenv("SLURM_CONF");
    if (!has_program("sbatch"))
        return false;
    return conf ? access(conf, R_OK) == 0
                : access(files[0], R_OK) == 0 || access(files[1], R_OK) == 0;
}

struct platform *platform_create(void)
{
    struct platform *w = calloc(1, sizeof(*w));
    if (w)
        read_boot_id(w);
    return w;
}

void platform_destroy(struct platform *w)
{
    if (!w)
        return;
    forget_user(w);
    hwloc_cpus_clear(&w->cpus);
    free(w);
}

void platform_fill(struct platform *w, struct server_platform *out)
{
    out->context = w;
    out->steady = platform_steady;
    out->wall = platform_wall;
    out->boot = platform_boot;
    out->user = platform_user;
    out->machine = platform_machine;
    out->cpus = platform_cpus;
    out->notify = platform_notify;
    out->processes = platform_processes();
    out->has_slurm = has_slurm();
}
