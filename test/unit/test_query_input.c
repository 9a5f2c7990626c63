/* The lines and words that berth query reads, and its files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/query/input.h"
#include "cli/query/words.h"
#include "config/file_text.h"

static void words(void **state)
{
    (void)state;
    static const char *const expected[] = {"a", "b\"c", "\x01\xff", "d"};
    char line[] = "  a\tb\"c \v\x01\xff\f\r d\n";
    struct words w = {0};
    for (int i = 0; i < 2; i++) {
        char copy[sizeof(line)];
        memcpy(copy, line, sizeof(line));
        assert_int_equal(words_split(&w, copy), 0);
        assert_int_equal(w.n, 4);
        for (size_t j = 0; j < 4; j++)
            assert_string_equal(w.v[j], expected[j]);
        assert_null(w.v[4]);
    }
    char none[] = " \t";
    assert_int_equal(words_split(&w, none), 0);
    assert_int_equal(w.n, 0);

    char many[4001];
    memset(many, ' ', 4000);
    many[4000] = '\0';
    for (size_t i = 1; i < 4000; i += 2)
        many[i] = 'x';
    assert_int_equal(words_split(&w, many), 0);
    assert_int_equal(w.n, 2000);
    words_clear(&w);
}

static int file_with(const char *bytes, size_t n)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fflush(file);
    int fd = dup(fileno(file));
    fclose(file);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void expect_line(struct input *in, const char *expected)
{
    char *line;
    assert_int_equal(input_next(in, &line), INPUT_LINE);
    assert_string_equal(line, expected);
}

static void lines(void **state)
{
    (void)state;
    static const char text[] = "one\n\n three \nnu\0l\nlast";
    struct input in = {.fd = file_with(text, sizeof(text) - 1)};
    char *line;
    expect_line(&in, "one");
    expect_line(&in, "");
    expect_line(&in, " three ");
    assert_int_equal(input_next(&in, &line), INPUT_BINARY);
    assert_int_equal(in.number, 4);
    expect_line(&in, "last");
    assert_int_equal(input_next(&in, &line), INPUT_END);
    assert_int_equal(input_next(&in, &line), INPUT_END);
    input_clear(&in);
    close(in.fd);
}

/* Lines up to the limit are given, longer ones are skipped, also where nothing ends them. */
static void long_lines(void **state)
{
    (void)state;
    size_t n = 4 * INPUT_LINE_MAX + 10;
    char *text = malloc(n), *line;
    assert_non_null(text);
    memset(text, 'x', n);
    text[INPUT_LINE_MAX] = '\n';
    text[2 * INPUT_LINE_MAX + 2] = '\n';
    memcpy(text + 2 * INPUT_LINE_MAX + 3, "short\n", 6);
    struct input in = {.fd = file_with(text, n)};
    assert_int_equal(input_next(&in, &line), INPUT_LINE);
    assert_int_equal(strlen(line), INPUT_LINE_MAX);
    assert_int_equal(input_next(&in, &line), INPUT_LONG);
    assert_int_equal(in.number, 2);
    expect_line(&in, "short");
    assert_int_equal(input_next(&in, &line), INPUT_LONG);
    assert_int_equal(in.number, 4);
    assert_int_equal(input_next(&in, &line), INPUT_END);
    assert_true(in.capacity <= 4 * INPUT_LINE_MAX);
    input_clear(&in);
    close(in.fd);
    free(text);
}

static void count(void *context)
{
    ++*(int *)context;
}

/* Waiting is announced when nothing is there to be read, not before. */
static void waits(void **state)
{
    (void)state;
    int ends[2], waited = 0;
    char *line;
    assert_int_equal(pipe(ends), 0);
    struct input in = {.fd = ends[0], .before_wait = count, .context = &waited};
    assert_int_equal(write(ends[1], "a\nb\nc", 5), 5);
    expect_line(&in, "a");
    expect_line(&in, "b");
    assert_int_equal(waited, 0);
    assert_int_equal(write(ends[1], "d\n", 2), 2);
    expect_line(&in, "cd");
    assert_int_equal(waited, 0);
    close(ends[1]);
    assert_int_equal(input_next(&in, &line), INPUT_END);
    input_clear(&in);
    close(ends[0]);

    in = (struct input){.fd = -1};
    assert_int_equal(input_next(&in, &line), INPUT_FAILED);
    assert_int_equal(errno, EBADF);
    input_clear(&in);
}

static void files(void **state)
{
    (void)state;
    char name[] = "/tmp/berth-test-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    struct text text = {0};
    assert_int_equal(text_read(&text, name, 3), 0);
    assert_int_equal(text.length, 0);
    assert_int_equal(write(fd, "abcd", 4), 4);
    assert_int_equal(text_read(&text, name, 4), 0);
    assert_int_equal(text.length, 4);
    assert_memory_equal(text.bytes, "abcd", 4);
    assert_int_equal(text_read(&text, name, 3), -1);
    assert_int_equal(errno, EFBIG);
    close(fd);
    unlink(name);
    assert_int_equal(text_read(&text, name, 3), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(text_read(&text, "/tmp", 3), -1);
    assert_int_equal(errno, EISDIR);
    text_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words), cmocka_unit_test(lines), cmocka_unit_test(long_lines),
        cmocka_unit_test(waits), cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
