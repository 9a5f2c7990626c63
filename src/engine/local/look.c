/* Ask the same of many processes, by readers. */
#include "engine/local/look.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/local/procs.h"
#include "engine/steady.h"

#define STALL 20  /* ms without an answer until there is another reader */
#define HANGS 400 /* ms that a reader sleeps at a process */
#define MOST  5   /* times the patience, altogether */

enum step { WAITS, BEGUN, LEFT_OUT, DONE };

/* One process, in the memory that the readers share. The answer is valid when it is done. */
struct asked {
    struct look look;
    int64_t begun; /* ms of the steady clock */
    pid_t reader;
    atomic_int step;
};

struct shared {
    atomic_size_t next; /* the first that no reader has taken */
    atomic_size_t done; /* how many no reader needs to look at any more */
    struct asked v[];
};

struct asking {
    struct shared *shared;
    size_t n;
    look_question *question;
    const void *context;
    int ends[2]; /* of a pipe: a reader writes there when it has no more to do */
    pid_t readers[LOOK_READERS];
    size_t n_readers;
};

static void ask_question(struct asking *a, struct asked *one)
{
    int step = WAITS;
    one->reader = getpid();
    one->begun = steady_ms();
    if (atomic_compare_exchange_strong(&one->step, &step, BEGUN)) {
        one->look.answer = a->question(a->context, one->look.pid, &one->look.value);
        atomic_store(&one->step, DONE);
    }
    atomic_fetch_add(&a->shared->done, 1);
}

/* It may be a while until it can be killed: so it has nothing of its parent's open. */
__attribute__((noreturn)) static void be_reader(struct asking *a, pid_t parent)
{
    size_t at;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(a->ends[1], STDIN_FILENO) < 0)
        _exit(EXIT_FAILURE);
    syscall(SYS_close_range, STDIN_FILENO + 1, ~0U, 0);
    open("/dev/null", O_WRONLY);
    open("/dev/null", O_WRONLY);
    while ((at = atomic_fetch_add(&a->shared->next, 1)) < a->n)
        ask_question(a, &a->shared->v[at]);
    _exit(write(STDIN_FILENO, "", 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int add_reader(struct asking *a)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0)
        be_reader(a, parent);
    a->readers[a->n_readers++] = pid;
    return 0;
}

/* The user who started a process, even if its files are not readable. -1: it is gone. */
static int64_t user_of(pid_t pid)
{
    uid_t uid;
    return procs_user(pid, &uid) == 0 ? (int64_t)uid : -1;
}

/* True if its reader sleeps, and does not only wait for a processor. */
static bool hangs(const struct asked *one)
{
    struct proc reader;
    return atomic_load(&one->step) == BEGUN && steady_ms() - one->begun >= HANGS &&
           procs_look(one->reader, &reader) == 0 && reader.state != 'R';
}

static size_t count_stuck(const struct asking *a, int64_t user)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        n += hangs(&a->shared->v[i]) && user_of(a->shared->v[i].look.pid) == user;
    return n;
}

/* When too many processes of one user hang, skip the rest of that user's. */
static void pass_over(struct asking *a, int64_t user)
{
    for (size_t i = atomic_load(&a->shared->next); i < a->n; i++) {
        int step = WAITS;
        if (user_of(a->shared->v[i].look.pid) == user)
            atomic_compare_exchange_strong(&a->shared->v[i].step, &step, LEFT_OUT);
    }
}

/* The latest process that hangs shows whose processes may be too many. */
static void be_fair(struct asking *a)
{
    size_t at = atomic_load(&a->shared->next);
    at = at < a->n ? at : a->n;
    while (at > 0 && !hangs(&a->shared->v[at - 1]))
        at--;
    int64_t user = at > 0 ? user_of(a->shared->v[at - 1].look.pid) : -1;
    if (user >= 0 && count_stuck(a, user) >= LOOK_STUCK)
        pass_over(a, user);
}

/* Wait until a reader has ended, or it is time to see whether they get on. */
static void wait_for_reader(const struct asking *a, int64_t ms, bool more)
{
    struct pollfd p = {.fd = a->ends[0], .events = POLLIN};
    char bytes[LOOK_READERS];
    poll(&p, 1, more && ms > STALL ? STALL : (int)ms);
    while (read(a->ends[0], bytes, sizeof(bytes)) > 0)
        ;
}

/* Read answers until all have come, or the remaining questions hang. */
static void wait_for_answers(struct asking *a, int ms)
{
    struct shared *s = a->shared;
    int64_t now = steady_ms();
    const int64_t end = now + (int64_t)MOST * ms;
    int64_t until = now + ms;
    size_t done = 0;
    while (done < a->n && now < until) {
        size_t before = done;
        bool more = atomic_load(&s->next) < a->n && a->n_readers < LOOK_READERS;
        wait_for_reader(a, until - now, more);
        now = steady_ms();
        done = atomic_load(&s->done);
        if (done > before) {
            until = now + ms < end ? now + ms : end;
        } else if (more) {
            if (a->n_readers >= LOOK_STUCK)
                be_fair(a);
            add_reader(a);
        }
    }
}

static void end_readers(const struct asking *a)
{
    for (size_t i = 0; i < a->n_readers; i++) {
        kill(a->readers[i],
             SIGKILL); /* it is a child that has not been reaped, so the pid is still its own */
        waitpid(a->readers[i], NULL, WNOHANG);
    }
}

static int ask_all(struct asking *a, int ms)
{
    if (pipe2(a->ends, O_CLOEXEC | O_NONBLOCK))
        return -1;
    int rc = add_reader(a);
    int saved = errno;
    if (rc == 0)
        wait_for_answers(a, ms);
    end_readers(a);
    close(a->ends[0]);
    close(a->ends[1]);
    errno = saved;
    return rc;
}

int look_at_all(struct look *v, size_t n, look_question *question, const void *context, int ms)
{
    struct asking a = {.n = n, .question = question, .context = context};
    size_t size = sizeof(*a.shared) + n * sizeof(a.shared->v[0]);
    if (n == 0)
        return 0;
    a.shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (a.shared == MAP_FAILED)
        return -1;
    for (size_t i = 0; i < n; i++)
        a.shared->v[i].look = v[i];
    int rc = ask_all(&a, ms);
    for (size_t i = 0; i < n && rc == 0; i++) {
        bool done = atomic_load(&a.shared->v[i].step) == DONE;
        v[i] = a.shared->v[i].look;
        if (!done)
            v[i].answer = LOOK_NONE;
    }
    int saved = errno;
    munmap(a.shared, size);
    errno = saved;
    return rc;
}
