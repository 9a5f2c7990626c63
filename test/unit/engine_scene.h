/* An engine `local` in a folder of its own, with a real keeper and real processes, for tests. */
#ifndef ENGINE_SCENE_H
#define ENGINE_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/engine.h"

#define SCENE_TIMEOUT 60000 /* ms, for what comes at once unless something is wrong */
#define SCENE_EVENTS  4096

struct scene {
    char folder[64]; /* of all */
    char keeper[80]; /* the engine's, in it */
    char output[80];
    const char *cgroup;
    struct engine *e;
    uint64_t key; /* the last one used */
    struct engine_event heard[SCENE_EVENTS];
    char texts[SCENE_EVENTS][256];
    size_t n_heard;
};

/* A folder, and an engine in it. */
struct scene *scene_make(void);
void scene_open(struct scene *s);

/* Wait until a keeper has said what there is. */
void scene_meet(struct scene *s);

/* All that was heard is acknowledged, the keeper comes to its end and the folder is removed. */
void scene_end(struct scene *s);

/* Start a shell's command, or a run that the test has filled in but for its key. Returns the key. */
uint64_t scene_shell(struct scene *s, const char *command);
uint64_t scene_start(struct scene *s, struct engine_run *run);

/* A run of this command with the scene's folder and output; argv ends with NULL. */
struct engine_run scene_run(const struct scene *s, const char *const *argv);

/* Wait until an event has been heard, which is given back. */
const struct engine_event *scene_wait(struct scene *s, uint64_t key, enum engine_what what);

/* The event if it has been heard, or NULL. */
const struct engine_event *scene_heard(const struct scene *s, uint64_t key, enum engine_what what);

/* Take what has come, after waiting for it so many ms. */
void scene_take(struct scene *s, int timeout);

void scene_acknowledge(struct scene *s);

/* What is in a file of the folder: valid until the next call. */
const char *scene_text(const struct scene *s, const char *name);

/* Make a fifo, and wait until a line is written to it. The text is valid until the next call. */
int scene_fifo(const struct scene *s, const char *name);
const char *scene_line(int fifo);

/* The keeper of the folder; 0: there is none. */
pid_t scene_keeper(const struct scene *s);

/* Kill it, also one that is just being started. */
void scene_kill_keeper(struct scene *s);

/* Another server in its place. */
void scene_forget(struct scene *s);

/* Whether the engine tells of a run. */
bool scene_knows(const struct scene *s, uint64_t key);

/* Wait until a process has ended. */
void scene_wait_for_end(pid_t pid);

/* Run tests, and if this is root, once more as an ordinary user. */
#define SCENE_RUN(tests) scene_run_both(#tests, tests, sizeof(tests) / sizeof((tests)[0]))
struct CMUnitTest;
int scene_run_both(const char *name, const struct CMUnitTest *tests, size_t n);

#endif
