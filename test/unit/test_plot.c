/* report/plot.c: pictures are well-formed, of bounded size, and without numbers that are none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/plot.h"

static char path[] = "/tmp/berth-test-XXXXXX";

static char *read_picture(size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(*size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *size, f), *size);
    text[*size] = '\0';
    fclose(f);
    return text;
}

/* Every tag is closed by its own name, in order, and there is one root. */
static void check_tags(const char *text)
{
    char stack[16][16];
    int depth = 0, roots = 0;
    for (const char *s = strchr(text, '<'); s; s = strchr(s, '<')) {
        const char *end = strchr(s, '>');
        assert_non_null(end);
        bool closing = s[1] == '/';
        const char *name = s + 1 + closing;
        size_t n = strcspn(name, " />");
        assert_in_range(n, 1, 15);
        if (closing) {
            assert_true(depth > 0);
            depth--;
            assert_int_equal(strlen(stack[depth]), n);
            assert_memory_equal(stack[depth], name, n);
        } else {
            roots += depth == 0;
            if (end[-1] != '/') {
                assert_true(depth < 16);
                memcpy(stack[depth], name, n);
                stack[depth++][n] = '\0';
            }
        }
        s = end;
    }
    assert_int_equal(depth, 0);
    assert_int_equal(roots, 1);
}

/* Path data is commands and numbers only: a NaN or an infinity would show. */
static void check_numbers(const char *text)
{
    for (const char *s = strstr(text, " d=\""); s; s = strstr(s, " d=\"")) {
        s += 4;
        size_t n = strspn(s, "Mhvlz0123456789.- ");
        assert_int_equal(s[n], '"');
    }
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf\""));
}

static void check_ampersands(const char *text)
{
    for (const char *s = strchr(text, '&'); s; s = strchr(s + 1, '&'))
        assert_true(!strncmp(s, "&amp;", 5) || !strncmp(s, "&lt;", 4) || !strncmp(s, "&gt;", 4));
}

static char *draw(const struct schedule *schedules, size_t npolicies, const char *name,
                  size_t *size)
{
    struct metrics metrics[4];
    berth_error_t err;
    for (size_t p = 0; p < npolicies; p++)
        assert_int_equal(metrics_compute(&schedules[p], 10, &metrics[p], &err), 0);
    struct report report = {
        .trace = name,
        .procs = schedules[0].procs,
        .jobs = schedules[0].n,
        .tau = 10,
        .events = "batched",
        .order = "submit",
        .estimates = "user",
        .schedules = schedules,
        .metrics = metrics,
        .npolicies = npolicies,
    };
    assert_int_equal(plot_write(&report, outfile_open(path, &err), &err), 0);
    char *text = read_picture(size);
    check_tags(text);
    check_numbers(text);
    check_ampersands(text);
    return text;
}

/* Jobs that never overlap more than the machine allows: each takes its turn on one of 8 lanes. */
static void make_schedule(struct schedule_job *jobs, int64_t *start, size_t n, int64_t lane_procs)
{
    int64_t free_at[8] = {0};
    uint64_t random = 7;
    for (size_t i = 0; i < n; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int64_t run = (int64_t)(random >> 40) % 5000 + 1, submit = (int64_t)i * 200;
        int64_t *lane = &free_at[i % 8];
        jobs[i] = (struct schedule_job){.id = (int64_t)i + 1,
                                        .submit = submit,
                                        .run = run,
                                        .limit = run,
                                        .procs = (int64_t)(random >> 33) % lane_procs + 1};
        start[i] = *lane > submit ? *lane : submit;
        *lane = start[i] + run;
    }
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *s = strstr(text, what); s; s = strstr(s + 1, what))
        n++;
    return n;
}

static void test_few(void **state)
{
    (void)state;
    enum { N = 20 };
    struct schedule_job jobs[N];
    int64_t start[N];
    size_t size;
    make_schedule(jobs, start, N, 16);
    struct schedule s = {.policy = "easy", .procs = 128, .n = N, .jobs = jobs, .start = start};
    char *text = draw(&s, 1, "dir/a & <b>.swf", &size);
    assert_int_equal(count(text, "<title>"), N);
    assert_non_null(strstr(text, "<title>job 20: "));
    assert_non_null(strstr(text, ">a &amp; &lt;b&gt;.swf<"));
    free(text);
}

/* A single job of one second, times that don't begin at 0, and a job that never started. */
static void test_tiny(void **state)
{
    (void)state;
    struct schedule_job jobs[] = {{.id = 1, .submit = 5000, .run = 1, .limit = 1, .procs = 1},
                                  {.id = 2, .submit = 1, .run = 1, .limit = 1, .procs = 2}};
    int64_t start[] = {5000, SCHEDULE_NEVER};
    size_t size;
    struct schedule s = {.policy = "fcfs", .procs = 1, .n = 2, .jobs = jobs, .start = start};
    char *text = draw(&s, 1, "tiny", &size);
    assert_int_equal(count(text, "<title>"), 1);
    free(text);

    start[0] = SCHEDULE_NEVER;
    struct metrics m;
    berth_error_t err;
    assert_int_equal(metrics_compute(&s, 10, &m, &err), 0);
    struct report report = {.trace = "none", .schedules = &s, .metrics = &m, .npolicies = 1};
    assert_int_equal(plot_write(&report, outfile_open(path, &err), &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_non_null(strstr(err.text, ": nothing to draw, no job started"));
    assert_int_equal(plot_write(&report, NULL, &err), -1);
}

/* A long name is cut between characters and ends in an ellipsis; one that just fits is not. */
static void test_long_name(void **state)
{
    (void)state;
    struct schedule_job job = {.id = 1, .submit = 0, .run = 1, .limit = 1, .procs = 1};
    int64_t start = 0;
    size_t size;
    struct schedule s = {.policy = "fcfs", .procs = 1, .n = 1, .jobs = &job, .start = &start};
    char name[512] = "dir/", cut[512] = ">";
    for (int i = 0; i < 56; i++) {
        const char *character = i % 2 ? "\u00e9" : "x";
        strcat(name, character);
        strcat(cut, i < 55 ? character : "\u2026<");
    }
    char *text = draw(&s, 1, name, &size);
    assert_non_null(strstr(text, name + 4));
    free(text);
    strcat(name, "!");
    text = draw(&s, 1, name, &size);
    assert_non_null(strstr(text, cut));
    free(text);
}

static void test_bounded(void **state)
{
    (void)state;
    const size_t sizes[] = {900, 3000, 12000, 300000};
    struct schedule_job *jobs = malloc(300000 * sizeof(*jobs));
    int64_t *start = malloc(300000 * sizeof(*start));
    assert_non_null(jobs);
    assert_non_null(start);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size;
        make_schedule(jobs, start, sizes[i], 16);
        struct schedule s[4];
        for (size_t p = 0; p < 4; p++)
            s[p] = (struct schedule){
                .policy = "easy", .procs = 128, .n = sizes[i], .jobs = jobs, .start = start};
        char *text = draw(s, 1, "one", &size);
        assert_true(size < 500000);
        free(text);
        text = draw(s, 4, "four", &size);
        assert_true(size < 800000);
        free(text);
    }
    free(jobs);
    free(start);
}

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_tiny),
        cmocka_unit_test(test_long_name),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
