/* What a keeper takes over from those before it.
 *
 * The journal says which runs may have been started and have no end. In the boot in which they were started their
 * processes may still be there: they are watched, and when none is left the run is lost, since nobody could say how it
 * ended. In another boot they are lost at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/local/keeper.h"
#include "engine/local/procs.h"

static int on_head(void *context, const struct journal_head *head)
{
    struct keeper *k = context;
    uint64_t acknowledged = k->head.acknowledged;
    k->head = *head;
    if (acknowledged > k->head.acknowledged)
        k->head.acknowledged = acknowledged;
    return 0;
}

static int on_acknowledged(void *context, uint64_t number)
{
    struct keeper *k = context;
    if (number > k->head.acknowledged)
        k->head.acknowledged = number;
    return 0;
}

static int on_used(void *context, const struct used_range *range)
{
    struct keeper *k = context;
    return used_add(&k->used, range->lo, range->hi);
}

static struct run *get(struct keeper *k, uint64_t key)
{
    struct run *run = keeper_find(k, key);
    if (run)
        return run;
    run = calloc(1, sizeof(*run));
    if (!run)
        return NULL;
    run->key = key;
    if (keeper_enter(k, run)) {
        free(run);
        return NULL;
    }
    run->phase = PHASE_RUNNING;
    return run;
}

static int on_task(void *context, const struct journal_task *task)
{
    struct keeper *k = context;
    struct run *run = get(k, task->key);
    if (!run)
        return -1;
    if (!run->tasks) {
        run->tasks = calloc(task->tasks, sizeof(*run->tasks));
        if (!run->tasks)
            return -1;
        run->n_tasks = task->tasks;
    }
    if (run->n_tasks != task->tasks)
        return 0; /* damaged */
    run->tasks[task->index] = (struct process){
        .pid = task->pid,
        .run = run,
        .since = task->since,
        .until = task->until,
        .at = task->at,
        .pidfd = -1,
    };
    if (task->index == 0)
        run->pid = task->pid;
    return 0;
}

static int on_end(void *context, const struct journal_end *end)
{
    struct keeper *k = context;
    const struct engine_event *event = &end->event;
    struct run *run = get(k, event->key);
    if (!run)
        return -1;
    free(run->failure);
    free(run->note);
    run->failure = run->note = NULL;
    run->refused = event->what == ENGINE_REFUSED;
    run->used = event->what == ENGINE_USED;
    bool failed = run->refused || event->what == ENGINE_FAILED;
    if (failed && !(run->failure = strdup(event->text ? event->text : "")))
        return -1;
    if (!failed && event->text && !(run->note = strdup(event->text)))
        return -1;
    run->phase = PHASE_ENDED;
    run->adopted = event->what == ENGINE_LOST;
    run->pid = event->pid;
    run->exit_status = event->exit_status;
    run->exit_signal = event->exit_signal;
    run->peak_memory = event->peak_memory;
    run->cpu_time = event->cpu_time;
    run->started.number = end->started;
    run->started.at = end->started_at;
    run->ended.number = event->number;
    run->ended.at = event->at;
    if (event->number > k->number)
        k->number = event->number;
    return 0;
}

/* Runs in an array. */
struct found {
    struct run **v;
    size_t n;
};

static int find_all(const struct keeper *k, struct found *f)
{
    f->n = 0;
    f->v = calloc(k->runs.n + 1, sizeof(struct run *));
    for (struct run *run = k->first; f->v && run; run = run->next)
        f->v[f->n++] = run;
    return f->v ? 0 : -1;
}

/* By their key. */
static int by_key(const void *a, const void *b)
{
    const struct run *x = *(struct run *const *)a;
    const struct run *y = *(struct run *const *)b;
    return (x->key > y->key) - (x->key < y->key);
}

static int by_number(const void *a, const void *b)
{
    const struct note *x = *(struct note *const *)a;
    const struct note *y = *(struct note *const *)b;
    return (x->number > y->number) - (x->number < y->number);
}

/* The events of runs that had ended, which have not been acknowledged. Those that were are forgotten. */
static int say_again(struct keeper *k, struct found *f)
{
    struct note **notes = calloc(2 * f->n + 1, sizeof(struct note *));
    size_t n = 0;
    size_t kept = 0;
    if (!notes)
        return -1;
    for (size_t i = 0; i < f->n; i++) {
        struct run *run = f->v[i];
        if (used_has(&k->used, run->key) ||
            (run->phase == PHASE_ENDED && run->ended.number <= k->head.acknowledged)) {
            if (used_add(&k->used, run->key, run->key)) {
                free(notes);
                return -1;
            }
            keeper_free(k, run);
            continue;
        }
        f->v[kept++] = run;
        if (run->phase != PHASE_ENDED)
            continue;
        free(run->tasks);
        run->tasks = NULL;
        if (run->started.number > k->head.acknowledged)
            notes[n++] = &run->started;
        notes[n++] = &run->ended;
    }
    f->n = kept;
    qsort(notes, n, sizeof(struct note *), by_number);
    for (size_t i = 0; i < n; i++)
        keeper_note(k, notes[i]);
    free(notes);
    return 0;
}

/* Watch a process, if it is still the one that was started. */
static void watch_process(struct keeper *k, struct process *p)
{
    struct proc now;
    if (p->pid <= 0 || procs_look(p->pid, &now) || now.state == 'Z' || now.start < p->since ||
        now.start > p->until)
        return;
    p->pidfd = procs_open(p->pid);
    p->watch = (struct watch){WATCH_PROCESS, p};
    if (p->pidfd < 0)
        return;
    if (keeper_know(k, p) || keeper_watch(k, p->pidfd, &p->watch, EPOLLIN)) {
        keeper_forget(k, p);
        keeper_unwatch(k, &p->pidfd);
        return;
    }
    p->alive = true;
    p->run->alive++;
}

void keeper_adopted_ended(struct keeper *k, struct process *p)
{
    if (!p->alive)
        return;
    p->alive = false;
    keeper_unwatch(k, &p->pidfd);
    keeper_forget(k, p);
    if (--p->run->alive == 0)
        keeper_stop(k, p->run);
}

static void take_over(struct keeper *k, const struct found *f, bool same_boot)
{
    for (size_t i = 0; i < f->n; i++) {
        struct run *run = f->v[i];
        if (run->phase == PHASE_ENDED)
            continue;
        run->adopted = true;
        k->live++;
        k->adopted++;
        for (uint32_t t = 0; same_boot && t < run->n_tasks; t++)
            watch_process(k, &run->tasks[t]);
        run->cgroup = same_boot ? cgroup_find(&k->cgroups, run->key) : -1;
        if (!same_boot)
            keeper_finish(k, run);
        else if (run->alive == 0)
            keeper_stop(k, run);
    }
}

static int read_journal(struct keeper *k, struct found *f)
{
    struct strbuf bytes = {0};
    const struct journal_reader reader = {
        .context = k,
        .head = on_head,
        .task = on_task,
        .end = on_end,
        .acknowledged = on_acknowledged,
        .used = on_used,
    };
    int rc = journal_load(k->directory, &bytes);
    if (rc == 0)
        rc = journal_read(bytes.data, bytes.len, &reader);
    strbuf_clear(&bytes);
    if (rc || find_all(k, f))
        return -1;
    qsort(f->v, f->n, sizeof(struct run *), by_key);
    return say_again(k, f);
}

static void read_boot(char boot[JOURNAL_BOOT_MAX])
{
    ssize_t n =
        procs_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, JOURNAL_BOOT_MAX);
    if (n < 0)
        n = 0;
    boot[n] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
}

/* Numbers that no keeper has used before, even where the journal was lost. */
static void choose_base(struct keeper *k)
{
    uint64_t base = (uint64_t)keeper_wall() << 8;
    if (base <= k->number)
        base = k->number + 1;
    if (base <= k->head.base)
        base = k->head.base + 1;
    if (base <= k->head.acknowledged)
        base = k->head.acknowledged + 1;
    k->head.base = base;
    k->number = base;
}

int keeper_adopt(struct keeper *k, berth_error_t *err)
{
    struct found f = {0};
    char boot[JOURNAL_BOOT_MAX];
    if (read_journal(k, &f)) {
        free(f.v);
        return errtext_set(err, errno, "%s: %s", JOURNAL_FILE, strerror(errno));
    }
    read_boot(boot);
    bool same_boot = strcmp(boot, k->head.boot) == 0;
    memcpy(k->head.boot, boot, sizeof(boot));
    while (k->head.id == 0)
        if (getrandom(&k->head.id, sizeof(k->head.id), 0) < 0 && errno != EINTR) {
            free(f.v);
            return errtext_set(err, errno, "random numbers: %s", strerror(errno));
        }
    snprintf(k->mark, sizeof(k->mark), "BERTH_RUN=%016" PRIx64 ".", k->head.id);
    choose_base(k);
    cgroups_open(&k->cgroups, k->cgroup_root, k->head.id, k->server);
    take_over(k, &f, same_boot);
    free(f.v);
    keeper_renew(k);
    return 0;
}
