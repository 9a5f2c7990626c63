/* The server without its loop: submissions, listings, a restart, starts and ends. Its file is a real one, its processes are
 * not.
 */
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

static void put_job(struct strbuf *b, int i)
{
    strbuf_puts(b, "{\"command\":[\"./work.sh\",\"--input\",\"data/one.h5\",\"");
    strbuf_put_int(b, i);
    strbuf_puts(b, "\"],\"cores\":");
    strbuf_put_int(b, 1 + i % 8);
    strbuf_puts(b, ",\"duration\":");
    strbuf_put_int(b, 60 * (1 + i % 100));
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

int main(void)
{
    char directory[] = "/tmp/berth-bench-XXXXXX", path[200];
    struct strbuf body = {0};
    struct sim_server *w = sim_server_create(config, 1);
    if (!mkdtemp(directory))
        return 1;
    w->world.vfs = NULL;
    w->options.directory = directory;
    open_it(w);
    json_decref(ask(w, "POST", "/v1/jobs", "{\"command\":[\"x\"],\"nodes\":16}"));
    strbuf_putc(&body, '[');
    for (int i = 0; i < JOBS; i++) {
        strbuf_puts(&body, i ? "," : "");
        put_job(&body, i);
    }
    strbuf_putc(&body, ']');
    double start = now();
    json_decref(ask(w, "POST", "/v1/jobs", strbuf_text(&body)));
    printf("%d submissions at once: %.2f s\n", JOBS, now() - start);
    start = now();
    for (int i = 0; i < SINGLE; i++) {
        strbuf_reset(&body);
        put_job(&body, i);
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
    snprintf(path, sizeof(path), "rm -r %s", directory);
    return system(path) == 0 ? 0 : 1;
}
