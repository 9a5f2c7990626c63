/* Finding runs by their processes, whatever the journal says: by the mark in the environment of a task.
 *
 * A task is the leader of a session. Tasks that are found are watched like tasks from the journal.
 * Processes that a task left behind, without a task, are killed, as for every run.
 *
 * Reading the environment of a process may take as long as that process likes, so readers do it (look.h).
 * A notice says what they could not read, and this keeper does not ask for it again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "engine/local/keeper.h"
#include "engine/local/look.h"
#include "engine/local/procs.h"

#define KERNEL   2    /* the parent of the kernel's own processes, which have no environment */
#define TRIES    2    /* at one that is just becoming another program */
#define MANY     9    /* the same where much depends on it: about a second */
#define PATIENCE 2000 /* ms without an answer */

/* Keys begin with the time at which a store was opened, in us since 1970. Anyone who knows the
 * directory's mark can fake one. A key far above all others is ignored, since accepting it would leave
 * few keys for later runs.
 */
#define KEYS_AHEAD ((uint64_t)1 << 40)

static int by_key(const void *a, const void *b)
{
    const struct marked *x = a;
    const struct marked *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static enum look_answer has_mark(const void *context, pid_t pid, uint64_t *key)
{
    const struct keeper *k = context;
    errno = 0;
    int marked = procs_marked(pid, k->mark, key);
    if (marked >= 0)
        return marked ? LOOK_YES : LOOK_NO;
    return errno == 0 || errno == ENOMEM ? LOOK_AGAIN : LOOK_NO;
}

/* A key that is not higher may be a run's. */
static uint64_t highest_key(const struct keeper *k)
{
    int64_t now = keeper_wall();
    uint64_t last = now > 0 ? (uint64_t)now : 0;
    if (k->used.n > 0 && k->used.v[k->used.n - 1].hi > last)
        last = k->used.v[k->used.n - 1].hi;
    for (const struct run *run = k->first; run; run = run->next)
        last = run->key > last ? run->key : last;
    return last < ENGINE_KEY_MAX - KEYS_AHEAD ? last + KEYS_AHEAD : ENGINE_KEY_MAX;
}

/* Pids are reused, so a process that is gone must not be skipped for ever. */
static void forget_gone(struct keeper *k)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->n_unread; i++) {
        struct proc now;
        if (procs_look(k->unread[i].pid, &now) == 0 && now.start == k->unread[i].start)
            k->unread[kept++] = k->unread[i];
    }
    k->n_unread = kept;
}

static bool is_unread(const struct keeper *k, const struct proc *p)
{
    for (size_t i = 0; i < k->n_unread; i++)
        if (k->unread[i].pid == p->pid && k->unread[i].start == p->start)
            return true;
    return false;
}

static bool may_have_mark(const struct keeper *k, const struct proc *p)
{
    pid_t self = getpid();
    return p->state != 'Z' && p->state != 'X' && p->parent != KERNEL && p->pid != KERNEL &&
           p->pid != self && p->parent != self && !is_unread(k, p);
}

/* The processes that are to be asked, and what was found. */
struct finding {
    struct proc *v;
    size_t n, cap;
    uint64_t last; /* the highest key that can be */
    struct marked_list *list;
};

static int choose_candidates(const struct keeper *k, const struct procs *all, struct finding *f)
{
    if (array_grow((void **)&f->v, &f->cap, all->n, sizeof(*f->v)))
        return -1;
    for (size_t i = 0; i < all->n; i++)
        if (may_have_mark(k, &all->v[i]))
            f->v[f->n++] = all->v[i];
    return 0;
}

static int found(const struct finding *f, const struct proc *p, uint64_t key)
{
    struct marked_list *list = f->list;
    if (key > f->last)
        return 0;
    if (array_grow((void **)&list->v, &list->cap, list->n + 1, sizeof(*list->v)))
        return -1;
    list->v[list->n++] = (struct marked){key, *p};
    return 0;
}

static int cannot_read(struct keeper *k, const struct proc *p)
{
    if (array_grow((void **)&k->unread, &k->cap_unread, k->n_unread + 1, sizeof(*k->unread)))
        return -1;
    k->unread[k->n_unread++] = *p;
    return 0;
}

/* Take the answers. What stays is to be asked again. */
static int take_answers(struct keeper *k, const struct look *answers, struct finding *f)
{
    size_t kept = 0;
    int rc = 0;
    for (size_t i = 0; i < f->n && rc == 0; i++) {
        const struct proc p = f->v[i];
        switch (answers[i].answer) {
        case LOOK_NO:
            break;
        case LOOK_YES:
            rc = found(f, &p, answers[i].value);
            break;
        case LOOK_AGAIN:
            f->v[kept++] = p;
            break;
        case LOOK_NONE:
            rc = cannot_read(k, &p);
            break;
        }
    }
    f->n = kept;
    return rc;
}

static int read_marks(struct keeper *k, struct finding *f)
{
    struct look *answers = calloc(f->n + 1, sizeof(*answers));
    if (!answers)
        return -1;
    for (size_t i = 0; i < f->n; i++)
        answers[i].pid = f->v[i].pid;
    int rc = look_at_all(answers, f->n, has_mark, k, PATIENCE);
    if (rc == 0)
        rc = take_answers(k, answers, f);
    int saved = errno;
    free(answers);
    errno = saved;
    return rc;
}

static void tell_unread(struct keeper *k)
{
    k->unread_notice[0] = '\0';
    if (k->n_unread > 0)
        snprintf(k->unread_notice, sizeof(k->unread_notice),
                 "the keeper can't tell whether %zu processes (such as %d) are jobs': their "
                 "environment could not be read in time",
                 k->n_unread, (int)k->unread[0].pid);
}

int keeper_list_marked(struct keeper *k, const struct procs *all, bool patient,
                       struct marked_list *list)
{
    struct timespec pause = {.tv_nsec = 1000000}; /* doubled each time */
    struct finding f = {.last = highest_key(k), .list = list};
    *list = (struct marked_list){0};
    forget_gone(k);
    int rc = choose_candidates(k, all, &f);
    for (int i = 0; i < (patient ? MANY : TRIES) && rc == 0 && f.n > 0; i++) {
        pause.tv_nsec *= 2;
        if (i > 0)
            nanosleep(&pause, NULL);
        rc = read_marks(k, &f);
    }
    for (size_t i = 0; i < f.n && patient && rc == 0; i++)
        rc = cannot_read(k, &f.v[i]);
    int saved = errno;
    free(f.v);
    tell_unread(k);
    errno = saved;
    return rc;
}

void marked_clear(struct marked_list *list)
{
    int saved = errno;
    free(list->v);
    *list = (struct marked_list){0};
    errno = saved;
}

/* All processes with the mark, those of a run together. */
static int find_all(struct keeper *k, struct marked_list *list)
{
    struct procs all;
    *list = (struct marked_list){0};
    int rc = procs_all(&all);
    if (rc == 0)
        rc = keeper_list_marked(k, &all, true, list);
    procs_clear(&all);
    if (rc == 0 && list->n > 0)
        qsort(list->v, list->n, sizeof(*list->v), by_key);
    return rc;
}

/* The index for a task: its own if it is in the journal, else one that is not in the journal. n_tasks:
 * there is none.
 */
static uint32_t place_for(const struct run *run, pid_t pid)
{
    uint32_t free = run->n_tasks;
    for (uint32_t i = run->n_tasks; i-- > 0;) {
        if (run->tasks[i].pid == pid)
            return i;
        if (run->tasks[i].pid == 0)
            free = i;
    }
    return free;
}

static bool is_leader(const struct marked *m)
{
    return m->proc.session == m->proc.pid;
}

/* Tasks that are not in the journal. */
static int adopt_tasks(struct run *run, const struct marked *v, size_t n)
{
    struct journal_task task = {.key = run->key, .at = keeper_wall(), .tasks = run->n_tasks};
    for (size_t i = 0; i < n && !run->tasks; i++)
        task.tasks += is_leader(&v[i]);
    for (size_t i = 0, next = 0; i < n; i++) {
        if (!is_leader(&v[i]))
            continue;
        task.index = run->tasks ? place_for(run, v[i].proc.pid) : (uint32_t)next++;
        if (task.index == task.tasks || (run->tasks && run->tasks[task.index].alive))
            continue;
        task.pid = v[i].proc.pid;
        task.since = task.until = v[i].proc.start;
        if (keeper_adopt_task(run, &task))
            return -1;
    }
    return 0;
}

/* What the journal says of a run is of another directory or time. */
static int forget_run(struct keeper *k, uint64_t key)
{
    struct run *run = keeper_find(k, key);
    if (run)
        keeper_free(k, run);
    return used_keys_remove(&k->used, key);
}

/* Give the run of a key that still has processes. *run is NULL if the journal, which can be trusted, has
 * its end: then the processes are not the run's. 0, or -1 with ENOMEM.
 */
static int claim(struct keeper *k, uint64_t key, bool told, struct run **run)
{
    *run = keeper_find(k, key);
    bool found = *run && (*run)->adopted && (*run)->phase != PHASE_ENDED;
    bool over = used_keys_has(&k->used, key) || (*run && (*run)->phase == PHASE_ENDED);
    if (told && over) {
        *run = NULL;
        return 0;
    }
    if (!told && !found && forget_run(k, key))
        return -1;
    *run = keeper_adopt_run(k, key);
    return *run ? 0 : -1;
}

int keeper_find_marked(struct keeper *k, bool told, const uint64_t *keys, size_t n)
{
    struct marked_list list;
    struct run *run;
    int rc = find_all(k, &list);
    for (size_t i = 0, next; i < list.n && rc == 0; i = next) {
        uint64_t key = list.v[i].key;
        for (next = i + 1; next < list.n && list.v[next].key == key;)
            next++;
        if (keys && !keeper_has_key(keys, n, key))
            continue;
        rc = claim(k, key, told, &run);
        if (rc == 0 && run)
            rc = adopt_tasks(run, list.v + i, next - i);
    }
    marked_clear(&list);
    return rc;
}

int keeper_find_more(struct keeper *k, bool told)
{
    struct run *run;
    uint64_t *keys;
    size_t n;
    int rc = keeper_find_marked(k, told, NULL, 0);
    /* Without a journal, runs that were about to start may have been started. */
    for (size_t i = 0; !told && i < k->n_held && rc == 0; i++)
        rc = claim(k, k->held[i], told, &run);
    if (rc || cgroup_list(&k->cgroups, &keys, &n))
        return -1;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = claim(k, keys[i], told, &run);
    free(keys);
    return rc;
}
