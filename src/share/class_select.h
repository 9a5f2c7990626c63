/* Which tasks of a class start, and which stop, when it is known how many units.
 *
 * Both take no more units than they are told. A task that takes more than what is left of them is passed
 * over.
 */
#ifndef SHARE_CLASS_SELECT_H
#define SHARE_CLASS_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job with tasks that wait, the one that is to start first at their beginning. */
struct class_job {
    int64_t running;      /* units */
    const int64_t *sizes; /* units that each waiting task takes, at least 1; NULL: one each */
    size_t waiting;       /* tasks */
    /* Selected: so many of its waiting tasks, from the first. */
    size_t taken;
};

/* Select tasks to start: the next one is the first that waits of the job with the fewest running units, what
 * was selected included; of equal jobs the one that has been there for longer goes first, and they take
 * turns. A job whose next task is passed over is out of the round. The jobs of the tasks go into order, one
 * number for each task, which has room for as many as there are units or waiting tasks, whichever is less.
 * Returns the number of tasks, or -1 with ENOMEM, and no task taken. There are fewer than 2^32 jobs.
 * O((jobs + tasks) log jobs).
 */
int64_t class_select_starts(struct class_job *jobs, size_t n, int64_t units, uint32_t *order);

/* A task that runs. */
struct class_running {
    int64_t started;
    int64_t units; /* at least 1 */
    uint64_t id; /* of equal starts the larger id goes first; the caller's, and no two are equal */
    bool stop;   /* selected */
};

struct class_stop_rule {
    int64_t now;
    int64_t shortest; /* tasks that have run for less are left alone; 0: none */
    int64_t longest;  /* tasks that have run for longer are left alone; 0: none */
};

/* Select tasks to stop: those that started last first, since least work is lost with them. Sorts the tasks in
 * that order. Returns how many units stop. O(n log n).
 */
int64_t class_select_stops(struct class_running *tasks, size_t n, int64_t units,
                           const struct class_stop_rule *rule);

#endif
