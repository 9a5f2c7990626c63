/* Gangs of naive_queues.h of which a member fails, in the words of berth-submit(1): all of it fails, or the others go on as long as
 * its min run or have succeeded.
 */
#include "naive_blocks.h"
#include "naive_queues_inner.h"
#include "naive_tails.h"

/* Members of a role that run and are not stopped for others, or have succeeded. */
static int has(const struct naive_queues *q, int gang, int role)
{
    int n = 0;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        n += j->array == gang && j->role == role &&
             ((j->state == NQ_RUNNING && !j->stopping) || j->ended_well);
    }
    return n;
}

void nq_fail_member(struct naive_queues *q, int member)
{
    const struct nq_job *j = &q->job[member];
    struct nq_job *gang = &q->job[j->array];
    gang->is_over |= !j->goes_on;
    for (int i = j->array; i < q->jobs && q->job[i].array == j->array; i++)
        gang->is_over |= has(q, j->array, q->job[i].role) < q->job[i].role_min;
}

/* Of a gang that is over those that wait are rejected, and those that run are stopped, which is told once, but for those whose
 * limits are over: their shell stops these anyway.
 */
void nq_settle_gangs(struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++) {
        struct nq_job *j = &q->job[i];
        if (j->min == 0 || !q->job[j->array].is_over || j->state == NQ_GONE)
            continue;
        if (j->state != NQ_RUNNING) {
            nb_refuse(q, i);
            continue;
        }
        bool is_out_of_time = q->now >= nt_end(j, j->at);
        j->to_clear |=
            !j->stopping && !j->cleared && !j->dismissed && !j->leaving && !is_out_of_time;
        j->dismissed |= !is_out_of_time;
    }
}

/* For how many members as one there is room on an idle machine, all up, in its part. */
static int room_for(const struct naive_queues *q, int member)
{
    const struct nq_job *j = &q->job[member];
    int pieces = 0;
    for (int i = 0; i < q->nodes; i++) {
        int cores = __builtin_popcount(q->lane[j->lane].part & nq_cores_of(q, i, i));
        int each = j->piece == NQ_NODE ? q->cores : j->piece == NQ_CORE ? 1 : j->of_node;
        pieces += cores / each;
    }
    return pieces / j->count;
}

/* The role that chooses next, behind those that have: the one for whose members there is room in the fewest places. */
static int next_role(const struct naive_queues *q, int gang, const bool had[NQ_JOBS])
{
    int best = -1;
    for (int i = gang; i < q->jobs && q->job[i].array == gang; i++)
        if (!had[q->job[i].role] && (best < 0 || room_for(q, i) < room_for(q, best)))
            best = i;
    return best < 0 ? -1 : q->job[best].role;
}

int nq_list_whole(const struct naive_queues *q, int job, int list[NQ_JOBS])
{
    const struct nq_job *j = &q->job[job];
    bool had[NQ_JOBS] = {false};
    int n = 0;
    if (j->whole == 1 || j->roles < 2) {
        for (; n < j->whole; job = nq_next_together(q, job))
            list[n++] = job;
        return n;
    }
    for (int role = next_role(q, j->array, had); role >= 0; role = next_role(q, j->array, had)) {
        int left = -1;
        had[role] = true;
        for (int i = job; i >= 0 && left != 0; i = nq_next_together(q, i)) {
            if (q->job[i].role != role)
                continue;
            left = left < 0 ? q->job[i].role_min : left;
            if (left-- > 0)
                list[n++] = i;
        }
    }
    return n;
}
