/* The parts of a state of a player: the jobs, and what the core knows of those that wait or run. */
#ifndef SIM_SNAPSHOT_PARTS_H
#define SIM_SNAPSHOT_PARTS_H

#include "config/keys.h"
#include "config/seconds.h"
#include "sim/play_priv.h"

/* The largest number: times, and sums of a few of them. */
#define SNAPSHOT_NUMBER_MAX (4 * SECONDS_MAX * SECONDS_TICKS)

#define SNAPSHOT_NUMBER(into, field, ...)                                                          \
    KEY_OF(into, field, KEY_WHOLE, .min = -SNAPSHOT_NUMBER_MAX, .max = SNAPSHOT_NUMBER_MAX,        \
           __VA_ARGS__)

/* The words for enum sched_how; NULL ends them. */
extern const char *const snapshot_how[];

/* Put a value into an object unless it is empty, or the usual one, or false. A failure sets *rc to -1. */
void snapshot_put_string(json_t *object, const char *key, const char *text, int *rc);
void snapshot_put_integer(json_t *object, const char *key, int64_t number, int64_t usual, int *rc);
void snapshot_put_true(json_t *object, const char *key, bool value, int *rc);

/* Read the i-th object of the array `name`. Returns 0, or -1 with a text, as what loads. */
int snapshot_read_element(const json_t *array, const char *name, size_t i, const struct key *keys,
                          size_t n_keys, const struct key_place *place, void *into,
                          berth_error_t *err);

/* What the player knows of a job; NULL with ENOMEM. And all jobs of a state. */
json_t *snapshot_save_job(const struct play *p, size_t job);
int snapshot_load_jobs(struct play *p, const json_t *jobs, const struct key_place *place,
                       berth_error_t *err);

/* What the core knows of a job that waits or runs; NULL with ENOMEM. And all of these, behind the jobs. */
json_t *snapshot_save_core(const struct play *p, sched_job_t handle);
int snapshot_load_core(struct play *p, const json_t *core, const struct key_place *place,
                       berth_error_t *err);

#endif
