/* One task of a step, and what the job has that tasks may get. */
#ifndef CLI_STEP_TASK_H
#define CLI_STEP_TASK_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"

/* The cores and GPUs of a job, or of a task that starts a step, as its environment tells. */
struct step_room {
    size_t n_cores, n_gpus;
    uint32_t *cpu; /* the system's CPUs, those of a core beside each other; NULL: none is bound */
    size_t n_cpus;
    char **gpu; /* as in CUDA_VISIBLE_DEVICES */
};

int step_room_read(struct step_room *room, berth_error_t *err);
void step_room_clear(struct step_room *room);

struct step_task {
    const json_t *job; /* the request: command, directory, environment */
    const struct step_room *room;
    size_t index, tasks, number; /* which task of how many, of which step */
    const size_t *core, *gpu;    /* places in the room */
    size_t n_cores, n_gpus;      /* no GPUs: all that the job has */
    const int *files;            /* three; -1: that of this process */
};

/* Become the command. Ends the process with 127 or 126 and a line if that fails. */
void step_task_become(const struct step_task *t) __attribute__((noreturn));

#endif
