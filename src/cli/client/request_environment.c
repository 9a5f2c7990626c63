/* Where and with which variables a job runs: as the caller does, unless its options change that. */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/client/request_priv.h"

extern char **environ;

/* Variables of the job in which this may run, which are not for a new job. */
static const char *const own[] = {"BERTH_JOB_ID",        "BERTH_JOB_NAME",
                                  "BERTH_QUEUE",         "BERTH_ARRAY_INDEX",
                                  "BERTH_ARRAY_SIZE",    "BERTH_TASK_INDEX",
                                  "BERTH_TASKS",         "BERTH_CPUS",
                                  "BERTH_NODES",         "BERTH_R",
                                  "BERTH_ATTEMPT",       "BERTH_SUBMIT_DIR",
                                  "BERTH_CORES",         "BERTH_GPUS",
                                  "BERTH_MEM",           "BERTH_END_TIME",
                                  "BERTH_BATCH",         "BERTH_STEP_ID",
                                  "BERTH_SUBMIT_SERVER", "BERTH_MEMBER_RANK",
                                  "BERTH_MEMBER_COUNT",  "BERTH_MEMBER_HOSTS",
                                  "BERTH_RENDEZVOUS",    "BERTH_ROLE",
                                  "BERTH_ROLE_RANK",     "BERTH_ROLE_COUNT",
                                  "BERTH_ROLES",         "BERTH_GANG_INDEX",
                                  "BERTH_GANG_COUNT"};

static bool is_own_option(const char *text, size_t length, bool slurm)
{
    if (slurm && strncmp(text, "SLURM", 5) == 0)
        return true;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strlen(own[i]) == length && memcmp(own[i], text, length) == 0)
            return true;
    return false;
}

char *request_server(void)
{
    const char *directory = getenv("BERTH_DIR"), *socket = getenv("BERTH_SOCKET");
    char *text;
    return asprintf(&text, "%s:%s", directory ? directory : "", socket ? socket : "") < 0 ? NULL
                                                                                          : text;
}

static void set_key(json_t *to, const char *text)
{
    const char *sign = strchr(text, '=');
    char *name = sign && sign > text ? strndup(text, (size_t)(sign - text)) : NULL;

    if (name)
        json_object_set_new(to, name, json_string(sign + 1));
    free(name);
}

static void leave_out(json_t *from, const char *pattern)
{
    const char *name;
    json_t *value;
    void *next;

    json_object_foreach_safe(from, next, name, value) if (fnmatch(pattern, name, 0) == 0)
        json_object_del(from, name);
}

/* The environment: ours, changed by rules in order. "-PATTERN" leaves out variables whose names match,
 * "NAME" takes one from ours, "NAME=VALUE" sets one. Variables that are not UTF-8 are left out. NULL:
 * ENOMEM.
 */
static json_t *make_environment(const json_t *rules, bool slurm)
{
    /* Those of a job of Slurm are ours to leave out only where we know that they are of another job. */
    bool other = slurm || getenv("BERTH_JOB_ID");
    json_t *all = json_object();
    const json_t *rule;
    size_t i;

    if (!all)
        return NULL;
    for (char **at = environ; *at; at++)
        if (!is_own_option(*at, strcspn(*at, "="), other))
            set_key(all, *at);
    json_array_foreach (rules, i, rule) {
        const char *text = json_string_value(rule);
        const char *value;
        if (text[0] == '-')
            leave_out(all, text + 1);
        else if (strchr(text, '='))
            set_key(all, text);
        else if ((value = getenv(text)))
            json_object_set_new(all, text, json_string(value));
    }
    return all;
}

int request_surroundings(struct reading *g)
{
    char here[PATH_MAX], path[2 * PATH_MAX];
    mode_t mask = umask(0);

    umask(mask);
    if (!getcwd(here, sizeof(here)))
        return errtext_set(g->err, errno == EINVAL ? ENOENT : errno, "the working directory: %s",
                           strerror(errno));
    const char *to = g->chdir ? g->chdir : here;
    snprintf(path, sizeof(path), "%s%s%s", *to == '/' ? "" : here, *to == '/' ? "" : "/", to);
    bool slurm = json_object_get(g->job, "slurm") != NULL;
    json_t *env = make_environment(g->env, slurm);
    if (json_object_set_new(g->job, "environment", env) < 0)
        return errtext_no_memory(g->err);
    /* A path that is not UTF-8 is left out. */
    json_object_set_new(env, "BERTH_SUBMIT_DIR", json_string(here));
    char *server = request_server();
    json_object_set_new(env, "BERTH_SUBMIT_SERVER", json_string(server));
    free(server);
    if (slurm) {
        char host[HOST_NAME_MAX + 1] = "";
        gethostname(host, sizeof(host) - 1);
        json_object_set_new(env, "SLURM_SUBMIT_DIR", json_string(here));
        json_object_set_new(env, "SLURM_SUBMIT_HOST", json_string(host));
    }
    if (json_object_set_new(g->job, "directory", json_string(path)) < 0)
        return errtext_set(g->err, EINVAL, "the path of the directory is not UTF-8: %s", path);
    return json_object_set_new(g->job, "umask", json_integer((json_int_t)mask));
}
