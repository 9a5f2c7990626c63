/* What berth-slurm asks Slurm. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/hostlist.h"
#include "engine/slurm/command.h"
#include "engine/slurm/helper.h"

#define IDS_MOST 50 /* that one command has */

/* ---- Commands about a job ---- */

int helper_ask(struct helper *h, const struct command *c, struct strbuf *said)
{
    berth_error_t err = {""};
    int rc = command_run(c, NULL, 0, h->control, said, &err);
    int why = errno;
    helper_answered(h, rc == 0 || why == EINVAL, err.text);
    errno = why;
    return rc;
}

static void add_id(struct strbuf *list, const char *job)
{
    if (!*job)
        return;
    strbuf_puts(list, job);
    strbuf_putc(list, ' ');
}

void helper_cancel(struct helper *h, const char *job)
{
    add_id(&h->to_cancel, job);
}

void helper_nudge(struct helper *h, const struct held_run *run)
{
    add_id(run->ask.n_places > 1 ? &h->to_nudge_steps : &h->to_nudge, run->job);
}

/* One command for many jobs. Those of which Slurm has not heard are left in `unheard`, if that is not NULL. */
static void send_to(struct helper *h, struct strbuf *list, const struct command *begin,
                    struct strbuf *unheard)
{
    char *rest = NULL, *text = *strbuf_text(list) ? list->data : NULL;
    char *id = text ? strtok_r(text, " ", &rest) : NULL;
    while (id) {
        struct command c = *begin;
        struct strbuf said = {0};
        size_t n = 0;
        for (; id && n < IDS_MOST; n++, id = strtok_r(NULL, " ", &rest))
            command_add(&c, id);
        if (helper_ask(h, &c, &said) && errno != EINVAL)
            for (size_t i = 0; unheard && i < n; i++)
                add_id(unheard, c.argv[begin->n + i]);
        strbuf_clear(&said);
    }
}

/* What is to end is told again once Slurm answers: berth-run waits for that. */
static void send_cancellations(struct helper *h)
{
    struct strbuf unheard = {0};
    if (!h->answers)
        return;
    send_to(h, &h->to_cancel, &(struct command){.argv = {"scancel"}, .n = 1}, &unheard);
    strbuf_clear(&h->to_cancel);
    h->to_cancel = unheard;
}

void helper_send_signals(struct helper *h)
{
    send_cancellations(h);
    send_to(h, &h->to_nudge,
            &(struct command){.argv = {"scancel", "--batch", "--signal=USR1"}, .n = 3}, NULL);
    send_to(h, &h->to_nudge_steps, &(struct command){.argv = {"scancel", "--signal=USR1"}, .n = 2},
            NULL);
    strbuf_clear(&h->to_nudge);
    strbuf_clear(&h->to_nudge_steps);
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
    if (key > 0 && !run && strcmp(job->state, "PENDING") == 0)
        helper_cancel(h, job->job); /* nobody wants it any more */
    if (!run || (*run->job && strcmp(run->job, job->job) != 0))
        return;
    if (!*run->job) {
        snprintf(run->job, sizeof(run->job), "%.20s", job->job);
        folder_put(h->runs, key, "job", NULL, run->job, strlen(run->job));
        if (run->told_end && (run->cancel || strcmp(job->state, "PENDING") == 0))
            helper_cancel(h, run->job); /* it could not be told before */
    }
    if (run->missed || strcmp(run->state, job->state) != 0) {
        run->since = now;
        run->look_at = 0;
    }
    run->missed = false;
    run->listed = true;
    snprintf(run->state, sizeof(run->state), "%.20s", job->state);
    snprintf(run->why, sizeof(run->why), "%.60s", job->reason);
    run->is_active = is_active(run->state);
    if (strcmp(run->state, "NODE_FAIL") == 0 && !run->given_up && !run->forgotten)
        run->given_up = folder_put(h->runs, key, "given_up", NULL, "", 0) == 0;
}

/* What is not in the answer. */
static void note_absence(struct held_run *run, int64_t now)
{
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
    for (size_t i = 0; i < h->n; i++)
        h->v[i]->listed = false;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        struct squeue_job job;
        if (squeue_read(line, &job) == 0)
            take_job(h, &job, now);
    }
    for (size_t i = h->n; i-- > 0;) {
        struct held_run *run = h->v[i];
        if (!run->listed && run->asked_at)
            note_absence(run, now);
        if (run->forgotten && !run->is_active && !run->was_active)
            helper_drop(h, run);
    }
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
