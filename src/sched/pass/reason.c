/* Why a job waits. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/starving.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/reason_copy.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/shut_class.h"

/* The kind of a job with what was found out in this telling of reasons; NULL: they are not being told. */
static struct job_kind *told_kind(const sched_t *s, uint32_t slot)
{
    struct job_kind *k = job_kind_of(s, slot);
    if (s->queues->telling == 0)
        return NULL;
    if (k->telling != s->queues->telling) {
        k->n_lacks = 0;
        k->fits_aside = 0;
        k->lacks_aside = INT64_MAX;
    }
    k->telling = s->queues->telling;
    return k;
}

/* Whether there was room for a job now, were nothing set aside. */
static bool fits_aside(sched_t *s, uint32_t slot)
{
    const struct place_ask *ask = &s->jobs[slot].ask;
    struct job_kind *k = told_kind(s, slot);
    if (k && (ask->duration <= k->fits_aside || ask->duration >= k->lacks_aside))
        return ask->duration <= k->fits_aside;
    bool fits = blocks_leave_room(s, ask, UINT64_MAX);
    if (k && fits)
        k->fits_aside = ask->duration;
    else if (k)
        k->lacks_aside = ask->duration;
    return fits;
}

/* Whether only blocks keep a job from starting: which. A promise that it has itself is in nobody's way. */
static bool is_set_aside(sched_t *s, uint32_t slot, struct sched_reason *why)
{
    const struct job *job = &s->jobs[slot];
    uint64_t met = blocks_now(s, slot);
    if (!met || s->replan.is)
        return false;
    if (job->state == SCHED_RESERVED)
        s->place->ops->lift(s->place, job->booking, true);
    bool is = fits_aside(s, slot);
    if (is)
        blocks_reason(s, slot, met, why);
    if (job->state == SCHED_RESERVED)
        s->place->ops->drop(s->place, &job->ask, job->booking);
    return is;
}

/* What a job lacks now. While reasons are told nothing is booked, and a longer duration lacks what a
 * shorter one does and perhaps more: what two jobs of a kind lack, those of durations between lack too.
 */
static const char *lacks_of(sched_t *s, uint32_t slot)
{
    const struct place_ask *ask = &s->jobs[slot].ask;
    struct job_kind *k = told_kind(s, slot);
    uint32_t i;
    if (!k)
        return s->place->ops->lacks(s->place, ask, s->now, NULL);
    for (i = 0; i < k->n_lacks; i++)
        if (k->lacks[i].least <= ask->duration && ask->duration <= k->lacks[i].most)
            return k->lacks[i].type;
    const char *type = s->place->ops->lacks(s->place, ask, s->now, &s->queues->counts);
    for (i = 0; i < k->n_lacks && k->lacks[i].type != type; i++)
        ;
    if (i == JOB_KIND_LACKS)
        return type;
    if (i == k->n_lacks)
        k->lacks[k->n_lacks++] = (struct job_kind_lacks){type, ask->duration, ask->duration};
    if (ask->duration < k->lacks[i].least)
        k->lacks[i].least = ask->duration;
    if (ask->duration > k->lacks[i].most)
        k->lacks[i].most = ask->duration;
    return type;
}

/* The roles of which there is room for fewer than are missing. */
static void name_roles(const struct gang *gang, const uint32_t *room, struct sched_reason *why)
{
    for (uint32_t i = 0; i < gang->n_roles; i++) {
        uint32_t missing = role_missing(&gang->role[i]);
        if (room[i] >= missing)
            continue;
        why->others |= why->n_roles == SCHED_REASON_ROLES;
        if (why->n_roles < SCHED_REASON_ROLES)
            why->role[why->n_roles++] =
                (struct sched_reason_role){gang->role[i].name, room[i], missing};
    }
}

/* How many members of a gang there is room for. A promise that it has itself is in nobody's way. */
static bool is_short_of_members(sched_t *s, uint32_t slot, struct sched_reason *why)
{
    const struct job *job = &s->jobs[slot];
    const struct place_ops *ops = s->place->ops;
    if (!gang_asks_whole(s, slot))
        return false;
    uint32_t of_role[SCHED_ROLES_MAX] = {0};
    if (job->state == SCHED_RESERVED)
        ops->lift(s->place, job->booking, true);
    int64_t room = ops->room(s->place, &job->ask, s->now, of_role);
    if (job->state == SCHED_RESERVED)
        ops->drop(s->place, &job->ask, job->booking);
    why->kind = SCHED_REASON_GANG;
    if (gang_of(s, slot)->n_roles > 1)
        name_roles(gang_of(s, slot), of_role, why);
    else
        why->gang =
            (struct sched_reason_gang){room < 0 ? 0 : room, ops->members(s->place, job->ask.class)};
    return true;
}

/* There is no room for it: by blocks, or since others have what it asks for. */
static void lack_reason(sched_t *s, uint32_t slot, struct sched_reason *why)
{
    if (is_set_aside(s, slot, why) || is_short_of_members(s, slot, why))
        return;
    why->kind = SCHED_REASON_RESOURCES;
    why->type = lacks_of(s, slot);
}

static void open_reason(sched_t *s, uint32_t slot, struct sched_reason *why)
{
    const struct job *job = &s->jobs[slot];
    const struct lane *lane = lane_of(s, slot);
    const char *shut = shares_shut_class(s, slot);
    struct queue_entry first;
    if (lane->is_stopped) {
        why->kind = SCHED_REASON_STOPPED;
    } else if (shut) {
        why->kind = SCHED_REASON_CLASS;
        why->words = shut;
    } else if (!is_considered(s, lane, job->key)) {
        why->kind = SCHED_REASON_DEPTH;
    } else if (lane->depth == 0 &&
               ((shares_first_open(s, lane, &first) && queue_before(first.key, job->key)) ||
                starving_is_before(s, lane, job->key))) {
        why->kind = SCHED_REASON_PRIORITY;
    } else {
        lack_reason(s, slot, why);
    }
}

void reason_of(sched_t *s, uint32_t slot, struct sched_reason *why)
{
    const struct job *job = &s->jobs[slot];
    *why = (struct sched_reason){.kind = SCHED_REASON_NONE};
    if (job->state == SCHED_BLOCKED) {
        controllers_reason(s, slot, why);
    } else if (job->state == SCHED_WAITING) {
        open_reason(s, slot, why);
    } else if (job->state == SCHED_RESERVED && job->details->victims > 0) {
        why->kind = SCHED_REASON_PREEMPTING;
    } else if (job->is_claiming) {
        claim_reason(s, slot, why);
    } else if (job->is_kept && !job->details->is_relieved) {
        *why = limit_reason(s, &job->details->over);
    } else if (job->state == SCHED_RESERVED) {
        lack_reason(s, slot, why);
    } else if (job->state == SCHED_REJECTED) {
        *why = *job->details->never;
    }
}

/* ---- Telling ---- */

int tell_reserve(struct queues *n)
{
    return array_grow((void **)&n->untold, &n->cap_untold, n->n_untold + 1, sizeof(*n->untold));
}

void tell_later(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct details *d = s->jobs[slot].details;
    if (!d || d->is_untold || tell_reserve(n) < 0)
        return;
    n->untold[n->n_untold++] = slot;
    d->is_untold = true;
}

void tell_forget(sched_t *s, size_t first)
{
    struct queues *n = s->queues;
    while (n->n_untold > first)
        s->jobs[n->untold[--n->n_untold]].details->is_untold = false;
}

const struct sched_reason *told_reason(struct queues *n, const struct sched_reason *reason)
{
    const struct sched_reason **last = &n->told_last[reason->kind];
    if (*last && reason_is_same(*last, reason))
        return *last;
    void *memory = arena_alloc(&n->told, reason_size(reason));
    if (memory)
        *last = reason_write(reason, memory);
    return memory ? *last : NULL;
}

/* Tell a waiting job's reason if that is another one than was told last. Returns 0, or -1 with ENOMEM. */
static int tell_one(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    struct sched_reason why;
    char text[SCHED_REASON_TEXT];
    reason_of(s, slot, &why);
    if (strcmp(sched_reason_text(&why, text), d->told) == 0)
        return 0;
    const struct sched_reason *told = told_reason(s->queues, &why);
    if (!told || decision_reserve(s) < 0)
        return -1;
    memcpy(d->told, text, sizeof(text));
    decision_add(s, SCHED_WAIT, slot, -1, told);
    return 0;
}

void tell_taken_back(sched_t *s)
{
    struct queues *n = s->queues;
    for (size_t i = n->told_first; i < n->n_untold && n->takes_back; i++) {
        uint32_t slot = n->untold[i];
        const struct job *job = &s->jobs[slot];
        if (job->details && job->details->is_untold && job->details->is_promise_told &&
            (job->state == SCHED_WAITING || job->state == SCHED_BLOCKED) && tell_one(s, slot) < 0)
            return;
    }
    n->takes_back = false;
}

void tell_begin(sched_t *s)
{
    struct queues *n = s->queues;
    n->n_untold -= n->told_first; /* of a pass that was cut off */
    memmove(n->untold, n->untold + n->told_first, n->n_untold * sizeof(*n->untold));
    n->told_first = 0;
    n->counts = (struct place_counts){0};
    n->tellings++;
}

enum step tell_next(sched_t *s)
{
    struct queues *n = s->queues;
    int rc = 0;
    if (n->told_first == n->n_untold) {
        n->told_first = n->n_untold = 0;
        return STEP_BUSY;
    }
    uint32_t slot = n->untold[n->told_first];
    const struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    n->telling = n->tellings;
    if (d && d->is_untold && (state_told(job) == SCHED_WAITING || job->state == SCHED_BLOCKED))
        rc = tell_one(s, slot);
    n->telling = 0;
    if (rc < 0)
        return STEP_FAILED;
    if (d)
        d->is_untold = false;
    n->told_first++;
    return STEP_DONE;
}
