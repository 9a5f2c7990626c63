/* Keepers whose journal is not what the one before has written, and processes that don't let themselves be
 * looked at.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "engine/local/journal.h"
#include "engine/local/procs.h"
#include "engine_scene.h"

#define RUNS 5

static int folder_of(const struct scene *s)
{
    int fd = open(s->keeper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void read_journal(const struct scene *s, struct strbuf *bytes)
{
    int folder = folder_of(s);
    assert_int_equal(journal_load(folder, bytes), 0);
    close(folder);
}

static void put_journal(const struct scene *s, const struct strbuf *bytes)
{
    int folder = folder_of(s);
    int fd = journal_replace(folder, bytes);
    assert_true(fd >= 0);
    close(fd);
    close(folder);
}

/* Until it is killed nothing can happen to its journal that it does not see; after that the next one is not
 * there yet.
 */
static void kill_keeper_and_put(struct scene *s, const struct strbuf *bytes)
{
    pid_t keeper = scene_keeper(s);
    assert_true(keeper > 0);
    assert_int_equal(kill(keeper, SIGSTOP), 0);
    put_journal(s, bytes);
    assert_int_equal(kill(keeper, SIGKILL), 0);
    scene_wait_for_end(keeper);
}

static uint64_t first_of(const struct scene *s)
{
    return s->key + 1 - RUNS;
}

/* Runs that note that they have begun, and end when they get a line. */
static void start_runs(struct scene *s, int begun)
{
    for (int i = 0; i < RUNS; i++) {
        scene_shell(s, "echo x >>ran; echo up >begun; read go <fifo");
        scene_line(begun);
    }
}

/* Whatever the keeper's journal is now, these runs are watched to their end, and none of them begins again.
 * 
 */
static void check_runs(struct scene *s, int fifo)
{
    uint64_t first = first_of(s);
    scene_wait(s, scene_shell(s, "exit 3"), ENGINE_ENDED);
    for (uint64_t key = first; key < s->key; key++)
        assert_null(scene_heard(s, key, ENGINE_LOST));
    scene_forget(s);
    for (uint64_t key = first; key < s->key; key++)
        assert_true(scene_knows(s, key));
    for (int i = 0; i < RUNS; i++)
        assert_int_equal(write(fifo, "go\n", 3), 3);
    for (uint64_t key = first; key < s->key; key++)
        scene_wait(s, key, ENGINE_LOST);
    assert_string_equal(scene_text(s, "ran"), "x\nx\nx\nx\nx\n");
}

enum damage { CUT, EMPTY, OLDER, ANOTHER_BOOT };

static void make_journal(const struct scene *s, enum damage damage, struct strbuf *bytes)
{
    struct journal_head head = {.id = 77, .base = 5, .boot = "another boot"};
    if (damage == CUT) {
        read_journal(s, bytes);
        bytes->len /= 2;
    } else if (damage == ANOTHER_BOOT) {
        const struct used_range used = {1, first_of(s) + 1};
        const struct journal_task task = {.key = s->key, .tasks = 1, .pid = 1};
        journal_put_head(bytes, &head);
        journal_put_used(bytes, &used);
        journal_put_task(bytes, &task);
    }
}

/* `heard`: the server knows that they have begun, else it asks the next keeper for them. */
static void try_damage(enum damage damage, bool heard)
{
    struct scene *s = scene_make();
    struct strbuf bytes = {0};
    int begun = scene_fifo(s, "begun");
    int fifo = scene_fifo(s, "fifo");
    uint64_t ended = scene_shell(s, "exit 0");
    scene_wait(s, ended, ENGINE_ENDED);
    scene_acknowledge(s);
    scene_wait(s, scene_shell(s, "exit 0"), ENGINE_ENDED);
    if (damage == OLDER)
        read_journal(s, &bytes);
    start_runs(s, begun);
    for (uint64_t key = first_of(s); heard && key <= s->key; key++)
        scene_wait(s, key, ENGINE_STARTED);
    make_journal(s, damage, &bytes);
    kill_keeper_and_put(s, &bytes);
    strbuf_clear(&bytes);
    check_runs(s, fifo);
    close(fifo);
    close(begun);
    scene_end(s);
}

static void a_journal_may_be_cut_off(void **state)
{
    (void)state;
    try_damage(CUT, true);
    try_damage(CUT, false);
}

static void a_journal_may_be_empty(void **state)
{
    (void)state;
    try_damage(EMPTY, true);
    try_damage(EMPTY, false);
}

static void a_journal_may_be_older(void **state)
{
    (void)state;
    try_damage(OLDER, true);
    try_damage(OLDER, false);
}

static void a_journal_may_be_of_another_boot(void **state)
{
    (void)state;
    try_damage(ANOTHER_BOOT, true);
    try_damage(ANOTHER_BOOT, false);
}

/* Another server has used the same keys: its runs have ended, acknowledged or not, or are there. */
static void a_journal_may_be_of_another_directory(void **state)
{
    (void)state;
    struct scene *other = scene_make();
    struct scene *s = scene_make();
    struct strbuf bytes = {0};
    int begun = scene_fifo(s, "begun");
    int fifo = scene_fifo(s, "fifo");
    for (int i = 0; i < 3; i++)
        scene_wait(other, scene_shell(other, "exit 0"), ENGINE_ENDED);
    scene_acknowledge(other);
    scene_wait(other, scene_shell(other, "exit 4"), ENGINE_ENDED);
    uint64_t there = scene_shell(other, "exec sleep 1000");
    pid_t pid = scene_wait(other, there, ENGINE_STARTED)->pid;
    start_runs(s, begun);
    for (uint64_t key = first_of(s); key <= s->key; key++)
        scene_wait(s, key, ENGINE_STARTED);
    read_journal(other, &bytes);
    kill_keeper_and_put(s, &bytes);
    strbuf_clear(&bytes);
    check_runs(s, fifo);
    /* The other one's are left alone. */
    assert_int_equal(kill(pid, 0), 0);
    assert_null(scene_heard(other, there, ENGINE_LOST));
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(scene_wait(other, there, ENGINE_ENDED)->exit_signal, SIGTERM);
    close(fifo);
    close(begun);
    scene_end(s);
    scene_end(other);
}

/* A process outside of all runs, with a mark in its environment. */
static pid_t make_marked(const char *id, uint64_t key)
{
    char mark[128];
    int ready[2];
    char byte;
    snprintf(mark, sizeof(mark), "BERTH_RUN=%s.%llu", id, (unsigned long long)key);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *const env[] = {mark, NULL};
        setsid();
        execle("/bin/sleep", "sleep", "1000", (char *)NULL, env);
        _exit(127);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0); /* it is the program now */
    close(ready[0]);
    return pid;
}

static void end_marked(pid_t pid)
{
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* That of the scene's directory, from a run of its own. */
static void find_id(struct scene *s, char id[64])
{
    uint64_t key = scene_shell(s, "echo $BERTH_RUN >mark");
    scene_wait(s, key, ENGINE_ENDED);
    snprintf(id, 64, "%s", scene_text(s, "mark"));
    id[strcspn(id, ".")] = '\0';
}

/* A key of which the journal tells the end, which is acknowledged: who has its mark is none of it, and is
 * left alone.
 */
static void an_end_that_was_told_is_told_once(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    char id[64];
    find_id(s, id);
    uint64_t key = s->key;
    scene_acknowledge(s);
    pid_t pid = make_marked(id, key);
    scene_wait(s, scene_shell(s, "exit 0"), ENGINE_ENDED);
    scene_acknowledge(s);
    scene_kill_keeper(s);
    scene_wait(s, scene_shell(s, "exit 0"), ENGINE_ENDED);
    scene_forget(s);
    assert_false(scene_knows(s, key));
    end_marked(pid);
    scene_end(s);
}

/* Whoever makes up a mark uses up no keys. */
static void a_mark_far_above_all_keys_is_none(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    char id[64];
    find_id(s, id);
    pid_t pid = make_marked(id, ENGINE_KEY_MAX - 1);
    scene_kill_keeper(s);
    scene_wait(s, scene_shell(s, "exit 0"), ENGINE_ENDED);
    scene_forget(s);
    assert_int_equal(s->e->ops->last_key(s->e), s->key);
    end_marked(pid);
    scene_end(s);
}

/* One that was given no environment has none, and will have none. */
static void an_empty_environment_has_no_mark(void **state)
{
    (void)state;
    uint64_t key;
    int ready[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *const env[] = {NULL};
        execle("/bin/sleep", "sleep", "1000", (char *)NULL, env);
        _exit(127);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0);
    /* Its files are closed before it has its environment. */
    int marked;
    while ((marked = procs_marked(pid, "BERTH_RUN=", &key)) < 0)
        assert_int_equal(kill(pid, 0), 0);
    assert_int_equal(marked, 0);
    close(ready[0]);
    end_marked(pid);
}

/* ---- Processes that hang who looks at them ---- */

#define HOSTILE 3

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* From here on this test can change what it and its children see at a path. False if the system doesn't let
 * it.
 */
static bool see_apart(void)
{
    char map[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER))
        return false;
    if (uid != 0) {
        write_text("/proc/self/setgroups", "deny");
        snprintf(map, sizeof(map), "%u %u 1", uid, uid);
        write_text("/proc/self/uid_map", map);
        snprintf(map, sizeof(map), "%u %u 1", gid, gid);
        write_text("/proc/self/gid_map", map);
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* A process whose environment is a pipe in which nothing comes: who reads it waits until it is killed. */
static pid_t make_hostile(const struct scene *s)
{
    char path[64];
    char fifo[128];
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        execl("/bin/sleep", "sleep", "1000", (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    snprintf(fifo, sizeof(fifo), "%s/nothing", s->folder);
    assert_int_equal(mount(fifo, path, NULL, MS_BIND, NULL), 0);
    return pid;
}

static void end_hostile(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    assert_int_equal(umount2(path, MNT_DETACH), 0);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The last of all, since those after it would see apart too. */
static void who_hangs_holds_up_no_keeper(void **state)
{
    (void)state;
    if (!see_apart())
        skip();
    struct scene *s = scene_make();
    struct strbuf nothing = {0};
    pid_t hostile[HOSTILE];
    int never = scene_fifo(s, "nothing");
    int begun = scene_fifo(s, "begun");
    int fifo = scene_fifo(s, "fifo");
    for (int i = 0; i < HOSTILE; i++)
        hostile[i] = make_hostile(s);
    start_runs(s, begun);
    kill_keeper_and_put(s, &nothing);
    check_runs(s, fifo);
    const char *notice = s->e->ops->notice(s->e);
    assert_non_null(notice);
    assert_non_null(strstr(notice, "3 processes"));
    for (int i = 0; i < HOSTILE; i++) {
        assert_int_equal(waitpid(hostile[i], NULL, WNOHANG), 0);
        end_hostile(hostile[i]);
    }
    close(fifo);
    close(begun);
    close(never);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_journal_may_be_cut_off),
        cmocka_unit_test(a_journal_may_be_empty),
        cmocka_unit_test(a_journal_may_be_older),
        cmocka_unit_test(a_journal_may_be_of_another_boot),
        cmocka_unit_test(a_journal_may_be_of_another_directory),
        cmocka_unit_test(an_end_that_was_told_is_told_once),
        cmocka_unit_test(an_empty_environment_has_no_mark),
        cmocka_unit_test(a_mark_far_above_all_keys_is_none),
        cmocka_unit_test(who_hangs_holds_up_no_keeper),
    };
    return SCENE_RUN(tests);
}
