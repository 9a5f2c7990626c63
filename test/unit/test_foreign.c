/* Unit tests of options and values of other tools: what Slurm's and Flux's manuals say of them, in our words. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/client/directives.h"
#include "cli/foreign/flux.h"
#include "cli/foreign/slurm_list.h"
#include "cli/foreign/slurm_values.h"
#include "cli/shim/shim.h"
#include "cli/verb.h"

/* What a script's lines become: the words, each behind a blank; or the error. Then the warnings. */
static void lines_are(const char *text, const char *words, const char *warnings)
{
    struct script s = {.text = strdup(text), .length = strlen(text)};
    struct directives d;
    struct strbuf out = {0};
    berth_error_t err = {""};

    assert_int_equal(script_options(&s, "x.sh", &err), 0);
    if (directives_read(&d, &s, NULL, 0, "x.sh", &err) < 0) {
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, words);
    } else {
        for (size_t i = 1; i < d.all.n; i++) {
            strbuf_puts(&out, i > 1 ? " " : "");
            strbuf_puts(&out, d.all.words[i]);
        }
        assert_string_equal(strbuf_text(&out), words);
        assert_string_equal(strbuf_text(&d.all.warnings), warnings);
        directives_clear(&d);
    }
    strbuf_clear(&out);
    script_clear(&s);
}

static void slurm_counts(void **state)
{
    (void)state;
    lines_are("#!/bin/sh\n", "", "");
    lines_are("#SBATCH -n 2 -c 4\n", "--ntasks=2 --cores-per-task=4", "");
    lines_are("#SBATCH -N 2\n", "--nodes=2 --ntasks=2", "");
    lines_are("#SBATCH -N 2-4\n", "--nodes=2-4 --ntasks=2", "");
    lines_are("#SBATCH -N 2-4 --ntasks-per-node=3\n",
              "--nodes=2-4 --ntasks=6 --env=SLURM_NTASKS_PER_NODE=3", "");
    lines_are("#SBATCH -N 2-4 -n 6\n", "--nodes=2 --ntasks=6", "");
    lines_are("#SBATCH -N 2-2\n", "--nodes=2 --ntasks=2", "");
    lines_are("#SBATCH -N 2 --ntasks-per-node=4\n",
              "--nodes=2 --ntasks=8 --env=SLURM_NTASKS_PER_NODE=4", "");
    /* memory of a node, of a CPU: MB */
    lines_are("#SBATCH -N 2 --mem=512\n", "--nodes=2 --ntasks=2 --mem=1073741824", "");
    lines_are("#SBATCH -n2 -c3 --mem-per-cpu=1G\n",
              "--ntasks=2 --cores-per-task=3 --mem=6442450944", "");
    /* GPUs of a node, of a task, in all; one for four tasks is one for all that is on the node */
    lines_are("#SBATCH --gres=gpu:2\n", "--ntasks=1 --gpus-per-task=2", "");
    lines_are("#SBATCH -n 2 --gpus-per-task=1\n", "--ntasks=2 --gpus-per-task=1", "");
    lines_are("#SBATCH -n 4 -G 8\n", "--ntasks=4 --gpus-per-task=2", "");
    lines_are("#SBATCH -n 4 -c 2 --gres=gpu:1\n", "--ntasks=1 --cores-per-task=8 --gpus-per-task=1",
              "");
    lines_are("#SBATCH --gres=gpu:a100:1\n", "--ntasks=1 --gpus-per-task=a100:1", "");
    lines_are("#SBATCH --gres=gpu:a100:1,gpu:t4:1\n", "--ntasks=1 --gpus-per-task=2",
              "x.sh: line 1: GPUs of several types are not supported here: any will do\n");
    lines_are("#SBATCH --gres=fpga:1\n", "--ntasks=1",
              "x.sh: line 1: --gres=fpga:1 is not supported here, only gpu is\n");
}

static void slurm_words(void **state)
{
    (void)state;
    lines_are("#SBATCH --time=10 -J \"my job\"\n", "--time-limit=600s --name=my job --ntasks=1",
              "");
    lines_are("#SBATCH -p long,short\n", "--queue=long --ntasks=1",
              "x.sh: line 1: of --partition=long,short the job is in the first\n");
    lines_are("#SBATCH --array=1-5%2\n", "--ntasks=1 --array=1-5%2", "");
    lines_are("#SBATCH -a 5 -o %A_%a-%x.%j\n", "--ntasks=1 --array=5-5 --output=%j_%a-%n.%j_%a",
              "");
    lines_are("#SBATCH -o %j.out --open-mode=append\n", "--ntasks=1 --append --output=%j.out", "");
    lines_are("#SBATCH -d afterok:17:18 -H --requeue\n",
              "--dependency=afterok:17:18 --hold --ntasks=1 --requeue", "");
    lines_are("#SBATCH -w node[1-2] -x node3\n",
              "--ntasks=1 --requires={\"and\":[{\"hostlist\":[\"node[1-2]\"]},"
              "{\"not\":[{\"hostlist\":[\"node3\"]}]}]}",
              "");
    lines_are("#SBATCH -C a&b|c\n",
              "--ntasks=1 --requires={\"and\":[{\"or\":[{\"properties\":[\"a\",\"b\"]},"
              "{\"properties\":[\"c\"]}]}]}",
              "");
    lines_are("#SBATCH --export=NONE\n", "--env=-* --ntasks=1", "");
    lines_are("#SBATCH --export=ALL,A=1\n", "--env=A=1 --ntasks=1", "");
    lines_are("#SBATCH --export=PATH,A=1\n", "--env=-* --env=PATH --env=A=1 --ntasks=1", "");
    lines_are("#SBATCH --signal=B:USR1@60 --nice=5\n", "--priority=-5 --ntasks=1 --signal=USR1@60",
              "");
    lines_are("#SBATCH --signal=USR1@90 -t 1\n", "--time-limit=60s --ntasks=1",
              "x.sh: --signal=USR1@90 is not sent: the time limit is no longer than that\n");
    lines_are("#SBATCH --begin=now+2hours\n", "--begin=+2h --ntasks=1", "");
    lines_are("#SBATCH --comment=x -Q\n", "--ntasks=1", "");
    lines_are("#!/bin/sh\n#\n#SBATCH --deadline=noon\n", "--ntasks=1",
              "x.sh: line 3: --deadline is not supported here, and has no effect\n");
}

static void slurm_wrong(void **state)
{
    (void)state;
    lines_are("#SBATCH --part=x\n", "x.sh: line 1: sbatch has no option '--part'", "");
    lines_are("#SBATCH -Z\n", "x.sh: line 1: sbatch has no option '-Z'", "");
    lines_are("#!/bin/sh\n#SBATCH -n\n", "x.sh: line 2: '-n' takes a value", "");
    lines_are("#SBATCH -n 0\n", "x.sh: line 1: --ntasks is '0', expected a whole number from 1 on",
              "");
    lines_are("#SBATCH --hold=yes\n", "x.sh: line 1: '--hold' takes no value", "");
    lines_are("#SBATCH -n 1 true\n", "x.sh: line 1: 'true' is not an option of a job", "");
    lines_are("#SBATCH -t soon\n",
              "x.sh: line 1: --time is 'soon', expected minutes, or a time such as 1:30:00 or 1-12",
              "");
    lines_are("#SBATCH --wrap=x\n", "x.sh: --wrap is for a command line", "");
    lines_are("#SBATCH -d afterok:1?afterok:2\n",
              "x.sh: line 1: --dependency is 'afterok:1?afterok:2', expected after, afterany, "
              "afterok, afternotok or singleton, all of which hold",
              "");
}

static void flux_words(void **state)
{
    (void)state;
    lines_are("#flux: -N2 -n 8 -c2 -g1\n#FLUX: -t 30\n",
              "--nodes=2 --ntasks=8 --cores-per-task=2 --gpus-per-task=1 --time-limit=1800.000s",
              "");
    lines_are("# flux: --output=a-{{id}}-{{name}}.%x --job-name=x\n",
              "--output=a-%j-%n.%%x --name=x", "");
    lines_are("#flux: --urgency=20 -q debug -B phys\n", "--priority=4 --queue=debug --account=phys",
              "");
    lines_are("#flux: --dependency=afterok:1\n#flux: --dependency=afterany:2 --urgency=0\n",
              "--dependency=afterok:1,afterany:2 --hold", "");
    lines_are("#flux: --setattr=a=b\n", "",
              "x.sh: line 1: --setattr is not supported here, and has no effect\n");
    lines_are("#flux: --output={{tmpdir}}/x\n",
              "x.sh: line 1: --output is '{{tmpdir}}/x', expected of patterns {{id}} and {{name}}",
              "");
    /* both: Flux's come later, and so count */
    lines_are("#flux: -n 2\n#SBATCH -n 3\n", "--ntasks=3 --ntasks=2", "");
}

static void times(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds; /* -1: no limit, -2: none */
    } slurm[] = {{"10", 600},        {"1:30", 90},      {"1:00:00", 3600},
                 {"1-0", 86400},     {"1-2:30", 95400}, {"1-2:30:05", 95405},
                 {"0", -1},          {"UNLIMITED", -1}, {"infinite", -1},
                 {"", -2},           {"10m", -2},       {"1:2:3:4", -2},
                 {"-5", -2},         {"1-", -2},        {"1:", -2},
                 {"99999999999", -2}};
    int64_t got;
    double flux;

    (void)state;
    for (size_t i = 0; i < sizeof(slurm) / sizeof(*slurm); i++)
        assert_int_equal(slurm_seconds(slurm[i].text, &got) ? got : -2, slurm[i].seconds);
    assert_int_equal(flux_seconds("30", &flux), 0);
    assert_int_equal((int)flux, 1800);
    assert_int_equal(flux_seconds("90s", &flux), 0);
    assert_int_equal((int)flux, 90);
    assert_int_equal(flux_seconds("1.5h", &flux), 0);
    assert_int_equal((int)flux, 5400);
    assert_int_equal(flux_seconds("0", &flux), 0);
    assert_int_equal((int)flux, -1);
    assert_int_equal(flux_seconds("infinity", &flux), 0);
    assert_int_equal((int)flux, -1);
    assert_int_equal(flux_seconds("1x", &flux), -1);
    assert_int_equal(flux_seconds("-1", &flux), -1);
}

static void gpus_are(const char *text, bool gres, int64_t n, const char *type)
{
    struct slurm_gpus gpus;
    if (!slurm_gpus_read(text, gres, &gpus)) {
        assert_int_equal(n, -1);
        return;
    }
    assert_int_equal(gpus.n, n);
    assert_string_equal(gpus.several ? "several" : gpus.type, type);
}

static void sizes(void **state)
{
    int64_t n;

    (void)state;
    assert_true(slurm_bytes("512", &n) && n == INT64_C(512) << 20);
    assert_true(slurm_bytes("4G", &n) && n == INT64_C(4) << 30);
    assert_true(slurm_bytes("4gb", &n) && n == INT64_C(4) << 30);
    assert_true(slurm_bytes("100K", &n) && n == 102400);
    assert_false(slurm_bytes("4X", &n));
    assert_false(slurm_bytes("", &n));
    gpus_are("gpu", true, 1, "");
    gpus_are("gpu:a100", true, 1, "a100");
    gpus_are("gpu:a100:2,gpu:a100:1", true, 3, "a100");
    gpus_are("gpu:a100:2,gpu:1", true, 3, "several");
    gpus_are("none", true, 0, "");
    gpus_are("2", false, 2, "");
    gpus_are("v100:2", false, 2, "v100");
    gpus_are("gpus:2", true, -1, "");
    gpus_are("gpu:", true, -1, "");
    gpus_are("", false, -1, "");
    gpus_are("1,", false, -1, "");
}

/* Jobs as Slurm's commands name them, in our words. */
static void ids_are(const char *text, const char *words)
{
    struct shim_ids ids = {0};
    struct strbuf out = {0};
    if (shim_ids_add(&ids, text) < 0)
        strbuf_puts(&out, "none");
    for (size_t i = 0; i < ids.n && out.len < 100; i++) {
        strbuf_puts(&out, i ? " " : "");
        strbuf_puts(&out, ids.words[i]);
    }
    assert_string_equal(strbuf_text(&out), words);
    strbuf_clear(&out);
    shim_ids_clear(&ids);
}

static void ids(void **state)
{
    struct strbuf out = {0};
    bool none;

    (void)state;
    ids_are("17", "17");
    ids_are("17,18_3", "17 18[3]");
    ids_are("17_[1-3,5],6", "17[1-3,5] 6");
    ids_are("17_[1-9%2]", "17[1-9]");
    ids_are("17.batch,18_3.0", "17 18[3]");
    ids_are("x", "none");
    ids_are("", "none");
    ids_are("17x", "none");
    assert_true(shim_states("PD,running", &out, &none));
    assert_string_equal(strbuf_text(&out), "pending,held,running");
    assert_false(none);
    assert_true(shim_states("all", &out, &none));
    assert_string_equal(strbuf_text(&out), "");
    assert_false(none);
    assert_true(shim_states("suspended", &out, &none));
    assert_string_equal(strbuf_text(&out), "");
    assert_true(none);
    assert_false(shim_states("PD,what", &out, &none));
    strbuf_clear(&out);
}

/* A row of another tool's refers to one of submit's by its name, and both take an argument or neither does. */
static void check_rows(const struct foreign_option *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct option_row *row = submit_options.rows;
        if (!list[i].to || strcmp(list[i].to, "pty") == 0) /* which run and alloc have */
            continue;
        while (row->name && strcmp(row->name, list[i].to) != 0)
            row++;
        if (!row->name || !row->argument != (list[i].value == FOREIGN_NONE))
            fail_msg("--%s is --%s of submit, which has no such option", list[i].name, list[i].to);
    }
}

static void rows(void **state)
{
    (void)state;
    check_rows(slurm_list, slurm_list_n);
    check_rows(flux_list, flux_list_n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slurm_counts), cmocka_unit_test(slurm_words),
        cmocka_unit_test(slurm_wrong),  cmocka_unit_test(flux_words),
        cmocka_unit_test(times),        cmocka_unit_test(sizes),
        cmocka_unit_test(ids),          cmocka_unit_test(rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
