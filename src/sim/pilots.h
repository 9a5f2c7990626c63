/* Pilots in virtual time: by the plan that the server goes by (pilot/plan.h), with a queue wait that the configuration
 * says.
 *
 * All nodes that may come are in the machine from the beginning, down: "pilot0", "pilot1", ... When a pilot comes, the
 * first that are free are up until its end, or until it is idle. At the end of each instant a plan is made of what waits;
 * one pilot at most is asked for at a look, and looks for more are SIM_PILOTS_LOOK apart.
 *
 * Two shells use it, the replay and the player. Jobs are the shell's numbers. Calls return 0, or -1 with errno.
 */
#ifndef SIM_PILOTS_H
#define SIM_PILOTS_H

#include <jansson.h>

#include "berth/match.h"
#include "berth/sched.h"
#include "config/config.h"
#include "pilot/plan.h"
#include "report/schedule.h"
#include "sim/decisions.h"

#define SIM_PILOTS_LOOK 2 /* s */

struct sim_pilots;

/* What a shell does. The first argument is its own. */
struct sim_pilots_shell {
    /* Name the jobs that wait, in the order of submission (sim_pilots_want). */
    int (*waiting)(void *shell, struct sim_pilots *p);

    /* The nodes on which a running job is are taken away: it ends now. */
    int (*lost)(void *shell, uint32_t job, const char *reason);

    /* Told of each change of the machine, as a scenario's event, which is then the shell's; or NULL. */
    int (*changed)(void *shell, json_t *event);
};

struct sim_pilots_options {
    const struct config *config; /* whose rule says how many nodes there may be and what one has */
    const match_t *machine;
    sched_t *sched;
    int64_t second; /* ticks in one */
    const struct sim_pilots_shell *shell;
    void *arg;
    struct decisions *decisions; /* or NULL */
};

/* What a job asks for: of one member, or the most of each kind of those of several roles. All zeroes at first. */
struct sim_shape {
    int64_t nodes, pieces;       /* pieces: on whatever nodes; 0: on `nodes` */
    int64_t amount[PILOT_KINDS]; /* of a node, or of a piece */
    bool elsewhere;
};
int sim_shape_add(struct sim_shape *to, const struct sim_pilots *p, const char *jobspec,
                  size_t length);

/* Put the nodes into the machine. NULL with a text, EINVAL: it is not said what a node has. */
struct sim_pilots *sim_pilots_create(const struct sim_pilots_options *options, berth_error_t *err);
void sim_pilots_destroy(struct sim_pilots *p);

/* When something happens next; INT64_MAX: nothing does. And that it happens, whose time has come. */
int64_t sim_pilots_next(const struct sim_pilots *p);
int sim_pilots_event(struct sim_pilots *p, int64_t now);

/* The instant is over: look what is to be asked for and given back. */
int sim_pilots_look(struct sim_pilots *p, int64_t now);

/* Whether a job waits for room, not for others, a limit or a time. */
bool sim_pilots_waits(sched_t *s, sched_job_t handle);

/* Jobs of a shape that wait for room: so many, of which `together` start together. `limit`: ticks, SCHED_UNLIMITED;
 * they are expected to take `takes`.
 */
int sim_pilots_want(struct sim_pilots *p, uint32_t job, const struct sim_shape *shape,
                    int64_t members, int64_t together, int64_t limit, int64_t takes);

/* A job has started, and is expected to run until a time; it has ended, or waits again. */
int sim_pilots_started(struct sim_pilots *p, uint32_t job, sched_job_t handle, int64_t now,
                       int64_t until);
void sim_pilots_stopped(struct sim_pilots *p, uint32_t job, int64_t now);

/* Why a job waits, as far as pilots are concerned, in brief. False: nothing is known. */
bool sim_pilots_reason(const struct sim_pilots *p, uint32_t job, char text[SCHED_REASON_TEXT]);

/* What has come of it by now. */
struct schedule_pilots sim_pilots_sum(const struct sim_pilots *p, int64_t now);

/* The state, but for nodes that are up; and to take it up, before the jobs are restored, which sim_pilots_started tells of
 * then. NULL with ENOMEM; -1 with EINVAL: it is none.
 */
json_t *sim_pilots_save(const struct sim_pilots *p);
int sim_pilots_load(struct sim_pilots *p, int64_t now, const json_t *state);

#endif
