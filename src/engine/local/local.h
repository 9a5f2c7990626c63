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
#include "engine/local/used.h"

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
    int link; /* -1 */
    int poll; /* what the server waits for: link, wake, timer */
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
    struct used used;
    uint64_t seen; /* the highest number of an event that has been said */
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

/* Find a keeper, or start one, and compare what it knows with what is known here. 0, or -1 with a text. */
int local_connect(struct local *l, berth_error_t *err);

/* The same if there is none and it is time to. The text is l->trouble. */
int local_reconnect(struct local *l);

#endif
