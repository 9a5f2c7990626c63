/* Whether all of depend.h's structures are in order. */
#include "sched/controllers/depend_priv.h"

/* All of the list's edges are open, lead here, and nothing has come yet that settles them. */
static bool check_edges(const struct depend *depend, const struct edges *edges,
                        const struct entry *e, const struct member *at, uint64_t *open)
{
    const struct edge *prev = NULL;
    for (const struct edge *edge = edges->first; edge; edge = edge->next) {
        if (edge->prev != prev || edge->entry != e || edge->at != at ||
            edge->member != (at ? (uint32_t)at->key.member : DEPEND_ALL) ||
            edge->verdict != VERDICT_OPEN || depend_judge(depend, edge) != VERDICT_OPEN)
            return false;
        prev = edge;
        (*open)++;
    }
    return edges->last == prev;
}

/* What is known of one member: it has a slot, or is led to. */
static bool check_member(const struct depend *depend, const struct entry *e, const struct member *m,
                         uint64_t *open)
{
    if (m->slot == DEPEND_NONE)
        return check_edges(depend, &m->edges, e, e->array ? m : NULL, open) &&
               (!e->array || m->edges.first);
    return m->slot < depend->jobs && depend->job[m->slot].entry == e &&
           depend->job[m->slot].member == m && m->state != MEMBER_ABSENT &&
           check_edges(depend, &m->edges, e, e->array ? m : NULL, open);
}

/* What an array's members have come to. */
static bool check_array(const struct depend *depend, const struct entry *e, uint64_t *open)
{
    uint32_t started = 0, ended = 0, slots = e->slot != DEPEND_NONE;
    for (const struct member *m = e->first; m; m = m->next) {
        if (!check_member(depend, e, m, open) || !depend_entry_has(e, (uint32_t)m->key.member) ||
            depend_member_find(depend, e, (uint32_t)m->key.member) != m ||
            (m->next && m->next->prev != m))
            return false;
        started += m->slot != DEPEND_NONE && m->state == MEMBER_STARTED;
        slots += m->slot != DEPEND_NONE;
        ended += m->slot != DEPEND_NONE && m->state >= MEMBER_FAILED;
    }
    uint32_t to_end = slots - ended;
    return started + e->ended == e->started && slots == e->slots && e->ended_ok.count == e->ok &&
           e->ended_badly.count == e->ended - e->ok &&
           !idset_meets(&e->ended_ok, &e->ended_badly) && idset_check(&e->ended_ok) &&
           idset_check(&e->ended_badly) && e->ended_ok.cap >= e->ended_ok.n + to_end &&
           e->ended_badly.cap >= e->ended_badly.n + to_end + e->ranges &&
           (e->has_all ? e->all.count == e->members : e->members == e->size) &&
           (e->slot == DEPEND_NONE ||
            (depend->job[e->slot].entry == e && !depend->job[e->slot].member));
}

static bool check_one(const struct depend *depend, const struct entry *e, uint64_t *open)
{
    const struct member *m = &e->one;
    return check_member(depend, e, m, open) && !e->first && e->members == 1 &&
           e->started == (m->state >= MEMBER_STARTED) && e->ended == (m->state >= MEMBER_FAILED) &&
           e->ok == (m->state == MEMBER_OK) && e->slots == (m->slot != DEPEND_NONE);
}

static bool check_depend_entry(const struct depend *depend, const struct entry *e, uint64_t *open,
                               uint64_t *slots)
{
    *slots += e->slots;
    return check_edges(depend, &e->edges, e, NULL, open) && !e->gone && e->array == (e->size > 1) &&
           (e->array ? check_array(depend, e, open) : check_one(depend, e, open)) &&
           depend_entry_find(depend, e->id.text, e->id.length) == e;
}

static bool check_entries(const struct depend *depend, uint64_t *open, uint64_t *slots)
{
    const struct entry *prev = NULL;
    size_t n = 0;
    uint64_t remembered = 0;
    for (const struct entry *e = depend->living.first; e; prev = e, e = e->next, n++)
        if (e->prev != prev || (e->slots == 0 && (e->ended == 0 || e->ended == e->members)) ||
            !check_depend_entry(depend, e, open, slots))
            return false;
    if (depend->living.last != prev)
        return false;
    prev = NULL;
    for (const struct entry *e = depend->ended.first; e; prev = e, e = e->next, n++) {
        if (e->prev != prev || e->slots > 0 || e->ended < e->members ||
            !check_depend_entry(depend, e, open, slots))
            return false;
        remembered += e->array ? (uint64_t)e->ended_ok.n + e->ended_badly.n : 1;
    }
    return depend->ended.last == prev && n == depend->ids.n && remembered == depend->remembered;
}

static bool has_others_before(const struct depend *depend, uint32_t slot)
{
    uint32_t i = slot;
    while (i != DEPEND_NONE && depend->job[i].entry == depend->job[slot].entry)
        i = depend->job[i].row_prev;
    return i != DEPEND_NONE;
}

static bool check_needs(const struct depend *depend, uint32_t slot, uint64_t *open,
                        uint64_t *listed)
{
    const struct needs *needs = depend->job[slot].needs;
    const struct row *row = depend->job[slot].row;
    bool never = false;
    if (!needs)
        return true;
    uint32_t unmet = needs->singleton;
    for (uint32_t i = 0; i < needs->n; i++) {
        const struct edge *edge = &needs->edge[i];
        unmet += edge->verdict != VERDICT_MET;
        never = never || edge->verdict == VERDICT_NEVER;
        *open += edge->verdict == VERDICT_OPEN;
        if (edge->needs != needs || (edge->verdict != VERDICT_MET && edge->entry->refs == 0))
            return false;
    }
    *listed += needs->list != NEEDS_NONE;
    return needs->slot == slot && unmet == needs->unmet && never == needs->never &&
           (!needs->singleton || (row && has_others_before(depend, slot))) &&
           (unmet > 0 || needs->list != NEEDS_NONE);
}

static bool check_apart(const struct depend *depend, const struct row *row)
{
    uint32_t apart = 0;
    for (uint32_t i = depend->job[row->first].row_next; i != DEPEND_NONE;
         i = depend->job[i].row_next)
        apart += depend->job[i].entry != depend->job[depend->job[i].row_prev].entry;
    return apart == row->apart;
}

/* A job of a row stands between those that it says, and its row is in the table. */
static bool check_row(const struct depend *depend, uint32_t slot)
{
    const struct job *job = &depend->job[slot];
    const struct row *row = job->row;
    if (!row)
        return true;
    const struct job *prev = job->row_prev == DEPEND_NONE ? NULL : &depend->job[job->row_prev];
    const struct job *next = job->row_next == DEPEND_NONE ? NULL : &depend->job[job->row_next];
    return !(job->member && job->member->state >= MEMBER_FAILED) &&
           (prev ? prev->row == row && prev->row_next == slot : row->first == slot) &&
           (next ? next->row == row && next->row_prev == slot : row->last == slot) &&
           (prev || check_apart(depend, row)) &&
           dict_find(&depend->rows, row->name.text, row->name.length) == &row->name;
}

bool depend_check(const struct depend *depend)
{
    uint64_t edges = 0, open = 0, slots = 0, jobs = 0, listed = 0, ready = 0;
    if (!dict_check(&depend->ids) || !dict_check(&depend->rows) || !dict_check(&depend->members) ||
        !check_entries(depend, &edges, &slots))
        return false;
    for (uint32_t i = 0; i < depend->jobs; i++) {
        const struct job *job = &depend->job[i];
        jobs += job->entry != NULL;
        uint32_t slot = !job->entry ? i : job->member ? job->member->slot : job->entry->slot;
        if (slot != i || (!job->entry && (job->row || job->needs)))
            return false;
        if (!check_needs(depend, i, &open, &listed) || !check_row(depend, i))
            return false;
    }
    for (uint8_t k = NEEDS_READY; k <= NEEDS_NEARER; k++) {
        const struct needs *prev = NULL;
        for (const struct needs *needs = depend->list[k].first; needs;
             prev = needs, needs = needs->next, ready++)
            if (needs->list != k || needs->prev != prev)
                return false;
        if (depend->list[k].last != prev)
            return false;
    }
    return edges == open && slots == jobs && listed == ready;
}
