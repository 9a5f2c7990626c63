/* What berth-slurm asks Slurm. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/hostlist.h"
#include "engine/slurm/command.h"
#include "engine/slurm/helper.h"

#define BEYOND       1 /* minutes that Slurm's limit is longer, so that the server's comes first */
#define OPTIONS_ROOM 4096

/* ---- Submitting ---- */

static void put_quoted(struct strbuf *b, const char *text)
{
    strbuf_puts(b, " '");
    for (; *text; text++)
        if (*text == '\'')
            strbuf_puts(b, "'\\''");
        else
            strbuf_putc(b, *text);
    strbuf_putc(b, '\'');
}

/* berth-run on each node, by srun where there are several. */
static void put_script(struct strbuf *b, const struct helper *h, const struct held_run *run)
{
    size_t n = run->ask.n_places;
    char folder[4200];
    snprintf(folder, sizeof(folder), "%s/%" PRIu64, h->folder, run->key);
    strbuf_puts(b, "#!/bin/sh\nexec");
    if (n > 1) {
        strbuf_puts(b, " srun -N ");
        strbuf_put_uint(b, n);
        strbuf_puts(b, " -n ");
        strbuf_put_uint(b, n);
        strbuf_puts(b, " --ntasks-per-node=1 --overlap --no-kill --kill-on-bad-exit=0 --wait=0"
                       " --mpi=none --cpu-bind=none --input=none --output=none");
    }
    put_quoted(b, h->program);
    put_quoted(b, folder);
    put_quoted(b, run->ask.places[0].node);
    strbuf_putc(b, '\n');
}

static void put_nodes(struct strbuf *b, const struct directed *ask)
{
    struct hostlist list = {0};
    for (size_t i = 0; i < ask->n_places; i++)
        if (hostlist_append_host(&list, ask->places[i].node, strlen(ask->places[i].node)))
            b->failed = true;
    hostlist_encode(&list, b);
    hostlist_clear(&list);
}

/* What Slurm calls CPUs, of a core of the nodes of a run. */
static int64_t cpus_per_core(const struct helper *h, const struct directed *ask)
{
    int64_t most = 1;
    for (size_t i = 0; i < ask->n_places; i++) {
        const struct held_node *n = helper_node(h, ask->places[i].node);
        most = n && n->said.cpus_per_core > most ? n->said.cpus_per_core : most;
    }
    return most;
}

static void add_text(struct command *c, struct strbuf *room, const char *name, const char *value)
{
    char *at = room->data + room->len;
    int n = snprintf(at, room->cap - room->len, "%s%s", name, value);
    if (n < 0 || (size_t)n + 1 > room->cap - room->len) {
        c->full = 1;
        return;
    }
    room->len += (size_t)n + 1;
    command_add(c, at);
}

static void add_number(struct command *c, struct strbuf *room, const char *name, int64_t value)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRId64, value);
    add_text(c, room, name, digits);
}

/* What it asks for. */
static void add_size(struct command *c, struct strbuf *room, const struct helper *h,
                     const struct directed *ask)
{
    char digits[24];
    bool even = ask->cores % ask->tasks == 0;
    int64_t cpus = ask->cores * cpus_per_core(h, ask);
    add_number(c, room, "--nodes=", (int64_t)ask->n_places);
    add_number(c, room, "--ntasks-per-node=", even ? ask->tasks : 1);
    add_number(c, room, "--cpus-per-task=", even ? cpus / ask->tasks : cpus);
    if (ask->memory > 0) {
        snprintf(digits, sizeof(digits), "%" PRId64 "M", (ask->memory + (1 << 20) - 1) >> 20);
        add_text(c, room, "--mem=", digits);
    }
    if (ask->gpus > 0)
        add_number(c, room, "--gres=gpu:", ask->gpus);
    if (ask->limit > 0)
        add_number(c, room, "--time=", (ask->limit - 1) / 60000000 + 1 + BEYOND);
    if (ask->as_user && ask->uid != geteuid()) {
        add_number(c, room, "--uid=", ask->uid);
        add_number(c, room, "--gid=", ask->gid);
    }
}

static void add_options(struct command *c, struct strbuf *room, const char *options)
{
    while (options && *(options += strspn(options, " "))) {
        char word[OPTIONS_ROOM];
        size_t n = strcspn(options, " ");
        snprintf(word, sizeof(word), "%.*s", (int)n, options);
        add_text(c, room, word, "");
        options += n;
    }
}

/* The words are in `room`. */
static void put_command(struct command *c, struct strbuf *room, const struct helper *h,
                        const struct held_run *run)
{
    static const char *const fixed[] = {"sbatch", "--parsable", "--no-requeue",
                                        "-J",     RUN_NAME,     "--propagate=NONE",
                                        "-D",     "/",          "--output=/dev/null"};
    struct strbuf nodes = {0};
    char comment[256];
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        command_add(c, fixed[i]);
    put_nodes(&nodes, &run->ask);
    room->failed = room->failed || nodes.failed || !strbuf_room(room, nodes.len + 2 * OPTIONS_ROOM);
    if (!room->failed) {
        snprintf(comment, sizeof(comment), "berth:%s:%" PRIu64 " %s", h->tag, run->key,
                 run->ask.label);
        add_text(c, room, "--comment=", comment);
        add_text(c, room, "--partition=", h->chosen);
        add_text(c, room, "--nodelist=", strbuf_text(&nodes));
        add_size(c, room, h, &run->ask);
        add_options(c, room, h->options);
    }
    strbuf_clear(&nodes);
}

int helper_submit(struct helper *h, struct held_run *run, berth_error_t *err)
{
    struct strbuf script = {0}, said = {0}, job = {0}, room = {0};
    struct command c = {0};
    put_script(&script, h, run);
    put_command(&c, &room, h, run);
    int rc = script.failed || room.failed
                 ? errtext_set(err, ENOMEM, "out of memory")
                 : command_run(&c, script.data, script.len, h->control, &said, err);
    if (rc == 0)
        rc = command_job_id(&said, &job, err);
    if (rc == 0)
        snprintf(run->job, sizeof(run->job), "%.20s", strbuf_text(&job));
    int saved = errno;
    strbuf_clear(&script);
    strbuf_clear(&said);
    strbuf_clear(&job);
    strbuf_clear(&room);
    errno = saved;
    return rc;
}

/* ---- Commands about a job ---- */

int helper_ask(struct helper *h, const struct command *c, struct strbuf *said)
{
    berth_error_t err = {""};
    int rc = command_run(c, NULL, 0, h->control, said, &err);
    helper_answered(h, rc == 0 || errno == EINVAL, err.text);
    return rc;
}

void helper_cancel(struct helper *h, const struct held_run *run)
{
    const struct command c = {.argv = {"scancel", run->job}};
    struct strbuf said = {0};
    if (*run->job)
        helper_ask(h, &c, &said);
    strbuf_clear(&said);
}

void helper_nudge(struct helper *h, const struct held_run *run)
{
    const struct command one = {.argv = {"scancel", "--batch", "--signal=USR1", run->job}},
                         all = {.argv = {"scancel", "--signal=USR1", run->job}};
    struct strbuf said = {0};
    if (*run->job)
        helper_ask(h, run->ask.n_places > 1 ? &all : &one, &said);
    strbuf_clear(&said);
}

/* ---- All jobs ---- */

/* The key in "berth:TAG:KEY job 17"; 0: it is another server's, or nobody's. */
static uint64_t key_in(const struct helper *h, const char *comment)
{
    size_t n = strlen(h->tag);
    char *end;
    if (strncmp(comment, "berth:", 6) != 0 || strncmp(comment + 6, h->tag, n) != 0 ||
        comment[6 + n] != ':')
        return 0;
    unsigned long long key = strtoull(comment + 7 + n, &end, 10);
    return (*end == ' ' || !*end) && key <= ENGINE_KEY_MAX ? key : 0;
}

static bool is_active(const char *state)
{
    return strcmp(state, "PENDING") != 0 && strcmp(state, "NODE_FAIL") != 0 &&
           !squeue_is_final(state);
}

/* Of two jobs of a run, whose submission was doubted, the one whose number is known counts. */
static void take_job(struct helper *h, const struct squeue_job *job, int64_t now)
{
    uint64_t key = key_in(h, job->comment);
    struct held_run *run = key > 0 ? helper_find(h, key) : NULL;
    if (key > 0 && !run && strcmp(job->state, "PENDING") == 0) {
        struct held_run ghost = {0}; /* nobody wants it any more */
        snprintf(ghost.job, sizeof(ghost.job), "%.20s", job->job);
        helper_cancel(h, &ghost);
    }
    if (!run || (*run->job && strcmp(run->job, job->job) != 0))
        return;
    if (!*run->job) {
        snprintf(run->job, sizeof(run->job), "%.20s", job->job);
        folder_put(h->runs, key, "job", NULL, run->job, strlen(run->job));
    }
    if (run->missed || strcmp(run->state, job->state) != 0) {
        run->since = now;
        run->look_at = 0;
    }
    run->missed = false;
    snprintf(run->state, sizeof(run->state), "%.20s", job->state);
    snprintf(run->why, sizeof(run->why), "%.60s", job->reason);
    run->is_active = is_active(run->state);
    if (strcmp(run->state, "NODE_FAIL") == 0 && !run->given_up && !run->forgotten)
        run->given_up = folder_put(h->runs, key, "given_up", NULL, "", 0) == 0;
}

/* What is not in the answer. */
static void note_absence(struct held_run *run, bool is_there, int64_t now)
{
    if (is_there)
        return;
    if (!run->missed)
        run->since = now;
    run->missed = true;
    run->state[0] = run->why[0] = '\0';
    run->is_active = false;
    run->look_at = 0;
}

static void take_lines(struct helper *h, struct strbuf *said, int64_t now)
{
    char *rest = NULL, *text = *strbuf_text(said) ? said->data : NULL;
    bool *there = calloc(h->n + 1, sizeof(*there));
    if (!there)
        return;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        struct squeue_job job;
        if (squeue_read(line, &job))
            continue;
        take_job(h, &job, now);
        uint64_t key = key_in(h, job.comment);
        for (size_t i = 0; key > 0 && i < h->n; i++)
            there[i] = there[i] || (h->v[i]->key == key && strcmp(h->v[i]->job, job.job) == 0);
    }
    for (size_t i = h->n; i-- > 0;) {
        struct held_run *run = h->v[i];
        note_absence(run, there[i], now);
        if (run->forgotten && !run->is_active && !run->was_active)
            helper_drop(h, run);
    }
    free(there);
}

void helper_ask_queue(struct helper *h)
{
    char user[24];
    struct strbuf said = {0};
    struct command c = {.argv = {"squeue", "-h", "-t", "all", "-n", RUN_NAME, "-o", SQUEUE_FORMAT},
                        .n = 8};
    int64_t now = helper_now();
    snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
    if (geteuid() != 0) {
        command_add(&c, "-u");
        command_add(&c, user);
    }
    if (helper_ask(h, &c, &said) == 0) {
        for (size_t i = 0; i < h->n; i++)
            h->v[i]->was_active = h->v[i]->is_active;
        h->answered_at = now;
        take_lines(h, &said, now);
    }
    strbuf_clear(&said);
}
