/* sbatch, srun and salloc: submitting jobs, running them, and starting steps. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/errtext.h"
#include "cli/client/follow.h"
#include "cli/client/request.h"
#include "cli/client/when.h"
#include "cli/foreign/slurm.h"
#include "cli/shim/shim.h"
#include "cli/step/step.h"
#include "cli/verb.h"

static const char sbatch_help[] =
    "usage: sbatch [OPTION]... SCRIPT [ARG]...\n"
    "       sbatch [OPTION]... --wrap COMMAND\n"
    "Submit a job to Berth with Slurm's options; see berth-slurm(1).\n";

/* --test-only: when it would start. */
static void tell_start(const json_t *answer)
{
    const json_t *start = json_object_get(answer, "start");
    time_t at = (time_t)json_number_value(start);
    struct tm day;
    char when[WHEN_SIZE] = "an unknown time";

    if (json_is_number(start) && localtime_r(&at, &day))
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &day);
    fprintf(stderr, "sbatch: Job 0 to start at %s\n", when);
}

static int submit_sbatch_job(const struct slurm *s, struct request *r, berth_error_t *err)
{
    struct connection connection;
    struct follow_end end;
    json_t *answer = NULL;
    int status = 0;

    if (connection_open(&connection, "sbatch", err) < 0 || connection_start(&connection, err) < 0 ||
        connection_ask(&connection, "POST", "/v1/jobs", r->job, &answer, err) < 0) {
        shim_failed("sbatch", "Batch job submission failed: %s", err->text);
        connection_close(&connection);
        return 1;
    }
    int64_t id = json_integer_value(json_object_get(answer, "id"));
    bool test = json_object_get(answer, "now") != NULL;
    if (test)
        tell_start(answer);
    else
        printf("%s%" PRId64 "\n", s->parsable ? "" : "Submitted batch job ", id);
    if (s->wait && !test) {
        fflush(stdout);
        const struct follow follow = {.connection = &connection, .id = id, .member = -1};
        status =
            follow_job(&follow, &end, err) < 0 ? connection_failed(&connection, err) : end.status;
    }
    json_decref(answer);
    connection_close(&connection);
    return status;
}

int shim_sbatch(int argc, char **argv)
{
    struct slurm s = {0};
    struct request r;
    berth_error_t err;
    int at = slurm_options(&s, argv + 1, argc - 1, "", &err), status;

    if (at < 0)
        status = shim_failed("sbatch", "%s", err.text);
    else if (s.wants_help)
        status = fputs(sbatch_help, stdout) < 0;
    else if (s.wants_version)
        status = shim_version();
    else if (request_read_sbatch(&r, argv + 1, at, argc - 1, s.wrap, &err) < 0)
        status = shim_failed("sbatch", "%s", err.text);
    else {
        status = submit_sbatch_job(&s, &r, &err);
        request_clear(&r);
    }
    slurm_clear(&s);
    return status;
}

/* ---- srun ---- */

/* The words of `berth run`: those of the options, then the command. */
static char **run_words(struct slurm *s, char **command, int n, int *argc)
{
    char **words = calloc(s->out.n + (size_t)n + 3, sizeof(*words));
    int count = 0;
    if (!words)
        return NULL;
    words[count++] = (char *)"srun";
    for (size_t i = 1; i < s->out.n; i++)
        words[count++] = s->out.words[i];
    words[count++] = (char *)"--";
    for (int i = 0; i < n; i++)
        words[count++] = command[i];
    *argc = count;
    return words;
}

/* Only what says how large a step is; the rest is the job's. */
static void keep_step(struct slurm *s)
{
    static const char *const kept[] = {
        "--chdir=", "--env=",           "--ntasks=", "--cores-per-task=", "--output=",
        "--error=", "--gpus-per-task=", "--input=",  "--append"};
    size_t n = s->out.n > 0;
    for (size_t i = 1; i < s->out.n; i++) {
        bool keep = false;
        for (size_t k = 0; k < sizeof(kept) / sizeof(*kept); k++)
            keep = keep || strncmp(s->out.words[i], kept[k], strlen(kept[k])) == 0;
        if (keep)
            s->out.words[n++] = s->out.words[i];
        else
            free(s->out.words[i]);
    }
    s->out.n = n;
    if (n)
        s->out.words[n] = NULL;
}

int shim_srun(int argc, char **argv)
{
    struct slurm s = {.is_step = step_is_here(), .tool = "srun"};
    berth_error_t err;
    int64_t tasks;
    int at = slurm_options(&s, argv + 1, argc - 1, "", &err), status, n = 0;
    char **words = NULL;

    if (at < 0 || slurm_finish(&s, "", &tasks, &err) < 0 || foreign_put(&s.out, "slurm", NULL) < 0)
        status = shim_failed("srun", "%s", err.text);
    else if (s.wants_version)
        status = shim_version();
    else if (s.wants_help)
        status = puts("usage: srun [OPTION]... COMMAND [ARG]...\n"
                      "Run a command as a job of Berth, or in a script as a step of it; see "
                      "berth-slurm(1).") < 0;
    else {
        if (s.is_step)
            keep_step(&s);
        else
            fputs(strbuf_text(&s.out.warnings), stderr);
        words = run_words(&s, argv + 1 + at, argc - 1 - at, &n);
        status = !words      ? shim_failed("srun", "out of memory")
                 : s.is_step ? step_run("srun", n, words)
                             : cli_run(n, words);
    }
    free(words);
    slurm_clear(&s);
    return status;
}

int shim_salloc(int argc, char **argv)
{
    struct slurm s = {.tool = "salloc"};
    berth_error_t err;
    int64_t tasks;
    int at = slurm_options(&s, argv + 1, argc - 1, "", &err), status, n = 0;
    char **words = NULL;

    if (at < 0 || slurm_finish(&s, "", &tasks, &err) < 0 || foreign_put(&s.out, "slurm", NULL) < 0)
        status = shim_failed("salloc", "%s", err.text);
    else if (s.wants_version)
        status = shim_version();
    else if (s.wants_help)
        status = puts("usage: salloc [OPTION]... [COMMAND [ARG]...]\n"
                      "Work in an allocation of Berth's, as berth alloc; see berth-slurm(1).") < 0;
    else {
        fputs(strbuf_text(&s.out.warnings), stderr);
        words = run_words(&s, argv + 1 + at, argc - 1 - at, &n);
        status = words ? cli_alloc(n, words) : shim_failed("salloc", "out of memory");
    }
    free(words);
    slurm_clear(&s);
    return status;
}
