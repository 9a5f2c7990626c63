/* An array as one: how many of its members are in each state, and which. */
#ifndef SERVER_ARRAY_SUM_H
#define SERVER_ARRAY_SUM_H

#include "base/idset.h"
#include "base/json_out.h"
#include "server/core/job_text.h"

/* What members are counted as: those that wait and are held apart, and those that are starting as running. */
enum sum_state {
    SUM_PENDING,
    SUM_HELD,
    SUM_RUNNING,
    SUM_DONE, /* from here on: ended */
    SUM_FAILED,
    SUM_CANCELLED,
    SUM_TIMEOUT,
    SUM_STATES
};

/* All zero at first. */
struct array_sum {
    uint32_t counts[SUM_STATES];
    struct idset members[SUM_STATES];
    bool no_memory; /* something is missing */
    bool ranges;    /* sets have ranges of which not all exist */
    /* Of those that were added one by one: the first start and the last end, us since 1970, -1: none; the
     * highest exit status or else signal, the highest memory and the sum of the others, -1: unknown; the most that
     * one held, -1: none is known to have held anything.
     */
    bool any;
    char *reason[SUM_STATES]; /* of the first in each state that has one; NULL: none has */
    int64_t nodes, cores, gpus;
    int64_t start, end, peak_memory, cpu_time;
    int exit_status, exit_signal;
    uint32_t attempts;
};
void array_sum_clear(struct array_sum *sum);

/* Count the members of a job in memory. O(pages + records). */
void array_sum_job(struct array_sum *sum, const struct job *job);

/* Count one of a job in the store, or a range; members come in ascending order. O(1). And all were counted:
 * these are the indices of its members, as stored. O(ranges).
 */
void array_sum_add(struct array_sum *sum, const struct store_member *m);
void array_sum_added(struct array_sum *sum, const char *indices);

/* Count all of a job that is over. Returns 0, or -1 with a text. O(members). */
int array_sum_stored(struct array_sum *sum, store_t *store, int64_t id, berth_error_t *err);

/* Whether any member is in one of these states of the store, as bits. */
bool array_sum_has(const struct array_sum *sum, unsigned states);

/* The member of a job in memory that stands for the whole: the one that asks for all of a gang; else the first that waits
 * and is not held, or else that waits, or else that runs, or else of that state.
 */
uint32_t array_sum_first(const server_t *s, const struct array_sum *sum, const struct job *job);

/* Show a job in memory as a whole, with what else there is to say of that member. */
void array_show(server_t *s, const struct job *job, const struct array_sum *sum,
                struct job_shown *shown);

/* Show a job that is over. */
void array_show_stored(const struct store_job *job, const struct array_sum *sum,
                       struct job_shown *shown);

/* Write "summary", the counts; "indices", those of all members; and "ranges", those of each state that has
 * some.
 */
void array_sum_put(struct json_out *out, const struct array_sum *sum);

/* Append "95 pending, 3 running, 1 failed". */
void array_sum_words(struct strbuf *out, const struct array_sum *sum);

#endif
