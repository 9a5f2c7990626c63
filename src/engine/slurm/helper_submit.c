/* Submitting runs: several at a time, since each takes Slurm some 10 ms, or as long as it hangs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/hostlist.h"
#include "engine/slurm/helper.h"
#include "engine/steady.h"

#define BEYOND       1 /* minutes that Slurm's limit is longer, so that the server's comes first */
#define OPTIONS_ROOM 4096

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

static void put_node_list(struct strbuf *b, const struct directed *ask)
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
static void put_sbatch_command(struct command *c, struct strbuf *room, const struct helper *h,
                               const struct held_run *run)
{
    static const char *const fixed[] = {"sbatch", "--parsable", "--no-requeue",
                                        "-J",     RUN_NAME,     "--propagate=NONE",
                                        "-D",     "/",          "--output=/dev/null"};
    struct strbuf nodes = {0};
    char comment[256];
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        command_add(c, fixed[i]);
    put_node_list(&nodes, &run->ask);
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
    struct strbuf script = {0}, room = {0};
    struct command c = {0};
    struct submission *to = &h->going[h->n_going];
    *to = (struct submission){.key = run->key};
    put_script(&script, h, run);
    put_sbatch_command(&c, &room, h, run);
    int rc = script.failed || room.failed ? errtext_no_memory(err) : 0;
    to->by_bridge = rc == 0 && !run->by_command && bridge_begin(h, run->key, &c, &script);
    if (to->by_bridge)
        to->command = (struct command_going){.fd = -1, .until = steady_ms() + COMMAND_DEADLINE};
    else if (rc == 0)
        rc = command_begin(&c, script.data, script.len, &to->command, err);
    int saved = errno;
    if (rc == 0) {
        run->is_submitted = true;
        h->n_going++;
    }
    strbuf_clear(&script);
    strbuf_clear(&room);
    errno = saved;
    return rc;
}

/* It has ended: what follows for its run. */
static void end_submission(struct helper *h, struct submission *of)
{
    struct strbuf job = {0};
    berth_error_t err = {""};
    int rc = command_end(&of->command, &err);
    if (rc == 0)
        rc = command_job_id(&of->command.said, &job, &err);
    int why = rc ? errno : 0;
    struct held_run *run = helper_find(h, of->key);
    if (run)
        helper_submitted(h, run, strbuf_text(&job), why, err.text);
    strbuf_clear(&job);
    strbuf_clear(&of->command.said);
}

void helper_follow_submissions(struct helper *h)
{
    bridge_follow(h);
    for (size_t i = h->n_going; i-- > 0;) {
        struct submission one = h->going[i];
        if (one.by_bridge)
            continue;
        bool goes_on = command_goes_on(&one.command);
        h->going[i] = goes_on ? one : h->going[--h->n_going];
        if (!goes_on)
            end_submission(h, &one);
    }
}

void helper_end_submissions(struct helper *h)
{
    berth_error_t err;
    bridge_end(h);
    for (size_t i = 0; i < h->n_going; i++) {
        if (h->going[i].by_bridge)
            continue;
        h->going[i].command.late = true;
        command_end(&h->going[i].command, &err);
        strbuf_clear(&h->going[i].command.said);
    }
    h->n_going = 0;
}
