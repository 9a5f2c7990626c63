#include "sim_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int64_t steady(void *context)
{
    return ((struct sim_server *)context)->steady;
}

static int64_t wall(void *context)
{
    return ((struct sim_server *)context)->wall;
}

static const char *boot(void *context)
{
    struct sim_server *w = context;
    snprintf(w->boot_text, sizeof(w->boot_text), "boot-%d", w->boot);
    return w->boot_text;
}

static int user(void *context, uid_t uid, struct server_user *u)
{
    static const gid_t gids[] = {100, 200};
    static const char *const names[] = {"users", "staff"};
    (void)context;
    *u = (struct server_user){.gid = 100,
                              .groups = gids,
                              .group_names = names,
                              .n_groups = 2,
                              .home = "/home/x",
                              .shell = "/bin/sh"};
    if (uid == 0)
        u->name = "root";
    else if (uid == SIM_OWNER)
        u->name = "owner";
    else if (uid == SIM_ANN)
        u->name = "ann";
    else if (uid == SIM_BOB)
        u->name = "bob";
    errno = ENOENT;
    return u->name ? 0 : -1;
}

static const char *cpus(void *context, int64_t core)
{
    static char text[40];
    struct sim_server *w = context;
    if (!w->cpus)
        return NULL;
    snprintf(text, sizeof(text), "%lld,%lld", (long long)core, (long long)core + 64);
    return text;
}

void sim_server_configure(struct sim_server *w, const char *config)
{
    FILE *f = fopen(w->config, "w");
    if (!f)
        abort();
    fputs(config, f);
    fclose(f);
}

struct sim_server *sim_server_create(const char *config, uint64_t seed)
{
    static int number;
    struct sim_server *w = calloc(1, sizeof(*w));
    strcpy(w->config, "/tmp/berth-sim-XXXXXX");
    int fd = mkstemp(w->config);
    if (fd < 0)
        abort();
    close(fd);
    sim_server_configure(w, config);
    snprintf(w->vfs, sizeof(w->vfs), "sim-%d", number++);
    w->disk = sim_disk_create(w->vfs, seed);
    w->engine = sim_engine_create();
    w->cpus = true;
    w->steady = 1000 * SIM_SECOND;
    w->wall = INT64_C(1700000000) * SIM_SECOND;
    w->world = (struct server_platform){.context = w,
                                        .steady = steady,
                                        .wall = wall,
                                        .boot = boot,
                                        .user = user,
                                        .cpus = cpus,
                                        .engine = &w->engine->engine,
                                        .vfs = w->vfs};
    w->options = (struct server_options){.directory = "/b", .config = w->config, .uid = SIM_OWNER};
    return w;
}

void sim_server_destroy(struct sim_server *w)
{
    sim_server_close(w);
    sim_disk_destroy(w->disk);
    sim_engine_destroy(w->engine);
    unlink(w->config);
    free(w);
}

int sim_server_open(struct sim_server *w, berth_error_t *err)
{
    sim_engine_again(w->engine);
    w->server = server_open(&w->world, &w->options, err);
    w->due = w->steady;
    return w->server ? 0 : -1;
}

void sim_server_close(struct sim_server *w)
{
    server_close(w->server);
    w->server = NULL;
}

void sim_server_crash(struct sim_server *w)
{
    sim_disk_crash(w->disk);
    sim_server_close(w);
}

void (*sim_server_begins)(void);
void (*sim_server_ends)(void);

static void call(void (*what)(void))
{
    if (what)
        what();
}

enum { SIM_TURNS = 100000 }; /* then it goes on for ever */

int sim_server_turn(struct sim_server *w, berth_error_t *err)
{
    int rc = 0;
    w->engine->wall = w->wall;
    for (int i = 0; i < SIM_TURNS; i++) {
        call(sim_server_begins);
        server_engine(w->server, NULL);
        rc = server_turn(w->server, &w->due, err);
        call(sim_server_ends);
        w->failed += rc < 0;
        if (rc < 0 || (w->due > w->steady && w->engine->said == w->engine->n_events))
            break;
    }
    return rc;
}

void sim_server_wait(struct sim_server *w, int64_t us)
{
    int64_t end = w->steady + us;
    while (w->steady < end) {
        int64_t next = w->due > w->steady && w->due < end ? w->due : end;
        if (w->due <= w->steady)
            next = w->steady + 1;
        w->wall += next - w->steady;
        w->steady = next;
        sim_server_turn(w, NULL);
    }
}

int sim_server_ask_text(struct sim_server *w, unsigned uid, const char *method, const char *path,
                        const char *query, const char *body, struct strbuf *text)
{
    struct server_request request = {.method = method,
                                     .path = path,
                                     .query = query,
                                     .body = body,
                                     .length = body ? strlen(body) : 0,
                                     .peer = {.uid = uid, .gid = 100, .pid = 1}};
    struct server_reply reply;
    berth_error_t why = {""};
    call(sim_server_begins);
    server_request(w->server, &request, &reply);
    call(sim_server_ends);
    if (reply.wait && sim_server_turn(w, &why) < 0 && !reply.work)
        server_failed(w->server, &why, &reply);
    for (int i = 0; reply.work && !server_work_done(reply.work, &reply); i++) {
        if (i == 1000)
            abort(); /* it is done when there is nothing more to do, unless memory runs out */
        sim_server_wait(w, SIM_SECOND);
    }
    int rc = reply.stream ? 1 : 0;
    while (rc == 1)
        rc = server_stream_read(reply.stream, &reply.body, 4096);
    server_stream_close(reply.stream);
    *text = reply.body;
    return rc < 0 ? -1 : reply.status;
}

json_t *sim_server_ask(struct sim_server *w, unsigned uid, const char *method, const char *path,
                       const char *query, const char *body, int *status)
{
    struct strbuf text;
    int answered = sim_server_ask_text(w, uid, method, path, query, body, &text);
    if (status)
        *status = answered;
    json_t *value = json_loadb(text.data, text.len, JSON_DECODE_ANY, NULL);
    if (!value && text.len > 0)
        value = json_stringn(text.data, text.len);
    strbuf_clear(&text);
    return value;
}
