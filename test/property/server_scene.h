/* What the simulation of a server's days (prop_server) shares: a world, and a ledger of what its users were
 * told, which is all that the laws are held against. Nothing in the ledger is read from the server's
 * structures.
 *
 * Times of the ledger are us of a clock that goes on while the machine is off and takes no notice of the
 * wall clock.
 */
#ifndef PROPERTY_SERVER_SCENE_H
#define PROPERTY_SERVER_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "random.h"
#include "sim_server.h"

enum { MEMBERS = 6, NODES = 2, CORES = 4, GPUS = 1, WAITERS = 3 }; /* cores and gpus of a node */
enum { EASY, FCFS, ALL, SPARE, QUEUES };
enum { BLOCKS = 2 };

extern const char *const scene_queues[QUEUES];

struct told_member {
    bool ended;
    char state[12];   /* of one that has ended, as it was shown after that was durable */
    int starts;       /* times that the engine was asked for it */
    size_t run;       /* the last of these */
    int64_t promise;  /* when it will start, as last told; -1 */
    int requeued_at;  /* its starts when a requeue of it was acknowledged; 0 */
    bool lost;        /* its end is told as lost: it may have been started once more */
    bool cancelled;   /* acknowledged, and it had not ended before */
    bool pending;     /* when last looked at, as the next */
    bool ready;       /* nothing but resources was in its way then, nor has it been touched since */
    int64_t seen;     /* look in which it was listed */
    int64_t reserved; /* what it was promised in that look; -1 */
    int64_t expected; /* when it was only expected to start then; -1 */
    bool preempts;    /* others were stopped for it, which it waits for, */
    bool took;        /* or has waited for: it starts whoever has come again since */
    int n_ends, n_started;      /* events */
    int64_t priority, duration; /* us; as its job's, or its own */
    bool alone;                 /* changed by itself */
    bool held;                  /* acknowledged, and not released since */
    bool
        maybe_held; /* the answer to hold or release was lost, or it came up after a loss of power */
};

/* What users know of a job. */
struct told {
    bool sure;   /* they were given the number */
    int members; /* one above the largest index */
    int gap;     /* 1: there is no member 1; 2: only every other one */
    int most;    /* so many run at once; 0: any number */
    int cores, gpus, queue;
    int64_t begin, depends; /* us; begin 0: none; depends 0: on nobody */
    int64_t limited_at;     /* when the duration was changed */
    int64_t list;           /* the first job of the list that it came in; its own number: of none */
    bool requeue, preemptible;
    enum { NO_LIMIT, MAYBE_LIMIT, LIMIT } limited; /* whether its duration is a limit, or was one */
    int allowed;                                   /* more runs than one, asked for by users */
    bool cancelled;                                /* acknowledged */
    bool maybe_cancelled;
    bool unsure;     /* the answer to a change was lost */
    bool taken;      /* what it has become of that is being read from a listing */
    bool begin_lost; /* nobody knows when it may begin */
    bool touched;    /* something was asked of it since the last look */
    bool free;       /* begin and dependency are fulfilled, as of the last look */
    bool over;       /* none of it is live */
    int64_t seen;    /* look in which any of it was listed */
    int n_submitted; /* events */
    struct told_member member[MEMBERS];
};

/* The order of all queues: the lesser key goes first. */
struct order {
    int64_t queue, priority, id, member; /* queue and priority negated */
};

/* When the engine was asked for a run. */
struct asked {
    int64_t at; /* -1: it is over */
    /* Its limit counts from the decision: that is as old as this at most, where it could not be stored at
     * once.
     */
    int64_t decided;
};

/* A start that is to be explained. */
struct late {
    int64_t job, promise, at;
    int64_t before; /* -1, or the job that went before it */
    int member, before_member;
};

struct seen_event {
    int64_t number, job;
    uint64_t hash;
};

/* Somebody who waits for a job, by a stream of its events. */
struct waiter {
    struct server_reply reply; /* of a stream, if it is open */
    struct strbuf text;        /* what was read and is not a whole event */
    int64_t job, last;         /* 0: nobody; number of the last event that came */
};

struct scene {
    struct random r;
    uint64_t seed;
    struct sim_server *w;
    struct told *told;      /* by number */
    int64_t n, cap, oldest; /* oldest: all before are over */
    bool failing;           /* the disk is full */
    struct random refusals; /* when the engine can start nothing, and again */
    int64_t refused_until;  /* nothing needs to start before */
    int refused_starts;
    int crashes, submissions, lost, full, reloads, refused, jumps, reboots, promises, shares_kept,
        overruns;

    int64_t base;             /* the ledger's time - the machine's */
    int64_t looks, last_look; /* number and time of the last look */
    int64_t good_since;       /* turns have succeeded since */
    size_t failed, lingered;  /* as of the last look */
    bool jumped;              /* the wall clock was set, and nothing was stored since */

    /* What may move promises, since the last look. */
    bool disturbed;       /* something that may move any */
    bool unlucky;         /* memory ran out */
    struct order arrival; /* the first of those who came */
    struct late *late;    /* starts since then */
    size_t n_late, cap_late;

    struct asked *asked; /* by run */
    size_t cap_asked;
    struct {
        size_t core[CORES], gpu[GPUS]; /* run + 1 */
        int down;                      /* drained or down: 0, 1, or -1: nobody knows */
    } node[NODES];
    int stopped[QUEUES];            /* likewise */
    int blocked[BLOCKS];            /* a block of that number is added: likewise */
    int64_t queue_priority[QUEUES]; /* as configured */
    int config;

    struct seen_event *events;
    size_t n_events, cap_events;
    struct kept_row *rows;
    struct waiter waiter[WAITERS];
};

/* ---- prop_server.c ---- */

void scene_fail(struct scene *c, const char *what, int64_t job, int64_t member)
    __attribute__((noreturn));
bool scene_chance(struct scene *c, int one_of);
json_t *scene_ask(struct scene *c, const char *method, const char *path, const char *query,
                  const char *body, int *status);
int64_t scene_now(const struct scene *c);

/* Memory never runs out until scene_scarce(c, true), where this seed has that at all. Returns what it was. */
bool scene_scarce(struct scene *c, bool scarce);
/* Once, in the next thing that the server does: after so many allocations, and some time from then on. */
void scene_fail_memory(int64_t after);

/* ---- server_told.c: what users do, and what they are told ---- */

struct told *told_of(struct scene *c, int64_t id);

/* Whether an array has a member below its `members`. */
static inline bool told_has(const struct told *t, int member)
{
    return member < t->members && !(t->gap == 2 ? member % 2 : t->gap && member == 1);
}
void told_submit(struct scene *c);
void told_change(struct scene *c);
void told_check_list(struct scene *c); /* all that was acknowledged is there, once, as it was */
int told_queue(const char *name);
void told_adopt(struct scene *c, const json_t *row); /* nobody knew whether it had been taken */

/* ---- server_rows.c: listings ---- */

/* Call for each row of a listing of jobs, in their order. Whether more follow: `next` then says from where.
 * 
 */
typedef void row_fn(struct scene *c, const json_t *row, void *arg);
bool rows_each(struct scene *c, const struct strbuf *listing, row_fn *what, void *arg, char *next,
               size_t size);
void rows_free(struct scene *c);

/* ---- server_laws.c: who starts when, and where ---- */

/* A run was asked for: may it start now, and there? */
void laws_asked(void *scene, size_t run);
/* After a turn that succeeded: what was promised stands, but for what came in between. */
void laws_look(struct scene *c);
/* member -1: all of them */
void laws_arrived(struct scene *c, const struct told *t, int64_t id, int64_t member);
void laws_not_ready(struct scene *c,
                    int queue); /* jobs of a queue (-1: of all) may wait for something else */
/* What a reboot was like: whether there was a look just before, whether the wall clock says for how long
 * the machine was off, and the latest time that it may be by the server's clock.
 */
struct reboot {
    bool looked, exact;
    int64_t latest;
};
void laws_rebooted(struct scene *c, const struct reboot *how); /* before the first turn */
void laws_finish(struct scene *c);
bool laws_is_over(const char *state);

/* ---- server_admin.c: configurations, resources, queues ---- */

const char *admin_config(struct scene *c); /* the text of the one in force */
char *admin_shares(struct scene *c);       /* the tree of shares; to be freed */
void admin_change(struct scene *c);
void admin_reload(struct scene *c);
void admin_check(struct scene *c); /* what was acknowledged is in force */
void admin_open(
    struct scene *c); /* open the server, now and then first with a configuration that is wrong */
void admin_restore(struct scene *c); /* all is up and goes */

/* ---- server_events.c: streams ---- */

void events_read(struct scene *c);  /* what came since, and again what is known from somewhere on */
void events_close(struct scene *c); /* streams end with the server */
void events_finish(struct scene *c);

#endif
