/* A start being put together: start.c reads what was submitted and what is held, start_env.c makes the environment,
 * start_places.c says what each task and each machine has.
 */
#ifndef SERVER_CORE_START_PRIV_H
#define SERVER_CORE_START_PRIV_H

#include "base/arena.h"
#include "base/json_scan.h"
#include "server/core/run_hosts.h"
#include "server/core/state.h"

/* What a start needs of the stored request; points into the store's text. */
struct launch {
    struct json_part shown, tasks, task_cores, task_gpus, umask, memory_limit, append, input;
    struct json_part nodes_least; /* of a range of them */
    struct json_part batch, slurm, attach, attach_as, account;
    struct json_part command, directory, output, error; /* in `shown`, */
    struct json_part gang_index, gang_count;            /* as these */
    bool is_own; /* the command is its role's, and no script runs */
};

/* A start being put together. */
struct starting {
    server_t *s;
    struct run *run;
    struct job *job;
    struct member *m;
    struct user *user;
    const struct job_role *role; /* NULL: it has none */
    struct arena arena;
    struct launch asked;
    struct run_hosts hosts;
    const char *nodes, *first_node, *r;
    size_t n_nodes;
    uint64_t first_rank; /* of its tasks among those of its gang */
    const char **env;
    size_t n_env, cap_env;
    berth_error_t *err;
};

/* -1 with ENOMEM and a text. */
int start_no_memory(struct starting *b);

/* Concatenate two texts, or a text and a number, in the arena. NULL with ENOMEM, or if the first is NULL. */
char *start_join(struct starting *b, const char *first, const char *second);
char *start_join_number(struct starting *b, const char *first, uint64_t number);

/* Bytes on all of its nodes together; 0: none */
int64_t start_memory_limit(const struct starting *b);

/* The environment with which it was submitted, over what every job has. 0, or -1 with a text, as the next ones. */
int start_env_submitted(struct starting *b, const char *environment);

/* What says to the job what it has, with so many tasks, of which as many are started as `processes` says. */
int start_env_of_job(struct starting *b, size_t tasks, size_t processes);

/* Set the tasks of a run, each with its part of what is held where it is. */
int start_tasks(struct starting *b, struct engine_run *to);

/* Set where it runs: the machines on which it has tasks. */
int start_places(struct starting *b, struct engine_run *to);

#endif
