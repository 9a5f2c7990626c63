/* What the files of berth-run share. */
#ifndef ENGINE_SLURM_RUN_H
#define ENGINE_SLURM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "engine/local/messages.h"

struct node_run {
    int runs; /* the folder's folder */
    uint64_t key;
    const char *node, *first;
    char *folder; /* of the keeper, on this node */
    struct engine *engine;
    struct strbuf message;
    struct message_run request;
    char **env, **tasks_env; /* of the run and of all tasks */
    struct engine_task *tasks;
    int signals;
    size_t n_signals; /* bytes of the file of signals that have been passed on */
    bool over, told_to_end;
    int status;
};

/* The environment of its tasks: that of the request, but for what Slurm knows better, and what the GPUs of each task are called
 * here (run_env.c). 0, or -1: memory is short.
 */
int run_make_env(struct node_run *r);
int run_make_tasks(struct node_run *r);

#endif
