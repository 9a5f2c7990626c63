/* Ids: entries of those that live and of those that have ended, and outcomes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/controllers/depend_priv.h"

struct entry *depend_entry_find(const struct depend *depend, const char *id, size_t length)
{
    return (struct entry *)dict_find(&depend->ids, id, length);
}

struct entry *depend_entry_create(struct depend *depend, const char *id, uint32_t size,
                                  const struct idset *all)
{
    size_t length = strlen(id);
    struct entry *e = malloc(sizeof(*e) + length + 1);
    if (!e) {
        errno = ENOMEM;
        return NULL;
    }
    *e = (struct entry){.array = size > 1,
                        .has_all = all != NULL,
                        .number = depend->entries++,
                        .size = size,
                        .members = all ? (uint32_t)all->count : size,
                        .slot = DEPEND_NONE};
    e->enough = e->members;
    e->one = (struct member){.entry = e, .slot = DEPEND_NONE};
    if (all && idset_copy(&e->all, all) < 0) {
        free(e);
        return NULL;
    }
    e->id.text = memcpy(e + 1, id, length + 1);
    e->id.length = length;
    return e;
}

void depend_entry_free(struct depend *depend, struct entry *e)
{
    while (e->first) {
        struct member *m = e->first;
        e->first = m->next;
        dict_take(&depend->members, &m->id);
        free(m);
    }
    idset_clear(&e->all);
    idset_clear(&e->ended_ok);
    idset_clear(&e->ended_badly);
    free(e);
}

int depend_entry_reserve(struct entry *e, uint32_t more)
{
    uint64_t ends = (uint64_t)e->slots + more;
    if (!e->array)
        return 0;
    return idset_reserve(&e->ended_ok, e->ended_ok.n + ends) < 0 ||
                   idset_reserve(&e->ended_badly, e->ended_badly.n + ends + e->ranges) < 0
               ? -1
               : 0;
}

bool depend_entry_has(const struct entry *e, uint32_t member)
{
    return member < e->size && (!e->has_all || idset_has(&e->all, member));
}

enum member_state depend_entry_state(const struct depend *depend, const struct entry *e,
                                     uint32_t member)
{
    const struct member *m = depend_member_find(depend, e, member);
    if (!e->array || (m && m->slot != DEPEND_NONE))
        return m->state;
    if (idset_has(&e->ended_ok, member))
        return MEMBER_OK;
    return idset_has(&e->ended_badly, member) ? MEMBER_FAILED : MEMBER_ABSENT;
}

void depend_entry_end(struct entry *e, uint32_t member, bool ok)
{
    if (e->array) /* there is memory for it */
        idset_add(ok ? &e->ended_ok : &e->ended_badly, member);
}

/* ---- Members of arrays ---- */

struct member *depend_member_find(const struct depend *depend, const struct entry *e,
                                  uint32_t member)
{
    struct member m = {.key = {e->number, member}};
    if (!e->array)
        return (struct member *)&e->one;
    return (struct member *)dict_find(&depend->members, (const char *)&m.key, sizeof(m.key));
}

void depend_member_put(struct depend *depend, struct entry *e, uint32_t number, struct member *m)
{
    *m = (struct member){
        .key = {e->number, number}, .entry = e, .next = e->first, .slot = DEPEND_NONE};
    m->id.text = (const char *)&m->key;
    m->id.length = sizeof(m->key);
    if (m->next)
        m->next->prev = m;
    e->first = m;
    dict_put(&depend->members, &m->id);
}

struct member *depend_member_create(struct depend *depend, struct entry *e, uint32_t member)
{
    struct member *m = dict_reserve(&depend->members) < 0 ? NULL : malloc(sizeof(*m));
    if (m)
        depend_member_put(depend, e, member, m);
    else
        errno = ENOMEM;
    return m;
}

void depend_member_release(struct depend *depend, struct member *m)
{
    struct entry *e = m->entry;
    if (!e->array || m->slot != DEPEND_NONE || m->edges.first)
        return;
    *(m->prev ? &m->prev->next : &e->first) = m->next;
    if (m->next)
        m->next->prev = m->prev;
    dict_take(&depend->members, &m->id);
    free(m);
}

/* ---- Lists of entries ---- */

static void append(struct entries *list, struct entry *e)
{
    e->prev = list->last;
    e->next = NULL;
    *(list->last ? &list->last->next : &list->first) = e;
    list->last = e;
}

static void unlink_entry(struct entries *list, struct entry *e)
{
    *(e->prev ? &e->prev->next : &list->first) = e->next;
    *(e->next ? &e->next->prev : &list->last) = e->prev;
}

/* Whether all of it is over, and nothing but the outcome is left. */
static bool is_past(const struct entry *e)
{
    return e->slots == 0 && e->ended == e->members;
}

void depend_entry_release(struct depend *depend, struct entry *e)
{
    if (e->gone && e->refs == 0)
        depend_entry_free(depend, e);
}

/* How much an entry that has ended counts among those that are remembered. */
static uint64_t weight_of(const struct entry *e)
{
    return e->array ? (uint64_t)e->ended_ok.n + e->ended_badly.n : 1;
}

static void remove_ended(struct depend *depend, struct entry *e)
{
    unlink_entry(&depend->ended, e);
    depend->remembered -= weight_of(e);
    dict_take(&depend->ids, &e->id);
    e->gone = true;
    depend_entry_release(depend, e);
}

void depend_entry_add(struct depend *depend, struct entry *e)
{
    struct entry *old = depend_entry_find(depend, e->id.text, e->id.length);
    if (old)
        remove_ended(depend, old);
    dict_put(&depend->ids, &e->id);
    append(&depend->living, e);
}

void depend_entry_settle(struct depend *depend, struct entry *e)
{
    if (is_past(e)) {
        unlink_entry(&depend->living, e);
        append(&depend->ended, e);
        depend->remembered += weight_of(e);
        while (depend->remembered > depend->most && depend->ended.first != depend->ended.last)
            remove_ended(depend, depend->ended.first);
    } else if (e->slots == 0 && e->ended == 0) {
        depend_edges_settle(depend, &e->edges, true);
        depend_edges_settle(depend, &e->one.edges, true);
        for (struct member *m = e->first, *next; m; m = next) {
            next = m->next;
            depend_edges_settle(depend, &m->edges, true);
            depend_member_release(depend, m);
        }
        unlink_entry(&depend->living, e);
        dict_take(&depend->ids, &e->id);
        e->gone = true;
        depend_entry_release(depend, e);
    }
}

int64_t depend_find(const struct depend *depend, const char *id, uint32_t member)
{
    const struct entry *e = depend_entry_find(depend, id, strlen(id));
    if (!e || !depend_entry_has(e, member))
        return -1;
    const struct member *m = depend_member_find(depend, e, member);
    if (m && m->slot != DEPEND_NONE)
        return m->slot;
    bool waits = e->slot != DEPEND_NONE && depend_entry_state(depend, e, member) == MEMBER_ABSENT;
    return waits ? (int64_t)e->slot : -1;
}

int64_t depend_find_any(const struct depend *depend, const char *id)
{
    const struct entry *e = depend_entry_find(depend, id, strlen(id));
    if (!e || e->slot != DEPEND_NONE)
        return e ? (int64_t)e->slot : -1;
    for (const struct member *m = e->array ? e->first : &e->one; m; m = m->next)
        if (m->slot != DEPEND_NONE)
            return m->slot;
    return -1;
}

/* ---- Outcomes ---- */

static bool is_outcome_wrong(const struct depend *depend, const struct entry *e, const char *id,
                             uint32_t size)
{
    size_t base;
    uint32_t other;
    (void)depend;
    return id[0] == '\0' || depend_split(id, strlen(id), &base, &other) || (e && e->size != size);
}

/* The entry of an id, perhaps a new one. NULL with ENOMEM. */
static struct entry *entry_for(struct depend *depend, struct entry *e, const char *id,
                               uint32_t size, const struct idset *all)
{
    if (e)
        return e;
    e = dict_reserve(&depend->ids) < 0 ? NULL : depend_entry_create(depend, id, size, all);
    if (e)
        depend_entry_add(depend, e);
    return e;
}

int depend_outcome_of(struct depend *depend, const struct depend_outcome *outcome)
{
    uint32_t size = outcome->members > 1 ? outcome->members : 1, i = outcome->member;
    struct entry *e = depend_entry_find(depend, outcome->id, strlen(outcome->id));
    if (is_outcome_wrong(depend, e, outcome->id, size) || i >= size ||
        (e && (!depend_entry_has(e, i) || depend_entry_state(depend, e, i) != MEMBER_ABSENT))) {
        errno = EINVAL;
        return -1;
    }
    e = entry_for(depend, e, outcome->id, size, NULL);
    if (!e || depend_entry_reserve(e, 1) < 0)
        return -1;
    struct member *m = depend_member_find(depend, e, i);
    depend_entry_end(e, i, outcome->ok);
    e->started++;
    e->ended++;
    e->ok += outcome->ok;
    if (m) {
        m->state = outcome->ok ? MEMBER_OK : MEMBER_FAILED;
        depend_edges_settle(depend, &m->edges, false);
        depend_member_release(depend, m);
    }
    depend_edges_settle(depend, &e->edges, false);
    depend_entry_settle(depend, e);
    return 0;
}

static bool is_within(const struct depend_outcomes *o, const struct idset *set)
{
    return o->all ? idset_covers(o->all, set) : set->n == 0 || idset_last(set) < o->size;
}

int depend_outcomes(struct depend *depend, const struct depend_outcomes *o)
{
    struct entry *e = depend_entry_find(depend, o->id, strlen(o->id));
    if (e || is_outcome_wrong(depend, e, o->id, o->size) || o->size < 2 || !is_within(o, o->ok) ||
        !is_within(o, o->badly) || idset_meets(o->ok, o->badly) || o->ok->n + o->badly->n == 0) {
        errno = EINVAL;
        return -1;
    }
    e = dict_reserve(&depend->ids) < 0 ? NULL : depend_entry_create(depend, o->id, o->size, o->all);
    if (!e)
        return -1;
    if (idset_copy(&e->ended_ok, o->ok) < 0 || idset_copy(&e->ended_badly, o->badly) < 0) {
        depend_entry_free(depend, e);
        return -1;
    }
    depend_entry_add(depend, e);
    e->ok = (uint32_t)o->ok->count;
    e->started = e->ended = e->ok + (uint32_t)o->badly->count;
    depend_entry_settle(depend, e);
    return 0;
}

int depend_outcome(struct depend *depend, const char *id, bool ok)
{
    return depend_outcome_of(depend, &(struct depend_outcome){id, 0, 1, ok});
}

/* The next member from `from` on that has ended; IDSET_NONE. */
static uint32_t next_ended(const struct entry *e, uint32_t from, bool *ok)
{
    if (!e->array) {
        *ok = e->one.state == MEMBER_OK;
        return from == 0 && e->one.state >= MEMBER_FAILED ? 0 : IDSET_NONE;
    }
    uint32_t good = idset_has(&e->ended_ok, from) ? from : idset_next(&e->ended_ok, from);
    uint32_t bad = idset_has(&e->ended_badly, from) ? from : idset_next(&e->ended_badly, from);
    *ok = good < bad;
    return *ok ? good : bad;
}

bool depend_next_outcome(const struct depend *depend, struct depend_walk *walk,
                         struct depend_outcome *outcome)
{
    if (!walk->entry && walk->living)
        return false;
    const struct entry *e = walk->entry;
    if (!e)
        e = depend->ended.first;
    for (;;) {
        if (!e && !walk->living) {
            walk->living = true;
            e = depend->living.first;
        }
        walk->entry = e;
        if (!e)
            return false;
        bool ok;
        uint32_t i = next_ended(e, walk->member, &ok);
        if (i != IDSET_NONE) {
            walk->member = i + 1;
            *outcome = (struct depend_outcome){e->id.text, i, e->size, ok};
            return true;
        }
        walk->member = 0;
        e = e->next;
    }
}
