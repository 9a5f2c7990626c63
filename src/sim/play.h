/* The player of scenarios: a scheduler with named queues in virtual time, ticks of a microsecond. The jobs of
 * a trace may be submitted besides, so that a day of production is played with what happened to its machine.
 *
 * At each instant, jobs end in the order of their starts; then the trace's jobs are submitted; then the
 * scenario's events happen in the order of the file; then there is one pass; then expectations are checked.
 * Preempted jobs end at once, and another pass follows at the same instant. The same happens if a job ends
 * at the instant of its start.
 */
#ifndef SIM_PLAY_H
#define SIM_PLAY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "berth/match.h"
#include "config/config.h"
#include "report/schedule.h"
#include "report/sharing.h"
#include "sim/decisions.h"
#include "sim/driver.h"
#include "sim/scenario.h"
#include "sim/trace.h"

struct play_options {
    const struct config *config; /* read with ticks of a microsecond */
    match_t *machine;            /* nothing of it is held */
    const char *folder;          /* of files that events name; NULL: the current one */
    const struct trace *trace;   /* jobs that are submitted, mapped as configured; NULL: none */
    struct decisions *decisions; /* NULL: they are not written */
    struct sharing *sharing;     /* to which is added what shares come to; NULL: never mind */
    bool keeps_runs;             /* for play_runs */
    /* Called for each expectation that is not met, and each job that can't be restored; or NULL. */
    void (*unmet)(void *arg, const char *text);
    void *unmet_arg;
};

struct play;

/* The options point to objects of the caller's, which must outlive the player. NULL with EINVAL or ENOMEM and
 * a text.
 */
struct play *play_create(const struct play_options *options, berth_error_t *err);
void play_destroy(struct play *p);

/* Play on with the scenario's events; NULL: none. Returns 0, or -1 with errno and a text. */
int play_run(struct play *p, struct scenario *scenario, enum driver_end end, int64_t until,
             berth_error_t *err);

/* The time up to which it was played. */
int64_t play_now(const struct play *p);

/* How many expectations were not met; how many passes there were. */
uint64_t play_unmet(const struct play *p);
uint64_t play_passes(const struct play *p);

/* How often a job was stopped for another, and the cores * seconds that those had run; neither is of a state. */
uint64_t play_preemptions(const struct play *p, double *lost_s);

/* Jobs in the order of submission, each member of an array on its own. */
size_t play_jobs(const struct play *p);

struct play_row {
    const char *name; /* "a" or "a[0]" */
    const char *queue, *user;
    const char *state;
    bool waits;
    bool expected;              /* it holds a reservation whose start is only expected */
    int64_t submit, start, end; /* -1: not yet */
    const char *how;            /* "": it hasn't started */
    const char *resources;      /* "": it has none yet */
    const char *reason;         /* why it waits, was rejected, or failed; "" */
};

/* A job as it is now; strings are valid until the next call. Returns 0, or -1 with ENOMEM. */
int play_row(struct play *p, size_t job, struct play_row *row);

/* A run of a job that was stopped, and waited again from then on. */
struct play_run {
    size_t job;
    int64_t start, end; /* ticks */
    const char *resources;
};

/* Those since play_create or play_load, in the order of their ends; none without `keeps_runs`. They are valid until the next
 * call. Returns their number.
 */
size_t play_runs(const struct play *p, const struct play_run **runs);

/* What has come of pilots by now; false: the configuration has none. */
bool play_pilots_sum(const struct play *p, struct schedule_pilots *sum);

/* Save the whole state as JSON (berth-scenario(5)), and make a player from it. The options are those of
 * play_create, with the machine and the configuration as they were at first. NULL with errno and a text,
 * which begins with `name`.
 */
json_t *play_save(struct play *p, berth_error_t *err);
struct play *play_load(const struct play_options *options, json_t *state, const char *name,
                       berth_error_t *err);

#endif
