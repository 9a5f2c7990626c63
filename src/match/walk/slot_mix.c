#include "match/walk/slot_mix.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void slot_mixes_clear(struct slot_mixes *m)
{
    free(m->v);
    free(m->amount);
    free(m->place);
    *m = (struct slot_mixes){0};
}

static uint64_t hash_amounts(uint32_t set, const uint32_t *amounts, uint32_t types)
{
    uint64_t h = set;

    for (uint32_t i = 0; i < types; i++) {
        h = (h ^ amounts[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

/* Where in the table the amounts are, or belong. */
static uint32_t amounts_slot(const struct slot_mixes *m, uint32_t set, const uint32_t *amounts,
                             uint32_t types)
{
    uint32_t mask = m->places - 1;
    uint32_t i = (uint32_t)(hash_amounts(set, amounts, types) >> 16) & mask;

    for (; m->place[i] > 0; i = (i + 1) & mask) {
        const struct slot_mix *x = &m->v[m->place[i] - 1];
        if (x->set == set && x->types == types &&
            memcmp(m->amount + x->amounts, amounts, types * sizeof(*amounts)) == 0)
            break;
    }
    return i;
}

static int widen_table(struct slot_mixes *m)
{
    uint32_t *before = m->place;
    uint32_t places = m->places ? 2 * m->places : 64;

    m->place = calloc(places, sizeof(*m->place));
    if (!m->place) {
        m->place = before;
        return -1;
    }
    m->places = places;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct slot_mix *x = &m->v[i];
        m->place[amounts_slot(m, x->set, m->amount + x->amounts, x->types)] = i + 1;
    }
    free(before);
    return 0;
}

/* Room for one more mix. */
static int reserve_mix(struct slot_mixes *m, uint32_t types)
{
    if (m->n == m->capacity) {
        uint32_t capacity = m->capacity ? 2 * m->capacity : 32;
        struct slot_mix *v = reallocarray(m->v, capacity, sizeof(*v));
        if (!v)
            return -1;
        m->v = v;
        m->capacity = capacity;
    }
    if (m->amounts_capacity - m->amounts < types) {
        size_t capacity = 2 * m->amounts_capacity + 4 * (size_t)types;
        uint32_t *amount = reallocarray(m->amount, capacity, sizeof(*amount));
        if (!amount)
            return -1;
        m->amount = amount;
        m->amounts_capacity = capacity;
    }
    return 2 * (m->n + 1) > m->places ? widen_table(m) : 0;
}

/* The mix for amounts, with nothing tried if they are new. */
static int find_or_add(struct slot_mixes *m, uint32_t set, uint32_t n, const uint32_t *amounts,
                       uint32_t types, uint32_t *found)
{
    if (reserve_mix(m, types) < 0)
        return -1;
    uint32_t place = amounts_slot(m, set, amounts, types);
    if (m->place[place] > 0) {
        *found = m->place[place] - 1;
        return 0;
    }
    m->effort += (uint64_t)n * (types + 1);
    if (m->effort > SLOT_MIX_EFFORT_MAX) {
        errno = EOVERFLOW;
        return -1;
    }
    m->v[m->n] = (struct slot_mix){.choice = SLOT_MIX_NONE,
                                   .next = SLOT_MIX_NONE,
                                   .set = set,
                                   .types = types,
                                   .amounts = m->amounts,
                                   .waiting = SLOT_MIX_NONE};
    memcpy(m->amount + m->amounts, amounts, types * sizeof(*amounts));
    m->amounts += types;
    *found = m->n++;
    m->place[place] = *found + 1;
    return 0;
}

/* What is left of amounts after one slot; false if they aren't enough. */
static bool subtract_slot(const struct slot_mix_option *slot, const uint32_t *amounts,
                          uint32_t types, uint32_t *left)
{
    memcpy(left, amounts, types * sizeof(*left));
    for (uint32_t i = 0; i < slot->n; i++) {
        uint32_t type = slot->need[i].type;
        uint32_t count = jobspec_calc_count(slot->need[i].count, amounts[type]);
        if (count == 0 || count > left[type])
            return false;
        left[type] -= count;
    }
    return slot->n > 0;
}

/* Amounts only shrink, so a mix never waits for itself. */
int slot_mixes_find(struct slot_mixes *m, uint32_t set, const struct slot_mix_option *slots,
                    uint32_t n, const uint32_t *amounts, uint32_t types, uint32_t *best)
{
    uint32_t left[JOBSPEC_TYPES_MAX], at, next;

    if (types > JOBSPEC_TYPES_MAX) {
        errno = EOVERFLOW;
        return -1;
    }
    if (find_or_add(m, set, n, amounts, types, best) < 0)
        return -1;
    m->v[*best].waiting = SLOT_MIX_NONE;
    for (at = *best; at != SLOT_MIX_NONE;) {
        const struct slot_mix *x = &m->v[at];
        if (x->tried == n) {
            at = x->waiting;
            continue;
        }
        if (!subtract_slot(&slots[x->tried], m->amount + x->amounts, types, left)) {
            m->v[at].tried++;
            continue;
        }
        if (find_or_add(m, set, n, left, types, &next) < 0)
            return -1;
        if (m->v[next].tried < n) {
            m->v[next].waiting = at;
            at = next;
            continue;
        }
        struct slot_mix *settled = &m->v[at];
        if (m->v[next].slots + 1 > settled->slots) {
            settled->slots = m->v[next].slots + 1;
            settled->choice = settled->tried;
            settled->next = next;
        }
        settled->tried++;
    }
    return 0;
}
