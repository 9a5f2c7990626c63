/* Which cores and GPUs of a job its steps have: steps that run side by side get different ones.
 *
 * There is a file for each run of a job, and a byte of it for each core and GPU. A step locks the bytes of what it has, so
 * that all of it is free again when its process ends, however it ends.
 */
#ifndef CLI_STEP_CLAIM_H
#define CLI_STEP_CLAIM_H

#include <limits.h>
#include <stddef.h>

#include "berth/error.h"

struct claim {
    int fd; /* -1: none */
    char path[PATH_MAX];
};

/* A step's number is the least that no other step has at the time. */
enum claim_kind { CLAIM_CORES, CLAIM_GPUS, CLAIM_NUMBERS };

/* Open the file of a run. 0, or -1 with errno and a text. */
int claim_open(struct claim *c, const char *run, berth_error_t *err);

/* Lock `want` of `total`, waiting until so many are free, and tell which: chosen has room for them. 0, or -1 with errno and a
 * text.
 */
int claim_take(const struct claim *c, enum claim_kind kind, size_t total, size_t want,
               size_t *chosen, berth_error_t *err);

/* Let go of all, and remove the file if no other step has it. */
void claim_close(struct claim *c);

#endif
