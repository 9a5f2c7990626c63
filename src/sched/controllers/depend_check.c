/* Whether all of depend.h's structures are in order. */
#include "sched/controllers/depend_priv.h"

/* All of the list's edges are open, lead here, and nothing has come yet that settles them. */
static bool check_edges(const struct edges *edges, const struct entry *e, uint32_t member,
                        uint64_t *open)
{
    const struct edge *prev = NULL;
    for (const struct edge *edge = edges->first; edge; edge = edge->next) {
        if (edge->prev != prev || edge->entry != e || edge->member != member ||
            edge->verdict != VERDICT_OPEN || depend_judge(edge) != VERDICT_OPEN)
            return false;
        prev = edge;
        (*open)++;
    }
    return edges->last == prev;
}

static bool check_entry(const struct depend *depend, const struct entry *e, uint64_t *open,
                        uint64_t *slots)
{
    uint32_t started = 0, ended = 0, ok = 0, with_slot = 0;
    for (uint32_t i = 0; i < e->members; i++) {
        const struct member *m = &e->member[i];
        started += m->state >= MEMBER_STARTED;
        ended += m->state >= MEMBER_FAILED;
        ok += m->state == MEMBER_OK;
        if (m->slot != DEPEND_NONE) {
            const struct job *job = &depend->job[m->slot];
            if (m->slot >= depend->jobs || job->entry != e || job->member != i ||
                m->state == MEMBER_ABSENT)
                return false;
            with_slot++;
        }
        if (!check_edges(&m->edges, e, i, open))
            return false;
    }
    *slots += with_slot;
    return check_edges(&e->edges, e, DEPEND_ALL, open) && !e->gone &&
           e->array == (e->members > 1) && started == e->started && ended == e->ended &&
           ok == e->ok && with_slot == e->slots &&
           depend_entry_find(depend, e->id.text, e->id.length) == e;
}

static bool check_entries(const struct depend *depend, uint64_t *open, uint64_t *slots)
{
    const struct entry *prev = NULL;
    size_t n = 0;
    uint64_t remembered = 0;
    for (const struct entry *e = depend->living.first; e; prev = e, e = e->next, n++)
        if (e->prev != prev || (e->slots == 0 && (e->ended == 0 || e->ended == e->members)) ||
            !check_entry(depend, e, open, slots))
            return false;
    if (depend->living.last != prev)
        return false;
    prev = NULL;
    for (const struct entry *e = depend->ended.first; e; prev = e, e = e->next, n++) {
        if (e->prev != prev || e->slots > 0 || e->ended < e->members ||
            !check_entry(depend, e, open, slots))
            return false;
        remembered += e->members;
    }
    return depend->ended.last == prev && n == depend->ids.n && remembered == depend->remembered;
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
           (!needs->singleton || (row && row->first != slot)) &&
           (unmet > 0 || needs->list != NEEDS_NONE);
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
    return !depend_entry_has_ended(job->entry, job->member) &&
           (prev ? prev->row == row && prev->row_next == slot : row->first == slot) &&
           (next ? next->row == row && next->row_prev == slot : row->last == slot) &&
           dict_find(&depend->rows, row->name.text, row->name.length) == &row->name;
}

bool depend_check(const struct depend *depend)
{
    uint64_t edges = 0, open = 0, slots = 0, jobs = 0, listed = 0, ready = 0;
    if (!dict_check(&depend->ids) || !dict_check(&depend->rows) ||
        !check_entries(depend, &edges, &slots))
        return false;
    for (uint32_t i = 0; i < depend->jobs; i++) {
        const struct job *job = &depend->job[i];
        jobs += job->entry != NULL;
        if (job->entry ? job->entry->member[job->member].slot != i : job->row || job->needs)
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
