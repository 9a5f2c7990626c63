/* Which set of jobs is stopped, where one is not enough: all sets of two are compared, then all of three, and so on,
 * as long as there are few of them.
 *
 * The jobs are in the order of what is lost with them, so that of each set begun it is known what is lost at least. A
 * set is tried only if it is better than the best that is enough, which takes a match.
 */
#include <errno.h>

#include "sched/controllers/victims.h"

enum {
    SETS_MOST = 1000, /* sets of two and more that are compared */
    SET_MOST = 16     /* jobs in one; there are more than SETS_MOST where so many are together */
};

/* A set by numbers of victims, ascending, and what is lost with it. */
struct set {
    size_t n, v[SET_MOST];
    int64_t work, ran;
};

struct search {
    struct preemption *h;
    size_t n;    /* victims that may be told: the first ones of all */
    size_t size; /* of sets that are compared */
    struct set best;
    bool any;
};

static int64_t sum_of(int64_t a, int64_t b)
{
    return a < INT64_MAX - b ? a + b : INT64_MAX;
}

static struct set with(const struct search *c, const struct set *set, size_t i)
{
    const struct victim *victim = &c->h->victim[i];
    struct set more = *set;
    more.v[more.n++] = i;
    more.work = sum_of(set->work, victim->work);
    more.ran = sum_of(set->ran, c->h->s->now - victim->at);
    return more;
}

/* The last in queue order of those of a set that come before another one, if that is given; NULL: there is none. */
static const struct victim *last_before(const struct search *c, const struct set *set,
                                        const struct victim *before)
{
    const struct victim *last = NULL;
    for (size_t i = 0; i < set->n; i++) {
        const struct victim *victim = &c->h->victim[set->v[i]];
        if ((!before || queue_before(victim->key, before->key)) &&
            (!last || queue_before(last->key, victim->key)))
            last = victim;
    }
    return last;
}

/* Whether less is lost with a set than with the best so far; then the younger one goes, by how long its jobs have run
 * together and by their places in queue order.
 */
static bool is_better(const struct search *c, const struct set *set)
{
    const struct victim *x = NULL, *y = NULL;
    if (!c->any || set->work != c->best.work)
        return !c->any || set->work < c->best.work;
    if (set->ran != c->best.ran)
        return set->ran < c->best.ran;
    for (size_t i = 0; i < set->n && x == y; i++) {
        x = last_before(c, set, x);
        y = last_before(c, &c->best, y);
    }
    return x && x != y && queue_before(y->key, x->key);
}

/* Whether the job fits if a set is stopped. 1, 0, or -1 with ENOMEM. */
static int is_enough(const struct search *c, const struct set *set)
{
    struct preemption *h = c->h;
    for (size_t i = 0; i < set->n; i++)
        preemption_take(h, &h->victim[set->v[i]]);
    int fits = preemption_fits(h);
    int error = errno;
    for (size_t i = 0; i < set->n; i++)
        preemption_put_back(h, &h->victim[set->v[i]]);
    errno = error;
    return fits;
}

/* What is lost at least with a set of the size that has these and others from the i-th on. */
static int64_t least_work(const struct search *c, const struct set *set, size_t i)
{
    int64_t work = set->work;
    for (size_t k = set->n; k < c->size; k++)
        work = sum_of(work, c->h->victim[i++].work);
    return work;
}

/* Compare the sets of the size that have these and others from the i-th on. Returns 0, or -1 with ENOMEM. */
static int compare_sets(struct search *c, const struct set *set, size_t i)
{
    if (set->n == c->size) {
        int fits = is_better(c, set) ? is_enough(c, set) : 0;
        if (fits == 1) {
            c->best = *set;
            c->any = true;
        }
        return fits < 0 ? -1 : 0;
    }
    int rc = 0;
    for (; rc == 0 && i + c->size - set->n <= c->n; i++) {
        if (c->any && least_work(c, set, i) > c->best.work)
            return 0;
        struct set more = with(c, set, i);
        rc = compare_sets(c, &more, i + 1);
    }
    return rc;
}

/* How many sets of a size there are, if they are no more than SETS_MOST. */
static size_t count_sets(size_t of, size_t size)
{
    size_t n = 1;
    for (size_t i = 0; i < size && n <= SETS_MOST; i++)
        n = n * (of - i) / (i + 1); /* without a rest */
    return n;
}

int preemption_take_best(struct preemption *h)
{
    static const struct set nobody;
    struct search c = {.h = h};
    while (c.n < h->n && !h->victim[c.n].is_stopping)
        c.n++;
    size_t left = SETS_MOST;
    for (c.size = 2; c.size <= c.n && c.size <= SET_MOST && !c.any; c.size++) {
        size_t sets = count_sets(c.n, c.size);
        if (sets > left)
            return 0;
        left -= sets;
        if (compare_sets(&c, &nobody, 0) < 0)
            return -1;
    }
    for (size_t i = 0; c.any && i < c.best.n; i++)
        preemption_take(h, &h->victim[c.best.v[i]]);
    return c.any;
}
