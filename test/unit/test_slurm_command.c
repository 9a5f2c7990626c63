/* A command of Slurm's, with others in its place. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/slurm/command.h"

/* More than a pipe holds: nobody has read all of it when the command ends. */
static char input[1 << 17];

static int run(const char *program, struct strbuf *said, berth_error_t *err)
{
    struct command c = {0};
    command_add(&c, "sh");
    command_add(&c, "-c");
    command_add(&c, program);
    return command_run(&c, input, sizeof(input), -1, said, err);
}

/* sbatch refuses an option before it reads the script. */
static void who_ends_before_reading_is_heard(void **state)
{
    berth_error_t err;
    struct strbuf said = {0};
    (void)state;
    assert_int_equal(run("echo 'error: no such partition' >&2; exit 1", &said, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "error: no such partition");
    strbuf_clear(&said);
    assert_int_equal(run("echo 17", &said, &err), 0);
    assert_string_equal(strbuf_text(&said), "17\n");
    strbuf_clear(&said);
}

static void who_reads_gets_it_whole(void **state)
{
    berth_error_t err;
    struct strbuf said = {0};
    (void)state;
    assert_int_equal(run("wc -c", &said, &err), 0);
    assert_string_equal(command_last_line(&said), "131072");
    strbuf_clear(&said);
}

int main(void)
{
    memset(input, '#', sizeof(input));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_ends_before_reading_is_heard),
        cmocka_unit_test(who_reads_gets_it_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
