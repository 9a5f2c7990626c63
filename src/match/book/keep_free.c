/* What bookings hold, kept free of others at another time, too, for one search (plan.h).
 *
 * It is booked for that time by a job that nobody else knows of, over whatever is there: each vertex once, and nothing of
 * it in the counts of filters, which so say that more is free than is. Pools are left out, as units have no names.
 */
#include <errno.h>
#include <stdlib.h>

#include "match/inner.h"
#include "match/plan.h"

/* Set a bit; whether it was set before. */
static bool set_bit(uint64_t *bits, uint32_t v)
{
    uint64_t bit = UINT64_C(1) << (v % 64);
    bool was = bits[v / 64] & bit;

    bits[v / 64] |= bit;
    return was;
}

/* Returns 0, or -1 with ENOMEM and nothing begun. */
static int begin_keeping(struct match *m, int64_t at, int64_t end)
{
    struct kept_free *k = &m->kept_free;

    k->words = m->g->n / 64 + 1;
    k->seen = calloc(2 * (size_t)k->words, sizeof(*k->seen));
    k->job = k->seen ? job_new(-1, at, end, true) : NULL;
    if (k->job && state_book(&m->times, at, end, 0) == 0)
        return 0;
    job_destroy(k->job);
    free(k->seen);
    *k = (struct kept_free){0};
    errno = ENOMEM;
    return -1;
}

/* Returns 0, or -1 with ENOMEM. */
static int keep_hold(struct match *m, const struct hold *h)
{
    struct kept_free *k = &m->kept_free;
    uint32_t flags = h->flags & HOLD_EXCLUSIVE;

    if (set_bit(k->seen + (flags ? k->words : 0), h->vertex))
        return 0;
    if (job_hold(k->job, h->vertex, flags, h->needs, NULL, 0) < 0)
        return -1;
    if (match_book_hold(m, k->job, &k->job->hold[k->job->n - 1]) == 0)
        return 0;
    k->job->n--;
    return -1;
}

int match_keep_free(struct match *m, int64_t jobid, int64_t at, int64_t end)
{
    const struct job *job = jobs_find(&m->jobs, jobid);

    if (!m->kept_free.job && begin_keeping(m, at, end) < 0)
        return -1;
    for (uint32_t i = job_next_booked(job, 0); i < job->n; i = job_next_booked(job, i + 1))
        if (!(job->hold[i].flags & (HOLD_COVERED | HOLD_UNITS)) && keep_hold(m, &job->hold[i]) < 0)
            return -1;
    return 0;
}

void match_keep_free_end(struct match *m)
{
    struct kept_free *k = &m->kept_free;

    if (!k->job)
        return;
    match_unbook(m, k->job);
    job_destroy(k->job);
    free(k->seen);
    *k = (struct kept_free){0};
}
