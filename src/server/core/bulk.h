/* Bulk submissions: lists of jobs that are submitted together, all or none.
 *
 * Each job is admitted to the core as it is read, held, and invisible. Then all are stored, slice by slice;
 * until the last one is, a value in the store says that they are incomplete, and a server that finds that
 * value at its start deletes them. From then on they are published one after the other: inserted into the
 * table and released, with an event.
 *
 * If one is malformed, or a commit fails before all are stored, all are undone, in slices too.
 */
#ifndef SERVER_CORE_BULK_H
#define SERVER_CORE_BULK_H

#include "server/core/state.h"
#include "server/core/work.h"

enum bulk_phase {
    BULK_READ,    /* jobs are read and added */
    BULK_WRITE,   /* they are being stored */
    BULK_COMMIT,  /* the next commit makes them complete */
    BULK_PUBLISH, /* they are being published */
    BULK_UNDO,    /* they are being removed from memory */
    BULK_DELETE,  /* and from the store */
    BULK_DONE
};

struct bulk {
    struct bulk *next; /* next of the server */
    server_t *s;
    struct user *user;
    struct server_work
        *after; /* continues after the request is answered; NULL: it is running, or gone */
    void (*clear)(struct bulk *list); /* frees what the request has added */
    enum bulk_phase phase;
    int64_t first;
    size_t total, n;   /* jobs in all, and added so far */
    size_t done;       /* jobs finished in this phase */
    struct job **jobs; /* by id, from `first` on; NULL: undone, or in the table */
    size_t bytes;      /* of the request's text, if it is kept */
    uint64_t complete; /* n_commits before the one that completes it */
    bool is_stored;    /* something of it is stored */
};

/* Create one of `size` bytes, of which struct bulk is the beginning and the rest is zero. NULL with
 * ENOMEM.
 */
struct bulk *bulk_create(server_t *s, struct user *user, size_t size);

/* Reserve ids for so many jobs. 0, or -1 with ENOMEM. */
int bulk_reserve_ids(struct bulk *list, size_t total);

/* Add a job that is admitted, for which there is room (job_table_reserve). */
void bulk_add(struct bulk *list, struct job *job);

/* All jobs are added: publish them with the next commit (at_once), or in slices. 0, or -1: try again. */
int bulk_accept(struct bulk *list, bool at_once);

/* Continue any phase but the first. 0, or -1: no memory, or no room on the disk. */
int bulk_advance(struct bulk *list, size_t *steps);

/* The request is gone: complete or undo what it began, at once or in slices. */
void bulk_abandon(struct bulk *list, bool at_once);

/* Bytes of requests kept for a user. */
size_t bulk_bytes_of_user(const server_t *s, const struct user *user);

/* The core has rejected a member that is not published yet. */
void bulk_member_rejected(server_t *s, int64_t id, uint32_t member, const char *reason);

/* Store the state of all bulk submissions. */
int bulk_write(server_t *s, berth_error_t *err);

/* Before jobs are loaded, delete those of incomplete submissions; afterwards, record the missing events of
 * complete ones.
 */
int bulk_delete_incomplete(server_t *s, berth_error_t *err);
void bulk_recover(server_t *s);

/* The id of the first job of the bulk submission that a job belongs to; the job's own id if there is none. */
int64_t bulk_first_id(const server_t *s, int64_t id);

/* Count a user's unpublished jobs. */
void bulk_charge_user(const server_t *s, struct user *u);

bool bulk_check(const server_t *s);

#endif
