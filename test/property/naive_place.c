#include "naive_place.h"

/* What is free of a node throughout a window. */
struct room {
    bool whole;
    int cores, gpus, memory;
    uint32_t core, gpu;
    int share[NAIVE_GPUS]; /* of the memory of each GPU that nobody has to himself */
};

static bool block_overlaps(const struct naive_block *b, int64_t at, int64_t end)
{
    for (int64_t start = b->start; b->used && start < end; start += b->every) {
        if (start + b->duration > at)
            return true;
        if (b->every == 0)
            break;
    }
    return false;
}

bool naive_may_use(const struct naive_place *p, const struct naive_ask *ask, int node, bool ever)
{
    const struct naive_node *n = &p->node[node];

    if (!n->there || (!ever && (n->down || p->rack_down[n->rack])))
        return false;
    if ((ask->part == 1 || ask->property) && !n->property)
        return false;
    return ask->part != 2 || node <= 2;
}

/* The GPUs of a node that are of the kind asked for. */
static uint32_t gpus_of(const struct naive_place *p, const struct naive_ask *ask, int node)
{
    return ask->gpu_kind > 0 ? p->node[node].gpus_of[ask->gpu_kind - 1] : UINT32_MAX;
}

/* The most that is taken at once: of a node's memory, or of that of one of its GPUs, or, without a node, of the
 * licences.
 */
static int most_taken(const struct naive_place *p, int node, int gpu, int64_t at, int64_t end)
{
    int most = 0;

    for (int64_t t = at; t < end; t++) {
        int sum = 0;
        for (int i = 0; i < NAIVE_BOOKINGS; i++) {
            const struct naive_booking *b = &p->booking[i];
            if (b->used && !b->lifted && b->at <= t && t < b->end)
                sum += node < 0  ? b->licenses
                       : gpu < 0 ? b->hold[node].memory
                                 : b->hold[node].share[gpu];
        }
        most = sum > most ? sum : most;
    }
    return most;
}

/* Take from a room what others share of GPUs, and GPUs that are given whole. */
static void share_gpus(const struct naive_place *p, struct room *r, int node, int64_t at,
                       int64_t end, bool ever)
{
    const struct naive_node *n = &p->node[node];

    for (int k = 0; k < n->gpus; k++) {
        r->share[k] = r->gpu >> k & 1 ? n->gpu_memory : 0;
        int taken = ever ? 0 : most_taken(p, node, k, at, end);
        r->share[k] -= taken;
        if (taken > 0)
            r->gpu &= ~(1u << k);
    }
}

/* Whether so many GPUs each have as much of their memory. */
static bool have_shares(const struct room *r, int shares, int share)
{
    for (int k = 0; k < NAIVE_GPUS; k++)
        shares -= r->share[k] >= share;
    return share == 0 || shares <= 0;
}

static struct room room_of(const struct naive_place *p, const struct naive_ask *ask, int node,
                           int64_t at, int64_t end, int64_t until, bool ever)
{
    const struct naive_node *n = &p->node[node];
    struct room none = {0}, r = {.whole = true,
                                 .memory = n->memory,
                                 .core = (1u << n->cores) - 1,
                                 .gpu = (1u << n->gpus) - 1};

    if (!naive_may_use(p, ask, node, ever))
        return none;
    for (int i = 0; i < NAIVE_BLOCKS && !ever; i++) {
        const struct naive_block *b = &p->block[i];
        if ((ask->permits >> i & 1) || !block_overlaps(b, at, end))
            continue;
        if (b->nodes >> node & 1)
            return none;
        r.whole &= b->cores[node] == 0;
        r.core &= ~b->cores[node];
    }
    for (int i = 0; i < NAIVE_BOOKINGS && !ever; i++) {
        const struct naive_booking *b = &p->booking[i];
        if (!b->used || b->lifted || b->at >= until || b->end <= at || !b->hold[node].any)
            continue;
        if (b->hold[node].whole)
            return none;
        r.whole = false;
        r.core &= ~b->hold[node].cores;
        r.gpu &= ~b->hold[node].gpus;
    }
    if (!ever) {
        r.core &= ~n->cores_down;
        r.memory -= most_taken(p, node, -1, at, until);
    }
    share_gpus(p, &r, node, at, until, ever);
    if (p->whole && !r.whole)
        return none;
    for (int k = 0; k < n->gpus; k++)
        if (!(gpus_of(p, ask, node) >> k & 1)) {
            r.gpu &= ~(1u << k);
            r.share[k] = 0;
        }
    r.cores = __builtin_popcount(r.core);
    r.gpus = __builtin_popcount(r.gpu);
    return r;
}

static int slots_in(const struct naive_ask *ask, int cores, int gpus, int memory)
{
    int slots = 1000;

    if (ask->cores > 0 && cores / ask->cores < slots)
        slots = cores / ask->cores;
    if (ask->gpus > 0 && gpus / ask->gpus < slots)
        slots = gpus / ask->gpus;
    if (ask->memory > 0 && memory / ask->memory < slots)
        slots = memory / ask->memory;
    return slots < 0 ? 0 : slots;
}

static bool are_licenses(const struct naive_place *p, int wanted, int64_t at, int64_t until,
                         bool ever)
{
    if (wanted == 0)
        return true;
    return ever ? wanted <= p->licenses
                : !p->licenses_down && wanted <= p->licenses - most_taken(p, -1, -1, at, until);
}

bool naive_fits(const struct naive_place *p, const struct naive_ask *ask, int64_t at, bool ever)
{
    int count = 0;

    for (int i = 0; i < NAIVE_NODES; i++) {
        struct room r = room_of(p, ask, i, at, at + ask->duration, at + ask->duration, ever);
        int slots = slots_in(ask, r.cores, r.gpus, r.memory);
        switch (ask->kind) {
        case ASK_SLOTS:
            count += slots;
            break;
        case ASK_WHOLE:
            count += r.whole && slots >= 1;
            break;
        case ASK_SHARED:
            count += slots >= ask->slots && have_shares(&r, ask->shares, ask->share);
            break;
        default:
            count += r.whole;
        }
    }
    return count >= ask->count && are_licenses(p, ask->licenses, at, at + ask->duration, ever);
}

int64_t naive_when(const struct naive_place *p, const struct naive_ask *ask, int64_t from,
                   int64_t before)
{
    int64_t last = from;

    for (int i = 0; i < NAIVE_BOOKINGS; i++)
        if (p->booking[i].used && p->booking[i].end > last)
            last = p->booking[i].end;
    for (int i = 0; i < NAIVE_BLOCKS; i++)
        if (p->block[i].used && p->block[i].start + p->block[i].duration > last)
            last = p->block[i].start + p->block[i].duration;
    last += 130; /* of all periods a common multiple, and more */
    for (int64_t at = from; at <= last && at < before; at++)
        if (naive_fits(p, ask, at, false))
            return at;
    return -1;
}

bool naive_holds_fit(const struct naive_place *p, const struct naive_ask *ask, int booking,
                     int64_t at, int64_t end, int64_t until)
{
    const struct naive_booking *b = &p->booking[booking];

    if (b->cut || !are_licenses(p, b->licenses, at, until, false))
        return false;
    for (int i = 0; i < NAIVE_NODES; i++) {
        const struct naive_hold *h = &b->hold[i];
        struct room r = room_of(p, ask, i, at, end, until, false);
        if (!h->any)
            continue;
        if (!naive_may_use(p, ask, i, false) || (h->whole && !r.whole) || (h->cores & ~r.core) ||
            (h->gpus & ~r.gpu) || (h->memory > 0 && h->memory > r.memory))
            return false;
        for (int k = 0; k < NAIVE_GPUS; k++)
            if (h->share[k] > r.share[k] && h->share[k] > 0 && !h->whole)
                return false;
    }
    return true;
}

/* Whether the parts of GPUs that a node is held with are as many and as large as asked for, and of its kind. */
static bool has_right_shares(const struct naive_ask *ask, const struct naive_hold *h,
                             uint32_t of_kind)
{
    int shares = 0;

    for (int k = 0; k < NAIVE_GPUS; k++) {
        if (h->share[k] > 0 && (h->share[k] != ask->share || !(of_kind >> k & 1)))
            return false;
        shares += h->share[k] > 0;
    }
    return shares == ask->shares;
}

bool naive_satisfies(const struct naive_place *p, const struct naive_ask *ask, int booking)
{
    const struct naive_booking *b = &p->booking[booking];
    int cores = 0, gpus = 0, memory = 0, nodes = 0;

    if (b->licenses != ask->licenses)
        return false;
    for (int i = 0; i < NAIVE_NODES; i++) {
        const struct naive_hold *h = &b->hold[i];
        int slots =
            slots_in(ask, __builtin_popcount(h->cores), __builtin_popcount(h->gpus), h->memory);
        if (!h->any)
            continue;
        if (p->whole && !h->whole)
            return false;
        if (ask->kind == ASK_WHOLE && !(h->whole && slots >= 1))
            return false;
        if (ask->kind == ASK_NODE_SLOTS && !h->whole)
            return false;
        if (ask->kind == ASK_SHARED && slots < ask->slots)
            return false;
        if (h->gpus & ~gpus_of(p, ask, i))
            return false;
        if (!h->whole && !has_right_shares(ask, h, gpus_of(p, ask, i)))
            return false;
        nodes++;
        cores += __builtin_popcount(h->cores);
        gpus += __builtin_popcount(h->gpus);
        memory += h->memory;
    }
    if (ask->kind != ASK_SLOTS)
        return nodes == ask->count;
    return (p->whole || memory == ask->count * ask->memory) && cores == ask->count * ask->cores &&
           gpus == ask->count * ask->gpus;
}
