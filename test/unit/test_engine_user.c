#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/local/journal.h"
#include "engine_scene.h"

#define USER  12345
#define GROUP 12346
#define BUSY  12348 /* another one */

static const gid_t groups[] = {GROUP, 12347};

/* A run as a user that has no name here. */
static struct engine_run as_user(const struct scene *s, const char *const *argv)
{
    struct engine_run run = scene_run(s, argv);
    run.as_user = true;
    run.uid = USER;
    run.gid = GROUP;
    run.groups = groups;
    run.n_groups = 2;
    return run;
}

static struct scene *make(void)
{
    if (geteuid() != 0)
        skip();
    struct scene *s = scene_make();
    assert_int_equal(chmod(s->folder, 0777), 0);
    return s;
}

static void a_run_is_the_user(void **state)
{
    (void)state;
    struct scene *s = make();
    const char *const argv[] = {
        "sh", "-c", "sed -n 's/^\\(Uid\\|Gid\\|Groups\\|CapEff\\):[\\t ]*//p' /proc/self/status",
        NULL};
    struct engine_run run = as_user(s, argv);
    struct stat st;
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    assert_string_equal(scene_text(s, "out"), "12345\t12345\t12345\t12345\n"
                                              "12346\t12346\t12346\t12346\n"
                                              "12346 12347 \n"
                                              "0000000000000000\n");
    assert_int_equal(stat(s->output, &st), 0);
    assert_true(st.st_uid == USER && st.st_gid == GROUP);
    scene_end(s);
}

static void files_are_opened_as_the_user(void **state)
{
    (void)state;
    struct scene *s = make();
    const char *const argv[] = {"true", NULL};
    struct engine_run run = as_user(s, argv);
    char secret[100];
    char text[200];
    snprintf(secret, sizeof(secret), "%s/secret", s->folder);
    int fd = open(secret, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, "kept\n", 5) == 5);
    close(fd);
    run.output = secret;
    snprintf(text, sizeof(text), "output %s: Permission denied", secret);
    assert_string_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->text, text);
    assert_string_equal(scene_text(s, "secret"), "kept\n");
    run = as_user(s, argv);
    run.input = secret;
    snprintf(text, sizeof(text), "input %s: Permission denied", secret);
    assert_string_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->text, text);
    run = as_user(s, argv);
    run.directory = s->keeper;
    snprintf(text, sizeof(text), "directory %s: Permission denied", s->keeper);
    assert_string_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->text, text);
    const char *const unreadable[] = {secret, NULL};
    run = as_user(s, unreadable);
    snprintf(text, sizeof(text), "%s: Permission denied", secret);
    assert_string_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->text, text);
    scene_end(s);
}

static void a_script_runs_as_the_user(void **state)
{
    (void)state;
    struct scene *s = make();
    const char *const argv[] = {"work.sh", "x", NULL};
    struct engine_run run = as_user(s, argv);
    run.script = "#!/bin/sh\necho $1 $(id -u)\n";
    run.script_length = strlen(run.script);
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    assert_string_equal(scene_text(s, "out"), "x 12345\n");
    scene_end(s);
}

/* Who isn't root can't be somebody else. */
static void only_root_starts_as_another(void **state)
{
    (void)state;
    if (geteuid() == 0)
        skip();
    struct scene *s = scene_make();
    const char *const argv[] = {"true", NULL};
    struct engine_run run = as_user(s, argv);
    assert_string_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->text,
                        "user 12345: Operation not permitted");
    scene_end(s);
}

static int count_task(void *context, const struct journal_task *task)
{
    (void)task;
    (*(int *)context)++;
    return 0;
}

/* How many tasks the journal says to have been about to run. */
static int count_tasks(const struct scene *s)
{
    int n = 0;
    struct strbuf bytes = {0};
    const struct journal_reader reader = {.context = &n, .task = count_task};
    int folder = open(s->keeper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(journal_load(folder, &bytes), 0);
    assert_int_equal(journal_read(bytes.data, bytes.len, &reader), 0);
    strbuf_clear(&bytes);
    close(folder);
    return n;
}

/* A user's limit of processes holds while tasks are started: it is found to be reached soon after it is. */
static void a_users_limit_of_processes_holds(void **state)
{
    (void)state;
    static struct engine_task tasks[400];
    struct rlimit limit;
    if (geteuid() != 0)
        skip();
    assert_int_equal(getrlimit(RLIMIT_NPROC, &limit), 0);
    const struct rlimit few = {20, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NPROC, &few), 0);
    struct scene *s = make();
    assert_int_equal(setrlimit(RLIMIT_NPROC, &limit), 0);
    const char *const argv[] = {"sleep", "1000", NULL};
    struct engine_run run = as_user(s, argv);
    run.uid = BUSY;
    run.tasks = tasks;
    run.n_tasks = sizeof(tasks) / sizeof(tasks[0]);
    uint64_t key = scene_start(s, &run);
    assert_string_equal(scene_wait(s, key, ENGINE_FAILED)->text,
                        "sleep: the user may have 20 processes (RLIMIT_NPROC), and has more");
    assert_null(scene_heard(s, key, ENGINE_STARTED));
    int tried = count_tasks(s);
    assert_true(tried > 0 && tried <= 20 + 16);
    /* Nothing of it is left. */
    run.tasks = tasks;
    run.n_tasks = 1;
    const char *const ends[] = {"true", NULL};
    run.argv = ends;
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    scene_end(s);
}

/* A folder that stands for the hierarchy of control groups. */
static void put(const char *folder, const char *file, const char *text)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Make the folder in which runs are to be, below root, with the controllers; its path in to. */
static void make_groups(const char *root, char *to, size_t size, const char *controllers)
{
    char text[4096] = "";
    assert_int_equal(mkdir(root, 0755), 0);
    put(root, "cgroup.controllers", controllers);
    snprintf(to, size, "%s/berth", root);
    if (geteuid() != 0) {
        FILE *f = fopen("/proc/self/cgroup", "r");
        assert_non_null(f);
        char *line = NULL;
        while (!line && fgets(text, sizeof(text), f))
            line = strncmp(text, "0::", 3) == 0 ? text + 3 : NULL;
        fclose(f);
        if (!line)
            line = strcpy(text, "/"); /* no cgroup v2 in this kernel */
        line[strcspn(line, "\n")] = '\0';
        assert_true(snprintf(to, size, "%s%s", root, line) < (int)size);
        to[strlen(to) - (line[1] == '\0')] = '\0';
    }
    for (char *at = to + strlen(root) + 1; at > to && *at; at += strcspn(at, "/")) {
        at += *at == '/';
        char *end = at + strcspn(at, "/");
        char kept = *end;
        *end = '\0';
        assert_true(mkdir(to, 0755) == 0 || errno == EEXIST);
        *end = kept;
    }
    put(to, "cgroup.controllers", controllers);
}

static struct scene *make_with_groups(char *root, char *base, size_t size, const char *controllers)
{
    struct scene *s = scene_make();
    pid_t keeper = scene_keeper(s);
    s->e->ops->close(s->e);
    scene_wait_for_end(keeper);
    snprintf(root, size, "%s/groups", s->folder);
    make_groups(root, base, size, controllers);
    s->cgroup = root;
    scene_open(s);
    return s;
}

static void limits_are_set_and_usage_is_read(void **state)
{
    (void)state;
    char root[300];
    char base[300];
    struct scene *s = make_with_groups(root, base, sizeof(base), "cpuset cpu memory pids\n");
    const char *notice = s->e->ops->notice(s->e);
    assert_null(notice);
    /* The run itself writes what the kernel would have counted. */
    char command[900];
    snprintf(
        command, sizeof(command),
        "cd %s/*.1 && for f in cgroup.procs memory.max memory.swap.max memory.oom.group pids.max "
        "cpuset.cpus; do echo \"$(cat $f)\"; done && stat -c %%a . && echo 123456 >memory.peak && "
        "printf 'user_usec 1\\nusage_usec 4242\\n' >cpu.stat",
        base);
    const char *const argv[] = {"sh", "-c", command, NULL};
    struct engine_run run = scene_run(s, argv);
    run.memory = 1048576;
    run.processes = 99;
    run.cpus = "0-1";
    uint64_t key = scene_start(s, &run);
    const struct engine_event *ended = scene_wait(s, key, ENGINE_ENDED);
    assert_int_equal(ended->exit_status, 0);
    assert_int_equal(ended->peak_memory, 123456);
    assert_int_equal(ended->cpu_time, 4242);
    char expected[100];
    pid_t pid = scene_heard(s, key, ENGINE_STARTED)->pid;
    snprintf(expected, sizeof(expected), "%d\n1048576\n0\n1\n99\n0-1\n755\n", (int)pid);
    assert_string_equal(scene_text(s, "out"), expected);
    snprintf(command, sizeof(command), "%s/cgroup.subtree_control", base + strlen(s->folder) + 1);
    assert_non_null(strstr(scene_text(s, command), "+pids"));
    scene_end(s);
}

/* A run that the kernel ended for want of memory is told from others that were killed. */
static void want_of_memory_is_told(void **state)
{
    (void)state;
    char root[300];
    char base[300];
    struct scene *s = make_with_groups(root, base, sizeof(base), "cpuset cpu memory pids\n");
    char command[900];
    snprintf(
        command, sizeof(command),
        "cd %s/*.$KEY && printf 'max 7\noom 1\noom_kill %%d\n' $KILLS >memory.events; kill -9 $$",
        base);
    const char *const argv[] = {"sh", "-c", command, NULL};
    const char *const killed[] = {"PATH=/usr/bin:/bin", "KEY=1", "KILLS=2", NULL};
    const char *const other[] = {"PATH=/usr/bin:/bin", "KEY=2", "KILLS=0", NULL};
    struct engine_run run = scene_run(s, argv);
    run.memory = 5 * 1048576;
    run.env = killed;
    const struct engine_event *ended = scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    assert_int_equal(ended->exit_signal, SIGKILL);
    assert_string_equal(ended->text, "out of memory: it had 5 MiB");
    run.env = other;
    ended = scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    assert_int_equal(ended->exit_signal, SIGKILL);
    assert_string_equal(ended->text, ""); /* or none */
    scene_end(s);
}

/* What the system doesn't have is said, and runs go on without. */
static void a_missing_controller_is_told(void **state)
{
    (void)state;
    char root[300];
    char base[300];
    struct scene *s = make_with_groups(root, base, sizeof(base), "cpu pids\n");
    assert_string_equal(s->e->ops->notice(s->e),
                        "limits are not enforced for: memory cores (the controllers of cgroup v2 "
                        "are not to be had)");
    const char *const argv[] = {"true", NULL};
    struct engine_run run = scene_run(s, argv);
    run.memory = 1048576;
    run.processes = 99;
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    scene_end(s);
}

static void no_groups_are_told(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    pid_t keeper = scene_keeper(s);
    s->e->ops->close(s->e);
    scene_wait_for_end(keeper);
    s->cgroup = "/no/such/hierarchy";
    scene_open(s);
    assert_string_equal(s->e->ops->notice(s->e),
                        "limits of memory, processes and cores are not enforced: "
                        "/no/such/hierarchy: cgroup v2 is not there");
    scene_end(s);
}

/* A run with a limit that the system refuses doesn't run without it. */
static void a_limit_that_cannot_be_set_is_a_failure(void **state)
{
    (void)state;
    char root[300];
    char base[300];
    struct scene *s = make_with_groups(root, base, sizeof(base), "memory pids cpuset\n");
    const char *const argv[] = {"true", NULL};
    struct engine_run run = scene_run(s, argv);
    /* A folder where the file would be; its name has the journal's id, which the first run's folder tells. */
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    char command[400];
    snprintf(command, sizeof(command), "cd %s && n=$(ls -d *.1) && mkdir -p ${n%%.1}.3/memory.max",
             base);
    scene_wait(s, scene_shell(s, command), ENGINE_ENDED);
    run.memory = 4096;
    assert_string_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->text,
                        "cgroup: memory.max: Is a directory");
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_the_user),
        cmocka_unit_test(files_are_opened_as_the_user),
        cmocka_unit_test(a_script_runs_as_the_user),
        cmocka_unit_test(only_root_starts_as_another),
        cmocka_unit_test(a_users_limit_of_processes_holds),
        cmocka_unit_test(limits_are_set_and_usage_is_read),
        cmocka_unit_test(want_of_memory_is_told),
        cmocka_unit_test(a_missing_controller_is_told),
        cmocka_unit_test(no_groups_are_told),
        cmocka_unit_test(a_limit_that_cannot_be_set_is_a_failure),
    };
    return SCENE_RUN(tests);
}
