/* many_agents DIRECTORY/pilots FIRST LAST END STEP: an agent and a keeper of each of many pilots, in one process.
 *
 * Each brings a node "aN" of two cores. That of pilot FIRST is taken back at END, seconds since 1970, and that of each
 * other one STEP seconds after the one before. A run starts at once and ends when it is sent a signal, but one whose
 * command is "true" ends at once. A connection that breaks is made again. It ends with SIGTERM.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "engine/cluster/dial.h"
#include "engine/cluster/node.h"
#include "engine/cluster/pump.h"
#include "engine/cluster/secret.h"
#include "engine/local/messages.h"

enum { ROUND = 1000 /* ms */, ROOM = 4096 };

struct agent_run {
    uint64_t key;
    bool ended;
    int signal;
    uint64_t told; /* the number of its last event */
};

struct agent {
    uint64_t pilot;
    int64_t end; /* us since 1970 */
    struct channel channel;
    int fd; /* -1: it is not connected */
    int64_t said;
    struct strbuf in, out;
    struct agent_run *run;
    size_t n, cap;
    uint64_t events;
};

static const char *pilots;

static int64_t clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void hang_up(struct agent *a)
{
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
    channel_clear(&a->channel);
    strbuf_clear(&a->in);
}

static void flush(struct agent *a)
{
    struct strbuf *out = &a->channel.out;
    size_t sent = 0;
    while (sent < out->len) {
        struct pollfd p = {.fd = a->fd, .events = POLLOUT};
        ssize_t n = send(a->fd, out->data + sent, out->len - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN) {
            hang_up(a);
            return;
        }
        if (n < 0)
            poll(&p, 1, ROUND);
        sent += n > 0 ? (size_t)n : 0;
    }
    strbuf_reset(out);
    a->said = clock_of(CLOCK_MONOTONIC);
}

static void say(struct agent *a, enum channel_kind kind, struct strbuf *text)
{
    if (a->fd >= 0 && channel_put(&a->channel, kind, text->data, text->len) == 0)
        flush(a);
    strbuf_clear(text);
}

static void say_event(struct agent *a, struct agent_run *run, enum engine_what what)
{
    struct strbuf text = {0};
    struct engine_event event = {.what = what,
                                 .key = run->key,
                                 .number = ++a->events,
                                 .at = clock_of(CLOCK_REALTIME),
                                 .pid = getpid(),
                                 .peak_memory = -1,
                                 .cpu_time = -1};
    event.exit_signal = what == ENGINE_ENDED ? run->signal : 0;
    run->told = event.number;
    message_put_event(&text, &event);
    say(a, CHANNEL_DATA, &text);
}

static void say_node(struct agent *a)
{
    char name[32], zero[] = "0", one[] = "1", address[] = "127.0.0.1", boot[] = "b", job[24];
    char *cores[] = {zero, one};
    struct strbuf text = {0};
    snprintf(name, sizeof(name), "a%" PRIu64, a->pilot);
    snprintf(job, sizeof(job), "%" PRIu64, a->pilot);
    struct node node = {.name = name,
                        .boot = boot,
                        .job = job,
                        .address = address,
                        .memory = INT64_C(4) << 30,
                        .end = a->end,
                        .cores = cores,
                        .n_cores = 2};
    node_put(&text, &node);
    say(a, CHANNEL_NODE, &text);
}

static void say_hello(struct agent *a)
{
    struct strbuf text = {0};
    uint64_t *keys = calloc(a->n + 1, sizeof(*keys));
    for (size_t i = 0; keys && i < a->n; i++)
        keys[i] = a->run[i].key;
    struct message_hello hello = {.pid = getpid(), .keys = keys, .n_keys = keys ? a->n : 0};
    message_put_hello(&text, &hello);
    free(keys);
    say(a, CHANNEL_DATA, &text);
    for (size_t i = 0; i < a->n; i++) {
        say_event(a, &a->run[i], ENGINE_STARTED);
        if (a->run[i].ended)
            say_event(a, &a->run[i], ENGINE_ENDED);
    }
}

static void dial(struct agent *a)
{
    uint8_t key[NOISE_KEY];
    berth_error_t why;
    if (secret_read(pilots, a->pilot, key, &why) < 0)
        return;
    a->fd = dial_server(pilots, a->pilot, key, &a->channel);
    if (a->fd < 0)
        return;
    say_node(a);
    say_hello(a);
}

static void start(struct agent *a, struct wire *w)
{
    struct message_run read;
    if (message_start(w, &read) < 0 ||
        array_grow((void **)&a->run, &a->cap, a->n + 1, sizeof(*a->run)) < 0)
        exit(EXIT_FAILURE);
    struct agent_run *run = &a->run[a->n];
    const char *command = read.run.argv[0];
    bool known = false;
    for (size_t i = 0; i < a->n; i++)
        known = known || a->run[i].key == read.run.key;
    if (!known) {
        *run = (struct agent_run){.key = read.run.key, .ended = strcmp(command, "true") == 0};
        a->n++;
        say_event(a, run, ENGINE_STARTED);
        if (run->ended)
            say_event(a, run, ENGINE_ENDED);
    }
    message_run_clear(&read);
}

static void take_signal(struct agent *a, struct wire *w)
{
    struct message_signal signal;
    if (message_signal(w, &signal) < 0)
        return;
    for (size_t i = 0; i < a->n; i++)
        if (a->run[i].key == signal.key && !a->run[i].ended) {
            a->run[i].ended = true;
            a->run[i].signal = signal.signal;
            say_event(a, &a->run[i], ENGINE_ENDED);
        }
}

static void acknowledged(struct agent *a, struct wire *w)
{
    uint64_t number = 0;
    if (message_acknowledge(w, &number) < 0)
        return;
    for (size_t i = a->n; i-- > 0;)
        if (a->run[i].ended && a->run[i].told <= number)
            a->run[i] = a->run[--a->n];
}

static void take_messages(struct agent *a)
{
    struct wire w;
    size_t taken, at = 0;
    while (a->fd >= 0 && wire_next(a->in.data + at, a->in.len - at, &w, &taken) > 0) {
        uint8_t kind = wire_u8(&w);
        if (kind == MESSAGE_START)
            start(a, &w);
        else if (kind == MESSAGE_SIGNAL)
            take_signal(a, &w);
        else if (kind == MESSAGE_ACKNOWLEDGE)
            acknowledged(a, &w);
        at += taken;
    }
    if (a->fd < 0)
        return;
    memmove(a->in.data, a->in.data + at, a->in.len - at);
    a->in.len -= at;
}

static void listen_to(struct agent *a)
{
    enum channel_kind kind;
    const uint8_t *bytes;
    size_t n;
    struct strbuf *in = &a->channel.in;
    if (!strbuf_room(in, ROOM))
        exit(EXIT_FAILURE);
    ssize_t got = recv(a->fd, in->data + in->len, ROOM, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        hang_up(a);
        return;
    }
    in->len += got > 0 ? (size_t)got : 0;
    while (a->fd >= 0 && channel_take(&a->channel, &kind, &bytes, &n) > 0)
        if (kind == CHANNEL_DATA)
            strbuf_put(&a->in, (const char *)bytes, n);
    if (a->in.len > 0)
        take_messages(a);
}

static void serve(struct agent *agents, size_t n)
{
    struct pollfd *p = calloc(n, sizeof(*p));
    int64_t looked = 0, now;
    while (p) {
        for (size_t i = 0; i < n; i++)
            p[i] = (struct pollfd){.fd = agents[i].fd, .events = POLLIN};
        poll(p, n, ROUND);
        for (size_t i = 0; i < n; i++)
            if (agents[i].fd >= 0 && p[i].revents)
                listen_to(&agents[i]);
        now = clock_of(CLOCK_MONOTONIC);
        if (now - looked < ROUND * 1000)
            continue;
        looked = now;
        for (size_t i = 0; i < n; i++) {
            struct strbuf none = {0};
            if (agents[i].fd < 0)
                dial(&agents[i]);
            else if (now - agents[i].said >= PUMP_PING * 1000)
                say(&agents[i], CHANNEL_PING, &none);
        }
    }
}

int main(int argc, char **argv)
{
    const struct rlimit files = {4096, 4096};
    if (argc != 6 || sodium_init() < 0)
        return 2;
    pilots = argv[1];
    uint64_t first = strtoull(argv[2], NULL, 10), last = strtoull(argv[3], NULL, 10);
    int64_t end = strtoll(argv[4], NULL, 10), step = strtoll(argv[5], NULL, 10);
    size_t n = last < first ? 0 : (size_t)(last - first + 1);
    struct agent *agents = calloc(n + 1, sizeof(*agents));
    setrlimit(RLIMIT_NOFILE, &files);
    if (!agents || n == 0)
        return 2;
    for (size_t i = 0; i < n; i++)
        agents[i] = (struct agent){
            .pilot = first + i, .end = (end + (int64_t)i * step) * 1000000, .fd = -1};
    serve(agents, n);
    return EXIT_FAILURE;
}
