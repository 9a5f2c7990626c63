/* Inside the player of scenarios.
 *
 * A job is known by a number, its place in `jobs`; the members of an array have numbers in a row. A
 * submission has the number of its name in `ids`, which is also its jobs' tag. Of an array of gangs, each gang is a
 * submission, and these follow each other.
 */
#ifndef SIM_PLAY_PRIV_H
#define SIM_PLAY_PRIV_H

#include "base/array.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "berth/sched.h"
#include "config/seconds.h"
#include "sim/pilots.h"
#include "sim/play.h"
#include "sim/queues.h"
#include "sim/share_notes.h"

enum play_state {
    PLAY_WAITING, /* the core knows more */
    PLAY_RUNNING,
    PLAY_DONE, /* these have ended */
    PLAY_FAILED,
    PLAY_CANCELLED,
    PLAY_REJECTED,
    PLAY_PREEMPTED
};

/* What becomes of a job when it has stopped that was told to. */
enum play_stop {
    PLAY_STOP_NONE,    /* it was not */
    PLAY_STOP_END,     /* preempted: it has ended */
    PLAY_STOP_REQUEUE, /* preempted: it waits again */
    PLAY_STOP_FAIL,    /* for a block or as its gang has failed: it has failed, `reason` */
    PLAY_STOP_CANCEL   /* it is cancelled */
};

struct play_job {
    sched_job_t
        handle; /* its own; -1: it is known by its name, and waits under its array's handle perhaps */
    uint32_t submission;
    uint32_t member; /* its index in its array or gang */
    enum play_state state;
    enum sched_how how;
    bool started; /* at least once, so that `how` and `resources` are set */
    bool starts;  /* in the pass whose decisions are being carried out */
    bool held;
    int64_t submit;
    bool expected;      /* of a reservation, as reported last: it is no promise */
    int64_t promised;   /* the start of its reservation, as reported last; -1: it holds none */
    int64_t start, end; /* -1: not yet; the end of a running job is when it will end */
    enum play_stop stop;
    uint64_t order;  /* of its start */
    char *resources; /* NULL: none yet */
    char *reason;    /* of its rejection or failure; NULL */
};

struct play_submission {
    uint32_t first, n; /* jobs */
    char *indices;     /* of an array's members, as in sched_request; NULL: 0 to n - 1 */
    uint32_t
        array; /* of gangs, of which it is one: its number in `arrays` plus 1; 0: it is of none */
    sched_job_t handle; /* under which those of its jobs wait that have none of their own; -1 */
    int64_t runtime;    /* -1: the duration */
    int64_t stopping;   /* how long it takes to end when it is told to stop */
    enum scenario_end ends;
    uint32_t enough; /* of a snapshot that it was read from: sched_enough */
    uint32_t queue;  /* in `names`; 0: not known yet */
    uint32_t user;   /* in `names`; 0: none */

    bool
        is_known; /* with pilots: what a member asks for, for how long (ticks), and how many start together */
    struct sim_shape shape;
    int64_t limit, takes, min;
};

/* Jobs in a row that have one name together. */
struct play_range {
    size_t first, n;
    bool has_members; /* of one array or gang: "a[0]" is one of them */
};

struct play {
    struct play_options options;
    const struct config *config; /* the present one */
    struct config *reloaded;     /* the same, if an event of the scenario brought it */
    struct driver d;             /* with the core */
    uint64_t unmet;
    uint64_t preemptions;
    double lost; /* cores * ticks that these had run */

    struct intern ids;
    struct play_submission *submissions;
    size_t cap_submissions;
    struct intern arrays;     /* names of arrays of gangs */
    struct play_range *gangs; /* of each */
    size_t cap_gangs;
    struct play_job *jobs;
    size_t n_jobs, cap_jobs;
    struct intern names; /* of queues and users; number 0 is "" */
    sched_job_t acted;   /* the array's handle that this event has done it to; -1 */

    struct scenario *scenario;   /* from which events come; NULL: none do */
    struct scenario_event event; /* the next one; its json is NULL if there is none */
    uint32_t *order;             /* of the trace's jobs (trace_sort) */
    size_t traced;               /* how many of these are submitted */
    struct queues_request request;
    const char *source;             /* the scenario's name */
    struct scenario_event *expects; /* of this instant */
    size_t n_expects, cap_expects;
    struct strbuf name;      /* a job's */
    struct strbuf name_also; /* another's, at the same time */
    struct strbuf line;
    struct sim_pilots *pilots; /* NULL: the configuration has none */
    uint32_t first_waits;      /* the first submission that may wait */
    struct share_notes notes;
    struct play_run *runs; /* that are over, of jobs that wait again */
    size_t n_runs, cap_runs;
    json_t *changes; /* events that changed the machine or the queues, for play_save */
};

/* Whether its jobs are members of an array or a gang. */
bool play_has_members(const struct play_submission *s);

/* The name of a job, in a buffer. */
const char *play_name(const struct play *p, size_t job, struct strbuf *buffer);

/* The name of all that wait under the same handle as a job, "a[3-9]" or "a[0-8:2,17]"; NULL with ENOMEM. */
const char *play_name_all(struct play *p, size_t job);

/* A new submission of n jobs that wait, without handles yet. Its jobs begin at
 * play->submissions[*number].first. Returns 0, or -1 with EEXIST or ENOMEM.
 */
int play_add(struct play *p, const char *id, uint32_t n, uint32_t *number);

/* The members of a submission's jobs, in ascending order, are known: note them as a text if there are gaps among them.
 * Returns 0, or -1 with ENOMEM. O(n).
 */
int play_note_indices(struct play *p, uint32_t number);

/* The job that is the member of this index of a submission; SIZE_MAX: there is none. O(1), or O(log n) among gaps. */
size_t play_member(const struct play *p, uint32_t number, uint64_t index);

/* A submission, the newest, is a gang of the array of gangs of this name, whose other gangs come just before it; its
 * first one makes the array. Returns 0, or -1 with EEXIST if there is a job or another array of that name, or ENOMEM.
 */
int play_join_array(struct play *p, uint32_t number, const char *name);

/* The jobs of a submission or of an array of gangs; false: there is none of that name. O(length). */
bool play_find(const struct play *p, const char *id, size_t length, struct play_range *jobs);

/* What a dependency says, with the gangs of an array in its place, about SCENARIO_LINE_MAX bytes at most. NULL with EINVAL or
 * ENOMEM, and a text; the caller frees it. O(length of the result).
 */
char *play_dependency(const struct play *p, const char *text, berth_error_t *err);

/* The core's handle of a job that has not ended: its own, or its array's. And whether it waits under that. */
sched_job_t play_handle(const struct play *p, size_t job);
bool play_is_together(const struct play *p, size_t job);

/* A job gets a handle of its own. Returns 0, or -1 with ENOMEM. */
int play_split(struct play *p, size_t job);

/* The job of a handle; SIZE_MAX: there is none. */
size_t play_job_of(const struct play *p, sched_job_t handle);

/* The number of a queue's or a user's name in `names`; NULL is "". Returns 0, or -1 with ENOMEM. */
int play_intern(struct play *p, const char *text, uint32_t *number);

/* A running or waiting job has ended. Report it, also to the core unless that knows. */
/* A job fails: it ends, or waits again in place of itself. Returns 0, or -1. */
int play_fail_job(struct play *p, size_t job, const char *reason);
int play_end_job(struct play *p, size_t job, enum play_state state, const char *reason);

/* A running job is cancelled, and takes so long to end. Returns 0, or -1. */
int play_begin_cancel(struct play *p, size_t job, int64_t takes);

/* What a job is to those who expect something. */
enum scenario_state play_look(const struct play *p, size_t job);

/* Note what a running job holds now. Returns 0, or -1 with ENOMEM. */
int play_note_resources(struct play *p, size_t job);

/* Note a run that is over, if runs are kept: the job waits again. Returns 0, or -1 with ENOMEM. */
int play_note_run(struct play *p, size_t job);
void play_clear_runs(struct play *p);

/* Whether it waits, for whatever. */
bool play_waits(const struct play *p, size_t job);

/* Carry out an event. Returns 0, or -1 with errno and a text that names the line. */
int play_event(struct play *p, const struct scenario_event *e, berth_error_t *err);

/* Say that an event could not be: "NAME:LINE: KEY: why". Returns -1 with errnum. */
int play_refuse(const struct play *p, const struct scenario_event *e, int errnum, const char *why,
                berth_error_t *err);

/* Submit a job. */
int play_submit(struct play *p, const struct scenario_event *e, berth_error_t *err);

/* The text of the jobspec of a job that asks for this, or of members of a role. NULL with errno and a text; the caller frees
 * it.
 */
char *play_jobspec(const struct play *p, const struct job_keys *k, size_t *length,
                   berth_error_t *err);

/* Submit the next job of the trace. */
int play_submit_traced(struct play *p, berth_error_t *err);

/* Read a file that an event names, at most max bytes. NULL with errno and a text; the caller frees it. */
char *play_read_file(const struct play *p, const char *name, size_t max, size_t *length,
                     berth_error_t *err);

/* The text of a graph (JGF) of n more nodes like the machine's last one, beside it. NULL with errno and a
 * text: EINVAL, there are no nodes; ENOMEM. The caller frees it.
 */
char *play_more_nodes(const match_t *machine, int64_t n, berth_error_t *err);

/* Pilots (play_pilots.c), if the configuration has them: begin, take up what was saved, and, when jobs are restored, what
 * runs. Return 0, or -1 with a text.
 * Why a job waits for one, in brief; false: for none.
 */
int play_begin_pilots(struct play *p, berth_error_t *err);
int play_load_pilots(struct play *p, const json_t *state, const struct key_place *place,
                     berth_error_t *err);
int play_load_runs(struct play *p, const struct key_place *place, berth_error_t *err);
bool play_pilots_reason(const struct play *p, size_t job, char text[SCHED_REASON_TEXT]);

/* Look at an event's expectations, and tell of those that don't hold. Returns 0, or -1 with ENOMEM. */
int play_expect(struct play *p, const struct scenario_event *e);

#endif
