/* A server in a world of its own: clocks that a test moves, a disk in memory, an engine without processes. */
#ifndef TEST_SIM_SERVER_H
#define TEST_SIM_SERVER_H

#include <jansson.h>

#include "server/server.h"
#include "sim_disk.h"
#include "sim_engine.h"

#define SIM_OWNER  1000 /* the users: the owner of a private server, and others */
#define SIM_ANN    1001
#define SIM_BOB    1002
#define SIM_SECOND INT64_C(1000000)

struct sim_server {
    struct server_platform world;
    struct server_options options;
    struct sim_disk *disk;
    struct sim_engine *engine;
    server_t *server; /* NULL: it is down */
    int64_t steady, wall, due;
    int boot;
    char boot_text[32], config[64], vfs[32];
    struct server_user user;
    bool cpus;     /* cores k are the CPUs k and k + 64 */
    size_t failed; /* turns that failed */
};

/* A world with an empty disk, and the text of a configuration, which is written to a file; the server isn't
 * open yet.
 */
struct sim_server *sim_server_create(const char *config, uint64_t seed);
void sim_server_destroy(struct sim_server *w);

/* To be called before and after the server is given something to do; NULL: nothing. */
extern void (*sim_server_begins)(void);
extern void (*sim_server_ends)(void);

/* 0, or -1 with a text. */
int sim_server_open(struct sim_server *w, berth_error_t *err);
void sim_server_close(struct sim_server *w);
void sim_server_crash(
    struct sim_server *w); /* power goes, the machine's too if reboot; files as they were synced */
void sim_server_configure(struct sim_server *w, const char *config);

/* Turns until there is nothing to do now. Returns what the last one returned. */
int sim_server_turn(struct sim_server *w, berth_error_t *err);

/* Let time go by: turns whenever one is due. */
void sim_server_wait(struct sim_server *w, int64_t us);

/* A request of a user's, and what it is answered after its turn; the status goes to *status. Query, body
 * and status may be NULL. A reference to JSON, or a string for what is none; NULL: nothing.
 */
json_t *sim_server_ask(struct sim_server *w, unsigned uid, const char *method, const char *path,
                       const char *query, const char *body, int *status);

/* The same as the text that it is, which is the caller's to clear; the status. */
int sim_server_ask_text(struct sim_server *w, unsigned uid, const char *method, const char *path,
                        const char *query, const char *body, struct strbuf *text);

#endif
