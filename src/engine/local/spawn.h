/* One task's process: from the keeper's fork to the command.
 *
 * The keeper is small, so it is copied (fork) and not suspended (vfork): a child that hangs in opening a
 * file of a server that is down, or that its user stops, then hangs alone, and shares no memory with the
 * keeper after it has become the user's.
 *
 * The child has the lock of its run (starts.h) and dies with the keeper, until it has written into the
 * journal that the task may have run. So the next keeper knows of which starts the journal does not tell
 * all yet.
 */
#ifndef ENGINE_LOCAL_SPAWN_H
#define ENGINE_LOCAL_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "engine/local/limits.h"

/* Descriptors that the keeper keeps at these numbers, closed by exec. */
#define SPAWN_LOCK    3 /* that of the keeper; of the child that of its run */
#define SPAWN_JOURNAL 4
#define SPAWN_RESULT  5 /* nothing of the keeper's; of the child: where it says what went wrong */
#define SPAWN_CGROUP  6 /* of the child only */

#define SPAWN_TEXT_MAX 256

/* What it says, by one write: a line that tells what went wrong, or none and its user's limits, which it
 * has asked for.
 */
struct spawn_word {
    char text[SPAWN_TEXT_MAX];
    int journal_errno; /* why it could not be written; 0: that is not what went wrong */
    struct limits limits;
};

struct spawn {
    const struct engine_run *run;
    uint32_t index;      /* of the task */
    bool first;          /* of the run: truncates its output */
    const char *mark;    /* "NAME=VALUE" in the environment, by which its processes are known */
    int lock;            /* of the run */
    int cgroup;          /* to be in, or -1 */
    int result;          /* where to say what went wrong; closed by exec */
    struct rlimit files; /* RLIMIT_NOFILE as the server had it */
    bool oom;            /* the keeper's OOM score is not the default */
    const char *program; /* berth-limits */
    const struct limits *limits; /* of the user; NULL: to be asked for */
};

struct spawned {
    pid_t pid;
    uint64_t since, until; /* clock ticks since boot between which it was made */
    int64_t at;            /* us since 1970 */
};

/* Start the process. 0, or -1 with errno. */
int spawn_task(const struct spawn *s, struct spawned *out);

#endif
