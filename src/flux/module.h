/* sched-berth, the core as the scheduler of a Flux instance (RFC 27, RFC 28).
 *
 * The module is a shell: messages become calls of berth/sched.h, and the decisions of a pass become messages. It has no
 * rule of its own. Several may be loaded in one process, each in a thread of its own, so there is no state but struct
 * module.
 *
 * Time is counted in ticks, in sched-berth of a microsecond. All messages that are there at once happen at one time,
 * `now`, and one pass follows them at that time; no two passes have the same. Where a pass was due before they came,
 * it is made first and at the time at which it was due. So a simulation of the same events has the same passes
 * (record.c).
 */
#ifndef FLUX_MODULE_H
#define FLUX_MODULE_H

#include <flux/core.h>
#include <flux/schedutil.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/idset.h"
#include "berth/match.h"
#include "berth/sched_config.h"
#include "config/config.h"
#include "flux/jobs.h"

struct module;

/* Where the machine comes from, if not from the module `resource` as it is. All NULL: it does. */
struct module_source {
    const char *file, *format,
        *allow;    /* a file in a format of config_graph_read, and the types that are taken */
    bool plain;    /* of R the ranks alone count, whatever graph it has */
    bool or_plain; /* they do where that graph can't be used, which is told in the log */
};

/* How Flux is told what is decided. Each is -1 with errno where that could not be sent. */
struct module_notes {
    int (*started)(struct module *m, const struct flux_job *job, const struct sched_decision *d,
                   const char *r);
    int (*reserved)(struct module *m, const struct flux_job *job, const struct sched_decision *d);
    int (*waits)(struct module *m, const struct flux_job *job, const char *reason);
    void (*denied)(const struct sched_reason *reason, char *note, size_t size);

    /* A job that had resources when the module was loaded is booked. */
    void (*restored)(struct module *m, uint64_t id, const char *queue);

    /* What became of the machine has been done here, and is told to others. */
    void (*changed)(struct module *m, const char *up, const char *down, const char *gone,
                    double expiration);
};
extern const struct module_notes module_notes;

struct module {
    flux_t *h;
    const struct module_notes *notes;
    schedutil_t *util; /* NULL, as `sched`: no queues are there (flux/fluxion) */
    struct config *config;
    match_options_t match;
    const char *match_format; /* of R that jobs get */
    const char *mode; /* how many requests the job manager sends at once, in libschedutil's words */
    const char *no_queue; /* the queue of jobs that name none; NULL: as the configuration says */
    struct module_source source;
    match_t *machine;
    sched_t *sched;
    struct flux_jobs jobs;
    struct flux_users *users;

    struct idset ranks; /* that the machine has */
    int64_t expiration; /* when the instance ends; INT64_MAX: nobody knows */
    flux_future_t *acquire, *confirming;

    int64_t second; /* ticks in one */
    int64_t now;
    bool is_passed;   /* the pass at `now` has been made: the next event is at a later time */
    bool is_due;      /* a pass is wanted as soon as no message is there */
    uint32_t put_off; /* messages that have come before it since */
    flux_watcher_t *prepare, *check, *idle, *timer;
    flux_msg_handler_t **handlers;

    flux_watcher_t *usage; /* when what shares have used is written */

    struct recording *record; /* NULL: nothing is recorded */
    uint64_t passes;
};

/* ---- clock.c: when passes are made ---- */

/* Time begins. */
void module_start_clock(struct module *m);

/* What the clock says, never less than m->now: for words, not for the scheduler. */
int64_t module_clock(const struct module *m);

/* Begin an event: passes that were due before are made, and m->now is its time. */
void module_event(struct module *m);

int module_watch(struct module *m);
void module_unwatch(struct module *m);

/* ---- machine.c: resources ---- */

/* Ask for the resources, and make the machine of them. *r are those and *up what is up of them, valid until the reactor
 * runs. Returns 0, or -1 with errno, told in the log.
 */
int module_acquire(struct module *m, const json_t **r, const char **up);

/* Be told from now on what becomes of them. */
int module_follow(struct module *m);

/* What is read of R as the machine, its graph or its ranks: a text to free, and its format in *format. NULL with ENOMEM. */
char *module_machine_text(const struct module_source *source, const json_t *r, const char **format);

/* A graph of R, or of what m->source says. NULL with errno and a text. */
resource_graph_t *module_graph(const struct module_source *source, const json_t *r,
                               berth_error_t *err);

/* ---- requests.c, hello.c: what the job manager asks ---- */

extern const struct schedutil_ops module_ops;

int module_hello(flux_t *h, const flux_msg_t *msg, const char *r, void *arg);

/* Ask once more which jobs have resources, when the job manager knows that the module is ready: the word of a job that ends
 * between its answer to the first question and then is sent to nobody. What was booked and is no more is free. Returns 0,
 * or -1 with errno.
 */
int module_confirm(struct module *m);

/* Submit a job of a user's that is not Flux's, to look at and to withdraw. Returns its handle, or -1 with errno. */
sched_job_t module_try(struct module *m, json_t *jobspec, uint32_t user);

/* A job has given all its resources back, or those of some ranks. */
void module_finish(struct module *m, struct flux_job *job);
void module_free_ranks(struct module *m, const struct flux_job *job, const char *ranks);

void module_expiration(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);

/* Jobs without a duration last as long as the instance, whose end has changed. */
void module_new_end(struct module *m);

/* When a job that starts at a time has to be over, by its limit and the end of the instance. */
int64_t module_end_of(const struct module *m, int64_t at, int64_t limit);

/* ---- usage.c: what shares have used, beyond the module's life ---- */

/* Read it, before jobs come. True if there was any: it holds after sched_restore_passed, behind the jobs. */
bool module_load_usage(struct module *m);

/* Write it now and then; and for the last time. */
int module_watch_usage(struct module *m);
void module_save_usage(struct module *m);

/* ---- decide.c: what a pass decides ---- */

/* Carry out what has been decided. */
void module_decided(struct module *m, const struct sched_decision *d, size_t n);

/* ---- answers.c: questions ---- */

void module_feasible(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);
void module_resource_status(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);
void module_stats(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);

/* R of what an expression (berth/match.h) finds, without times; null if that is nothing. NULL with errno. */
json_t *module_find(struct module *m, const char *criteria);

/* ---- look.c: what users ask, as `flux berth` shows it ---- */

void module_explain(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);
void module_queues(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);
void module_shares(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);
void module_what_if(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);

/* ---- record.c: what happens, as a scenario (berth-scenario(5)) that can be played again ---- */

/* Record into a directory, which is there: the configuration and the machine, then events and decisions. Returns 0, or
 * -1 with errno. Without record_open the other calls do nothing.
 */
struct recording *record_open(const char *directory);
void record_close(struct recording *record);

/* The machine, and the configuration that the module begins with. */
void record_machine(struct module *m, const json_t *r, const char *up);
void record_config(struct module *m, const json_t *conf);
void record_submit(struct module *m, const struct sched_request *request, const json_t *jobspec);
void record_job(struct module *m, const char *what, uint64_t id);
void record_number(struct module *m, const char *what, uint64_t id, int64_t number);
void record_limit(struct module *m, uint64_t id, int64_t limit);
void record_text(struct module *m, const char *what, const char *text);
void record_decision(struct module *m, const struct sched_decision *d);

#endif
