/* Questions to many, some of whom never answer. What is asked here are numbers: who answers is no process
 * but the reader.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/local/look.h"

#define MANY     1000
#define PATIENCE 2000
#define FIRST    (INT32_MAX - 2 * MANY) /* no process has such a pid */

struct question {
    bool (*hangs)(pid_t pid);
    bool (*dies)(pid_t pid);
};

static bool never(pid_t pid)
{
    (void)pid;
    return false;
}

static bool some(pid_t pid)
{
    return pid % 100 == 50;
}

static enum look_answer ask(const void *context, pid_t pid, uint64_t *value)
{
    const struct question *q = context;
    if (q->dies(pid))
        _exit(EXIT_FAILURE);
    while (q->hangs(pid))
        pause();
    *value = 2 * (uint64_t)pid;
    return pid % 3 == 0 ? LOOK_YES : pid % 3 == 1 ? LOOK_NO : LOOK_AGAIN;
}

static void reap_all(void)
{
    while (waitpid(-1, NULL, 0) > 0)
        ;
    assert_int_equal(errno, ECHILD);
}

static void check_answers(const struct question *q)
{
    struct look v[MANY];
    for (int i = 0; i < MANY; i++)
        v[i] = (struct look){.pid = FIRST + i};
    assert_int_equal(look_at_all(v, MANY, ask, q, PATIENCE), 0);
    for (int i = 0; i < MANY; i++) {
        pid_t pid = FIRST + i;
        assert_int_equal(v[i].pid, pid);
        if (q->hangs(pid) || q->dies(pid)) {
            assert_int_equal(v[i].answer, LOOK_NONE);
            continue;
        }
        assert_int_equal(v[i].answer, pid % 3 == 0   ? LOOK_YES
                                      : pid % 3 == 1 ? LOOK_NO
                                                     : LOOK_AGAIN);
        assert_int_equal(v[i].value, 2 * (uint64_t)pid);
    }
    reap_all(); /* none goes on */
}

static void all_are_asked(void **state)
{
    (void)state;
    check_answers(&(struct question){never, never});
    assert_int_equal(look_at_all(NULL, 0, ask, NULL, PATIENCE), 0);
}

static void who_hangs_is_passed_over(void **state)
{
    (void)state;
    check_answers(&(struct question){some, never});
}

static void a_reader_that_dies_is_replaced(void **state)
{
    (void)state;
    check_answers(&(struct question){never, some});
}

/* ---- Users ---- */

#define NOBODY  65534
#define HOSTILE 200

static enum look_answer ask_hostile(const void *context, pid_t pid, uint64_t *value)
{
    const pid_t *hostile = context;
    while (pid == *hostile)
        pause();
    *value = 1;
    return LOOK_YES;
}

/* More than there are readers hang, all another user's: this one's are asked nevertheless. */
static void no_user_takes_all_readers(void **state)
{
    (void)state;
    struct look v[HOSTILE + 100];
    size_t n = sizeof(v) / sizeof(v[0]);
    int ready[2];
    char byte;
    if (geteuid() != 0)
        skip();
    assert_int_equal(pipe(ready), 0);
    pid_t hostile = fork();
    if (hostile == 0) {
        if (setresuid(NOBODY, NOBODY, NOBODY) || write(ready[1], "", 1) != 1)
            _exit(EXIT_FAILURE);
        while (true)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct look){.pid = i < HOSTILE ? hostile : getpid()};
    assert_int_equal(look_at_all(v, n, ask_hostile, &hostile, PATIENCE), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(v[i].answer, i < HOSTILE ? LOOK_NONE : LOOK_YES);
    kill(hostile, SIGKILL);
    reap_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_asked),
        cmocka_unit_test(who_hangs_is_passed_over),
        cmocka_unit_test(a_reader_that_dies_is_replaced),
        cmocka_unit_test(no_user_takes_all_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
