/* Administrators: other configurations, good and bad ones, resources that are drained, queues that are
 * stopped. A request that is refused has changed nothing; one that is acknowledged is in force until
 * another one comes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server_scene.h"

#define MACHINE "resources: {nodes: 2, cores: 4, gpus: 1}\nmatch: {policy: low}\n"
#define SERVER  "server: {grace: 10, requests-per-second: unlimited, retention: unlimited}\n"

/* With every other seed queues have shares, by which they keep the order that they have without. */
#define SHARES "shares: {half-life: 600, order: [priority, submit]}\n"

enum { GOOD = 2 };

/* The good ones first. */
static const char *const configs[] = {
    MACHINE SERVER "default-queue: easy\n"
                   "queues:\n"
                   "  easy: {policy: easy}\n"
                   "  fcfs: {policy: fcfs, priority: 5}\n"
                   "  all: {policy: conservative, priority: 2}\n"
                   "  spare: {policy: easy, preemptible: requeue}\n",
    MACHINE SERVER "default-queue: easy\n"
                   "queues:\n"
                   "  easy: {policy: hybrid, reservation-depth: 3, priority: 4}\n"
                   "  fcfs: {policy: fcfs}\n"
                   "  all: {policy: easy, priority: 2}\n"
                   "  more: {policy: easy, priority: 7}\n"
                   "  spare: {policy: easy, preemptible: requeue}\n",
    "queues: [",
    "",
    MACHINE SERVER "queues:\n  easy: {policy: sometimes}\n",
    "resources: {nodes: 3, cores: 4, gpus: 1}\nqueues:\n  easy: {policy: easy}\n",
    MACHINE "queues:\n  easy: {priority: 1000000000000}\n"};

static const struct {
    int64_t priority[QUEUES];
    const char *all; /* the policy of this queue */
} known[GOOD] = {{{0, 5, 2, 0}, "conservative"}, {{4, 0, 2, 0}, "easy"}};

static const char *text_of(const struct scene *c, int number)
{
    static char text[1000];
    bool shares = number < GOOD && c->seed % 2 > 0;
    snprintf(text, sizeof(text), "%s%s", shares ? SHARES : "", configs[number]);
    return text;
}

const char *admin_config(struct scene *c)
{
    for (int q = 0; q < QUEUES; q++)
        c->queue_priority[q] = known[c->config].priority[q];
    return text_of(c, c->config);
}

char *admin_shares(struct scene *c)
{
    bool before = scene_scarce(c, false);
    json_t *got = scene_ask(c, "GET", "/v1/shares", NULL, NULL, NULL);
    char *text = json_dumps(got, JSON_COMPACT);
    json_decref(got);
    scene_scarce(c, before);
    return text;
}

/* All that can be seen of jobs, queues and resources. */
static char *picture(struct scene *c)
{
    static const char *const paths[] = {"/v1/jobs", "/v1/queues", "/v1/resources", "/v1/blocks"};
    json_t *all = json_array();
    bool before = scene_scarce(c, false);
    for (int i = 0; i < 4; i++)
        json_array_append_new(all, scene_ask(c, "GET", paths[i], NULL, NULL, NULL));
    char *text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    scene_scarce(c, before);
    return text;
}

static void check_same(struct scene *c, const char *before, const char *what)
{
    char *after = picture(c);
    if (strcmp(before, after) != 0 || !server_check(c->w->server)) {
        fprintf(stderr, "before: %s\nafter:  %s\n", before, after);
        scene_fail(c, what, -1, -1);
    }
    free(after);
}

/* ---- Reloading ---- */

static void check_policy(struct scene *c)
{
    bool before = scene_scarce(c, false);
    json_t *got = scene_ask(c, "GET", "/v1/queues", NULL, NULL, NULL), *q;
    size_t i;
    json_array_foreach (json_object_get(got, "queues"), i, q) {
        int stopped = json_is_false(json_object_get(q, "started"));
        const char *name = json_string_value(json_object_get(q, "name"));
        int queue = told_queue(name);
        if (strcmp(name, scene_queues[queue]) != 0)
            continue;
        if (queue == ALL &&
            strcmp(json_string_value(json_object_get(q, "policy")), known[c->config].all) != 0)
            scene_fail(c, "another configuration is in force", c->config, -1);
        if (c->stopped[queue] >= 0 && c->stopped[queue] != stopped)
            scene_fail(c, "a queue was stopped and isn't, or the other way round", queue, -1);
        if (!c->failing)
            c->stopped[queue] = stopped;
    }
    json_decref(got);
    scene_scarce(c, before);
}

void admin_reload(struct scene *c)
{
    int status, to = (int)random_between(&c->r, 0, sizeof(configs) / sizeof(*configs) - 1);
    bool was_failing = c->failing, full = !c->failing && scene_chance(c, 4);
    char *before = picture(c);
    sim_server_configure(c->w, text_of(c, to));
    if (full) {
        sim_disk_limit(c->w->disk, sim_disk_size(c->w->disk));
        c->failing = true;
    }
    if (scene_chance(c, 2))
        scene_fail_memory(random_between(&c->r, 0, 400));
    json_decref(scene_ask(c, "POST", "/v1/server/reload", NULL, NULL, &status));
    if (status == 200 && to >= GOOD)
        scene_fail(c, "a wrong configuration is taken", to, -1);
    if (status != 200)
        check_same(c, before, "a configuration that was refused has changed something");
    c->reloads += status == 200;
    c->refused += status != 200;
    c->config = status == 200 ? to : c->config;
    c->disturbed = c->disturbed || status == 200;
    sim_server_configure(c->w, admin_config(c));
    check_policy(c);
    if (full) {
        sim_disk_limit(c->w->disk, -1);
        c->failing = was_failing;
    }
    free(before);
}

/* ---- Resources and queues ---- */

static void check_resources(struct scene *c)
{
    int down[NODES] = {0};
    bool before = scene_scarce(c, false);
    json_t *got = scene_ask(c, "GET", "/v1/resources", NULL, NULL, NULL), *entry;
    size_t i;
    json_array_foreach (json_object_get(got, "changed"), i, entry) {
        const char *name = json_string_value(json_object_get(entry, "resources"));
        int node = name ? atoi(name + strlen("node")) : -1;
        if (node < 0 || node >= NODES)
            scene_fail(c, "resources that nobody named were changed", node, -1);
        down[node] = strcmp(json_string_value(json_object_get(entry, "status")), "up") != 0;
    }
    for (int n = 0; n < NODES; n++) {
        if (c->node[n].down >= 0 && c->node[n].down != down[n])
            scene_fail(c, "resources were drained and aren't, or the other way round", n, -1);
        if (!c->failing)
            c->node[n].down = down[n];
    }
    json_decref(got);
    scene_scarce(c, before);
}

static void check_blocks(struct scene *c)
{
    int there[BLOCKS] = {0};
    bool before = scene_scarce(c, false);
    json_t *got = scene_ask(c, "GET", "/v1/blocks", NULL, NULL, NULL), *entry;
    size_t i;
    json_array_foreach (json_object_get(got, "blocks"), i, entry) {
        const char *name = json_string_value(json_object_get(entry, "name"));
        int block = name && name[0] == 'b' ? atoi(name + 1) : -1;
        if (block < 0 || block >= BLOCKS || there[block]++ > 0)
            scene_fail(c, "a block that nobody added, or twice", block, -1);
        if (!json_is_null(json_object_get(entry, "problem")))
            scene_fail(c, "a block is not in force", block, -1);
    }
    for (int b = 0; b < BLOCKS; b++) {
        if (c->blocked[b] >= 0 && c->blocked[b] != there[b])
            scene_fail(c, "a block was added and isn't there, or the other way round", b, -1);
        if (!c->failing)
            c->blocked[b] = there[b];
    }
    json_decref(got);
    scene_scarce(c, before);
}

void admin_check(struct scene *c)
{
    check_resources(c);
    check_blocks(c);
    check_policy(c);
}

/* Ask for a change of a state that is 0 or 1. */
static void change(struct scene *c, const char *path, const char *body, int *state, int to)
{
    int status;
    char *before = picture(c);
    if (scene_chance(c, 3))
        scene_fail_memory(random_between(&c->r, 0, 60));
    c->disturbed = true;
    laws_not_ready(c, -1);
    *state = *state == to ? to : -1;
    json_decref(scene_ask(c, "PATCH", path, NULL, body, &status));
    if (status == 200)
        *state = to;
    else if (status != 507)
        check_same(c, before, "a change that was refused was made");
    if (status != 200 && status != 503 && status != 507)
        scene_fail(c, "a change has a strange answer", status, -1);
    free(before);
}

static void set_node(struct scene *c, int node, int down)
{
    char body[80];
    snprintf(body, sizeof(body), "{\"resources\":\"node%d\",\"status\":\"%s\"}", node,
             !down                ? "up"
             : scene_chance(c, 2) ? "down"
                                  : "drained");
    change(c, "/v1/resources", body, &c->node[node].down, down);
}

static void set_queue(struct scene *c, int queue, int stopped)
{
    char path[40];
    snprintf(path, sizeof(path), "/v1/queues/%s", scene_queues[queue]);
    change(c, path, stopped ? "{\"started\":false}" : "{\"started\":true}", &c->stopped[queue],
           stopped);
}

/* Years ahead, so that it changes nothing for jobs: whether it is kept is what matters here. */
static void set_block(struct scene *c, int block, int there)
{
    char body[160], path[40];
    int status;
    char *before = picture(c);
    snprintf(path, sizeof(path), there ? "/v1/blocks" : "/v1/blocks/b%d", block);
    snprintf(body, sizeof(body),
             "{\"name\":\"b%d\",\"resources\":\"node%d\",\"start\":3900000000,\"duration\":60,"
             "\"for\":{\"users\":[\"ann\"],\"queues\":[\"easy\"]}}",
             block, block % NODES);
    if (scene_chance(c, 3))
        scene_fail_memory(random_between(&c->r, 0, 60));
    c->disturbed = true;
    json_decref(scene_ask(c, there ? "POST" : "DELETE", path, NULL, there ? body : NULL, &status));
    bool is_so = status == 200 || (status == (there ? 409 : 404) && c->blocked[block] != !there);
    if (!is_so && status != 503 && status != 507)
        scene_fail(c, "a block has a strange answer", block, status);
    if (status != 200 && status != 507)
        check_same(c, before, "a block that was refused has changed something");
    c->blocked[block] = is_so                                         ? there
                        : status == 507 && c->blocked[block] != there ? -1
                                                                      : c->blocked[block];
    free(before);
}

void admin_change(struct scene *c)
{
    if (scene_chance(c, 4))
        set_block(c, (int)random_between(&c->r, 0, BLOCKS - 1), scene_chance(c, 2));
    else if (scene_chance(c, 2))
        set_node(c, (int)random_between(&c->r, 0, NODES - 1), scene_chance(c, 3));
    else
        set_queue(c, (int)random_between(&c->r, 0, QUEUES - 1), scene_chance(c, 3));
}

void admin_restore(struct scene *c)
{
    for (int n = 0; n < NODES; n++)
        while (c->node[n].down != 0)
            set_node(c, n, 0);
    for (int q = 0; q < QUEUES; q++)
        while (c->stopped[q] != 0)
            set_queue(c, q, 0);
}

/* ---- Opening ---- */

void admin_open(struct scene *c)
{
    berth_error_t err = {""};
    int wrong = (int)random_between(&c->r, GOOD, sizeof(configs) / sizeof(*configs) - 1);
    if (scene_chance(c, 8) && wrong != 5) { /* 5 is right, of another machine */
        sim_server_configure(c->w, configs[wrong]);
        if (sim_server_open(c->w, &err) == 0 || !err.text[0])
            scene_fail(c, "the server starts with a wrong configuration, or says nothing", wrong,
                       -1);
    }
    sim_server_configure(c->w, admin_config(c));
    for (int tries = 0; sim_server_open(c->w, &err) < 0; tries++) {
        if (tries > 3) {
            fprintf(stderr, "%s\n", err.text);
            scene_fail(c, "the server doesn't start any more", -1, -1);
        }
        sim_disk_limit(c->w->disk, -1);
        sim_disk_crash(c->w->disk);
    }
}
