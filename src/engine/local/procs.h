/* The processes of this machine, as /proc shows them. */
#ifndef ENGINE_LOCAL_PROCS_H
#define ENGINE_LOCAL_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc {
    pid_t pid;
    pid_t parent;
    pid_t session;
    char state;     /* 'Z': it has ended, and its parent has not reaped it */
    uint64_t start; /* clock ticks since boot */
};

struct procs {
    struct proc *v; /* ascending pids */
    size_t n;
    size_t cap;
};

/* One process. 0, or -1 with ESRCH. */
int procs_look(pid_t pid, struct proc *p);

/* All processes. 0, or -1 with errno and none. The caller clears them in either case. Reads O(n) files. */
int procs_all(struct procs *all);
void procs_clear(struct procs *all);

/* The one with this pid, or NULL. O(log n). */
const struct proc *procs_find(const struct procs *all, pid_t pid);

/* The pids of this process's children, including dead ones. *pids has room for *cap and grows. Returns
 * their number, or -1 with errno. Only for a process with one thread.
 */
ssize_t procs_children(pid_t **pids, size_t *cap);

/* Whether a process was started with an environment variable that begins with `mark`; *value is the
 * decimal number after the mark. 1, 0, or -1: the environment can't be read, or not now, because the
 * process is just becoming another program.
 */
int procs_marked(pid_t pid, const char *mark, uint64_t *value);

/* The real user of a process. 0, or -1 with ESRCH. */
int procs_user(pid_t pid, uid_t *uid);

/* Send a signal to the process that was seen, and never to another that has got its pid since. 0, or -1
 * with errno.
 */
int procs_signal(const struct proc *p, int signal);

/* Clock ticks since boot, now. */
uint64_t procs_now(void);

/* A descriptor for poll, which becomes readable when a process has ended. -1 with errno. */
int procs_open(pid_t pid);

/* A small file's text, terminated: bytes read, or -1 with errno. At most size - 1 bytes. */
ssize_t procs_read_file(int directory, const char *path, char *to, size_t size);

#endif
