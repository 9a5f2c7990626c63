/* What nodes have at least, as sinfo says of each kind of node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "cli/pilot_shape.h"

#define MIB (INT64_C(1) << 20)

static void expect_shape(const char *lines, bool is_default, const char *feature, int64_t cores,
                         int64_t gpus, int64_t mib)
{
    char text[1024];
    snprintf(text, sizeof(text), "%s", lines);
    struct pilot_shape s = pilot_shape_read(text, is_default, feature);
    assert_int_equal(s.cores, cores);
    assert_int_equal(s.gpus, gpus);
    assert_int_equal(s.memory, mib * MIB);
}

static void one_kind(void **state)
{
    (void)state;
    expect_shape("batch*|4|8000|(null)|(null)\n", true, NULL, 4, 0, 8000);
    expect_shape("gpu|64|512000|gpu:a100:4(S:0-1),shard:8|a100,ib\n", false, NULL, 64, 4, 512000);
    expect_shape("gpu|64+|512000+|gpu:2|a\n", false, NULL, 64, 2, 512000);
}

/* Any of them may be given, so each number is the least. */
static void several_kinds(void **state)
{
    (void)state;
    static const char lines[] = "batch*|4|9000|gpu:1|old\n"
                                "batch*|8|8000|gpu:2|new,ib\n"
                                "other|2|1000|(null)|new\n";
    expect_shape(lines, true, NULL, 4, 1, 8000);
    expect_shape(lines, true, "ib", 8, 2, 8000);
    expect_shape(lines, false, NULL, 2, 0, 1000);
    expect_shape(lines, false, "new", 2, 0, 1000);
    expect_shape(lines, true, "ne", 0, 0, 0);
}

static void nothing_known(void **state)
{
    (void)state;
    expect_shape("", true, NULL, 0, 0, 0);
    expect_shape("batch|4|8000|(null)|(null)\n", true, NULL, 0, 0,
                 0); /* no partition is the default */
    expect_shape("sinfo: error\n|||\nbatch*|4|8000|(null)\nbatch*|4|8000|(null)|x|y\n", true, NULL,
                 0, 0, 0);
    expect_shape("batch*|0|8000|(null)|x\nbatch*|-4|1|(null)|x\nbatch*|99999999999|1|(null)|x\n"
                 "batch*|4x|1|(null)|x\n",
                 true, NULL, 0, 0, 0);
    expect_shape("batch*|4|much|(null)|x", true, NULL, 4, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_kind),
        cmocka_unit_test(several_kinds),
        cmocka_unit_test(nothing_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
