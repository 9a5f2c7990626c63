/* Lists of jobs that are submitted at once and taken in slices, all or none of them.
 *
 * Each job is handed to the core as it is read, and waits there for a release whatever it says; nobody
 * sees it. Then all go to the store, slice by slice. There a value says that they are not complete: a
 * server that finds them so drops them. When the last one is written, that value says that they are. From
 * then on they come up one after the other: each is entered into the table and released, with the event
 * that tells of it.
 *
 * If one is wrong, or a commit fails before they are complete, all are taken back, in slices too.
 */
#ifndef SERVER_CORE_BULK_H
#define SERVER_CORE_BULK_H

#include "server/core/priv.h"
#include "server/core/work.h"

#define BULK_JOBS_MAX 100000

enum bulk_phase {
    BULK_READ,    /* jobs are added */
    BULK_WRITE,   /* they go to the store */
    BULK_COMMIT,  /* they are all there with the next commit */
    BULK_PUBLISH, /* they come up */
    BULK_UNDO,    /* they are taken back */
    BULK_DELETE,  /* and out of the store */
    BULK_DONE
};

struct job_list {
    struct job_list *next; /* of the server's */
    server_t *s;
    struct user *user;
    struct server_work
        *after; /* goes on once the request is answered; NULL: it is at work, or gone */
    void (*clear)(struct job_list *list); /* what else the request has put into it */
    enum bulk_phase phase;
    int64_t first;
    size_t total, n;   /* jobs in the list; added so far */
    size_t done;       /* jobs that this phase is done with */
    struct job **jobs; /* by number from `first` on; NULL: no more, or in the table */
    size_t bytes;      /* of its text, if that is kept */
    uint64_t complete; /* number of commits before the one that makes them complete */
    bool is_stored;    /* the store has heard of it */
};

/* A list of a user's, in `size` bytes that begin with it, all else zero. NULL with ENOMEM. */
struct job_list *bulk_create(server_t *s, struct user *user, size_t size);

/* Keep numbers for so many jobs. 0, or -1 with ENOMEM. */
int bulk_reserve_ids(struct job_list *list, size_t total);

/* The next job, which the core has, and for which there is room (job_table_reserve). */
void bulk_add(struct job_list *list, struct job *job);

/* All are added. They are done with the next commit (at_once), or go on in slices. 0, or -1: it is to be
 * tried again.
 */
int bulk_accept(struct job_list *list, bool at_once);

/* A part of any phase but the first. 0, or -1: there is no memory, or no room on the disk, to go on. */
int bulk_advance(struct job_list *list, size_t *steps);

/* The request is gone: what it has begun is done, or taken back, without it; at once, or in slices. */
void bulk_abandon(struct job_list *list, bool at_once);

/* How much of a user's lists is kept. */
size_t bulk_bytes_of_user(const server_t *s, const struct user *user);

/* The core rejects a job that nobody sees yet. */
void bulk_member_rejected(server_t *s, int64_t id, uint32_t member, const char *reason);

/* What the store is to know of lists, if that has changed. */
int bulk_write(server_t *s, berth_error_t *err);

/* Before jobs are loaded: those that are not complete are dropped. After: those that nobody was told of
 * are told.
 */
int bulk_delete_incomplete(server_t *s, berth_error_t *err);
void bulk_recover(server_t *s);

/* The number of the first job of the list that a job comes in; the job's own: of none that is at work. */
int64_t bulk_first_id(const server_t *s, int64_t id);

/* Count with user_charge_job those of a user's jobs that nobody sees yet. */
void bulk_charge_user(const server_t *s, struct user *u);

bool bulk_check(const server_t *s);

#endif
