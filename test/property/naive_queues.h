/* Named queues spelled out, over a machine of a few nodes that jobs have to themselves: every pass looks at
 * every job and every reservation, and what is free is asked of all bookings. Nothing is remembered but
 * what the rules name: what is new, and whether something was given back (src/sched/pass/ says the same).
 */
#ifndef PROPERTY_NAIVE_QUEUES_H
#define PROPERTY_NAIVE_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

enum { NQ_NODES = 8, NQ_JOBS = 160, NQ_LANES = 4, NQ_DECISIONS = 2048 };

enum nq_state { NQ_OPEN, NQ_HELD, NQ_RUNNING, NQ_GONE };

struct nq_job {
    enum nq_state state;
    int lane, count;
    int64_t priority, duration, at;
    uint32_t nodes; /* of a held or running one */
    bool fresh, placed, lifted;
    int64_t displaced; /* waiting: the time that it was promised before the machine took that; -1 */
    bool preempting;   /* held: it starts when its victims have ended */
    int victims;       /* that have not */
    bool stopping;     /* running: it was told to stop for another */
    int preempted_for; /* -1: nobody waits for that */
};

struct nq_lane {
    int64_t depth, queue_depth, priority;
    uint32_t part;
    bool preemptible;
};

/* The first job of a queue that promises nothing may not be overtaken by lower queues: these see it there. */
struct nq_head {
    bool is;
    int job;
    int64_t at;
    uint32_t nodes;
};

enum nq_kind { NQ_START, NQ_PROMISE, NQ_PREEMPT };

struct nq_decision {
    enum nq_kind kind;
    int job, other; /* of NQ_PREEMPT: for whom */
    int64_t at;
};

struct naive_queues {
    int nodes, lanes, jobs;
    uint32_t down;
    struct nq_lane lane[NQ_LANES];
    struct nq_head head[NQ_LANES];
    bool stacks; /* these are being placed, each beside those before it */
    struct nq_job job[NQ_JOBS];
    int64_t now;
    bool swept, repair;
    bool back;      /* something has come back */
    bool displaces; /* what is placed anew is so since the machine is in the way */
    bool made_room; /* for a holder, in this walk */
    struct nq_decision decision[NQ_DECISIONS];
    int decisions;
};

int nq_submit(struct naive_queues *q, int lane, int count, int64_t duration, int64_t priority);
void nq_end(struct naive_queues *q, int job); /* finished or cancelled */
void nq_requeue(struct naive_queues *q, int job);
void nq_prioritize(struct naive_queues *q, int job, int64_t priority);
void nq_status(struct naive_queues *q, int node, bool down);
void nq_pass(struct naive_queues *q, int64_t now);

/* When the earliest reservation is due, or a running job can be preempted first; INT64_MAX for none. */
int64_t nq_next_time(const struct naive_queues *q);

#endif
