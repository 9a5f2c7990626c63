/* What squeue says of a job, in the form in which Berth asks: a line each. */
#ifndef ENGINE_SLURM_QUEUE_H
#define ENGINE_SLURM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* The form, and one of its lines: the texts point into the line, which is cut up. */
#define SQUEUE_FORMAT "%A|%T|%S|%e|%N|%k|%r"
struct squeue_job {
    const char *job, *state, *start, *end, *nodes, *comment, *reason;
};

/* 0, or -1: it is no such line. */
int squeue_read(char *line, struct squeue_job *job);

/* "2026-11-25T23:10:00", local time, as seconds since 1970; 0: "N/A" or anything else. */
int64_t squeue_time(const char *text);

/* Why a job waits that will wait for ever, unless somebody changes it or the cluster. */
bool squeue_is_stuck(const char *reason);

/* A state in which all processes of a job are dead, for certain. */
bool squeue_is_final(const char *state);

#endif
