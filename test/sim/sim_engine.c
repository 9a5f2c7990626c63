#include "sim_engine.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

void (*sim_engine_begins)(void);

static void *grown(void *array, size_t *cap, size_t n, size_t size)
{
    if (n <= *cap)
        return array;
    *cap = n * 2 + 16;
    array = realloc(array, *cap * size);
    if (!array)
        abort();
    return array;
}

static char *joined(const char *const *words)
{
    struct strbuf text = {0};
    for (size_t i = 0; words && words[i]; i++) {
        strbuf_puts(&text, i ? " " : "");
        strbuf_puts(&text, words[i]);
    }
    return strbuf_steal(&text);
}

static int64_t number_in(const char *const *env, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; env[i]; i++)
        if (strncmp(env[i], name, n) == 0 && env[i][n] == '=')
            return strtoll(env[i] + n + 1, NULL, 10);
    return -1;
}

static int start(struct engine *engine, const struct engine_run *run, berth_error_t *err)
{
    struct sim_engine *e = (struct sim_engine *)engine;
    (void)err;
    if (sim_engine_begins)
        sim_engine_begins();
    for (size_t i = 0; i < e->n; i++) {
        if (e->runs[i].key == run->key) {
            e->twice++;
            errno = EEXIST;
            return -1;
        }
    }
    e->runs = grown(e->runs, &e->cap, e->n + 1, sizeof(*e->runs));
    e->runs[e->n++] = (struct sim_run){.key = run->key,
                                       .state = SIM_ASKED,
                                       .job = number_in(run->env, "BERTH_JOB_ID"),
                                       .member = number_in(run->env, "BERTH_ARRAY_INDEX"),
                                       .attempt = number_in(run->env, "BERTH_ATTEMPT"),
                                       .ends = -1,
                                       .argv = joined(run->argv),
                                       .env = joined(run->env),
                                       .task_env = joined(run->tasks[run->n_tasks - 1].env),
                                       .n_tasks = run->n_tasks,
                                       .processes = run->processes,
                                       .cpus = strdup(run->cpus ? run->cpus : ""),
                                       .output = strdup(run->output)};
    if (e->full)
        sim_engine_refused(e, &e->runs[e->n - 1]);
    if (e->asked)
        e->asked(e->context, e->n - 1);
    return 0;
}

static int send_signal(struct engine *engine, uint64_t key, int signal, bool tree)
{
    struct sim_engine *e = (struct sim_engine *)engine;
    (void)tree;
    if (sim_engine_begins)
        sim_engine_begins();
    for (size_t i = 0; i < e->n; i++) {
        struct sim_run *r = &e->runs[i];
        if (r->key != key || r->state == SIM_OVER)
            continue;
        if (signal != SIGCONT)
            r->last_signal = signal;
        if (r->stuck)
            continue;
        if (signal == SIGKILL || (signal == SIGTERM && !r->stubborn && r->state == SIM_RUNS))
            sim_engine_ended(e, r, 0, signal);
        else
            e->lingered += signal == SIGTERM;
    }
    return 0;
}

static int flush(struct engine *engine)
{
    (void)engine;
    return 0;
}

static int fd(const struct engine *engine)
{
    (void)engine;
    return -1;
}

static size_t events(struct engine *engine, const struct engine_event **list, size_t max)
{
    struct sim_engine *e = (struct sim_engine *)engine;
    size_t n = e->silent ? 0 : e->n_events - e->said;
    n = n < max ? n : max;
    *list = n > 0 ? e->events + e->said : NULL;
    e->said += n;
    return n;
}

static int acknowledge(struct engine *engine, uint64_t number)
{
    struct sim_engine *e = (struct sim_engine *)engine;
    size_t n = 0;
    while (n < e->n_events && e->events[n].number <= number)
        n++;
    if (n > 0)
        memmove(e->events, e->events + n, (e->n_events - n) * sizeof(*e->events));
    e->n_events -= n;
    e->said = e->said > n ? e->said - n : 0;
    e->acknowledged = number;
    return 0;
}

static int runs(struct engine *engine, const uint64_t **keys, size_t *n)
{
    struct sim_engine *e = (struct sim_engine *)engine;
    if (e->silent) {
        errno = EAGAIN;
        return -1;
    }
    free(e->keys);
    e->keys = calloc(e->n + 1, sizeof(*e->keys));
    *n = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->runs[i].state != SIM_OVER || e->runs[i].end_number > e->acknowledged)
            e->keys[(*n)++] = e->runs[i].key;
    *keys = e->keys;
    return 0;
}

static uint64_t last_key(const struct engine *engine)
{
    const struct sim_engine *e = (const struct sim_engine *)engine;
    uint64_t last = 0;
    for (size_t i = 0; i < e->n; i++)
        if (!e->runs[i].forgotten && e->runs[i].key > last)
            last = e->runs[i].key;
    return last;
}

static const char *notice(const struct engine *engine)
{
    (void)engine;
    return NULL;
}

static void close_it(struct engine *engine)
{
    (void)engine;
}

static const struct engine_ops ops = {
    .start = start,
    .signal = send_signal,
    .flush = flush,
    .fd = fd,
    .events = events,
    .acknowledge = acknowledge,
    .runs = runs,
    .last_key = last_key,
    .notice = notice,
    .close = close_it,
};

struct sim_engine *sim_engine_create(void)
{
    struct sim_engine *e = calloc(1, sizeof(*e));
    e->engine.ops = &ops;
    return e;
}

void sim_engine_unask(struct sim_engine *e)
{
    const struct sim_run *r = &e->runs[--e->n];
    free(r->argv);
    free(r->env);
    free(r->task_env);
    free(r->cpus);
    free(r->output);
}

void sim_engine_destroy(struct sim_engine *e)
{
    while (e->n > 0)
        sim_engine_unask(e);
    free(e->runs);
    free(e->events);
    free(e->keys);
    free(e);
}

void sim_engine_again(struct sim_engine *e)
{
    e->said = 0;
}

void sim_engine_forget(struct sim_engine *e)
{
    for (size_t i = 0; i < e->n; i++) {
        e->runs[i].state = SIM_OVER;
        e->runs[i].end_number = 0;
        e->runs[i].forgotten = true;
    }
    e->n_events = e->said = 0;
}

struct sim_run *sim_engine_find(struct sim_engine *e, int64_t job, int64_t member)
{
    for (size_t i = e->n; i-- > 0;)
        if (e->runs[i].job == job && e->runs[i].member == member)
            return &e->runs[i];
    return NULL;
}

static void say(struct sim_engine *e, struct sim_run *r, struct engine_event event)
{
    e->events = grown(e->events, &e->cap_events, e->n_events + 1, sizeof(*e->events));
    event.key = r->key;
    event.number = ++e->number;
    event.at = e->wall;
    e->events[e->n_events++] = event;
    if (event.what == ENGINE_STARTED)
        return;
    r->state = SIM_OVER;
    r->end_number = event.number;
}

void sim_engine_started(struct sim_engine *e, struct sim_run *r)
{
    r->state = SIM_RUNS;
    say(e, r, (struct engine_event){.what = ENGINE_STARTED, .pid = 1000});
}

void sim_engine_ended(struct sim_engine *e, struct sim_run *r, int status, int signal)
{
    say(e, r,
        (struct engine_event){.what = ENGINE_ENDED,
                              .exit_status = status,
                              .exit_signal = signal,
                              .peak_memory = 4096,
                              .cpu_time = 1000});
}

void sim_engine_failed(struct sim_engine *e, struct sim_run *r)
{
    say(e, r,
        (struct engine_event){
            .what = ENGINE_FAILED, .text = "no such program", .peak_memory = -1, .cpu_time = -1});
}

void sim_engine_refused(struct sim_engine *e, struct sim_run *r)
{
    say(e, r,
        (struct engine_event){.what = ENGINE_REFUSED,
                              .text = "journal: No space left on device",
                              .peak_memory = -1,
                              .cpu_time = -1});
}

void sim_engine_lost(struct sim_engine *e, struct sim_run *r)
{
    say(e, r, (struct engine_event){.what = ENGINE_LOST, .peak_memory = -1, .cpu_time = -1});
}
