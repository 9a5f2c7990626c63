/* Random scenes for naive_queues.h, played by the core and by the model: what prop_queues_naive does, by subject. */
#ifndef PROPERTY_NAIVE_PLAY_H
#define PROPERTY_NAIVE_PLAY_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "berth/match.h"
#include "berth/resource.h"
#include "berth/sched.h"
#include "berth/sched_config.h"
#include "check.h"
#include "naive_queues.h"
#include "random.h"

/* What one scene in seven has beside the rest; or all, with its name in the environment (prop_queues_naive.c). */
enum scene_rule {
    WITH_STOPS = 1,    /* queues are stopped, and take no new jobs for a while */
    WITH_WAITS = 2,    /* jobs wait for others, and may not begin before a time */
    WITH_MOVES = 4,    /* jobs are moved to other queues, and nodes drained */
    WITH_AFTER = 8,    /* jobs may be stopped only when they have run for so long */
    WITH_ASKS = 16,    /* jobs that wait ask for something else */
    WITH_RELOADS = 32, /* queues get other rules */
    WITH_LATE = 64,    /* jobs take a while to end when their limits are over */
    WITH_TRIES =
        128, /* a new job is told what it would be promised, before a pass that looks at it alone */
    WITH_BOUNDS = 512,  /* other numbers of members of an array may hold something at once */
    WITH_GANGS = 256,   /* some jobs are gangs, */
    WITH_ROLES = 1024,  /* and some of these of several roles */
    WITH_LEAVES = 2048, /* jobs are stopped by their shell, and take a while to end */
};

/* A scene: what it has is drawn from its seed. */
struct naive_play {
    uint64_t seed;
    struct random random;
    struct random deadline_random, block_random, tail_random, update_random, core_random,
        hold_random, change_random, late_random; /* beside the rest */
    unsigned rules;                              /* of enum scene_rule */
    match_t *match;
    sched_t *sched;
    struct sched_queue_config queue[2 * NQ_LANES]; /* virtual ones behind the others */
    struct sched_config config;
    struct naive_queues naive;
    int64_t end[NQ_JOBS], promised[NQ_JOBS];
    bool expected[NQ_JOBS]; /* what was promised last is only expected */
    bool requeue[NQ_JOBS];  /* of one that was told to stop */
    int64_t now;
    bool limits, levels, shares, accounts, deadlines, unknowns, classes, usage, is_wide, blocks,
        tails, updates, cores, holds;
    bool has_more_limits;
};

/* What all scenes have come to. */
struct naive_count {
    uint64_t decisions, preempted, full, asked_meanwhile, rejected, blocks, expected, overrun,
        stopped, updated, set_aside, queues_stopped, begins, waits, moved, asked_for_other, reloads,
        late, told, untold, bounds, gangs, roles, leaving;
};

extern struct naive_play run;
extern struct naive_count counted;

#define CHECK(condition) CHECK_IN(run, condition)

static inline int64_t draw(int64_t low, int64_t high)
{
    return random_between(&run.random, low, high);
}

/* ---- naive_draw.c ---- */

/* The names of queues, and of virtual ones. */
extern const char *const naive_queue_names[NQ_LANES], *const naive_virtual_names[NQ_LANES];

void draw_machine(void);
void draw_queues(void);

/* What a queue goes by: its policy and depths, its part of the machine, limits, priority, and whether it is preemptible. */
void draw_rules(struct nq_lane *lane, int i, struct sched_queue_config *queue);

/* Some scenes have limits; in some of these virtual queues and accounts have their own, drawn beside the rest. */
size_t draw_more_limits(uint64_t number, struct sched_limit *limit, int64_t most[NQ_WHATS],
                        int64_t high);

/* In some scenes jobs have deadlines, which count before priorities in all queues or in none. They are drawn beside the
 * rest, as a capability is.
 */
bool draw_deadline_of(int64_t low, int64_t high, int64_t *ret);

/* The order of a queue in which nobody takes turns. */
void draw_order_of_jobs(struct nq_lane *lane, struct sched_queue_config *queue);

/* In some scenes the next job's limit is no estimate, or it has none. This is drawn beside the rest. The job is known, and
 * the request is to say so.
 */
void draw_times(struct nq_job *job, struct sched_request *request);

/* What a queue says of jobs that don't. */
void draw_defaults(struct nq_lane *lane, struct sched_queue_config *queue);

/* How long a job lasts that starts. */
int64_t draw_lasts(const struct nq_job *job);

/* ---- naive_draw_shares.c ---- */

extern const char *const naive_accounts[NQ_ACCOUNTS];

/* Some scenes have shares (with SCENE_SHARES in the environment, all): an order that begins with the priority of
 * jobs or knows nothing of it, and where it tells nobody apart that of divisions, queues and users.
 */
bool draw_order(enum nq_by by[NQ_BYS], struct sched_share_order *order, bool priority);

/* Where the priority of jobs counts between queues, it does so in each of them. */
void draw_shares(struct nq_lane *lane, struct sched_queue_config *queue,
                 struct sched_weight weights[NQ_USERS], bool by_priority);

/* Some scenes have queues with classes, in most of which all queues share the machine. They are drawn beside the rest, as a capability is. */
void draw_classes(struct nq_lane *lane, struct sched_queue_config *queue);

/* Some of them have divisions, one level of them. */
void draw_divisions(struct sched_division division[NQ_DIVISIONS]);

/* The first one may hold its queues to so many nodes together. This is drawn beside the rest, so that scenes without
 * it are what they would be if there were none.
 */
void draw_capability(struct sched_division *division, struct sched_limit *capability);

/* All users are in all accounts. */
void draw_accounts(struct sched_account account[NQ_ACCOUNTS],
                   struct sched_weight weights[NQ_ACCOUNTS][NQ_USERS]);

/* ---- naive_submit.c ---- */

/* A job, or an array, as the core knows it. */
void play_submit(void);

/* What asks for so many pieces, in words. */
enum { JOBSPEC_TEXT = 400 };
void write_jobspec(char text[JOBSPEC_TEXT], int count, enum nq_piece piece, int of_node);

/* Which member of its array it is; and its handle. */
uint32_t member_of(int job);
sched_job_t handle_of(int job);

/* ---- naive_steps.c ---- */

/* Something happens. */
void play_event(void);

/* One of those that wait together is to wait for itself. */
void split_member(int job);

/* Perhaps a job gets another estimate and limit. */
void play_updates(void);

/* Perhaps a job that waits is held, or one that is so is released. */
void play_holds(void);

/* Perhaps a block is added, changed or removed. */
void play_blocks(void);

/* In such scenes (WITH_TRIES), after a pass: submit a job, ask what it would be promised, and have a pass promise it that. */
void try_new(void);

/* Jobs end whose time has come. */
void play_ends(void);

/* ---- naive_changes.c ---- */

enum { WAITS_TEXT = 80 };

/* Perhaps a queue is stopped or started, takes new jobs or does not (WITH_STOPS), a job is to wait for others or a time
 * (WITH_WAITS), is moved to another queue (WITH_MOVES), asks for something else (WITH_ASKS), or is stopped by its shell
 * (WITH_LEAVES).
 */
void play_changes(void);

/* ---- naive_reload.c ---- */

/* Some queues go by other rules from now on (WITH_RELOADS). */
void reload(void);

/* In such scenes the next job may wait: the request is to say so, and the job is known, with its members. Where it waits for
 * others, `text` says for whom.
 */
void draw_waits(int job, int members, struct sched_request *request, char text[WAITS_TEXT]);

/* In such scenes (WITH_AFTER) the next job may be stopped only after a while: the request is to say so, and the job is known,
 * with its members.
 */
void draw_after(int job, int members, struct sched_request *request);

/* What becomes of a node that goes down: perhaps it is drained, if jobs are moved. */
enum resource_status draw_down(void);

/* Where they wait, a job may fail. */
bool draw_ends_well(void);

/* ---- naive_compare.c ---- */

/* A pass of both decides the same, and leaves jobs in the same states. */
void play_pass(void);

/* ---- naive_ask.c ---- */

/* The tree of shares tells of all jobs; and asking for it decides nothing, as what follows shows. */
void ask_shares(void);

/* Of open jobs before which nobody goes there is one in each level: it has the turn that the model says. */
void ask_turns(void);

/* Who goes before a job that waits may be asked while a pass is at work, and decides nothing either: now of
 * one, now of another.
 */
void ask_meanwhile(void);

/* Tell the model what nodes have used by now. */
void tell_usage(void);

#endif
