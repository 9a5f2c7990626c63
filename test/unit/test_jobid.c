/* Job ids as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/jobid.h"

static uint64_t parsed(const char *text)
{
    uint64_t id = 42;
    assert_int_equal(jobid_parse(text, strlen(text), &id), 0);
    return id;
}

static void refused(const char *text, int errnum)
{
    uint64_t id = 42;
    errno = 0;
    assert_int_equal(jobid_parse(text, strlen(text), &id), -1);
    assert_int_equal(errno, errnum);
    assert_int_equal(id, 42);
}

/* Worked out by hand: 58 is "21" in base 58, 57 is its last digit. */
static void reads_every_form(void **state)
{
    (void)state;
    assert_int_equal(parsed("0"), 0);
    assert_int_equal(parsed("18446744073709551615"), UINT64_MAX);
    assert_int_equal(parsed("007"), 7);
    assert_int_equal(parsed("0x1f"), 31);
    assert_int_equal(parsed("0xFFFFFFFFFFFFFFFF"), UINT64_MAX);
    assert_int_equal(parsed("f1"), 0);
    assert_int_equal(parsed("fz"), 57);
    assert_int_equal(parsed("\xc6\x92"
                            "21"),
                     58);
    assert_int_equal(parsed("f11121"), 58);
    assert_int_equal(parsed("0000.0001.0002.000a"), 0x10002000a);
    assert_int_equal(parsed("f.1.2.3"), 0xf000100020003);
    assert_int_equal(parsed("job.ffff.ffff.ffff.ffff"), UINT64_MAX);
    assert_int_equal(parsed("job.17"), 17);
    assert_int_equal(parsed("0x7048860ddf79"), 123456789012345);
    assert_int_equal(parsed("0000.7048.860d.df79"), 123456789012345);
    assert_int_equal(parsed("fxv12grS4"), 123456789012345);
}

static void refuses_what_is_none(void **state)
{
    static const char *const wrong[] = {"",
                                        "x",
                                        "-1",
                                        "+1",
                                        "1 ",
                                        " 1",
                                        "1x",
                                        "0x",
                                        "f",
                                        "\xc6\x92",
                                        "f0",
                                        "fl",
                                        "fO",
                                        "1.2.3",
                                        "1.2.3.4.5",
                                        "1.2.3.12345",
                                        "1..2.3",
                                        ".1.2.3",
                                        "1.2.3.",
                                        "1.2.3.g",
                                        "job.",
                                        "job",
                                        "academy-abacus",
                                        "f1 "};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        refused(wrong[i], EINVAL);
    refused("18446744073709551616", ERANGE);
    refused("0x10000000000000000", ERANGE);
    refused("fzzzzzzzzzzzz", ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_form),
        cmocka_unit_test(refuses_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
