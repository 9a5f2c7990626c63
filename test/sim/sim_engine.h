/* An engine without processes: runs that start, end, fail and get lost as a test says or a seed decides. It
 * lives on when a server goes, as a keeper does, and says again what has not been acknowledged.
 */
#ifndef TEST_SIM_ENGINE_H
#define TEST_SIM_ENGINE_H

#include "engine/engine.h"

enum sim_run_state { SIM_ASKED, SIM_RUNS, SIM_OVER };

struct sim_run {
    uint64_t key;
    enum sim_run_state state;
    int64_t job, member; /* of its environment; member -1 */
    int64_t attempt;
    int64_t ends; /* when it ends by itself, in the test's time; -1: never */
    int exit_status;
    bool stubborn;                    /* it takes no notice of SIGTERM */
    bool stuck;                       /* SIGKILL does not end it, as yet */
    int last_signal;                  /* that was sent to it */
    uint64_t end_number;              /* of the event of its end */
    bool forgotten;                   /* the engine's records of it are gone */
    char *argv, *cpus, *env, *output; /* joined by blanks, for tests to look at */
    char *task_env;
    size_t n_tasks;
    int64_t processes;
};

struct sim_engine {
    struct engine engine;
    struct sim_run *runs; /* all that there ever were */
    size_t n, cap;
    struct engine_event *events; /* not acknowledged, ascending */
    size_t n_events, cap_events, said;
    uint64_t number, acknowledged;
    int64_t wall; /* what events say; to be set */
    uint64_t *keys;
    bool full;       /* it can start nothing: what is asked for is refused */
    bool silent;     /* it can't tell what runs, nor what happened: its keeper does not answer */
    size_t twice;    /* keys that were asked for again */
    size_t lingered; /* times that a run was told to end and did not at once */
    void (*asked)(
        void *context,
        size_t run); /* to be called when a run was asked for, also in vain; NULL: nothing */
    void *context;
};

/* To be called before it works for a server; NULL: nothing. */
extern void (*sim_engine_begins)(void);

struct sim_engine *sim_engine_create(void);
void sim_engine_destroy(struct sim_engine *e);

/* A server has gone: another will be told all that isn't acknowledged. */
void sim_engine_again(struct sim_engine *e);

/* The machine lost power, and the engine's records, which are not synced, with it: it knows of nothing any
 * more.
 */
void sim_engine_forget(struct sim_engine *e);

/* The run that was asked for last was not. */
void sim_engine_unask(struct sim_engine *e);

struct sim_run *sim_engine_find(struct sim_engine *e, int64_t job, int64_t member); /* the last */

/* What happens to a run. */
void sim_engine_started(struct sim_engine *e, struct sim_run *r);
void sim_engine_ended(struct sim_engine *e, struct sim_run *r, int status, int signal);
void sim_engine_failed(struct sim_engine *e, struct sim_run *r);
void sim_engine_lost(struct sim_engine *e, struct sim_run *r);
void sim_engine_refused(struct sim_engine *e, struct sim_run *r);

#endif
