/* The server's side of the engine `local`: what it knows of its runs, and its link to the keeper. */
#ifndef ENGINE_LOCAL_LOCAL_H
#define ENGINE_LOCAL_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/dict.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "engine/local/find_keeper.h"
#include "engine/local/used_keys.h"

#define LOCAL_BATCH 256 /* events that are said at once */

/* A run that was asked for, or that the keeper knows, until its end is acknowledged. */
struct wanted {
    struct dict_entry entry; /* by its key */
    struct wanted *next, *prev;
    struct wanted *next_queued; /* of those that are to be sent, or whose end has been said */
    uint64_t key;
    char *message; /* that asks for it, until something has been heard of it */
    size_t length;
    bool unsent;
    bool kill;                /* all of it was to be killed */
    bool known;               /* to the present keeper, when it began to talk */
    uint64_t session_signals; /* bit N - 1: signal N is to be sent when there is a keeper */
    uint64_t tree_signals;
    uint64_t end; /* the number of its end; 0: it has not been said */
};

struct local {
    struct engine engine;
    struct find_keeper where;
    char *directory, *program, *cgroup;
    int lock;
    int link;                      /* -1 */
    int caller;                    /* what is to become the link, once the keeper greets; -1 */
    struct keeper_starter starter; /* of a keeper that is being started */
    int64_t waits_since;           /* us of the steady clock: for the one or the other */
    int tries;                     /* at finding a keeper, of which each was gone at once */
    pid_t keeper;
    bool met; /* a keeper has said what there is */
    int poll; /* what the server waits for: link, caller, starter, wake, timer */
    int wake; /* readable when there are events that have been read already */
    int timer;
    bool awake;
    bool full; /* the link takes no more at present */
    struct strbuf in, out;
    size_t out_at;
    struct dict runs;
    struct wanted *first, *last;
    struct wanted *unsent, *last_unsent;
    struct wanted *ended, *last_ended; /* not acknowledged */
    bool lose;                         /* the present keeper may not know all that it should */
    int64_t since;                     /* us of the steady clock: the link is there */
    int64_t retry_at;                  /* when to look for a keeper again; 0: at once */
    int bad;                           /* keepers in a row that have lived shortly */
    int64_t check_at;                  /* when to look whether the keeper reads; 0: no need */
    size_t unread;                     /* what it had not read then, in bytes of memory */
    struct used_keys used;
    uint64_t last_key; /* the highest that was ever heard of */
    uint64_t seen;     /* the highest number of an event that has been said */
    uint64_t acknowledged;
    struct engine_event batch[LOCAL_BATCH];
    char *texts[LOCAL_BATCH];
    size_t n_batch;
    uint64_t *keys;
    size_t keys_cap;
    char *keeper_notice;
    berth_error_t trouble; /* why there is no keeper */
};

/* us of a clock. */
int64_t local_clock(clockid_t clock);

/* The run of a key, or NULL; a new one, or NULL with ENOMEM. */
struct wanted *local_find(const struct local *l, uint64_t key);
struct wanted *local_enter(struct local *l, uint64_t key);
void local_drop(struct local *l, struct wanted *run);

/* A run is to be sent with the next flush. */
void local_send_later(struct local *l, struct wanted *run);

/* The link is of no use any more: the server is to come back for another keeper. */
void local_hang_up(struct local *l);

/* What has been read or lost without the keeper is to be said: fd is readable. */
void local_awake(struct local *l, bool awake);

/* Go on with finding a keeper or starting one, as far as that goes without waiting, and compare what it
 * knows with what is known here. 0: the link is there. -1: not yet (EAGAIN; fd is readable when there is
 * more to do), or it failed and is tried again in a second. Why is in l->trouble, at once or after a
 * while.
 */
int local_reconnect(struct local *l);

/* Something has been sent: whether the keeper reads it is looked at later. */
void local_sent(struct local *l);
void local_check(struct local *l);

#endif
