/* The order `ageing`: a job's priority grows while it waits, by one in an hour.
 *
 * At a time t a job that came at s with priority p has come to p + (t - s) / HOUR. Of two jobs the
 * one with more goes first, and t is the same for both: so the order is that of p - s / HOUR, or,
 * in seconds and the least first, of
 *
 *     rank = s - p * HOUR
 *
 * which no t is in. So ranks never change while jobs wait. A unit of priority is worth an hour of
 * waiting: a job goes before one with a priority higher by n that came more than n hours after it,
 * and behind one that came earlier than that.
 */
#include "sched/config/order.h"

#define HOUR 3600 /* seconds */

/* In whole seconds, so that ranks of any clock have room beside the priorities of queues. */
int64_t order_ageing(const struct order_job *job)
{
    int64_t bonus, rank;
    if (__builtin_mul_overflow(job->priority, HOUR, &bonus) ||
        __builtin_sub_overflow(job->submitted / job->second, bonus, &rank))
        return job->priority > 0 ? INT64_MIN : INT64_MAX;
    return rank;
}
