/* One task's process: from the keeper's fork to the command.
 *
 * The keeper is small, so it is copied (fork) and not suspended (vfork). A child may hang, because it
 * opens a file of a server that is down, or because its user stops it; with fork it hangs alone, and it
 * shares no memory with the keeper once it belongs to the user.
 *
 * The child holds the lock of its run (starts.h) and dies with the keeper, until it has written to the
 * journal that the task may have run. So the next keeper knows which starts are not yet complete in the
 * journal.
 */
#ifndef ENGINE_LOCAL_SPAWN_H
#define ENGINE_LOCAL_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "engine/local/limits.h"

/* The numbers of descriptors in keeper and child, closed by exec. */
#define SPAWN_LOCK    3 /* in the keeper its own lock; in the child the lock of its run */
#define SPAWN_JOURNAL 4
#define SPAWN_RESULT  5 /* only in the child: where it says what went wrong */
#define SPAWN_CGROUP  6 /* only in the child */

#define SPAWN_TEXT_MAX 256

/* What the child reports, in one write: a line that says what went wrong, or an empty one and its user's
 * limits if it asked for them.
 */
struct spawn_word {
    char text[SPAWN_TEXT_MAX];
    int journal_errno; /* why the journal could not be written; 0: that is not what went wrong */
    bool prologue_failed;
    int status; /* 127: there is no such command; 126: it can't be executed; 0: anything else */
    struct limits limits;
};

struct spawn {
    const struct engine_run *run;
    uint32_t index; /* of the task */
    bool first;     /* of the run: truncates its output */
    /* "NAME=VALUE" in the environment, by which the run's processes are recognised */
    const char *mark;
    int lock;                    /* of the run */
    int cgroup;                  /* to be in, or -1 */
    int result;                  /* where to say what went wrong; closed by exec */
    struct rlimit files;         /* RLIMIT_NOFILE as the server had it */
    bool oom;                    /* the keeper's OOM score is not the default */
    const char *program;         /* berth-limits */
    const struct limits *limits; /* of the user; NULL: the child asks for them */
};

struct spawned {
    pid_t pid;
    uint64_t since, until; /* clock ticks since boot between which it was made */
    int64_t at;            /* us since 1970 */
};

/* Start the process. 0, or -1 with errno. */
int spawn_task(const struct spawn *s, struct spawned *out);

#endif
