/* Nodes that several bookings share: of a `node` limit, a holder takes each once at a time.
 *
 * Beside its calendar of nodes, a tally has for each node that its jobs share with others a profile of how
 * many of them hold it when. A booking adds to the calendar where it is the first of them, and takes away
 * where it was the last. Nodes that a job has to itself are in the calendar alone: nobody else has them at
 * the same time.
 *
 * Whoever has a window open holds its ends in the calendar and in the profiles of its nodes, so that all
 * changes between two such points need no memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/controllers/limits_priv.h"

static const int64_t before_all = INT64_MIN / 2;

/* Where a node is in the list, or belongs. */
static uint32_t place_of_node(const struct shared *s, uint32_t node)
{
    uint32_t low = 0, high = s->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->v[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct shared_node *find_shared_node(const struct shared *s, uint32_t node)
{
    uint32_t i = place_of_node(s, node);
    return i < s->n && s->v[i].node == node ? &s->v[i] : NULL;
}

/* Returns the node's profile, which may be new, or NULL with ENOMEM. */
static struct shared_node *have(struct shared *s, uint32_t node)
{
    uint32_t i = place_of_node(s, node);
    if (i < s->n && s->v[i].node == node)
        return &s->v[i];
    void *v = s->v;
    int rc = limits_grow(&v, &s->cap, s->n, sizeof(*s->v));
    s->v = v;
    struct shared_node new = {.node = node};
    if (rc < 0 || profile_init(&new.profile, before_all) < 0)
        return NULL;
    memmove(s->v + i + 1, s->v + i, (s->n - i) * sizeof(*s->v));
    s->v[i] = new;
    s->n++;
    return &s->v[i];
}

/* One that nobody has any more is not in the list. */
static void drop_unused_node(struct shared *s, uint32_t node)
{
    uint32_t i = place_of_node(s, node);
    if (s->v[i].users > 0)
        return;
    profile_clear(&s->v[i].profile);
    s->n--;
    memmove(s->v + i, s->v + i + 1, (s->n - i) * sizeof(*s->v));
}

void shared_clear(struct shared *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        profile_clear(&s->v[i].profile);
    free(s->v);
    *s = (struct shared){0};
}

bool limits_next_of(void *arg, uint32_t *i, uint32_t *node)
{
    const struct limits_list *list = arg;
    if (*i >= list->n)
        return false;
    *node = list->v[(*i)++];
    return true;
}

/* The first `n` of some nodes. */
static void close_some(struct shared *s, const struct limits_nodes *nodes, int64_t n,
                       struct limits_window window)
{
    uint32_t i = 0, node;
    for (int64_t k = 0; k < n && nodes->next(nodes->arg, &i, &node); k++) {
        struct shared_node *of = find_shared_node(s, node);
        profile_unbook(&of->profile, window.from, window.until, 0);
        of->users--;
        drop_unused_node(s, node);
    }
}

int shared_open(struct shared *s, const struct limits_nodes *nodes, struct limits_window window)
{
    uint32_t i = 0, node;
    for (int64_t k = 0; nodes && nodes->next(nodes->arg, &i, &node); k++) {
        struct shared_node *of = have(s, node);
        if (of && profile_book(&of->profile, window.from, window.until, 0) == 0) {
            of->users++;
            continue;
        }
        if (of)
            drop_unused_node(s, node);
        close_some(s, nodes, k, window);
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

void shared_close(struct shared *s, const struct limits_nodes *nodes, struct limits_window window)
{
    if (nodes)
        close_some(s, nodes, nodes->n, window);
}

/* Add to a calendar where none of the holder's jobs has a node. */
static void add_where_free(const struct profile *node, struct limits_window window,
                           struct profile *calendar, int64_t more)
{
    struct profile_cursor c;
    int64_t from = window.from;
    profile_seek(&c, node, from);
    while (from < window.until) {
        bool is_free = profile_cursor_load(&c) == 0;
        int64_t until = window.until;
        if (profile_next(&c) && profile_cursor_time(&c) < until)
            until = profile_cursor_time(&c);
        if (is_free)
            profile_add(calendar, from, until, more);
        from = until;
    }
}

void shared_add(struct shared *s, const struct limits_nodes *nodes, struct limits_window window,
                struct profile *calendar, int64_t sign)
{
    uint32_t i = 0, node;
    while (nodes && nodes->next(nodes->arg, &i, &node)) {
        struct profile *p = &find_shared_node(s, node)->profile;
        if (sign < 0)
            profile_add(p, window.from, window.until, -1);
        add_where_free(p, window, calendar, sign);
        if (sign > 0)
            profile_add(p, window.from, window.until, 1);
    }
}

/* ---- Questions ---- */

/* How many more nodes a holder has at an instant if it gets these, and `alone` others. */
static int64_t more_at(const struct shared *s, const struct limits_nodes *nodes, int64_t alone,
                       int64_t at)
{
    uint32_t i = 0, node;
    int64_t more = alone;
    while (nodes->next(nodes->arg, &i, &node)) {
        const struct shared_node *of = find_shared_node(s, node);
        more += !of || profile_at(&of->profile, at) == 0;
    }
    return more;
}

/* Whether the holder has some of these nodes already at some time. */
static bool meets(const struct shared *s, const struct limits_nodes *nodes)
{
    uint32_t i = 0, node;
    while (s->n > 0 && nodes->next(nodes->arg, &i, &node))
        if (find_shared_node(s, node))
            return true;
    return false;
}

bool shared_fits(const struct shared *s, const struct profile *calendar, int64_t most,
                 const struct limits_nodes *nodes, int64_t alone, struct limits_window window)
{
    int64_t all = alone + nodes->n;
    if (all <= most && profile_max(calendar, window.from, window.until) <= most - all)
        return true;
    return meets(s, nodes) &&
           shared_when(s, calendar, most, nodes, alone, window, window.from + 1) == window.from;
}

int64_t shared_when(const struct shared *s, const struct profile *calendar, int64_t most,
                    const struct limits_nodes *nodes, int64_t alone, struct limits_window window,
                    int64_t before)
{
    int64_t all = alone + nodes->n, duration = window.until - window.from;
    int64_t at = window.from, t = at;
    struct profile_cursor c;
    profile_seek(&c, calendar, at);
    if (!meets(s, nodes))
        return profile_fit(&c, at, duration, most - all, before, &at) ? at : INT64_MAX;
    while (at < before) {
        int64_t load = profile_cursor_load(&c);
        int64_t more = load + all > most ? more_at(s, nodes, alone, t) : 0;
        int64_t next = profile_next(&c) ? profile_cursor_time(&c) : INT64_MAX;
        if (load + more >
            most) /* also where it is exceeded: those on one node would let each other */
            at = next;
        else if (next == INT64_MAX || next - at >= duration)
            return at;
        t = next;
    }
    return INT64_MAX;
}

/* As shared_fits of one node. */
static bool one_fits(const struct shared *s, const struct profile *calendar, int64_t most,
                     uint32_t node, struct limits_window window)
{
    const struct shared_node *of = find_shared_node(s, node);
    struct profile_cursor c;
    int64_t from = window.from;
    if (!of)
        return profile_max(calendar, from, window.until) < most;
    profile_seek(&c, &of->profile, from);
    while (from < window.until) {
        bool is_free = profile_cursor_load(&c) == 0;
        int64_t until = window.until;
        if (profile_next(&c) && profile_cursor_time(&c) < until)
            until = profile_cursor_time(&c);
        if (profile_max(calendar, from, until) > most - is_free)
            return false;
        from = until;
    }
    return true;
}

/* Whether the limits of all sides let a job have a node that is shared already. */
static bool may_have(const struct limits *limits, const struct side *side, size_t sides,
                     uint32_t node, struct limits_window window)
{
    for (size_t k = 0; k < sides; k++)
        for (uint32_t i = 0; i < side[k].rules->n; i++) {
            const struct rule *rule = &side[k].rules->v[i];
            uint32_t calendar = limits_calendar_of(side[k].tally, rule->what);
            if (rule->what == limits->node && calendar != NO_CALENDAR &&
                !one_fits(&side[k].tally->shared, &limits->calendar[calendar].profile, rule->most,
                          node, window))
                return false;
        }
    return true;
}

/* Whether a holder has a node at some time of a window. A window may be open of what has been lifted: nobody has that. */
static bool has_then(const struct shared *s, uint32_t node, struct limits_window window)
{
    const struct shared_node *of = find_shared_node(s, node);
    return of && profile_max(&of->profile, window.from, window.until) > 0;
}

/* How many nodes the limits of all sides leave throughout a window. */
static int64_t left_of(const struct limits *limits, const struct side *side, size_t sides,
                       struct limits_window window)
{
    int64_t left = INT64_MAX;
    for (size_t k = 0; k < sides; k++)
        for (uint32_t i = 0; i < side[k].rules->n; i++) {
            const struct rule *rule = &side[k].rules->v[i];
            uint32_t calendar = limits_calendar_of(side[k].tally, rule->what);
            if (rule->what != limits->node)
                continue;
            int64_t held =
                calendar == NO_CALENDAR
                    ? 0
                    : profile_max(&limits->calendar[calendar].profile, window.from, window.until);
            if (rule->most - held < left)
                left = rule->most - held;
        }
    return left > 0 ? left : 0;
}

/* How many nodes one job of a party may have. */
static int64_t most_of_job(const struct limits *limits, uint32_t party)
{
    const struct rules *rules = &limits->party[party].terms->job;
    for (uint32_t i = 0; i < rules->n; i++)
        if (rules->v[i].what == limits->node)
            return rules->v[i].most;
    return INT64_MAX;
}

int64_t limits_most_nodes(const struct limits *limits, uint32_t party)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    int64_t most = most_of_job(limits, party);
    for (size_t k = 0; k < sides; k++)
        for (uint32_t i = 0; i < side[k].rules->n; i++) {
            const struct rule *rule = &side[k].rules->v[i];
            if (rule->what == limits->node && rule->most < most)
                most = rule->most;
        }
    return most;
}

/* Of how many sides that limit nodes a node would be one more during a window; *has_left: these have
 * one left for it.
 */
static size_t lacks_node(const struct side *side, const int64_t *left, size_t sides, uint32_t node,
                         struct limits_window window, bool *has_left)
{
    size_t lacks = 0;
    *has_left = true;
    for (size_t k = 0; k < sides; k++) {
        bool is_new = left[k] < INT64_MAX && !has_then(&side[k].tally->shared, node, window);
        lacks += is_new;
        *has_left &= !is_new || left[k] > 0;
    }
    return lacks;
}

/* How many nodes each side leaves; INT64_MAX: it does not limit them. */
static void find_left(const struct limits *limits, const struct side *side, size_t sides,
                      struct limits_window window, int64_t *left)
{
    for (size_t k = 0; k < sides; k++)
        left[k] = left_of(limits, &side[k], 1, window);
}

struct limits_room limits_narrow(const struct limits *limits, uint32_t party,
                                 struct limits_window window, limits_allow_f *allow, void *arg)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    int64_t left[SIDES_MAX];
    bool any = false, has_left;
    find_left(limits, side, sides, window, left);
    for (size_t k = 0; k < sides; k++)
        for (uint32_t i = 0; i < side[k].tally->shared.n; i++) {
            uint32_t node = side[k].tally->shared.v[i].node;
            if (lacks_node(side, left, sides, node, window, &has_left) > 0 ||
                !may_have(limits, side, sides, node, window))
                continue;
            allow(arg, node);
            any = true;
        }
    return (struct limits_room){most_of_job(limits, party), left_of(limits, side, sides, window),
                                any};
}

/* Allow a node that some side does not have, if all of these have one left, which is no more. */
static bool allow_other(const struct limits *limits, const struct side *side, int64_t *left,
                        size_t sides, uint32_t node, struct limits_window window)
{
    bool has_left;
    if (lacks_node(side, left, sides, node, window, &has_left) == 0 || !has_left ||
        !may_have(limits, side, sides, node, window))
        return false;
    for (size_t k = 0; k < sides; k++)
        left[k] -= left[k] < INT64_MAX && !has_then(&side[k].tally->shared, node, window);
    return true;
}

static bool lists_node(const struct limits_nodes *nodes, uint32_t node)
{
    uint32_t i = 0, other;
    while (nodes && nodes->next(nodes->arg, &i, &other))
        if (other == node)
            return true;
    return false;
}

/* Whether a side before the first k has a node during a window. */
static bool is_known_before(const struct side *side, size_t k, uint32_t node,
                            struct limits_window window)
{
    bool is = false;
    for (size_t i = 0; i < k; i++)
        is |= has_then(&side[i].tally->shared, node, window);
    return is;
}

bool limits_narrow_others(const struct limits *limits, uint32_t party, struct limits_window window,
                          const struct limits_nodes *nodes, limits_allow_f *allow, void *arg)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    int64_t left[SIDES_MAX];
    uint32_t i = 0, node;
    bool any = false;
    find_left(limits, side, sides, window, left);
    while (nodes && nodes->next(nodes->arg, &i, &node))
        if (allow_other(limits, side, left, sides, node, window)) {
            allow(arg, node);
            any = true;
        }
    for (size_t k = 0; k < sides; k++)
        for (uint32_t j = 0; j < side[k].tally->shared.n; j++) {
            node = side[k].tally->shared.v[j].node;
            if (!has_then(&side[k].tally->shared, node, window) ||
                is_known_before(side, k, node, window) || lists_node(nodes, node) ||
                !allow_other(limits, side, left, sides, node, window))
                continue;
            allow(arg, node);
            any = true;
        }
    return any;
}

int64_t limits_next_change(const struct limits *limits, uint32_t party, int64_t after,
                           int64_t before)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t k = 0; k < sides; k++)
        for (uint32_t i = 0; i < side[k].rules->n; i++) {
            uint32_t calendar = limits_calendar_of(side[k].tally, side[k].rules->v[i].what);
            struct profile_cursor c;
            if (side[k].rules->v[i].what != limits->node || calendar == NO_CALENDAR)
                continue;
            profile_seek(&c, &limits->calendar[calendar].profile, after);
            if (profile_next(&c) && profile_cursor_time(&c) < before)
                before = profile_cursor_time(&c);
        }
    return before;
}

bool limits_has_shared(const struct limits *limits, uint32_t party)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        if (side[s].tally->shared.n > 0)
            return true;
    return false;
}

bool limits_names_nodes(const struct limits *limits, uint32_t party)
{
    return most_of_job(limits, party) < INT64_MAX || limits_counts_nodes(limits, party);
}

bool limits_counts_nodes(const struct limits *limits, uint32_t party)
{
    struct side side[SIDES_MAX];
    size_t sides = limits_sides(limits, party, side);
    for (size_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < side[s].whats->n; i++)
            if (side[s].whats->v[i] == limits->node)
                return true;
    return false;
}

bool shared_check(const struct shared *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].users == 0 || (i > 0 && s->v[i - 1].node >= s->v[i].node) ||
            !profile_check(&s->v[i].profile))
            return false;
    return true;
}
