/* Edges: what waits for what, and whether that has come. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "sched/controllers/depend_priv.h"

enum verdict depend_judge(const struct depend *depend, const struct edge *edge)
{
    const struct entry *e = edge->entry;
    uint32_t n = e->members;
    uint32_t started = e->started;
    uint32_t ended = e->ended;
    uint32_t ok = e->ok;
    uint32_t enough = e->enough;
    if (edge->member != DEPEND_ALL) {
        enum member_state state = depend_entry_state(depend, e, edge->member);
        n = enough = 1;
        started = state >= MEMBER_STARTED;
        ended = state >= MEMBER_FAILED;
        ok = state == MEMBER_OK;
    }
    switch (edge->type) {
    case DEPEND_AFTER:
        return started == n ? VERDICT_MET : VERDICT_OPEN;
    case DEPEND_AFTERANY:
        return ended == n ? VERDICT_MET : VERDICT_OPEN;
    case DEPEND_AFTEROK:
        return ended - ok > n - enough ? VERDICT_NEVER : ended == n ? VERDICT_MET : VERDICT_OPEN;
    default:
        return ended < n ? VERDICT_OPEN : ok < enough ? VERDICT_MET : VERDICT_NEVER;
    }
}

/* ---- Those that something has come of ---- */

static void unlist(struct depend *depend, struct needs *needs)
{
    struct needs_ends *ends = &depend->list[needs->list];
    if (needs->list == NEEDS_NONE)
        return;
    needs->list = NEEDS_NONE;
    *(needs->prev ? &needs->prev->next : &ends->first) = needs->next;
    *(needs->next ? &needs->next->prev : &ends->last) = needs->prev;
}

/* One that is ready, or never will be, stays so. */
static void list_needs(struct depend *depend, struct needs *needs, enum needs_list number)
{
    struct needs_ends *ends = &depend->list[number];
    if (needs->list == number || needs->list == NEEDS_READY)
        return;
    unlist(depend, needs);
    needs->list = (uint8_t)number;
    needs->prev = ends->last;
    needs->next = NULL;
    *(ends->last ? &ends->last->next : &ends->first) = needs;
    ends->last = needs;
}

void depend_needs_met(struct depend *depend, struct needs *needs)
{
    needs->unmet--;
    if (needs->unmet == 0 || !needs->never)
        list_needs(depend, needs, needs->unmet == 0 ? NEEDS_READY : NEEDS_NEARER);
}

void depend_needs_never(struct depend *depend, struct needs *needs)
{
    if (!needs->never)
        list_needs(depend, needs, NEEDS_READY);
    needs->never = true;
}

bool depend_next_nearer(struct depend *depend, uint32_t *slot)
{
    struct needs *needs = depend->list[NEEDS_NEARER].first;
    if (!needs)
        return false;
    *slot = needs->slot;
    unlist(depend, needs);
    return true;
}

bool depend_next_ready(struct depend *depend, uint32_t *slot, bool *never)
{
    struct needs *needs = depend->list[NEEDS_READY].first;
    if (!needs)
        return false;
    *slot = needs->slot;
    *never = needs->never;
    unlist(depend, needs);
    if (!needs->never) {
        depend->job[needs->slot].needs = NULL;
        depend_needs_destroy(depend, needs);
    }
    return true;
}

/* ---- Lists of edges ---- */

static struct edges *list_of(const struct edge *edge)
{
    return edge->at ? &edge->at->edges : &edge->entry->edges;
}

static void unlink_edge(struct edge *edge)
{
    struct edges *edges = list_of(edge);
    *(edge->prev ? &edge->prev->next : &edges->first) = edge->next;
    *(edge->next ? &edge->next->prev : &edges->last) = edge->prev;
}

void depend_edges_settle(struct depend *depend, struct edges *edges, bool never)
{
    struct edge *next;
    for (struct edge *edge = edges->first; edge; edge = next) {
        next = edge->next;
        enum verdict verdict = never ? VERDICT_NEVER : depend_judge(depend, edge);
        if (verdict == VERDICT_OPEN)
            continue;
        unlink_edge(edge);
        edge->at = NULL;
        edge->verdict = (uint8_t)verdict;
        if (verdict == VERDICT_MET) {
            edge->entry->refs--;
            depend_needs_met(depend, edge->needs);
        } else {
            depend_needs_never(depend, edge->needs);
        }
    }
}

/* Put an edge into its list, behind another one (NULL: first). */
static void link_edge(struct edge *edge, struct edge *prev)
{
    if (edge->verdict != VERDICT_MET)
        edge->entry->refs++;
    if (edge->verdict != VERDICT_OPEN)
        return;
    struct edges *edges = list_of(edge);
    edge->prev = prev;
    edge->next = prev ? prev->next : edges->first;
    *(prev ? &prev->next : &edges->first) = edge;
    *(edge->next ? &edge->next->prev : &edges->last) = edge;
}

void depend_needs_link(struct needs *needs)
{
    for (uint32_t i = 0; i < needs->n; i++)
        link_edge(&needs->edge[i], list_of(&needs->edge[i])->last);
}

void depend_needs_copy(struct depend *depend, struct needs *from, struct needs *to, uint32_t slot,
                       bool before)
{
    enum needs_list where = from->list;
    memcpy(to, from, sizeof(*to) + from->n * sizeof(to->edge[0]));
    to->slot = slot;
    to->list = NEEDS_NONE;
    for (uint32_t i = 0; i < to->n; i++) {
        to->edge[i].needs = to;
        link_edge(&to->edge[i], before ? from->edge[i].prev : &from->edge[i]);
    }
    if (where != NEEDS_NONE)
        list_needs(depend, to, where);
}

void depend_needs_destroy(struct depend *depend, struct needs *needs)
{
    if (!needs)
        return;
    unlist(depend, needs);
    for (uint32_t i = 0; i < needs->n; i++) {
        struct edge *edge = &needs->edge[i];
        if (edge->verdict == VERDICT_MET)
            continue;
        if (edge->verdict == VERDICT_OPEN)
            unlink_edge(edge);
        if (edge->at)
            depend_member_release(depend, edge->at);
        edge->entry->refs--;
        depend_entry_release(depend, edge->entry);
    }
    free(needs);
}

/* ---- From an expression ---- */

/* What an id means; NULL if there is no such job, or it is the job itself. */
static struct entry *find_entry_meant(const struct depend *depend, const struct depend_term *term,
                                      const char *own_id, uint32_t *member)
{
    size_t length;
    *member = DEPEND_ALL;
    bool one = depend_split(term->id, term->length, &length, member);
    if (!one)
        length = term->length;
    if (length == strlen(own_id) && memcmp(own_id, term->id, length) == 0)
        return NULL;
    struct entry *e = depend_entry_find(depend, term->id, length);
    return e && one && (!e->array || !depend_entry_has(e, *member)) ? NULL : e;
}

static int add_edge(struct depend *depend, struct needs *needs, const struct depend_term *term,
                    const char *own_id, berth_error_t *err)
{
    uint32_t member;
    if (term->type == DEPEND_SINGLETON) {
        needs->singleton = true;
        return 0;
    }
    struct entry *e = find_entry_meant(depend, term, own_id, &member);
    if (!e)
        return errtext_set(err, EINVAL, "dependency %.*s: no such job",
                           (int)(term->length < 200 ? term->length : 200), term->id);
    struct edge *edge = &needs->edge[needs->n];
    *edge =
        (struct edge){.entry = e, .needs = needs, .member = member, .type = (uint8_t)term->type};
    enum verdict verdict = depend_judge(depend, edge);
    edge->verdict = (uint8_t)verdict;
    if (verdict == VERDICT_OPEN && member != DEPEND_ALL) {
        edge->at = depend_member_find(depend, e, member);
        if (!edge->at)
            edge->at = depend_member_create(depend, e, member);
        if (!edge->at)
            return errtext_no_memory(err);
    }
    needs->n++;
    needs->unmet += verdict != VERDICT_MET;
    needs->never = needs->never || verdict == VERDICT_NEVER;
    return 0;
}

/* Free needs that are not linked yet. */
static void drop_needs(struct depend *depend, struct needs *needs)
{
    int saved = errno;
    depend_needs_link(needs);
    depend_needs_destroy(depend, needs);
    errno = saved;
}

int depend_needs_create(struct depend *depend, const char *expression, const char *own_id,
                        struct needs **needs, berth_error_t *err)
{
    struct depend_scan scan = {.text = expression};
    struct depend_term term;
    size_t terms = 0;
    int more = 0;
    *needs = NULL;
    if (!expression || expression[0] == '\0')
        return 0;
    while ((more = depend_scan(&scan, &term, err)) > 0)
        terms++;
    if (more < 0)
        return -1;
    struct needs *n = malloc(sizeof(*n) + terms * sizeof(n->edge[0]));
    if (!n)
        return errtext_no_memory(err);
    *n = (struct needs){.slot = DEPEND_NONE};
    scan = (struct depend_scan){.text = expression};
    while (depend_scan(&scan, &term, err) > 0)
        if (add_edge(depend, n, &term, own_id, err) < 0) {
            drop_needs(depend, n);
            return -1;
        }
    *needs = n;
    return 0;
}
