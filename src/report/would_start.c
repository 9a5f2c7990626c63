#include "report/would_start.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "config/seconds.h"
#include "jobspec/canonical.h"

#define DURATION_MAX (INT64_C(20) * 365 * 86400 * SECONDS_TICKS)

/* A job's request, in which one count at a time is lowered. */
struct request {
    jobspec_t *spec;
    struct jobspec_resource *resources; /* a copy of spec's */
    char *text;                         /* of the last variant */
};

/* One count that can be lowered. */
struct lower {
    struct request *request;
    uint32_t resource;
    int64_t count; /* as requested */
    int64_t times; /* the number of counted resources that one of it contains */
};

enum { AS_IT_IS, DURATION, TASKS, CORES, NODES, GPUS, MEMORY, QUESTIONS };

/* ---- The request ---- */

static int request_open(struct request *r, const char *text, size_t length, berth_error_t *err)
{
    *r = (struct request){.spec = jobspec_parse(text, length, NULL, err)};
    if (!r->spec)
        return -1;
    size_t size = r->spec->nresources * sizeof(*r->resources);
    r->resources = malloc(size);
    if (!r->resources)
        return errtext_no_memory(err);
    memcpy(r->resources, r->spec->resources, size);
    return 0;
}

static void request_close(struct request *r)
{
    jobspec_destroy(r->spec);
    free(r->resources);
    free(r->text);
}

static bool is_single(const struct jobspec_resource *r)
{
    return (r->kind == JOBSPEC_RESOURCE || r->kind == JOBSPEC_SLOT) && r->count.min > 0 &&
           r->count.min == r->count.max;
}

/* The resource of a type; JOBSPEC_NONE if there is none, or several. */
static uint32_t only_one(const jobspec_t *spec, const char *type)
{
    uint32_t found = JOBSPEC_NONE;
    for (uint32_t i = 0; i < spec->nresources; i++) {
        if (spec->resources[i].kind != JOBSPEC_RESOURCE ||
            strcmp(spec->resources[i].type, type) != 0)
            continue;
        if (found != JOBSPEC_NONE)
            return JOBSPEC_NONE;
        found = i;
    }
    return found;
}

/* The slot that directly contains a resource. */
static uint32_t slot_of(const jobspec_t *spec, uint32_t i)
{
    uint32_t parent = i == JOBSPEC_NONE ? JOBSPEC_NONE : spec->resources[i].parent;
    return parent != JOBSPEC_NONE && spec->resources[parent].kind == JOBSPEC_SLOT ? parent
                                                                                  : JOBSPEC_NONE;
}

/* Prepare to lower the count of a resource that is `counted` or contains it. */
static struct lower lower_at(struct request *r, uint32_t at, uint32_t counted)
{
    const struct jobspec_resource *v = r->spec->resources;
    struct lower lower = {.request = r, .resource = at, .times = 1};
    if (at == JOBSPEC_NONE)
        return lower;
    for (uint32_t i = counted; i != JOBSPEC_NONE; i = v[i].parent)
        if (!is_single(&v[i]) ||
            (i != at && __builtin_mul_overflow(lower.times, (int64_t)v[i].count.min, &lower.times)))
            return lower;
    lower.count = v[at].count.min;
    return lower;
}

/* ---- The questions ---- */

static int ask_as_it_is(void *context, int64_t n, struct sched_instead *instead)
{
    (void)context;
    (void)n;
    (void)instead;
    return 0;
}

static int ask_shorter(void *context, int64_t n, struct sched_instead *instead)
{
    (void)context;
    instead->duration = n * SECONDS_TICKS;
    return 0;
}

static int ask_lower(void *context, int64_t n, struct sched_instead *instead)
{
    const struct lower *lower = context;
    struct request *r = lower->request;
    jobspec_t smaller = *r->spec;
    struct jobspec_count *count = &r->resources[lower->resource].count, was = *count;
    count->min = count->max = (uint32_t)n;
    smaller.resources = r->resources;
    free(r->text);
    r->text = jobspec_canonical(&smaller);
    *count = was;
    if (!r->text)
        return -1;
    instead->jobspec = r->text;
    instead->jobspec_length = strlen(r->text);
    return 0;
}

static void make_lower(struct request *r, struct lower lower[QUESTIONS])
{
    uint32_t core = only_one(r->spec, "core"), node = only_one(r->spec, "node");
    uint32_t gpu = only_one(r->spec, "gpu"), memory = only_one(r->spec, "memory");
    uint32_t of_nodes = node;
    if (node != JOBSPEC_NONE && r->spec->resources[node].count.max == 1 &&
        slot_of(r->spec, node) != JOBSPEC_NONE)
        of_nodes = slot_of(r->spec, node);
    lower[TASKS] = lower_at(r, slot_of(r->spec, core), core);
    lower[CORES] = lower_at(r, core, core);
    lower[NODES] = lower_at(r, of_nodes, node);
    lower[GPUS] = lower_at(r, gpu, gpu);
    lower[MEMORY] = lower_at(r, memory, memory);
}

/* The result of a question; 0: none. */
static int64_t found_of(const struct sched_question *q, const struct lower *lower)
{
    return q->found * lower->times;
}

/* The longest time limit, in seconds, that is less than what it has: its estimate, if it may take longer. */
static int64_t longest(const struct sched_request *r)
{
    int64_t estimate = r->estimate < r->duration ? r->estimate : r->duration - 1;
    return (estimate < DURATION_MAX ? estimate : DURATION_MAX) / SECONDS_TICKS;
}

int would_start_find(sched_t *sched, int64_t now, sched_job_t handle, int64_t memory_unit,
                     struct would_start *found, berth_error_t *err)
{
    struct sched_question q[QUESTIONS] = {
        [AS_IT_IS] = {.make = ask_as_it_is, .least = 1, .most = 1},
        [DURATION] = {.make = ask_shorter, .least = 1},
    };
    struct lower lower[QUESTIONS] = {0};
    struct sched_record record;
    struct request r = {0};
    *found = (struct would_start){0};
    if (sched_record(sched, handle, &record) < 0)
        return errtext_set(err, errno, "%s", strerror(errno));
    q[DURATION].most = longest(&record.request);
    int rc = request_open(&r, record.request.jobspec, record.request.jobspec_length, err);
    if (rc == 0)
        make_lower(&r, lower);
    for (int i = TASKS; i < QUESTIONS; i++)
        q[i] = (struct sched_question){
            .make = ask_lower, .context = &lower[i], .least = 1, .most = lower[i].count - 1};
    if (rc == 0)
        rc = sched_what_if(sched, now, handle, q, QUESTIONS, err);
    found->as_it_is = rc == 0 && q[AS_IT_IS].found == 1;
    if (rc == 0 && !found->as_it_is) {
        int64_t tasks = found_of(&q[TASKS], &lower[TASKS]);
        int64_t cores = found_of(&q[CORES], &lower[CORES]);
        found->duration = q[DURATION].found * SECONDS_TICKS;
        found->cores = tasks > cores ? tasks : cores;
        found->nodes = found_of(&q[NODES], &lower[NODES]);
        found->gpus = found_of(&q[GPUS], &lower[GPUS]);
        found->memory = found_of(&q[MEMORY], &lower[MEMORY]) * memory_unit;
    }
    request_close(&r);
    return rc;
}
