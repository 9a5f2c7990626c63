/* Any bytes are requests: a line "METHOD PATH?QUERY", the body, and a line "==" before the next.
 *
 * Each is answered with JSON (or a stream of events), and the server is in order afterwards, also after a
 * crash.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sim_server.h"

#define REQUESTS_MAX 64

static const char config[] =
    "resources: {nodes: 2, cores: 2, gpus: 1, memory: 4}\n"
    "match: {policy: low}\n"
    "default-queue: batch\n"
    "queues: {batch: {policy: easy, shares: {by: user}}, low: {policy: fcfs, preemptible: "
    "requeue}}\n"
    "server: {requests-per-second: unlimited, administrators: [ann]}\n";

/* The text up to a mark, which is taken out, as a string. */
static char *take(const char **at, const char *end, const char *mark)
{
    size_t n = strlen(mark);
    const char *found = memmem(*at, (size_t)(end - *at), mark, n);
    size_t length = (size_t)((found ? found : end) - *at);
    char *text = malloc(length + 1);
    FUZZ_CHECK(text);
    memcpy(text, *at, length);
    text[length] = '\0';
    *at = found ? found + n : end;
    return text;
}

static void ask(struct sim_server *w, char *line, const char *body)
{
    char *path = strchr(line, ' ');
    char *query = path ? strchr(path, '?') : NULL;
    unsigned uid = strlen(line) % 5 == 0 ? SIM_BOB : SIM_OWNER;
    int status = 0;
    if (path)
        *path++ = '\0';
    if (query)
        *query++ = '\0';
    json_t *got = sim_server_ask(w, uid, line, path ? path : "/", query, body, &status);
    FUZZ_CHECK((status >= 200 && status < 300) || (status >= 400 && status < 508));
    FUZZ_CHECK(status >= 200 && (status < 300 || json_is_object(json_object_get(got, "error"))));
    FUZZ_CHECK(!json_is_string(got) || strncmp(json_string_value(got), "id: ", 4) == 0);
    json_decref(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    struct sim_server *w = sim_server_create(config, size);
    w->options.for_all = size % 2 == 0;
    FUZZ_CHECK(sim_server_open(w, NULL) == 0);
    for (int i = 0; i < REQUESTS_MAX && at < end; i++) {
        char *line = take(&at, end, "\n");
        char *body = take(&at, end, "\n==\n");
        ask(w, line, body);
        free(line);
        free(body);
        for (size_t k = 0; k < w->engine->n; k++)
            if (w->engine->runs[k].state == SIM_ASKED)
                sim_engine_started(w->engine, &w->engine->runs[k]);
        sim_server_wait(w, 30 * SIM_SECOND);
        FUZZ_CHECK(server_check(w->server));
    }
    sim_server_crash(w);
    FUZZ_CHECK(sim_server_open(w, NULL) == 0);
    sim_server_turn(w, NULL);
    FUZZ_CHECK(server_check(w->server));
    sim_server_destroy(w);
    return 0;
}
