/* Measuring what is in bookings, in parts of the machine and in a node (plan.h). */
#include <errno.h>
#include <stdlib.h>

#include "match/plan.h"
#include "match/walk/walk.h"

static bool has_nodes(const struct match *m, uint32_t v)
{
    return topo_sum(&m->topo, v, TYPE_NODE) != NULL;
}

static int64_t below(const struct match *m, uint32_t v, uint16_t type)
{
    const struct class_sum *sum = topo_sum(&m->topo, v, type);

    return sum ? (int64_t)sum->units : 0;
}

_Static_assert(PLAN_NO_VERTEX == VERTEX_NONE, "they are the same");

uint32_t match_above(const struct match *m, uint32_t v)
{
    return vertex_above(m, v);
}

/* True if the node that v is or is in is down, or something above that node. What is down within a node
 * doesn't count, as the node may be given whole all the same.
 */
static bool is_off(const struct match *m, uint32_t v)
{
    for (uint32_t x = v; x != VERTEX_NONE; x = vertex_above(m, x))
        if (m->g->v[x].down && (m->g->v[x].type == TYPE_NODE || has_nodes(m, x)))
            return true;
    return false;
}

bool match_node_is_down(const struct match *m, uint32_t v)
{
    return is_off(m, v);
}

bool match_is_any_down(const struct match *m)
{
    const struct state *s = m->state[m->topo.root];

    return !m->topo.parent || (s && s->n_down > 0);
}

/* Units of a type in v and below it. What is above v is up. */
static int64_t amount_at(const struct match *m, uint32_t v, uint16_t type, const uint64_t *within,
                         bool up)
{
    const struct vertex *x = &m->g->v[v];
    int64_t sum = x->type == type ? x->size : 0;
    const uint32_t *children;

    if (!match_part_has(within, v))
        return 0;
    if (!has_nodes(m, v))
        return up && x->type == TYPE_NODE && x->down ? 0 : sum + below(m, v, type);
    if (up && x->down)
        return 0;
    uint32_t n = topo_children(&m->topo, v, &children);
    for (uint32_t i = 0; i < n; i++)
        sum += amount_at(m, children[i], type, within, up);
    return sum;
}

int64_t match_job_amount(const struct match *m, int64_t jobid, uint16_t type,
                         const uint64_t *within, bool up)
{
    const struct job *job = jobs_at(&m->jobs, jobid);
    int64_t sum = 0;

    for (uint32_t i = job_next_booked(job, 0); i < job->n; i = job_next_booked(job, i + 1)) {
        const struct hold *h = &job->hold[i];
        if ((h->flags & HOLD_COVERED) || (up && is_off(m, h->vertex)))
            continue;
        if (h->flags & HOLD_EXCLUSIVE)
            sum += amount_at(m, h->vertex, type, within, up);
        else if ((h->flags & HOLD_UNITS) && m->g->v[h->vertex].type == type &&
                 match_part_has(within, h->vertex))
            sum += h->needs;
    }
    return sum;
}

/* Units of a type in v and below it that are in none of these blocks. What is above v is in none. */
static int64_t clear_at(const struct match *m, uint32_t v, uint16_t type, uint64_t blocks)
{
    const struct state *s = m->state[v];
    const uint32_t *children;
    if (s && s->blocks & blocks)
        return 0;
    int64_t sum = m->g->v[v].type == type ? m->g->v[v].size : 0;
    if (!s || !(s->blocks_below & blocks))
        return sum + below(m, v, type);
    uint32_t n = topo_children(&m->topo, v, &children);
    for (uint32_t i = 0; i < n; i++)
        if (vertex_above(m, children[i]) == v)
            sum += clear_at(m, children[i], type, blocks);
    return sum;
}

uint64_t match_blocks_of(const struct match *m, uint32_t v, bool any)
{
    const struct state *s = m->state[v];
    return s ? s->blocks | (any ? s->blocks_below : 0) : 0;
}

/* What a hold has of a type, less what these blocks have of it. */
static int64_t clear_of_hold(const struct match *m, const struct hold *h, uint16_t type,
                             uint64_t blocks)
{
    const struct vertex *x = &m->g->v[h->vertex];
    for (uint32_t v = h->vertex; v != VERTEX_NONE; v = vertex_above(m, v))
        if (m->state[v] && m->state[v]->blocks & blocks)
            return 0;
    if (h->flags & HOLD_EXCLUSIVE)
        return clear_at(m, h->vertex, type, blocks);
    if (x->type != type)
        return 0;
    return type == TYPE_NODE ? 1 : h->flags & HOLD_UNITS ? h->needs : 0;
}

int64_t match_job_clear(const struct match *m, int64_t jobid, uint16_t type, uint64_t blocks)
{
    const struct job *job = jobs_at(&m->jobs, jobid);
    int64_t sum = 0;
    for (uint32_t i = job_next_booked(job, 0); i < job->n; i = job_next_booked(job, i + 1))
        if (!(job->hold[i].flags & HOLD_COVERED))
            sum += clear_of_hold(m, &job->hold[i], type, blocks);
    return sum;
}

/* Add what a hold has of a type to the parts that it is in. */
static void add_hold(const struct match *m, const struct hold *h, uint16_t type,
                     struct match_amount *part, size_t n)
{
    uint32_t v = h->vertex;
    bool alone = h->flags & HOLD_EXCLUSIVE;
    bool wide = alone && !topo_is_leaf(&m->topo, v) && has_nodes(m, v);
    bool own = h->flags & (HOLD_EXCLUSIVE | HOLD_UNITS), fills = h->flags & HOLD_FILLS;
    int64_t all = m->g->v[v].type != type || !own ? 0 : alone ? m->g->v[v].size : h->needs;

    if (((alone && !wide) || fills) && !topo_is_leaf(&m->topo, v))
        all += below(m, v, type);

    if (!wide && all == 0)
        return;
    bool off = is_off(m, v);
    for (size_t i = 0; i < n; i++) {
        if (!match_part_has(part[i].within, v))
            continue;
        part[i].all += wide ? amount_at(m, v, type, part[i].within, false) : all;
        if (!off)
            part[i].up += wide ? amount_at(m, v, type, part[i].within, true) : all;
    }
}

void match_job_amounts(const struct match *m, int64_t jobid, uint16_t type,
                       struct match_amount *part, size_t n)
{
    const struct job *job = jobs_at(&m->jobs, jobid);

    for (size_t i = 0; i < n; i++)
        part[i].all = part[i].up = 0;
    for (uint32_t i = job_next_span(job, 0); i < job->n; i = job_next_span(job, i + 1))
        if (!(job->hold[i].flags & HOLD_COVERED) &&
            (job->hold[i].flags & (HOLD_EXCLUSIVE | HOLD_UNITS | HOLD_FILLS)))
            add_hold(m, &job->hold[i], type, part, n);
}

int64_t match_job_nodes(const struct match *m, int64_t jobid)
{
    const struct job *job = jobs_at(&m->jobs, jobid);
    int64_t n = 0;

    for (uint32_t i = job_next_booked(job, 0); i < job->n; i = job_next_booked(job, i + 1)) {
        const struct hold *h = &job->hold[i];
        if (h->flags & HOLD_COVERED)
            continue;
        n += m->g->v[h->vertex].type == TYPE_NODE;
        if (h->flags & HOLD_EXCLUSIVE) {
            const struct class_sum *sum = topo_sum(&m->topo, h->vertex, TYPE_NODE);
            n += sum ? (int64_t)sum->count : 0;
        }
    }
    return n;
}

bool match_job_next_hold(const struct match *m, int64_t jobid, uint32_t *i, uint32_t *vertex,
                         bool *alone)
{
    const struct job *job = jobs_at(&m->jobs, jobid);

    for (uint32_t k = job_next_booked(job, *i); k < job->n; k = job_next_booked(job, k + 1)) {
        const struct hold *h = &job->hold[k];
        if (h->flags & HOLD_COVERED)
            continue;
        *vertex = h->vertex;
        *alone = h->flags & HOLD_EXCLUSIVE;
        *i = k + 1;
        return true;
    }
    return false;
}

bool match_job_next_shared(const struct match *m, int64_t jobid, uint32_t *i, uint32_t *node)
{
    const struct job *job = jobs_at(&m->jobs, jobid);
    bool alone;

    while (match_job_next_hold(m, jobid, i, node, &alone))
        if (!alone && m->g->v[*node].type == TYPE_NODE && !(job->hold[*i - 1].flags & HOLD_FILLS))
            return true;
    return false;
}

/* What a hold takes of a vertex, the more the greater; MEET_NOTHING: it holds something below. */
enum { MEET_NOT, MEET_NOTHING, MEET_UNITS, MEET_ALONE };

static uint8_t meet_of(const struct hold *h)
{
    return h->flags & HOLD_EXCLUSIVE ? MEET_ALONE
           : h->flags & HOLD_UNITS   ? MEET_UNITS
                                     : MEET_NOTHING;
}

void match_job_mark(const struct match *m, int64_t jobid, uint8_t *marks, bool on)
{
    const struct job *job = jobs_at(&m->jobs, jobid);

    for (uint32_t i = job_next_booked(job, 0); i < job->n; i = job_next_booked(job, i + 1))
        if (!(job->hold[i].flags & HOLD_COVERED))
            marks[job->hold[i].vertex] = on ? meet_of(&job->hold[i]) : MEET_NOT;
}

void match_job_weigh(const struct match *m, int64_t jobid, int64_t *units, bool on)
{
    const struct job *job = jobs_at(&m->jobs, jobid);

    for (uint32_t i = job_next_booked(job, 0); i < job->n; i = job_next_booked(job, i + 1))
        if (meet_of(&job->hold[i]) == MEET_UNITS && !(job->hold[i].flags & HOLD_COVERED))
            units[job->hold[i].vertex] += on ? job->hold[i].needs : -job->hold[i].needs;
}

enum plan_meet match_job_meets(const struct match *m, int64_t jobid, const uint8_t *marks,
                               const int64_t *units)
{
    const struct job *job = jobs_at(&m->jobs, jobid);
    enum plan_meet meet = PLAN_APART;

    for (uint32_t i = job_next_booked(job, 0); i < job->n; i = job_next_booked(job, i + 1)) {
        const struct hold *h = &job->hold[i];
        uint8_t mark = marks[h->vertex];
        if (h->flags & HOLD_COVERED || mark == MEET_NOT)
            continue;
        uint8_t own = meet_of(h);
        bool shares = mark == MEET_UNITS && own == MEET_UNITS;
        if (mark == MEET_ALONE || own == MEET_ALONE ||
            (shares && units && units[h->vertex] > m->g->v[h->vertex].size))
            return PLAN_IN_WAY;
        if (shares)
            meet = PLAN_BESIDE;
    }
    return meet;
}

/* Words of one bit for each vertex. A vertex set has two: the vertices, and these with all that is above
 * them.
 */
static size_t words_of(const struct match *m)
{
    return (size_t)m->g->n / 64 + 1;
}

uint64_t *match_vertex_set(const struct match *m, const uint32_t *vertices, size_t n)
{
    size_t words = words_of(m);
    uint64_t *set = calloc(2 * words, sizeof(*set));

    for (size_t i = 0; set && i < n; i++) {
        uint32_t v = vertices[i];
        set[v / 64] |= UINT64_C(1) << (v % 64);
        for (uint32_t x = v; x != VERTEX_NONE; x = vertex_above(m, x))
            set[words + x / 64] |= UINT64_C(1) << (x % 64);
    }
    return set;
}

bool match_job_touches(const struct match *m, int64_t jobid, const uint64_t *set)
{
    const struct job *job = jobs_at(&m->jobs, jobid);
    const uint64_t *around = set + words_of(m);

    for (uint32_t i = 0; i < job->n; i++) {
        const struct hold *h = &job->hold[i];
        const uint64_t *bits = h->flags & HOLD_EXCLUSIVE ? around : set;
        for (uint32_t v = h->vertex; v < h->vertex + hold_vertices(h); v++)
            if (bits[v / 64] >> (v % 64) & 1)
                return true;
    }
    return false;
}

/* ---- Parts ---- */

uint64_t *match_part(struct match *m, const struct jobspec_constraint *constraints)
{
    uint64_t *part = calloc((size_t)m->g->n / 64 + 1, sizeof(*part));
    jobspec_t spec = {.constraints = constraints};
    struct walk w = {.m = m, .t = &m->topo, .spec = &spec};
    uint32_t *stack = malloc(((size_t)m->g->n + 1) * sizeof(*stack)), n = 0;

    arena_release(&m->arena, (struct arena_mark){0});
    if (!part || !stack || walk_note_props(&w) < 0)
        goto fail;
    stack[n++] = m->topo.root;
    while (n > 0 && !w.out_of_memory) {
        uint32_t v = stack[--n], count;
        uint16_t type = m->g->v[v].type;
        const uint32_t *children;
        if ((type == TYPE_NODE || type == TYPE_STORAGE_NODE) && !constraint_holds(&w, v))
            continue;
        part[v / 64] |= UINT64_C(1) << (v % 64);
        count = topo_children(&m->topo, v, &children);
        for (uint32_t i = 0; i < count; i++)
            if (vertex_above(m, children[i]) == v)
                stack[n++] = children[i];
    }
    if (w.out_of_memory)
        goto fail;
    free(stack);
    return part;
fail:
    free(part);
    free(stack);
    errno = ENOMEM;
    return NULL;
}

int64_t match_part_amount(const struct match *m, const uint64_t *part, uint16_t type, bool up)
{
    return amount_at(m, m->topo.root, type, part, up);
}

/* Units of a type in v and below it; what is above is up. What is down within a node doesn't count as down. */
static int64_t open_at(const struct match *m, uint32_t v, uint16_t type, const uint64_t *part,
                       uint64_t blocks)
{
    const struct vertex *x = &m->g->v[v];
    const struct state *s = m->state[v];
    const uint32_t *children;
    bool down = x->down && (x->type == TYPE_NODE || has_nodes(m, v));

    if (!match_part_has(part, v) || down || (s && (s->blocks & blocks)))
        return 0;
    int64_t sum = x->type == type ? x->size : 0;
    uint32_t n = topo_children(&m->topo, v, &children);
    for (uint32_t i = 0; i < n; i++)
        if (vertex_above(m, children[i]) == v)
            sum += open_at(m, children[i], type, part, blocks);
    return sum;
}

int64_t match_part_open(const struct match *m, const uint64_t *part, uint16_t type, uint64_t blocks)
{
    return open_at(m, m->topo.root, type, part, blocks);
}

int64_t match_part_min_below(const struct match *m, const uint64_t *part, uint16_t upper,
                             uint16_t type)
{
    int64_t least = INT64_MAX;

    for (uint32_t v = 0; v < m->g->n; v++) {
        if (m->g->v[v].type != upper || !vertex_is_there(m, v) || !match_part_has(part, v))
            continue;
        int64_t units = has_nodes(m, v) ? 0 : below(m, v, type);
        least = units < least ? units : least;
    }
    return least == INT64_MAX ? 0 : least;
}

const struct graph *match_inner_graph(const struct match *m)
{
    return m->g;
}

bool match_gives_whole_nodes(const struct match *m)
{
    return m->policy.node_exclusive;
}

int64_t match_type_size(const struct match *m, uint16_t type)
{
    int64_t most = 0;

    for (uint32_t i = 0; i < m->topo.n_classes; i++) {
        const struct vertex *x = &m->g->v[m->topo.class[i].sample];
        if (x->type == type && x->size > most)
            most = x->size;
    }
    return most;
}

bool match_is_pool(const struct match *m, uint16_t type)
{
    for (uint32_t i = 0; i < m->topo.n_classes; i++) {
        const struct vertex *x = &m->g->v[m->topo.class[i].sample];
        if (x->type == type && x->divisible)
            return true;
    }
    return false;
}

/* ---- A node ---- */

uint32_t match_node_of(const struct match *m, uint32_t v)
{
    for (uint32_t x = v; x != VERTEX_NONE; x = vertex_above(m, x))
        if (m->g->v[x].type == TYPE_NODE)
            return x;
    return v;
}

/* True if a profile is at most at the limit at some instant of [at, end). */
static bool sinks_to(const struct profile *p, int64_t limit, int64_t at, int64_t end)
{
    struct profile_cursor c;

    if (p->n <= 1)
        return limit >= 0;
    if (end == at + 1)
        return profile_at(p, at) <= limit;
    profile_seek(&c, p, at);
    return profile_fit(&c, at, 1, limit, end, &at);
}

bool match_is_idle(const struct match *m, uint32_t v, int64_t at, int64_t end)
{
    struct profile_view view;

    return !m->state[v] || sinks_to(state_users(m->state[v], &view), 0, at, end);
}

bool match_has_free(const struct match *m, uint32_t v, uint16_t type, int64_t units, int64_t at,
                    int64_t end)
{
    const struct vertex *x = &m->g->v[v];
    const struct state *s = m->state[v];
    int64_t spare = (x->type == type ? x->size : 0) + below(m, v, type) - units;
    int32_t number = m->prune.number[type];
    struct profile_view view;

    if (!s || spare < 0)
        return spare >= 0;
    if (!sinks_to(state_users(s, &view), STATE_EXCLUSIVE - 1, at, end))
        return false;
    const struct profile *counts = state_below(s)->counts;
    if (!counts || number == PRUNE_NONE)
        return true;
    const struct prune_list *list = prune_of(&m->prune, &m->topo, v);
    for (uint32_t i = 0; i < list->n; i++)
        if (list->number[i] == number)
            return sinks_to(&counts[i], spare, at, end);
    return true;
}

bool match_satisfies(struct match *m, const struct jobspec_constraint *constraints, uint32_t v)
{
    jobspec_t spec = {.constraints = constraints};
    struct walk w = {.m = m, .t = &m->topo, .spec = &spec};

    return constraint_holds(&w, v) || w.out_of_memory;
}

bool match_has_nodes(const struct match *m, uint32_t v)
{
    return has_nodes(m, v);
}

bool match_has_below(const struct match *m, uint32_t v, uint16_t type)
{
    return topo_sum(&m->topo, v, type) != NULL;
}

bool match_all_in_nodes(const struct match *m, uint16_t type)
{
    const struct class_sum *sum = topo_sum(&m->topo, m->topo.root, type);

    return sum && sum->in_node == sum->count;
}

/* ---- Blocks ---- */

int match_block(struct match *m, uint32_t number, uint32_t *vertices, size_t n, int64_t start,
                int64_t duration, int64_t every)
{
    struct match_block window = {vertices, n, start, duration, every};

    return match_blocks_set(m, number, &window);
}

int64_t match_block_next_change(const struct match *m, int64_t now)
{
    return match_blocks_next_change(&m->blocks, m->blocks.used, now);
}
