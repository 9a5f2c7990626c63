/* The machine of a scheduler with queues changes. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/awaited.h"
#include "sched/controllers/limiter.h"
#include "sched/pass/displaced.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_turns.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

/* The machine of a call at `now`; NULL with EINVAL and a text. */
static const struct place_ops *machine_of(const sched_t *s, int64_t now, berth_error_t *err)
{
    if (!s->place->is_counted && time_is_good(s, now))
        return s->place->ops;
    errtext_set(err, EINVAL,
                s->place->is_counted ? "this scheduler has no named resources" : "time goes back");
    return NULL;
}

/* Something has changed: all that waits is looked at again, all reservations are looked over. */
static int note_machine_changed(sched_t *s, int64_t now)
{
    job_groups_measure(s);
    s->booked++;
    s->woken = true;
    s->swept = false;
    core_event(s, now);
    note_freed(s, now, INT64_MAX);
    repair_note(s, 0, INT64_MAX);
    s->queues->recheck_down = true;
    limit_ask_all_again(s); /* a job may ask for less of other nodes */
    s->queues->turn = s->place->ops->turn(s->place, now);
    displaced_return(s);
    gang_look_all(s);
    never_look_all(s);
    return 0;
}

/* Carry out a change of the machine. */
static int change_machine(sched_t *s, int64_t now, const struct place_change *change,
                          berth_error_t *err)
{
    const struct place_ops *machine = machine_of(s, now, err);
    return !machine || machine->change(s->place, change, err) < 0 ? -1
                                                                  : note_machine_changed(s, now);
}

/* Reservations of something that has gone down move. O(held). */
static void repair_touched(sched_t *s, const char *resources)
{
    uint32_t slot = held_next(s, false, KEY_FIRST);
    for (; slot != JOB_NONE; slot = held_next(s, true, s->jobs[slot].key)) {
        const struct job *job = &s->jobs[slot];
        if (s->place->ops->touches(s->place, job->booking, resources, NULL) == 0)
            continue; /* where it can't be said for lack of memory, it is looked at */
        repair_note(s, job->at, job_until(job));
    }
}

/* A status concerns the reservations of what has it and, if that comes up, those who wait for such, which
 * the machine knows. No job asks for anything else than before.
 */
int sched_set_status(sched_t *s, int64_t now, const char *resources, enum resource_status status,
                     berth_error_t *err)
{
    struct place_change to = {.kind = PLACE_STATUS, .resources = resources, .status = status};
    const struct place_ops *machine = machine_of(s, now, err);
    int rc = machine ? machine->change(s->place, &to, err) : -1;
    if (rc != 0)
        return rc < 0 ? -1 : 0; /* nothing has changed */
    s->booked++;
    s->woken = true;
    core_event(s, now);
    s->swept = false;
    if (s->queues->shares)
        class_turns_measure(s->queues->shares);
    if (status == RESOURCE_UP) {
        note_freed(s, now, INT64_MAX);
        displaced_return(s);
    } else {
        repair_touched(s, resources);
    }
    s->queues->recheck_down = true;
    limit_ask_all_again(s); /* a job may ask for less of other nodes */
    return 0;
}

int sched_set_property(sched_t *s, int64_t now, const char *resources, const char *key,
                       const char *value, berth_error_t *err)
{
    struct place_change to = {
        .kind = PLACE_PROPERTY, .resources = resources, .key = key, .value = value};
    return change_machine(s, now, &to, err);
}

int sched_attach(sched_t *s, int64_t now, const char *jgf, size_t length, berth_error_t *err)
{
    struct place_change to = {.kind = PLACE_ATTACH, .jgf = jgf, .length = length};
    return change_machine(s, now, &to, err);
}

/* What jobs hold is measured anew: the ledger forgets all of them, or learns them again. */
static void count_all(sched_t *s, bool enter)
{
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following) {
        const struct job *job = &s->jobs[slot];
        if (job->state != SCHED_RUNNING && job->state != SCHED_RESERVED)
            continue;
        if (enter)
            controllers_put_back(s, slot);
        else
            controllers_set_aside(s, slot);
    }
}

int sched_remove(sched_t *s, int64_t now, const char *resources, berth_error_t *err)
{
    const struct place_ops *machine = machine_of(s, now, err);
    if (!machine)
        return -1;
    struct place_change to = {.kind = PLACE_REMOVE, .resources = resources};
    count_all(s, false);
    int rc = machine->change(s->place, &to, err);
    int saved = errno;
    count_all(s, true);
    errno = saved;
    if (rc < 0)
        return -1;
    return note_machine_changed(s, now);
}

int sched_free_ranks(sched_t *s, int64_t now, sched_job_t handle, const char *ranks,
                     berth_error_t *err)
{
    const struct place_ops *machine = machine_of(s, now, err);
    uint32_t slot = machine ? job_in_queue(s, handle) : JOB_NONE;
    int64_t before = s->now;

    if (!machine)
        return -1;
    if (slot == JOB_NONE || s->jobs[slot].state != SCHED_RUNNING)
        return errtext_set(err, EINVAL, "no such job runs");
    s->now = now;
    controllers_set_aside(s, slot);
    int rc = machine->give(s->place, s->jobs[slot].booking, ranks, err), error = errno;
    controllers_put_back(s, slot);
    if (rc == 0 && s->queues->shares)
        shares_hold(s, slot, s->jobs[slot].booking, true);
    errno = error;
    if (rc < 0) {
        s->now = before;
        return -1;
    }
    s->booked++;
    core_event(s, now);
    note_freed(s, now, job_until(&s->jobs[slot]));
    controllers_freed(s, slot);
    s->woken = s->queues->wake_all = true;
    s->swept = false;
    displaced_return(s);
    return 0;
}

/* Room for one more in the list of holders. Returns 0, or -1 with ENOMEM. */
static int holders_reserve(struct queues *n, size_t used)
{
    return array_grow((void **)&n->holders, &n->cap_holders, used + 1, sizeof(*n->holders));
}

int sched_holders(sched_t *s, const char *resources, const sched_job_t **jobs, size_t *n,
                  berth_error_t *err)
{
    const struct place_ops *machine = machine_of(s, s->now, err);
    size_t found = 0;
    if (!machine || machine->touches(s->place, -1, resources, err) < 0)
        return -1;
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following) {
        if (s->jobs[slot].state != SCHED_RUNNING)
            continue;
        int rc = machine->touches(s->place, s->jobs[slot].booking, resources, err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            continue;
        if (holders_reserve(s->queues, found) < 0)
            return errtext_no_memory(err);
        s->queues->holders[found++] = job_handle(s, slot);
    }
    *jobs = s->queues->holders;
    *n = found;
    return 0;
}

struct holder {
    int64_t until;
    struct queue_key key;
    sched_job_t job;
};

static int holder_compare(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;
    if (x->until != y->until)
        return x->until < y->until ? -1 : 1;
    return queue_before(x->key, y->key) ? -1 : queue_before(y->key, x->key);
}

/* Of a waiting job, who holds what it could use, in the order of their ends. Returns their number, or -1
 * with ENOMEM.
 */
static int64_t holders_of(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct holder *v = reallocarray(NULL, (size_t)n->ends.n + 1, sizeof(*v));
    size_t found = 0;
    bool preempts = s->jobs[slot].details->victims > 0;
    for (uint32_t i = 0; v && i < n->ends.n; i++) {
        const struct job *other = &s->jobs[n->ends.v[i].item];
        if (other->state != SCHED_RUNNING ||
            (preempts && !is_awaited_by(s, n->ends.v[i].item, slot)) ||
            s->place->ops->useful(s->place, &s->jobs[slot].ask, other->booking) == 0)
            continue;
        if (holders_reserve(n, found) < 0) {
            free(v);
            return -1;
        }
        v[found++] =
            (struct holder){job_until(other), other->key, job_handle(s, n->ends.v[i].item)};
    }
    if (!v)
        return -1;
    qsort(v, found, sizeof(*v), holder_compare);
    for (size_t i = 0; i < found; i++)
        n->holders[i] = v[i].job;
    free(v);
    return (int64_t)found;
}

/* When a waiting job will start as far as can be said now; -1: unknown. */
static int64_t estimate(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (job->is_claiming)
        return -1;
    if (job->state == SCHED_RESERVED) /* one whose victims take their time starts after them */
        return job->at > s->now ? job->at : s->now;
    bool waits = job->state == SCHED_WAITING ||
                 (job->state == SCHED_BLOCKED &&
                  (job->details->blocked & ~(BLOCK_LIMIT | BLOCK_ARRAY)) == 0);
    if (!waits || lane_of(s, slot)->is_stopped || s->replan.is)
        return -1;
    const struct head *head = &lane_of(s, slot)->head;
    if (head->is && head->job == job_handle(s, slot)) /* what is booked for it is in nobody's way */
        return head->at > s->now ? head->at : s->now;
    int64_t from = array_when(s, slot, s->now);
    return from < INT64_MAX ? promise_time(s, slot, from) : -1;
}

int64_t sched_not_before(sched_t *s, sched_job_t handle)
{
    uint32_t slot = job_in_queue(s, handle);
    return slot == JOB_NONE || s->jobs[slot].state == SCHED_RESERVED ? -1 : estimate(s, slot);
}

bool sched_claims(const sched_t *s, sched_job_t handle)
{
    uint32_t slot = job_in_queue(s, handle);
    return slot != JOB_NONE && s->jobs[slot].is_claiming;
}

int64_t sched_deadline(const sched_t *s, sched_job_t handle)
{
    uint32_t slot = job_in_queue(s, handle);
    return slot == JOB_NONE ? SCHED_UNLIMITED : job_deadline(s, slot);
}

int64_t until_told(const sched_t *s, const struct job *job)
{
    return job->ask.duration < s->place->endless    ? job_until(job)
           : job_until(job) < 0 || job->is_claiming ? -1
                                                    : INT64_MAX;
}

int sched_annotate(sched_t *s, sched_job_t handle, struct sched_annotation *a)
{
    uint32_t slot = job_in_queue(s, handle);
    if (slot == JOB_NONE) {
        errno = EINVAL;
        return -1;
    }
    struct queues *n = s->queues;
    const struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    *a = (struct sched_annotation){.state = (enum sched_state)state_told(job),
                                   .tag = job->tag,
                                   .id = d->is_nameless ? "" : depend_id(n->depend, slot),
                                   .queue = n->setup->queue[d->queue].name,
                                   .user = d->user,
                                   .account = d->account,
                                   .member = d->member,
                                   .members = d->of ? d->of->size : 1,
                                   .priority = d->priority,
                                   .submitted = job->submitted,
                                   .start = job->at,
                                   .until = until_told(s, job),
                                   .limit = d->limit,
                                   .expected = job->state == SCHED_RESERVED && d->is_expected,
                                   .how = d->how};
    if (job->state == SCHED_RUNNING)
        return 0;
    reason_of(s, slot, &a->reason);
    a->start = estimate(s, slot);
    a->not_before = job->state != SCHED_RESERVED && a->start >= 0;
    if (job->state == SCHED_WAITING || job->state == SCHED_RESERVED) {
        int64_t holders = holders_of(s, slot);
        if (holders < 0)
            return -1;
        a->holders = n->holders;
        a->n_holders = (size_t)holders;
    }
    return 0;
}

/* The slot of a job that runs or has a reservation; JOB_NONE with EINVAL. */
static uint32_t holder_find(const sched_t *s, sched_job_t handle)
{
    uint32_t slot = job_in_queue(s, handle);
    if (slot != JOB_NONE &&
        (s->jobs[slot].state == SCHED_RUNNING || s->jobs[slot].state == SCHED_RESERVED))
        return slot;
    errno = EINVAL;
    return JOB_NONE;
}

int sched_write(sched_t *s, sched_job_t handle, const char *format, const char **text,
                size_t *length)
{
    uint32_t slot = holder_find(s, handle);
    return slot == JOB_NONE
               ? -1
               : s->place->ops->write(s->place, s->jobs[slot].booking, format, text, length);
}

int sched_allocation(sched_t *s, sched_job_t handle, struct sched_allocation *allocation)
{
    uint32_t slot = holder_find(s, handle);
    int64_t n = slot == JOB_NONE ? -1
                                 : s->place->ops->given(s->place, s->jobs[slot].booking, NULL,
                                                        &allocation->hosts);
    if (n < 0)
        return -1;
    allocation->n_hosts = (size_t)n;
    return 0;
}

int64_t sched_booking(const sched_t *s, sched_job_t job)
{
    uint32_t slot = job_in_queue(s, job);
    if (slot == JOB_NONE || job_until(&s->jobs[slot]) < 0) {
        errno = EINVAL;
        return -1;
    }
    return s->jobs[slot].booking;
}

int64_t sched_amount(const sched_t *s, sched_job_t job, const char *type)
{
    uint32_t slot = job_in_queue(s, job);
    if (slot == JOB_NONE || job_until(&s->jobs[slot]) < 0) {
        errno = EINVAL;
        return -1;
    }
    return s->place->ops->amount(s->place, s->jobs[slot].booking, type);
}

int sched_resources(sched_t *s, sched_job_t job, const char **text)
{
    size_t length;
    return sched_write(s, job, NULL, text, &length);
}
