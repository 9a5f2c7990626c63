#include "cli/pilot_slurm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/slurm/command.h"
#include "engine/slurm/queue.h"

#define NAME "berth-pilot"

/* The script of a pilot: a task on each node, which is the agent. It is told when the job ends, as Slurm says or,
 * where that does not answer, counted from now.
 */
static void put_script(struct strbuf *b, const struct slurm_ask *ask)
{
    static const char begin[] = "#!/bin/sh\n"
                                "[ \"${SLURM_RESTART_COUNT:-0}\" = 0 ] || exit 0\n"
                                "end=$(timeout 20 scontrol -o show job \"$SLURM_JOB_ID\" |\n"
                                "    sed -n 's/.* EndTime=\\([0-9T:-]*\\) .*/\\1/p')\n"
                                "end=$(date -d \"${end:-none}\" +%s 2>/dev/null)\n";
    static const char run[] =
        "exec srun -N \"$SLURM_NNODES\" -n \"$SLURM_NNODES\" --ntasks-per-node=1 --overlap \\\n"
        "    --no-kill --kill-on-bad-exit=0 --wait=0 --mpi=none --cpu-bind=none --input=none \\\n"
        "    \"$agent\" \"$folder\" $end\n";
    strbuf_puts(b, begin);
    if (ask->minutes > 0) {
        strbuf_puts(b, "[ -n \"$end\" ] || end=$(($(date +%s) + 60 * ");
        strbuf_put_int(b, ask->minutes);
        strbuf_puts(b, "))\n");
    }
    for (int i = 0; i < 2; i++) {
        strbuf_puts(b, i ? "folder='" : "agent='");
        for (const char *c = i ? ask->folder : ask->agent; *c; c++)
            if (*c == '\'')
                strbuf_puts(b, "'\\''");
            else
                strbuf_putc(b, *c);
        strbuf_puts(b, "'\n");
    }
    strbuf_puts(b, run);
}

/* Whether a further option of sbatch says how much of a node is wanted: how many cores, how much memory, or that others
 * have the rest. sbatch takes the beginning of a long option's name for it.
 */
static bool says_how_much(const char *word)
{
    static const char *const names[] = {
        "--cpus-per-task", "--cpus-per-gpu",     "--cores-per-socket", "--extra-node-info",
        "--mem",           "--mem-per-cpu",      "--mem-per-gpu",      "--mincpus",
        "--ntasks",        "--ntasks-per-core",  "--ntasks-per-gpu",   "--ntasks-per-node",
        "--oversubscribe", "--sockets-per-node", "--threads-per-core", "--share"};
    size_t n = strcspn(word, "=");
    if (word[0] != '-' || word[1] == '\0')
        return false;
    if (word[1] != '-')
        return strchr("cnBs", word[1]) != NULL;
    for (size_t i = 0; n > 2 && i < sizeof(names) / sizeof(*names); i++)
        if (strncmp(word, names[i], n) == 0)
            return true;
    return false;
}

bool slurm_asks_for_parts(char *const *words)
{
    for (; *words; words++)
        if (says_how_much(*words))
            return true;
    return false;
}

int slurm_submit(const struct slurm_ask *ask, struct strbuf *job, berth_error_t *err)
{
    struct strbuf script = {0}, said = {0};
    char comment[160], nodes[24], minutes[24], log[4200];
    struct command c = {0};
    static const char *const fixed[] = {"sbatch",
                                        "--parsable",
                                        "-J",
                                        NAME,
                                        "--no-requeue",
                                        "--no-kill",
                                        "--ntasks-per-node=1",
                                        "--propagate=NONE",
                                        "--open-mode=append",
                                        "-D",
                                        "/"};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        command_add(&c, fixed[i]);
    snprintf(comment, sizeof(comment), "--comment=%s", ask->comment);
    snprintf(nodes, sizeof(nodes), "--nodes=%" PRId64, ask->nodes);
    snprintf(minutes, sizeof(minutes), "--time=%" PRId64, ask->minutes);
    snprintf(log, sizeof(log), "--output=%s/slurm.log", ask->folder);
    command_add(&c, comment);
    command_add(&c, nodes);
    command_add(&c, log);
    if (ask->minutes > 0)
        command_add(&c, minutes);
    if (ask->partition)
        command_add(&c, "-p");
    if (ask->partition)
        command_add(&c, ask->partition);
    if (!slurm_asks_for_parts(ask->more)) { /* whole nodes */
        command_add(&c, "--exclusive");
        command_add(&c, "--mem=0");
    }
    for (char *const *word = ask->more; *word; word++)
        command_add(&c, *word);
    put_script(&script, ask);
    int rc = script.failed ? errtext_no_memory(err)
                           : command_run(&c, script.data, script.len, -1, &said, err);
    if (rc == 0)
        rc = command_job_id(&said, job, err);
    int saved = errno;
    strbuf_clear(&script);
    strbuf_clear(&said);
    errno = saved;
    return rc;
}

int slurm_queue(const char *form, struct strbuf *lines, berth_error_t *err)
{
    char user[24];
    snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
    const struct command c = {
        .argv = {"squeue", "-h", "-t", "all", "-n", NAME, "-u", user, "-o", form}};
    return command_run(&c, NULL, 0, -1, lines, err);
}

int slurm_check(const char *job, berth_error_t *err)
{
    struct strbuf said = {0};
    berth_error_t ignored;
    char why[64] = "", *rest = NULL, *text = NULL;
    if (slurm_queue(SQUEUE_FORMAT, &said, &ignored) == 0 && *strbuf_text(&said))
        text = said.data;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        struct squeue_job seen;
        if (squeue_read(line, &seen) == 0 && strcmp(seen.job, job) == 0 &&
            strcmp(seen.state, "PENDING") == 0 && squeue_is_stuck(seen.reason))
            snprintf(why, sizeof(why), "%s", seen.reason);
    }
    strbuf_clear(&said);
    return why[0] ? errtext_set(err, EINVAL, "Slurm would let it wait for ever: %s", why) : 0;
}

int slurm_cancel(const char *job, berth_error_t *err)
{
    const struct command c = {.argv = {"scancel", job}};
    struct strbuf said = {0};
    int rc = command_run(&c, NULL, 0, -1, &said, err);
    int saved = errno;
    strbuf_clear(&said);
    errno = saved;
    return rc;
}
