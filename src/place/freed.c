/* The log of what was freed (freed.h). */
#include "place/freed.h"

#include <string.h>

#include "base/number.h"

_Static_assert(FREED_TIMES >= 2, "two notes become one");

void freed_init(struct freed *log, struct freed_nodes *nodes)
{
    nodes->all = nodes->base = log->next = 1;
    log->nodes = nodes;
}

void freed_add(struct freed *log, int64_t from, int64_t until)
{
    while (log->n > 0 && log->note[log->n - 1].from >= from) {
        log->n--;
        until = until > log->note[log->n].until ? until : log->note[log->n].until;
    }
    /* The oldest two: whoever has seen less believes the earlier instant. */
    if (log->n == FREED_TIMES) {
        log->note[1].from = log->note[0].from;
        if (log->note[1].until < log->note[0].until)
            log->note[1].until = log->note[0].until;
        log->n--;
        memmove(&log->note[0], &log->note[1], log->n * sizeof(log->note[0]));
    }
    log->note[log->n].event = log->next++;
    log->note[log->n].from = from;
    log->note[log->n].until = until;
    log->n++;
}

/* The last run has a new entry, too; where the event is a new one and there is room for it, it has a run of its own. */
static void run_add(struct freed_nodes *nodes, const struct freed_node *f)
{
    const struct freed_node *last = nodes->n > 0 ? &nodes->v[nodes->n - 1] : NULL;
    if (!last || (last->event != f->event && nodes->n_runs < FREED_RUNS)) {
        nodes->run[nodes->n_runs++] =
            (struct freed_run){nodes->n, true, f->from, f->to, f->id, f->id};
        return;
    }
    struct freed_run *run = &nodes->run[nodes->n_runs - 1];
    run->ascends &= f->id >= last->id;
    run->from = lesser(run->from, f->from);
    run->to = greater(run->to, f->to);
    run->low = lesser(run->low, f->id);
    run->high = greater(run->high, f->id);
}

/* The last run has an entry that now lasts longer. */
static void run_widen(struct freed_nodes *nodes, const struct freed_node *f)
{
    struct freed_run *run = &nodes->run[nodes->n_runs - 1];
    run->from = lesser(run->from, f->from);
    run->to = greater(run->to, f->to);
}

/* A node of which much is freed at once is noted once: nobody has read of this event yet. */
void freed_add_node(struct freed *log, uint32_t node, int64_t id, int64_t from, int64_t to)
{
    struct freed_nodes *nodes = log->nodes;
    uint32_t n = nodes->n;
    for (uint32_t i = n; i-- > 0 && i + FREED_ALIKE >= n && nodes->v[i].event == log->next;)
        if (nodes->v[i].node == node) {
            nodes->v[i].from = lesser(from, nodes->v[i].from);
            nodes->v[i].to = greater(to, nodes->v[i].to);
            run_widen(nodes, &nodes->v[i]);
            return;
        }
    if (n == FREED_NODES) {
        freed_add_all(log);
        return;
    }
    nodes->v[n] = (struct freed_node){log->next, from, to, id, node};
    run_add(nodes, &nodes->v[n]);
    nodes->n++;
}

void freed_add_all(struct freed *log)
{
    log->next++;
    log->nodes->n = log->nodes->n_runs = 0;
    log->nodes->all = log->nodes->base = log->next;
}

int64_t freed_until(const struct freed *log, uint64_t event)
{
    int64_t until = INT64_MIN;
    for (size_t i = log->n; i > 0 && log->note[i - 1].event >= event; i--)
        until = until > log->note[i - 1].until ? until : log->note[i - 1].until;
    return until;
}

uint32_t freed_nodes_since(const struct freed_nodes *nodes, uint64_t event)
{
    uint32_t low = 0, high = nodes->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (nodes->v[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Searching ---- */

/* The entry after the last one of a run. */
static uint32_t end_of_run(const struct freed_nodes *nodes, uint32_t run)
{
    return run + 1 < nodes->n_runs ? nodes->run[run + 1].first : nodes->n;
}

struct freed_cursor freed_search(const struct freed_nodes *nodes, uint64_t event)
{
    uint32_t first = freed_nodes_since(nodes, event), low = 0, high = nodes->n_runs;
    while (low < high) { /* the first run that ends after it */
        uint32_t middle = low + (high - low) / 2;
        if (end_of_run(nodes, middle) <= first)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct freed_cursor){low, first, first};
}

/* Where entries of ids from `low` on begin in a run that ascends, from an entry on. */
static uint32_t first_from_id(const struct freed_nodes *nodes, uint32_t from, uint32_t end,
                              int64_t low)
{
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if (nodes->v[middle].id < low)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

bool freed_next_run(const struct freed_nodes *nodes, const struct freed_wanted *wanted,
                    struct freed_cursor *c)
{
    for (; c->run < nodes->n_runs; c->run++) {
        const struct freed_run *run = &nodes->run[c->run];
        if (run->from >= wanted->to || run->to <= wanted->from || run->low > wanted->high ||
            run->high < wanted->low)
            continue;
        uint32_t end = end_of_run(nodes, c->run++);
        c->next = run->first > c->next ? run->first : c->next;
        c->end = end;
        if (run->ascends && run->low < wanted->low)
            c->next = first_from_id(nodes, c->next, end, wanted->low);
        if (run->ascends && run->high > wanted->high)
            c->end = first_from_id(nodes, c->next, end, wanted->high + 1);
        return true;
    }
    return false;
}

bool freed_check(const struct freed_nodes *nodes)
{
    if ((nodes->n_runs == 0) != (nodes->n == 0) || (nodes->n > 0 && nodes->run[0].first != 0))
        return false;
    for (uint32_t r = 0; r < nodes->n_runs; r++) {
        const struct freed_run *run = &nodes->run[r];
        if (run->first >= end_of_run(nodes, r))
            return false;
        for (uint32_t i = run->first; i < end_of_run(nodes, r); i++) {
            const struct freed_node *f = &nodes->v[i];
            if (f->from < run->from || f->to > run->to || f->id < run->low || f->id > run->high ||
                (run->ascends && i > run->first && f->id < f[-1].id))
                return false;
        }
    }
    return true;
}

/* ---- Forgetting ---- */

/* The first entries are gone. */
static void runs_shift(struct freed_nodes *nodes, uint32_t gone)
{
    uint32_t k = 0;
    while (k < nodes->n_runs && end_of_run(nodes, k) <= gone)
        k++;
    nodes->n_runs -= k;
    memmove(nodes->run, nodes->run + k, nodes->n_runs * sizeof(*nodes->run));
    for (uint32_t r = 0; r < nodes->n_runs; r++)
        nodes->run[r].first = nodes->run[r].first > gone ? nodes->run[r].first - gone : 0;
}

void freed_forget(struct freed *log, uint64_t swept, uint64_t woken)
{
    struct freed_nodes *nodes = log->nodes;
    size_t k = 0;
    while (k < log->n && log->note[k].event < swept)
        k++;
    log->n -= k;
    memmove(&log->note[0], &log->note[k], log->n * sizeof(log->note[0]));
    uint64_t before = swept < woken ? swept : woken;
    if (!nodes || before <= nodes->base)
        return;
    uint32_t gone = freed_nodes_since(nodes, before);
    runs_shift(nodes, gone);
    nodes->n -= gone;
    memmove(nodes->v, nodes->v + gone, nodes->n * sizeof(*nodes->v));
    nodes->base = before;
}
