/* What members of a gang ask for: one of them, or the whole. */
#include <errno.h>

#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"

uint32_t gang_asking(const sched_t *s, uint32_t slot)
{
    const struct members *m = s->jobs[slot].details->of;
    return m->gang->leader == JOB_NONE ? m->entry : m->gang->leader;
}

/* Put a role behind those for which there is room for fewer members, so that what can be in few places is placed first.
 * Returns how many there are then.
 */
static int insert_role(const sched_t *s, struct place_role *known, int n,
                       const struct place_role *role)
{
    const struct place_ops *ops = s->place->ops;
    int64_t most = ops->at_most(s->place, role->class);
    int at = n;
    for (; at > 0 && ops->at_most(s->place, known[at - 1].class) > most; at--)
        known[at] = known[at - 1];
    known[at] = *role;
    return n + 1;
}

/* The roles of which members are missing, as the machine knows them, in the order in which they are placed; with
 * `refuse`, no other one may ask for what there is never. Returns how many, with a user more each, or -1 as
 * shared_text_know.
 */
static int know_roles(sched_t *s, uint32_t slot, bool refuse, struct place_role *known,
                      berth_error_t *err)
{
    const struct gang *gang = gang_of(s, slot);
    uint32_t part = s->jobs[slot].ask.part;
    int n = 0;
    for (uint32_t i = 0; i < gang->n_roles; i++) {
        const struct gang_role *role = &gang->role[i];
        struct shared_text *text = role->text ? role->text : s->jobs[slot].details->jobspec;
        uint32_t class, missing = role_missing(role);
        int64_t units;
        if (shared_text_know(s, text, part, refuse, &class, &units, err) < 0) {
            int saved = errno;
            while (n-- > 0)
                s->place->ops->forget(s->place, known[n].class);
            errno = saved;
            return -1;
        }
        if (missing > 0)
            n = insert_role(s, known, n, &(struct place_role){class, missing, i});
        else
            s->place->ops->forget(s->place, class);
    }
    return n;
}

int gang_know_whole(sched_t *s, uint32_t slot, struct place_ask *whole)
{
    struct place_role role[SCHED_ROLES_MAX];
    *whole = s->jobs[slot].ask;
    int n = know_roles(s, slot, false, role, NULL);
    int rc = n < 0 ? -1
                   : s->place->ops->gather(s->place, role, (size_t)n, whole->part, false,
                                           &whole->class, &whole->units, NULL);
    gang_texts_rest(s, slot);
    while (n-- > 0)
        s->place->ops->forget(s->place, role[n].class);
    if (rc < 0)
        errno = ENOMEM;
    return rc < 0 ? -1 : 0;
}

int gang_asks_right(sched_t *s, uint32_t slot)
{
    const struct gang *gang = gang_of(s, slot);
    const struct place_ask *ask = &s->jobs[slot].ask;
    struct place_ask whole;
    if (!gang_asks_whole(s, slot))
        return 0;
    if (gang->n_roles == 1)
        return s->place->ops->members(s->place, ask->class) == gang_need(gang);
    if (gang_know_whole(s, slot, &whole) < 0)
        return -1;
    s->place->ops->forget(s->place, whole.class);
    return whole.class == ask->class;
}

uint32_t gang_last_role(sched_t *s, uint32_t slot)
{
    const struct gang *gang = gang_of(s, slot);
    struct place_role role[SCHED_ROLES_MAX];
    if (gang->n_roles == 1)
        return 0;
    int n = know_roles(s, slot, false, role, NULL);
    gang_texts_rest(s, slot);
    uint32_t last = n > 0 ? role[n - 1].number : UINT32_MAX;
    while (n-- > 0)
        s->place->ops->forget(s->place, role[n].class);
    return last;
}

int gang_gather(sched_t *s, uint32_t slot, bool refuse, berth_error_t *err)
{
    const struct gang *gang = gang_of(s, slot);
    struct place_ask *ask = &s->jobs[slot].ask;
    struct place_role role[SCHED_ROLES_MAX];
    if (!gang || !gang_waits_whole(gang) ||
        (gang_asking(s, slot) != slot && (gang->n_roles == 1 || !is_entry(s, slot))))
        return 0;
    uint32_t one = ask->class;
    int n = know_roles(s, slot, refuse, role, err);
    int rc = n < 0 ? -1
                   : s->place->ops->gather(s->place, role, (size_t)n, ask->part, refuse,
                                           &ask->class, &ask->units, err);
    int saved = errno;
    while (n-- > 0)
        s->place->ops->forget(s->place, role[n].class);
    s->place->ops->forget(s->place, one);
    errno = saved;
    return rc;
}

int gang_know_one(sched_t *s, uint32_t slot, uint32_t member, struct place_ask *ask,
                  uint32_t *group)
{
    const struct job *job = &s->jobs[slot];
    struct shared_text *text = gang_role_of(gang_of(s, slot), member)->text;
    struct place_ask one = job->ask;
    if (!text)
        text = job->details->jobspec;
    int rc = shared_text_know(s, text, one.part, false, &one.class, &one.units, NULL);
    shared_text_rest(text);
    if (rc < 0)
        return -1;
    int64_t of = job_group_enter(s, &one, job->lane, line_number(s, slot));
    if (of < 0) {
        s->place->ops->forget(s->place, one.class);
        errno = ENOMEM;
        return -1;
    }
    *ask = one;
    *group = (uint32_t)of;
    return 0;
}

void gang_forget(sched_t *s, const struct place_ask *ask, uint32_t group)
{
    job_group_leave(&s->queues->job_groups, group);
    s->place->ops->forget(s->place, ask->class);
}

void gang_ask(sched_t *s, uint32_t slot, const struct place_ask *ask, uint32_t group)
{
    struct job *job = &s->jobs[slot];
    gang_forget(s, &job->ask, job->details->job_group);
    job->ask.class = ask->class;
    job->ask.units = ask->units;
    job->details->job_group = group;
}

int gang_ask_again(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct place_ask was = job->ask;
    uint32_t group = job->details->job_group;
    berth_error_t err;
    int rc = job_know(s, slot, false, &err);
    gang_texts_rest(s, slot);
    if (rc < 0) {
        job->ask = was;
        job->details->job_group = group;
        errno = ENOMEM;
        return -1;
    }
    gang_forget(s, &was, group);
    return 0;
}

/* ---- Each waits for itself ---- */

/* Let a member go on that has just been given a slot, in no lane; blocked where there is no memory. `fresh`: as a new job. */
static void let_wait(sched_t *s, uint32_t slot, bool fresh)
{
    struct details *d = s->jobs[slot].details;
    d->blocked &= (uint8_t)~BLOCK_GANG;
    if (d->blocked == 0 &&
        (array_is_full(s, slot) ? array_block(s, slot) : open_insert(s, slot, fresh)) < 0)
        d->blocked = BLOCK_GANG;
    if (d->blocked == 0)
        s->finder->moved(s, slot); /* the walk has had others perhaps that ask for that */
    tell_later(s, slot);
}

int gang_scatter(sched_t *s, uint32_t slot)
{
    struct members *m = s->jobs[slot].details->of;
    bool fresh =
        s->jobs[slot].is_fresh && !s->jobs[slot].is_placed; /* they have come with the gang */
    if (!(s->jobs[slot].details->blocked & BLOCK_GANG))
        job_block(s, slot, BLOCK_GANG);
    while (m->entry == slot) {
        uint32_t part = part_any(s, slot, s->jobs[slot].details->member);
        if (part == JOB_NONE || gang_ask_again(s, part) < 0)
            return -1;
        let_wait(s, part, fresh);
    }
    return 0;
}
