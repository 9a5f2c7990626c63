/* Why a job waits, in a few words. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "sched/queues.h"

/* Seconds with up to six decimals. */
static void put_seconds(char *text, size_t size, int64_t ticks, int64_t second)
{
    int64_t micro = (int64_t)((__int128)(ticks % second) * 1000000 / second);
    int n = snprintf(text, size, "%" PRId64 ".%06" PRId64, ticks / second, micro);
    while (n > 0 && text[n - 1] == '0')
        text[--n] = '\0';
    if (n > 0 && text[n - 1] == '.')
        text[n - 1] = '\0';
}

static void blocked_reason(const sched_t *s, uint32_t slot, char *text, size_t size)
{
    const struct details *d = s->jobs[slot].details;
    if (d->blocked & BLOCK_HOLD) {
        snprintf(text, size, "held");
    } else if (d->blocked & BLOCK_DEPEND) {
        struct sched_reason why;
        char told[SCHED_REASON_TEXT];
        depend_reason(s->queues->depend, slot, &why);
        snprintf(text, size, "%s", sched_reason_text(&why, told));
    } else if (d->blocked & BLOCK_BEGIN) {
        int n = snprintf(text, size, "begin ");
        put_seconds(text + n, size - (size_t)n, d->begin, s->queues->setup->second);
    } else {
        snprintf(text, size, "%s", d->limit_reason);
    }
}

/* What a job lacks now. While reasons are told nothing is booked, and a longer duration lacks what a shorter one does and
 * perhaps more: what two jobs of a kind lack, those of durations between lack too.
 */
static const char *lacks_of(sched_t *s, uint32_t slot)
{
    const struct place_ask *ask = &s->jobs[slot].ask;
    struct kind *k = kind_of(s, slot);
    uint32_t i;
    if (s->queues->telling == 0)
        return s->place->ops->lacks(s->place, ask, s->now);
    if (k->telling != s->queues->telling)
        k->n_lacks = 0;
    k->telling = s->queues->telling;
    for (i = 0; i < k->n_lacks; i++)
        if (k->lacks[i].least <= ask->duration && ask->duration <= k->lacks[i].most)
            return k->lacks[i].type;
    const char *type = s->place->ops->lacks(s->place, ask, s->now);
    for (i = 0; i < k->n_lacks && k->lacks[i].type != type; i++)
        ;
    if (i == KIND_LACKS)
        return type;
    if (i == k->n_lacks)
        k->lacks[k->n_lacks++] = (struct kind_lacks){type, ask->duration, ask->duration};
    if (ask->duration < k->lacks[i].least)
        k->lacks[i].least = ask->duration;
    if (ask->duration > k->lacks[i].most)
        k->lacks[i].most = ask->duration;
    return type;
}

static void open_reason(sched_t *s, uint32_t slot, char *text, size_t size)
{
    const struct job *job = &s->jobs[slot];
    const struct lane *lane = lane_of(s, slot);
    struct queue_entry first;
    if (lane->is_stopped)
        snprintf(text, size, "queue stopped");
    else if (!is_considered(lane, job->key))
        snprintf(text, size, "queue depth");
    else if (lane->depth == 0 && queue_first(lane->open, &first) &&
             queue_before(first.key, job->key))
        snprintf(text, size, "priority");
    else
        snprintf(text, size, "resources %s", lacks_of(s, slot));
}

void reason_of(sched_t *s, uint32_t slot, char *text, size_t size)
{
    const struct job *job = &s->jobs[slot];
    text[0] = '\0';
    if (job->state == SCHED_BLOCKED)
        blocked_reason(s, slot, text, size);
    else if (job->state == SCHED_WAITING)
        open_reason(s, slot, text, size);
    else if (job->state == SCHED_RESERVED && job->details->victims > 0)
        snprintf(text, size, "preempting");
    else if (job->state == SCHED_RESERVED)
        snprintf(text, size, "resources %s", lacks_of(s, slot));
    else if (job->state == SCHED_REJECTED)
        snprintf(text, size, "%s", job->details->reason);
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

/* A copy that lasts as long as the decisions; NULL with ENOMEM. */
static const char *told_text(struct queues *n, const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = arena_alloc(&n->told, length);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

/* Tell the reasons from the list; returns how many are done: all, unless memory runs out. */
static size_t tell_listed(sched_t *s)
{
    struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_untold; i++) {
        uint32_t slot = n->untold[i];
        const struct job *job = &s->jobs[slot];
        struct details *d = job->details;
        char reason[sizeof(d->reason)];
        if (!d || !d->is_untold)
            continue;
        if (job->state == SCHED_WAITING || job->state == SCHED_BLOCKED) {
            reason_of(s, slot, reason, sizeof(reason));
            if (strcmp(reason, d->reason) != 0) {
                const char *told = told_text(n, reason);
                if (!told || decision_reserve(s) < 0)
                    return i;
                memcpy(d->reason, reason, sizeof(reason));
                decision_add(s, SCHED_WAIT, slot, -1, told);
            }
        }
        d->is_untold = false;
    }
    return n->n_untold;
}

int tell(sched_t *s)
{
    struct queues *n = s->queues;
    n->telling = ++n->tellings;
    size_t done = tell_listed(s);
    n->telling = 0;
    n->n_untold -= done;
    if (n->n_untold == 0)
        return 0;
    memmove(n->untold, n->untold + done, n->n_untold * sizeof(*n->untold));
    return -1;
}
