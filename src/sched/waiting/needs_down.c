/* Jobs that wait for something that is down or drained: what is up could not run them, were it idle.
 *
 * They don't count for their queue's depth, as Fluxion has it: however many wait for a node to come back, as many others
 * as ever are looked at. Of each line they are listed in queue order, so that how many there are before a key is found in
 * O(log n). Whether the machine could is asked when a job enters and after the machine has changed, once for all that ask
 * for the same.
 */
#include <errno.h>

#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/shut_class.h"

size_t uncounted_before(const sched_t *s, const struct lane *lane, struct queue_key key)
{
    size_t n = 0;
    for (uint32_t i = 0; i <= lane->n_more; i++) {
        const struct line *line = i == 0 ? &lane->line : &lane->more[i - 1];
        if (shares_is_shut(s, lane, line))
            n += queue_rank(lane->n_more > 0 ? line->open : lane->open, key);
        else if (line->down)
            n += queue_rank(line->down, key);
    }
    return n;
}

static bool is_counted(const sched_t *s, uint32_t slot)
{
    return lane_of(s, slot)->queue_depth != SCHED_UNLIMITED && s->jobs[slot].details &&
           s->place->ops->could_up;
}

/* Without memory to find out, it counts until the next pass has looked. */
static bool could_up(sched_t *s, uint32_t slot)
{
    if (s->place->ops->could_up(s->place, s->jobs[slot].ask.class) == 0)
        return true;
    s->queues->recheck_down |= errno == ENOMEM;
    return errno == ENOMEM;
}

static int list_needs_down(sched_t *s, uint32_t slot)
{
    struct line *line = line_of(s, slot);
    struct queue_entry entry = {.key = s->jobs[slot].key, .item = slot, .units = 1, .value = 0};
    if (needs_down_reserve(s, slot) < 0 || queue_insert(line->down, &entry) < 0)
        return -1;
    s->jobs[slot].details->needs_down = true;
    return 0;
}

int needs_down_enter(sched_t *s, uint32_t slot)
{
    if (s->jobs[slot].details)
        s->jobs[slot].details->needs_down = false;
    return !is_counted(s, slot) || could_up(s, slot) ? 0 : list_needs_down(s, slot);
}

void needs_down_leave(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    if (!d || !d->needs_down)
        return;
    queue_remove(line_of(s, slot)->down, s->jobs[slot].key);
    d->needs_down = false;
}

void needs_down_give(sched_t *s, uint32_t to)
{
    struct queue *down = line_of(s, to)->down;
    struct queue_key key = s->jobs[to].key, next = {key.rank, key.seq + 1, key.brevity};
    bool is_listed = down && queue_rank(down, next) > queue_rank(down, key);
    if (is_listed)
        queue_give(down, key, to);
    if (s->jobs[to].details)
        s->jobs[to].details->needs_down = is_listed;
}

int needs_down_reserve(const sched_t *s, uint32_t slot)
{
    struct line *line = line_of(s, slot);
    if (!is_counted(s, slot))
        return 0;
    if (!line->down)
        line->down = queue_create(1);
    return line->down ? queue_reserve(line->down) : -1;
}

/* Find out of each open job of a lane. */
static int look_at_lane(sched_t *s, struct lane *lane)
{
    struct queue_cursor c;
    for (bool any = queue_begin(lane->open, &c); any; any = queue_next(&c)) {
        uint32_t slot = queue_item(&c);
        bool could = !is_counted(s, slot) || could_up(s, slot);
        if (could)
            needs_down_leave(s, slot);
        else if (!s->jobs[slot].details->needs_down && list_needs_down(s, slot) < 0)
            return -1;
    }
    return 0;
}

int needs_down_look(sched_t *s)
{
    if (!s->queues->recheck_down)
        return 0;
    s->queues->recheck_down = false;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        if (s->lanes[i].queue_depth != SCHED_UNLIMITED && look_at_lane(s, &s->lanes[i]) < 0)
            s->queues->recheck_down = true;
    if (!s->queues->recheck_down)
        return 0;
    errno = ENOMEM;
    return -1;
}

static void recall(sched_t *s, const struct line *line)
{
    struct queue_cursor c;
    if (!line->down)
        return;
    for (bool any = queue_begin(line->down, &c); any; any = queue_next(&c))
        s->jobs[queue_item(&c)].details->needs_down = true;
}

void needs_down_recall(sched_t *s)
{
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following)
        s->jobs[slot].details->needs_down = false;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        for (uint32_t k = 0; k <= s->lanes[i].n_more; k++)
            recall(s, k == 0 ? &s->lanes[i].line : &s->lanes[i].more[k - 1]);
}

bool needs_down_check(const sched_t *s, const struct lane *lane)
{
    size_t listed = 0, are = 0;
    struct queue_cursor c;
    for (uint32_t i = 0; i <= lane->n_more; i++) {
        const struct line *line = i == 0 ? &lane->line : &lane->more[i - 1];
        listed += line->down ? queue_size(line->down) : 0;
    }
    for (bool any = queue_begin(lane->open, &c); any; any = queue_next(&c)) {
        const struct details *d = s->jobs[queue_item(&c)].details;
        are += d && d->needs_down;
    }
    return listed == are;
}
