#include "sched/waiting/shut_class.h"

#include "sched/queues.h"
#include "sched/waiting/class_turns.h"
#include "sched/waiting/shares.h"

bool leaf_is_shut(const sched_t *s, const struct leaf *leaf)
{
    const struct class_turns *turns = leaf_turns(s, leaf);
    return turns && class_turns_is_shut(turns, leaf->class);
}

const char *shares_shut_class(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    const struct leaf *leaf = shares ? &shares->leaf[shares->job[slot].leaf] : NULL;
    const struct classes_percent *list;
    if (!leaf || !leaf_is_shut(s, leaf))
        return NULL;
    classes_get_percents(leaf_turns(s, leaf)->setup->settings, &list);
    return list[leaf->class].name;
}

bool shares_first_open(const sched_t *s, const struct lane *lane, struct queue_entry *entry)
{
    const struct shares *shares = s->queues->shares;
    bool any = queue_first(lane->open, entry);
    if (!shares || !shares->turns[lane->queue])
        return any;
    while (any && shares_shut_class(s, entry->item)) {
        struct queue_key shut = entry->key;
        any = queue_after(lane->open, &shut, entry);
    }
    return any;
}

bool shares_is_shut(const sched_t *s, const struct lane *lane, const struct line *line)
{
    const struct shares *shares = s->queues->shares;
    const struct queue *open = lane->n_more > 0 ? line->open : lane->open;
    struct queue_entry first; /* all of a line are of one class */
    return shares && shares->turns[lane->queue] && open && queue_first(open, &first) &&
           shares_shut_class(s, first.item);
}
