/* The processes of runs: finding out which belong to which run, sending signals, and killing those that
 * are left behind.
 *
 * The keeper is the subreaper of everything it started: what a task leaves behind becomes the keeper's
 * child. So the list of the keeper's children shows whether anything was left, and all processes are
 * looked at only if there is something to signal. A process belongs to a run by its ancestors, its
 * session, or the mark in its environment. A process that hides all three (a daemon that has overwritten
 * its environment) is killed when no run is left to which it might belong; with cgroups it is killed with
 * its run.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/local/keeper.h"
#include "engine/local/procs.h"

#define WAIT_LEAST 5000 /* us until killed processes are looked for again; doubled each time */
#define WAIT_MOST  1000000
#define TRIES                                                                                      \
    3 /* how often to try to find out whose a process is, and how often a run waits for that */

void keeper_stop(struct keeper *k, struct run *run)
{
    k->look = true;
    if (run->stopping)
        return;
    run->stopping = true;
    run->next_stopping = k->stopping;
    k->stopping = run;
    k->sweep_wait = WAIT_LEAST;
}

static bool kills(const struct message_signal *signal)
{
    return signal->tree && signal->signal == SIGKILL;
}

void keeper_signal(struct keeper *k, const struct message_signal *signal)
{
    struct run *run = keeper_find(k, signal->key);
    if (!run || run->phase == PHASE_ENDED || run->phase == PHASE_OUTPUT ||
        (run->phase == PHASE_EPILOGUE && !k->ending))
        return;
    if (run->phase == PHASE_HELD) { /* there is no process to signal */
        run->kill = run->kill || kills(signal);
        return;
    }
    uint64_t bit = (uint64_t)1 << (signal->signal - 1);
    *(signal->tree ? &run->tree_signals : &run->session_signals) |= bit;
    if (!run->signalled) {
        run->signalled = true;
        run->next_signalled = k->signalled;
        k->signalled = run;
    }
    if (kills(signal)) {
        run->kill = true;
        keeper_stop(k, run);
    }
}

#define GRACE        30000000 /* us from the keeper's SIGTERM until what still runs is killed */
#define OUTPUT_GRACE 15000000 /* ... until output that the server has not taken is given up */

static void signal_all(struct keeper *k, int signal)
{
    for (struct run *run = k->first; run; run = run->next)
        keeper_signal(k, &(struct message_signal){run->key, signal, true});
}

void keeper_end(struct keeper *k)
{
    if (k->ending)
        return;
    k->ending = true;
    k->linger_at = 0;
    k->starting_max = 0; /* messages are no longer read */
    k->kill_at = keeper_steady() + GRACE;
    k->output_until = keeper_steady() + OUTPUT_GRACE;
    for (struct run *run = k->first, *next; run; run = next) {
        next = run->next;
        bool begun = run->phase != PHASE_HELD && (run->phase != PHASE_FIRST || run->forked > 0);
        if (!begun && !run->signalled && !run->stopping)
            keeper_drop_unstarted(k, run); /* the next keeper is asked for it again */
        else
            run->lost = run->lost || (run->phase != PHASE_ENDED && run->phase != PHASE_OUTPUT);
    }
    signal_all(k, SIGTERM);
}

void keeper_end_more(struct keeper *k)
{
    keeper_end_output(k);
    if (k->kill_at == 0 || keeper_steady() < k->kill_at)
        return;
    k->kill_at = 0;
    signal_all(k, SIGKILL);
}

enum owned {
    OWNED,    /* by a run, perhaps an unknown one */
    OWNED_BY, /* a run that has ended already */
    OWNED_NOT_SAID
};

/* The run to which a child of the keeper belongs, by its session or its mark. */
static enum owned find_owner(const struct keeper *k, const struct proc *p, struct run **owner)
{
    uint64_t key;
    const struct process *leader = keeper_process(k, p->session);
    *owner = NULL;
    if (leader && !leader->left) {
        *owner = leader->run;
        return OWNED;
    }
    int marked = procs_marked(p->pid, k->mark, &key);
    if (marked <= 0)
        return marked < 0 ? OWNED_NOT_SAID : OWNED;
    *owner = keeper_find(k, key);
    if (*owner && (*owner)->phase != PHASE_ENDED)
        return OWNED;
    *owner = NULL;
    return OWNED_BY;
}

static void list_left(struct keeper *k, struct process *left, struct run *owner)
{
    struct process **list = owner ? &owner->left : &k->lost;
    left->run = owner;
    left->next = *list;
    *list = left;
}

static void unlist_left(struct keeper *k, const struct process *left)
{
    struct process **at = left->run ? &left->run->left : &k->lost;
    while (*at != left)
        at = &(*at)->next;
    *at = left->next;
}

static int know_left(struct keeper *k, const struct proc *p)
{
    struct run *owner;
    enum owned owned = find_owner(k, p, &owner);
    if (owned == OWNED_BY)
        kill(p->pid, SIGKILL);
    struct process *left = calloc(1, sizeof(*left));
    if (!left)
        return -1;
    *left = (struct process){
        .pid = p->pid, .alive = true, .left = true, .since = p->start, .pidfd = -1};
    if (keeper_add_process(k, left)) {
        free(left);
        return -1;
    }
    left->tries = owned == OWNED_NOT_SAID ? TRIES : 0;
    list_left(k, left, owner);
    return 0;
}

/* Look again at a process that was just becoming another program when it was found. */
static void know_better(struct keeper *k, struct process *left)
{
    struct proc p;
    struct run *owner;
    left->tries--;
    if (procs_look(left->pid, &p))
        return;
    enum owned owned = find_owner(k, &p, &owner);
    if (owned == OWNED_NOT_SAID)
        return;
    left->tries = 0;
    if (owned == OWNED_BY)
        kill(left->pid, SIGKILL);
    unlist_left(k, left);
    list_left(k, left, owner);
}

/* Handle a child of the keeper, which may be new. */
static int look_at(struct keeper *k, pid_t pid)
{
    struct process *known = keeper_process(k, pid);
    struct proc p;
    int rc = 0;
    if (known && known->alive) {
        if (known->tries > 0)
            know_better(k, known);
        k->unknown += known->tries > 0;
    } else if (procs_look(pid, &p) == 0) {
        if (p.state == 'Z')
            waitpid(pid, NULL, WNOHANG); /* so that it is gone when its run has ended */
        else if (p.state != 'X')
            rc = know_left(k, &p);
        known = keeper_process(k, pid);
        k->unknown += known && known->tries > 0;
    }
    return rc;
}

/* Find the processes that have been left behind since the last call. 0, or -1 with errno: then some may
 * be unknown.
 */
static int find_left_behind(struct keeper *k)
{
    pid_t *pids = NULL;
    size_t cap = 0;
    int rc = 0;
    k->unknown = 0;
    ssize_t n = procs_children(&pids, &cap);
    for (ssize_t i = 0; i < n && rc == 0; i++)
        rc = look_at(k, pids[i]);
    free(pids);
    return n < 0 ? -1 : rc;
}

/* All processes, and the runs to which they belong. */
struct tree {
    struct procs all;
    struct marked_list marked; /* by pid; empty if no run was adopted */
    struct run **owner;        /* of each */
    /* 1: the owner has been found; 2: it is not a descendant of the keeper */
    unsigned char *known;
};

/* Set what is known of a process without looking at its parent. */
static bool known_process(const struct keeper *k, const struct proc *p, struct run **owner)
{
    const struct process *known = keeper_process(k, p->pid);
    *owner = NULL;
    if (!known || !known->alive)
        return false;
    if (known->pidfd >= 0 && (p->start < known->since || p->start > known->until))
        return false;
    *owner = known->run;
    return true;
}

static int by_pid(const void *a, const void *b)
{
    pid_t x = ((const struct marked *)a)->proc.pid;
    pid_t y = ((const struct marked *)b)->proc.pid;
    return (x > y) - (x < y);
}

/* The owner of a process without a known ancestor. */
static unsigned char stranger(const struct keeper *k, const struct tree *t, const struct proc *p,
                              struct run **owner)
{
    const struct marked wanted = {.proc = *p};
    const struct marked *marked = NULL;
    *owner = NULL;
    if (p->parent == getpid())
        return 1;
    if (t->marked.n > 0)
        marked = bsearch(&wanted, t->marked.v, t->marked.n, sizeof(wanted), by_pid);
    if (!marked)
        return 2;
    *owner = keeper_find(k, marked->key);
    if (*owner && (*owner)->phase == PHASE_ENDED)
        *owner = NULL;
    return *owner ? 1 : 2;
}

static void find_owners(const struct keeper *k, struct tree *t, size_t i)
{
    struct run *owner = NULL;
    unsigned char known = 0;
    size_t at = i;
    for (size_t steps = 0; !known; steps++) {
        const struct proc *p = &t->all.v[at];
        if (t->known[at]) {
            known = t->known[at];
            owner = t->owner[at];
        } else if (known_process(k, p, &owner)) {
            known = 1;
        } else {
            const struct proc *parent =
                p->parent == getpid() ? NULL : procs_find(&t->all, p->parent);
            if (parent && parent->start <= p->start && steps < t->all.n)
                at = (size_t)(parent - t->all.v);
            else
                known = stranger(k, t, p, &owner);
        }
    }
    /* The owner is the same for all processes on the way. But a process without a mark may have children
     * with one.
     */
    size_t top = at;
    for (at = i;; at = (size_t)(procs_find(&t->all, t->all.v[at].parent) - t->all.v)) {
        if (!t->known[at]) {
            t->known[at] = known;
            t->owner[at] = owner;
            if (known == 2 && at != top)
                t->known[at] = stranger(k, t, &t->all.v[at], &t->owner[at]);
        }
        if (at == top)
            return;
    }
}

static void tree_clear(struct tree *t)
{
    procs_clear(&t->all);
    marked_clear(&t->marked);
    free(t->owner);
    free(t->known);
}

static int tree_make(struct keeper *k, struct tree *t)
{
    *t = (struct tree){0};
    if (procs_all(&t->all) ||
        (k->adopted > 0 && keeper_list_marked(k, &t->all, false, &t->marked))) {
        tree_clear(t);
        return -1;
    }
    if (t->marked.n > 0)
        qsort(t->marked.v, t->marked.n, sizeof(*t->marked.v), by_pid);
    t->owner = calloc(t->all.n + 1, sizeof(struct run *));
    t->known = calloc(t->all.n + 1, 1);
    if (!t->owner || !t->known) {
        tree_clear(t);
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < t->all.n; i++)
        find_owners(k, t, i);
    return 0;
}

/* A process that the keeper may not signal is not waited for either. */
static void give_up_process(struct keeper *k, const struct process *known)
{
    struct process *p = keeper_process(k, known->pid);
    if (!p->left || !p->run)
        return;
    unlist_left(k, p);
    list_left(k, p, NULL);
}

/* Send a signal to one process. The keeper's own children keep their pid until they are reaped. */
static void signal_one(struct keeper *k, const struct proc *p, int signal)
{
    const struct process *known = keeper_process(k, p->pid);
    bool child = known && known->alive && known->pidfd < 0;
    int rc = child ? kill(p->pid, signal) : procs_signal(p, signal);
    if (rc && errno == EPERM && child && signal == SIGKILL)
        give_up_process(k, known);
}

static bool is_task(const struct process *p, const struct run *run)
{
    return p && !p->left && p->run == run;
}

static void signal_as_asked(struct keeper *k, const struct proc *p, const struct run *run)
{
    const struct process *leader = keeper_process(k, p->session);
    uint64_t signals = run->tree_signals;
    /* A task has no session of its own at first. */
    if (is_task(leader, run) || is_task(keeper_process(k, p->pid), run))
        signals |= run->session_signals;
    for (int i = 0; i < 64 && signals; i++)
        if (signals & (uint64_t)1 << i)
            signal_one(k, p, i + 1);
}

/* Signals to a run wait until each of its tasks has a process, or some would not get them. */
static bool is_too_early(const struct keeper *k, const struct run *run)
{
    return run->forking && !k->ending;
}

static void signal_tree(struct keeper *k)
{
    struct tree t;
    if (tree_make(k, &t))
        return;
    for (size_t i = 0; i < t.all.n; i++) {
        const struct proc *p = &t.all.v[i];
        struct run *run = t.owner[i];
        if (p->state == 'Z' || p->state == 'X' || t.known[i] == 2 || p->pid == getpid())
            continue;
        if (run ? run->stopping : k->live == 0)
            signal_one(k, p, SIGKILL);
        else if (run && run->signalled && !is_too_early(k, run))
            signal_as_asked(k, p, run);
    }
    tree_clear(&t);
    for (struct run **at = &k->signalled; *at;) {
        struct run *run = *at;
        if (is_too_early(k, run)) {
            at = &run->next_signalled;
            continue;
        }
        *at = run->next_signalled;
        run->signalled = false;
        run->session_signals = 0;
        run->tree_signals = 0;
    }
}

/* True if an adopted run still has processes, which are not children of this keeper. */
static bool strangers_left(struct keeper *k, const struct run *run)
{
    struct tree t;
    bool any = false;
    if (tree_make(k, &t))
        return true;
    for (size_t i = 0; i < t.all.n && !any; i++)
        any = t.owner[i] == run && t.all.v[i].state != 'Z';
    tree_clear(&t);
    return any;
}

static bool has_run_gone(struct keeper *k, const struct run *run)
{
    if (run->alive > 0 || run->result >= 0 || run->forking || run->left ||
        keeper_is_held(k, run->key))
        return false;
    if (run->cgroup >= 0 && !cgroup_empty(run->cgroup))
        return false;
    return !run->adopted || !strangers_left(k, run);
}

static void unlist_signalled(struct keeper *k, struct run *run)
{
    struct run **at = &k->signalled;
    while (*at && *at != run)
        at = &(*at)->next_signalled;
    if (*at)
        *at = run->next_signalled;
    run->signalled = false;
}

/* Finish the runs that have no process left. */
static void finish_stopped(struct keeper *k)
{
    struct run **at = &k->stopping;
    while (*at) {
        struct run *run = *at;
        bool waits = k->unknown > 0 && run->patience++ < TRIES;
        if (waits || !has_run_gone(k, run)) {
            if (run->cgroup >= 0)
                cgroup_kill(run->cgroup);
            at = &run->next_stopping;
            continue;
        }
        *at = run->next_stopping;
        run->stopping = false;
        if (run->signalled)
            unlist_signalled(k, run);
        if (!keeper_begin_epilogue(k, run))
            keeper_finish(k, run);
        k->sweep_wait = WAIT_LEAST;
    }
}

void keeper_sweep(struct keeper *k)
{
    bool due = k->sweep_at > 0 && keeper_steady() >= k->sweep_at;
    if (!due && !k->signalled && !(k->look && (k->stopping || k->live == 0)))
        return;
    k->look = false;
    /* The list of children is long if much runs; it is not read if the kernel can answer instead. */
    int rc = k->cgroups.whole && !k->signalled && k->live > 0 ? 0 : find_left_behind(k);
    if (rc == 0)
        finish_stopped(k);
    if (k->signalled || k->stopping || (k->live == 0 && k->lost))
        signal_tree(k);
    k->sweep_at = 0;
    if (rc || k->stopping || (k->live == 0 && k->lost)) {
        if (k->sweep_wait < WAIT_LEAST)
            k->sweep_wait = WAIT_LEAST;
        k->sweep_at = keeper_steady() + k->sweep_wait;
        if (k->sweep_wait < WAIT_MOST)
            k->sweep_wait *= 2;
    }
}
