/* berth-slurm: talks to Slurm for a server whose jobs are Slurm's.
 *
 * usage: berth-slurm DIRECTORY BERTH-RUN TAG PARTITION OPTIONS
 *
 * berthd starts it, with a socket as descriptor 3, and it ends with that. Slurm's commands may take up to 20 s each; the
 * server does not wait for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "engine/slurm/helper.h"
#include "engine/slurm/talk.h"

#define CHUNK      65536
#define QUEUE_SOON 1000  /* ms between two questions for jobs while something is to change */
#define QUEUE_TRY  2000  /* the same, while Slurm does not answer */
#define QUEUE_LATE 30000 /* the same, while all is well */
#define NODES_EACH 10000 /* ms between two questions for nodes */
#define IDLE_MOST  1000  /* ms that it sleeps at most */

/* How many times as fast its clocks run: in tests, which would wait for Slurm otherwise. */
static int64_t pace = 1;

static int64_t clock_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t helper_wall(void)
{
    return clock_us(CLOCK_REALTIME);
}

int64_t helper_now(void)
{
    return clock_us(CLOCK_REALTIME) * pace / 1000000;
}

int64_t helper_ms(void)
{
    return clock_us(CLOCK_BOOTTIME) * pace / 1000;
}

static void find_pace(void)
{
    const char *text = getenv("BERTH_SLURM_PACE");
    int64_t given = text ? atoi(text) : 1;
    pace = given >= 1 && given <= 100 ? given : 1;
}

void helper_answered(struct helper *h, bool answers, const char *why)
{
    h->answers = answers;
    if (!answers)
        h->queue_at = helper_ms() + QUEUE_TRY;
    const char *text = answers ? "" : why;
    if (strcmp(h->trouble, text) == 0)
        return;
    snprintf(h->trouble, sizeof(h->trouble), "%s", text);
    talk_put_text(&h->out, TALK_TROUBLE, h->trouble);
}

/* ---- Runs ---- */

/* The first whose key is no less. */
static size_t place_of_key(const struct helper *h, uint64_t key)
{
    size_t low = 0, high = h->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->v[middle]->key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct held_run *helper_find(const struct helper *h, uint64_t key)
{
    size_t at = place_of_key(h, key);
    return at < h->n && h->v[at]->key == key ? h->v[at] : NULL;
}

static void free_run(struct held_run *run)
{
    directed_clear(&run->ask);
    free(run->heard);
    free(run);
}

/* Of the signals that are in its folder, the last that ends it. */
static int find_cancel(const char *text)
{
    int signal, cancel = 0;
    while (sscanf(text, "%d", &signal) == 1) {
        cancel = directed_ends(signal) ? signal : cancel;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return cancel;
}

void helper_read_cancel(const struct helper *h, struct held_run *run)
{
    struct strbuf bytes = {0};
    if (folder_get(h->runs, run->key, "signals", NULL, &bytes) == 0)
        run->cancel = find_cancel(strbuf_text(&bytes));
    strbuf_clear(&bytes);
}

/* What was asked for, and how far it has come. */
static int read_run(const struct helper *h, struct held_run *run)
{
    struct strbuf bytes = {0};
    if (folder_get(h->runs, run->key, "ask", NULL, &bytes) || directed_read(&run->ask, &bytes)) {
        strbuf_clear(&bytes);
        return -1;
    }
    run->heard = calloc(run->ask.n_places, sizeof(*run->heard));
    if (!run->heard)
        return -1;
    run->begun_at = helper_ms();
    run->given_up = folder_has(h->runs, run->key, "given_up", NULL);
    run->is_lost = folder_has(h->runs, run->key, "lost", NULL);
    if (folder_has(h->runs, run->key, "asked", NULL))
        run->asked_at = helper_now();
    if (folder_get(h->runs, run->key, "job", NULL, &bytes) == 0)
        snprintf(run->job, sizeof(run->job), "%.20s", strbuf_text(&bytes));
    strbuf_clear(&bytes);
    helper_read_cancel(h, run);
    return 0;
}

/* Enter a run. O(n) at worst. */
static struct held_run *helper_enter(struct helper *h, uint64_t key)
{
    struct held_run *run = helper_find(h, key);
    if (run)
        return run;
    run = calloc(1, sizeof(*run));
    if (!run || array_grow((void **)&h->v, &h->cap, h->n + 1, sizeof(*h->v))) {
        free(run);
        return NULL;
    }
    run->key = key;
    if (read_run(h, run)) {
        free_run(run);
        return NULL;
    }
    size_t at = place_of_key(h, key);
    memmove(h->v + at + 1, h->v + at, (h->n++ - at) * sizeof(*h->v));
    h->v[at] = run;
    return run;
}

void helper_drop(struct helper *h, struct held_run *run)
{
    size_t at = place_of_key(h, run->key);
    memmove(h->v + at, h->v + at + 1, (--h->n - at) * sizeof(*h->v));
    free_run(run);
}

/* Those that there are already. */
static void find_runs(struct helper *h)
{
    uint64_t *keys;
    size_t n;
    if (folder_list(h->runs, &keys, &n) == 0)
        for (size_t i = 0; i < n; i++)
            helper_enter(h, keys[i]);
    free(keys);
}

/* ---- What the server says ---- */

static void take_sent_signal(struct helper *h, struct held_run *run, int signal)
{
    if (run->told_end)
        return;
    if (directed_ends(signal))
        run->cancel = signal;
    run->look_at = 0;
    if (folder_taker(h->runs, run->key) == TAKEN_BY_RUN)
        helper_nudge(h, run);
}

/* Its end is recorded. Slurm may need a moment to have done with it. */
static void forget_held(struct helper *h, struct held_run *run)
{
    folder_remove(h->runs, run->key);
    run->forgotten = true;
    if (!run->asked_at)
        helper_drop(h, run);
}

/* Nothing runs on a node any more, as somebody knows. */
static void lose_node(struct helper *h, const char *name)
{
    for (size_t i = 0; name && i < h->n; i++) {
        struct held_run *run = h->v[i];
        for (size_t k = 0; k < run->ask.n_places && !run->told_end; k++)
            if (strcmp(run->ask.places[k].node, name) == 0 && !run->is_lost) {
                folder_put(h->runs, run->key, "lost", NULL, "", 0);
                run->is_lost = true;
                run->look_at = 0;
            }
    }
}

static void take_talk(struct helper *h, struct wire *w)
{
    uint8_t kind = wire_u8(w);
    if (kind == TALK_LOSE) {
        lose_node(h, wire_string(w));
        return;
    }
    uint64_t key = wire_u64(w);
    struct held_run *run = kind == TALK_START ? helper_enter(h, key) : helper_find(h, key);
    if (!run)
        return;
    if (kind == TALK_SIGNAL) {
        take_sent_signal(h, run, wire_u8(w));
    } else if (kind == TALK_FORGET) {
        forget_held(h, run);
    }
}

/* -1: the server has gone. */
static int read_messages(struct helper *h)
{
    size_t at = 0, taken;
    struct wire w;
    ssize_t n = 1;
    while (n > 0) {
        if (!strbuf_room(&h->in, CHUNK))
            return -1;
        n = recv(h->control, h->in.data + h->in.len, CHUNK, MSG_DONTWAIT);
        h->in.len += n > 0 ? (size_t)n : 0;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        return -1;
    while (wire_next(h->in.data + at, h->in.len - at, &w, &taken) > 0) {
        take_talk(h, &w);
        at += taken;
    }
    if (at > 0)
        memmove(h->in.data, h->in.data + at, h->in.len - at);
    h->in.len -= at;
    return 0;
}

static int send_messages(struct helper *h)
{
    size_t done = 0;
    while (done < h->out.len) {
        ssize_t n = send(h->control, h->out.data + done, h->out.len - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        done += (size_t)n;
    }
    strbuf_reset(&h->out);
    return 0;
}

/* ---- The loop ---- */

/* Whether something of it is to change at Slurm. */
static bool is_unsettled(const struct held_run *run)
{
    return run->asked_at > 0 && (run->forgotten || strcmp(run->state, "RUNNING") != 0 ||
                                 !run->told_started || run->cancel || run->given_up);
}

static void ask_slurm_if_due(struct helper *h)
{
    int64_t now = helper_ms();
    bool unsettled = false;
    for (size_t i = 0; i < h->n; i++)
        unsettled = unsettled || is_unsettled(h->v[i]);
    if (unsettled && h->answers && h->queue_at > now + QUEUE_SOON)
        h->queue_at = now + QUEUE_SOON;
    if (now >= h->nodes_at && (h->answers || now >= h->queue_at)) {
        helper_ask_nodes(h);
        h->nodes_at = helper_ms() + NODES_EACH;
    } else if (now >= h->queue_at) {
        helper_ask_queue(h);
    } else {
        return;
    }
    now = helper_ms();
    h->queue_at = now + (!h->answers ? QUEUE_TRY : unsettled ? QUEUE_SOON : QUEUE_LATE);
}

/* Each whose time has come; what is being submitted, once it has been. */
static void look_at_runs(struct helper *h)
{
    int64_t now = helper_ms();
    for (size_t i = 0; i < h->n; i++) {
        struct held_run *run = h->v[i];
        if (!run->told_end && !run->is_submitted && run->look_at <= now)
            helper_look(h, run);
    }
}

static int wait_time(const struct helper *h)
{
    int64_t now = helper_ms(), at = now + IDLE_MOST;
    at = h->queue_at < at ? h->queue_at : at;
    for (size_t i = 0; i < h->n; i++)
        if (!h->v[i]->told_end && !h->v[i]->is_submitted && h->v[i]->look_at < at)
            at = h->v[i]->look_at;
    return at > now ? (int)((at - now) / pace + 1) : 0;
}

/* Until the server, an sbatch or berth-bridge says something, or a time has come. */
static void wait_for_news(struct helper *h)
{
    struct pollfd p[2 + SUBMIT_MOST] = {
        {.fd = h->control, .events = POLLIN},
        {.fd = h->bridge.pid > 0 ? h->bridge.fd : -1, .events = POLLIN}};
    for (size_t i = 0; i < h->n_going; i++)
        p[2 + i] = (struct pollfd){.fd = h->going[i].command.fd, .events = POLLIN};
    poll(p, 2 + h->n_going, wait_time(h));
}

static void serve_server(struct helper *h)
{
    find_runs(h);
    while (read_messages(h) == 0) {
        bridge_look(h);
        helper_follow_submissions(h);
        ask_slurm_if_due(h);
        look_at_runs(h);
        helper_send_signals(h);
        if (send_messages(h))
            break;
        wait_for_news(h);
    }
    helper_end_submissions(h);
}

int main(int argc, char **argv)
{
    static struct helper h;
    if (argc != 6) {
        fprintf(stderr, "usage: berth-slurm DIRECTORY BERTH-RUN TAG PARTITION OPTIONS\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    umask(077);
    find_pace();
    h.folder = argv[1];
    h.program = argv[2];
    h.tag = argv[3];
    h.partition = *argv[4] ? argv[4] : NULL;
    h.options = argv[5];
    h.control = TALK_FD;
    h.runs = open(h.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fcntl(h.control, F_SETFD, FD_CLOEXEC);
    /* An earlier one, whose server was killed, may still wait for Slurm. */
    if (h.runs < 0 || flock(h.runs, LOCK_EX))
        return EXIT_FAILURE;
    serve_server(&h);
    return EXIT_SUCCESS;
}
