/* Ids: entries of those that live and of those that have ended, and outcomes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/controllers/depend_priv.h"

struct entry *depend_entry_find(const struct depend *depend, const char *id, size_t length)
{
    return (struct entry *)dict_find(&depend->ids, id, length);
}

struct entry *depend_entry_create(const char *id, uint32_t members, bool array)
{
    size_t length = strlen(id);
    struct entry *e = malloc(sizeof(*e) + members * sizeof(e->member[0]) + length + 1);
    if (!e) {
        errno = ENOMEM;
        return NULL;
    }
    *e = (struct entry){.array = array, .members = members};
    for (uint32_t i = 0; i < members; i++)
        e->member[i] = (struct member){.slot = DEPEND_NONE};
    e->id.text = memcpy(&e->member[members], id, length + 1);
    e->id.length = length;
    return e;
}

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

void depend_entry_release(struct entry *e)
{
    if (e->gone && e->refs == 0)
        free(e);
}

static void remove_ended(struct depend *depend, struct entry *e)
{
    unlink_entry(&depend->ended, e);
    depend->remembered -= e->members;
    dict_take(&depend->ids, &e->id);
    e->gone = true;
    depend_entry_release(e);
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
        depend->remembered += e->members;
        while (depend->remembered > depend->most && depend->ended.first != depend->ended.last)
            remove_ended(depend, depend->ended.first);
    } else if (e->slots == 0 && e->ended == 0) {
        depend_edges_settle(depend, &e->edges, true);
        for (uint32_t i = 0; i < e->members; i++)
            depend_edges_settle(depend, &e->member[i].edges, true);
        unlink_entry(&depend->living, e);
        dict_take(&depend->ids, &e->id);
        e->gone = true;
        depend_entry_release(e);
    }
}

bool depend_entry_has_ended(const struct entry *e, uint32_t member)
{
    return e->member[member].state >= MEMBER_FAILED;
}

int64_t depend_find(const struct depend *depend, const char *id, uint32_t member)
{
    const struct entry *e = depend_entry_find(depend, id, strlen(id));
    if (!e || member >= e->members || e->member[member].slot == DEPEND_NONE)
        return -1;
    return e->member[member].slot;
}

/* ---- Outcomes ---- */

int depend_outcome_of(struct depend *depend, const struct depend_outcome *outcome)
{
    bool array = outcome->members > 1;
    uint32_t members = array ? outcome->members : 1;
    size_t base;
    uint32_t other;
    struct entry *e = depend_entry_find(depend, outcome->id, strlen(outcome->id));
    if (outcome->id[0] == '\0' || outcome->member >= members ||
        depend_split(outcome->id, strlen(outcome->id), &base, &other) ||
        (e && (e->members != members || e->member[outcome->member].state != MEMBER_ABSENT))) {
        errno = EINVAL;
        return -1;
    }
    if (!e) {
        e = dict_reserve(&depend->ids) < 0 ? NULL
                                           : depend_entry_create(outcome->id, members, array);
        if (!e)
            return -1;
        depend_entry_add(depend, e);
    }
    e->member[outcome->member].state = outcome->ok ? MEMBER_OK : MEMBER_FAILED;
    e->started++;
    e->ended++;
    e->ok += outcome->ok;
    depend_edges_settle(depend, &e->member[outcome->member].edges, false);
    depend_edges_settle(depend, &e->edges, false);
    depend_entry_settle(depend, e);
    return 0;
}

int depend_outcome(struct depend *depend, const char *id, bool ok)
{
    return depend_outcome_of(depend, &(struct depend_outcome){id, 0, 1, ok});
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
        while (walk->member < e->members) {
            uint32_t i = walk->member++;
            if (depend_entry_has_ended(e, i)) {
                *outcome = (struct depend_outcome){e->id.text, i, e->members,
                                                   e->member[i].state == MEMBER_OK};
                return true;
            }
        }
        walk->member = 0;
        e = e->next;
    }
}
