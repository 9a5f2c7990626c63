/* The log of what was freed (freed.h). */
#include "place/freed.h"

#include <string.h>

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

/* A node of which much is freed at once is noted once: nobody has read of this event yet. */
void freed_add_node(struct freed *log, uint32_t node, int64_t from, int64_t to)
{
    struct freed_nodes *nodes = log->nodes;
    uint32_t n = nodes->n;
    for (uint32_t i = n; i-- > 0 && i + FREED_ALIKE >= n && nodes->v[i].event == log->next;)
        if (nodes->v[i].node == node) {
            nodes->v[i].from = from < nodes->v[i].from ? from : nodes->v[i].from;
            nodes->v[i].to = to > nodes->v[i].to ? to : nodes->v[i].to;
            return;
        }
    if (n == FREED_NODES) {
        freed_add_all(log);
        return;
    }
    nodes->v[nodes->n++] = (struct freed_node){log->next, from, to, node};
}

void freed_add_all(struct freed *log)
{
    log->next++;
    log->nodes->n = 0;
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
    nodes->n -= gone;
    memmove(nodes->v, nodes->v + gone, nodes->n * sizeof(*nodes->v));
    nodes->base = before;
}
