/* The runs that the store has and those that the engine has are brought together when the server starts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "server/core/machine.h"
#include "server/core/members.h"
#include "server/core/priv.h"

static int compare_run_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void run_lost(server_t *s, struct run *run)
{
    struct engine_event e = {.what = ENGINE_LOST,
                             .key = run->key,
                             .at = s->clock.wall,
                             .peak_memory = -1,
                             .cpu_time = -1};
    server_engine_event(s, &e);
}

/* It is not known whether a node of a pilot was asked: it is asked again, under the same key. If that can't be done it
 * tells whether it was.
 */
static void start_again(server_t *s, struct run *run)
{
    berth_error_t why;
    run_start(s, run, &why);
    run_arm_timer(s, run);
}

/* Continue with a run, whether the engine has it or not. */
static int resume_run(server_t *s, struct run *run, const uint64_t *keys, size_t n, bool forgot)
{
    struct member *m = member_record(run->job, run->member);
    run->in_engine = bsearch(&run->key, keys, n, sizeof(*keys), compare_run_keys) != NULL;
    /* Where the engine's records are lost, as after a reboot, a run that was about to start may have
     * started.
     */
    bool elsewhere = pilots_have(s, m->handle);
    if (!run->in_engine &&
        (m->state == STORE_RUNNING || (!elsewhere && (s->clock.other_boot || forgot))))
        run_lost(s, run);
    else if (m->cancelled || m->timed_out || m->preempted)
        run_stop(s, run);
    else if (run->in_engine && elsewhere && m->state == STORE_STARTING)
        start_again(s, run);
    else if (run->in_engine)
        run_arm_timer(s, run);
    else
        return start_enqueue(s, run->job, run->member);
    return 0;
}

int runs_reconcile(server_t *s, berth_error_t *err)
{
    const struct engine_ops *ops = s->platform.engine->ops;
    const uint64_t *given;
    size_t n;
    if (ops->runs(s->platform.engine, &given, &n) < 0)
        return errno == EAGAIN ? 0
                               : errtext_set(err, errno, "the engine cannot list its runs: %s",
                                             strerror(errno));
    uint64_t *keys = malloc((n + 1) * sizeof(*keys));
    if (!keys)
        return errtext_no_memory(err);
    if (n > 0)
        memcpy(keys, given, n * sizeof(*keys));
    qsort(keys, n, sizeof(*keys), compare_run_keys);
    s->engine.is_known = true;
    int rc = orphans_kill(s, keys, n);
    bool forgot = s->engine.heard_key > ops->last_key(s->platform.engine);
    for (size_t i = 0; rc == 0 && i < s->runs.n; i++) {
        struct run *run = s->runs.v[i];
        if (run && run->key > 0 && member_is_live(member_record(run->job, run->member)))
            rc = resume_run(s, run, keys, n, forgot);
    }
    free(keys);
    if (rc == 0)
        return 0;
    s->engine.is_known = false; /* so that all of it is repeated */
    return errtext_no_memory(err);
}
