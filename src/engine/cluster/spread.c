#include "engine/cluster/spread.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "engine/cluster/many_priv.h"
#include "engine/local/passive.h"

/* What is on one node. */
struct share {
    struct part *at;
    bool begun, over;
    uint64_t start, end; /* the numbers of its events; 0: not told */
    uint64_t kept;       /* from this number on nothing is acknowledged; 0: all may be */
    enum engine_what what;
    int exit_status, exit_signal;
    int64_t ended, memory, cpu;
};

struct spread {
    struct dict_entry entry; /* first: by its key */
    struct spread *next, *prev;
    struct spread *next_due;
    uint64_t key;
    bool holds;   /* all but the first wait for it */
    bool started; /* it was told, or heard of before */
    bool is_due;
    pid_t pid;
    char text[300]; /* why it ended so */
    size_t n, n_begun, n_over;
    struct share v[];
};

struct spread *spread_find(const struct spreads *all, uint64_t key)
{
    return all->by_key.n > 0
               ? (struct spread *)(void *)dict_find(&all->by_key, (const char *)&key, sizeof(key))
               : NULL;
}

static struct spread *spread_make(struct spreads *all, uint64_t key, size_t n)
{
    struct spread *s =
        dict_reserve(&all->by_key) ? NULL : calloc(1, sizeof(*s) + n * sizeof(struct share));
    if (!s) {
        errno = ENOMEM;
        return NULL;
    }
    s->key = key;
    s->n = n;
    s->entry = (struct dict_entry){.text = (const char *)&s->key, .length = sizeof(s->key)};
    dict_put(&all->by_key, &s->entry);
    s->next = all->first;
    if (all->first)
        all->first->prev = s;
    all->first = s;
    return s;
}

static void spread_drop(struct spreads *all, struct spread *s)
{
    dict_take(&all->by_key, &s->entry);
    if (s->prev)
        s->prev->next = s->next;
    else
        all->first = s->next;
    if (s->next)
        s->next->prev = s->prev;
    free(s);
}

/* ---- Starting ---- */

/* The part of a run that is on its i-th node, whose tasks begin with `first`. */
static struct engine_run part_on_node(const struct engine_run *run, size_t i, size_t first)
{
    const struct engine_place *place = &run->places[i];
    struct engine_run part = *run;
    part.node = place->node;
    part.places = NULL;
    part.n_places = 0;
    part.tasks = run->tasks + first;
    part.n_tasks = place->n_tasks;
    part.cpus = place->cpus;
    part.denied = place->denied;
    part.memory = place->memory;
    part.processes = place->processes;
    part.append = run->append || i > 0;
    part.shared = true;
    if (i > 0)
        part.attach = NULL;
    return part;
}

/* Once more, after a restart of the server: where it is known nothing happens. Which of its nodes was the first to
 * begin is not known, so none of them empties files.
 */
static int ask_again(struct many *m, struct spread *s, const struct engine_run *run,
                     berth_error_t *err)
{
    size_t first = 0;
    for (size_t i = 0; i < s->n && i < run->n_places; first += run->places[i++].n_tasks) {
        struct engine_run part = part_on_node(run, i, first);
        struct share *share = &s->v[i];
        part.append = true;
        if (!share->at || share->over)
            continue;
        share->at->touched = true;
        if (share->at->id)
            part = many_proved(m, &part);
        if (share->at->engine->ops->start(share->at->engine, &part, err) && errno != EEXIST)
            return -1;
    }
    return 0;
}

/* All but the first, which are held; then that. On failure none of them is left. */
static int ask_all(struct many *m, struct spread *s, const struct engine_run *run,
                   berth_error_t *err)
{
    size_t first = run->n_tasks, i = s->n;
    while (i > 0) {
        first -= run->places[--i].n_tasks;
        struct engine_run part = part_on_node(run, i, first);
        struct engine *engine = s->v[i].at->engine;
        if (s->v[i].at->id)
            part = many_proved(m, &part);
        if (i > 0 ? passive_hold(engine, &part, err) : engine->ops->start(engine, &part, err)) {
            int saved = errno;
            for (size_t k = i + 1; k < s->n; k++)
                passive_drop(s->v[k].at->engine, s->key);
            errno = saved;
            return -1;
        }
    }
    s->v[0].at->touched = true;
    return 0;
}

static int check_places(const struct engine_run *run, berth_error_t *err)
{
    size_t tasks = 0;
    for (size_t i = 0; i < run->n_places; i++)
        tasks += run->places[i].n_tasks;
    return tasks == run->n_tasks && run->n_places > 0
               ? 0
               : errtext_set(err, EINVAL, "places: expected %zu tasks in all, got %zu",
                             run->n_tasks, tasks);
}

int spread_start(struct many *m, const struct engine_run *run, berth_error_t *err)
{
    struct spread *s = spread_find(&m->spreads, run->key);
    if (check_places(run, err))
        return -1;
    if (s)
        return ask_again(m, s, run, err);
    s = spread_make(&m->spreads, run->key, run->n_places);
    if (!s)
        return errtext_no_memory(err);
    int rc = 0;
    for (size_t i = 0; i < s->n && rc == 0; i++) {
        struct part *p = part_find(m, run->places[i].node);
        if (!p || (p->id && passive_over(p->engine)))
            rc = errtext_set(err, ENOMEM, "node %s has left", run->places[i].node);
        s->v[i].at = p;
    }
    s->holds = true;
    if (rc == 0)
        rc = ask_all(m, s, run, err);
    int saved = errno;
    if (rc)
        spread_drop(&m->spreads, s);
    errno = saved;
    return rc;
}

int spread_expect(struct many *m, struct part *p, const struct engine_expected *expected)
{
    struct spread *s = spread_find(&m->spreads, expected->key);
    if (!s)
        s = spread_make(&m->spreads, expected->key, expected->places);
    if (!s || expected->place >= s->n)
        return -1;
    s->v[expected->place].at = p;
    s->v[expected->place].begun = expected->started;
    s->n_begun += expected->started;
    s->started = expected->started;
    return 0;
}

/* ---- What the parts tell ---- */

static struct share *share_at(struct spread *s, const struct part *p)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].at == p)
            return &s->v[i];
    return NULL;
}

static void let_parts_go(struct spreads *all, struct spread *s)
{
    all->has_asked = all->has_asked || s->holds;
    for (size_t i = 1; i < s->n && s->holds; i++) {
        passive_go(s->v[i].at->engine, s->key);
        s->v[i].at->touched = true;
    }
    s->holds = false;
}

/* What has not begun never will, what has is killed. */
static void kill_others(struct spreads *all, struct spread *s)
{
    all->has_asked = true;
    for (size_t i = 0; i < s->n; i++) {
        struct share *share = &s->v[i];
        if (share->over || !share->at)
            continue;
        if (passive_drop(share->at->engine, s->key)) {
            share->at = NULL;
            share->over = true;
            share->what = ENGINE_REFUSED;
            s->n_over++;
            continue;
        }
        share->at->engine->ops->signal(share->at->engine, s->key, SIGKILL, true);
        share->at->touched = true;
    }
    s->holds = false;
}

static void note_start(struct spreads *all, struct spread *s, struct share *share)
{
    s->n_begun += !share->begun;
    share->begun = true;
    if (share == &s->v[0])
        let_parts_go(all, s);
}

/* The first that ends badly says why the whole does. */
static void note_end(struct spreads *all, struct spread *s, struct share *share,
                     const struct engine_event *e)
{
    static const char *const words[] = {[ENGINE_STARTED] = "",
                                        [ENGINE_ENDED] = "",
                                        [ENGINE_FAILED] = "it could not be started",
                                        [ENGINE_LOST] = "lost: its end was not observed",
                                        [ENGINE_REFUSED] = "it was not started",
                                        [ENGINE_USED] = "its key was already used",
                                        [ENGINE_DECLINED] = "it was not started"};
    bool bad = e->what != ENGINE_ENDED;
    if ((bad || e->text) && !s->text[0]) {
        const char *name = share->at && share->at->name ? share->at->name : "this machine";
        snprintf(s->text, sizeof(s->text), "%s: %s", name, e->text ? e->text : words[e->what]);
    }
    share->over = true;
    share->end = e->number;
    share->what = e->what;
    share->exit_status = e->exit_status;
    share->exit_signal = e->exit_signal;
    share->ended = e->at;
    share->memory = e->peak_memory;
    share->cpu = e->cpu_time;
    s->n_over++;
    if (bad)
        kill_others(all, s);
    else
        note_start(all, s, share);
}

/* ---- What the whole tells ---- */

static bool any_is(const struct spread *s, enum engine_what what)
{
    bool any = false;
    for (size_t i = 0; i < s->n; i++)
        any = any || s->v[i].what == what;
    return any;
}

/* Where some of it has run and some has not been started, what has run is lost. */
static enum engine_what end_of_parts(const struct spread *s)
{
    bool refused =
        any_is(s, ENGINE_REFUSED) || any_is(s, ENGINE_USED) || any_is(s, ENGINE_DECLINED);
    if (any_is(s, ENGINE_LOST))
        return ENGINE_LOST;
    if (any_is(s, ENGINE_FAILED))
        return ENGINE_FAILED;
    if (!refused)
        return ENGINE_ENDED;
    return any_is(s, ENGINE_ENDED) || s->n_begun > 0 ? ENGINE_LOST : ENGINE_REFUSED;
}

static int64_t add_known(int64_t sum, int64_t more)
{
    return sum < 0 || more < 0 ? -1 : sum + more;
}

static struct engine_event sum_up(const struct spread *s)
{
    struct engine_event e = {.what = end_of_parts(s), .key = s->key, .pid = s->pid};
    int64_t first_signal = INT64_MAX;
    for (size_t i = 0; i < s->n; i++) {
        const struct share *share = &s->v[i];
        e.at = share->ended > e.at ? share->ended : e.at;
        e.peak_memory = add_known(e.peak_memory, share->memory);
        e.cpu_time = add_known(e.cpu_time, share->cpu);
        if (e.what == ENGINE_ENDED && share->exit_signal && share->ended < first_signal) {
            e.exit_signal = share->exit_signal;
            first_signal = share->ended;
        }
        if (e.what == share->what && share->exit_status > e.exit_status)
            e.exit_status = share->exit_status;
    }
    if (e.exit_signal)
        e.exit_status = 0;
    e.text = s->text[0] ? s->text : NULL;
    return e;
}

static bool tell_end(struct many *m, struct spread *s, size_t n)
{
    const struct told told = {.key = s->key, .is_end = true};
    struct engine_event e = sum_up(s);
    return many_tell(m, &told, &e, n) == 0;
}

/* Nothing from this event on is acknowledged to its keeper before the whole is. */
static void keep_back(struct spreads *all, struct share *share, uint64_t number)
{
    all->n_kept += share->kept == 0;
    if (share->kept == 0 || number < share->kept)
        share->kept = number;
}

/* Once all have begun; where one has come to a bad end that is not told any more. */
static bool tell_start(struct many *m, struct spread *s, const struct engine_event *event, size_t n)
{
    const struct told told = {.key = s->key};
    if (s->started || s->n_begun < s->n)
        return false;
    struct engine_event e = {.what = ENGINE_STARTED,
                             .key = s->key,
                             .at = event->at,
                             .pid = s->pid,
                             .peak_memory = -1,
                             .cpu_time = -1};
    s->started = many_tell(m, &told, &e, n) == 0;
    return s->started;
}

bool spread_event(struct many *m, struct spread *s, struct part *p,
                  const struct engine_event *event, size_t n)
{
    struct share *share = share_at(s, p);
    bool started = event->what == ENGINE_STARTED;
    if (!share || share->over || (started && s->started))
        return false;
    keep_back(&m->spreads, share, event->number);
    if (!started) {
        note_end(&m->spreads, s, share, event);
    } else {
        share->start = event->number;
        if (share == &s->v[0])
            s->pid = event->pid;
        note_start(&m->spreads, s, share);
    }
    return s->n_over == s->n ? tell_end(m, s, n) : tell_start(m, s, event, n);
}

void spreads_meet(struct many *m)
{
    for (struct spread *s = m->spreads.first; s; s = s->next) {
        struct share *share = share_at(s, m->v[0]);
        if (!share || share->over || share->start > 0 || passive_has(m->v[0]->engine, s->key))
            continue;
        const struct engine_event lost = {
            .what = ENGINE_LOST, .key = s->key, .peak_memory = -1, .cpu_time = -1};
        note_end(&m->spreads, s, share, &lost);
        if (s->n_over < s->n || s->is_due)
            continue;
        s->is_due = true;
        s->next_due = m->spreads.due;
        m->spreads.due = s;
        many_come_back(m, 1);
    }
}

size_t spreads_due(struct many *m, size_t max)
{
    size_t n = 0;
    while (m->spreads.due && n < max) {
        struct spread *s = m->spreads.due;
        m->spreads.due = s->next_due;
        n += tell_end(m, s, n);
    }
    return n;
}

void spread_acknowledge(struct many *m, struct spread *s, bool ended)
{
    for (size_t i = 0; i < s->n; i++) {
        struct share *share = &s->v[i];
        if (!share->at)
            continue;
        m->spreads.n_kept -= share->kept > 0 && (ended || share->end == 0);
        share->kept = ended ? 0 : share->end;
        part_acknowledge(share->at, ended && share->end > share->start ? share->end : share->start);
    }
    if (ended)
        spread_drop(&m->spreads, s);
}

uint64_t spreads_let(const struct spreads *all, const struct part *p, uint64_t most)
{
    for (const struct spread *s = all->n_kept > 0 ? all->first : NULL; s && most > 0; s = s->next)
        for (size_t i = 0; i < s->n; i++)
            if (s->v[i].at == p && s->v[i].kept > 0 && s->v[i].kept <= most)
                most = s->v[i].kept - 1;
    return most;
}

void spreads_clear(struct spreads *all)
{
    while (all->first)
        spread_drop(all, all->first);
    dict_clear(&all->by_key);
}
