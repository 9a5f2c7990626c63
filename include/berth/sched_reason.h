/* Why a job waits, or can never start: a kind, and what it is about.
 *
 * A reason that the core hands out points to texts of the core's, which are valid as what it came with is: a
 * decision, or an annotation. sched_reason_copy makes one that lasts. For people there is one text of each
 * reason (sched_reason_text). Who has kept only that text gets the reason back by sched_reason_read; nobody
 * else reads such texts.
 */
#ifndef BERTH_SCHED_REASON_H
#define BERTH_SCHED_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sched_reason_kind {
    SCHED_REASON_NONE, /* there is nothing to tell */

    /* It waits. */
    SCHED_REASON_HELD,       /* until it is released */
    SCHED_REASON_DEPENDENCY, /* for other jobs: `job`, `singleton`, `others` */
    SCHED_REASON_BEGIN,      /* for a time: `at` */
    SCHED_REASON_LIMIT, /* until it is within a limit, `limit`; who can never be is rejected for it */
    SCHED_REASON_STOPPED,   /* its queue is stopped */
    SCHED_REASON_DEPTH,     /* its queue considers only the first of its jobs */
    SCHED_REASON_PRIORITY,  /* for those before it: its queue starts its jobs one after the other */
    SCHED_REASON_RESOURCES, /* too little is free of `type` */
    SCHED_REASON_PREEMPTING, /* for jobs that are being stopped for it */
    SCHED_REASON_SET_ASIDE,  /* until a turn of `block` is over: `at` */
    SCHED_REASON_CLASS,      /* its class, `words`, has 0 percent of the workers */
    SCHED_REASON_GANG,       /* there is room for too few members that start together: `gang` */
    SCHED_REASON_GANG_WAITS, /* for the other members of its gang to start with, or to have ended */
    SCHED_REASON_CLAIM, /* starving, for `job`: it claims `of` of `type`, of which it has `has` */
    SCHED_REASON_STARVING, /* no more: it is promised a time beside its queue's depth as it was starving */

    /* It ran, and was stopped for another one: `job` (none: unknown), by the rule `may`; `spare`: its gang goes on without
     * it; `has` core-seconds of work are lost.
     */
    SCHED_REASON_PREEMPTED,

    /* It can never start. */
    SCHED_REASON_NEVER_MET,     /* what it wants of job[0] can't come about any more */
    SCHED_REASON_UNSATISFIABLE, /* the machine can't give what it asks for: `words` */
    SCHED_REASON_BLOCK,        /* a block comes again too soon for a job that is so long: `block` */
    SCHED_REASON_BLOCK_RECURS, /* or for one of unknown end that has no limit: `block` */
    SCHED_REASON_UNITS,        /* it asks for more units than the machine has */
    SCHED_REASON_NO_TIME,      /* the calendar has no end that is late enough */
    SCHED_REASON_NO_QUEUE,     /* it names no queue, and none is the default */
    SCHED_REASON_UNKNOWN_QUEUE, /* there is no queue `queue` */
    SCHED_REASON_NOT_ADMITTED,  /* `user` may not submit to `queue` */
    SCHED_REASON_CLOSED,        /* `queue` takes no jobs */
    SCHED_REASON_DURATION,      /* there is no such duration, */
    /* Its estimate is longer than its limit; than what its queue `queue` gives it, if that is named: limit.most, a
     * limit on "duration", or "default-limit".
     */
    SCHED_REASON_ESTIMATE,
    SCHED_REASON_RANK,        /* or priority: expected one from `has` to `of`, if these differ */
    SCHED_REASON_MIN,         /* its gang has fewer members than are to start together */
    SCHED_REASON_GANG_FAILED, /* the member of its gang with the number gang.have has failed */
    SCHED_REASON_GANG_LEFT,   /* too few members of its gang are left: `gang` */
    SCHED_REASON_JOBSPEC,     /* its jobspec is wrong: `words` */
    SCHED_REASON_REQUEST      /* something else of it is wrong: `words` */
};

enum sched_whose {
    SCHED_OF_JOB,   /* what one job may have; who asks for more is rejected */
    SCHED_OF_USER,  /* what the jobs of its user in its queue may have together */
    SCHED_OF_QUEUE, /* what all jobs of its queue may */
    /* what the members of its array may, "running": run or be promised a time at once */
    SCHED_OF_ARRAY,
    SCHED_OF_DIVISION, /* what all jobs may of the queues of a division that its queue is part of */
    SCHED_OF_ACCOUNT   /* what all jobs may of its account, or of one that this is part of */
};

struct sched_reason_limit {
    enum sched_whose whose;
    const char *what; /* as in struct sched_limit */
    int64_t most;
    const char *account; /* SCHED_OF_ACCOUNT only */
};

struct sched_reason_job {
    const char *id;
    int64_t member; /* of an array; -1: all of it, or it is none */
};

struct sched_reason_gang {
    int64_t have, need;
};

/* Why a running job may be stopped for another one. */
enum sched_may_stop {
    SCHED_MAY_PREEMPTIBLE, /* its queue is preemptible */
    SCHED_MAY_PRIORITY, /* the other one has a higher priority, in a queue that preempts by that */
    SCHED_MAY_SHARE,    /* its queue has more than it deserves, and the other's has less */
    SCHED_MAY_RICHER,   /* its user has more than that of the other one, of the same queue */
    SCHED_MAY_CLASS     /* it runs on workers that its class has borrowed */
};

/* The same of a role that has too few. */
struct sched_reason_role {
    const char *name;
    int64_t have, need;
};

#define SCHED_REASON_ROLES 4 /* roles that a reason names */

#define SCHED_REASON_JOBS 4 /* jobs that a reason names */

/* All that its kind does not say it has is zero. */
struct sched_reason {
    enum sched_reason_kind kind;
    struct sched_reason_limit limit;
    struct sched_reason_job job[SCHED_REASON_JOBS]; /* the first n_jobs */
    size_t n_jobs;
    bool singleton; /* for the user's other jobs of its name */
    bool others;    /* for more than is told */
    struct sched_reason_gang gang;
    enum sched_may_stop may;
    bool spare;
    struct sched_reason_role
        role[SCHED_REASON_ROLES]; /* of a gang with roles, the first n_roles that lack some */
    size_t n_roles;
    const char *type;
    const char *queue;
    const char *user;
    const char *block;
    const char *words;
    int64_t has, of;
    int64_t at;     /* ticks */
    int64_t second; /* ticks in one, for `at` and a limit of durations */
};

#define SCHED_REASON_TEXT 128 /* room for a reason's text; what is longer is cut */

/* Write a reason in a few words; returns the text. That of none, or of NULL, is "". */
const char *sched_reason_text(const struct sched_reason *reason, char text[SCHED_REASON_TEXT]);

/* What such a text says, of a core with so many ticks in a second. The text is cut up, and the reason points
 * into it. One that is not known is of kind REQUEST, with all of it as its words; "" is none. Its text is the
 * same again.
 */
void sched_reason_read(struct sched_reason *reason, char *text, int64_t second);

/* Whether such a text, or NULL, says that a gang is over: a member with this reason was stopped for it. */
bool sched_reason_gang_is_over(const char *text);

/* A copy with all its texts, which the caller frees with free(); NULL with ENOMEM. */
struct sched_reason *sched_reason_copy(const struct sched_reason *reason);

#ifdef __cplusplus
}
#endif

#endif
