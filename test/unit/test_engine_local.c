#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine_scene.h"

#define MANY 300

static void a_run_starts_and_ends(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const uint64_t *keys;
    size_t n;
    uint64_t key = scene_shell(s, "echo hello; echo there >&2; exit 7");
    const struct engine_event *ended = scene_wait(s, key, ENGINE_ENDED);
    const struct engine_event *started = scene_heard(s, key, ENGINE_STARTED);
    assert_non_null(started);
    assert_true(started->pid > 0 && started->number < ended->number && started->at <= ended->at);
    assert_int_equal(ended->exit_status, 7);
    assert_int_equal(ended->exit_signal, 0);
    assert_true(ended->peak_memory > 4096 && ended->cpu_time >= 0);
    assert_string_equal(scene_text(s, "out"), "hello\nthere\n");
    assert_int_equal(s->e->ops->runs(s->e, &keys, &n), 0);
    assert_true(n == 1 && keys[0] == key);
    scene_acknowledge(s);
    assert_int_equal(s->e->ops->runs(s->e, &keys, &n), 0);
    assert_int_equal(n, 0);
    scene_end(s);
}

static void a_key_is_used_once(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {"true", NULL};
    struct engine_run run = scene_run(s, argv);
    berth_error_t err = {""};
    uint64_t key = scene_start(s, &run);
    assert_int_equal(s->e->ops->start(s->e, &run, &err), -1);
    assert_int_equal(errno, EEXIST);
    scene_wait(s, key, ENGINE_ENDED);
    scene_acknowledge(s);
    assert_int_equal(s->e->ops->start(s->e, &run, &err), -1);
    assert_int_equal(errno, EEXIST);
    s->e->ops->close(s->e);
    scene_open(s); /* another server finds it used too */
    assert_int_equal(s->e->ops->start(s->e, &run, &err), -1);
    assert_int_equal(errno, EEXIST);
    scene_end(s);
}

static void a_run_has_what_it_was_given(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    char error[100];
    char input[100];
    snprintf(error, sizeof(error), "%s/err", s->folder);
    snprintf(input, sizeof(input), "%s/in", s->folder);
    FILE *f = fopen(input, "w");
    fputs("from the input\n", f);
    fclose(f);
    const char *const argv[] = {"sh", "-c",
                                "pwd; umask; echo $A, $B, $C; cat; echo wrong >&2; "
                                "ls /proc/self/fd | wc -l; sed -n 's/^Sig\\(Blk\\|Ign\\).*\\t//p' "
                                "/proc/self/status",
                                NULL};
    const char *const env[] = {"A=of the task", "C=added", NULL};
    const struct engine_task task = {.env = env};
    struct engine_run run = scene_run(s, argv);
    run.input = input;
    run.error = error;
    run.umask = 027;
    run.tasks = &task;
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    char expected[400];
    /* Its descriptors are 0, 1, 2 and that of the folder which ls reads; no signal is blocked or ignored. */
    snprintf(expected, sizeof(expected),
             "%s\n0027\nof the task, kept, added\nfrom the input\n4\n%016d\n%016d\n", s->folder, 0,
             0);
    assert_string_equal(scene_text(s, "out"), expected);
    assert_string_equal(scene_text(s, "err"), "wrong\n");
    struct stat st;
    assert_int_equal(stat(error, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    scene_end(s);
}

static void output_is_truncated_or_appended_to(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {"echo", "line", NULL};
    struct engine_run run = scene_run(s, argv);
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    assert_string_equal(scene_text(s, "out"), "line\n");
    run.append = true;
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    assert_string_equal(scene_text(s, "out"), "line\nline\n");
    scene_end(s);
}

static void tasks_share_their_output(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {"sh", "-c", "echo task $T; exit $T", NULL};
    const char *const env[3][2] = {{"T=3", NULL}, {"T=5", NULL}, {"T=4", NULL}};
    const struct engine_task tasks[3] = {{.env = env[0]}, {.env = env[1]}, {.env = env[2]}};
    struct engine_run run = scene_run(s, argv);
    run.tasks = tasks;
    run.n_tasks = 3;
    uint64_t key = scene_start(s, &run);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_status, 5);
    const char *text = scene_text(s, "out");
    assert_int_equal(strlen(text), 3 * strlen("task 3\n"));
    assert_true(strstr(text, "task 3\n") && strstr(text, "task 4\n") && strstr(text, "task 5\n"));
    scene_end(s);
}

static void tasks_run_on_their_cores(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    cpu_set_t mine;
    int core = 0;
    assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
    while (!CPU_ISSET((size_t)core, &mine))
        core++;
    char cpus[16];
    char expected[64];
    snprintf(cpus, sizeof(cpus), "%d", core);
    snprintf(expected, sizeof(expected), "Cpus_allowed_list:\t%d\n", core);
    const char *const argv[] = {"grep", "Cpus_allowed_list", "/proc/self/status", NULL};
    const struct engine_task task = {.cpus = cpus};
    struct engine_run run = scene_run(s, argv);
    run.tasks = &task;
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    assert_string_equal(scene_text(s, "out"), expected);
    scene_end(s);
}

static void scripts_run(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {"work.sh", "one", "two words", NULL};
    const char *const nothing[] = {NULL};
    struct engine_run run = scene_run(s, argv);
    run.script = "#!/bin/sh -e\necho \"$1/$2/$#\"\nfalse\necho not reached\n";
    run.script_length = strlen(run.script);
    uint64_t key = scene_start(s, &run);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_status, 1);
    assert_string_equal(scene_text(s, "out"), "one/two words/2\n");
    run.script = "echo no first line $1\n";
    run.script_length = strlen(run.script);
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    assert_string_equal(scene_text(s, "out"), "no first line one\n");
    run.argv = nothing;
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    assert_string_equal(scene_text(s, "out"), "no first line\n");
    scene_end(s);
}

/* Where fewer files may be open than the number that a script usually has. */
static void scripts_run_with_few_files(void **state)
{
    (void)state;
    static const rlim_t few[] = {201, 200, 64, 16};
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
        const struct rlimit less = {few[i], limit.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
        struct scene *s = scene_make();
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        const char *const argv[] = {"work.sh", "one", NULL};
        char expected[64];
        struct engine_run run = scene_run(s, argv);
        run.script = "#!/bin/sh\necho \"$1 $(ulimit -n)\"\n";
        run.script_length = strlen(run.script);
        scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
        snprintf(expected, sizeof(expected), "one %d\n", (int)few[i]);
        assert_string_equal(scene_text(s, "out"), expected);
        scene_end(s);
    }
}

static void assert_fails(struct scene *s, struct engine_run *run, const char *why)
{
    uint64_t key = scene_start(s, run);
    assert_string_equal(scene_wait(s, key, ENGINE_FAILED)->text, why);
    assert_null(scene_heard(s, key, ENGINE_STARTED));
}

static void what_cannot_start_says_why(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    char text[300];
    const char *const none[] = {"no-such-command", NULL};
    const char *const path[] = {"/no/such/command", NULL};
    const char *const folder[] = {"/tmp", NULL};
    const char *const good[] = {"true", NULL};
    const struct engine_task tasks[2] = {{.cpus = NULL}, {.cpus = "65000"}};
    struct engine_run run = scene_run(s, none);
    assert_fails(s, &run, "no-such-command: No such file or directory");
    run = scene_run(s, path);
    assert_fails(s, &run, "/no/such/command: No such file or directory");
    run = scene_run(s, folder);
    assert_fails(s, &run, "/tmp: Permission denied");
    run = scene_run(s, good);
    run.directory = "/no/such";
    assert_fails(s, &run, "directory /no/such: No such file or directory");
    run = scene_run(s, good);
    run.output = "no/such/out";
    assert_fails(s, &run, "output no/such/out: No such file or directory");
    run = scene_run(s, good);
    run.error = s->folder;
    snprintf(text, sizeof(text), "error %s: Is a directory", s->folder);
    assert_fails(s, &run, text);
    run = scene_run(s, good);
    run.input = "in";
    assert_fails(s, &run, "input in: No such file or directory");
    run = scene_run(s, good);
    run.tasks = tasks;
    run.n_tasks = 2;
    assert_fails(s, &run, "cores 65000: Invalid argument");
    run = scene_run(s, good);
    run.script = "#!/no/such/shell\n";
    run.script_length = strlen(run.script);
    assert_fails(s, &run, "script: its interpreter is missing: No such file or directory");
    scene_end(s);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const good[] = {"true", NULL};
    const struct engine_task task = {.cpus = "3-1"};
    struct engine_run run = scene_run(s, good);
    berth_error_t err = {""};
    run.key = 1;
    run.n_tasks = 0;
    assert_int_equal(s->e->ops->start(s->e, &run, &err), -1);
    assert_int_equal(errno, EINVAL);
    run = scene_run(s, good);
    run.tasks = &task;
    assert_int_equal(s->e->ops->start(s->e, &run, &err), -1);
    assert_int_equal(errno, EINVAL);
    run = scene_run(s, good);
    run.processes = 1;
    run.tasks = (const struct engine_task[2]){{.cpus = NULL}, {.cpus = NULL}};
    run.n_tasks = 2;
    assert_int_equal(s->e->ops->start(s->e, &run, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "tasks: expected at most 1, as many processes as it may have");
    run = scene_run(s, good);
    run.directory = "here";
    assert_int_equal(s->e->ops->start(s->e, &run, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "directory: expected an absolute path");
    assert_int_equal(s->e->ops->signal(s->e, 1, 65, false), -1);
    assert_int_equal(errno, EINVAL);
    scene_end(s);
}

/* One task of many fails: nothing of the others is left. */
static void a_part_of_a_run_does_not_stay(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    const char *const argv[] = {"sh", "-c", "echo $$ >fifo; exec sleep 1000", NULL};
    const struct engine_task tasks[2] = {{.cpus = NULL}, {.cpus = "65000"}};
    struct engine_run run = scene_run(s, argv);
    run.tasks = tasks;
    run.n_tasks = 2;
    assert_fails(s, &run, "cores 65000: Invalid argument");
    close(fifo);
    scene_end(s);
}

static void signals_reach_the_session(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    uint64_t key = scene_shell(s, "trap 'echo got >fifo; exit 3' USR1; sleep 1000 & echo up >fifo; "
                                  "wait; echo back >fifo; exit 4");
    assert_string_equal(scene_line(fifo), "up");
    assert_int_equal(s->e->ops->signal(s->e, key, SIGUSR1, false), 0);
    s->e->ops->flush(s->e);
    assert_string_equal(scene_line(fifo), "got");
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_status, 3);
    key = scene_shell(s, "exec sleep 1000");
    scene_wait(s, key, ENGINE_STARTED);
    s->e->ops->signal(s->e, key, SIGTERM, false);
    s->e->ops->flush(s->e);
    const struct engine_event *ended = scene_wait(s, key, ENGINE_ENDED);
    assert_int_equal(ended->exit_signal, SIGTERM);
    assert_int_equal(ended->exit_status, 0);
    /* To one that has ended: nothing happens. */
    assert_int_equal(s->e->ops->signal(s->e, key, SIGTERM, false), 0);
    close(fifo);
    scene_end(s);
}

/* Its process may not have a session of its own yet. */
static void a_signal_reaches_who_has_just_begun(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    for (uint64_t key = 1; key <= MANY; key++) {
        assert_int_equal(scene_shell(s, "exec sleep 1000"), key);
        s->e->ops->signal(s->e, key, SIGTERM, false);
        s->e->ops->flush(s->e);
    }
    for (uint64_t key = 1; key <= MANY; key++)
        assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_signal, SIGTERM);
    scene_end(s);
}

static void a_signal_is_not_for_other_sessions(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    uint64_t key = scene_shell(s, "trap 'echo outer >fifo' USR1; setsid sh -c 'trap \"echo inner "
                                  ">fifo\" USR1; echo up >fifo; "
                                  "while :; do sleep 0.05; done' & while :; do wait; done");
    assert_string_equal(scene_line(fifo), "up");
    s->e->ops->signal(s->e, key, SIGUSR1, false);
    s->e->ops->flush(s->e);
    assert_string_equal(scene_line(fifo), "outer");
    s->e->ops->signal(s->e, key, SIGUSR1, true);
    s->e->ops->flush(s->e);
    int inner = 0;
    int outer = 0;
    while (inner + outer < 2)
        (*(strcmp(scene_line(fifo), "inner") == 0 ? &inner : &outer))++;
    assert_true(inner == 1 && outer == 1);
    s->e->ops->signal(s->e, key, SIGKILL, true);
    s->e->ops->flush(s->e);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_signal, SIGKILL);
    close(fifo);
    scene_end(s);
}

static void what_ignores_signals_is_killed(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    uint64_t key = scene_shell(s, "trap '' TERM INT HUP; setsid sleep 1000 & sleep 1000 & "
                                  "echo $! >fifo; wait");
    pid_t inner = (pid_t)atoi(scene_line(fifo));
    s->e->ops->signal(s->e, key, SIGTERM, true);
    s->e->ops->signal(s->e, key, SIGKILL, true);
    s->e->ops->flush(s->e);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_signal, SIGKILL);
    assert_int_equal(kill(inner, 0), -1);
    assert_int_equal(errno, ESRCH);
    close(fifo);
    scene_end(s);
}

/* A run that has been told to end before it was started. */
static void a_run_is_killed_at_once(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {"sleep", "1000", NULL};
    const struct engine_task tasks[3] = {{.cpus = NULL}, {.cpus = NULL}, {.cpus = NULL}};
    struct engine_run run = scene_run(s, argv);
    run.key = ++s->key;
    run.tasks = tasks;
    run.n_tasks = 3;
    assert_int_equal(s->e->ops->start(s->e, &run, NULL), 0);
    s->e->ops->signal(s->e, run.key, SIGKILL, true);
    s->e->ops->flush(s->e);
    assert_int_equal(scene_wait(s, run.key, ENGINE_ENDED)->exit_signal, SIGKILL);
    assert_non_null(scene_heard(s, run.key, ENGINE_STARTED));
    scene_end(s);
}

static void what_daemonises_ends_with_its_run(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    int second = scene_fifo(s, "second");
    /* In its session; out of it; out of it twice, with signals ignored. */
    uint64_t key = scene_shell(
        s, "sleep 1000 & echo $! >fifo; setsid sleep 1000 & echo $! >fifo; "
           "(trap '' TERM HUP; setsid sh -c '(sleep 1000 & echo $! >fifo)' &); read go <second; "
           "exit 2");
    pid_t pids[3];
    for (int i = 0; i < 3; i++)
        pids[i] = (pid_t)atoi(scene_line(fifo));
    assert_int_equal(write(second, "go\n", 3), 3);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_status, 2);
    for (int i = 0; i < 3; i++)
        assert_true(pids[i] > 0 && kill(pids[i], 0) == -1 && errno == ESRCH);
    close(fifo);
    close(second);
    scene_end(s);
}

/* What a run leaves behind while it goes on is its own, and another run's end doesn't touch it. */
static void others_keep_what_they_left_behind(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    int second = scene_fifo(s, "second");
    uint64_t key = scene_shell(s, "(setsid sleep 1000 & echo $! >fifo); read go <second; exit 0");
    pid_t left = (pid_t)atoi(scene_line(fifo));
    for (int i = 0; i < 5; i++)
        scene_wait(s, scene_shell(s, "(setsid true &)"), ENGINE_ENDED);
    assert_int_equal(kill(left, 0), 0);
    assert_int_equal(write(second, "go\n", 3), 3);
    scene_wait(s, key, ENGINE_ENDED);
    assert_int_equal(kill(left, 0), -1);
    close(fifo);
    close(second);
    scene_end(s);
}

static void many_run_at_once(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    for (int i = 0; i < MANY; i++)
        scene_shell(s, "read go <fifo; exit 9");
    for (uint64_t key = 1; key <= MANY; key++)
        scene_wait(s, key, ENGINE_STARTED);
    for (uint64_t key = 1; key <= MANY; key++)
        s->e->ops->signal(s->e, key, SIGKILL, true);
    s->e->ops->flush(s->e);
    for (uint64_t key = 1; key <= MANY; key++)
        assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_signal, SIGKILL);
    close(fifo);
    scene_end(s);
}

/* A run of many tasks is started in steps, between which others start and end. */
static void many_tasks_hold_up_nobody(void **state)
{
    (void)state;
    static struct engine_task tasks[1000];
    struct scene *s = scene_make();
    const char *const argv[] = {"sh", "-c", "echo; exec sleep 1000", NULL};
    struct engine_run run = scene_run(s, argv);
    run.tasks = tasks;
    run.n_tasks = sizeof(tasks) / sizeof(tasks[0]);
    uint64_t many = scene_start(s, &run);
    while (scene_text(s, "out")[0] != '\n')
        scene_take(s, 1);
    /* It says how many processes its keeper has by then. */
    uint64_t one = scene_shell(s, "wc -w </proc/$PPID/task/$PPID/children >seen");
    if (scene_wait(s, one, ENGINE_ENDED)->exit_status == 0) /* else this system does not tell */
        assert_in_range(atoi(scene_text(s, "seen")), 2, run.n_tasks - 1);
    s->e->ops->signal(s->e, many, SIGKILL, true);
    s->e->ops->flush(s->e);
    assert_int_equal(scene_wait(s, many, ENGINE_ENDED)->exit_signal, SIGKILL);
    scene_end(s);
}

static void one_server_has_a_folder(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    berth_error_t err = {""};
    const struct engine_local_options options = {
        .directory = s->keeper,
        .keeper = getenv("BERTH_KEEPER"),
    };
    assert_null(engine_local_open(&options, &err));
    assert_int_equal(errno, EBUSY);
    assert_non_null(strstr(err.text, "another server uses it"));
    scene_end(s);
}

static void a_keeper_that_is_not_there_is_told(void **state)
{
    (void)state;
    char folder[] = "/tmp/berth-engine.XXXXXX";
    berth_error_t err = {""};
    struct engine_local_options options = {.directory = folder, .keeper = "/no/such/keeper"};
    assert_non_null(mkdtemp(folder));
    assert_null(engine_local_open(&options, &err));
    assert_string_equal(err.text, "/no/such/keeper: No such file or directory");
    options.keeper = "/bin/false";
    assert_null(engine_local_open(&options, &err));
    assert_string_equal(err.text, "the keeper ended at once");
    chmod(folder, 0777);
    assert_null(engine_local_open(&options, &err));
    assert_int_equal(errno, EPERM);
    options.directory = "relative";
    assert_null(engine_local_open(&options, &err));
    assert_int_equal(errno, EINVAL);
    chmod(folder, 0700);
    char path[100];
    snprintf(path, sizeof(path), "%s/engine.lock", folder);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_starts_and_ends),
        cmocka_unit_test(a_key_is_used_once),
        cmocka_unit_test(a_run_has_what_it_was_given),
        cmocka_unit_test(output_is_truncated_or_appended_to),
        cmocka_unit_test(tasks_share_their_output),
        cmocka_unit_test(tasks_run_on_their_cores),
        cmocka_unit_test(scripts_run),
        cmocka_unit_test(scripts_run_with_few_files),
        cmocka_unit_test(what_cannot_start_says_why),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_part_of_a_run_does_not_stay),
        cmocka_unit_test(signals_reach_the_session),
        cmocka_unit_test(a_signal_reaches_who_has_just_begun),
        cmocka_unit_test(a_signal_is_not_for_other_sessions),
        cmocka_unit_test(what_ignores_signals_is_killed),
        cmocka_unit_test(a_run_is_killed_at_once),
        cmocka_unit_test(what_daemonises_ends_with_its_run),
        cmocka_unit_test(others_keep_what_they_left_behind),
        cmocka_unit_test(many_run_at_once),
        cmocka_unit_test(many_tasks_hold_up_nobody),
        cmocka_unit_test(one_server_has_a_folder),
        cmocka_unit_test(a_keeper_that_is_not_there_is_told),
    };
    return SCENE_RUN(tests);
}
