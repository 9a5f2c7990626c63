/* Output of runs elsewhere, while the server that writes it is killed at any time: in each file is what each run has sent,
 * in order and once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/local/outputs.h"
#include "random.h"

enum { RUNS = 3, LENGTH = 300000, MOST = 40000, LIVES = 400, CASES = 12 };

struct scene {
    char folder[64], notes[96], path[RUNS][96];
    char *sent
        [RUNS]; /* what each run says: letters of its own, so they are told apart in a file that they share */
    bool opened[RUNS]; /* as a keeper knows it */
    uint64_t heard[RUNS];
};

/* What a killed server has done is known by what the keepers have heard from it. */
static struct scene *make_scene(struct random *r)
{
    struct scene *s =
        mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(s != MAP_FAILED);
    snprintf(s->folder, sizeof(s->folder), "/tmp/prop_outputs.XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->notes, sizeof(s->notes), "%s/output/1-n1", s->folder);
    for (int i = 0; i < RUNS; i++) {
        snprintf(s->path[i], sizeof(s->path[i]), "%s/%s", s->folder, i < 2 ? "shared" : "own");
        s->sent[i] = malloc(LENGTH);
        for (int k = 0; k < LENGTH; k++)
            s->sent[i][k] = (char)('a' + 8 * i + random_between(r, 0, 7));
    }
    return s;
}

static void end_scene(struct scene *s)
{
    char command[200];
    snprintf(command, sizeof(command), "rm -rf '%s'", s->folder);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < RUNS; i++)
        free(s->sent[i]);
    munmap(s, sizeof(*s));
}

static bool is_all_heard(const struct scene *s)
{
    for (int i = 0; i < RUNS; i++)
        if (s->heard[i] < LENGTH)
            return false;
    return true;
}

/* One server's life: each run's file is opened, then bytes come in from where the answer says or, as when it was not
 * heard, from before.
 */
static void live(struct scene *s, struct random *r)
{
    struct outputs *o = outputs_open(s->notes);
    struct message_written to;
    bool open[RUNS] = {false};
    while (o && !is_all_heard(s)) {
        size_t i = (size_t)random_between(r, 0, RUNS - 1);
        struct message_output m = {.key = i + 1, .mode = 0600, .again = s->opened[i]};
        if (!open[i]) {
            m.path = s->path[i];
            m.append = i < 2;
        } else {
            uint64_t back = random_between(r, 0, 3) == 0 ? (uint64_t)random_between(r, 0, 999) : 0;
            m.at = s->heard[i] - (back < s->heard[i] ? back : s->heard[i]);
            m.n = (size_t)random_between(r, 1, MOST);
            m.n = m.at + m.n > LENGTH ? (size_t)(LENGTH - m.at) : m.n;
            m.bytes = s->sent[i] + m.at;
        }
        outputs_take(o, &m, &to);
        if (to.trouble)
            continue;
        open[i] = s->opened[i] = true;
        if (to.at < s->heard[i] || to.at > LENGTH)
            _exit(1);
        s->heard[i] = to.at;
    }
    _exit(o ? 0 : 1);
}

/* What a run has said of what is in a file. */
static size_t said_by(const char *text, size_t n, int i, char *to)
{
    size_t length = 0;
    for (size_t k = 0; k < n; k++)
        if (text[k] >= 'a' + 8 * i && text[k] < 'a' + 8 * (i + 1) && length < 2 * LENGTH)
            to[length++] = text[k];
    return length;
}

static void check_files(const struct scene *s)
{
    char *text = malloc(4 * (size_t)LENGTH), *said = malloc(2 * (size_t)LENGTH);
    for (int i = 0; i < RUNS; i++) {
        int fd = open(s->path[i], O_RDONLY);
        ssize_t n = read(fd, text, 4 * (size_t)LENGTH);
        close(fd);
        assert_int_equal(n, i < 2 ? 2 * LENGTH : LENGTH);
        assert_int_equal(said_by(text, (size_t)n, i, said), LENGTH);
        assert_memory_equal(said, s->sent[i], LENGTH);
    }
    free(text);
    free(said);
}

static void played(struct scene *s, struct random *r, bool full)
{
    for (int life = 0; !is_all_heard(s); life++) {
        assert_true(life < LIVES);
        uint64_t seed = random_next(r);
        int64_t us = random_between(r, 0, 3000);
        pid_t pid = fork();
        if (pid == 0) {
            struct random own = {seed};
            const struct rlimit some = {60000 + 100000 * (rlim_t)life, RLIM_INFINITY};
            signal(SIGXFSZ, SIG_IGN);
            if (full)
                setrlimit(RLIMIT_FSIZE, &some);
            live(s, &own);
        }
        usleep((useconds_t)us);
        kill(pid, SIGKILL);
        int status;
        waitpid(pid, &status, 0);
        assert_false(WIFEXITED(status) && WEXITSTATUS(status) != 0);
    }
    check_files(s);
}

/* With a bound of what a file may have, which is raised with each life: as on a disk that is full for a while. */
static void each_byte_once(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= RANDOM_ROUNDS(CASES); seed++) {
        struct random r = {seed};
        struct scene *s = make_scene(&r);
        played(s, &r, seed % 3 == 0);
        end_scene(s);
    }
}

/* A file is emptied once, and never by a server that was told that it has been opened. */
static void emptied_once(void **state)
{
    (void)state;
    struct random r = {1};
    struct message_written to;
    struct scene *s = make_scene(&r);
    struct message_output m = {.key = 1, .path = s->path[2], .mode = 0640};
    int fd = open(s->path[2], O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "before", 6), 6);
    for (int life = 0; life < 3; life++) {
        struct outputs *o = outputs_open(s->notes);
        assert_int_equal(outputs_has(o, 1), life > 0);
        m.again = life == 2;
        outputs_take(o, &m, &to);
        assert_null(to.trouble);
        assert_int_equal(to.at, life);
        const struct message_output more = {.key = 1, .at = (uint64_t)life, .bytes = "x", .n = 1};
        outputs_take(o, &more, &to);
        assert_int_equal(to.at, life + 1);
        assert_int_equal(lseek(fd, 0, SEEK_END), life + 1);
        outputs_close(o);
    }
    close(fd);
    struct outputs *o = outputs_open(s->notes);
    outputs_forget(o, 1);
    assert_false(outputs_has(o, 1));
    outputs_close(o);
    assert_int_not_equal(access(s->notes, F_OK), 0);
    end_scene(s);
}

/* What can't be: no file, a folder, a gap, bytes of what is not open. */
static void trouble(void **state)
{
    (void)state;
    struct random r = {1};
    struct message_written to;
    struct scene *s = make_scene(&r);
    struct outputs *o = outputs_open(s->notes);
    const struct message_output wrong[] = {{.key = 1, .bytes = "x", .n = 1},
                                           {.key = 1, .path = "/nowhere/at/all", .mode = 0600},
                                           {.key = 1, .path = "/dev/null", .mode = 0600},
                                           {.key = 1, .path = s->folder, .mode = 0600}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        outputs_take(o, &wrong[i], &to);
        assert_non_null(to.trouble);
        assert_int_equal(to.at, 0);
    }
    outputs_take(o, &(struct message_output){.key = 1, .path = s->path[2], .mode = 0600}, &to);
    assert_null(to.trouble);
    outputs_take(o, &(struct message_output){.key = 1, .at = 5, .bytes = "x", .n = 1}, &to);
    assert_string_equal(to.trouble, "bytes before these are missing");
    outputs_close(o);
    end_scene(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_byte_once),
                                       cmocka_unit_test(emptied_once), cmocka_unit_test(trouble)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
