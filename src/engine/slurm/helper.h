/* berth-slurm: its state, and the calls between its parts.
 *
 * It is one process with one thread that does one thing after the other. What it knows of runs it finds in their folders, so
 * it may be killed at any time.
 */
#ifndef ENGINE_SLURM_HELPER_H
#define ENGINE_SLURM_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/error.h"
#include "engine/slurm/command.h"
#include "engine/slurm/directed.h"
#include "engine/slurm/nodes.h"
#include "engine/slurm/queue.h"

#define RUN_NAME    "berth-run" /* of all jobs */
#define SUBMIT_MOST 8           /* runs that are submitted at a time */

/* What one of the nodes of a run has said. */
enum heard { HEARD_NOTHING, HEARD_STARTED, HEARD_ENDED };

struct held_run {
    uint64_t key;
    struct directed ask;
    enum heard *heard;         /* of each place */
    char job[24];              /* its number, "": unknown */
    char state[24];            /* Slurm's word; "": it has no such job */
    char why[64];              /* the same, why it waits */
    int64_t since;             /* s: when that became so */
    bool missed;               /* it was not in the last answer */
    bool listed;               /* it is in the answer that is read now */
    bool is_submitted;         /* sbatch runs for it, or berth-bridge has it */
    bool by_command;           /* it has a word that berth-bridge does not know */
    bool waits;                /* for others to have been submitted */
    int64_t asked_at;          /* s of the last sbatch; 0: none that may have been heard */
    int64_t look_at, begun_at; /* ms: when to look into its folder; when it was heard of first */
    int cancel;
    bool given_up;
    bool is_lost; /* somebody knows that nothing of it runs */
    bool told_started, told_end;
    bool stopped;               /* it was told to end since it is broken */
    bool forgotten;             /* its folder is gone; it is kept until Slurm has done with it */
    bool was_active, is_active; /* in the answer of squeue before, and in the last one */
};

struct held_node {
    struct slurm_node said; /* its texts are own copies */
    int64_t held_until;     /* s: Slurm has not started there what was to start */
};

/* An sbatch that runs; or berth-bridge has it, until command.until at most. */
struct submission {
    uint64_t key;
    bool by_bridge;
    struct command_going command;
};

/* berth-bridge, which submits without a command for each: it need not be there. */
struct bridge {
    pid_t pid; /* 0: there is none */
    int fd;
    bool is_ready;
    int64_t again_at; /* ms by CLOCK_MONOTONIC: when one is started again */
};

/* What Slurm has refused last. */
struct refusal {
    char label[80], node[SLURM_NAME_MOST + 1], why[300];
};

struct helper {
    int runs;            /* the folder */
    const char *folder;  /* its path */
    const char *program; /* berth-run */
    const char *tag, *partition, *options;
    int control;
    struct strbuf in, out;
    struct held_run **v; /* by their keys */
    size_t n, cap;
    struct submission going[SUBMIT_MOST];
    size_t n_going;
    struct bridge bridge;
    struct refusal refusal;
    struct strbuf to_cancel, to_nudge, to_nudge_steps; /* numbers of jobs, each with a blank */
    struct held_node *nodes;                           /* in the order of hostlist_compare */
    size_t n_nodes, cap_nodes;
    char chosen[256];           /* the partition that jobs are given to; "": not known yet */
    bool answers;               /* Slurm has answered the last question */
    char trouble[300];          /* as it was told */
    int64_t answered_at;        /* s: when squeue was asked the last time that it answered */
    int64_t queue_at, nodes_at; /* ms: when to ask again */
};

/* Clocks: s and ms from some moments on, and us since 1970, which alone is told to others. */
int64_t helper_now(void);
int64_t helper_ms(void);
int64_t helper_wall(void);

/* Note whether Slurm answers; the server is told of a change. */
void helper_answered(struct helper *h, bool answers, const char *why);

/* Find and drop a run. O(log n), and O(n) at worst. */
struct held_run *helper_find(const struct helper *h, uint64_t key);
void helper_drop(struct helper *h, struct held_run *run);

/* See in the folder of a run whether it was told to end: berth-run may have seen that there before the server's word came. */
void helper_read_cancel(const struct helper *h, struct held_run *run);

/* ---- Submitting (helper_submit.c) ---- */

/* Begin to submit a run; fewer than SUBMIT_MOST are being submitted. 0; or -1 with a text, and as command_run. */
int helper_submit(struct helper *h, struct held_run *run, berth_error_t *err);

/* See which have been (helper_submitted); and end all. */
void helper_follow_submissions(struct helper *h);
void helper_end_submissions(struct helper *h);

/* ---- berth-bridge (helper_bridge.c) ---- */

/* Start it, where it is installed, does not run and has not just ended. */
void bridge_look(struct helper *h);

/* Hand it an sbatch. False: there is none that has time for it, so a command is run. */
bool bridge_begin(struct helper *h, uint64_t key, const struct command *c,
                  const struct strbuf *script);

/* See what it has submitted, and end it if it has had one for too long: nobody knows then of those that it has. */
void bridge_follow(struct helper *h);
void bridge_end(struct helper *h);

/* ---- Slurm (helper_slurm.c) ---- */

/* End a job, if its number is known; or have a run look for signals. Slurm is told by the next helper_send_signals, of all
 * together; what is to end, once it answers.
 */
void helper_cancel(struct helper *h, const char *job);
void helper_nudge(struct helper *h, const struct held_run *run);
void helper_send_signals(struct helper *h);

/* Run a command, and note whether Slurm answers. As command_run. */
int helper_ask(struct helper *h, const struct command *c, struct strbuf *said);

/* A node by its name, or NULL (helper_nodes.c, as what follows). */
struct held_node *helper_node(const struct helper *h, const char *name);

/* Ask for all jobs, and for all nodes, which the server is told. */
void helper_ask_queue(struct helper *h);
void helper_ask_nodes(struct helper *h);

/* Start nothing on the nodes of a run for a while. */
void helper_hold_nodes(struct helper *h, const struct held_run *run);

/* Whether none of the nodes of a run is down. */
bool helper_nodes_are_back(const struct helper *h, const struct held_run *run);

/* ---- Runs (helper_look.c) ---- */

/* Look what has become of a run, and do what follows. */
void helper_look(struct helper *h, struct held_run *run);

/* sbatch has ended: with the number of a job, or an errno as of command_run, and why. */
void helper_submitted(struct helper *h, struct held_run *run, const char *job, int failure,
                      const char *why);

#endif
