/* Work done apart: what it answers, and what is said of work that comes to no good end. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/errtext.h"
#include "config/apart.h"

typedef int work_function(void *context, struct strbuf *answer, berth_error_t *err);

static volatile bool for_ever = true;

static int seconds = 60; /* in which what ends by itself does */

enum { FDS = 256 };
static bool is_ours[FDS]; /* open before there was a child */

static int do_apart(work_function *work, void *context, struct strbuf *answer, berth_error_t *err)
{
    struct apart apart = {.who = "it",
                          .seconds = seconds,
                          .memory = (size_t)64 << 20,
                          .answer = (size_t)1 << 20,
                          .work = work,
                          .context = context};
    for (int fd = 0; fd < FDS; fd++)
        is_ours[fd] = fcntl(fd, F_GETFD) >= 0;
    errno = 0;
    *err = (berth_error_t){""};
    int rc = apart_do(&apart, answer, err);
    int saved = errno;
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* no child is left */
    assert_true(rc == 0 || (err->text[0] && !strchr(err->text, '\n')));
    assert_true(rc == 0 || answer->len == 0);
    errno = saved;
    return rc;
}

static void refuse(work_function *work, int errnum, const char *expected)
{
    struct strbuf answer = {0};
    berth_error_t err;
    assert_int_equal(do_apart(work, NULL, &answer, &err), -1);
    assert_int_equal(errno, errnum);
    if (strncmp(err.text, expected, strlen(expected)) != 0)
        fail_msg("'%s' does not begin with '%s'", err.text, expected);
    strbuf_clear(&answer);
}

static int fill(void *context, struct strbuf *answer, berth_error_t *err)
{
    (void)err;
    puts("this is not seen");
    fflush(stdout);
    strbuf_fill(answer, 'x', *(const size_t *)context);
    strbuf_putc(answer, '\0');
    return 0;
}

static void an_answer_comes_back_whole(void **state)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 70000, (1 << 20) - 1};
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t n = sizes[i];
        struct strbuf answer = {0};
        berth_error_t err;
        assert_int_equal(do_apart(fill, &n, &answer, &err), 0);
        assert_int_equal(answer.len, n + 1);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(answer.data[k], 'x');
        strbuf_clear(&answer);
    }
}

static int changed;

static int change(void *context, struct strbuf *answer, berth_error_t *err)
{
    (void)context, (void)answer, (void)err;
    changed = 1;
    return 0;
}

static void nothing_changes_here(void **state)
{
    struct strbuf answer = {0};
    berth_error_t err;
    (void)state;
    assert_int_equal(do_apart(change, NULL, &answer, &err), 0);
    assert_int_equal(answer.len, 0);
    assert_int_equal(changed, 0);
    strbuf_clear(&answer);
}

static int find_wrong(void *context, struct strbuf *answer, berth_error_t *err)
{
    (void)context;
    strbuf_puts(answer, "half of it");
    return errtext_set(err, EOVERFLOW, "number %d is too large", 7);
}

static int crash(void *context, struct strbuf *answer, berth_error_t *err)
{
    (void)context, (void)err;
    strbuf_puts(answer, "all that is needed");
    raise(SIGSEGV);
    return 0;
}

static int stop(void *context, struct strbuf *answer, berth_error_t *err)
{
    (void)context, (void)answer, (void)err;
    abort();
}

static int leave(void *context, struct strbuf *answer, berth_error_t *err)
{
    (void)context, (void)answer, (void)err;
    _exit(3);
}

static int leave_well(void *context, struct strbuf *answer, berth_error_t *err)
{
    (void)context, (void)answer, (void)err;
    _exit(0);
}

static int spin(void *context, struct strbuf *answer, berth_error_t *err)
{
    volatile uint64_t n = 0;
    (void)context, (void)answer, (void)err;
    while (for_ever)
        n++;
    return 0;
}

static int sleep_on(void *context, struct strbuf *answer, berth_error_t *err)
{
    (void)context, (void)answer, (void)err;
    while (for_ever)
        pause();
    return 0;
}

/* Write to the pipe to the parent. */
static void put_into_pipe(const char *bytes, size_t n, bool close_it)
{
    for (int fd = 3; fd < FDS; fd++) {
        if (is_ours[fd] || write(fd, bytes, n) < 0) /* it can be the end that is read from */
            continue;
        if (close_it)
            close(fd);
    }
}

static int close_and_sleep(void *context, struct strbuf *answer, berth_error_t *err)
{
    put_into_pipe("", 0, true);
    return sleep_on(context, answer, err);
}

static int talk_nonsense(void *context, struct strbuf *answer, berth_error_t *err)
{
    static const char nonsense[64] = "all that ever was";
    (void)context, (void)answer, (void)err;
    put_into_pipe(nonsense, sizeof(nonsense), false);
    _exit(0);
}

/* A head whose length is right, and an errno that is none. */
static int lie(void *context, struct strbuf *answer, berth_error_t *err)
{
    int64_t head[2] = {INT64_MAX, 0};
    (void)context, (void)answer, (void)err;
    put_into_pipe((const char *)head, sizeof(head), false);
    _exit(0);
}

static int talk_without_end(void *context, struct strbuf *answer, berth_error_t *err)
{
    static const char zeroes[4096];
    (void)context, (void)answer, (void)err;
    while (for_ever)
        put_into_pipe(zeroes, sizeof(zeroes), false);
    return 0;
}

static void bad_ends_are_told(void **state)
{
    (void)state;
    refuse(find_wrong, EOVERFLOW, "number 7 is too large");
    refuse(crash, EINVAL, "it crashed: signal 11 (");
    refuse(stop, EINVAL, "it crashed: signal 6 (");
    refuse(leave, EINVAL, "it ended with status 3");
    refuse(leave_well, EINVAL, "it gave no whole answer");
    refuse(talk_nonsense, EINVAL, "it gave no whole answer");
    refuse(lie, EINVAL, "it gave no whole answer");
    refuse(talk_without_end, EINVAL, "it found too much");
}

static void nothing_lasts_for_ever(void **state)
{
    (void)state;
    seconds = 1;
    refuse(spin, EINVAL, "it took more than 1 s");
    refuse(sleep_on, EINVAL, "it took more than 1 s");
    refuse(close_and_sleep, EINVAL, "it took more than 1 s");
    seconds = 60;
}

/* Memory that is written to, until there is no more; the compiler is not to do without it. */
static char *volatile last_piece;

static int take_all(void *context, struct strbuf *answer, berth_error_t *err)
{
    enum { PIECE = 1 << 20 };
    (void)context;
    for (size_t taken = 0; taken < (size_t)256 << 20; taken += PIECE) {
        char *piece = malloc(PIECE);
        if (!piece)
            return errtext_set(err, ENOMEM, "out of memory");
        memset(piece, 1, PIECE);
        last_piece = piece;
    }
    strbuf_puts(answer, "there is enough");
    return 0;
}

/* gcc and clang say in ways of their own that the address sanitizer is there. */
#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

static void memory_is_bounded(void **state)
{
    struct strbuf answer = {0};
    berth_error_t err;
    (void)state;
#ifdef IS_SANITIZED
    print_message(
        "left out: the sanitizer has memory of its own, and no end when that is refused\n");
    skip();
#endif
    assert_int_equal(do_apart(take_all, NULL, &answer, &err), -1);
    strbuf_clear(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_back_whole), cmocka_unit_test(nothing_changes_here),
        cmocka_unit_test(bad_ends_are_told),          cmocka_unit_test(nothing_lasts_for_ever),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
