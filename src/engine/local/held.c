/* Held runs: another keeper was starting them when it was killed. What became of such a run is not known
 * until the last of its processes that had yet to become a task is gone. That takes no time, or as long
 * as a process hangs.
 *
 * Until then a held run is not started if it is requested, and has not ended if some of it was started.
 * Then the journal is read once more, since these processes may have written to it last; it is not
 * replaced before all of them are gone. If it has been replaced by someone else, the processes are found
 * by their mark, as they may be the command by now.
 */

#include "engine/local/keeper.h"
#include "engine/local/starts.h"

#define WAIT_LEAST 1000 /* us until they are looked at again; doubled each time */
#define WAIT_MOST  1000000

int keeper_list_held(struct keeper *k)
{
    k->starts = starts_open(k->directory);
    k->held_wait = WAIT_LEAST;
    return k->starts < 0 || starts_list(k->starts, &k->held, &k->n_held) ? -1 : 0;
}

bool keeper_has_key(const uint64_t *keys, size_t n, uint64_t key)
{
    size_t i = 0;
    while (i < n && keys[i] != key)
        i++;
    return i < n;
}

bool keeper_is_held(const struct keeper *k, uint64_t key)
{
    return keeper_has_key(k->held, k->n_held, key);
}

/* Those that are not held any more. */
struct released {
    struct keeper *k;
    const uint64_t *keys;
    size_t n;
};

static int on_task(void *context, const struct journal_task *task)
{
    const struct released *r = context;
    if (!keeper_has_key(r->keys, r->n, task->key) || used_keys_has(&r->k->used, task->key))
        return 0;
    struct run *run = keeper_find(r->k, task->key);
    if (run && run->phase != PHASE_HELD && (!run->adopted || run->phase == PHASE_ENDED))
        return 0;
    run = keeper_adopt_run(r->k, task->key);
    if (!run)
        return -1;
    if (run->tasks && task->index < run->n_tasks && run->tasks[task->index].pid == task->pid)
        return 0; /* it was known */
    return keeper_adopt_task(run, task);
}

/* What the journal has got of them since it was read. */
static int read_again(struct released *r)
{
    struct strbuf bytes = {0};
    const struct journal_reader reader = {.context = r, .task = on_task};
    int rc = journal_load(r->k->directory, &bytes);
    if (rc == 0)
        rc = journal_read(bytes.data, bytes.len, &reader);
    strbuf_clear(&bytes);
    return rc;
}

static void go_on_with_run(struct keeper *k, struct run *run)
{
    if (run->phase == PHASE_HELD)
        keeper_start_held(k, run);
    else if (run->phase != PHASE_ENDED && run->adopted)
        keeper_watch_run(k, run, true);
    if (run->phase != PHASE_ENDED && (run->kill || run->phase == PHASE_FAILED))
        keeper_stop(k, run);
}

/* Those that are still held come first. Returns how many these are. */
static size_t divide(struct keeper *k)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->n_held; i++) {
        uint64_t key = k->held[i];
        if (starts_held(k->starts, key)) {
            k->held[i] = k->held[kept];
            k->held[kept++] = key;
        }
    }
    return kept;
}

void keeper_check_held(struct keeper *k)
{
    if (k->n_held == 0 || keeper_steady() < k->held_at)
        return;
    size_t kept = divide(k);
    struct released r = {k, k->held + kept, k->n_held - kept};
    if (r.n == 0 && k->held_wait < WAIT_MOST)
        k->held_wait *= 2;
    else if (r.n > 0)
        k->held_wait = WAIT_LEAST;
    k->held_at = keeper_steady() + k->held_wait;
    if (r.n == 0 || read_again(&r) || keeper_find_marked(k, true, r.keys, r.n))
        return;
    k->n_held = kept;
    for (size_t i = 0; i < r.n; i++) {
        struct run *run = keeper_find(k, r.keys[i]);
        if (run)
            go_on_with_run(k, run);
    }
    if (kept == 0)
        keeper_replace_journal(k);
}
