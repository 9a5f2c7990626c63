/* The reader of the Standard Workload Format: numbers, filters, the machine's size, errors, files.
 */
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
#include <zlib.h>

#include "sim/swf.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A line with the fields that are used, the others unknown. */
#define JOB(id, submit, run, allocated, requested, estimate)                                       \
    id " " submit " -1 " run " " allocated " -1 -1 " requested " " estimate                        \
       " -1 1 -1 -1 -1 -1 -1 -1 -1\n"

static struct trace parse(const char *text, struct swf_options options)
{
    struct trace trace = {0};
    berth_error_t err;
    if (swf_parse("t.swf", text, strlen(text), &options, &trace, &err) < 0)
        fail_msg("%s", err.text);
    return trace;
}

static void expect_error(const char *text, size_t length, int64_t procs, const char *expected)
{
    struct swf_options options = {.procs = procs};
    struct trace trace = {.n = 77, .procs = 78};
    berth_error_t err;
    errno = 0;
    assert_int_equal(swf_parse("t.swf", text, length, &options, &trace, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, expected);
    assert_int_equal(trace.n, 77);
    assert_int_equal(trace.procs, 78);
    assert_int_equal(swf_parse("t.swf", text, length, &options, &trace, NULL), -1);
}

static void takes_what_a_job_needs(void **state)
{
    (void)state;
    struct trace t =
        parse("; MaxProcs: 10\n"
              " 7 100 3 50.9 4 1.5 -1 6 60.2 8 1 2 3 4 9 -1 -1 -1 more, of {any} form\n",
              (struct swf_options){0});
    assert_int_equal(t.n, 1);
    assert_int_equal(t.procs, 10);
    assert_int_equal(t.jobs[0].id, 7);
    assert_int_equal(t.jobs[0].submit, 100);
    assert_int_equal(t.jobs[0].run, 50);
    assert_int_equal(t.jobs[0].procs, 6);
    assert_int_equal(t.jobs[0].limit, 60);
    assert_int_equal(t.jobs[0].priority, 9);
    assert_int_equal(t.killed, 0);
    trace_clear(&t);
}

/* What one line becomes on a machine of 8. */
struct filter_row {
    const char *line;
    int drop; /* TRACE_DROP_COUNT when kept */
    int64_t run, limit, procs;
    uint64_t killed;
};

static const struct filter_row filter_rows[] = {
    {JOB("1", "0", "5", "2", "4", "9"), TRACE_DROP_COUNT, 5, 9, 4, 0},
    {JOB("1", "0", "5", "2", "0", "9"), TRACE_DROP_COUNT, 5, 9, 2, 0},
    {JOB("1", "0", "5", "2", "-1", "9"), TRACE_DROP_COUNT, 5, 9, 2, 0},
    {JOB("1", "0", "5", "9", "8", "9"), TRACE_DROP_COUNT, 5, 9, 8, 0},
    {JOB("1", "0", "5", "2", "4", "-1"), TRACE_DROP_COUNT, 5, 5, 4, 0},
    {JOB("1", "0", "5", "2", "4", "0.9"), TRACE_DROP_COUNT, 5, 5, 4, 0},
    {JOB("1", "0", "5", "2", "4", "5"), TRACE_DROP_COUNT, 5, 5, 4, 0},
    {JOB("1", "0", "5", "2", "4", "3"), TRACE_DROP_COUNT, 3, 3, 4, 1},
    {JOB("1", "0", "5", "2", "9", "9"), TRACE_DROP_TOO_BIG, 0, 0, 0, 0},
    {JOB("1", "0", "5", "9", "0", "9"), TRACE_DROP_TOO_BIG, 0, 0, 0, 0},
    {JOB("1", "0", "5", "-1", "-1", "9"), TRACE_DROP_NO_PROCS, 0, 0, 0, 0},
    {JOB("1", "0", "0", "2", "4", "9"), TRACE_DROP_NO_RUN, 0, 0, 0, 0},
    {JOB("1", "0", "-1", "2", "4", "9"), TRACE_DROP_NO_RUN, 0, 0, 0, 0},
    {JOB("1", "0", "0.99", "2", "4", "9"), TRACE_DROP_NO_RUN, 0, 0, 0, 0},
    {JOB("1", "-1", "5", "2", "4", "9"), TRACE_DROP_NO_SUBMIT, 0, 0, 0, 0},
    /* the first reason counts */
    {JOB("1", "-1", "0", "99", "-1", "9"), TRACE_DROP_NO_RUN, 0, 0, 0, 0},
    {JOB("1", "-1", "5", "0", "0", "9"), TRACE_DROP_NO_PROCS, 0, 0, 0, 0},
    {JOB("1", "-1", "5", "99", "-1", "9"), TRACE_DROP_TOO_BIG, 0, 0, 0, 0},
};

static void filters_in_the_stated_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(filter_rows); i++) {
        const struct filter_row *row = &filter_rows[i];
        struct trace t = parse(row->line, (struct swf_options){.procs = 8});
        bool kept = row->drop == TRACE_DROP_COUNT;
        assert_int_equal(t.n, kept ? 1 : 0);
        for (int drop = 0; drop < TRACE_DROP_COUNT; drop++)
            assert_int_equal(t.dropped[drop], drop == row->drop ? 1 : 0);
        assert_int_equal(t.killed, row->killed);
        if (kept) {
            assert_int_equal(t.jobs[0].run, row->run);
            assert_int_equal(t.jobs[0].limit, row->limit);
            assert_int_equal(t.jobs[0].procs, row->procs);
        }
        trace_clear(&t);
    }
}

struct number_row {
    const char *text;
    int64_t run; /* 0: dropped, it was cut to nothing */
};

static const struct number_row number_rows[] = {
    {"12", 12},
    {"+12", 12},
    {"012", 12},
    {"12.7", 12},
    {"12.", 12},
    {".9", 0},
    {"-0.5", 0},
    {"-1.5", 0},
    {"1e3", 1000},
    {"1.5E+2", 150},
    {"1234e-2", 12},
    {"1e-400", 0},
    {"0e99999999", 0},
    {"0.00012e5", 12},
    {"1.25e1", 12},
    {"12.345e2", 1234},
    {"000000000000000000000000012", 12},
    {"12.0000000000000000000000000000001", 12},
    {"1000000000000000", 1000000000000000},
};

static void reads_numbers_of_every_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(number_rows); i++) {
        char line[256];
        snprintf(line, sizeof(line), "1 0 -1 %s 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1",
                 number_rows[i].text);
        struct trace t = parse(line, (struct swf_options){.procs = 8});
        assert_int_equal(t.n, number_rows[i].run > 0 ? 1 : 0);
        if (t.n)
            assert_int_equal(t.jobs[0].run, number_rows[i].run);
        trace_clear(&t);
    }
}

static void cuts_the_estimate_too(void **state)
{
    (void)state;
    struct trace t =
        parse(JOB("1", "0", "5.9", "1", "1", "5.1") JOB("2", "0", "5", "1", "1", "1e1"),
              (struct swf_options){.procs = 8});
    assert_int_equal(t.n, 2);
    assert_int_equal(t.jobs[0].run, 5);
    assert_int_equal(t.jobs[0].limit, 5);
    assert_int_equal(t.jobs[1].limit, 10);
    assert_int_equal(t.killed, 0);
    trace_clear(&t);
}

static void takes_the_queue_as_priority(void **state)
{
    (void)state;
    static const struct {
        const char *queue;
        int64_t priority;
    } rows[] = {{"3", 3}, {"0", 0}, {"-1", 0}, {"2.5", 0}, {"1e2", 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[256];
        snprintf(line, sizeof(line), "1 0 -1 5 1 -1 -1 1 -1 -1 1 -1 -1 -1 %s -1 -1 -1",
                 rows[i].queue);
        struct trace t = parse(line, (struct swf_options){.procs = 8});
        assert_int_equal(t.jobs[0].priority, rows[i].priority);
        trace_clear(&t);
    }
}

static void exact_estimates_are_run_times(void **state)
{
    (void)state;
    struct trace t = parse(JOB("1", "0", "5", "1", "1", "9") JOB("2", "0", "5", "1", "1", "3"),
                           (struct swf_options){.procs = 8, .exact = true});
    assert_int_equal(t.jobs[0].limit, 5);
    assert_int_equal(t.jobs[1].run, 3);
    assert_int_equal(t.jobs[1].limit, 3);
    assert_int_equal(t.killed, 1);
    trace_clear(&t);
}

static void stops_at_the_limit(void **state)
{
    (void)state;
    struct trace t = parse(JOB("1", "0", "0", "1", "1", "9") JOB("2", "0", "5", "1", "1", "9")
                               JOB("2", "0", "5", "1", "1", "9") "this is never looked at\n",
                           (struct swf_options){.procs = 8, .limit = 2});
    assert_int_equal(t.n, 2);
    assert_int_equal(t.dropped[TRACE_DROP_NO_RUN], 1);
    trace_clear(&t);
}

static void finds_the_size(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        int64_t option, procs;
    } rows[] = {
        {"; MaxProcs: 4\n", 0, 4},
        {"; MaxProcs: 4\n", 6, 6},
        {"; MaxNodes: 4\n", 0, 4},
        {"; MaxNodes: 4\n; MaxProcs: 5\n", 0, 5},
        {"; MaxProcs: 5\n; MaxNodes: 4\n", 0, 5},
        {"; MaxProcs: -1\n; MaxNodes: 4\n", 0, 4},
        {"; MaxProcs: 5 (of two kinds)\r\n", 0, 5},
        {"\n  ;;MaxProcs :5\n; and MaxProcs: 9 fields\n; MaxProcs: 9\n", 0, 5},
        {"; MaxProcs: many\n", 3, 3},
        {"; MaxNodes: many\n; MaxProcs: 5\n", 0, 5},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[256];
        snprintf(text, sizeof(text), "%s%s", rows[i].header, JOB("1", "0", "5", "1", "1", "9"));
        struct trace t = parse(text, (struct swf_options){.procs = rows[i].option});
        assert_int_equal(t.procs, rows[i].procs);
        assert_int_equal(t.n, 1);
        trace_clear(&t);
    }
}

static void reads_any_line_ends(void **state)
{
    (void)state;
    struct trace t =
        parse("; MaxProcs: 4\r\n\r\n \t \n" JOB(
                  "1", "0", "5", "1", "1",
                  "9") "\t2\t0\t-1\t5\t1\t-1\t-1\t1\t9\t-1\t1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\r\n"
                       ";\n; MaxProcs: nothing\n"
                       "3 0 -1 5 1 -1 -1 1 9 -1 1 -1 -1 -1 -1 -1 -1 -1",
              (struct swf_options){0});
    assert_int_equal(t.n, 3);
    assert_int_equal(t.jobs[2].id, 3);
    trace_clear(&t);
}

static void an_empty_trace_is_one(void **state)
{
    (void)state;
    struct trace t = parse("", (struct swf_options){.procs = 4});
    assert_int_equal(t.n, 0);
    assert_int_equal(t.procs, 4);
    trace_clear(&t);
}

struct error_row {
    const char *text;
    int64_t procs;
    const char *error;
};

static const struct error_row error_rows[] = {
    {JOB("1", "0", "5", "1", "1", "9"), 0,
     "t.swf:1: no size of the machine: the header gives neither MaxProcs nor MaxNodes, and --procs "
     "is "
     "not given"},
    {";\n;\n", 0,
     "t.swf:2: no size of the machine: the header gives neither MaxProcs nor MaxNodes, and --procs "
     "is "
     "not given"},
    {"", 0, "t.swf: empty, it has neither a header nor jobs"},
    {"\x7f"
     "ELF\x02\x01 \x03\n",
     0, "t.swf:1: field 1 (job number): expected a number, found \"?ELF??\""},
    {"; MaxProcs: 1,152\n", 0, "t.swf:1: MaxProcs: expected a whole number, found \"1,152\""},
    {";\n\n1 0 -1 abc", 8, "t.swf:3: field 4 (run time): expected a number, found \"abc\""},
    {"1 0 -1 5 1 -1 -1 1", 8,
     "t.swf:1: field 9 (requested time): missing, a job has at least 18 fields"},
    {"1 0 -1 5 1 -1 -1 1 9 -1 1 -1 -1 -1 -1 -1 -1 \r\n", 8,
     "t.swf:1: field 18 (think time): missing, a job has at least 18 fields"},
    {"1 0 -1 5 1 -1 -1 1 9 -1 1 -1 x -1 -1 -1 -1 -1", 8,
     "t.swf:1: field 13 (group): expected a number, found \"x\""},
    {JOB("1.5", "0", "5", "1", "1", "9"), 8,
     "t.swf:1: field 1 (job number): expected a whole number, found \"1.5\""},
    {JOB("1", "1e2", "5", "1", "1", "9"), 8,
     "t.swf:1: field 2 (submit time): expected a whole number, found \"1e2\""},
    {JOB("1", "0", "5", "1", "4.0", "9"), 8,
     "t.swf:1: field 8 (requested processors): expected a whole number, found \"4.0\""},
    {JOB("99999999999999999999", "0", "5", "1", "1", "9"), 8,
     "t.swf:1: field 1 (job number): expected a number in range, found \"99999999999999999999\""},
    {JOB("1", "1000000000000001", "5", "1", "1", "9"), 8,
     "t.swf:1: field 2 (submit time): expected a number in range, found \"1000000000000001\""},
    {JOB("1", "0", "1e16", "1", "1", "9"), 8,
     "t.swf:1: field 4 (run time): expected a number in range, found \"1e16\""},
    {JOB("1", "0", "1e999999999999", "1", "1", "9"), 8,
     "t.swf:1: field 4 (run time): expected a number in range, found \"1e999999999999\""},
    {JOB("1", "0", "5", "-9223372036854775807", "1", "9"), 8,
     "t.swf:1: field 5 (allocated processors): expected a number in range, found "
     "\"-9223372036854775807\""},
    {JOB("1", "0", "nan", "1", "1", "9"), 8,
     "t.swf:1: field 4 (run time): expected a number, found \"nan\""},
    {JOB("1", "0", "0x10", "1", "1", "9"), 8,
     "t.swf:1: field 4 (run time): expected a number, found \"0x10\""},
    {JOB("1", "0", "1e", "1", "1", "9"), 8,
     "t.swf:1: field 4 (run time): expected a number, found \"1e\""},
    {JOB("1", "0", ".", "1", "1", "9"), 8,
     "t.swf:1: field 4 (run time): expected a number, found \".\""},
    {JOB("1", "0", "1.2.3", "1", "1", "9"), 8,
     "t.swf:1: field 4 (run time): expected a number, found \"1.2.3\""},
    {JOB("1", "0", "--5", "1", "1", "9"), 8,
     "t.swf:1: field 4 (run time): expected a number, found \"--5\""},
    {JOB("1", "0", "aVeryLongWordThatWouldFillTheWholeLine", "1", "1", "9"), 8,
     "t.swf:1: field 4 (run time): expected a number, found "
     "\"aVeryLongWordThatWouldFillTheWho...\""},
    {"\x1b[2J", 8, "t.swf:1: field 1 (job number): expected a number, found \"?[2J\""},
    {"1 0 -1 5 1 -1 -1 1 9 -1 1 -1 -1 -1 -1 -1 -1 -1\r2 0", 8,
     "t.swf:1: field 18 (think time): expected a number, found \"-1?2\""},
};

static void says_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(error_rows); i++)
        expect_error(error_rows[i].text, strlen(error_rows[i].text), error_rows[i].procs,
                     error_rows[i].error);
    static const char zero[] = "1 0 -1 \0"
                               "5 1";
    expect_error(zero, sizeof(zero) - 1, 8,
                 "t.swf:1: field 4 (run time): expected a number, found \"?5\"");
}

static void bounds_the_sum_of_estimates(void **state)
{
    (void)state;
    static const char line[] = JOB("1", "0", "1", "1", "1", "1000000000000000");
    size_t lines = 2400;
    char *text = malloc(lines * (sizeof(line) - 1));
    assert_non_null(text);
    for (size_t i = 0; i < lines; i++)
        memcpy(text + i * (sizeof(line) - 1), line, sizeof(line) - 1);
    expect_error(text, lines * (sizeof(line) - 1), 8,
                 "t.swf:2306: the estimates add up to more than can be simulated");
    free(text);
}

static void bounds_a_line(void **state)
{
    (void)state;
    static const char job[] = JOB("1", "0", "5", "1", "1", "9");
    size_t size = 8 * SWF_LINE_MAX;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, job, sizeof(job) - 1);
    text[sizeof(job) - 2] = ' ';
    text[SWF_LINE_MAX] = '\n';
    struct swf_options options = {.procs = 8};
    struct trace t = {0};
    assert_int_equal(swf_parse("t.swf", text, SWF_LINE_MAX + 1, &options, &t, NULL), 0);
    assert_int_equal(t.n, 1);
    trace_clear(&t);
    text[SWF_LINE_MAX] = 'x';
    text[SWF_LINE_MAX + 1] = '\n';
    expect_error(text, SWF_LINE_MAX + 2, 8, "t.swf:1: the line is too long");
    expect_error(text, SWF_LINE_MAX + 1, 8, "t.swf:1: the line is too long");
    text[SWF_LINE_MAX + 1] = 'x';
    expect_error(text, size, 8, "t.swf:1: the line is too long");
    free(text);
}

/* Lines of many lengths, so that the ends of the reader's buffer fall everywhere in a line. */
static char *long_trace(size_t jobs, size_t *length)
{
    char *text = malloc(jobs * 160);
    assert_non_null(text);
    size_t n = 0;
    for (size_t i = 0; i < jobs; i++)
        n += (size_t)sprintf(text + n,
                             "%zu %zu -1 %zu 1 -1 -1 %zu %zu -1 1 -1 -1 -1 -1 -1 -1 -1%*s\n", i + 1,
                             i * 7, i % 1000 + 1, i % 8 + 1, i % 5000 + 1, (int)(i * i % 61), "");
    *length = n;
    return text;
}

static void expect_long_trace(const struct trace *t, size_t jobs)
{
    assert_int_equal(t->n, jobs);
    for (size_t i = 0; i < jobs; i++) {
        int64_t run = (int64_t)(i % 1000 + 1);
        int64_t limit = (int64_t)(i % 5000 + 1);
        assert_int_equal(t->jobs[i].id, i + 1);
        assert_int_equal(t->jobs[i].submit, i * 7);
        assert_int_equal(t->jobs[i].procs, i % 8 + 1);
        assert_int_equal(t->jobs[i].limit, limit);
        assert_int_equal(t->jobs[i].run, run < limit ? run : limit);
    }
}

static void joins_lines_across_buffers(void **state)
{
    (void)state;
    size_t length;
    char *text = long_trace(20000, &length);
    struct swf_options options = {.procs = 8};
    struct trace t = {0};
    assert_int_equal(swf_parse("t.swf", text, length, &options, &t, NULL), 0);
    expect_long_trace(&t, 20000);
    trace_clear(&t);
    free(text);
}

/* Write a file of the given bytes, gzipped or not, and return its name, which lasts until the next
 * call. */
static const char *write_file(const char *text, size_t length, const char *mode)
{
    static char path[] = "test_swf_XXXXXX";
    strcpy(path, "test_swf_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    gzFile file = gzdopen(fd, mode);
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)length), length);
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

static void reads_files_gzipped_or_plain(void **state)
{
    (void)state;
    size_t length;
    char *text = long_trace(20000, &length);
    struct swf_options options = {.procs = 8};
    static const char *const modes[] = {"wb9", "wbT"};
    for (size_t i = 0; i < COUNT(modes); i++) {
        const char *path = write_file(text, length, modes[i]);
        struct trace t = {0};
        berth_error_t err;
        assert_int_equal(swf_read(path, &options, &t, &err), 0);
        expect_long_trace(&t, 20000);
        trace_clear(&t);
        assert_non_null(freopen(path, "rb", stdin));
        assert_int_equal(swf_read("-", &options, &t, &err), 0);
        expect_long_trace(&t, 20000);
        trace_clear(&t);
        unlink(path);
    }
    free(text);
}

static void expect_unreadable(const char *path, int errnum, const char *end)
{
    struct swf_options options = {.procs = 8};
    struct trace t = {.n = 77};
    berth_error_t err;
    errno = 0;
    assert_int_equal(swf_read(path, &options, &t, &err), -1);
    assert_int_equal(errno, errnum);
    size_t length = strlen(path);
    assert_true(strncmp(err.text, path, length) == 0);
    assert_string_equal(err.text + length, end);
    assert_int_equal(t.n, 77);
}

static void says_what_is_wrong_with_a_file(void **state)
{
    (void)state;
    expect_unreadable("no/such/file.swf", ENOENT, ": No such file or directory");
    expect_unreadable(".", EISDIR, ": Is a directory");

    size_t length;
    char *text = long_trace(20000, &length);
    const char *path = write_file(text, length, "wb9");
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    /* the last eight bytes are the checksum and the length */
    assert_int_equal(fseek(file, size - 8, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, size - 8, SEEK_SET), 0);
    fputc(byte ^ 0xff, file);
    fclose(file);
    expect_unreadable(path, EINVAL, ": damaged gzip file: incorrect data check");
    for (long cut = size - 8; cut > 2; cut = cut * 2 / 3) {
        assert_int_equal(truncate(path, cut), 0);
        expect_unreadable(path, EINVAL, ": damaged gzip file: ends too early");
    }
    unlink(path);
    free(text);
}

static void damage_is_not_blamed_on_a_line(void **state)
{
    (void)state;
    /* stored, not deflated, so that a byte of the file is a byte of the text */
    static const char text[] = JOB("1", "0", "5", "1", "1", "9");
    const char *path = write_file(text, sizeof(text) - 1, "wb0");
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -8 - (long)(sizeof(text) - 1), SEEK_END), 0);
    fputc('x', file);
    fclose(file);
    expect_unreadable(path, EINVAL, ": damaged gzip file: incorrect data check");
    unlink(path);
}

static void keeps_the_end_of_a_long_name(void **state)
{
    (void)state;
    char name[500];
    memset(name, 'a', sizeof(name));
    strcpy(name + sizeof(name) - 7, "/t.swf");
    struct swf_options options = {.procs = 8};
    struct trace t = {0};
    berth_error_t err;
    assert_int_equal(swf_parse(name, "x", 1, &options, &t, &err), -1);
    assert_non_null(
        strstr(err.text, "a/t.swf:1: field 1 (job number): expected a number, found \"x\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_a_job_needs),
        cmocka_unit_test(filters_in_the_stated_order),
        cmocka_unit_test(reads_numbers_of_every_form),
        cmocka_unit_test(cuts_the_estimate_too),
        cmocka_unit_test(takes_the_queue_as_priority),
        cmocka_unit_test(exact_estimates_are_run_times),
        cmocka_unit_test(stops_at_the_limit),
        cmocka_unit_test(finds_the_size),
        cmocka_unit_test(reads_any_line_ends),
        cmocka_unit_test(an_empty_trace_is_one),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(bounds_the_sum_of_estimates),
        cmocka_unit_test(bounds_a_line),
        cmocka_unit_test(joins_lines_across_buffers),
        cmocka_unit_test(reads_files_gzipped_or_plain),
        cmocka_unit_test(says_what_is_wrong_with_a_file),
        cmocka_unit_test(damage_is_not_blamed_on_a_line),
        cmocka_unit_test(keeps_the_end_of_a_long_name),
    };
    return cmocka_run_group_tests_name("swf", tests, NULL, NULL);
}
