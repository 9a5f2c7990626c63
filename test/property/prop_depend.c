/* Dependencies against a list of jobs that is gone through for every question: random jobs, arrays,
 * expressions and events, ids that are used again, submissions that are taken back; and now and then all of
 * it is saved and restored elsewhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "sched/controllers/depend.h"

#define IDS     12
#define GROUPS  4000 /* submissions of a round, at most */
#define MEMBERS 4
#define TERMS   5
#define SLOTS   64
#define STEPS   1500
#define ROUNDS  60

enum state { ABSENT, WAITING, STARTED, FAILED, OK };
enum verdict { OPEN, MET, NEVER };

static const char *const type_names[] = {"after", "afterany", "afterok", "afternotok"};

struct term {
    int type;
    uint32_t group;
    int64_t member; /* -1: all */
    enum verdict verdict;
};

struct member {
    enum state state;
    bool there; /* not forgotten */
    bool singleton;
    bool told; /* that it is ready, or will never be */
    uint32_t slot;
    uint64_t order;
    struct term term[TERMS];
    size_t terms;
};

/* A submission: a job, or an array. */
struct group {
    uint32_t id, user, name;
    bool named;
    uint32_t members;
    uint32_t enough; /* so many that end well are as good as all */
    struct member member[MEMBERS];
};

struct world {
    struct random random;
    struct depend *depend;
    struct group *group;
    uint32_t groups;
    uint64_t order;
    bool taken[SLOTS];
};

static uint64_t below(struct world *w, uint64_t n)
{
    return random_next(&w->random) % n;
}

static const char *id_text(uint32_t id)
{
    static const char *const texts[IDS] = {"a", "b",  "c",   "d", "e",         "f",
                                           "g", "x[", "[1]", "]", "\xc6\x92x", "123"};
    return texts[id];
}

/* ---- The model ---- */

/* Whether anything of a submission is there, or remembered. */
static bool is_known(const struct group *g)
{
    for (uint32_t i = 0; i < g->members; i++)
        if (g->member[i].there || g->member[i].state >= FAILED)
            return true;
    return false;
}

/* The submission that an id means now: the latest, or none (-1) if that was taken back. */
static int64_t find(const struct world *w, uint32_t id)
{
    int64_t i = (int64_t)w->groups - 1;
    while (i >= 0 && w->group[i].id != id)
        i--;
    return i >= 0 && is_known(&w->group[i]) ? i : -1;
}

/* A submission of which something is still there, or to come. */
static bool lives(const struct group *g)
{
    for (uint32_t i = 0; i < g->members; i++)
        if (g->member[i].there || g->member[i].state < FAILED)
            return true;
    return false;
}

static enum verdict judge(const struct world *w, const struct term *t)
{
    const struct group *g = &w->group[t->group];
    uint32_t n = 0, started = 0, ended = 0, ok = 0;
    uint32_t enough = t->member >= 0 ? 1 : g->enough;
    for (uint32_t i = 0; i < g->members; i++) {
        if (t->member >= 0 && t->member != i)
            continue;
        enum state state = g->member[i].state;
        n++;
        started += state >= STARTED;
        ended += state >= FAILED;
        ok += state == OK;
    }
    if (!is_known(g))
        return NEVER;
    switch (t->type) {
    case 0:
        return started == n ? MET : OPEN;
    case 1:
        return ended == n ? MET : OPEN;
    case 2:
        return ended - ok > n - enough ? NEVER : ended == n ? MET : OPEN;
    default:
        return ended < n ? OPEN : ok < enough ? MET : NEVER;
    }
}

static bool is_singly_barred(const struct world *w, const struct group *own, const struct member *m)
{
    for (uint32_t i = 0; m->singleton && own->named && i < w->groups; i++) {
        const struct group *g = &w->group[i];
        for (uint32_t k = 0; k < g->members; k++)
            if (g != own && g->named && g->user == own->user && g->name == own->name &&
                g->member[k].there && g->member[k].state < FAILED && g->member[k].order < m->order)
                return true;
    }
    return false;
}

/* What has been decided of a term stays. */
static void judge_all(struct world *w)
{
    for (uint32_t i = 0; i < w->groups; i++)
        for (uint32_t k = 0; k < w->group[i].members; k++) {
            struct member *m = &w->group[i].member[k];
            for (size_t t = 0; m->there && m->state == WAITING && t < m->terms; t++)
                if (m->term[t].verdict == OPEN)
                    m->term[t].verdict = judge(w, &m->term[t]);
        }
}

static bool waits(const struct world *w, const struct group *g, const struct member *m, bool *never)
{
    bool open = is_singly_barred(w, g, m);
    *never = false;
    for (size_t t = 0; t < m->terms; t++) {
        open = open || m->term[t].verdict != MET;
        *never = *never || m->term[t].verdict == NEVER;
    }
    return open;
}

/* ---- Both ---- */

static void check_reason(struct world *w, const struct group *g, const struct member *m)
{
    char expected[200] = "", found[SCHED_REASON_TEXT];
    int said = 0;
    size_t at = 0;
    bool never;
    bool open = waits(w, g, m, &never);
    for (size_t t = 0; t < m->terms; t++) {
        const struct term *term = &m->term[t];
        if (never ? term->verdict != NEVER || said > 0 : term->verdict == MET)
            continue;
        if (said++ >= SCHED_REASON_JOBS)
            continue;
        at += (size_t)sprintf(expected + at, "%s%s", said == 1 ? "dependency " : ",",
                              id_text(w->group[term->group].id));
        if (term->member >= 0)
            at += (size_t)sprintf(expected + at, "[%d]", (int)term->member);
    }
    if (never)
        at += (size_t)sprintf(expected + at, ": never met");
    else if (open && said + is_singly_barred(w, g, m) > SCHED_REASON_JOBS)
        at += (size_t)sprintf(expected + at, ",...");
    else if (open && is_singly_barred(w, g, m))
        at += (size_t)sprintf(expected + at, "%ssingleton", said ? "," : "dependency ");
    struct sched_reason reason;
    depend_reason(w->depend, m->slot, &reason);
    assert_true(at < SCHED_REASON_TEXT);
    assert_string_equal(sched_reason_text(&reason, found), expected);
    assert_int_equal(depend_waits(w->depend, m->slot), open);
}

static struct member *at_slot(struct world *w, uint32_t slot, struct group **group)
{
    for (uint32_t i = 0; i < w->groups; i++)
        for (uint32_t k = 0; k < w->group[i].members; k++) {
            if (!w->group[i].member[k].there || w->group[i].member[k].slot != slot)
                continue;
            *group = &w->group[i];
            return &w->group[i].member[k];
        }
    fail_msg("nobody is in slot %u", (unsigned)slot);
    return NULL;
}

/* All who became ready are told of, once, and nobody else. */
static void drain(struct world *w)
{
    uint32_t slot;
    bool never, is_never;
    struct group *g = NULL;
    while (depend_next_ready(w->depend, &slot, &never)) {
        struct member *m = at_slot(w, slot, &g);
        assert_false(m->told);
        assert_int_equal(waits(w, g, m, &is_never), never);
        assert_int_equal(is_never, never);
        m->told = true;
    }
    for (uint32_t i = 0; i < w->groups; i++)
        for (uint32_t k = 0; k < w->group[i].members; k++) {
            struct member *m = &w->group[i].member[k];
            if (m->there && m->state == WAITING && !m->told)
                assert_true(waits(w, &w->group[i], m, &is_never) && !is_never);
        }
}

static uint32_t free_slot(struct world *w)
{
    uint32_t slot = (uint32_t)below(w, SLOTS);
    while (w->taken[slot])
        slot = (slot + 1) % SLOTS;
    w->taken[slot] = true;
    return slot;
}

/* A random expression about what is there, and the same as terms. */
static void make_expression(struct world *w, struct member *m, uint32_t own, char *text)
{
    int type = -1;
    size_t n = below(w, 3) ? below(w, TERMS + 1) : 0;
    text[0] = '\0';
    m->terms = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t id = (uint32_t)below(w, IDS);
        int64_t group = find(w, id);
        if (group < 0 || id == own)
            continue;
        if (type < 0 || below(w, 2)) {
            type = (int)below(w, 4);
            sprintf(text + strlen(text), "%s%s", text[0] ? "," : "", type_names[type]);
        }
        struct term *t = &m->term[m->terms++];
        *t = (struct term){.type = type, .group = (uint32_t)group, .member = -1};
        sprintf(text + strlen(text), ":%s", id_text(id));
        if (w->group[group].members > 1 && below(w, 2)) {
            t->member = (int64_t)below(w, w->group[group].members);
            sprintf(text + strlen(text), "[%d]", (int)t->member);
        }
        t->verdict = judge(w, t);
    }
    m->singleton = below(w, 4) == 0;
    if (m->singleton)
        sprintf(text + strlen(text), "%ssingleton", text[0] ? "," : "");
}

static int enter(struct world *w, const struct group *g, uint32_t member, const char *expression)
{
    static const char *const names[] = {"u", "v", "n", "m"};
    int rc = depend_job(w->depend, g->member[member].slot, id_text(g->id), member, g->members,
                        names[g->user], g->named ? names[2 + g->name] : NULL, expression, NULL);
    if (rc == 0)
        depend_enough(w->depend, id_text(g->id), g->enough);
    return rc;
}

static void submit(struct world *w)
{
    struct group g = {.id = (uint32_t)below(w, IDS)};
    struct member first = {.state = WAITING, .there = true};
    char text[200];
    size_t taken = 0;
    int64_t old = find(w, g.id);
    g.user = (uint32_t)below(w, 2);
    for (size_t i = 0; i < SLOTS; i++)
        taken += w->taken[i];
    if (taken + MEMBERS > SLOTS || w->groups == GROUPS)
        return;
    g.named = below(w, 2);
    g.name = (uint32_t)below(w, 2);
    g.members = below(w, 3) ? 1 : 2 + (uint32_t)below(w, MEMBERS - 1);
    g.enough = below(w, 2) ? g.members : 1 + (uint32_t)below(w, g.members);
    if (old >= 0 && lives(&w->group[old])) {
        g.member[0].slot = SLOTS;
        errno = 0;
        bool joins = w->group[old].members == g.members && w->group[old].member[0].state == ABSENT;
        if (!joins)
            assert_true(enter(w, &g, 0, NULL) < 0 && errno == EINVAL);
        return;
    }
    make_expression(w, &first, g.id, text);
    for (uint32_t i = 0; i < g.members; i++) {
        g.member[i] = first;
        g.member[i].order = w->order++;
        g.member[i].slot = free_slot(w);
        assert_int_equal(enter(w, &g, i, text), 0);
    }
    w->group[w->groups++] = g;
    for (uint32_t i = 0; i < g.members; i++) { /* who waits for nobody is not told so */
        bool never;
        struct member *m = &w->group[w->groups - 1].member[i];
        m->told = !waits(w, &w->group[w->groups - 1], m, &never);
    }
}

static void forget(struct world *w, struct member *m)
{
    if (m->state < FAILED)
        m->state = ABSENT;
    m->there = false;
    w->taken[m->slot] = false;
    depend_forget(w->depend, m->slot);
}

/* Whose member was taken back is not there, and what leads to that will never be met. */
static void forbid(struct world *w, const struct group *g, const struct member *m)
{
    for (uint32_t i = 0; i < w->groups; i++)
        for (uint32_t k = 0; k < w->group[i].members; k++) {
            struct member *other = &w->group[i].member[k];
            for (size_t t = 0; t < other->terms; t++) {
                struct term *term = &other->term[t];
                if (term->verdict == OPEN && &w->group[term->group] == g &&
                    term->member == m - g->member)
                    term->verdict = NEVER;
            }
        }
}

static void event(struct world *w, struct group *g, struct member *m)
{
    switch (below(w, 8)) {
    case 0:
    case 1:
    case 2:
        depend_started(w->depend, m->slot);
        m->state = m->state == WAITING ? STARTED : m->state;
        m->told = true; /* and whatever it waited for is of no matter */
        m->terms = 0;
        m->singleton = false;
        break;
    case 3:
        depend_requeued(w->depend, m->slot);
        m->state = m->state == STARTED ? WAITING : m->state;
        break;
    case 4:
        if (below(w, 6) == 0) {
            bool taken_back = m->state < FAILED;
            forget(w, m);
            if (taken_back)
                forbid(w, g, m);
        }
        break;
    default:
        if (m->state < FAILED) {
            m->state = below(w, 3) ? OK : FAILED;
            depend_ended(w->depend, m->slot, m->state == OK);
        }
        m->told = true;
        m->terms = 0;
        m->singleton = false;
        if (below(w, 4))
            forget(w, m);
    }
}

/* ---- Saving and restoring ---- */

/* All but those that have ended are entered anew in the order of their submission. */
static void restore_jobs(struct world *w, struct depend *from)
{
    bool is_new[SLOTS] = {false};
    for (uint64_t order = 0; order < w->order; order++)
        for (uint32_t i = 0; i < w->groups; i++)
            for (uint32_t k = 0; k < w->group[i].members; k++) {
                struct member *m = &w->group[i].member[k];
                struct strbuf text = {0};
                if (m->order != order || !m->there)
                    continue;
                if (m->state >= FAILED) {
                    m->there = false;
                    continue;
                }
                depend_expression(from, m->slot, &text);
                do
                    m->slot = (uint32_t)below(w, SLOTS);
                while (is_new[m->slot]);
                is_new[m->slot] = true;
                assert_int_equal(enter(w, &w->group[i], k, strbuf_text(&text)), 0);
                strbuf_clear(&text);
                if (m->state == STARTED)
                    depend_started(w->depend, m->slot);
            }
    memcpy(w->taken, is_new, sizeof(is_new));
}

static void restore(struct world *w)
{
    struct depend *from = w->depend;
    struct depend_walk walk = {0};
    struct depend_outcome outcome;
    bool never;
    for (uint32_t i = 0; i < w->groups; i++)
        for (uint32_t k = 0; k < w->group[i].members; k++) {
            struct member *m = &w->group[i].member[k];
            if (m->there && waits(w, &w->group[i], m, &never) && never)
                return;
            if (!m->there && m->state == ABSENT && lives(&w->group[i]) &&
                find(w, w->group[i].id) == i)
                return;
        }
    w->depend = depend_create();
    assert_non_null(w->depend);
    while (depend_next_outcome(from, &walk, &outcome))
        assert_int_equal(depend_outcome_of(w->depend, &outcome), 0);
    for (uint32_t i = 0; i < w->groups; i++)
        if (find(w, w->group[i].id) == i)
            depend_enough(w->depend, id_text(w->group[i].id), w->group[i].enough);
    restore_jobs(w, from);
    depend_destroy(from);
}

static void compare(struct world *w)
{
    assert_true(depend_check(w->depend));
    for (uint32_t i = 0; i < w->groups; i++)
        for (uint32_t k = 0; k < w->group[i].members; k++) {
            const struct group *g = &w->group[i];
            const struct member *m = &g->member[k];
            char text[40];
            if (!m->there)
                continue;
            check_reason(w, g, m);
            assert_int_equal(depend_find(w->depend, id_text(g->id), k), m->slot);
            snprintf(text, sizeof(text), g->members > 1 ? "%s[%u]" : "%s", id_text(g->id),
                     (unsigned)k);
            assert_string_equal(depend_id(w->depend, m->slot), text);
        }
}

static void step(struct world *w)
{
    uint32_t slot = (uint32_t)below(w, SLOTS);
    if (w->taken[slot]) {
        struct group *g = NULL;
        struct member *m = at_slot(w, slot, &g);
        event(w, g, m);
    } else if (below(w, 3) == 0) {
        submit(w);
    }
    judge_all(w);
    drain(w);
    compare(w);
    if (below(w, 30) == 0) {
        restore(w);
        drain(w);
        compare(w);
    }
}

static void dependencies_are_as_a_list_has_them(void **state)
{
    (void)state;
    struct world w = {.random = {1}, .group = malloc(GROUPS * sizeof(struct group))};
    assert_non_null(w.group);
    for (int round = 0; round < ROUNDS; round++) {
        w.groups = 0;
        w.order = 0;
        memset(w.taken, 0, sizeof(w.taken));
        w.depend = depend_create();
        assert_non_null(w.depend);
        for (int i = 0; i < STEPS; i++)
            step(&w);
        depend_destroy(w.depend);
    }
    free(w.group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependencies_are_as_a_list_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
