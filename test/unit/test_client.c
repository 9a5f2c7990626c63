/* The small parts of the client: jobs as people name them, lists that come in pieces, members of an object,
 * options in scripts, tables, instants.
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
#include <time.h>
#include <unistd.h>

#include "cli/client/objects.h"
#include "cli/client/output.h"
#include "cli/client/script.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "config/ids.h"

/* ---- Ids ---- */

static int put_id(void *context, int64_t id, int64_t member, bool ranged)
{
    char text[64];
    snprintf(text, sizeof(text), "%lld/%lld%s ", (long long)id, (long long)member,
             ranged ? "r" : "");
    strbuf_puts(context, text);
    return 0;
}

static void ids(void **state)
{
    char *words[] = {(char[]){"3-5"}, (char[]){"9"}, (char[]){"17[2]"}, (char[]){"18[0-1,4]"},
                     (char[]){"19.3"}};
    static const char *const bad[] = {"",
                                      "0",
                                      "x",
                                      "-1",
                                      "3-",
                                      "5-3",
                                      "3-5-7",
                                      "17[",
                                      "17[]",
                                      "17[x]",
                                      "17.",
                                      "17.3x",
                                      "1 2",
                                      "17[3]x",
                                      "99999999999999999999",
                                      "17.9999999999"};
    struct strbuf out = {0};
    struct ids ids;
    int64_t id, member;

    (void)state;
    assert_int_equal(ids_read(&ids, words, 5, NULL), 0);
    assert_int_equal(ids_each(&ids, put_id, &out), 0);
    assert_string_equal(strbuf_text(&out), "3/-1r 4/-1r 5/-1r 9/-1 17/2 18/0r 18/1r 18/4r 19/3 ");
    assert_true(ids_has(&ids, 4, -1));
    assert_true(ids_has(&ids, 9, 7));
    assert_false(ids_has(&ids, 17, 3));
    assert_false(ids_has(&ids, 17, -1));
    assert_true(ids_has(&ids, 18, 4));
    strbuf_clear(&out);
    ids_clear(&ids);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *word = strdup(bad[i]);
        assert_int_equal(ids_read(&ids, &word, 1, NULL), -1);
        assert_int_equal(errno, EINVAL);
        free(word);
    }
    assert_int_equal(ids_read_one("17[2]", &id, &member, NULL), 0);
    assert_int_equal(id, 17);
    assert_int_equal(member, 2);
    assert_int_equal(ids_read_one("17", &id, &member, NULL), 0);
    assert_int_equal(member, -1);
    assert_int_equal(ids_read_one("17-18", &id, &member, NULL), -1);
    assert_int_equal(ids_read_one("17[2-3]", &id, &member, NULL), -1);
}

/* ---- Lists ---- */

static int put_record(void *context, const char *text, size_t length)
{
    strbuf_put(context, text, length);
    strbuf_putc(context, '|');
    return 0;
}

/* The same whatever the pieces are. */
static void records(void **state)
{
    static const char text[] = "{\"jobs\":[\n{\"a\":1},\n{\"b\":\"}]\\\"{\",\"c\":[{},[1]]},{}],"
                               "\"next\":\"17.3\"}\n";
    static const char *const wrong[] = {"}", "]", "{\"jobs\":[]}{", "{\"jobs\":[]}]"};

    (void)state;
    for (size_t piece = 1; piece < sizeof(text); piece++) {
        struct strbuf out = {0};
        struct records r = {.visit = put_record, .context = &out};
        for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
            size_t left = sizeof(text) - 1 - at;
            assert_false(records_are_complete(&r));
            assert_int_equal(records_take(&r, text + at, left < piece ? left : piece), 0);
            if (at + piece >= sizeof(text) - 3)
                break;
        }
        assert_string_equal(strbuf_text(&out), "{\"a\":1}|{\"b\":\"}]\\\"{\",\"c\":[{},[1]]}|{}|");
        records_clear(&r);
        strbuf_clear(&out);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct strbuf out = {0};
        struct records r = {.visit = put_record, .context = &out};
        assert_int_equal(records_take(&r, wrong[i], strlen(wrong[i])), -1);
        records_clear(&r);
        strbuf_clear(&out);
    }
}

static void fields(void **state)
{
    static const char text[] =
        " {\"id\": 17,\"name\":\"a \\\"b\\u00e9\",\"n\":-3 , \"x\":null,\"l\":[1,{\"id\":2}],"
        "\"o\":{\"name\":\"no\"},\"f\":1.5,\"no\":false,\"e\":\"\"}";
    static const char *const wrong[] = {
        "", "[1]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\" 1}", "{\"a\":\"x", "{\"a\":[1,2}"};
    struct strbuf buffer = {0};
    struct fields f;
    int64_t number;

    (void)state;
    assert_true(fields_find(&f, text, sizeof(text) - 1));
    assert_int_equal(f.n, 9);
    assert_true(fields_whole(&f, "id", &number));
    assert_int_equal(number, 17);
    assert_true(fields_whole(&f, "n", &number));
    assert_int_equal(number, -3);
    assert_false(fields_whole(&f, "x", &number));
    assert_false(fields_whole(&f, "f", &number));
    assert_string_equal(fields_text(&f, "name", &buffer), "a \"b\303\251");
    assert_string_equal(fields_text(&f, "x", &buffer), "");
    assert_string_equal(fields_text(&f, "e", &buffer), "");
    assert_string_equal(fields_text(&f, "none", &buffer), "");
    assert_true(fields_number(&f, "f") > 1.49 && fields_number(&f, "f") < 1.51);
    assert_true(fields_number(&f, "x") < 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(fields_find(&f, wrong[i], strlen(wrong[i])));
    strbuf_clear(&buffer);
}

/* ---- Scripts ---- */

static void options_of(const char *text, const char *expected)
{
    struct script s = {.text = strdup(text), .length = strlen(text)};
    struct strbuf words = {0};

    assert_int_equal(script_options(&s, "x.sh", NULL), 0);
    assert_null(s.words[s.n]);
    for (int i = 1; i < s.n; i++) {
        strbuf_puts(&words, s.words[i]);
        strbuf_putc(&words, '|');
    }
    assert_string_equal(strbuf_text(&words), expected);
    strbuf_clear(&words);
    script_clear(&s);
}

static void scripts(void **state)
{
    berth_error_t err;

    (void)state;
    options_of("", "");
    options_of("#!/bin/sh\n#BERTH -c 4 -t 1h\n", "-c|4|-t|1h|");
    options_of("#!/bin/sh\n\n# x\n  #BERTH\t-c  4 # and why\ntrue\n#BERTH -n 9\n", "-c|4|");
    options_of("#BERTH --name \"my job\" 'a b'c d\\ e ''\n", "--name|my job|a bc|d e||");
    options_of("#BERTH a\"\\\"b\"'\\'", "a\"b\\|");
    options_of("#BERTHX -c 4\n#BERTH", "");
    options_of("#BERTH -c 4\r\n", "-c|4|");
    options_of("#SBATCH -c 4\n#flux:-n 2\n##flux: -c1\n##SBATCH -n 3\n# SBATCH -n 4\n",
               "-c|4|-n|2|-c1|");

    struct script s = {.text = strdup("#!/bin/sh\n#BERTH \"x\n"), .length = 19};
    assert_int_equal(script_options(&s, "x.sh", &err), -1);
    assert_string_equal(err.text, "x.sh: line 2: a quote is not closed");
    script_clear(&s);
}

/* ---- Tables ---- */

static void tables(void **state)
{
    static const struct table_column columns[] = {
        {"ID", true, 0}, {"NAME", false, 4}, {"LAST", false, 0}, {NULL, false, 0}};
    char *text = NULL;
    size_t size = 0;
    FILE *out = tmpfile();
    struct table t;

    (void)state;
    assert_non_null(out);
    table_begin(&t, out, columns);
    for (int i = 0; i < 1500; i++) {
        table_number(&t, i == 1499 ? 123456 : 7);
        table_cell(&t, i == 1 ? "t\303\251xtlong" : "ab");
        table_cell(&t, i == 2 ? "a\033b\302\233c" : "");
    }
    assert_true(table_end(&t));
    table_clear(&t);
    rewind(out);
    static const char *const first[] = {"ID  NAME  LAST\n", " 7  ab\n", " 7  t\303\251xt\n",
                                        " 7  ab    a?b?c\n"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(getline(&text, &size, out) > 0);
        assert_string_equal(text, first[i]);
    }
    while (getline(&text, &size, out) > 0)
        ;
    assert_string_equal(text, "123456  ab\n");
    free(text);
    fclose(out);
}

/* Two columns for a letter of East Asia, none for a mark on another; what is wide is not cut in half. */
static void widths(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
    } texts[] = {{"", 0},   {"abc", 3},        {"größe", 5},    {"名前", 4}, {"e\xcc\x81", 1},
                 {"한", 2}, {"\U0001F600", 2}, {"\xff\xfe", 2}, {"ﬁ", 1}};
    size_t columns = 3;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(terminal_width(texts[i].text), texts[i].columns);
    assert_int_equal(terminal_fit("名前", &columns), 3);
    assert_int_equal(columns, 2);
}

/* ---- Lines of members ---- */

static char folder[] = "/tmp/berth-lines-XXXXXX";

static const char *file_of(const char *name)
{
    static char path[2][128];
    static int next;

    next = !next;
    snprintf(path[next], sizeof(path[next]), "%s/%s", folder, name);
    return path[next];
}

static void append(const char *name, const char *text)
{
    FILE *file = fopen(file_of(name), "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Take all that was written since the last time. */
static void expect_written(int fd, const char *expected)
{
    size_t n = strlen(expected);
    char *got = calloc(1, n + 100);
    ssize_t length = pread(fd, got, n + 99, 0);

    assert_int_equal(length, (ssize_t)n);
    assert_memory_equal(got, expected, n);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    free(got);
}

static void lines_of_members(void **state)
{
    struct lines l = {.watch = -1};

    (void)state;
    assert_non_null(mkdtemp(folder));
    FILE *to = tmpfile();
    l.to = fileno(to);
    append("0", "a\nb");
    append("7", "x\n");
    assert_int_equal(lines_take(&l, 0, file_of("0"), true, false), 0);
    assert_int_equal(lines_take(&l, 1, file_of("1"), false, false), 0); /* it waits */
    assert_int_equal(lines_take(&l, 2, file_of("2"), true, false), 0);  /* it has no file yet */
    assert_int_equal(lines_take(&l, 7, file_of("7"), true, true), 0);
    assert_int_equal(lines_copy(&l), 0);
    expect_written(l.to, "0: a\n7: x\n");
    append("0", "c\n\nd");
    append("7", "it has ended before\n");
    append("2", "late\n");
    assert_int_equal(lines_take(&l, 7, file_of("7"), true, true), 0);
    assert_int_equal(lines_copy(&l), 0);
    expect_written(l.to, "0: bc\n0: \n2: late\n");
    assert_int_equal(lines_take(&l, 0, file_of("0"), true, true), 0);
    assert_int_equal(lines_copy(&l), 0);
    expect_written(l.to, "0: d\n");
    lines_clear(&l);
    /* A line of 65537 bytes is told in two parts, one of 65536 is whole. */
    struct strbuf text = {0}, expected = {0};
    strbuf_fill(&text, 'x', 65537);
    strbuf_puts(&text, "\n");
    append("long", strbuf_text(&text));
    strbuf_puts(&expected, "3: ");
    strbuf_fill(&expected, 'x', 65536);
    strbuf_puts(&expected, "\n3: x\n");
    l = (struct lines){.watch = -1, .to = fileno(to)};
    assert_int_equal(lines_take(&l, 3, file_of("long"), true, true), 0);
    assert_int_equal(lines_copy(&l), 0);
    expect_written(l.to, strbuf_text(&expected));
    lines_clear(&l);
    strbuf_clear(&text);
    strbuf_clear(&expected);
    /* One file for all is nobody's. */
    l = (struct lines){.watch = -1, .to = fileno(to)};
    assert_int_equal(lines_take(&l, 0, file_of("0"), true, false), 0);
    assert_int_equal(lines_take(&l, 1, file_of("0"), true, false), 1);
    assert_int_equal(lines_take(&l, 0, file_of("0"), true, true), 1);
    assert_int_equal(lines_copy(&l), 0);
    expect_written(l.to, "");
    lines_clear(&l);
    fclose(to);
    static const char *const names[] = {"0", "2", "7", "long"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlink(file_of(names[i]));
    rmdir(folder);
}

/* ---- Instants ---- */

static void instants(void **state)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "25:00",
                                      "2026-13-01",
                                      "+",
                                      "+x",
                                      "@",
                                      "@-1",
                                      "1h",
                                      "2026-11-22T08",
                                      "08:30x",
                                      "2026-02-30",
                                      "2026-11-22T08:30+",
                                      "1969-12-31",
                                      " 2026-11-22"};
    const time_t now = 1795305600; /* 2026-11-22 00:00:00 UTC */
    char text[WHEN_SIZE];
    double at;

    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    assert_int_equal(when_read("+1h", now, &at), 0);
    assert_true(at == 1795305600 + 3600);
    assert_int_equal(when_read("now+90", now, &at), 0);
    assert_true(at == 1795305600 + 90);
    assert_int_equal(when_read("08:30", now, &at), 0);
    assert_true(at == 1795305600 + 30600);
    assert_int_equal(when_read("00:00", now, &at), 0);
    assert_true(at == 1795305600 + 86400);
    assert_int_equal(when_read("2026-11-23", now, &at), 0);
    assert_true(at == 1795305600 + 86400);
    assert_int_equal(when_read("2026-11-22T00:01", now, &at), 0);
    assert_true(at == 1795305600 + 60);
    assert_int_equal(when_read("2026-11-22T00:01+01:00", now, &at), 0);
    assert_true(at == 1795305600 + 60 - 3600);
    assert_int_equal(when_read("2026-11-22 00:01:02Z", now, &at), 0);
    assert_true(at == 1795305600 + 62);
    assert_int_equal(when_read("@17.5", now, &at), 0);
    assert_true(at == 17.5);
    for (size_t i = 1; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(when_read(bad[i], now, &at), -1);
    assert_string_equal(when_put(1795305600, text), "2026-11-22 00:00:00");
    assert_string_equal(when_put(-1, text), "-");
    assert_string_equal(when_span(7, text), "0:07");
    assert_string_equal(when_span(754.9, text), "12:34");
    assert_string_equal(when_span(3723, text), "1:02:03");
    assert_string_equal(when_span(2 * 86400 + 3 * 3600 + 4 * 60 + 5, text), "2-03:04:05");
    assert_string_equal(when_span(-5, text), "0:00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ids),
                                       cmocka_unit_test(records),
                                       cmocka_unit_test(fields),
                                       cmocka_unit_test(scripts),
                                       cmocka_unit_test(tables),
                                       cmocka_unit_test(instants),
                                       cmocka_unit_test(lines_of_members),
                                       cmocka_unit_test(widths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
