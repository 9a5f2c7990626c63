/* Adopting runs of earlier keepers.
 *
 * The journal says which runs may have been started and have no end. If that was in this boot, their
 * processes may still exist: they are watched, and when none is left the run is lost, since nobody knows
 * how it ended. If it was in another boot, they are lost at once. Processes of runs that the system shows
 * are watched in the same way, whatever the journal says (marked.c), since it may be missing, cut off,
 * old or of another directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/local/keeper.h"
#include "engine/local/procs.h"
#include "engine/local/spawn.h"
#include "engine/local/starts.h"

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
    return used_keys_add(&k->used, range->lo, range->hi);
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

int keeper_adopt_task(struct run *run, const struct journal_task *task)
{
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

static int on_task(void *context, const struct journal_task *task)
{
    struct run *run = get(context, task->key);
    return run ? keeper_adopt_task(run, task) : -1;
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
    run->failure_status = event->exit_status;
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

/* Take over the events of runs that had ended and have not been acknowledged; drop the acknowledged ones. */
static int say_again(struct keeper *k, struct found *f)
{
    struct note **notes = calloc(2 * f->n + 1, sizeof(struct note *));
    size_t n = 0;
    size_t kept = 0;
    if (!notes)
        return -1;
    for (size_t i = 0; i < f->n; i++) {
        struct run *run = f->v[i];
        if (used_keys_has(&k->used, run->key) ||
            (run->phase == PHASE_ENDED && run->ended.number <= k->head.acknowledged)) {
            if (used_keys_add(&k->used, run->key, run->key)) {
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
    if (keeper_add_process(k, p) || keeper_watch(k, p->pidfd, &p->watch, EPOLLIN)) {
        keeper_remove_process(k, p);
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
    keeper_remove_process(k, p);
    if (--p->run->alive == 0)
        keeper_stop(k, p->run);
}

/* The run was requested, and had been started. */
static void had_started(struct keeper *k, struct run *run)
{
    keeper_forget_request(run);
    free(run->tasks);
    run->tasks = NULL;
    run->n_tasks = 0;
    run->phase = PHASE_RUNNING;
    k->live--; /* it is counted as adopted */
}

struct run *keeper_adopt_run(struct keeper *k, uint64_t key)
{
    struct run *run = get(k, key);
    if (run && run->phase == PHASE_HELD)
        had_started(k, run);
    if (run)
        keeper_find_output(k, run);
    if (run && run->phase != PHASE_ENDED && !run->adopted) {
        run->adopted = true;
        k->live++;
        k->adopted++;
    }
    return run;
}

void keeper_watch_run(struct keeper *k, struct run *run, bool same_boot)
{
    for (uint32_t i = 0; same_boot && i < run->n_tasks; i++)
        if (!run->tasks[i].alive)
            watch_process(k, &run->tasks[i]);
    if (same_boot && run->cgroup < 0)
        run->cgroup = cgroup_find(&k->cgroups, run->key);
    if (!same_boot)
        keeper_finish(k, run);
    else if (run->alive == 0)
        keeper_stop(k, run);
}

/* Of the runs in a journal of another boot nothing is left; of runs that were found there is. */
static void take_over(struct keeper *k, const struct found *f, bool same_boot)
{
    for (size_t i = 0; i < f->n; i++) {
        struct run *run = f->v[i];
        if (run->phase == PHASE_ENDED)
            continue;
        bool found = run->adopted;
        keeper_adopt_run(k, run->key);
        keeper_watch_run(k, run, same_boot || found);
    }
}

/* In the order of their keys. */
static int take_over_all(struct keeper *k, bool same_boot)
{
    struct found f;
    int rc = find_all(k, &f);
    if (rc == 0) {
        qsort(f.v, f.n, sizeof(*f.v), by_key);
        rc = say_again(k, &f);
    }
    if (rc == 0)
        take_over(k, &f, same_boot);
    free(f.v);
    return rc;
}

static int read_journal(struct keeper *k)
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
    return rc;
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

/* Begin with event numbers that no keeper has used before, even if the journal was lost. */
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

/* An id of the directory, so that a keeper recognises what earlier keepers have started, whatever the
 * journal says. It includes the time at which the directory was made, since its inode number may be used
 * again.
 */
static uint64_t make_id(const struct keeper *k)
{
    struct statx st;
    uint64_t id = UINT64_C(14695981039346656037);
    if (statx(k->directory, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st))
        return 0;
    bool known = (st.stx_mask & STATX_BTIME) != 0;
    const uint64_t parts[] = {(uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor, st.stx_ino,
                              known ? (uint64_t)st.stx_btime.tv_sec : 0,
                              known ? st.stx_btime.tv_nsec : 0};
    for (size_t i = 0; i < sizeof(parts); i++)
        id = (id ^ ((const unsigned char *)parts)[i]) * UINT64_C(1099511628211); /* FNV-1a */
    return id;
}

/* Set the keeper's identity. *same_boot: the journal is of this boot, or doesn't say. Returns true if it
 * is also this directory's.
 */
static bool introduce(struct keeper *k, bool *same_boot)
{
    char boot[JOURNAL_BOOT_MAX];
    uint64_t journal = k->head.id;
    uint64_t id = make_id(k);
    read_boot(boot);
    *same_boot = journal == 0 || strcmp(boot, k->head.boot) == 0;
    memcpy(k->head.boot, boot, sizeof(boot));
    k->head.id = id ? id : journal ? journal : 1;
    snprintf(k->mark, sizeof(k->mark), "BERTH_RUN=%016" PRIx64 ".", k->head.id);
    choose_base(k);
    cgroups_open(&k->cgroups, k->cgroup_root, k->head.id, k->server);
    return *same_boot && journal == k->head.id;
}

/* Keep the existing journal as long as processes of another keeper may write to it. */
static int keep_journal(const struct keeper *k)
{
    int fd = k->n_held > 0 ? journal_open(k->directory) : -1;
    if (fd < 0)
        return k->n_held > 0 ? -1 : 0;
    int rc = dup3(fd, SPAWN_JOURNAL, O_CLOEXEC);
    close(fd);
    return rc < 0 ? -1 : 0;
}

int keeper_adopt(struct keeper *k, berth_error_t *err)
{
    bool same_boot;
    if (keeper_list_held(k))
        return errtext_set(err, errno, "%s: %s", STARTS_FILE, strerror(errno));
    if (read_journal(k) || keep_journal(k))
        return errtext_set(err, errno, "%s: %s", JOURNAL_FILE, strerror(errno));
    bool told = introduce(k, &same_boot);
    int rc = keeper_find_more(k, told);
    keeper_find_all_output(k);
    if (rc || take_over_all(k, same_boot))
        return errtext_set(err, errno, "processes: %s", strerror(errno));
    keeper_replace_journal(k);
    return 0;
}
