/* GET /v1/jobs, in two files: its parameters and the stream (list.c), and the rows (list_rows.c). */
#ifndef SERVER_LIST_H
#define SERVER_LIST_H

#include "server/api/api.h"
#include "server/api/array_sum.h"

#define LIST_OVER_BITS                                                                             \
    (1u << STORE_DONE | 1u << STORE_FAILED | 1u << STORE_CANCELLED | 1u << STORE_TIMEOUT)

#define LIST_LOOK_MAX 256 /* rows skipped before other requests have their turn */

#define LIST_ESTIMATES      50 /* jobs that are promised nothing and whose earliest starts are told */
#define LIST_ESTIMATES_TURN 4 /* of which so many are found before other requests have their turn */

struct list {
    struct server_stream stream;
    struct call caller; /* identifies the caller */
    struct server_request request;
    char *user, *queue, *name, *label, *ids, *next_id;
    uint32_t next_member; /* of the next id */
    struct api_states states;
    bool newest;
    bool arrays;        /* a row for each array, instead of for each of its members */
    int64_t left;       /* rows */
    int64_t since;      /* only members that ended then or later; -1: any */
    int64_t id, member; /* the last row of a live member */
    bool live_over;
    struct store_cursor *cursor;
    /* the next ended member is in `stored`, as the store's texts are valid only until its next call */
    bool has_stored;
    int64_t stored_id, stored_member;
    struct strbuf stored;
    /* Of an array that is over: its members that have not been counted yet, and the others. */
    struct store_cursor *part;
    int64_t part_id;
    struct array_sum sum;
    struct json_out json; /* the state after the rows so far */
    bool over;
    int64_t last_id, last_member; /* the last row written */
    /* Jobs that are promised nothing and whose earliest starts were asked for: all, since others had their
     * turn, and the last of them (-1: none).
     */
    size_t estimates, estimates_now;
    sched_job_t estimated;
    char why
        [SCHED_REASON_TEXT]; /* that one waits, whose members are behind one that is promised a time */
    int64_t not_before;
};

/* Write one more row, or skip something. Returns 1, 0 at the end, or -1 (EAGAIN: to be continued). list_next
 * goes through all jobs, list_next_named through those of `ids`.
 */
int list_next(struct list *l);
int list_next_named(struct list *l);

#endif
