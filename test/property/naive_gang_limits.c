/* Gangs beside limits (naive_gangs.h), in the words of berth-config(5): what all jobs of one user, and all of the queue, may have
 * at once, counted as it is held. What is held by members that others wait for counts once: as theirs now, or as that of these
 * once they have left. Both have to be within limits.
 */
#include "naive_gangs.h"

enum {
    HOLDS = 1 << NAIVE_RUNS | 1 << NAIVE_LEAVES | 1 << NAIVE_CLEARS | 1 << NAIVE_CANCELLED |
            1 << NAIVE_STOPS
};

enum count { NOW, AT_LAST };

/* What a job has is added, but for members that are gone. */
static void add(const struct naive_job *j, enum count count, uint32_t gone, struct naive_most *held)
{
    for (int k = 0; k < j->roles; k++) {
        const struct naive_role *r = &j->role[k];
        int members = count == AT_LAST ? j->awaits[k] : 0;
        for (int i = r->first; i < r->first + r->members; i++)
            members += (HOLDS >> j->state[i] & 1) && !(gone >> i & 1) &&
                       !(count == AT_LAST && j->is_awaited[i]);
        held->running += members;
        held->cores += members * r->cores;
    }
}

static bool is_within(const struct naive_most *held, const struct naive_most *most)
{
    return (most->running == 0 || held->running <= most->running) &&
           (most->cores == 0 || held->cores <= most->cores);
}

static struct naive_most amount(const struct naive_job *j, const int members[NAIVE_ROLES])
{
    struct naive_most all = {0};
    for (int k = 0; k < j->roles; k++) {
        all.running += members[k];
        all.cores += members[k] * j->role[k].cores;
    }
    return all;
}

static bool is_counted_within(const struct naive_gangs *m, const struct naive_job *j,
                              const int members[NAIVE_ROLES], const uint32_t *gone,
                              enum count count)
{
    struct naive_most user = amount(j, members), queue = user;
    for (int i = 0; i < m->jobs; i++) {
        add(&m->job[i], count, gone ? gone[i] : 0, &queue);
        if (m->job[i].user == j->user)
            add(&m->job[i], count, gone ? gone[i] : 0, &user);
    }
    return is_within(&user, &m->user_most) && is_within(&queue, &m->queue_most);
}

bool naive_gangs_within(const struct naive_gangs *m, const struct naive_job *j,
                        const int members[NAIVE_ROLES], const uint32_t gone[NAIVE_JOBS])
{
    return is_counted_within(m, j, members, gone, NOW) &&
           is_counted_within(m, j, members, gone, AT_LAST);
}

bool naive_gangs_alone(const struct naive_gangs *m, const struct naive_job *j,
                       const int members[NAIVE_ROLES])
{
    struct naive_most all = amount(j, members);
    return is_within(&all, &m->user_most) && is_within(&all, &m->queue_most);
}
