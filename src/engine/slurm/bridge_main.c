/* berth-bridge: submits jobs by libslurm, for berth-slurm, which starts it with a socket as descriptor 3 (bridge.h).
 *
 * usage: berth-bridge
 *
 * It knows the words that berth-slurm gives to sbatch, and a few more that are often configured. What it does not know it leaves
 * to sbatch. It keeps nothing, so it may be killed at any time. Compiled where libslurm's headers are.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "engine/local/wire.h"
#include "engine/slurm/bridge.h"
#include "engine/slurm/command.h"

#define ADDED       6
#define NUMBER_MOST 4000000000 /* below what Slurm takes for special values */

/* What is asked for, and the texts in it that are not in the message. */
struct asked {
    job_desc_msg_t job;
    char gres[64];
};

typedef int set_word(struct asked *to, char *value);

/* ---- The words ---- */

static int read_number_with_unit(const char *text, const char *unit, uint64_t *to)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || *text < '0' || *text > '9' || strcmp(end, unit) != 0 || n > NUMBER_MOST)
        return -1;
    *to = n;
    return 0;
}

static int set_nodes(struct asked *to, char *value)
{
    uint64_t n;
    if (read_number_with_unit(value, "", &n))
        return -1;
    to->job.min_nodes = to->job.max_nodes = (uint32_t)n;
    return 0;
}

static int set_tasks(struct asked *to, char *value)
{
    uint64_t n;
    if (read_number_with_unit(value, "", &n) || n >= NO_VAL16)
        return -1;
    to->job.ntasks_per_node = (uint16_t)n;
    return 0;
}

static int set_cpus(struct asked *to, char *value)
{
    uint64_t n;
    if (read_number_with_unit(value, "", &n) || n >= NO_VAL16)
        return -1;
    to->job.cpus_per_task = (uint16_t)n;
    return 0;
}

static int set_memory(struct asked *to, char *value)
{
    return read_number_with_unit(value, "M", &to->job.pn_min_memory);
}

/* How GPUs are written has changed from one release to another: those that were looked at. */
static int set_gres(struct asked *to, char *value)
{
    int n = snprintf(to->gres, sizeof(to->gres), "gres:%s", value);
    to->job.tres_per_node = to->gres;
    return SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(22, 6, 0) && (size_t)n < sizeof(to->gres) ? 0
                                                                                              : -1;
}

static int set_time(struct asked *to, char *value)
{
    uint64_t n;
    if (read_number_with_unit(value, "", &n))
        return -1;
    to->job.time_limit = (uint32_t)n;
    return 0;
}

static int set_user(struct asked *to, char *value)
{
    uint64_t n;
    if (read_number_with_unit(value, "", &n))
        return -1;
    to->job.user_id = (uint32_t)n;
    return 0;
}

static int set_group(struct asked *to, char *value)
{
    uint64_t n;
    if (read_number_with_unit(value, "", &n))
        return -1;
    to->job.group_id = (uint32_t)n;
    return 0;
}

#define TEXT_WORD(field)                                                                           \
    static int set_##field(struct asked *to, char *value)                                          \
    {                                                                                              \
        to->job.field = value;                                                                     \
        return *value ? 0 : -1;                                                                    \
    }
TEXT_WORD(account)
TEXT_WORD(comment)
TEXT_WORD(name)
TEXT_WORD(partition)
TEXT_WORD(qos)
TEXT_WORD(req_nodes)
TEXT_WORD(reservation)
TEXT_WORD(std_out)
TEXT_WORD(wckey)
TEXT_WORD(work_dir)

/* It does so anyway. */
static int is_so(struct asked *to, char *value)
{
    (void)to;
    (void)value;
    return 0;
}

/* "--word=VALUE", a word without a value, or "-X VALUE" in two words. */
static const struct {
    const char *begin;
    set_word *set;
} words[] = {{"--account=", set_account},
             {"--comment=", set_comment},
             {"--cpus-per-task=", set_cpus},
             {"--gid=", set_group},
             {"--gres=", set_gres},
             {"--mem=", set_memory},
             {"--no-requeue", is_so},
             {"--nodelist=", set_req_nodes},
             {"--nodes=", set_nodes},
             {"--ntasks-per-node=", set_tasks},
             {"--output=", set_std_out},
             {"--parsable", is_so},
             {"--partition=", set_partition},
             {"--propagate=NONE", is_so},
             {"--qos=", set_qos},
             {"--reservation=", set_reservation},
             {"--time=", set_time},
             {"--uid=", set_user},
             {"--wckey=", set_wckey},
             {"-A", set_account},
             {"-D", set_work_dir},
             {"-J", set_name}};

/* The row of a word, and the value that is in it, NULL: none; -1: there is no such row. */
static int row_of(char *word, char **value)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        size_t n = strlen(words[i].begin);
        bool has_value = words[i].begin[n - 1] == '=';
        if (strncmp(word, words[i].begin, n) != 0 || (!has_value && word[n]))
            continue;
        *value = has_value ? word + n : NULL;
        return (int)i;
    }
    return -1;
}

/* The words behind "sbatch". 0, or -1: `lacks` is the one that is not known. */
static int take_words(struct asked *to, char **argv, size_t n, const char **lacks)
{
    for (size_t i = 1; i < n; i++) {
        char *value, *word = argv[i];
        int row = row_of(word, &value);
        if (row >= 0 && word[1] != '-')
            value = i + 1 < n ? argv[++i] : NULL;
        if (row < 0 || (!value && words[row].set != is_so) || words[row].set(to, value)) {
            *lacks = word;
            return -1;
        }
    }
    return 0;
}

/* ---- Submitting ---- */

static void begin_job(struct asked *to, char *script)
{
    static char nothing[] = "/dev/null";
    slurm_init_job_desc_msg(&to->job);
    to->job.user_id = (uint32_t)geteuid();
    to->job.group_id = (uint32_t)getegid();
    to->job.requeue = 0;
    to->job.std_in = nothing;
    to->job.script = script;
}

/* The tasks and CPUs of the whole job, which sbatch computes from those of a node. */
static void sum_up(job_desc_msg_t *job)
{
    job->num_tasks = job->min_nodes * job->ntasks_per_node;
    job->min_cpus = job->num_tasks * job->cpus_per_task;
}

/* The few words of this process's own environment, which berth-slurm has chosen, and what sbatch adds. */
static void put_environment(job_desc_msg_t *job)
{
    static char added[ADDED][PATH_MAX + 32], *env[COMMAND_ENVIRONMENT + ADDED];
    char directory[PATH_MAX], host[256] = "";
    uint32_t n = 0;
    extern char **environ;
    for (; environ[n] && n < COMMAND_ENVIRONMENT - 1; n++)
        env[n] = environ[n];
    gethostname(host, sizeof(host) - 1);
    snprintf(added[0], sizeof(added[0]), "SLURM_UMASK=0077");
    snprintf(added[1], sizeof(added[1]), "SLURM_CPUS_PER_TASK=%u", job->cpus_per_task);
    snprintf(added[2], sizeof(added[2]), "SLURM_NTASKS_PER_NODE=%u", job->ntasks_per_node);
    snprintf(added[3], sizeof(added[3]), "SLURM_JOB_NAME=%s", job->name);
    snprintf(added[4], sizeof(added[4]), "SLURM_SUBMIT_HOST=%s", host);
    snprintf(added[5], sizeof(added[5]), "SLURM_SUBMIT_DIR=%s",
             getcwd(directory, sizeof(directory)) ? directory : "/");
    for (size_t i = 0; i < ADDED; i++)
        env[n++] = added[i];
    job->environment = env;
    job->env_size = n;
}

static enum bridge_said submit_to_slurm(struct wire *w, char *text, size_t room)
{
    struct asked to = {0};
    char *argv[BRIDGE_WORDS];
    const char *lacks = "";
    size_t length;
    char *script = (char *)(uintptr_t)wire_text(w, &length);
    size_t n = wire_count(w, 1);
    for (size_t i = 0; i < n && i < BRIDGE_WORDS; i++)
        argv[i] = (char *)(uintptr_t)wire_string(w);
    for (size_t i = 0; i < n && i < BRIDGE_WORDS; i++)
        w->bad = w->bad || !argv[i];
    if (w->bad || n > BRIDGE_WORDS)
        return BRIDGE_LACKS;
    begin_job(&to, script);
    if (take_words(&to, argv, n, &lacks)) {
        snprintf(text, room, "%s", lacks);
        return BRIDGE_LACKS;
    }
    sum_up(&to.job);
    put_environment(&to.job);
    submit_response_msg_t *answer = NULL;
    if (slurm_submit_batch_job(&to.job, &answer) || !answer) {
        snprintf(text, room, "sbatch: error: Batch job submission failed: %s",
                 slurm_strerror(slurm_get_errno()));
        return BRIDGE_FAILED;
    }
    snprintf(text, room, "%" PRIu32, answer->job_id);
    slurm_free_submit_response_response_msg(answer);
    return BRIDGE_SUBMITTED;
}

static void say_result(uint64_t number, enum bridge_said what, const char *text)
{
    struct strbuf b = {0};
    wire_put_u64(&b, number);
    wire_put_u8(&b, (uint8_t)what);
    wire_put_string(&b, text);
    if (b.failed || send(BRIDGE_FD, b.data, b.len, MSG_NOSIGNAL) < 0)
        exit(EXIT_FAILURE);
    strbuf_clear(&b);
}

int main(void)
{
    static char bytes[BRIDGE_MOST];
    ssize_t n;
    char text[300];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    slurm_init(NULL);
    say_result(0, BRIDGE_READY, "");
    while ((n = recv(BRIDGE_FD, bytes, sizeof(bytes), 0)) > 0) {
        struct wire w = {.at = bytes, .left = (size_t)n};
        uint64_t key = wire_u64(&w);
        text[0] = '\0';
        enum bridge_said what = submit_to_slurm(&w, text, sizeof(text));
        say_result(key, what, text);
    }
    slurm_fini();
    return n == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
