#include "server/trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"

#define DURATION_PROBES 14
#define PROBE_TAG       UINT64_MAX /* less the probe's number */

struct smaller {
    char *jobspec;
    int64_t cores;
};

struct trials {
    server_t *s;
    match_t *machine;
    sched_t *sched;
    sched_job_t probe[DURATION_PROBES + TRIAL_CORES_MAX];
    size_t next; /* the next probe of durations */
    struct smaller smaller[TRIAL_CORES_MAX];
    size_t n_smaller;
    int64_t limit; /* the job's duration */
    berth_error_t *err;
};

/* ---- Smaller requests: the same with fewer cores ---- */

static json_t *part(json_t *owner, const char *type)
{
    size_t i;
    json_t *child;
    json_array_foreach(json_object_get(owner, "with"), i, child)
    {
        const char *is = json_string_value(json_object_get(child, "type"));
        if (is && strcmp(is, type) == 0)
            return child;
    }
    return NULL;
}

static int64_t count(const json_t *resource)
{
    const json_t *n = json_object_get(resource, "count");
    return json_is_integer(n) ? json_integer_value(n) : 0;
}

/* What of a short form's jobspec may be smaller: tasks, else cores. *times: how many cores one of them stands for. */
static json_t *shrinkable(json_t *spec, int64_t *times)
{
    json_t *top = json_array_get(json_object_get(spec, "resources"), 0);
    const char *type = json_string_value(json_object_get(top, "type"));
    if (!type)
        return NULL;
    json_t *slot = strcmp(type, "node") == 0 ? part(top, "slot") : top;
    json_t *core = part(slot, "core");
    *times = slot == top ? 1 : count(top);
    if (!core || *times < 1)
        return NULL;
    if (slot == top && count(slot) > 1) {
        *times = count(core);
        return slot;
    }
    *times *= count(slot);
    return core;
}

static void make_smaller(struct trials *t, const struct sched_record *r)
{
    int64_t times;
    json_t *spec = json_loadb(r->request.jobspec, r->request.jobspec_length, 0, NULL);
    json_t *what = spec ? shrinkable(spec, &times) : NULL;
    int64_t all = what ? count(what) : 0, step = (all - 1) / TRIAL_CORES_MAX + 1;
    for (int64_t n = all - 1; n > 0 && t->n_smaller < TRIAL_CORES_MAX; n -= step) {
        if (json_object_set_new(what, "count", json_integer(n)) < 0)
            break;
        char *text = json_dumps(spec, JSON_COMPACT);
        if (!text)
            break;
        t->smaller[t->n_smaller++] = (struct smaller){text, n * times};
    }
    json_decref(spec);
}

/* ---- The copy ---- */

static int add_probe(struct trials *t, const struct sched_record *job, size_t i)
{
    struct sched_record r = *job;
    char id[32];
    snprintf(id, sizeof(id), "probe-%zu", i);
    r.request.id = id;
    r.request.name = id;
    r.request.dependency = NULL;
    r.request.members = 0;
    r.request.tag = PROBE_TAG - i;
    r.request.hold = r.held = true;
    r.member = 0;
    r.state = SCHED_BLOCKED;
    r.resources = r.reason = NULL;
    r.at = r.until = 0;
    if (i >= DURATION_PROBES) {
        r.request.jobspec = t->smaller[i - DURATION_PROBES].jobspec;
        r.request.jobspec_length = strlen(r.request.jobspec);
    }
    t->probe[i] = sched_restore(t->sched, t->s->now, &r, t->err);
    return t->probe[i] < 0 ? -1 : 0;
}

static int add_probes(struct trials *t, const struct sched_record *job)
{
    t->limit = job->request.duration;
    make_smaller(t, job);
    for (size_t i = 0; i < DURATION_PROBES + t->n_smaller; i++)
        if (add_probe(t, job, i) < 0)
            return -1;
    return 0;
}

/* Copy what the scheduler knows, with the probes in the place of the job. Others that can't be copied are left out: they
 * wait for something that isn't there.
 */
static int copy(struct trials *t, sched_job_t handle)
{
    server_t *s = t->s;
    size_t waiting = 0;
    struct sched_record r;
    for (sched_job_t j = sched_first(s->sched); j >= 0; j = sched_next(s->sched, j)) {
        int state = sched_state(s->sched, j);
        if (state == SCHED_REJECTED ||
            (j != handle && state != SCHED_RUNNING && state != SCHED_RESERVED &&
             (state == SCHED_BLOCKED || waiting++ >= TRIAL_JOBS_MAX)))
            continue;
        if (sched_record(s->sched, j, &r) < 0)
            return errtext_set(t->err, errno, "%s", strerror(errno));
        if (j == handle) {
            if (add_probes(t, &r) < 0)
                return -1;
            continue;
        }
        r.request.dependency = NULL;
        r.fresh = r.untold = false;
        if (sched_restore(t->sched, s->now, &r, NULL) < 0 && errno == ENOMEM)
            return errtext_set(t->err, ENOMEM, "out of memory");
    }
    return sched_restore_passed(t->sched, s->now, s->now, 0);
}

/* Whether a probe would start now, with a duration. */
static bool starts(struct trials *t, size_t i, int64_t duration)
{
    const struct sched_decision *decisions;
    size_t n = 0;
    int64_t now = t->s->now;
    bool started = false;
    if (sched_set_duration(t->sched, now, t->probe[i], duration, NULL) < 0 ||
        sched_release(t->sched, now, t->probe[i]) < 0)
        return false;
    sched_pass(t->sched, now, false, &decisions, &n);
    for (size_t k = 0; k < n; k++)
        started =
            started || (decisions[k].kind == SCHED_START && decisions[k].tag == PROBE_TAG - i);
    sched_cancel(t->sched, now, t->probe[i]);
    return started;
}

static int64_t find_duration(struct trials *t)
{
    int64_t low = SERVER_SECOND, high = t->limit;
    size_t i = 0;
    if (high <= low || !starts(t, i++, low))
        return 0;
    while (i < DURATION_PROBES && high - low > SERVER_SECOND) {
        int64_t middle = low + (high - low) / 2;
        middle -= middle % SERVER_SECOND;
        if (middle <= low)
            break;
        if (starts(t, i++, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t find_cores(struct trials *t)
{
    for (size_t i = 0; i < t->n_smaller; i++)
        if (starts(t, DURATION_PROBES + i, t->limit))
            return t->smaller[i].cores;
    return 0;
}

int trial_run(server_t *s, sched_job_t handle, struct trial *found, berth_error_t *err)
{
    struct trials t = {.s = s, .err = err};
    int rc = -1;
    *found = (struct trial){0};
    t.machine = machine_make(s, err);
    if (t.machine)
        t.sched = sched_create(t.machine, &s->config->sched, err);
    if (t.sched) {
        settings_apply(s, t.sched);
        rc = copy(&t, handle);
    }
    if (rc == 0) {
        found->duration = find_duration(&t);
        found->cores = find_cores(&t);
    }
    int saved = errno;
    sched_destroy(t.sched);
    match_destroy(t.machine);
    for (size_t i = 0; i < t.n_smaller; i++)
        free(t.smaller[i].jobspec);
    errno = saved;
    return rc;
}
