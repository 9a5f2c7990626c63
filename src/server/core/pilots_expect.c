/* After a restart: which nodes of pilots there were, and which runs they may tell of. */
#include <limits.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "server/core/entry.h"
#include "server/core/job_text.h"
#include "server/core/machine.h"
#include "server/core/members.h"
#include "server/core/pilots.h"
#include "server/core/priv.h"
#include "server/core/run_hosts.h"

/* The number of machines on which it holds something. */
static uint32_t count_places(const struct run_hosts *hosts)
{
    uint32_t n = 0;
    for (size_t i = 0; i < hosts->n; i++)
        n += hosts->v[i].n_tasks > 0 && (i == 0 || run_hosts_apart(&hosts->v[i - 1], &hosts->v[i]));
    return n;
}

/* This machine is asked itself, unless it is one of several. */
static int expect_on(struct engine *engine, const struct run_hosts *hosts,
                     struct engine_expected *expected)
{
    expected->places = count_places(hosts);
    for (size_t i = 0; i < hosts->n; i++) {
        const json_t *node = hosts->v[i].node;
        if (hosts->v[i].n_tasks == 0 || (i > 0 && !run_hosts_apart(&hosts->v[i - 1], &hosts->v[i])))
            continue;
        if ((node || expected->places > 1) &&
            engine->ops->expect(engine, node ? (uint64_t)entry_number(node, "pilot") : 0,
                                node ? entry_text(node, "name") : NULL, expected, 1) < 0)
            return -1;
        expected->place++;
    }
    return 0;
}

/* As when it was started; while the store is loaded jobs have their requests. */
static void share_tasks(struct run_hosts *hosts, const struct job *job)
{
    static const char *const keys[] = {"tasks", "task_cores"};
    struct json_part v[2];
    json_find(json_part(job->request, strlen(job->request)), keys, 2, v);
    run_hosts_share(hosts, (size_t)json_part_whole(v[0], 1), (uint64_t)json_part_whole(v[1], 0));
}

static int expect_run(server_t *s, const struct run *run, const struct member *m)
{
    struct sched_allocation given;
    struct run_hosts hosts = {0};
    struct engine_expected expected = {.key = run->key, .started = m->state == STORE_RUNNING};
    if (m->handle < 0 || sched_allocation(s->sched, m->handle, &given) < 0)
        return 0;
    int rc = run_hosts_read(s, &given, &hosts);
    if (rc == 0) {
        share_tasks(&hosts, run->job);
        rc = expect_on(s->platform.engine, &hosts, &expected);
    }
    run_hosts_clear(&hosts);
    return rc;
}

bool pilots_have(server_t *s, sched_job_t handle)
{
    struct sched_allocation given;
    bool any = false;
    if (json_array_size(pilots_nodes(s)) == 0 || handle < 0 ||
        sched_allocation(s->sched, handle, &given) < 0)
        return false;
    for (size_t i = 0; i < given.n_hosts; i++)
        any = any || pilots_node_named(s, given.hosts[i].name);
    return any;
}

int pilots_expect(server_t *s, berth_error_t *err)
{
    size_t i;
    const json_t *entry;
    char folder[PATH_MAX];
    berth_error_t why;
    struct engine *engine = s->platform.engine;
    if (!engine->ops->expect)
        return 0;
    json_array_foreach (pilots_list(s), i, entry)
        if (engine->ops->invite(engine, (uint64_t)entry_number(entry, "pilot"), folder, &why) < 0)
            server_notice(s, "%s", why.text);
    json_array_foreach (pilots_nodes(s), i, entry)
        if (engine->ops->expect(engine, (uint64_t)entry_number(entry, "pilot"),
                                entry_text(entry, "name"), NULL, 0) < 0)
            return errtext_no_memory(err);
    for (size_t k = 0; k < s->runs.n && json_array_size(pilots_nodes(s)) > 0; k++) {
        const struct run *run = s->runs.v[k];
        const struct member *m = run && run->key > 0 ? member_record(run->job, run->member) : NULL;
        if (m && member_is_live(m) && expect_run(s, run, m) < 0)
            return errtext_no_memory(err);
    }
    return 0;
}
