/* What follows for a directed run from what is known of it. Pure: no clock, no process, no file. */
#ifndef ENGINE_SLURM_JUDGE_H
#define ENGINE_SLURM_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/slurm/directed.h"
#include "engine/slurm/queue.h"

#define JUDGE_PENDING 5  /* s that a job waits at Slurm until it is taken back */
#define JUDGE_TWICE   10 /* s between two answers that do not have a job, until there is none */
#define JUDGE_LAST    5  /* s for the last words of a run whose job is over */
#define JUDGE_SILENT  60 /* s that a job runs without a word of its run until it is taken back */

struct judge_seen {
    enum taker taker;
    bool ended;   /* the run has said how it ended, on all of its nodes */
    bool broken;  /* it was lost or not started on one of them, and goes on on others */
    bool asked;   /* it may have been submitted */
    bool answers; /* Slurm has answered since */
    const struct squeue_job *job; /* its line; NULL: Slurm has no such job */
    int64_t since;       /* when its state became what it is, or when it was first missed; s */
    bool given_up;       /* Slurm has lost sight of one of its nodes */
    bool is_lost;        /* somebody knows that nothing runs any more on one of its nodes */
    bool nodes_are_back; /* none of its nodes is down at Slurm any more */
    int cancel;          /* a signal that ends it; 0: none */
    int64_t now;         /* s */
};

enum judgement {
    JUDGE_WAIT,
    JUDGE_SUBMIT,
    JUDGE_TAKE_KILLED,   /* take it; then it was killed before it began */
    JUDGE_TAKE_REFUSED,  /* take it; then it is to be planned anew */
    JUDGE_TAKE_OCCUPIED, /* the same, and others have what was to be free on its nodes */
    JUDGE_TAKE_FAILED,   /* take it; then somebody has cancelled it at Slurm */
    JUDGE_ENDED,
    JUDGE_LOST,
    JUDGE_STOP /* kill what goes on of it */
};

enum judgement directed_judge(const struct judge_seen *seen);

#endif
