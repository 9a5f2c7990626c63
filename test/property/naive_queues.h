/* Named queues spelled out, over a machine of a few nodes, which jobs have to themselves or share by core: every pass looks
 * at every job and every reservation, and what is free is asked of all bookings. Nothing is remembered but
 * what the rules name: what is new, and whether something was given back (src/sched/pass/ says the same).
 *
 * Sets of nodes are bits, one for each core: those of the first node, then those of the next one.
 */
#ifndef PROPERTY_NAIVE_QUEUES_H
#define PROPERTY_NAIVE_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

enum { NQ_NODES = 8, NQ_JOBS = 160, NQ_LANES = 4, NQ_DECISIONS = 2048 };

/* How long a job holds its nodes whose end nobody knows: longer than any scene. */
enum { NQ_ENDLESS = 1000000 };

enum { NQ_ACCOUNTS = 3 };
enum { NQ_USERS = 3, NQ_WHATS = 2 };
enum { NQ_CLASSES = 3 };
enum { NQ_BLOCKS = 3 };

/* Of queues and of virtual ones; and of the first division and of accounts, once for the promises to jobs of each queue. */
enum {
    NQ_CALENDARS =
        2 * NQ_LANES * (NQ_USERS + 1) * NQ_WHATS + NQ_LANES * (1 + NQ_ACCOUNTS * NQ_WHATS)
};

/* Limited: blocked, as it is over a limit. Behind: of an array, behind a member that waits together with it,
 * and for both. Full: blocked, as so many of its array hold something as may at a time. Aside: blocked, by its user, until a time,
 * or until others have started or ended (naive_waits.h).
 */
enum nq_state { NQ_OPEN, NQ_HELD, NQ_RUNNING, NQ_GONE, NQ_LIMITED, NQ_BEHIND, NQ_FULL, NQ_ASIDE };

/* What a job asks for `count` times: a node, a core wherever it is, some cores of a node. */
enum nq_piece { NQ_NODE, NQ_CORE, NQ_SHARED };

/* What a job waits for: that those of others [from, until), a job or an array, have started, ended, ended well, or ended and
 * one of them at least not well.
 */
enum nq_for_what { NQ_AFTER, NQ_AFTER_ANY, NQ_AFTER_OK, NQ_AFTER_NOT_OK };
struct nq_wait {
    enum nq_for_what for_what;
    int from, until;
};
enum { NQ_WAITS = 2 };

struct nq_job {
    enum nq_state state;
    int lane, user, count;
    enum nq_piece piece;
    int of_node;     /* of a shared node so many cores */
    int account;     /* where there are some */
    bool is_virtual; /* submitted to the virtual queue that the lane's queue has */
    int64_t priority, at, submitted;
    int64_t duration, estimate, limit; /* as naive_tails.h has them; INT64_MAX: no limit */
    bool expected, expected_told;      /* held: its start is not promised; and so it was told */
    bool softened;    /* promised, and in this pass only expected, perhaps for a while */
    int64_t deadline; /* its minute, where its queue goes by that; INT64_MAX: none */
    int64_t order;    /* its place among equals, the least first; each has another one */
    uint32_t nodes;   /* of a held or running one */
    int array;        /* its first member; -1: it is of none */
    int min;          /* its array is a gang, of which so many start together; 0: it is none */
    int whole; /* it asks for so many members together, itself and those behind it; 1: for itself */
    int roles; /* of its gang; each of the members of one asks for the same */
    int role, role_min; /* the first one is 0; so many of it start with the others */
    bool goes_on;       /* its gang goes on when a member fails, as long as its min is there */
    bool is_over;       /* the first of a gang: so many have failed that nobody goes on */
    int most;           /* of its array that may run or be promised a time at once; 0: any number */
    /* It waits with others of its array: the first of them is open or held, the others behind it. */
    bool together;
    bool fresh, placed;
    bool
        too_deep; /* open: the last pass left it beyond its queue's depth, before a holder of that */
    bool let_in;  /* it was, and is new for that in this pass: it is so once */
    bool lifted;  /* out of the machine's calendars for a while, */
    bool set_aside;      /* and out of those of limits: a victim that is tried is not */
    bool is_placed_anew; /* its reservation is, and until then it stands where it stood with that */
    int64_t displaced; /* waiting: the time that it was promised before the machine took that; -1 */
    bool preempting;   /* held: it starts when its victims have ended */
    int victims;       /* that have not */
    int64_t after;     /* it may be a victim when it has run for so long; 0: when it has at all */
    bool stopping;     /* running: it was told to stop for another */
    bool looks_again; /* promised a time in the sweep or before it: it looks once more at its end */
    bool awaits[NQ_JOBS]; /* held: these must have ended before it starts */
    bool kept;            /* held: by a limit alone, whose promise it holds, */
    int keeper;           /* this one's */
    bool due;       /* limited: what its user or its queue has decreased since it was looked at */
    bool let_again; /* in this pass, after it was limited */
    bool candidate; /* open: let go on for a promise of its limit */
    bool held;      /* aside: by its user */
    int64_t begin;  /* it starts at this time at the earliest, */
    bool later;     /* which has not come yet in a pass */
    struct nq_wait waits[NQ_WAITS];
    int n_waits;
    bool ended_well; /* gone */
    bool refused;    /* gone: it never waited, or not by itself */
    bool rejected;   /* gone: it can never start, which nobody was told yet */
    bool to_tell;    /* nor those who wait for it, whom the next pass tells */
    bool cleared;    /* running: it is to stop for a block, */
    bool dismissed;  /* or as its gang is over, */
    bool to_clear;   /* which nobody was told yet; */
    bool leaving;    /* or its shell stops it by itself */
};

/* What compares queues, or users of one; as enum sched_comparator. */
enum nq_by {
    NQ_BY_PRIORITY,
    NQ_BY_SHARE,
    NQ_BY_DRF,
    NQ_BY_FEWEST_RUNNING,
    NQ_BY_AGE,
    NQ_BY_SUBMIT,
    NQ_BY_DEADLINE,
    NQ_BY_USAGE
};
enum { NQ_BYS = 4, NQ_DIVISIONS = 2 };

struct nq_lane {
    int64_t depth, queue_depth, priority;
    uint32_t part;
    bool preemptible;
    bool stopped;     /* none of its jobs may start, or is promised a time */
    bool closed[2];   /* it takes no new jobs; and its virtual queue doesn't */
    bool returned;    /* a job was stopped that is not to put others off, */
    bool taken;       /* and is to have a promise that was taken back for it */
    bool has_virtual; /* one whose parent it is: its jobs have another priority */
    int64_t virtual_priority;
    int64_t default_duration, default_limit; /* where jobs may last longer than planned */
    int64_t user_most[NQ_WHATS],
        queue_most[NQ_WHATS]; /* running jobs, nodes; INT64_MAX: no limit */
    int64_t virtual_user_most[NQ_WHATS], virtual_queue_most[NQ_WHATS];

    /* With shares (naive_shares.h). */
    bool by_user, by_account; /* and by user in each account */
    bool by_priority, by_deadline;
    int64_t wait;     /* of its jobs at most, for their deadlines; 0: nothing is said */
    int division;     /* -1: none */
    bool in_division; /* the first */
    int64_t weight, weights[NQ_USERS], guarantee;
    enum nq_by by[NQ_BYS];

    /* Or by class (naive_classes.h), the largest percentage first. */
    int classes; /* how many; 0: it has none */
    int64_t percent[NQ_CLASSES];
    int class_of[NQ_USERS];
    int64_t worker; /* nodes */
    bool longest_first;
};

/* Turns of the classes of a queue in a walk: what each may start since it was counted, and what it had then. */
struct nq_turns {
    bool is_counted, has_none[NQ_CLASSES];
    int64_t rank[NQ_CLASSES], start[NQ_CLASSES], had[NQ_CLASSES];
};

/* What a node of the tree of shares has used by now, as the core says: prop_share holds that to an integral. Those that
 * the node is not are -1.
 */
struct nq_usage {
    int division, lane, account, user, class;
    __extension__ __int128 amount;
};
enum { NQ_SHARES = 64 };

/* A user's jobs in a queue, of an account where there are some, as whose the first one came. */
struct nq_whose {
    int lane, account, user;
};

/* An account, which is part of one before it, or of none (-1). */
struct nq_account {
    int parent;
    int64_t weight, weights[NQ_USERS];
    int64_t most[NQ_WHATS];
};

/* Nodes that are set aside during [start, start + duration), and again each `every` (0: never); but for jobs of these
 * users, queues and virtual queues, as bits, and for one job (-1: none).
 */
struct nq_block {
    uint32_t nodes; /* 0: there is no such block */
    int64_t start, duration, every;
    uint32_t users, lanes, virtuals;
    int job;
};

/* The first job of a queue that promises nothing may not be overtaken by lower queues: these see it there. */
struct nq_head {
    bool is;
    int job;
    int64_t at;
    uint32_t nodes;
};

enum nq_kind { NQ_START, NQ_PROMISE, NQ_PREEMPT, NQ_AWAIT };

struct nq_decision {
    enum nq_kind kind;
    int job, other; /* of NQ_PREEMPT and NQ_AWAIT: for whom */
    int64_t at;
};

struct naive_queues {
    int nodes, cores, lanes, jobs; /* cores of each node */
    int64_t next_order;            /* behind all jobs that came before */
    uint32_t down;
    struct nq_block block[NQ_BLOCKS];
    struct nq_lane lane[NQ_LANES];
    bool shares;
    bool deadlines_first; /* they count before priorities, in all queues; else behind them */
    enum nq_by by[NQ_BYS], division_by[NQ_DIVISIONS][NQ_BYS];
    int divisions;
    bool has_accounts;
    bool nested; /* the second division is part of the first */
    int64_t division_weight[NQ_DIVISIONS];
    struct nq_usage usage[NQ_SHARES];
    int usages;
    struct nq_whose whose[NQ_SHARES]; /* in the order in which they came */
    int whoses;
    struct nq_account account[NQ_ACCOUNTS];
    struct nq_turns turns[NQ_LANES];
    int64_t division_most; /* nodes that queues of the first division have together */
    struct nq_head head[NQ_LANES];
    bool stacks; /* these are being placed, each beside those before it */
    struct nq_job job[NQ_JOBS];
    int64_t now, passed; /* when the last pass was */
    bool swept, repair;
    bool recounts; /* queues have other rules, by which what is promised has not been counted yet */
    bool
        judges_all; /* else nobody is judged anew before others are looked at, unless something was given back */
    int left;       /* behind this one repair has left holders to those that take their turns; -1 */
    int swept_to;   /* the last one that had its turn in a sweep of this pass; -1 */
    bool back;      /* something has come back */
    bool displaces; /* what is placed anew is so since the machine is in the way */
    bool softens;   /* a promise is only expected from now on */
    bool has_renewed; /* those that are displaced have had a turn once more in this pass */
    bool made_room;   /* for a holder, in this walk */
    bool outranking;
    bool sweeping;              /* an open job has its turn in the sweep */
    bool walking;               /* or in the walk */
    int let;                    /* jobs that the end of the pass has let go on */
    bool has_let[NQ_CALENDARS]; /* one go on for a promise in this pass, */
    int let_with[NQ_CALENDARS]; /* when it had so many */
    struct nq_decision decision[NQ_DECISIONS];
    int decisions;
};

/* All cores of these nodes: from the first one to the last one; of those of which there is some. */
uint32_t nq_cores_of(const struct naive_queues *q, int first, int last);
uint32_t nq_whole_nodes(const struct naive_queues *q, uint32_t nodes);

/* How many pieces and cores a job asks for. */
int nq_pieces_asked(const struct naive_queues *q, int job);
int nq_cores_asked(const struct naive_queues *q, int job);

/* The first of these that the policy gives a job; 0: they are too few. */
uint32_t nq_lowest(const struct naive_queues *q, int job, uint32_t of);

/* What the first member gets of a job that asks for several together. */
uint32_t nq_lowest_of_one(const struct naive_queues *q, int job, uint32_t of);

/* The priority of the queue that a job was submitted to. */
int64_t nq_level(const struct naive_queues *q, int job);

/* Of jobs of one priority, and deadline, of one queue with classes: the lesser goes first. */
int64_t nq_length(const struct naive_queues *q, int job);

/* Whether a job goes before another one. */
bool nq_before(const struct naive_queues *q, int a, int b);

int nq_submit(struct naive_queues *q, int lane, int user, int count, int64_t duration,
              int64_t priority);

/* The same for an array; its members follow each other. And one of them is to wait for itself. */
int nq_submit_array(struct naive_queues *q, int members, int most, int lane, int count,
                    int64_t duration, int64_t priority);
void nq_split(struct naive_queues *q, int job);

/* The first of those that wait together with a job that is behind it. */
int nq_first_together(const struct naive_queues *q, int job);

/* The next of those that wait together with a job, behind it; -1: there is none. */
int nq_next_together(const struct naive_queues *q, int job);

/* Whether as many of a job's array run, or are promised a time, as may at once. */
bool nq_is_full(const struct naive_queues *q, int job);

/* How many more do than may. */
int nq_beyond(const struct naive_queues *q, int job);

/* So many of a job's array may hold something at once from now on; 0: any number. */
void nq_set_most(struct naive_queues *q, int job, int most);
void nq_end(struct naive_queues *q, int job); /* for whatever reason */
void nq_cancel(struct naive_queues *q, int job);
void nq_finish(struct naive_queues *q, int job, bool ok);
void nq_requeue(struct naive_queues *q, int job);
void nq_prioritize(struct naive_queues *q, int job, int64_t priority);

/* Another estimate and limit: of a job that waits, with all that wait together with it, or of one that runs. One that is promised
 * a time gives it back, and takes its turn as a new one.
 */
void nq_set_times(struct naive_queues *q, int job, int64_t estimate, int64_t limit);

/* A job's queue, account and user are known. */
void nq_come(struct naive_queues *q, int job);

/* Its user sets a job aside that waits by itself, which gives up what it is promised; and lets it go on, as a new one. */
void nq_hold(struct naive_queues *q, int job);
void nq_release(struct naive_queues *q, int job);

/* A queue's jobs may start from now on, or may not; then they give up what they are promised. */
void nq_start_queue(struct naive_queues *q, int lane);
void nq_stop_queue(struct naive_queues *q, int lane);

/* A job that runs is being stopped by its shell. */
void nq_leave(struct naive_queues *q, int job);

/* Likewise another account, of a job that waits. */
void nq_set_account(struct naive_queues *q, int job, int account);

/* A job that waits is moved to another queue, with all that wait together with it, and takes its turn there as a new one. */
void nq_move(struct naive_queues *q, int job, int lane, bool is_virtual);
/* Likewise it asks for something else. */
void nq_ask_for(struct naive_queues *q, int job, int count, enum nq_piece piece, int of_node);

/* Whether a queue would take a job as a new one, if it takes any. */
bool nr_could_ever(const struct naive_queues *q, int job);

/* Queues go by other rules from now on. Jobs that wait go before others than they did, perhaps: then they take their turn as new
 * ones.
 */
void nr_use(struct naive_queues *q, const struct nq_lane lane[NQ_LANES]);
void nq_status(struct naive_queues *q, int node, bool down);
void nq_pass(struct naive_queues *q, int64_t now);

/* When the earliest reservation is due, or a running job can be preempted first; INT64_MAX for none. */
int64_t nq_next_time(const struct naive_queues *q);

#endif
