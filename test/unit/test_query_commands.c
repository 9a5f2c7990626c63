/* The commands of berth query: what they ask of the matcher and what they print, byte for byte. */
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

#include "cli/query/commands.h"
#include "fake_match.h"

#define RULE QUERY_RULE

static const char jobspec[] =
    "version: 9999\n"
    "resources:\n"
    "  - {type: slot, count: 1, label: d, with: [{type: core, count: 1}]}\n"
    "attributes: {system: {duration: 10}}\n"
    "tasks: [{command: [a], slot: d, count: {per_slot: 1}}]\n";

/* A session whose streams are in memory. */
struct fixture {
    struct match fake;
    struct session s;
    char *out, *info, *err;
    size_t nout, ninfo, nerr;
    char folder[32];
};

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    strcpy(f->folder, "/tmp/berth-test-XXXXXX");
    if (!mkdtemp(f->folder) || chdir(f->folder) < 0)
        return -1;
    write_file("job", jobspec);
    write_file("wrong", "version: [\n");
    write_file("R", "{}");
    session_init(&f->s);
    f->s.machine = &f->fake;
    f->s.out = open_memstream(&f->out, &f->nout);
    f->s.info = open_memstream(&f->info, &f->ninfo);
    f->s.err = open_memstream(&f->err, &f->nerr);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    fclose(f->s.out);
    fclose(f->s.info);
    fclose(f->s.err);
    free(f->out);
    free(f->info);
    free(f->err);
    session_clear(&f->s);
    unlink("job");
    unlink("wrong");
    unlink("R");
    if (chdir("/") < 0 || rmdir(f->folder) < 0)
        return -1;
    free(f);
    return 0;
}

/* Run a line and forget what was said before it. */
static bool run(struct fixture *f, const char *command)
{
    char line[256];
    snprintf(line, sizeof(line), "%s", command);
    rewind(f->s.out);
    rewind(f->s.info);
    rewind(f->s.err);
    f->fake.length = 0;
    f->fake.calls[0] = '\0';
    bool more = query_run(&f->s, line);
    fputc('\0', f->s.out);
    fputc('\0', f->s.info);
    fputc('\0', f->s.err);
    fflush(f->s.out);
    fflush(f->s.info);
    fflush(f->s.err);
    return more;
}

static void expect(struct fixture *f, const char *command, const char *out, const char *info,
                   const char *err)
{
    assert_true(run(f, command));
    assert_string_equal(f->out, out);
    assert_string_equal(f->info, info);
    assert_string_equal(f->err, err);
}

static void given(struct fixture *f, const char *command, const char *id, const char *what)
{
    char text[256];
    snprintf(text, sizeof(text), "R\n" RULE "INFO: JOBID=%s\nINFO: RESOURCES=%s\n" RULE, id, what);
    f->fake.text = "R\n";
    expect(f, command, text, "", "");
}

static void not_given(struct fixture *f, const char *command, const char *id, const char *never)
{
    char text[256];
    snprintf(text, sizeof(text), RULE "INFO: No matching resources found\n%sINFO: JOBID=%s\n" RULE,
             never, id);
    f->fake.text = "";
    assert_true(run(f, command));
    assert_string_equal(f->out, text);
}

static void matches(void **state)
{
    struct fixture *f = *state;
    given(f, "match allocate job", "1", "ALLOCATED\nINFO: SCHEDULED AT=Now");
    assert_string_equal(f->fake.calls, "run 0 slot 1 0\nwrite simple\n");
    f->fake.at = 60;
    given(f, "\tm  allocate_orelse_reserve job \r", "2", "RESERVED\nINFO: SCHEDULED AT=60");
    given(f, "match without_allocating_future job", "3", "MATCHED\nINFO: SCHEDULED AT=60");
    f->fake.at = 0;
    given(f, "match without_allocating job", "3", "MATCHED\nINFO: SCHEDULED AT=Now");
    f->fake.text = "";
    expect(f, "match satisfiability job", RULE "INFO: Satisfiable request\n" RULE, "", "");
    given(f, "match allocate_with_satisfiability job", "3", "ALLOCATED\nINFO: SCHEDULED AT=Now");
}

/* What takes a job's number and what doesn't. */
static void failures_count(void **state)
{
    struct fixture *f = *state;
    f->fake.error = EBUSY;
    not_given(f, "match allocate job", "1", "");
    f->fake.error = ENODEV;
    not_given(f, "match allocate job", "2", "INFO: Unsatisfiable request\n");
    expect(f, "match satisfiability job", RULE "INFO: Unsatisfiable request\n" RULE, "", "");
    not_given(f, "match without_allocating job", "3", "INFO: Unsatisfiable request\n");
    f->fake.error = EINVAL;
    not_given(f, "match allocate job", "3", "");
    assert_string_equal(f->err, "match_allocate: ERROR: fake 22\n");
    assert_string_equal(f->fake.calls, "run 0 slot 3 0\n");
    f->fake.error = 0;
    not_given(f, "match allocate wrong", "3", "");
    assert_non_null(strstr(f->err, "match_allocate: ERROR: Jobspec error for 3: line 2"));
    assert_string_equal(f->fake.calls, "");
    assert_true(run(f, "match satisfiability wrong"));
    assert_string_equal(f->out, RULE "INFO: Unsatisfiable request\n" RULE);
    expect(f, "match allocate none", "", "", "ERROR: can't open none: No such file or directory\n");
    expect(f, "match alocate job", "", "", "ERROR: unknown subcmd alocate\n");
    expect(f, "match allocate", "", "", "ERROR: malformed command\n");
    expect(f, "match allocate job job", "", "", "ERROR: malformed command\n");
    given(f, "match allocate job", "3", "ALLOCATED\nINFO: SCHEDULED AT=Now");
}

/* An answer that can't be written is none: the job gives back what it got. */
static void unwritten(void **state)
{
    struct fixture *f = *state;
    f->fake.write_error = EINVAL;
    not_given(f, "match allocate job", "1", "");
    assert_string_equal(f->err, "match_allocate: ERROR: match writer emit: Invalid argument\n");
    assert_string_equal(f->fake.calls, "run 0 slot 1 0\nwrite simple\ncancel 1\n");
    f->fake.error = ENODEV;
    assert_true(run(f, "match satisfiability job"));
    assert_string_equal(f->out, RULE "INFO: Satisfiable request\n" RULE);
    f->fake.write_error = ENOENT;
    not_given(f, "match allocate job", "1", "INFO: Unsatisfiable request\n");
}

static void costs(void **state)
{
    struct fixture *f = *state;
    f->s.elapse = true;
    assert_true(run(f, "match allocate job"));
    assert_non_null(strstr(f->info, "INFO: ELAPSE=0."));
    assert_non_null(strstr(f->info, "\nINFO: PREORDER VISIT COUNT=3\n"
                                    "INFO: POSTORDER VISIT COUNT=3\n"));
    f->fake.error = EBUSY;
    assert_true(run(f, "match allocate job"));
    assert_non_null(strstr(f->out, "INFO: JOBID=2\nINFO: ELAPSE=0."));
    assert_non_null(strstr(f->info, "INFO: PREORDER VISIT COUNT="));
}

static void several(void **state)
{
    struct fixture *f = *state;
    assert_true(run(f, "multi-match allocate job job none job"));
    assert_string_equal(f->fake.calls, "run 0 slot 1 0\nwrite simple\nrun 0 slot 2 0\n"
                                       "write simple\nrun 0 slot 3 0\nwrite simple\n");
    f->fake.error = EBUSY;
    not_given(f, "M allocate job job job", "4", "");
    expect(f, "multi-match allocate job", "", "", "ERROR: malformed command\n");
}

static void updates(void **state)
{
    struct fixture *f = *state;
    given(f, "update reserve jgf R 7 0 100", "7", "ALLOCATED\nINFO: SCHEDULED AT=Now");
    assert_string_equal(f->fake.calls, "update jgf {} 7 0 100 0\nwrite simple\n");
    given(f, "u allocate rv1exec R 5 30 100", "5", "RESERVED\nINFO: SCHEDULED AT=30");
    assert_string_equal(f->fake.calls, "update rv1exec {} 5 30 100 0\nwrite simple\n");
    given(f, "match allocate job", "6", "ALLOCATED\nINFO: SCHEDULED AT=Now");
    f->fake.error = EINVAL;
    not_given(f, "update allocate jgf R 9 0 1", "9", "");
    assert_string_equal(f->err, "ERROR: traverser run () returned error: fake 22\n");
    not_given(f, "match allocate job", "10", "");
    expect(f, "update a jgf R 1 0 1", "", "", "ERROR: unknown subcmd a\n");
    expect(f, "update allocate rlite R 1 0 1", "", "", "ERROR: unsupported reader rlite\n");
    expect(f, "update allocate jgf R 7 0 1", "", "", "ERROR: existing Jobid \n");
    expect(f, "update allocate jgf R 1 -1 1", "", "", "ERROR: invalid time (-1, 1)\n");
    expect(f, "update allocate jgf R 1 0 0", "", "", "ERROR: invalid time (0, 0)\n");
    expect(f, "update allocate jgf R -1 0 1", "", "", "ERROR: invalid Jobid -1\n");
    expect(f, "update allocate jgf R 9223372036854775807 0 1", "", "",
           "ERROR: invalid Jobid 9223372036854775807\n");
    expect(f, "update allocate jgf none 1 0 1", "", "",
           "ERROR: can't open none: No such file or directory\n");
}

static void cancels(void **state)
{
    struct fixture *f = *state;
    run(f, "match allocate job");
    expect(f, "partial-cancel 1 rv1exec R stats",
           RULE "INFO: PARTIAL CANCEL PREORDER COUNT=\"6\"\n"
                "INFO: PARTIAL CANCEL POSTORDER COUNT=\"6\"\n" RULE,
           "", "");
    expect(f, "cancel 1 stats",
           RULE "INFO: CANCEL PREORDER COUNT=\"5\"\nINFO: CANCEL POSTORDER COUNT=\"5\"\n" RULE, "",
           "");
    expect(f, "c 1", "", "", "cancel: ERROR: nonexistent job 1\n");
    expect(f, "cancel 1x", "", "", "cancel: ERROR: nonexistent job 1x\n");
    given(f, "update allocate jgf R 1 0 100", "1", "ALLOCATED\nINFO: SCHEDULED AT=Now");
    f->fake.error = EINVAL;
    expect(f, "pc 1 jgf R", "", "", "ERROR: error encountered while removing job 1: fake 22\n");
    f->fake.error = 0;
    f->fake.full = true;
    expect(f, "pc 1 jgf R", "", "", "");
    assert_string_equal(f->fake.calls, "partial 1 jgf {}\n");
    expect(f, "pc 1 jgf R", "", "", "ERROR: nonexistent job 1\n");
    expect(f, "pc 1 foo R", "", "", "ERROR: unsupported reader foo\n");
    f->fake.at = 5;
    run(f, "match allocate_orelse_reserve job");
    expect(f, "pc 2 jgf R", "", "",
           "ERROR: reservations not currently supported by partial cancel\n");
    f->fake.error = ENOENT; /* all that it had was removed */
    expect(f, "cancel 2", "", "", "");
}

static void jobs(void **state)
{
    struct fixture *f = *state;
    run(f, "update allocate jgf R 30 0 100");
    run(f, "update allocate jgf R 20 40 100");
    run(f, "update allocate jgf R 10 0 100");
    run(f, "cancel 30");
    for (size_t i = 0; i < f->s.njobs; i++)
        f->s.jobs[i].seconds = 0.000125;
    expect(f, "list", "",
           "INFO: 10, ALLOCATED, 0, R, 0.000125\nINFO: 20, RESERVED, 40, R, 0.000125\n"
           "INFO: 30, CANCELED, 0, R, 0.000125\n",
           "");
    expect(f, "info 20", "", "INFO: 20, RESERVED, 40, R, 0.000125\n", "");
    expect(f, "i 15", "", "", "info: ERROR: nonexistent job 15\n");
    assert_true(run(f, "stat"));
    assert_memory_equal(f->info, "INFO: Num. of Jobs Matched: 3\nINFO: Min. Match Time: ", 53);
    expect(f, "cat R", "", "{}\nINFO: Jobspec in R\n", "");
}

static void machine(void **state)
{
    struct fixture *f = *state;
    f->fake.text = "x\n";
    expect(f, "find status=up  and  names=a",
           "x\n" RULE "INFO: EXPRESSION=\"status=up and names=a\"\n" RULE, "", "");
    assert_string_equal(f->fake.calls, "find status=up and names=a by the clock\nwrite simple\n");
    f->fake.write_error = EINVAL;
    expect(f, "f status=up", "", "", "find: ERROR: find writer emit: Invalid argument\n");
    run(f, "remove /a true");
    assert_string_equal(f->fake.calls, "remove path /a\n");
    run(f, "r [0-3] false");
    assert_string_equal(f->fake.calls, "remove ranks [0-3]\n");
    run(f, "j R");
    assert_string_equal(f->fake.calls, "attach {}\n");
    expect(f, "get-status /a", "/a is up\n", "", "");
    expect(f, "set-property /a k=v=w", "", "", "");
    assert_string_equal(f->fake.calls, "property /a k v=w\n");
    expect(f, "p /a k=",
           "Incorrect input format. \nPlease use `set-property <resource> PROPERTY=VALUE`.\n", "",
           "");
    expect(f, "get-property /a", "a=1\nNo properties were found for /a (vtx's uniq_id=8).\n", "",
           "");
    run(f, "set-status /a down");
    assert_string_equal(f->fake.calls, "status /a down\n");
    expect(f, "set-status /a dwn", "", "", "ERROR: unrecognized status dwn\n");
    f->fake.error = ENOENT;
    expect(f, "t /a down", "Could not find path /a in resource graph.\n", "", "");
    expect(f, "e /a", "Could not find path /a in resource graph.\n", "", "");
    expect(f, "p /a k=v", "Couldn't find path /a in resource graph.\n", "", "");
    expect(f, "g /a", "Could not find path /a in resource graph.\n", "", "");
    f->fake.error = EINVAL;
    expect(f, "find (", "", "", "find: invalid criteria: (: fake 22\n");
}

/* No two commands share a name, and what is no command is a comment. */
static void names(void **state)
{
    struct fixture *f = *state;
    for (const struct command *c = query_commands; c->name; c++) {
        assert_ptr_equal(query_command(c->name), c);
        assert_ptr_equal(query_command(c->abbreviation), c);
    }
    expect(f, "# match allocate job", "", "", "");
    expect(f, "-e m allocate job", "", "", "");
    expect(f, " \t\v\f\r", "", "", "");
    expect(f, "", "", "", "");
    f->s.at_terminal = true;
    expect(f, "# match", "", "", "");
    expect(f, "mach", "", "", "ERROR: unknown command: mach; 'help' lists the commands\n");
    expect(f, "help x", "", "ERROR: unknown command: x\n", "");
    assert_true(run(f, "help h"));
    assert_memory_equal(f->info, "INFO: help (h) -- ", 18);
    assert_false(run(f, "quit"));
    assert_false(run(f, "q now"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(matches), TEST(failures_count), TEST(unwritten), TEST(costs),   TEST(several),
        TEST(updates), TEST(cancels),        TEST(jobs),      TEST(machine), TEST(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
