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

#define LOCAL_BATCH 256 /* events that are reported at once */

/* A run that was requested or that the keeper knows, until its end is acknowledged. */
struct wanted {
    struct dict_entry entry; /* by its key */
    struct wanted *next, *prev;
    /* in the list of runs to be sent, or of those whose end has been reported */
    struct wanted *next_queued;
    uint64_t key;
    char *message; /* the request for it, until the keeper reports something about it */
    size_t length;
    bool unsent;
    bool kill;                /* all its processes are to be killed */
    bool known;               /* the present keeper knew it when it greeted */
    uint64_t session_signals; /* bit N - 1: signal N is to be sent when there is a keeper */
    uint64_t tree_signals;
    uint64_t end; /* the number of its end event; 0: not reported yet */
    bool over;    /* nothing runs any more where it was to run */
    bool unheard; /* it was asked for before the engine was opened, and nothing was heard of it */
    bool held;    /* it is not to be sent yet (passive.h) */
};

struct local {
    struct engine engine;
    struct find_keeper where;
    char *directory, *program, *cgroup;
    int lock;
    int link;                      /* to the keeper; -1: none */
    int caller;                    /* becomes the link once the keeper greets; -1: none */
    struct keeper_starter starter; /* of a keeper that is being started */
    int64_t waits_since; /* us of the steady clock: since when it waits for caller or starter */
    int tries;           /* keepers in a row that were gone at once */
    pid_t keeper;
    bool met;                /* a keeper has greeted since the engine was opened */
    struct outputs *outputs; /* files that are written for it; NULL: none are */
    bool passive;            /* the keeper is on another node: others make the link (passive.h) */
    bool over;               /* nothing runs there any more */
    int poll;                /* what the server waits for: link, caller, starter, wake, timer */
    int wake;                /* readable when there are events that have been read already */
    int timer;
    bool awake;
    bool full; /* the link accepts no more bytes at present */
    struct strbuf in, out;
    size_t out_at;
    struct dict runs;
    struct wanted *first, *last;
    struct wanted *unsent, *last_unsent;
    struct wanted *ended, *last_ended; /* not acknowledged */
    bool lose;        /* the present keeper may not know every run that it should */
    int64_t since;    /* us of the steady clock: when the link was made */
    int64_t retry_at; /* when to look for a keeper again; 0: at once */
    int bad;          /* keepers in a row that have not lived long */
    int64_t check_at; /* when to check that the keeper reads; 0: no need */
    size_t unread;    /* bytes of memory that it had not read at the last check */
    struct used_keys used;
    uint64_t last_key; /* the highest known */
    uint64_t seen;     /* the highest number of an event that has been reported */
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

/* Find the run of a key, or NULL; enter a new one, or NULL with ENOMEM; and remove one. */
struct wanted *local_find(const struct local *l, uint64_t key);
struct wanted *local_enter(struct local *l, uint64_t key);
void local_drop(struct local *l, struct wanted *run);

/* Enter a run that is asked for, with its message. NULL: as engine_ops.start. */
struct wanted *local_want(struct local *l, const struct engine_run *asked, berth_error_t *err);

/* Have a run sent with the next flush. */
void local_send_later(struct local *l, struct wanted *run);

/* Fill the buffer with what is to be sent, up to about so many bytes. */
void local_fill(struct local *l, size_t most);

/* Have the signals of a run sent that were asked for before it was; they are in the buffer after it. */
void local_put_signals(struct local *l, struct wanted *run);

/* An engine without a link, keeper and directory; and what engine_ops.close does. */
struct local *local_make(void);
void local_close(struct engine *e);

/* Close the link, and have the server come back for another keeper. */
void local_hang_up(struct local *l);

/* Make fd readable, or not, because there are events that did not come just now from the keeper. */
void local_awake(struct local *l, bool awake);

/* Go on with finding or starting a keeper as far as possible without waiting, then compare what it knows
 * with what is known here. 0: the link is there. -1: not yet (EAGAIN; fd is readable when there is more
 * to do), or it failed and is tried again in a second. l->trouble says why, at once or after a while.
 */
int local_reconnect(struct local *l);

/* Nothing runs any more where the keeper was: report what has not ended as lost. */
void local_lose_all(struct local *l);

/* Wait for the greeting on a link that others have made. */
void local_take_link(struct local *l, int fd);

/* Note that something has been sent; and check later that the keeper reads it. */
void local_sent(struct local *l);
void local_check(struct local *l);

#endif
