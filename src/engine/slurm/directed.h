/* A directed run: one that Slurm starts as a job of its own, on the nodes that Berth chose.
 *
 * Each has a folder, named by its key, in a folder that server and nodes share. What the server writes is the server's,
 * what the run says is in `own`, which is its user's:
 *
 *     ask             what is asked of Slurm (below)
 *     request.NODE    what runs there, as a message that a keeper takes (engine/local/messages.h)
 *     asked           it may have been submitted
 *     job             the number of its job
 *     given_up        Slurm lost sight of a node while it ran: what Slurm forgets is then no proof that it is over
 *     lost            somebody knows that nothing runs any more on one of its nodes
 *     signals         a line for each signal: "15 0", the second number: to all descendants
 *     own/taken       whoever makes this file decides: the run, it starts; the server ("server" is in it), it never will
 *     own/taken.NODE  the same among several that Slurm starts on this node, whatever for; on the first node it is own/taken
 *     own/started.NODE, own/ended.NODE  what happened there: an event (engine/local/messages.h)
 */
#ifndef ENGINE_SLURM_DIRECTED_H
#define ENGINE_SLURM_DIRECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/error.h"
#include "engine/engine.h"

#define DIRECTED_PLACES_MOST 65536
#define DIRECTED_ID          "slurm/" /* a node's id is this and its name */

/* What is held on a node. */
struct directed_place {
    const char *node; /* its name */
    uint32_t cores, gpus;
};

/* What is asked of Slurm. The numbers are of the node that has most of it, since Slurm gives each the same. */
struct directed {
    struct directed_place *places; /* those of the run, in their order */
    size_t n_places;
    uint32_t tasks, cores, gpus; /* tasks and cores >= 1 */
    int64_t memory;              /* bytes, 0: not said */
    int64_t limit;               /* us, 0: none */
    bool as_user;                /* of this one, else the server's */
    uint32_t uid, gid;
    const char *label; /* for people: "job 17" */
    struct strbuf bytes;
};

/* Write what is asked for a run, and read it: 0, or -1 with EPROTO or ENOMEM, whatever the bytes are. `bytes` become d's in
 * either case.
 */
void directed_put(struct strbuf *to, const struct engine_run *run);
int directed_read(struct directed *d, struct strbuf *bytes);
void directed_clear(struct directed *d);

/* Whether a signal ends a run that has not begun, and most that have. */
bool directed_ends(int signal);

/* ---- Folders, in the folder `runs`. Each call returns 0, or -1 with errno, unless it says otherwise. ---- */

/* Make the folder of a run that is asked for. EEXIST: its key has been used. */
int folder_make(int runs, const struct engine_run *run);

/* Remove it, with all that is in it. */
int folder_remove(int runs, uint64_t key);

/* The keys of all folders there are, in an array that the caller frees. */
int folder_list(int runs, uint64_t **keys, size_t *n);

/* Whether a file is there. Its name may be of two parts, the second of a node: "own/started.", "n1". */
bool folder_has(int runs, uint64_t key, const char *name, const char *node);

/* Put a file there, whole or not at all; and read one, up to 32 MiB. */
int folder_put(int runs, uint64_t key, const char *name, const char *node, const char *bytes,
               size_t n);
int folder_get(int runs, uint64_t key, const char *name, const char *node, struct strbuf *to);

/* Remove `asked`, since it reached nobody. */
void folder_forget_asked(int runs, uint64_t key);

/* Add a line to the signals. */
int folder_signal(int runs, uint64_t key, int signal, bool tree);

/* Who has taken a run; and take it for the server: EEXIST, it is taken. */
enum taker { TAKEN_BY_NOBODY, TAKEN_BY_RUN, TAKEN_BY_SERVER };
enum taker folder_taker(int runs, uint64_t key);
int folder_take(int runs, uint64_t key);

#endif
