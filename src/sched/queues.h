/* What a scheduler has beside its lanes: the setup of its queues, what controllers keep, and jobs that wait
 * for something else than resources. One without named queues has a setup with one queue, no controllers
 * (controllers/controller.h), and jobs without details.
 */
#ifndef SCHED_QUEUES_H
#define SCHED_QUEUES_H

#include "base/arena.h"
#include "base/dict.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "berth/sched_query.h"
#include "berth/sched_reason.h"
#include "sched/config/setup.h"
#include "sched/controllers/depend.h"
#include "sched/controllers/limits.h"
#include "sched/sched_priv.h"
#include "sched/waiting/held_list.h"
#include "sched/waiting/job_group.h"
#include "sched/waiting/members.h"

/* Why a job is blocked; one can be so for several reasons. */
enum {
    BLOCK_HOLD = 1,
    BLOCK_DEPEND = 2,
    BLOCK_BEGIN = 4,
    BLOCK_LIMIT = 8,
    BLOCK_ARRAY = 16,
    BLOCK_GANG = 32,
    BLOCK_TURN = 64 /* for others of its array of gangs to end */
};

struct shares;
struct text_class;

/* A jobspec's text, for all jobs that have it, and what it was understood as (shared_text.c). */
struct shared_text {
    struct dict_entry entry;
    uint32_t users;
    bool is_read; /* it is a jobspec; else what follows is unknown: */
    double duration, preemptible_after, sla_waiting_time; /* as jobspec_t has them */
    char *queue, *account;                                /* NULL */
    struct text_class *classes;                           /* by part */
    jobspec_t *spec; /* NULL but during the call that needs it */
    char text[];
};

/* Of a job in a named queue. */
struct details {
    uint32_t queue; /* in the setup, perhaps a virtual one */
    uint32_t party;
    uint32_t job_group;
    uint32_t member;              /* of an array; of an entry its first one (waiting/members.h) */
    struct members *of;           /* NULL: it is no array */
    uint32_t previous, following; /* slots in the order of submission */
    uint32_t victims;             /* preempted for this job, and not ended yet */
    uint32_t awaited_by;          /* so many wait for its end (controllers/awaited.h) */
    bool is_stopping;             /* running: the shell was told to stop it for another, */
    bool is_cleared;              /* or for a block, */
    bool is_leaving;              /* or stops it by itself (sched_leave) */
    bool is_in_victims; /* running: in the list of who may be preempted or is being stopped */
    uint8_t blocked;
    uint32_t gang_before, gang_behind; /* slots of its gang */
    bool is_behind;                    /* open: goes behind others as its gang has its min */
    bool is_in_gang;                   /* counts among those of its gang that run */
    bool leaves_gang;     /* and among those of them that were told to stop for others */
    bool is_dismissed;    /* running: the shell was told to stop it as its gang has failed */
    bool holds;           /* counts among the members of its array that hold something, */
    bool holds_aside;     /* or among those that do, but for what is asked at the moment */
    bool is_counted;      /* in the ledger of limits as holding something during `counted`, */
    bool is_open;         /* whose ends its calendars have */
    bool is_rest_counted; /* and for longer, while a question is asked (limiter_tails.c), */
    bool is_back;         /* or though it is lifted, as it returns if it can, */
    bool gives_way;       /* or not, as it is about one before it */
    bool is_nameless;     /* its id is another's: depend.h doesn't know it */
    bool is_pending;      /* counts as such in the ledger of limits */
    bool needs_down;      /* open: listed as such in its line (needs_down.c) */
    bool is_untold;       /* listed in `untold` */
    bool is_promise_told; /* the shell was told a time last */
    bool waits;           /* held: for controllers, not for the machine */
    bool was_wide;        /* held: a limit of nodes has refused a choice of more than it needs */
    /* Of a held job: another, `culprit` (-1: unknown), may delay it by taking longer than expected; and what
     * the shell was told.
     */
    bool is_expected, is_expected_told;
    bool is_judge_due; /* one before it has come to begin with it: it is to be judged anew */
    uint32_t judged;   /* in which round of judging all it was last */
    uint32_t beyond;   /* open: the last pass in which it was beyond its queue's depth; 0: none */
    uint32_t let_in;   /* the last pass in which it was new for that; 0: none */
    sched_job_t culprit;
    enum sched_how how;
    struct limits_window counted;
    struct limits_list
        *shared; /* of that, nodes that others may have, too; NULL: none, or nobody counts them */
    uint32_t calendar; /* of `over`, by number (limits.h) */
    uint32_t
        keeper; /* of a job that limits keep and that holds a reservation: whose promise that is */
    bool is_limited;      /* listed in `limited` */
    bool is_candidate;    /* open: to be looked at for a promise that a limit has to give */
    bool is_starving;     /* as of some pass (controllers/starving.h); */
    bool is_relieved;     /* held: and therefore beside the depth of its lane */
    bool is_listed;       /* in the list of starving jobs, while that is made again */
    uint32_t starts_seen; /* (queues.starving_starts) when it was tried last for a claim */
    int64_t since;        /* when it became pending last */
    int64_t priority, begin, preemptible_after;
    int64_t deadline; /* that it or its jobspec names; 0: its queue's; SCHED_UNLIMITED: none */
    int64_t limit;    /* what it may take at most; SCHED_UNLIMITED */
    int64_t
        estimate; /* what it is planned with: `ask.duration` of a job that waits; place.endless: unknown */
    int64_t
        displaced; /* the time that it was promised before the machine took that from it, or DISPLACED_ANY; -1 */
    int64_t
        put_off; /* of a held job: the start that its end was put off for last, if after its `at` */
    struct shared_text *jobspec;
    const char *user, *name; /* interned */
    const char *account;     /* interned; NULL: it is of none */
    const char **groups;     /* interned */
    size_t n_groups;
    /* Of BLOCK_LIMIT, or of a promise of a limit; its text is interned. NULL: not known. */
    struct sched_reason_limit over;
    /* The last decrease (limits.h) as of which it was over the limit; -1: it may be so no more. */
    int64_t limited;
    char told[SCHED_REASON_TEXT]; /* why it waits, as last told; "" */
    struct sched_reason *never;   /* why it is rejected */
};

/* A block and for whom it is; NULL: the number is free. */
struct block_slot {
    struct sched_block *block; /* setup_copy_block */
    bool is_configured;        /* the configuration has it, no event */
};

/* A window of limits that is open for what a held job may hold instead, */
struct opened {
    bool is, is_taken;        /* and counts it by now */
    struct limits_list *list; /* with these nodes */
};

/* Of a limit, the calendar; and the lane of those that it may let go on. */
struct let_calendar {
    uint32_t calendar, lane;
};

/* A starving job whose start nobody knows; whether its claim is out of the calendars briefly; and whether it waits for
 * others than jobs that fill it, as of so many bookings and releases.
 */
struct claim {
    uint32_t slot;
    bool is_aside, has_others;
    uint64_t asked;
    int64_t clear; /* until then it may be that blocks have something of it */
};

/* A job that is being stopped for another one, by its id and member. */
struct stopped {
    sched_job_t job;
    uint32_t member;
    const char *id; /* interned */
};

/* Running jobs by lane: those of lane i are from first[i] on and before first[i + 1]. Beside them slots that are about to run, or
 * were and are not, may be listed, in any lane.
 */
struct lane_runners {
    bool is_known;  /* who they are is that of now */
    uint64_t lists; /* times that they were found */
    uint32_t *slot, *first;
    size_t cap, cap_lanes;
};

/* Who of those that run is young (controllers/young.h). */
struct young {
    bool is_known;
    int64_t as_of; /* this time */
    uint32_t *slot;
    size_t n, cap;
};

/* A job holds what a running one still uses, whose end it waits for, by their slots. */
struct awaited_pair {
    uint32_t victim, holder;
};

struct queues {
    struct setup *setup;
    struct opened opened;
    struct held_list all_held;
    struct shares *shares; /* NULL: there are none (waiting/shares.h) */
    struct limits *limits;
    struct depend *depend;
    struct gang *due_gangs;        /* to be looked at by the next pass (waiting/gang.h); */
    struct gang *next_gangs;       /* before these, in the order of submission */
    struct dict gang_arrays;       /* waiting/gang_array.h; */
    struct gang_array *due_arrays; /* of these, those that are to be settled */
    struct gang *moved_gangs;      /* whose open jobs have another place (waiting/gang_order.h) */
    struct job_groups job_groups;
    struct intern texts;             /* users, groups, names, what limits are for */
    struct dict jobspecs;            /* shared_text */
    uint32_t *lane_of;               /* by queue of the setup */
    bool *is_closed;                 /* by queue: told to take no jobs (queue_is_closed) */
    struct sched_queue_stats *stats; /* by queue: what has been decided */
    struct heap begins;              /* jobs blocked until a time */
    struct heap ends;                /* running jobs by the end of their bookings */
    sched_job_t *extended;           /* those of which the last pass has put it off */
    size_t n_extended, cap_extended;
    struct heap stops;    /* those without a limit by when they are stopped for a block (clear.c) */
    bool is_clear_late;   /* these times are to be found again */
    uint32_t first, last; /* jobs in the order of submission, */
    size_t listed;        /* and how many */
    uint32_t *candidates; /* jobs that limits have let go on for a promise */
    size_t n_candidates, cap_candidates;
    struct let_calendar *let_calendars; /* of limits that may let one go on so */
    size_t n_let_calendars, cap_let_calendars;
    uint32_t passes;           /* that have ended, 0 left out */
    bool any_beyond;           /* the last one has left some beyond their queue's depth (depth.c) */
    uint64_t lettings, rounds; /* passes, and rounds of these, in which some may be let go on */
    struct heap starves;       /* pending jobs by when they are starving, and not yet */
    uint32_t *starving;        /* those that are; some may be so no more */
    size_t n_starving, cap_starving;
    struct claim *claims;
    size_t n_claims, cap_claims;
    bool had_claims;             /* in this pass */
    uint32_t starving_starts;    /* how many starving jobs have started */
    bool is_starving_late;       /* all jobs are to be looked at for that */
    bool any_opened_starving;    /* some are open since they were listed */
    struct tried starving_tried; /* as of when all of them were, for what they could be given */
    struct due *tries;           /* of a walk: those that it looks at for that, */
    size_t n_tries, cap_tries, next_try, first_try; /* the last: in the first round of a level */
    bool lists_tries;                               /* which are to be listed */
    size_t n_listed;   /* so many of `starving` are no news for the list */
    uint32_t *limited; /* jobs over a limit; some may be so no more */
    size_t n_limited, cap_limited;
    size_t limited_seen;  /* so many of them were looked at, */
    size_t limited_kept;  /* and so many are still in the list */
    bool recheck_limited; /* some of them may be over their limits no more */
    bool
        recheck_down; /* the machine has changed: other jobs may need what is down (needs_down.c) */
    bool recheck_all_limited;    /* any may, whatever has decreased */
    bool seeks_for_limited;      /* others may be stopped for some of them */
    uint64_t sought_for_limited; /* place.freed.next when that was last tried */
    struct limited_vain
        *limited_vain; /* by user, queue and ask, as far as there is room; NULL: none */
    uint32_t
        *full; /* jobs of which as many members hold something as may; some may do so no more */
    size_t n_full, cap_full;
    size_t full_seen;              /* so many of them were looked at */
    bool recheck_full;             /* fewer hold something by now */
    bool recheck_most;             /* fewer may, perhaps, than do */
    bool is_full_left;             /* one of them may go on, but has done so in this pass */
    struct details *spare_details; /* for the next part of an array; NULL */
    bool is_recount_due;           /* what reservations hold may be over limits that have changed */
    uint32_t *untold;              /* jobs whose reason is to be told */
    size_t n_untold, cap_untold;
    size_t told_first; /* so many of them have been told */
    bool takes_back;   /* one of them has lost a promise that the shell was told of */
    struct block_slot block[BLOCKS_MAX];
    uint64_t blocks_set; /* bits of those that are there */
    int64_t never_at; /* from when on jobs are to be looked for that can never start; INT64_MAX */
    uint32_t never_next;    /* the job that is looked at next for that, by all steps; JOB_NONE */
    bool is_permitted_late; /* who may use which block is to be found again */
    int64_t turn;           /* when a block begins or ends next */
    bool
        recheck_depend; /* of dependencies that are met, or never will be, a job may not have been told */
    bool wake_all;        /* all groups are to be looked at again */
    uint64_t seen;        /* next event of the log of what was freed when groups were woken last */
    int64_t repair_from;  /* reservations from here */
    int64_t repair_until; /* to here may be in the way of something; from > until: none */
    struct queue_key
        repaired; /* those of holders up to here that are not left to outrank.c have been looked at since */
    size_t n_displaced; /* jobs that the machine has taken a promise from */
    bool is_back;       /* something has come back that some of them may have lost */
    bool any_taken;     /* of some lane, lane.has_taken */
    uint64_t
        more_preemptible; /* times that something was given back, or that more jobs may be preempted */
    struct tried holders_tried; /* as of when room could be made for no holder */
    uint32_t *victims; /* running jobs of preemptible queues, and others that are being stopped */
    size_t n_victims, cap_victims;
    uint32_t *stopping; /* running jobs that are being stopped, */
    size_t n_stopping, cap_stopping;
    bool stopping_is_stale;       /* who they are is to be found again (stopping_list) */
    int64_t stopping_until;       /* or is by then, when another one is out of time */
    uint64_t stopping_lists;      /* times that they were found, and passes */
    struct lots_kept *lots_kept;  /* the last ones (controllers/lots.h); NULL */
    struct lane_runners runners;  /* as far as they were asked for (controllers/lots.h) */
    struct awaited_pair *awaited; /* in the order in which that began (controllers/awaited.h) */
    size_t n_awaited, cap_awaited;
    struct sched_awaiting *awaiting; /* in a record */
    size_t cap_awaiting;
    uint64_t events; /* since the last pass */
    int64_t passed;  /* when that was; -1: never */
    bool any_tails;  /* a job may last, or might have lasted, longer than it is expected to */
    bool
        judges_all; /* and may do so where it could not before: all reservations are to be judged */
    uint32_t judge_round; /* the one that this began; 0: none has begun */
    bool is_followed;     /* by another one of that time */
    struct young young;
    int64_t preemptible_next; /* when a running job becomes preemptible; INT64_MAX */
    int64_t
        reclaim_next; /* when more may be stopped for jobs that preempt others than these; INT64_MAX */
    uint64_t listings; /* of who may be (controllers/lots.h) */
    struct stopped
        *stopped; /* restored jobs that are being stopped for others; these may be restored later */
    size_t n_stopped, cap_stopped;
    /* Whose gang had no memory to start as a whole: the next pass goes on with that first. -1: none. */
    sched_job_t starting;
    uint64_t telling; /* number of the telling of reasons at work; 0: none is */
    uint64_t tellings;
    struct place_counts counts;     /* for reasons, while they are told */
    uint32_t asked_rooms;           /* the lane whose rooms were asked for last */
    struct strbuf text;             /* for answers */
    char answer[SCHED_REASON_TEXT]; /* a reason */
    char gang_answer[SCHED_REASON_TEXT];
    struct sched_role role_answer[SCHED_ROLES_MAX];
    sched_job_t *holders;
    size_t cap_holders;
    struct arena told; /* reasons of the decisions, */
    const struct sched_reason
        *told_last[SCHED_REASON_REQUEST + 1]; /* by kind: what others may share */
};

/* Whether a queue of the setup takes no jobs: it was told so, or its parent was. */
static inline bool queue_is_closed(const struct queues *n, uint32_t queue)
{
    return n->is_closed[queue] || n->is_closed[n->setup->queue[queue].parent];
}

/* Whether a pass does one of these: in a round of a walk what that is for, else all that it ever does. */
static inline bool pass_does(const sched_t *s, unsigned actions)
{
    const struct setup *setup = s->queues->setup;
    return (s->pass.phase == PASS_WALK ? setup->round[s->pass.round] : setup->actions) & actions;
}

/* Whether a running job's limit is over: its shell stops it by itself. */
static inline bool is_out_of_time(const sched_t *s, uint32_t slot)
{
    int64_t limit = s->jobs[slot].details->limit;
    return limit < SCHED_UNLIMITED && s->now - s->jobs[slot].at >= limit;
}

/* Whether a job runs that is being stopped: its shell was told to, for others, as its gang has failed or for a block, or does
 * so by itself, or its limit is over.
 */
static inline bool is_being_stopped(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    return s->jobs[slot].state == SCHED_RUNNING &&
           (d->is_stopping || d->is_dismissed || d->is_cleared || d->is_leaving ||
            is_out_of_time(s, slot));
}

/* The state of now, and whether it is still that. */
static inline struct tried tried_now(const sched_t *s)
{
    return (struct tried){s->place->freed.next + 1, s->queues->more_preemptible};
}

static inline bool tried_is_now(const sched_t *s, const struct tried *tried)
{
    return tried->freed == s->place->freed.next + 1 &&
           tried->more_preemptible == s->queues->more_preemptible;
}

/* ---- details.c: a job's own ---- */

/* The details of a job or of members of an array, `of`, or NULL with ENOMEM; `jobspec` gets a user more. */
struct details *details_new(struct queues *n, const struct sched_request *request,
                            struct members *of, struct shared_text *jobspec);
void details_free(sched_t *s, struct details *d);

/* One text for all that are equal, for as long as the scheduler is; NULL with ENOMEM. */
const char *queues_text(struct queues *n, const char *text);

/* The id of a job, or of the array that it is a member of, in the buffer for answers; "" where memory
 * fails.
 */
const char *base_id(sched_t *s, uint32_t slot);

/* Into the list of jobs in the order of submission, as the last one or right before or behind another. */
void details_link(sched_t *s, uint32_t slot);
void details_link_beside(sched_t *s, uint32_t slot, uint32_t there, bool before);

/* Forget a job and all that is known of it; and one that has ended, which lets go others. */
void job_forget(sched_t *s, uint32_t slot);
void job_ended(sched_t *s, uint32_t slot, enum job_end end);

/* ---- shared_text.c: equal jobspecs are one ---- */

/* The text, with a user more; NULL with ENOMEM. And with one less; the last one takes it out. */
struct shared_text *shared_text_use(struct queues *n, const char *text, size_t length);
void shared_text_leave(sched_t *s, struct shared_text *t);

/* Have it read. Returns 0, or -1 as jobspec_parse. */
int shared_text_read(struct shared_text *t, berth_error_t *err);

/* As place_ops.know, which is asked only for the first job with the text in a part. */
int shared_text_know(sched_t *s, struct shared_text *t, uint32_t part, bool refuse, uint32_t *class,
                     int64_t *units, berth_error_t *err);

/* What a text is in a part that it was asked about, and is for as long as the text; UINT32_MAX: it was not. */
uint32_t shared_text_class(const struct shared_text *t, uint32_t part);

/* The call is over that may have parsed it. */
void shared_text_rest(struct shared_text *t);

/* ---- submit.c ---- */

/* Steps of a submission. A slot with details for a job, or for members of an array, of which others may be
 * known (`joins`); listed. JOB_NONE with ENOMEM.
 */
uint32_t job_enter(sched_t *s, const struct sched_request *request,
                   const struct depend_members *which, bool joins, struct shared_text *text);

/* Make the job known under its id, with what it depends on. Returns 0, or -1: ENOMEM, or EINVAL with a text,
 * the job being known without what it depends on, or nameless.
 */
int job_name(sched_t *s, uint32_t slot, const struct sched_request *request,
             const struct depend_members *which, berth_error_t *err);

/* The members of a request, in sets that last as long as the call that reads them. */
struct which {
    struct depend_members members;
    struct idset all, waiting;
};

/* Which members a request is about: of an array those of the text `waiting`, or all if that is NULL. `id`
 * is kept. Returns 0, or -1 with EINVAL or ENOMEM and nothing to clear.
 */
int which_read(struct which *w, const struct sched_request *request, const char *id,
               const char *waiting);
void which_clear(struct which *w);

/* An admitted job waits, for resources (`fresh`: as a new one) or for something else. Returns 0, or -1 with
 * ENOMEM.
 */
int job_take_in(sched_t *s, uint32_t slot, const struct sched_request *request, bool fresh);

/* Whether a job may have this limit (SCHED_UNLIMITED: none) and estimate. The reason why not, or
 * SCHED_REASON_NONE.
 */
enum sched_reason_kind times_wrong(int64_t limit, int64_t estimate);

/* Its deadline, and from when on it may be preempted, as it or its jobspec says. */
void job_take_times(sched_t *s, uint32_t slot, const struct sched_request *request);

/* When a job is expected to have ended, INT64_MAX if nobody knows; -1: it neither runs nor is reserved. */
int64_t until_told(const sched_t *s, const struct job *job);

/* The end of a job's booking: of one whose time came before a pass, as much later as it starts late. */
static inline int64_t booked_until(const struct job *job)
{
    bool is_late = job->details && job->details->put_off > job->at;
    int64_t at = is_late ? job->details->put_off : job->at;
    return job->ask.duration < INT64_MAX - at ? at + job->ask.duration : INT64_MAX;
}

/* The same of a held or running job; -1: it has nothing booked. */
static inline int64_t job_until(const struct job *job)
{
    bool has = job->state == SCHED_RESERVED || job->state == SCHED_RUNNING;
    return has ? booked_until(job) : -1;
}

/* An estimate as a job with that limit is planned with: of unknown end, it is by its limit, or endless. */
static inline int64_t estimate_meant(const sched_t *s, int64_t estimate, int64_t limit)
{
    if (estimate < SCHED_UNLIMITED)
        return estimate;
    return limit < SCHED_UNLIMITED ? limit : s->place->endless;
}

/* A job's estimate as others are told: ticks, or SCHED_UNLIMITED. */
static inline int64_t estimate_told(const sched_t *s, const struct details *d)
{
    return d->estimate == s->place->endless ? SCHED_UNLIMITED : d->estimate;
}

/* How long a job needs between blocks: its limit, or what it is expected to take. */
static inline int64_t time_needed(const struct details *d)
{
    return d->limit < SCHED_UNLIMITED ? d->limit : d->estimate;
}

sched_job_t queues_submit(sched_t *s, int64_t now, const struct sched_request *request);

/* What a job of the queue asks of the machine: the ask and the group of an unknown job. Returns 0, or -1:
 * EINVAL with a text; ENODEV with one, if `refuse`: the machine could never; ENOMEM. The same in two steps: the ask, and with
 * it the group, and where there are shares whose turns the job takes, which stays known. If the second fails (ENOMEM), the ask
 * is forgotten. And the reason of who is refused so, in these words.
 */
int job_know_ask(sched_t *s, uint32_t slot, bool refuse, berth_error_t *err);
int job_know_group(sched_t *s, uint32_t slot, berth_error_t *err);
int job_know(sched_t *s, uint32_t slot, bool refuse, berth_error_t *err);
struct sched_reason unknown_reason(int errnum, const berth_error_t *err);

/* Find the account of a new job, which may name one, or NULL; its jobspec may, too. Returns 0, or -1: EINVAL with
 * a text, ENOMEM. And have a job that was there before be of the account of this name, whether or not there is one by
 * now, or NULL: of its user's usual one, if there is one. Returns 0, or -1 with ENOMEM.
 */
int account_choose(sched_t *s, uint32_t slot, const char *name, berth_error_t *err);
int account_keep(sched_t *s, uint32_t slot, const char *name, berth_error_t *err);

/* ---- never.c: jobs that can never start ---- */

/* Reject a job if it waits and can never start. Returns 0, or -1 with ENOMEM, and the next pass looks at
 * all jobs.
 */
int never_look(sched_t *s, uint32_t slot);

/* The same of a gang whose members ask for something else than before. O(its slots), and the question for each role. */
int never_look_gang(sched_t *s, struct gang *gang);

/* The next pass looks at all jobs, one after the other. And a step of it: STEP_BUSY: all have been looked
 * at. What happens between does not make it begin anew.
 */
void never_look_all(sched_t *s);

/* The same, as the machine may be another one than that of which a restored job was known; and until when
 * that can start is known from now on.
 */
void never_note(sched_t *s, uint32_t slot);
enum step never_step(sched_t *s);

/* ---- queues.c ---- */

void queues_destroy(sched_t *s);

bool queues_check(const sched_t *s);

/* Lanes for the queues of a setup, without jobs, and which of them each queue's jobs are in (NULL with
 * ENOMEM, or with EINVAL and a text: a queue asks for resources by a wrong constraint).
 */
struct lane *lanes_new(sched_t *s, const struct setup *setup, uint32_t **lane_of, uint32_t *n,
                       berth_error_t *err);
void lanes_free(struct lane *lanes, uint32_t n);

/* ---- blocked.c ---- */

/* Block a waiting job, or one in no lane, for a reason (BLOCK_...). */
void job_block(sched_t *s, uint32_t slot, uint8_t reason);

/* Unblock it: with no reason left it is open. Returns 0, or -1 with ENOMEM and nothing changed. */
int job_unblock(sched_t *s, uint32_t slot, uint8_t reason);

/* Reject a job that is in no lane, for a reason that it owns from then on (sched_reason_copy). */
void job_reject(sched_t *s, uint32_t slot, struct sched_reason *never);

/* ---- reason.c ---- */

/* Why a job waits, or is rejected; valid until the next call that changes anything. */
void reason_of(sched_t *s, uint32_t slot, struct sched_reason *reason);

/* A copy that lasts as long as the decisions; NULL with ENOMEM. */
const struct sched_reason *told_reason(struct queues *n, const struct sched_reason *reason);

/* Tell the reasons that have changed, of one job after the other. */
void tell_begin(sched_t *s);
enum step tell_next(sched_t *s);

/* A pass is cut off: tell those that have lost what they were promised, or the shell would keep a promise
 * that is another job's by now. Events may keep the pass from its end for long.
 */
void tell_taken_back(sched_t *s);

/* The next pass, or the one at work, tells why this job waits; where there is no memory for that, as soon
 * as it is looked at again. Have memory for one more: 0, or -1 with ENOMEM.
 */
void tell_later(sched_t *s, uint32_t slot);
int tell_reserve(struct queues *n);

/* What was to be told behind the first so many is not. */
void tell_forget(sched_t *s, size_t first);

/* ---- waiting/needs_down.c ---- */

/* If the machine has changed, find out anew which open jobs need something that is down. Returns 0, or -1 with ENOMEM;
 * the next call tries again then. O(open jobs of lanes with a queue depth).
 */
int needs_down_look(sched_t *s);

/* ---- pass/depth.c ---- */

/* Whether a job that waits has come within its queue's depth since the last pass, so that the next one has it as new.
 * O(log open).
 */
bool depth_lets_in(const sched_t *s, uint32_t slot);

/* An open job enters or leaves the list of its line; one with this key that is listed is this job now; there is memory for
 * it.
 */
int needs_down_enter(sched_t *s, uint32_t slot);
void needs_down_leave(sched_t *s, uint32_t slot);
void needs_down_give(sched_t *s, uint32_t to);
int needs_down_reserve(const sched_t *s, uint32_t slot);

/* After jobs were to be in other lanes and are not: who is listed goes by the lists. O(jobs). */
void needs_down_recall(sched_t *s);

/* ---- preempt.c ---- */

/* The first time after another one from which on a running job may be preempted; INT64_MAX: none.
 * O(young), or where these are not known, O(victims).
 */
int64_t next_preemptible(const sched_t *s, int64_t after);

/* Have memory for so many in the list of who may be preempted; 0, or -1 with ENOMEM. And list them anew. */
int victims_reserve(struct queues *n, size_t more);

/* List a running job that may be preempted or is being stopped, unless it is listed already. There is room for it. O(1). */
void victim_add(sched_t *s, uint32_t slot);

/* A running job is being stopped from now on: others may wait for what it leaves. There is room in the list. O(1). */
void victim_leaves(sched_t *s, uint32_t slot);
void victims_list(sched_t *s);

/* ---- reclaim.c ---- */

/* The first time after another one from which on a running job may be stopped for those that preempt others than
 * preemptible ones; INT64_MAX: none. O(young), or where these are not known, O(running).
 */
int64_t next_reclaimed(const sched_t *s, int64_t after);

#endif
