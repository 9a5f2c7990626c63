/* Tasks that hang, keepers that are stopped, and journals that are gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/local/journal.h"
#include "engine/local/procs.h"
#include "engine/local/starts.h"
#include "engine_scene.h"

static int folder_of(const struct scene *s)
{
    int fd = open(s->keeper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void remove_journal(const struct scene *s)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", s->keeper, JOURNAL_FILE);
    assert_int_equal(unlink(path), 0);
}

static bool has_ended(pid_t pid)
{
    struct proc p;
    return procs_look(pid, &p) != 0 || p.state == 'Z' || p.state == 'X';
}

/* ---- A task that can't even be killed ---- */

static void wait_for_stop(pid_t pid, int event)
{
    int status;
    assert_int_equal(waitpid(pid, &status, __WALL), pid);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(status >> 16, event);
}

/* Look at all that the keeper forks. False if this system doesn't let us. */
static bool seize(pid_t keeper)
{
    long rc = ptrace(PTRACE_SEIZE, keeper, NULL, PTRACE_O_TRACEFORK);
    if (rc)
        assert_int_equal(errno, EPERM);
    return rc == 0;
}

/* The keeper forks a task, which goes on until it is about to do a system call, and there it stays. Who is
 * killed there hangs on its way to its end, like one that waits for a file server: until it is let go it is
 * not gone, and has all its files open.
 */
static pid_t stop_task(pid_t keeper, uint64_t call)
{
    unsigned long child = 0;
    struct __ptrace_syscall_info info = {0};
    wait_for_stop(keeper, PTRACE_EVENT_FORK);
    assert_int_equal(ptrace(PTRACE_GETEVENTMSG, keeper, NULL, &child), 0);
    assert_int_equal(ptrace(PTRACE_DETACH, keeper, NULL, 0), 0);
    pid_t pid = (pid_t)child;
    wait_for_stop(pid, PTRACE_EVENT_STOP);
    assert_int_equal(
        ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT), 0);
    while (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr != call) {
        int status;
        assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, 0), 0);
        assert_int_equal(waitpid(pid, &status, __WALL), pid);
        assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80));
        assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0);
    }
    return pid;
}

static void let_go(pid_t pid)
{
    assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, 0), 0);
}

/* A run of which a task hangs, and whose keeper was killed: it holds up nobody, and is started when it is
 * known not to have been.
 */
static void a_task_that_hangs_holds_up_itself(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    pid_t keeper = scene_keeper(s);
    if (!seize(keeper)) {
        scene_end(s);
        skip(); /* processes may not be traced here */
    }
    uint64_t hangs = scene_shell(s, "echo x >>ran");
    pid_t task = stop_task(keeper, SYS_setsid);
    scene_kill_keeper(s);
    wait_for_stop(task, PTRACE_EVENT_EXIT);
    uint64_t other = scene_shell(s, "exit 3");
    assert_int_equal(scene_wait(s, other, ENGINE_ENDED)->exit_status, 3);
    assert_null(scene_heard(s, hangs, ENGINE_LOST));
    assert_true(scene_knows(s, hangs));
    assert_string_equal(scene_text(s, "ran"), "(no file)");
    let_go(task);
    scene_wait(s, hangs, ENGINE_ENDED);
    assert_string_equal(scene_text(s, "ran"), "x\n");
    scene_end(s);
}

/* One that had told the journal may have run: it never comes again. */
static void a_task_that_hangs_late_is_lost(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    pid_t keeper = scene_keeper(s);
    if (!seize(keeper)) {
        scene_end(s);
        skip();
    }
    uint64_t hangs = scene_shell(s, "echo x >>ran");
    pid_t task = stop_task(keeper, SYS_execve);
    scene_kill_keeper(s);
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    assert_null(scene_heard(s, hangs, ENGINE_LOST));
    assert_int_equal(kill(task, SIGKILL), 0);
    wait_for_stop(task, PTRACE_EVENT_EXIT);
    scene_wait(s, scene_shell(s, "exit 4"), ENGINE_ENDED);
    assert_null(scene_heard(s, hangs, ENGINE_LOST));
    let_go(task);
    scene_wait(s, hangs, ENGINE_LOST);
    assert_string_equal(scene_text(s, "ran"), "(no file)");
    scene_end(s);
}

static int pass_task(void *context, const struct journal_task *task)
{
    uint64_t *wanted = context;
    if (task->key == *wanted)
        *wanted = 0;
    return 0;
}

/* Until the keeper's journal tells of a task of this run. */
static void wait_for_record(struct scene *s, int folder, uint64_t key)
{
    uint64_t wanted = key;
    const struct journal_reader reader = {.context = &wanted, .task = pass_task};
    while (wanted) {
        struct strbuf bytes = {0};
        assert_int_equal(journal_load(folder, &bytes), 0);
        assert_int_equal(journal_read(bytes.data, bytes.len, &reader), 0);
        strbuf_clear(&bytes);
        scene_take(s, 10);
    }
}

/* It becomes the command after the next keeper has begun, whose journal does not tell of it: it is watched,
 * and not begun again.
 */
static void a_task_that_hangs_late_is_found(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    struct strbuf before = {0};
    pid_t keeper = scene_keeper(s);
    if (!seize(keeper)) {
        scene_end(s);
        skip();
    }
    int folder = folder_of(s);
    int fifo = scene_fifo(s, "fifo");
    assert_int_equal(journal_load(folder, &before), 0);
    uint64_t hangs = scene_shell(s, "echo x >>ran; read go <fifo");
    pid_t task = stop_task(keeper, SYS_execve);
    kill(keeper, SIGSTOP); /* so that it does not write another */
    close(journal_replace(folder, &before));
    scene_kill_keeper(s);
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    assert_null(scene_heard(s, hangs, ENGINE_LOST));
    let_go(task);
    wait_for_record(s, folder, hangs);
    scene_wait(s, scene_shell(s, "exit 4"), ENGINE_ENDED);
    scene_forget(s);
    assert_true(scene_knows(s, hangs));
    assert_false(has_ended(task));
    assert_int_equal(write(fifo, "go\n", 3), 3);
    scene_wait(s, hangs, ENGINE_LOST);
    assert_string_equal(scene_text(s, "ran"), "x\n");
    strbuf_clear(&before);
    close(folder);
    close(fifo);
    scene_end(s);
}

/* ---- The same, this test being what hangs: it has the lock of a run ---- */

/* The keeper is killed while a process, which stands for this one, was about to become a task of the
 * scene's next run.
 */
static int hold_next(struct scene *s)
{
    int folder = folder_of(s);
    int lock = starts_lock(folder, s->key + 1);
    assert_true(lock >= 0);
    close(folder);
    scene_kill_keeper(s);
    return lock;
}

static void what_is_held_is_started_when_it_is_let_go(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int lock = hold_next(s);
    uint64_t held = scene_shell(s, "exit 5");
    assert_int_equal(scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED)->exit_status, 3);
    assert_null(scene_heard(s, held, ENGINE_STARTED));
    scene_forget(s);
    assert_true(scene_knows(s, held)); /* so this server does not ask for it */
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    assert_null(scene_heard(s, held, ENGINE_STARTED));
    close(lock);
    assert_int_equal(scene_wait(s, held, ENGINE_ENDED)->exit_status, 5);
    scene_end(s);
}

/* The next keeper too holds back what the one before held back, and what it is asked for again. */
static void what_is_held_is_held_by_the_next_keeper(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int lock = hold_next(s);
    uint64_t held = scene_shell(s, "echo x >>ran");
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    scene_kill_keeper(s);
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    assert_null(scene_heard(s, held, ENGINE_STARTED));
    assert_string_equal(scene_text(s, "ran"), "(no file)");
    close(lock);
    scene_wait(s, held, ENGINE_ENDED);
    assert_string_equal(scene_text(s, "ran"), "x\n");
    scene_end(s);
}

static void what_is_held_can_be_killed(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int lock = hold_next(s);
    uint64_t held = scene_shell(s, "touch ran");
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    s->e->ops->signal(s->e, held, SIGTERM, false);
    s->e->ops->signal(s->e, held, SIGKILL, true);
    s->e->ops->flush(s->e);
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    assert_null(scene_heard(s, held, ENGINE_ENDED));
    close(lock);
    assert_int_equal(scene_wait(s, held, ENGINE_ENDED)->exit_signal, SIGKILL);
    assert_string_equal(scene_text(s, "ran"), "(no file)");
    scene_end(s);
}

static void write_task(const struct scene *s, uint64_t key, pid_t pid)
{
    struct proc p;
    char record[JOURNAL_TASK_MAX];
    int folder = folder_of(s);
    int journal = journal_open(folder);
    assert_true(journal >= 0);
    assert_int_equal(procs_look(pid, &p), 0);
    const struct journal_task task = {
        .key = key, .tasks = 1, .pid = pid, .since = p.start, .until = p.start};
    assert_int_equal(journal_append(journal, record, journal_task_record(record, &task)), 0);
    close(journal);
    close(folder);
}

static pid_t sleep_on(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        execlp("sleep", "sleep", "1000", (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

/* Its last word comes after the next keeper has read the journal, and after the one behind that has. */
static void what_was_started_late_is_not_started_again(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int lock = hold_next(s);
    uint64_t held = scene_shell(s, "touch ran");
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    scene_kill_keeper(s);
    for (int i = 0; i < 20; i++)
        scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    scene_acknowledge(s);
    pid_t task = sleep_on();
    write_task(s, held, task);
    close(lock);
    /* The keeper looks at locks once a turn, so it looks at this one before it does what it is asked next. */
    s->e->ops->signal(s->e, held, SIGKILL, true);
    s->e->ops->flush(s->e);
    scene_wait(s, held, ENGINE_LOST);
    int status;
    assert_int_equal(waitpid(task, &status, 0), task);
    assert_true(WIFSIGNALED(status));
    assert_string_equal(scene_text(s, "ran"), "(no file)");
    scene_end(s);
}

/* ---- A keeper that is stopped ---- */

static void wait_for_notice(struct scene *s, const char *word)
{
    const char *notice;
    while (!(notice = s->e->ops->notice(s->e)) || !strstr(notice, word))
        scene_take(s, SCENE_TIMEOUT);
}

static void wait_for_no_notice(struct scene *s)
{
    const char *notice;
    while ((notice = s->e->ops->notice(s->e)) && strstr(notice, "no job starts"))
        scene_take(s, SCENE_TIMEOUT);
}

static void a_stopped_keeper_is_told_of(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    pid_t keeper = scene_keeper(s);
    assert_int_equal(kill(keeper, SIGSTOP), 0);
    uint64_t key = scene_shell(s, "exit 7");
    wait_for_notice(s, "is stopped");
    assert_null(scene_heard(s, key, ENGINE_STARTED));
    assert_int_equal(kill(keeper, SIGCONT), 0);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_status, 7);
    wait_for_no_notice(s);
    assert_int_equal(scene_keeper(s), keeper);
    scene_end(s);
}

/* A server begins while the keeper is stopped, and goes on with it. */
static void a_stopped_keeper_stops_no_server(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    berth_error_t err = {""};
    const uint64_t *keys;
    size_t n;
    const struct engine_local_options options = {.directory = s->keeper,
                                                 .keeper = getenv("BERTH_KEEPER")};
    uint64_t key = scene_shell(s, "exec sleep 1000");
    scene_wait(s, key, ENGINE_STARTED);
    pid_t keeper = scene_keeper(s);
    assert_int_equal(kill(keeper, SIGSTOP), 0);
    s->e->ops->close(s->e);
    s->n_heard = 0;
    s->e = engine_local_open(&options, &err);
    if (!s->e)
        fail_msg("%s", err.text);
    assert_non_null(strstr(s->e->ops->notice(s->e), "is stopped"));
    assert_int_equal(s->e->ops->runs(s->e, &keys, &n), -1);
    assert_int_equal(errno, EAGAIN);
    uint64_t next = scene_shell(s, "exit 7"); /* is kept until it can be sent */
    assert_int_equal(kill(keeper, SIGCONT), 0);
    scene_meet(s);
    assert_true(scene_knows(s, key));
    assert_int_equal(scene_wait(s, next, ENGINE_ENDED)->exit_status, 7);
    s->e->ops->signal(s->e, key, SIGKILL, true);
    s->e->ops->flush(s->e);
    scene_wait(s, key, ENGINE_ENDED);
    wait_for_no_notice(s);
    scene_end(s);
}

/* ---- A journal that is gone ---- */

static void what_runs_without_a_journal_is_found(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    uint64_t key = scene_shell(s, "exec sleep 1000");
    pid_t pid = scene_wait(s, key, ENGINE_STARTED)->pid;
    remove_journal(s);
    scene_kill_keeper(s);
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    assert_null(scene_heard(s, key, ENGINE_LOST));
    scene_forget(s);
    assert_true(scene_knows(s, key));
    assert_false(has_ended(pid));
    /* Again, the next one has it in its journal, and the one behind that has none. */
    scene_kill_keeper(s);
    scene_forget(s);
    assert_true(scene_knows(s, key));
    remove_journal(s);
    scene_kill_keeper(s);
    scene_forget(s);
    assert_true(scene_knows(s, key));
    s->e->ops->signal(s->e, key, SIGTERM, false);
    s->e->ops->flush(s->e);
    scene_wait(s, key, ENGINE_LOST);
    assert_true(has_ended(pid));
    s->key += 2;
    scene_wait(s, scene_shell(s, "exit 4"), ENGINE_ENDED);
    scene_end(s);
}

/* What a task left behind is ended before it is said that its run is lost. */
static void what_was_left_behind_without_a_journal_is_ended(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int pids = scene_fifo(s, "pids");
    uint64_t key = scene_shell(s, "sleep 1000 & echo $! >pids; wait");
    pid_t left = (pid_t)atoi(scene_line(pids));
    pid_t pid = scene_wait(s, key, ENGINE_STARTED)->pid;
    remove_journal(s);
    scene_kill_keeper(s);
    kill(pid, SIGKILL);
    scene_wait(s, key, ENGINE_LOST);
    assert_true(has_ended(left));
    close(pids);
    scene_end(s);
}

/* One that is there notices, and writes another. */
static void a_journal_that_is_removed_is_written_again(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    char path[128];
    struct stat st;
    uint64_t key = scene_shell(s, "exec sleep 1000");
    scene_wait(s, key, ENGINE_STARTED);
    remove_journal(s);
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    snprintf(path, sizeof(path), "%s/%s", s->keeper, JOURNAL_FILE);
    assert_int_equal(stat(path, &st), 0);
    scene_kill_keeper(s);
    scene_forget(s);
    assert_true(scene_knows(s, key));
    s->e->ops->signal(s->e, key, SIGKILL, true);
    s->e->ops->flush(s->e);
    scene_wait(s, key, ENGINE_LOST);
    s->key++;
    scene_end(s);
}

/* Another keeper that is about to begin has the lock, for longer than one waits for it. */
static void a_keeper_that_can_not_begin_yet_is_started_again(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int ends[2];
    char path[128], c;
    snprintf(path, sizeof(path), "%s/keeper.lock", s->keeper);
    assert_int_equal(pipe(ends), 0);
    scene_kill_keeper(s);
    s->e->ops->close(s->e);
    pid_t holder = fork();
    if (holder == 0) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0 || flock(fd, LOCK_EX) || write(ends[1], "", 1) != 1)
            _exit(EXIT_FAILURE);
        sleep(4);
        _exit(EXIT_SUCCESS);
    }
    assert_int_equal(read(ends[0], &c, 1), 1);
    scene_open(s);
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    close(ends[0]);
    close(ends[1]);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_that_hangs_holds_up_itself),
        cmocka_unit_test(a_task_that_hangs_late_is_lost),
        cmocka_unit_test(a_task_that_hangs_late_is_found),
        cmocka_unit_test(what_is_held_is_started_when_it_is_let_go),
        cmocka_unit_test(what_is_held_is_held_by_the_next_keeper),
        cmocka_unit_test(what_is_held_can_be_killed),
        cmocka_unit_test(what_was_started_late_is_not_started_again),
        cmocka_unit_test(a_stopped_keeper_is_told_of),
        cmocka_unit_test(a_stopped_keeper_stops_no_server),
        cmocka_unit_test(what_runs_without_a_journal_is_found),
        cmocka_unit_test(what_was_left_behind_without_a_journal_is_ended),
        cmocka_unit_test(a_journal_that_is_removed_is_written_again),
        cmocka_unit_test(a_keeper_that_can_not_begin_yet_is_started_again),
    };
    return SCENE_RUN(tests);
}
