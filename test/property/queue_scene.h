/* Scenes: a small machine, queues, jobs and what happens to them, all drawn from a seed, played through the
 * core by a shell of the test's own. What happens depends on the seed and on what was decided alone, so
 * that a scene that decides alike is the same scene again.
 */
#ifndef PROPERTY_QUEUE_SCENE_H
#define PROPERTY_QUEUE_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/match.h"
#include "berth/sched_config.h"
#include "random.h"

enum {
    SCENE_NODES = 6,
    SCENE_QUEUES = 4,
    SCENE_USERS = 3,
    SCENE_BLOCKS = 3,
    SCENE_JOBS = 100,
    SCENE_RULES = 2
};

/* What a job asks for. */
enum scene_kind {
    ASK_CORES,  /* count slots of `cores` anywhere */
    ASK_SHARED, /* count nodes with `cores` and `gpus` in each */
    ASK_WHOLE,  /* count nodes for itself, by exclusive: true */
    ASK_SLOTS,  /* the same, as slots of a node */
    ASK_KINDS
};

struct scene_node {
    int cores, gpus;
    bool fast, was_fast, down;
};

/* What a job holds: bits by node. */
struct holding {
    uint8_t cores[SCENE_NODES], gpus[SCENE_NODES];
    bool node[SCENE_NODES]; /* anything of it */
};

#define SCENE_UNKNOWN 100000000 /* longer than any scene */

struct scene_job {
    char id[16], dependency[48];
    uint32_t member, members;
    int most;           /* of its array at a time; 0: any number */
    sched_job_t handle; /* of an array's members that wait together one and the same */
    sched_job_t next_handle;
    sched_job_t entry; /* that when the pass began; -1: it waited for itself */
    enum scene_kind kind;
    int count, cores, gpus;
    int queue, user;
    int64_t submitted, priority, duration, begin, preemptible_after;
    /* What it may take; SCHED_UNLIMITED. `duration` is what planning goes by, SCENE_UNKNOWN if nobody
     * knows.
     */
    int64_t limit;
    bool held;

    bool gone, ok, rejected;
    bool running, preempted, requeue;
    bool limited; /* before the pass: it held a promise of a limit, beside the depth of its queue */
    bool preempts; /* holds what others were preempted for */
    int64_t preempted_at;
    int64_t leaves_since; /* when the shell began to stop it by itself; -1: it does not */
    int64_t start, until, lasts, end; /* `until` as planned; it ends at `end` */
    struct holding holding;

    int64_t promise;    /* -1: none */
    int64_t logged;     /* the start that it was promised last, as the log has it; -1: none */
    char place[128];    /* what it will get then */
    bool excused;       /* something has happened since that may move it */
    bool put_back;      /* it was promised an earlier time once */
    bool expected;      /* it is only expected to start at `promise` */
    bool stopped;       /* for a block */
    bool promised;      /* in this pass */
    bool promised_anew; /* in this pass, after another time that it was promised in it */
    int64_t kept;       /* the promise that it had before this pass; -1: none */
    int nth; /* of the decisions of this pass, the last to start it, promise it a time or preempt for it; 0: none */
    bool started;      /* once */
    bool could;        /* all up and idle, its queue could run it each time something had changed */
    bool too_deep;     /* the last pass left it so: of its queue's depth, before a holder */
    bool late;         /* it should have started before the last pass */
    int before, state; /* the last pass */
};

struct scene_limits {
    struct sched_limit job[SCENE_RULES], user[SCENE_RULES], queue[SCENE_RULES];
};

struct scene_classes {
    struct sched_class class[2];
    struct sched_limit worker;
};

struct scene_config {
    struct sched_config config;
    struct sched_queue_config queue[SCENE_QUEUES];
    struct scene_limits limits[SCENE_QUEUES], other[SCENE_QUEUES];
    struct scene_classes classes[SCENE_QUEUES];
    struct sched_exception exception[SCENE_QUEUES];
    struct sched_block block[1];
};

struct scene_block {
    bool there;
    char name[8], resources[40];
    struct sched_block block;
    int node; /* and the next `nodes` - 1 */
    int nodes;
};

struct scene;

struct scene_options {
    uint64_t seed;
    int64_t budget; /* 0: whole passes; -1: at random */
    bool disturbed; /* passes that are cut off begin again, now and then */
    int restart;    /* after so many passes go on with another scheduler; 0: never */
    int late; /* after so many passes nobody passes for a while, as if the shell were down; 0: never */
    bool counted_only;             /* whole nodes of one kind */
    bool apart;                    /* jobs with limits apart from estimates, or without any */
    bool classes;                  /* most queues have some */
    bool leaves;                   /* the shell stops running jobs by itself, which takes a while */
    bool no_reasons;               /* the log says nothing of waiting jobs */
    bool starts_only;              /* nor of promises, nor how a job was chosen */
    bool handles;                  /* but under which handle a job starts */
    const char *policy;            /* of the machine; NULL: drawn */
    void (*look)(struct scene *c); /* after all passes of an instant; NULL */
    void (*arm)(const struct scene *c); /* before each call; NULL */
    bool (*again)(const struct scene *c,
                  bool failed); /* after each: whether to make it again; NULL */
};

struct scene {
    struct scene_options options;
    struct random random, slices;
    struct scene_node node[SCENE_NODES];
    int nodes;
    const char *policy;
    struct scene_config config;
    struct scene_block block[SCENE_BLOCKS + 1]; /* the last one is the configuration's */
    bool stopped[SCENE_QUEUES], closed[SCENE_QUEUES];

    match_t *match;
    sched_t *sched;
    int64_t now;
    struct scene_job job[SCENE_JOBS];
    int jobs;
    int ended[SCENE_JOBS], n_ended; /* in the order of their ends */
    int passes;
    bool closing; /* no more events */
    bool in_pass;
    bool gave_back; /* the last pass took a promise back */
    struct strbuf log;
    uint64_t starts, promises, preemptions, excused, rejections; /* what was seen */
};

/* Play a scene to its end; its log is in c->log, which the caller clears. */
void scene_play(struct scene *c, const struct scene_options *options);

/* Fail the test with what the scene is. */
#define SCENE_CHECK(c, condition)                                                                  \
    do {                                                                                           \
        if (!(condition))                                                                          \
            scene_fail(c, #condition, __FILE__, __LINE__);                                         \
    } while (0)
void scene_fail(const struct scene *c, const char *what, const char *file, int line);

/* Whether it waits under a handle with others of its array; and its state, where of those only the first is
 * promised a time.
 */
bool scene_together(const struct scene *c, const struct scene_job *j);
int scene_state(const struct scene *c, const struct scene_job *j);

/* The handles that jobs wait under by now: members of arrays may have got their own. */
void scene_handles(struct scene *c);

/* A job's jobspec. */
void scene_jobspec(const struct scene_job *j, char *text, size_t size);

/* Another scheduler of the same configuration, machine and queues as they are, which knows who has ended
 * but no jobs; and the machine that is its own. Whether its passes would decide as the scene's do once it
 * has the jobs.
 */
sched_t *scene_copy(const struct scene *c, match_t **match);
bool scene_is_quiet(const struct scene *c);

/* A job's queue, or the one that this is a virtual queue of. */
int scene_lane(const struct scene *c, int queue);
bool scene_before(const struct scene *c, const struct scene_job *a, const struct scene_job *b);

/* ---- queue_ledger.c: the laws ---- */

/* A job has been submitted. */
void ledger_submitted(struct scene *c, struct scene_job *job);

/* Something has changed the machine, a queue, a job or a block: who can't start any more never will. */
void ledger_looked(struct scene *c);

/* An event that may move any reservation; one that lets a job go before others; the end of a pass with its
 * decisions.
 */
void ledger_excuse_all(struct scene *c);
void ledger_came(struct scene *c, const struct scene_job *job);
/* Something has come back: those that were put back before have their turns again. */
void ledger_returned(struct scene *c);
/* A job has ended in whatever way. */
void scene_ended(struct scene *c, struct scene_job *job, bool ok);
void ledger_before_pass(struct scene *c);
void ledger_pass(struct scene *c, const struct sched_decision *d, size_t n);

/* Whether the idle machine, all up, could run it, from now on and beside blocks that come again. */
bool ledger_could_ever(const struct scene *c, const struct scene_job *job);

/* Nothing is held any more and everything is up: who still waits has a reason for it. */
void ledger_end(struct scene *c);

#endif
