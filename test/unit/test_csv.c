/* report/csv.c and report/outfile.c: rows, their order, compression, and files that appear whole or not. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "report/alloc.h"
#include "report/csv.h"
#include "report/outfile.h"

static char dir[] = "/tmp/berth-test-XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static size_t files_in_dir(void)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    while (d && readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

/* The whole file, compressed or not: zlib reads both. */
static const char *content(const char *path)
{
    static char text[4096];
    gzFile f = gzopen(path, "rb");
    assert_non_null(f);
    int n = gzread(f, text, sizeof(text) - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    gzclose(f);
    return text;
}

static const struct schedule_job jobs[] = {
    {.id = 30, .submit = 0, .run = 10, .limit = 20, .procs = 4},
    {.id = -2, .submit = 1, .run = 1, .limit = 1, .procs = 1},
    {.id = 30, .submit = 2, .run = 5, .limit = 5, .procs = 2},
    {.id = 7, .submit = 3, .run = 5, .limit = 5, .procs = 200},
    {.id = INT64_MAX, .submit = 4, .run = 5, .limit = INT64_MAX, .procs = 2},
};
static const int64_t start[] = {0, 10, 12, SCHEDULE_NEVER, 1000000};
static const struct schedule schedule = {.procs = 8, .n = 5, .jobs = jobs, .start = start};
static const char expected[] = "job,submit,start,end,procs,run,req\n"
                               "-2,1,10,11,1,1,1\n"
                               "30,0,0,10,4,10,20\n"
                               "30,2,12,17,2,5,5\n"
                               "9223372036854775807,4,1000000,1000005,2,5,9223372036854775807\n";

static int write_csv(const struct schedule *s, const char *path, berth_error_t *err)
{
    return csv_write(s, outfile_open(path, err), err);
}

static void test_rows(void **state)
{
    (void)state;
    assert_int_equal(write_csv(&schedule, in_dir("a.csv"), NULL), 0);
    assert_string_equal(content(in_dir("a.csv")), expected);
    assert_int_equal(write_csv(&schedule, in_dir("a.csv.gz"), NULL), 0);
    assert_string_equal(content(in_dir("a.csv.gz")), expected);
    FILE *f = fopen(in_dir("a.csv.gz"), "rb");
    assert_int_equal(fgetc(f), 0x1f);
    assert_int_equal(fgetc(f), 0x8b);
    fclose(f);
    assert_int_equal(files_in_dir(), 2);
    unlink(in_dir("a.csv"));
    unlink(in_dir("a.csv.gz"));
}

static void test_empty(void **state)
{
    (void)state;
    struct schedule none = {.procs = 8};
    assert_int_equal(write_csv(&none, in_dir("a.csv"), NULL), 0);
    assert_string_equal(content(in_dir("a.csv")), "job,submit,start,end,procs,run,req\n");
    unlink(in_dir("a.csv"));
}

static void test_failures(void **state)
{
    (void)state;
    berth_error_t err;
    assert_int_equal(write_csv(&schedule, in_dir("none/a.csv"), &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_non_null(strstr(err.text, "none/a.csv: "));
    assert_int_equal(write_csv(&schedule, dir, &err), -1);
    assert_int_equal(errno, EISDIR);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(write_csv(&schedule, "/dev/full", &err), -1);
        assert_int_equal(errno, ENOSPC);
        assert_string_equal(err.text, "/dev/full: No space left on device");
    }
    assert_int_equal(files_in_dir(), 0);
}

/* An unfinished file leaves what was there; a symbolic link stays one. */
static void test_replacing(void **state)
{
    (void)state;
    assert_int_equal(write_csv(&schedule, in_dir("a.csv"), NULL), 0);
    struct outfile *out = outfile_open(in_dir("a.csv"), NULL);
    assert_non_null(out);
    outfile_write(out, "half", 4);
    assert_int_equal(outfile_close(out, false, NULL), 0);
    assert_string_equal(content(in_dir("a.csv")), expected);

    assert_int_equal(symlink("a.csv", in_dir("link.csv")), 0);
    out = outfile_open(in_dir("link.csv"), NULL);
    assert_non_null(out);
    outfile_write(out, "new\n", 4);
    assert_int_equal(outfile_close(out, true, NULL), 0);
    struct stat st;
    assert_int_equal(lstat(in_dir("link.csv"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_string_equal(content(in_dir("a.csv")), "new\n");
    assert_int_equal(files_in_dir(), 2);
    unlink(in_dir("a.csv"));
    unlink(in_dir("link.csv"));
    assert_int_equal(outfile_close(NULL, true, NULL), 0);
}

/* Two names of one file have one target; what is written directly has none. Abandoned files are gone. */
static void test_targets(void **state)
{
    (void)state;
    struct outfile *one = outfile_open(in_dir("a.csv"), NULL);
    assert_non_null(one);
    assert_int_equal(mkdir(in_dir("sub"), 0700), 0);
    struct outfile *other = outfile_open(in_dir("sub/../a.csv"), NULL);
    assert_non_null(other);
    assert_string_equal(outfile_target(one), outfile_target(other));
    assert_string_equal(outfile_path(other), in_dir("sub/../a.csv"));
    assert_int_equal(files_in_dir(), 2);
    outfile_abandon();
    assert_int_equal(files_in_dir(), 1);
    outfile_close(one, false, NULL);
    outfile_close(other, false, NULL);
    rmdir(in_dir("sub"));
    one = outfile_open("/dev/null", NULL);
    assert_non_null(one);
    assert_null(outfile_target(one));
    assert_int_equal(outfile_close(one, true, NULL), 0);
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

/* Short and long numbers, one range and many, none at all, and a job that never started. */
static void test_alloc(void **state)
{
    (void)state;
    static const struct resource_range some[] = {{0, 3}, {7, 7}, {500, 100500}, {4000000, 4000001}};
    static const struct resource_range far[] = {{INT32_MAX, INT32_MAX}};
    struct schedule named = schedule;
    struct alloc alloc;
    assert_int_equal(alloc_init(&alloc, 5), 0);
    assert_int_equal(alloc_add(&alloc, 1, far, 1), 0);
    assert_int_equal(alloc_add(&alloc, 0, some, 4), 0);
    assert_int_equal(alloc_add(&alloc, 4, some, 1), 0);
    named.alloc = &alloc;
    assert_int_equal(csv_write(&named, outfile_open(in_dir("n.csv"), NULL), NULL), 0);
    assert_string_equal(content(in_dir("n.csv")),
                        "job,submit,start,end,procs,run,req,alloc\n"
                        "-2,1,10,11,1,1,1,2147483647\n"
                        "30,0,0,10,4,10,20,0-3 7 500-100500 4000000-4000001\n"
                        "30,2,12,17,2,5,5,\n"
                        "9223372036854775807,4,1000000,1000005,2,5,9223372036854775807,0-3\n");
    unlink(in_dir("n.csv"));
    alloc_clear(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),     cmocka_unit_test(test_empty),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_replacing),
        cmocka_unit_test(test_targets),  cmocka_unit_test(test_alloc),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
