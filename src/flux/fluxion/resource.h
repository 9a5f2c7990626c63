/* sched-fluxion-resource: it has the machine, answers `flux ion-resource`, and, while sched-fluxion-qmanager is loaded,
 * has the queues and schedules. The other two are clients of it:
 *
 *  notify   a stream: the resources, then what becomes of them (sched-fluxion-feasibility)
 *  queues   a stream: a scheduler is wanted as a configuration says, for as long as the client lives; lines for
 *           its log come back (sched-fluxion-qmanager). When the word comes to serve, it takes the service `sched`, whose
 *           requests it hands on, and says `serve`
 *
 * So one module sees the jobs of the queues and those that are matched by hand. Time is counted in seconds, as Fluxion's R is.
 */
#ifndef FLUX_FLUXION_RESOURCE_H
#define FLUX_FLUXION_RESOURCE_H

#include <time.h>

#include "flux/fluxion/options.h"
#include "flux/module.h"

/* A job that was matched by hand. */
struct hand_job {
    struct dict_entry entry; /* its text is `id` */
    int64_t id, at;
    double overhead;
    bool is_reserved;
};

/* What matches have cost. */
struct match_costs {
    uint64_t n, since_reset;
    double min, max, mean, squares; /* seconds; since the reset */
    int64_t max_job;
    uint64_t max_tries;
};

struct resource_module {
    struct module m;
    struct resource_options options;
    json_t *r;             /* as acquired; NULL: the machine is that of a file */
    struct idset up, gone; /* ranks: those that are up, and those that the machine had */

    struct dict by_hand;

    const flux_msg_t **watching; /* notify streams */
    size_t n_watching, cap_watching;
    bool is_ending;
    const flux_msg_t *queues; /* the qmanager's stream; NULL: there is none */
    json_t *params;           /* of the queues */

    struct match_costs matched, failed;
    double started, reset, load_time;
};

#define OF_MODULE(m) ((struct resource_module *)(m)) /* it is the first member */

/* Numbers of jobs matched by hand, in the matcher, which numbers those of queues from 0. */
#define HAND_JOBS (INT64_MAX / 2)

/* Seconds since some time, by the clock that nobody sets. */
static inline double steady_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- hand.c: match, update, cancel, info ---- */

extern const struct flux_msg_handler_spec hand_handlers[];
void hand_clear(struct resource_module *rm);

/* ---- look.c: find, status, stats, params ---- */

extern const struct flux_msg_handler_spec look_handlers[];
void look_count(struct match_costs *costs, double seconds, int64_t job, uint64_t tries);

/* ---- change.c: status, properties, subgraphs ---- */

extern const struct flux_msg_handler_spec change_handlers[];

/* ---- queues.c: notify and queues ---- */

extern const struct flux_msg_handler_spec queue_handlers[];

/* Tell all streams that it is over, and wait until those who had them are gone, a second or so: whoever loads all again
 * finds their names free.
 */
void queues_end(struct resource_module *rm, int error);

/* What has become of the machine, also told to all streams. */
void queues_changed(struct resource_module *rm, const char *up, const char *down, const char *gone,
                    double expiration);

/* A line for the log of the qmanager. */
void queues_log(struct resource_module *rm, const char *text);

/* What happens to the machine besides jobs wakes those that wait. */
void queues_wake(struct resource_module *rm);

/* ---- notes.c ---- */

extern const struct module_notes fluxion_notes;

#endif
