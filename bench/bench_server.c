/* The server without its loop: submissions, listings, a restart, starts and ends; and one user's
 * submissions beside another's requests, and beside a pass over all jobs of a queue. Its file is a real
 * one, its processes are not.
 *
 *     bench_server [pass]    the last of these alone
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "measure.h"
#include "sim_server.h"

enum { JOBS = 100000, SINGLE = 1000, RUNS = 2000, EXPLAINED = 100 };

static const char config[] = "resources: {nodes: 16, cores: 64, memory: 256}\n"
                             "match: {policy: low}\n"
                             "queues: {default: {policy: easy}}\n"
                             "server: {requests-per-second: unlimited}\n";

static void open_it(struct sim_server *w)
{
    berth_error_t err = {""};
    if (sim_server_open(w, &err) == 0)
        return;
    fprintf(stderr, "%s\n", err.text);
    exit(1);
}

/* A job of up to 100 times so many seconds. */
static void put_job(struct strbuf *b, int i, int unit)
{
    strbuf_puts(b, "{\"command\":[\"./work.sh\",\"--input\",\"data/one.h5\",\"");
    strbuf_put_int(b, i);
    strbuf_puts(b, "\"],\"cores\":");
    strbuf_put_int(b, 1 + i % 8);
    strbuf_puts(b, ",\"duration\":");
    strbuf_put_int(b, (int64_t)unit * (1 + i % 100));
    strbuf_puts(b, ",\"environment\":{\"PATH\":\"/usr/bin:/bin\",\"LANG\":\"C.UTF-8\"},"
                   "\"directory\":\"/home/somebody/work\",\"output\":\"logs/%j.out\"}");
}

static json_t *ask(struct sim_server *w, const char *method, const char *path, const char *body)
{
    int status;
    json_t *got = sim_server_ask(w, SIM_OWNER, method, path, NULL, body, &status);
    if (status < 300)
        return got;
    fprintf(stderr, "%s %s: %s\n", method, path, json_dumps(got, JSON_ENCODE_ANY));
    exit(1);
}

/* The list, as a stream, without reading it. */
static size_t list(struct sim_server *w, const char *query)
{
    struct server_request request = {
        .method = "GET", .path = "/v1/jobs", .query = query, .peer = {SIM_OWNER, 100, 1}};
    struct server_reply reply;
    size_t length = 0;
    server_request(w->server, &request, &reply);
    int rc = 1;
    while (rc == 1) {
        length += reply.body.len;
        strbuf_reset(&reply.body);
        rc = server_stream_read(reply.stream, &reply.body, 65536);
    }
    length += reply.body.len;
    strbuf_clear(&reply.body);
    server_stream_close(reply.stream);
    return length;
}

/* Explanations of jobs from all over the queue. */
static void explain_some(struct sim_server *w, const char *what)
{
    char path[64];
    double longest = 0, start = now();
    for (int i = 0; i < EXPLAINED; i++) {
        snprintf(path, sizeof(path), "/v1/jobs/%d/explain", JOBS - i * (JOBS / 2 / EXPLAINED));
        double from = now();
        json_decref(ask(w, "GET", path, NULL));
        longest = now() - from > longest ? now() - from : longest;
    }
    printf("explanations with %s: %.2f ms each, the longest %.2f ms\n", what,
           (now() - start) / EXPLAINED * 1e3, longest * 1e3);
}

static void run_all(struct sim_server *w, int n)
{
    size_t from = w->engine->n;
    double start = now();
    int ended = 0;
    while (ended < n && from < w->engine->n + 1) {
        size_t end = w->engine->n;
        for (size_t i = 0; i < end; i++)
            if (w->engine->runs[i].state == SIM_ASKED)
                sim_engine_started(w->engine, &w->engine->runs[i]);
        sim_server_turn(w, NULL);
        for (size_t i = 0; i < end && ended < n; i++) {
            if (w->engine->runs[i].state != SIM_RUNS)
                continue;
            sim_engine_ended(w->engine, &w->engine->runs[i], 0, 0);
            sim_server_turn(w, NULL);
            ended++;
        }
    }
    double took = now() - start;
    printf("%d jobs end one by one, others start: %.2f ms each\n", n, took / n * 1e3);
}

/* ---- How long another's submission takes, from when one user's request has come just before it ---- */

/* A request of the one's, and its body; NULL: none. */
struct disturbance {
    const char *what, *method;
    const char *path; /* NULL: the job that was submitted last */
    void (*put_body)(struct strbuf *body);
    int status; /* what is answered in the end */
    unsigned uid;
};

static void put_large(struct strbuf *b)
{
    strbuf_puts(b, "{\"command\":[\"x\"],\"script\":\"");
    for (int i = 0; i < (3 << 10) - 4; i++)
        for (int k = 0; k < 16; k++)
            strbuf_puts(b, "0123456789012345678901234567890123456789012345678901234567890123");
    strbuf_puts(b, "\"}");
}

static void put_script(struct strbuf *b)
{
    static int number;
    strbuf_puts(b, "{\"hold\":true,\"script\":\"#!");
    strbuf_put_int(b, number++);
    for (int i = 0; i < (2 << 14) - 1; i++)
        strbuf_puts(b, "0123456789012345678901234567890123456789012345678901234567890123");
    strbuf_puts(b, "\"}");
}

static void put_wrong_list(struct strbuf *b)
{
    strbuf_putc(b, '[');
    for (int i = 0; i < JOBS - 1; i++)
        strbuf_puts(b, "{\"command\":[\"x\"]},");
    strbuf_puts(b, "{}]");
}

static void put_list(struct strbuf *b)
{
    strbuf_putc(b, '[');
    for (int i = 0; i < JOBS - 1; i++)
        strbuf_puts(b, "{\"command\":[\"x\"],\"hold\":true},");
    strbuf_puts(b, "{\"command\":[\"x\"],\"hold\":true}]");
}

static void put_array(struct strbuf *b)
{
    strbuf_puts(b, "{\"command\":[\"x\"],\"hold\":true,\"array\":999000}");
}

static void put_all(struct strbuf *b)
{
    strbuf_puts(b, "{\"jobs\":{}}");
}

static const struct disturbance disturbances[] = {
    {"nothing", "GET", "/v1/server", NULL, 200, SIM_ANN},
    {"a script of 3 MiB, which is refused", "POST", "/v1/jobs", put_large, 400, SIM_ANN},
    {"a script of 2 MiB", "POST", "/v1/jobs", put_script, 201, SIM_ANN},
    {"a list of 100,000 jobs, the last of them wrong", "POST", "/v1/jobs", put_wrong_list, 400,
     SIM_ANN},
    {"a list of 100,000 jobs", "POST", "/v1/jobs", put_list, 201, SIM_ANN},
    {"their cancelling", "POST", "/v1/jobs/cancel", put_all, 200, SIM_ANN},
    {"an array of 999,000", "POST", "/v1/jobs", put_array, 201, SIM_ANN},
    {"its cancelling", "POST", "/v1/jobs/cancel", put_all, 200, SIM_ANN},
    {"another one", "POST", "/v1/jobs", put_array, 201, SIM_ANN},
    {"its deletion", "DELETE", NULL, NULL, 200, SIM_ANN}};

struct beside {
    double longest, all; /* seconds: of one submission, and until the request was done */
    double work;         /* the most of a processor's time that one took */
    int n, n_long;       /* submissions, and those of more than 50 ms of work */
};

/* Submit until the server has nothing left to do. */
static struct beside submit_beside(struct sim_server *w, const struct disturbance *d)
{
    static char last[64];
    struct strbuf body = {0};
    struct beside beside = {0, 0, 0, 0, 0};
    if (d->put_body)
        d->put_body(&body);
    struct server_request request = {.method = d->method,
                                     .path = d->path ? d->path : last,
                                     .body = body.len ? strbuf_text(&body) : "",
                                     .length = body.len,
                                     .peer = {.uid = d->uid, .gid = 100, .pid = 1}};
    struct server_request other = {.method = "POST",
                                   .path = "/v1/jobs",
                                   .body = "{\"command\":[\"true\"],\"hold\":true}",
                                   .length = strlen("{\"command\":[\"true\"],\"hold\":true}"),
                                   .peer = {.uid = SIM_BOB, .gid = 100, .pid = 2}};
    struct server_reply reply, answer;
    double first = now(), begin = first, work = worked();
    bool waits;
    server_request(w->server, &request, &reply);
    do {
        server_request(w->server, &other, &answer);
        if (answer.status != 201 || server_turn(w->server, &w->due, NULL) < 0)
            exit(1);
        beside.longest = now() - begin > beside.longest ? now() - begin : beside.longest;
        beside.work = worked() - work > beside.work ? worked() - work : beside.work;
        strbuf_clear(&answer.body);
        waits = reply.work && !server_work_done(reply.work, &reply);
        beside.n++;
        beside.n_long += worked() - work > 0.05;
        begin = now();
        work = worked();
    } while (waits || w->due <= w->world.steady(w));
    beside.all = now() - first;
    int64_t id;
    if (sscanf(strbuf_text(&reply.body), "{\"id\":%" SCNd64, &id) == 1)
        snprintf(last, sizeof(last), "/v1/jobs/%" PRId64, id);
    if (reply.status != d->status) {
        fprintf(stderr, "%s: %d %s\n", d->what, reply.status, strbuf_text(&reply.body));
        exit(1);
    }
    server_stream_close(reply.stream);
    strbuf_clear(&reply.body);
    strbuf_clear(&body);
    return beside;
}

/* A server for all users, with a store in a folder of its own, whose path is kept in `path`. */
static struct sim_server *open_for_all(const char *text, char path[200], const char *directory,
                                       const char *name)
{
    struct sim_server *w = sim_server_create(text, 2);
    snprintf(path, 200, "mkdir %s/%s", directory, name);
    if (system(path) != 0)
        exit(1);
    snprintf(path, 200, "%s/%s", directory, name);
    w->world.vfs = NULL;
    w->options.directory = path;
    w->options.for_all = true;
    w->options.uid = 0;
    return w;
}

static void measure_users(const char *directory)
{
    char path[200];
    struct sim_server *w = open_for_all(config, path, directory, "users");
    open_it(w);
    for (size_t i = 0; i < sizeof(disturbances) / sizeof(*disturbances); i++) {
        struct beside beside = submit_beside(w, &disturbances[i]);
        printf("another's submission beside %s: %.1f ms, %.1f of them work; all took %.2f s\n",
               disturbances[i].what, beside.longest * 1e3, beside.work * 1e3, beside.all);
    }
    sim_server_destroy(w);
}

/* A clock that goes: passes are cut off by it. */
static int64_t real_time(void *context)
{
    (void)context;
    return (int64_t)(now() * 1e6);
}

static void put_stop(struct strbuf *b)
{
    strbuf_puts(b, "{\"started\":false}");
}

static void put_start(struct strbuf *b)
{
    strbuf_puts(b, "{\"started\":true}");
}

static void put_jobs(struct strbuf *b, int unit)
{
    for (int i = 0; i < JOBS; i++) {
        strbuf_putc(b, i ? ',' : '[');
        put_job(b, i, unit);
    }
    strbuf_putc(b, ']');
}

/* None of them is over, and late, before all are decided. */
static void put_long_jobs(struct strbuf *b)
{
    put_jobs(b, 36000);
}

static const struct disturbance starts[] = {
    {"the stop of a queue", "PATCH", "/v1/queues/default", put_stop, 200, 0},
    {"a list of 100,000 jobs for it", "POST", "/v1/jobs", put_long_jobs, 201, SIM_ANN},
    {"its first pass", "PATCH", "/v1/queues/default", put_start, 200, 0},
    {"nothing", "GET", "/v1/server", NULL, 200, SIM_ANN}};

static void measure_pass(const char *directory, const char *policy)
{
    char path[200], text[300];
    snprintf(text, sizeof(text),
             "resources: {nodes: 16, cores: 64, memory: 256}\n"
             "match: {policy: low}\n"
             "queues: {default: {policy: %s}}\n"
             "server: {requests-per-second: unlimited}\n",
             policy);
    struct sim_server *w = open_for_all(text, path, directory, policy);
    w->world.steady = real_time;
    open_it(w);
    for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
        struct beside beside = submit_beside(w, &starts[i]);
        printf("%s: a submission beside %s: %.1f ms, %.1f of them work; %d took %.2f s, %d of them "
               "more than 50 ms of work\n",
               policy, starts[i].what, beside.longest * 1e3, beside.work * 1e3, beside.n,
               beside.all, beside.n_long);
    }
    sim_server_destroy(w);
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/berth-bench-XXXXXX", path[200];
    struct strbuf body = {0};
    setlinebuf(stdout);
    if (!mkdtemp(directory))
        return 1;
    snprintf(path, sizeof(path), "rm -r %s", directory);
    measure_pass(directory, "conservative");
    measure_pass(directory, "easy");
    if (argc > 1 && strcmp(argv[1], "pass") == 0)
        return system(path) == 0 ? 0 : 1;
    struct sim_server *w = sim_server_create(config, 1);
    w->world.vfs = NULL;
    w->options.directory = directory;
    open_it(w);
    json_decref(ask(w, "POST", "/v1/jobs", "{\"command\":[\"x\"],\"nodes\":16}"));
    put_jobs(&body, 60);
    double start = now();
    json_decref(ask(w, "POST", "/v1/jobs", strbuf_text(&body)));
    printf("%d submissions at once: %.2f s\n", JOBS, now() - start);
    start = now();
    for (int i = 0; i < SINGLE; i++) {
        strbuf_reset(&body);
        put_job(&body, i, 60);
        json_decref(ask(w, "POST", "/v1/jobs", strbuf_text(&body)));
    }
    printf("submissions one by one: %.2f ms each\n", (now() - start) / SINGLE * 1e3);
    start = now();
    size_t length = list(w, NULL);
    printf("list of them: %.3f s, %.1f MB\n", now() - start, (double)length / 1e6);
    sim_server_close(w);
    start = now();
    open_it(w);
    printf("restart with them: %.2f s", now() - start);
    start = now();
    sim_server_turn(w, NULL);
    printf(", the first turn %.2f s\n", now() - start);
    sim_engine_started(w->engine, &w->engine->runs[0]);
    sim_engine_ended(w->engine, &w->engine->runs[0], 0, 0);
    start = now();
    sim_server_turn(w, NULL);
    printf("the machine is filled: %.3f s, %zu runs\n", now() - start, w->engine->n);
    explain_some(w, "100,000 pending");
    run_all(w, RUNS);
    sim_server_destroy(w);
    strbuf_clear(&body);
    measure_users(directory);
    return system(path) == 0 ? 0 : 1;
}
