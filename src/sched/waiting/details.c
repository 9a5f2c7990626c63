/* What a scheduler with queues knows of one job. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/controllers/ask.h"
#include "sched/pass/displaced.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"

const char *queues_text(struct queues *n, const char *text)
{
    uint32_t id;
    if (intern_put(&n->texts, text, strlen(text), &id) == 0)
        return intern_text(&n->texts, id);
    errno = ENOMEM;
    return NULL;
}

/* The members of an array share what the first one of them brings. */
static int fill_groups(struct details *d, struct queues *n, const struct sched_request *request)
{
    if (d->of && d->of->records > 1) {
        d->groups = d->of->groups;
        d->n_groups = d->of->n_groups;
        return 0;
    }
    if (request->n_groups == 0)
        return 0;
    d->groups = reallocarray(NULL, request->n_groups, sizeof(*d->groups));
    if (!d->groups)
        return -1;
    for (; d->n_groups < request->n_groups; d->n_groups++) {
        d->groups[d->n_groups] = queues_text(n, request->groups[d->n_groups]);
        if (!d->groups[d->n_groups])
            return -1;
    }
    if (d->of) {
        d->of->groups = d->groups;
        d->of->n_groups = d->n_groups;
    }
    return 0;
}

static int fill_details(struct details *d, struct queues *n, const struct sched_request *request)
{
    d->user = queues_text(n, request->user ? request->user : "");
    d->name = request->name ? queues_text(n, request->name) : NULL;
    if (!d->user || (request->name && !d->name))
        return -1;
    return fill_groups(d, n, request);
}

struct details *details_new(struct queues *n, const struct sched_request *request,
                            struct members *of, struct shared_text *jobspec)
{
    struct details *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->of = of;
    d->job_group = JOB_GROUP_NONE;
    d->previous = d->following = d->gang_before = d->gang_behind = JOB_NONE;
    d->culprit = -1;
    d->displaced = -1;
    d->priority = request->priority;
    d->begin = request->begin;
    if (fill_details(d, n, request) < 0) {
        d->of = NULL; /* that is the caller's */
        if (of && of->records > 1)
            d->groups = NULL;
        details_free(NULL, d);
        errno = ENOMEM;
        return NULL;
    }
    d->jobspec = jobspec;
    jobspec->users++;
    return d;
}

void details_free(sched_t *s, struct details *d)
{
    if (!d)
        return;
    shared_text_leave(s, d->jobspec);
    free(d->never);
    free(d->shared);
    if (!d->of || d->groups != d->of->groups)
        free(d->groups);
    members_leave(s, d->of);
    free(d);
}

const char *base_id(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    strbuf_reset(&n->text);
    strbuf_puts(&n->text, depend_base_id(n->depend, slot));
    return strbuf_text(&n->text);
}

void details_link(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct details *d = s->jobs[slot].details;
    d->previous = n->last;
    d->following = JOB_NONE;
    n->listed++;
    if (n->last == JOB_NONE)
        n->first = slot;
    else
        s->jobs[n->last].details->following = slot;
    n->last = slot;
    gang_link(s, slot);
}

void details_link_beside(sched_t *s, uint32_t slot, uint32_t there, bool before)
{
    struct queues *n = s->queues;
    struct details *d = s->jobs[slot].details;
    n->listed++;
    if (before && n->never_next == there)
        n->never_next = slot;
    d->previous = before ? s->jobs[there].details->previous : there;
    d->following = before ? there : s->jobs[there].details->following;
    *(d->previous == JOB_NONE ? &n->first : &s->jobs[d->previous].details->following) = slot;
    *(d->following == JOB_NONE ? &n->last : &s->jobs[d->following].details->previous) = slot;
    gang_link(s, slot);
}

static void details_unlink(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct details *d = s->jobs[slot].details;
    gang_unlink(s, slot);
    n->listed--;
    if (n->never_next == slot)
        n->never_next = d->following;
    if (d->previous == JOB_NONE)
        n->first = d->following;
    else
        s->jobs[d->previous].details->following = d->following;
    if (d->following == JOB_NONE)
        n->last = d->previous;
    else
        s->jobs[d->following].details->previous = d->previous;
}

bool job_waits_for_victims(const struct job *job)
{
    return job->details && job->details->victims > 0;
}

/* A job with details is forgotten. */
static void leave_details(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    if (is_entry(s, slot))
        d->of->entry = JOB_NONE;
    details_unlink(s, slot);
    displaced_end(s, slot);
    if (d->job_group != JOB_GROUP_NONE) {
        job_group_leave(&s->queues->job_groups, d->job_group);
        s->place->ops->forget(s->place, s->jobs[slot].ask.class);
    }
    details_free(s, d);
    s->jobs[slot].details = NULL;
}

void job_forget(sched_t *s, uint32_t slot)
{
    controllers_forgotten(s, slot);
    if (s->jobs[slot].details)
        leave_details(s, slot);
    job_free(s, slot);
}

void job_ended(sched_t *s, uint32_t slot, enum job_end end)
{
    controllers_ended(s, slot, end);
    job_forget(s, slot);
    controllers_resolve_all(s);
}
