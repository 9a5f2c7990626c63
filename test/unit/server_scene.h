/* A server in a simulated world, and what tests ask of it: two nodes of four cores and two gpus, queues
 * batch and long.
 */
#ifndef TEST_UNIT_SERVER_SCENE_H
#define TEST_UNIT_SERVER_SCENE_H

#include "sim_server.h"

#define TRUE1 "{\"command\":[\"true\"]}"
#define ALL   "{\"command\":[\"true\"],\"nodes\":2}"

/* For cmocka: *state is the world. */
int open_world(void **state);
int open_world_of(void **state, const char *config); /* another machine and other queues */
int close_world(void **state);
void reopen(struct sim_server *w, bool crash);

/* As the owner, expecting a status. The answer of ask() is the caller's. */
json_t *ask(struct sim_server *w, const char *method, const char *path, const char *body,
            int expected);
static inline void tell(struct sim_server *w, const char *method, const char *path,
                        const char *body, int expected)
{
    json_decref(ask(w, method, path, body, expected));
}

int64_t submit(struct sim_server *w, const char *body);
json_t *show(struct sim_server *w, int64_t id);

/* As another; the status. */
int asked_by(struct sim_server *w, unsigned uid, const char *method, const char *path,
             const char *body);

void expect_refused(struct sim_server *w, const char *body, const char *message);
void expect_text(struct sim_server *w, int64_t id, const char *key, const char *value);
void expect_state(struct sim_server *w, int64_t id, const char *state);

/* The engine starts all that it was asked to; a run of it ends. */
void start_all(struct sim_server *w);
static inline void end(struct sim_server *w, int64_t id, int status)
{
    sim_engine_ended(w->engine, sim_engine_find(w->engine, id, -1), status, 0);
    sim_server_turn(w, NULL);
}

/* A request that is on its way. */
struct asked {
    struct server_reply reply;
    bool is_there;
};

void ask_begin(struct sim_server *w, unsigned uid, const char *method, const char *path,
               const char *body, struct asked *a);

/* One turn, and no more. Those of the requests that are answered with it are there. */
int ask_turn(struct sim_server *w, struct asked **asked, size_t n);
void ask_forget(struct asked *a);

#endif
