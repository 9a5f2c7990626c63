#include "server/api/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/core/priv.h"

/* "2d 3h", "5m 10s": the two largest parts. */
static void put_span(struct strbuf *out, int64_t us)
{
    static const struct {
        int64_t seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    int64_t left = (us + SERVER_SECOND - 1) / SERVER_SECOND;
    int parts = 0;
    for (size_t i = 0; i < 4 && parts < 2; i++) {
        int64_t n = left / units[i].seconds;
        if (n == 0 && !(i == 3 && parts == 0))
            continue;
        strbuf_puts(out, parts++ ? " " : "");
        strbuf_put_int(out, n);
        strbuf_putc(out, units[i].letter);
        left -= n * units[i].seconds;
    }
}

static void put_count(struct strbuf *out, int64_t n, const char *one, const char *many)
{
    strbuf_put_int(out, n);
    strbuf_putc(out, ' ');
    strbuf_puts(out, n == 1 ? one : many);
}

/* What people call many of a type of the machine's. */
static void put_type(struct strbuf *out, const char *type)
{
    static const char *const words[][2] = {{"core", "cores"},     {"node", "nodes"},
                                           {"gpu", "GPUs"},       {"memory", "memory"},
                                           {"socket", "sockets"}, {"rack", "racks"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(type, words[i][0]) == 0) {
            strbuf_puts(out, words[i][1]);
            return;
        }
    strbuf_puts(out, "units of ");
    strbuf_puts(out, type);
}

/* As --mem takes it. */
static void put_memory(struct strbuf *out, int64_t bytes)
{
    static const char letters[] = "KMGT";
    size_t i = 0;
    int64_t n = bytes / 1024;
    for (; n >= 1024 && n % 1024 == 0 && i + 2 < sizeof(letters); i++)
        n /= 1024;
    strbuf_put_int(out, n);
    strbuf_putc(out, letters[i]);
}

/* ---- Limits ---- */

/* "limit user core 8": whose, what and how much. False: it is no limit. */
struct limit {
    char whose[8], what[64], most[32];
};

static bool limit_read(const char *reason, struct limit *l)
{
    return sscanf(reason, "limit %7s %63s %31s", l->whose, l->what, l->most) == 3;
}

/* "the jobs of user ann in queue batch may have at most 8 cores at once" */
static void put_limit(struct strbuf *out, const struct limit *l, const char *user,
                      const char *queue)
{
    bool one = strcmp(l->whose, "job") == 0;
    strbuf_puts(out, one ? "a job" : "jobs");
    if (strcmp(l->whose, "user") == 0) {
        strbuf_puts(out, " of user ");
        strbuf_puts(out, user);
    }
    strbuf_puts(out, " in queue ");
    strbuf_puts(out, queue);
    if (strcmp(l->what, "running") == 0 || strcmp(l->what, "pending") == 0) {
        strbuf_puts(out,
                    strcmp(l->what, "running") == 0 ? " may run, at most " : " may wait, at most ");
        strbuf_puts(out, l->most);
    } else if (strcmp(l->what, "duration") == 0) {
        strbuf_puts(out, " may last at most ");
        strbuf_puts(out, l->most);
        strbuf_putc(out, 's');
    } else {
        strbuf_puts(out, " may have at most ");
        strbuf_puts(out, l->most);
        strbuf_putc(out, ' ');
        put_type(out, l->what);
    }
    strbuf_puts(out, one ? "" : " at once");
}

void explain_never(struct strbuf *out, const char *reason, const char *user, const char *queue)
{
    struct limit limit;
    strbuf_puts(out, "It can never start: ");
    if (limit_read(reason, &limit))
        put_limit(out, &limit, user, queue);
    else
        strbuf_puts(out, strncmp(reason, "unsatisfiable: ", 15) == 0 ? reason + 15 : reason);
    strbuf_putc(out, '.');
}

/* ---- Why it waits ---- */

/* "57,58" or "57,singleton": each, with words between. */
static void put_dependencies(struct strbuf *out, const char *list)
{
    while (*list) {
        size_t length = strcspn(list, ",");
        if (length == 9 && strncmp(list, "singleton", 9) == 0) {
            strbuf_puts(out, "the user's other jobs of its name");
        } else if (length == 3 && strncmp(list, "...", 3) == 0) {
            strbuf_puts(out, "others");
        } else {
            strbuf_puts(out, "job ");
            strbuf_put(out, list, length);
        }
        list += length;
        if (*list && *++list)
            strbuf_puts(out, strchr(list, ',') ? ", " : " and ");
    }
}

static void put_resources(struct strbuf *out, const struct waiting *w, const char *type)
{
    strbuf_puts(out, "It waits for ");
    put_type(out, type);
    if (w->holders == 0) {
        strbuf_puts(out, ": enough of them are up, but set aside or promised to others.");
        return;
    }
    strbuf_puts(out, " that ");
    put_count(out, (int64_t)w->holders, "other job holds.", "other jobs hold.");
}

static void put_reason(struct strbuf *out, const struct waiting *w)
{
    struct limit limit;
    const char *reason = w->reason;
    if (strcmp(reason, "held") == 0) {
        strbuf_puts(out, "It is held: it waits for 'berth release ");
        strbuf_put_int(out, w->job);
        strbuf_puts(out, "'.");
    } else if (strncmp(reason, "dependency ", 11) == 0) {
        strbuf_puts(out, "It waits for ");
        put_dependencies(out, reason + 11);
        strbuf_puts(out, ", as it depends on that.");
    } else if (strncmp(reason, "begin ", 6) == 0 && w->begin > 0) {
        strbuf_puts(out, "It is to start no earlier than in ");
        put_span(out, w->begin);
        strbuf_puts(out, ", as it was submitted.");
    } else if (limit_read(reason, &limit)) {
        strbuf_puts(out, "It waits for jobs to end: ");
        put_limit(out, &limit, w->user, w->queue);
        strbuf_putc(out, '.');
    } else if (strcmp(reason, "queue stopped") == 0) {
        strbuf_puts(out, "It waits for its queue: ");
        strbuf_puts(out, w->queue);
        strbuf_puts(out, " is stopped.");
    } else if (strcmp(reason, "queue depth") == 0) {
        strbuf_puts(out, "It waits for jobs before it: queue ");
        strbuf_puts(out, w->queue);
        strbuf_puts(out, " considers only the first of its jobs.");
    } else if (strcmp(reason, "priority") == 0) {
        strbuf_puts(out, "It waits for jobs before it: queue ");
        strbuf_puts(out, w->queue);
        strbuf_puts(out, " starts its jobs one after the other.");
    } else if (strcmp(reason, "preempting") == 0) {
        strbuf_puts(out, "It waits for jobs that are being stopped for it.");
    } else if (strncmp(reason, "resources ", 10) == 0) {
        put_resources(out, w, reason + 10);
    } else {
        strbuf_puts(out, "It waits.");
    }
}

static void put_when(struct strbuf *out, const struct waiting *w)
{
    if (w->state == SCHED_BLOCKED || strcmp(w->reason, "preempting") == 0)
        return;
    if (w->smaller->as_it_is || (w->start == 0 && w->state == SCHED_RESERVED)) {
        strbuf_puts(out, " It is about to start.");
    } else if (w->start < 0) {
        strbuf_puts(out, " When it will start can't be told.");
    } else if (w->start == 0) {
        return; /* there is room for it: it is another's turn */
    } else if (w->state == SCHED_RESERVED) {
        strbuf_puts(out, " It is promised a start in ");
        put_span(out, w->start);
        strbuf_puts(out, " at the latest.");
    } else {
        strbuf_puts(out, " It may start in ");
        put_span(out, w->start);
        strbuf_puts(out, ", if nothing comes before it.");
    }
}

/* What stands between the n-th of several, from 0, and the one before. */
static void put_or(struct strbuf *out, int n, int all)
{
    if (n > 0)
        strbuf_puts(out, n + 1 < all ? ", " : " or ");
    strbuf_puts(out, "with ");
}

static void put_smaller(struct strbuf *out, const struct smaller *f)
{
    int all = (f->duration > 0) + (f->nodes > 0) + (f->cores > 0) + (f->gpus > 0) + (f->memory > 0);
    int n = 0;
    if (all == 0)
        return;
    strbuf_puts(out, " It would start now ");
    if (f->duration > 0) {
        put_or(out, n++, all);
        strbuf_puts(out, "a time limit of ");
        put_span(out, f->duration);
    }
    if (f->nodes > 0) {
        put_or(out, n++, all);
        put_count(out, f->nodes, "node", "nodes");
    }
    if (f->cores > 0) {
        put_or(out, n++, all);
        put_count(out, f->cores, "core", "cores");
    }
    if (f->gpus > 0) {
        put_or(out, n++, all);
        put_count(out, f->gpus, "GPU", "GPUs");
    }
    if (f->memory > 0) {
        put_or(out, n++, all);
        put_memory(out, f->memory);
        strbuf_puts(out, " of memory");
    }
    strbuf_putc(out, '.');
}

/* Nothing is started at present. */
static void put_hold(struct strbuf *out, const char *hold)
{
    size_t n = strlen(SERVER_NOT_STARTED);
    bool tried = strncmp(hold, SERVER_NOT_STARTED, n) == 0;
    strbuf_puts(out, tried ? "It could not be started: " : "Nothing is started now: ");
    strbuf_puts(out, tried ? hold + n : hold);
    strbuf_puts(out, tried ? ". It is tried again until it can be." : ".");
}

void explain_waiting(struct strbuf *out, const struct waiting *w)
{
    if (w->state == SCHED_REJECTED) {
        explain_never(out, w->reason, w->user, w->queue);
        return;
    }
    if (w->hold) {
        put_hold(out, w->hold);
        return;
    }
    put_reason(out, w);
    put_when(out, w);
    put_smaller(out, w->smaller);
}

/* ---- What doesn't wait ---- */

static void put_after(struct strbuf *out, const struct job_shown *j)
{
    if (j->start < 0 || j->end < j->start)
        return;
    strbuf_puts(out, " after ");
    put_span(out, j->end - j->start);
}

static void put_ended(struct strbuf *out, const struct job_shown *j)
{
    if (strcmp(j->state, "cancelled") == 0)
        strbuf_puts(out, j->start < 0 ? "It was cancelled before it started" : "It was cancelled");
    else if (strcmp(j->state, "timeout") == 0)
        strbuf_puts(out, "It was stopped at its time limit");
    else
        strbuf_puts(out, strcmp(j->state, "done") == 0 ? "It has ended" : "It has failed");
    bool by_itself = strcmp(j->state, "done") == 0 || strcmp(j->state, "failed") == 0;
    if (by_itself && j->exit_status > 0) {
        strbuf_puts(out, " with exit status ");
        strbuf_put_int(out, j->exit_status);
    } else if (by_itself && j->exit_signal > 0) {
        strbuf_puts(out, " by signal ");
        strbuf_put_int(out, j->exit_signal);
    }
    put_after(out, j);
    if (j->reason && *j->reason && strcmp(j->state, "failed") == 0) {
        strbuf_puts(out, ": ");
        strbuf_puts(out, j->reason);
    }
    strbuf_putc(out, '.');
}

void explain_others(struct strbuf *out, const struct job_shown *j, bool limited, int64_t wall)
{
    if (strcmp(j->state, "running") != 0) {
        if (strcmp(j->state, "failed") == 0 && j->start < 0 && j->attempts == 0 && j->reason)
            explain_never(out, j->reason, j->user, j->queue);
        else
            put_ended(out, j);
        return;
    }
    if (j->start < 0) {
        strbuf_puts(out, "It is being started.");
        return;
    }
    strbuf_puts(out, "It has been running for ");
    put_span(out, wall > j->start ? wall - j->start : 0);
    if (j->until <= wall) {
        strbuf_puts(out, limited ? "; its time is over, and it is being stopped."
                                 : ", longer than it was expected to.");
        return;
    }
    strbuf_puts(out, limited ? ", and is stopped in " : ", and is expected to end within ");
    put_span(out, j->until - wall);
    strbuf_puts(out, limited ? " if it has not ended by then." : ".");
}
