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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/local/journal.h"
#include "engine/local/messages.h"
#include "engine/local/procs.h"
#include "engine_scene.h"

#define KILLS 20

static void what_was_not_acknowledged_is_said_again(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    uint64_t first = scene_shell(s, "exit 1");
    scene_wait(s, first, ENGINE_ENDED);
    scene_acknowledge(s);
    uint64_t second = scene_shell(s, "exit 2");
    uint64_t number = scene_wait(s, second, ENGINE_ENDED)->number;
    uint64_t third = scene_shell(s, "exit 3");
    uint64_t started = scene_wait(s, third, ENGINE_STARTED)->number;
    scene_forget(s);
    assert_true(!scene_knows(s, first) && scene_knows(s, second) && scene_knows(s, third));
    assert_int_equal(scene_wait(s, second, ENGINE_ENDED)->number, number);
    assert_non_null(scene_heard(s, second, ENGINE_STARTED));
    assert_int_equal(scene_wait(s, third, ENGINE_ENDED)->exit_status, 3);
    assert_int_equal(scene_heard(s, third, ENGINE_STARTED)->number, started);
    assert_null(scene_heard(s, first, ENGINE_ENDED));
    scene_end(s);
}

/* Only a part is acknowledged. */
static void a_part_is_acknowledged(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    uint64_t key = scene_shell(s, "read go <fifo; exit 5");
    uint64_t number = scene_wait(s, key, ENGINE_STARTED)->number;
    assert_int_equal(s->e->ops->acknowledge(s->e, number), 0);
    s->e->ops->flush(s->e);
    scene_forget(s);
    assert_true(scene_knows(s, key));
    assert_int_equal(write(fifo, "go\n", 3), 3);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_status, 5);
    assert_null(scene_heard(s, key, ENGINE_STARTED));
    close(fifo);
    scene_end(s);
}

/* A server that is killed, in a process of its own: it has started runs that wait for a line in the fifo. */
static void serve_until_killed(struct scene *s, int told, int runs)
{
    scene_open(s);
    for (int i = 0; i < runs; i++)
        scene_shell(s, "echo $$ >pids; read go <fifo; exit 6");
    for (uint64_t key = s->key + 1 - (uint64_t)runs; key <= s->key; key++)
        scene_wait(s, key, ENGINE_STARTED);
    if (write(told, "x", 1) == 1)
        pause();
    _exit(EXIT_FAILURE);
}

static void runs_outlive_the_server(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    int pids = scene_fifo(s, "pids");
    int told[2];
    char byte;
    s->e->ops->close(s->e);
    assert_int_equal(pipe(told), 0);
    pid_t server = fork();
    if (server == 0)
        serve_until_killed(s, told[1], 3);
    assert_int_equal(read(told[0], &byte, 1), 1);
    kill(server, SIGKILL);
    assert_int_equal(waitpid(server, NULL, 0), server);
    for (int i = 0; i < 3; i++)
        assert_int_equal(kill((pid_t)atoi(scene_line(pids)), 0), 0);
    scene_open(s);
    for (uint64_t key = 1; key <= 3; key++) {
        assert_true(scene_knows(s, key));
        scene_wait(s, key, ENGINE_STARTED);
        assert_null(scene_heard(s, key, ENGINE_ENDED));
    }
    assert_int_equal(write(fifo, "go\ngo\ngo\n", 9), 9);
    int signalled = 0;
    for (uint64_t key = 1; key <= 3; key++)
        signalled += scene_wait(s, key, ENGINE_ENDED)->exit_signal != 0;
    assert_int_equal(signalled, 0);
    s->key = 3;
    close(fifo);
    close(pids);
    close(told[0]);
    close(told[1]);
    scene_end(s);
}

static void what_a_killed_keeper_ran_is_lost_when_it_ends(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    int pids = scene_fifo(s, "pids");
    uint64_t key = scene_shell(s, "(setsid sleep 1000 &); echo $$ >pids; read go <fifo");
    pid_t pid = (pid_t)atoi(scene_line(pids));
    uint64_t ended = scene_shell(s, "exit 4");
    scene_wait(s, key, ENGINE_STARTED);
    scene_wait(s, ended, ENGINE_ENDED);
    scene_kill_keeper(s);
    /* The next one goes on where it was. */
    uint64_t next = scene_shell(s, "exit 3");
    assert_int_equal(scene_wait(s, next, ENGINE_ENDED)->exit_status, 3);
    assert_int_equal(kill(pid, 0), 0);
    assert_null(scene_heard(s, key, ENGINE_LOST));
    assert_true(scene_knows(s, key));
    assert_int_equal(write(fifo, "go\n", 3), 3);
    const struct engine_event *lost = scene_wait(s, key, ENGINE_LOST);
    assert_int_equal(lost->peak_memory, -1);
    assert_null(scene_heard(s, ended, ENGINE_LOST));
    close(fifo);
    close(pids);
    scene_end(s);
}

static void what_a_killed_keeper_ran_can_be_killed(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int pids = scene_fifo(s, "pids");
    uint64_t key = scene_shell(
        s, "trap '' TERM; (setsid sleep 1000 & echo $! >pids); echo ready >pids; sleep 1000");
    pid_t pid = (pid_t)atoi(scene_line(pids));
    assert_string_equal(scene_line(pids), "ready");
    scene_wait(s, key, ENGINE_STARTED);
    scene_kill_keeper(s);
    scene_forget(s);
    assert_true(scene_knows(s, key));
    s->e->ops->signal(s->e, key, SIGKILL, true);
    s->e->ops->flush(s->e);
    scene_wait(s, key, ENGINE_LOST);
    scene_wait_for_end(pid);
    close(pids);
    scene_end(s);
}

/* True if something has been heard of this run or a later one. */
static bool heard_of(const struct scene *s, uint64_t key)
{
    for (size_t i = 0; i < s->n_heard; i++)
        if (s->heard[i].key >= key)
            return true;
    return false;
}

/* Starts that the keeper may or may not have got are carried out once, however often it is killed. */
static void no_run_is_started_twice(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {"sh", "-c", "echo x >>$N; exit 0", NULL};
    char name[32];
    const char *const env[] = {name, NULL};
    const struct engine_task task = {.env = env};
    for (int i = 0; i < KILLS; i++) {
        for (int n = 0; n < 10; n++) {
            struct engine_run run = scene_run(s, argv);
            run.tasks = &task;
            snprintf(name, sizeof(name), "N=n%d", (int)s->key + 1);
            scene_start(s, &run);
        }
        /* One that begins is killed too, and one that has begun. */
        while (i % 2 == 0 && !heard_of(s, s->key - 9))
            scene_take(s, SCENE_TIMEOUT);
        for (int n = 0; n < i; n++)
            scene_take(s, 1);
        scene_kill_keeper(s);
    }
    for (uint64_t key = 1; key <= s->key; key++) {
        while (!scene_heard(s, key, ENGINE_ENDED) && !scene_heard(s, key, ENGINE_LOST))
            scene_take(s, SCENE_TIMEOUT);
        assert_true(!scene_heard(s, key, ENGINE_ENDED) || !scene_heard(s, key, ENGINE_LOST));
        snprintf(name, sizeof(name), "n%d", (int)key);
        const char *text = scene_text(s, name);
        if (scene_heard(s, key, ENGINE_ENDED))
            assert_string_equal(text, "x\n");
        else
            assert_true(strcmp(text, "x\n") == 0 || text[0] == '(');
    }
    scene_end(s);
}

static void a_keeper_with_nothing_to_keep_ends(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    uint64_t key = scene_shell(s, "exit 8");
    scene_wait(s, key, ENGINE_ENDED);
    pid_t keeper = scene_keeper(s);
    s->e->ops->close(s->e); /* nothing was acknowledged, but all is in the journal */
    scene_wait_for_end(keeper);
    s->n_heard = 0;
    scene_open(s);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_status, 8);
    assert_non_null(scene_heard(s, key, ENGINE_STARTED));
    scene_end(s);
}

static void put_task(struct strbuf *b, uint64_t key, pid_t pid, uint64_t since, uint64_t until)
{
    const struct journal_task task = {
        .key = key, .tasks = 1, .pid = pid, .since = since, .until = until};
    journal_put_task(b, &task);
}

/* A journal that a keeper has left: `boot` is that of its time. */
static void write_journal(const struct scene *s, struct strbuf *records, const char *boot)
{
    struct strbuf b = {0};
    struct journal_head head = {.id = 77, .base = 5};
    snprintf(head.boot, sizeof(head.boot), "%s", boot);
    journal_put_head(&b, &head);
    strbuf_put(&b, records->data, records->len);
    int folder = open(s->keeper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = journal_replace(folder, &b);
    assert_true(fd >= 0);
    close(fd);
    close(folder);
    strbuf_clear(&b);
    strbuf_clear(records);
}

static void stop_keeper(struct scene *s)
{
    pid_t keeper = scene_keeper(s);
    scene_acknowledge(s);
    s->e->ops->close(s->e);
    scene_wait_for_end(keeper);
    s->n_heard = 0;
}

/* This process stands for one that has got the pid, in its boot or another one. */
/* It may still wait for whoever is its parent. */
static bool has_ended(pid_t pid)
{
    struct proc p;
    return procs_look(pid, &p) != 0 || p.state == 'Z' || p.state == 'X';
}

/* As when the machine is shut down: nobody can say whether what runs would have been done. */
static void a_keeper_that_is_told_to_end_ends_its_runs(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    uint64_t done = scene_shell(s, "exit 4");
    scene_wait(s, done, ENGINE_ENDED);
    uint64_t plain = scene_shell(s, "exec sleep 1000");
    uint64_t neat =
        scene_shell(s, "trap 'exit 0' TERM; echo up >fifo; while :; do sleep 0.01; done");
    scene_line(fifo);
    pid_t pid = scene_wait(s, plain, ENGINE_STARTED)->pid;
    pid_t keeper = scene_keeper(s);
    assert_int_equal(kill(keeper, SIGTERM), 0);
    scene_wait_for_end(keeper);
    const char *text = "lost: it was ended with its keeper, as when the machine is shut down";
    assert_string_equal(scene_wait(s, plain, ENGINE_LOST)->text, text);
    assert_string_equal(scene_wait(s, neat, ENGINE_LOST)->text, text);
    assert_null(scene_heard(s, done, ENGINE_LOST));
    assert_true(has_ended(pid));
    /* What is asked for then is for the next one. */
    assert_int_equal(scene_wait(s, scene_shell(s, "exit 5"), ENGINE_ENDED)->exit_status, 5);
    close(fifo);
    scene_end(s);
}

/* What ended with its keeper is said by the next, and there is a program that ends it and waits. */
static void a_program_ends_the_keeper(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    uint64_t key = scene_shell(s, "echo up >fifo; exec sleep 1000");
    scene_line(fifo);
    scene_wait(s, key, ENGINE_STARTED);
    pid_t keeper = scene_keeper(s);
    s->e->ops->close(s->e);
    s->n_heard = 0;
    char command[300];
    snprintf(command, sizeof(command), "%s --end %s", getenv("BERTH_KEEPER"), s->keeper);
    assert_int_equal(system(command), 0);
    assert_true(has_ended(keeper));
    assert_int_equal(system(command), 0); /* there is none */
    scene_open(s);
    assert_non_null(scene_wait(s, key, ENGINE_LOST)->text);
    close(fifo);
    scene_end(s);
}

static void another_process_with_the_pid_is_left_alone(void **state)
{
    (void)state;
    char boot[64] = "";
    struct scene *s = scene_make();
    struct strbuf records = {0};
    struct proc self;
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%63s", boot), 1);
    fclose(f);
    assert_int_equal(procs_look(getpid(), &self), 0);
    stop_keeper(s);
    put_task(&records, 1, getpid(), self.start - 100, self.start - 90);
    write_journal(s, &records, boot);
    scene_open(s);
    scene_wait(s, 1, ENGINE_LOST);
    stop_keeper(s);
    put_task(&records, 2, getpid(), self.start - 1, self.start + 1);
    write_journal(s, &records, "another boot");
    scene_open(s);
    s->key = 2;
    s->e->ops->signal(s->e, 2, SIGKILL, true);
    scene_wait(s, 2, ENGINE_LOST);
    scene_end(s);
}

static void a_damaged_journal_costs_what_is_damaged(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    struct strbuf records = {0};
    stop_keeper(s);
    put_task(&records, 1, 1, 1, 2);
    size_t at = records.len;
    put_task(&records, 2, 1, 1, 2);
    records.data[at + 20] ^= 1;
    strbuf_puts(&records, "some bytes");
    put_task(&records, 3, 1, 1, 2);
    size_t whole = records.len;
    put_task(&records, 4, 1, 1, 2);
    records.len = whole + 30; /* torn */
    write_journal(s, &records, "another boot");
    scene_open(s);
    scene_wait(s, 1, ENGINE_LOST);
    scene_wait(s, 3, ENGINE_LOST);
    assert_false(scene_knows(s, 2) || scene_knows(s, 4));
    s->key = 4;
    scene_wait(s, scene_shell(s, "exit 0"), ENGINE_ENDED);
    scene_end(s);
}

static void set_file_size(pid_t pid, rlim_t size)
{
    const struct rlimit limit = {size, RLIM_INFINITY};
    assert_int_equal(prlimit(pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

/* A limit of the size of files stands for a full disk. */
static void a_full_disk_refuses_starts_and_loses_nothing(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    uint64_t running = scene_shell(s, "read go <fifo; exit 11");
    scene_wait(s, running, ENGINE_STARTED);
    set_file_size(scene_keeper(s), 0);
    uint64_t refused = scene_shell(s, "exit 0");
    assert_string_equal(scene_wait(s, refused, ENGINE_REFUSED)->text, "journal: File too large");
    uint64_t again = scene_shell(s, "exit 0");
    assert_string_equal(scene_wait(s, again, ENGINE_REFUSED)->text, "journal: File too large");
    assert_int_equal(write(fifo, "go\n", 3), 3);
    assert_int_equal(scene_wait(s, running, ENGINE_ENDED)->exit_status, 11);
    set_file_size(scene_keeper(s), RLIM_INFINITY);
    /* The journal is tried again each second. */
    const struct engine_event *ended = NULL;
    while (!ended) {
        s->n_heard = 0;
        uint64_t key = scene_shell(s, "exit 0");
        while (!scene_heard(s, key, ENGINE_REFUSED) && !(ended = scene_heard(s, key, ENGINE_ENDED)))
            scene_take(s, SCENE_TIMEOUT);
    }
    scene_kill_keeper(s);
    scene_forget(s);
    assert_int_equal(scene_wait(s, running, ENGINE_ENDED)->exit_status, 11);
    scene_wait(s, refused, ENGINE_REFUSED);
    close(fifo);
    scene_end(s);
}

static void a_fork_that_fails_says_why(void **state)
{
    (void)state;
    if (geteuid() == 0)
        skip(); /* may have as many processes as it likes */
    struct scene *s = scene_make();
    struct rlimit limit;
    pid_t keeper = scene_keeper(s);
    assert_int_equal(prlimit(keeper, RLIMIT_NPROC, NULL, &limit), 0);
    const struct rlimit none = {0, limit.rlim_max};
    assert_int_equal(prlimit(keeper, RLIMIT_NPROC, &none, NULL), 0);
    assert_string_equal(scene_wait(s, scene_shell(s, "exit 0"), ENGINE_FAILED)->text,
                        "cannot start a process: there are as many as the user (RLIMIT_NPROC) or "
                        "the system may have");
    assert_int_equal(prlimit(keeper, RLIMIT_NPROC, &limit, NULL), 0);
    scene_wait(s, scene_shell(s, "exit 0"), ENGINE_ENDED);
    scene_end(s);
}

static int connect_to_keeper(const struct scene *s)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof(name.sun_path), "%s/keeper.sock", s->keeper);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&name, sizeof(name)), 0);
    return fd;
}

/* Read what the keeper says until an event of a key. */
static enum engine_what read_event(int fd, uint64_t key)
{
    struct strbuf in = {0};
    struct engine_event event = {.key = 0};
    while (event.key != key) {
        struct wire w;
        size_t taken;
        assert_true(strbuf_room(&in, 4096));
        ssize_t n = recv(fd, in.data + in.len, 4096, 0);
        assert_true(n > 0);
        in.len += (size_t)n;
        while (event.key != key && wire_next(in.data, in.len, &w, &taken) == 1) {
            if (wire_u8(&w) == MESSAGE_EVENT)
                assert_int_equal(message_event(&w, &event), 0);
            memmove(in.data, in.data + taken, in.len - taken);
            in.len -= taken;
        }
    }
    strbuf_clear(&in);
    return event.what;
}

/* The keys of those before are remembered, by the engine and by the keeper, who says so of one that comes
 * again.
 */
static void keys_are_used_once(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {"sh", "-c", "echo x >>again", NULL};
    int fifo = scene_fifo(s, "fifo");
    s->key = 1000;
    uint64_t running = scene_shell(s, "read go <fifo; exit 11");
    uint64_t used = scene_shell(s, "exit 0");
    scene_wait(s, running, ENGINE_STARTED);
    scene_wait(s, used, ENGINE_ENDED);
    assert_int_equal(s->e->ops->last_key(s->e), used);
    scene_acknowledge(s);
    scene_forget(s);
    assert_int_equal(s->e->ops->last_key(s->e), used);
    struct engine_run run = scene_run(s, argv);
    run.key = used;
    assert_int_equal(s->e->ops->start(s->e, &run, NULL), -1);
    assert_int_equal(errno, EEXIST);
    int fd = connect_to_keeper(s);
    struct strbuf b = {0};
    message_put_start(&b, &run);
    assert_int_equal(send(fd, b.data, b.len, MSG_NOSIGNAL), (ssize_t)b.len);
    assert_int_equal(read_event(fd, used), ENGINE_USED);
    strbuf_clear(&b);
    close(fd);
    assert_string_equal(scene_text(s, "again"), "(no file)");
    /* A keeper that reads the journal knows as well. */
    scene_kill_keeper(s);
    scene_forget(s);
    assert_int_equal(s->e->ops->last_key(s->e), used);
    assert_int_equal(write(fifo, "go\n", 3), 3);
    scene_wait(s, running, ENGINE_LOST);
    close(fifo);
    scene_end(s);
}

/* Take the engine's place at the keeper, which hangs up on it, and leave again. */
static void cut_link(const struct scene *s)
{
    char byte;
    int fd = connect_to_keeper(s);
    assert_int_equal(recv(fd, &byte, 1, 0), 1); /* its greeting */
    close(fd);
}

/* A link breaks before the keeper hears that an end is acknowledged. It names the run once more, and no more after
 * that: the run is not lost, and events of others are not taken for some that have been heard.
 */
static void an_acknowledgement_that_is_cut_off_is_said_again(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    uint64_t running = scene_shell(s, "read go <fifo; exit 13");
    scene_wait(s, running, ENGINE_STARTED);
    uint64_t ended = scene_shell(s, "exit 0");
    scene_wait(s, ended, ENGINE_ENDED);
    cut_link(s);
    scene_acknowledge(s);
    uint64_t next = scene_shell(s, "exit 0");
    scene_wait(s, next, ENGINE_ENDED); /* the keeper has read what comes before it */
    assert_false(scene_knows(s, ended));
    cut_link(s);
    assert_int_equal(write(fifo, "go\n", 3), 3);
    assert_int_equal(scene_wait(s, running, ENGINE_ENDED)->exit_status, 13);
    assert_null(scene_heard(s, ended, ENGINE_LOST));
    close(fifo);
    scene_end(s);
}

/* A malformed message ends a link, not the keeper. */
static void nonsense_does_no_harm(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int fifo = scene_fifo(s, "fifo");
    uint64_t key = scene_shell(s, "read go <fifo; exit 12");
    scene_wait(s, key, ENGINE_STARTED);
    pid_t keeper = scene_keeper(s);
    static const char *const texts[] = {"GET / HTTP/1.1\r\n\r\n", "\5\0\0\0\1abcd", "\1\0\0\0\77",
                                        ""};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int fd = connect_to_keeper(s);
        size_t n = i == 1 ? 9 : i == 2 ? 5 : strlen(texts[i]);
        assert_int_equal(send(fd, texts[i], n, MSG_NOSIGNAL), (ssize_t)n);
        shutdown(fd, SHUT_WR);
        char byte;
        while (recv(fd, &byte, 1, 0) > 0) /* its greeting, until it hangs up */
            ;
        close(fd);
    }
    assert_int_equal(scene_keeper(s), keeper);
    assert_int_equal(write(fifo, "go\n", 3), 3);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_status, 12);
    close(fifo);
    scene_end(s);
}

/* Many ends, acknowledged as they come: the journal doesn't grow without bound, and the keeper stays the
 * same.
 */
static void the_journal_is_bounded(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {"no-such-command", NULL};
    struct stat st;
    char path[100];
    snprintf(path, sizeof(path), "%s/%s", s->keeper, JOURNAL_FILE);
    pid_t keeper = scene_keeper(s);
    for (int i = 0; i < 1500; i++) {
        struct engine_run run = scene_run(s, argv);
        scene_start(s, &run);
        if (i % 100 == 99) {
            scene_wait(s, s->key, ENGINE_FAILED);
            scene_acknowledge(s);
            s->n_heard = 0;
        }
    }
    scene_wait(s, scene_shell(s, "exit 0"), ENGINE_ENDED);
    scene_acknowledge(s);
    scene_wait(s, scene_shell(s, "exit 0"), ENGINE_ENDED);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size < 160000);
    assert_int_equal(scene_keeper(s), keeper);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_acknowledged_is_said_again),
        cmocka_unit_test(a_part_is_acknowledged),
        cmocka_unit_test(runs_outlive_the_server),
        cmocka_unit_test(what_a_killed_keeper_ran_is_lost_when_it_ends),
        cmocka_unit_test(what_a_killed_keeper_ran_can_be_killed),
        cmocka_unit_test(no_run_is_started_twice),
        cmocka_unit_test(a_keeper_with_nothing_to_keep_ends),
        cmocka_unit_test(a_keeper_that_is_told_to_end_ends_its_runs),
        cmocka_unit_test(a_program_ends_the_keeper),
        cmocka_unit_test(another_process_with_the_pid_is_left_alone),
        cmocka_unit_test(a_damaged_journal_costs_what_is_damaged),
        cmocka_unit_test(a_full_disk_refuses_starts_and_loses_nothing),
        cmocka_unit_test(a_fork_that_fails_says_why),
        cmocka_unit_test(keys_are_used_once),
        cmocka_unit_test(an_acknowledgement_that_is_cut_off_is_said_again),
        cmocka_unit_test(nonsense_does_no_harm),
        cmocka_unit_test(the_journal_is_bounded),
    };
    return SCENE_RUN(tests);
}
