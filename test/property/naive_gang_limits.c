/* Gangs beside limits (naive_gangs.h), in the words of berth-config(5): what all jobs of one user, and all of the queue, may have
 * at once, counted as it is held.
 */
#include "naive_gangs.h"

/* What a job's members hold is added. */
static void add(const struct naive_job *j, struct naive_most *held)
{
    for (int k = 0; k < j->roles; k++) {
        int members = naive_gangs_holding(j, &j->role[k]);
        held->running += members;
        held->cores += members * j->role[k].cores;
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

bool naive_gangs_within(const struct naive_gangs *m, const struct naive_job *j,
                        const int members[NAIVE_ROLES])
{
    struct naive_most user = amount(j, members), queue = user;
    for (int i = 0; i < m->jobs; i++) {
        add(&m->job[i], &queue);
        if (m->job[i].user == j->user)
            add(&m->job[i], &user);
    }
    return is_within(&user, &m->user_most) && is_within(&queue, &m->queue_most);
}

bool naive_gangs_alone(const struct naive_gangs *m, const struct naive_job *j,
                       const int members[NAIVE_ROLES])
{
    struct naive_most all = amount(j, members);
    return is_within(&all, &m->user_most) && is_within(&all, &m->queue_most);
}
