#include "sched/config/gang_ranks.h"

/* A rank in the middle half is a number of two digits, the first of which is what comes first. A priority has the room of
 * eight times all minutes: half of that is of ranks, the other half of turns. A minute has that of four times all
 * priorities; so those who go by it first have half of the room, as without gangs.
 */
#define PRIORITIES  GANG_DEADLINE_PRIORITIES
#define MINUTES     DEADLINE_MINUTES
#define OF_PRIORITY (8 * MINUTES)
#define OF_MINUTE   (4 * PRIORITIES)

enum gangs gangs_in(const struct sched_share_order *order)
{
    int digits = deadlines_in(order) == DEADLINES_NONE ? 1 : 2, before = 0;
    for (size_t i = 0; i < order->n; i++) {
        if (order->by[i] == SCHED_BY_AGE || order->by[i] == SCHED_BY_SUBMIT)
            return GANGS_NONE;
        if (order->by[i] == SCHED_BY_GANG)
            return before == 0 ? GANGS_FIRST : before < digits ? GANGS_BETWEEN : GANGS_LAST;
        before += order->by[i] == SCHED_BY_PRIORITY || order->by[i] == SCHED_BY_DEADLINE;
    }
    return GANGS_NONE;
}

static int64_t within(int64_t number, int64_t room)
{
    return number < 0 ? 0 : number < room ? number : room - 1;
}

/* The second digit, behind which `gang` may stand or before it. */
static int64_t second_digit(enum gangs gangs, int64_t number, int64_t room, bool behind)
{
    int64_t digit = 2 * number;
    if (behind && gangs == GANGS_BETWEEN)
        return digit + 2 * room;
    return digit + (behind && gangs == GANGS_LAST);
}

int64_t gang_deadline_rank(enum deadlines place, enum gangs gangs, int64_t by_priority,
                           int64_t minute, bool behind)
{
    int64_t priority = within(by_priority + PRIORITIES / 2, PRIORITIES);
    int64_t deadline = within(place == DEADLINES_NONE ? MINUTES : minute, MINUTES);
    int64_t rank = place == DEADLINES_BEFORE_PRIORITY
                       ? deadline * OF_MINUTE + second_digit(gangs, priority, PRIORITIES, behind)
                       : priority * OF_PRIORITY + second_digit(gangs, deadline, MINUTES, behind);
    return rank - PRIORITIES / 2 * OF_PRIORITY;
}

int64_t gang_deadline_turn(int64_t by_priority)
{
    return gang_deadline_rank(DEADLINES_BEHIND_PRIORITY, GANGS_NONE, by_priority, 0, false) +
           OF_PRIORITY / 2;
}

int64_t gang_half(int64_t rank, bool behind)
{
    const int64_t quarter = (SCHED_PRIORITY_MAX + 1) / 2;
    return behind ? rank + quarter : rank - quarter;
}
