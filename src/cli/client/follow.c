#include "cli/client/follow.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "berth/sched.h"
#include "cli/client/connection.h"
#include "cli/client/output.h"
#include "cli/client/terminal.h"

#define AWAY_MS   60000 /* how long to wait for a server to come back */
#define FIRST_MS  5000  /* for a server that was not there from the beginning */
#define AWAY_LOOK 50
#define LOOK_MS   1000 /* how often to look at output of which no event tells */
#define MANY      100  /* members; with more, not every change is looked at at once */
#define MANY_MS   200

struct watch {
    const struct follow *f;
    struct follow_end *end;
    struct client_stream *events;
    bool seen; /* the server knows the job */
    bool told; /* there have been events since the last look */
    int inotify, signals;
    struct tail tail[2];   /* output and errors of a single job */
    struct lines lines[2]; /* of the members of an array */
    unsigned times;        /* how often a signal told us to stop */
    sigset_t old;
    enum { SILENT, CURIOUS, TOLD } why; /* whether the reason for waiting has been printed */
    /* Of the last look: */
    size_t members, open, begun, failed;
    int64_t done,
        enough; /* members that have succeeded; of a gang that goes on, how many are success; 0 */
    int64_t short_of[SCHED_ROLES_MAX]; /* where it has roles: how many each lacks for that */
    bool has_roles;
    bool summed;      /* of an array as a whole, of which nothing says how it ended */
    char reason[256]; /* of the first member that waits */
};

/* Note what a gang that goes on needs for success, of which the first row tells. */
static void take_enough(struct watch *w, const json_t *job)
{
    const json_t *roles = json_object_get(job, "roles");
    if (w->enough > 0 || w->f->member >= 0 || strcmp(answer_text(job, "failure"), "all") == 0)
        return;
    w->enough = json_integer_value(json_object_get(job, "min"));
    w->has_roles = json_array_size(roles) > 0;
    for (size_t i = 0; i < SCHED_ROLES_MAX; i++)
        w->short_of[i] = json_integer_value(json_object_get(json_array_get(roles, i), "min"));
}

/* Count a member that has succeeded for its role. */
static void take_done(struct watch *w, const json_t *job)
{
    const json_t *roles = json_object_get(job, "roles");
    for (size_t i = 0; i < json_array_size(roles) && i < SCHED_ROLES_MAX; i++)
        if (strcmp(answer_text(json_array_get(roles, i), "role"), answer_text(job, "role")) == 0)
            w->short_of[i]--;
    w->done++;
}

/* Whether a gang has succeeded, as enough of its members have. */
static bool has_enough(const struct watch *w)
{
    for (size_t i = 0; w->has_roles && i < SCHED_ROLES_MAX; i++)
        if (w->short_of[i] > 0)
            return false;
    return w->enough > 0 && w->done >= w->enough;
}

static bool job_is_over(const char *state)
{
    return strcmp(state, "pending") != 0 && strcmp(state, "held") != 0 &&
           strcmp(state, "running") != 0;
}

/* Note the status of a member that has ended, if it is the highest. */
static void take_end(struct watch *w, const json_t *job, const char *state)
{
    const json_t *exit = json_object_get(job, "exit"), *signal = json_object_get(job, "signal");
    const char *reason = json_string_value(json_object_get(job, "reason"));
    struct follow_end *end = w->end;
    bool has_status = true;
    int status = 1;

    if (json_is_integer(signal) && json_integer_value(signal) > 0)
        status = 128 + (int)json_integer_value(signal);
    else if (json_is_integer(exit) && (json_integer_value(exit) > 0 || strcmp(state, "done") == 0))
        status = (int)json_integer_value(exit);
    else
        has_status = strcmp(state, "done") == 0;
    if (strcmp(state, "done") == 0 && !json_is_integer(exit))
        status = 0;
    if (status > 1 && w->f->member < 0 && sched_reason_gang_is_over(reason))
        status = 1; /* it was stopped: the status is that of the one for which it was */
    bool unusual = strcmp(state, "cancelled") == 0 || strcmp(state, "timeout") == 0;
    if (end->state[0] && status <= end->status)
        return;
    end->status = status;
    snprintf(end->state, sizeof(end->state), "%s", state);
    end->reason[0] = '\0';
    bool never_ran = !json_is_number(json_object_get(job, "start"));
    if (!has_status || unusual || never_ran)
        snprintf(end->reason, sizeof(end->reason), "%s", reason ? reason : "");
}

/* Follow the files of a member that has started; standard error may share the file of the output. */
static int take_files(struct watch *w, const json_t *job, int64_t member, const char *state)
{
    static const char *const keys[] = {"output", "error"};
    bool started = strcmp(state, "pending") != 0 && strcmp(state, "held") != 0;
    bool is_array = w->f->member < 0 && json_is_integer(json_object_get(job, "member"));
    const char *before = NULL;
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) {
        const char *path = json_string_value(json_object_get(job, keys[i]));
        if (!path || (before && strcmp(before, path) == 0))
            continue;
        before = path;
        int alone = 1;
        if (is_array)
            alone = lines_take(&w->lines[i], member, path, started, job_is_over(state));
        if (alone < 0 || (alone > 0 && started && tail_is(&w->tail[i], path, w->inotify) < 0))
            rc = -1;
    }
    return rc;
}

/* Copy what is new in these files. */
static int copy_output(struct watch *w, berth_error_t *err)
{
    bool drawn = w->f->bar && w->f->bar->shown;
    if (!w->f->output)
        return 0;
    if (drawn)
        job_bar_hide(w->f->bar);
    for (int i = 0; i < 2; i++)
        if (tail_copy(&w->tail[i], w->inotify) < 0 || lines_copy(&w->lines[i]) < 0)
            return errtext_set(err, errno, "output: %s", strerror(errno));
    if (drawn)
        job_bar_show(w->f->bar);
    return 0;
}

/* The status of an array that is over: the highest of its members, as take_end has them. */
static void take_end_of_all(struct watch *w, const json_t *job, const json_t *summary)
{
    static const char *const badly[] = {"failed", "cancelled", "timeout"};
    int exit = (int)answer_number(job, "exit"), signal = (int)answer_number(job, "signal");
    int status = exit > 0 ? exit : 0;

    if (signal > 0 && 128 + signal > status)
        status = 128 + signal;
    for (int i = 0; i < 3; i++)
        if (status == 0 && answer_number(summary, badly[i]) > 0)
            status = 1;
    w->end->status = status;
    snprintf(w->end->state, sizeof(w->end->state), "%s", answer_text(job, "state"));
    w->end->reason[0] = '\0';
}

/* Take what the row of an array says of its members. */
static void take_summary(struct watch *w, const json_t *job, const json_t *summary)
{
    static const char *const waiting[] = {"pending", "held"};
    size_t all = (size_t)json_integer_value(json_object_get(job, "members")), waits = 0;

    for (int i = 0; i < 2; i++)
        waits += (size_t)json_integer_value(json_object_get(summary, waiting[i]));
    w->members += all;
    w->begun += all - waits;
    w->open += waits + (size_t)json_integer_value(json_object_get(summary, "running"));
    w->failed += (size_t)json_integer_value(json_object_get(summary, "failed"));
    w->done += json_integer_value(json_object_get(summary, "done"));
    if (strcmp(answer_text(job, "state"), "done") ==
        0) /* which goes by its roles, if it has some */
        memset(w->short_of, 0, sizeof(w->short_of));
    w->summed =
        !json_is_number(json_object_get(job, "end")); /* else its members need not be asked */
    if (!w->summed)
        take_end_of_all(w, job, summary);
    snprintf(w->reason, sizeof(w->reason), "%s",
             *answer_text(job, "reason") ? answer_text(job, "reason") : answer_text(job, "state"));
}

static int read_job_state(void *context, const char *text, size_t length)
{
    struct watch *w = context;
    json_t *job = json_loadb(text, length, 0, NULL);
    const json_t *member = json_object_get(job, "member");
    const char *state = json_string_value(json_object_get(job, "state"));
    int rc = 0;

    if (!job || !state) {
        json_decref(job);
        errno = EPROTO;
        return -1;
    }
    const json_t *summary = json_object_get(job, "summary");
    take_enough(w, job);
    if (summary) {
        take_summary(w, job, summary);
    } else if (w->f->member < 0 || json_integer_value(member) == w->f->member) {
        w->members++;
        if (w->f->output)
            rc = take_files(w, job, json_integer_value(member), state);
        w->failed += strcmp(state, "failed") == 0;
        if (strcmp(state, "done") == 0)
            take_done(w, job);
        if (job_is_over(state))
            take_end(w, job, state);
        else
            w->open++;
        if (strcmp(state, "pending") != 0 && strcmp(state, "held") != 0)
            w->begun++;
        else if (!w->reason[0])
            snprintf(w->reason, sizeof(w->reason), "%s",
                     *answer_text(job, "reason") ? answer_text(job, "reason") : state);
    }
    json_decref(job);
    return rc;
}

/* Look at the job, `by_member` or at an array as a whole. Returns 1 if it has ended; 0; -1. */
static int look_at_watched_job(struct watch *w, bool by_member, berth_error_t *err)
{
    struct strbuf path = {0};
    char id[JOB_ID_SIZE];

    w->told = w->summed = false;
    w->members = w->open = w->begun = w->failed = 0;
    w->done = w->enough = 0;
    w->has_roles = false;
    w->reason[0] = '\0';
    w->end->state[0] = '\0';
    strbuf_puts(&path, "/v1/jobs");
    snprintf(id, sizeof(id), "%" PRId64, w->f->id);
    route_query(&path, "ids", id);
    route_query(&path, "history", "1");
    if (!by_member)
        route_query(&path, "arrays", "1");
    int rc = connection_list(w->f->connection, strbuf_text(&path), read_job_state, w, err);
    int saved = errno;
    strbuf_clear(&path);
    errno = saved;
    if (rc < 0)
        return -1;
    if (w->members == 0)
        return errtext_set(err, ENOENT, "there is no job %s",
                           job_id_text(w->f->id, w->f->member, id));
    if (w->open == 0 && has_enough(w))
        *w->end = (struct follow_end){.state = "done"};
    return w->open == 0;
}

/* Members matter one by one only for their output, and where nothing says of all how they have ended. */
static int look_at_job(struct watch *w, berth_error_t *err)
{
    int rc = look_at_watched_job(w, w->f->output || w->f->member >= 0, err);
    return rc == 1 && w->summed ? look_at_watched_job(w, true, err) : rc;
}

static int follow_event(void *context, long status, const char *bytes, size_t n)
{
    struct watch *w = context;
    (void)status;
    (void)bytes;
    (void)n;
    w->told = true;
    return 0;
}

static int begin_events(struct watch *w, berth_error_t *err)
{
    struct client_taker taker = {w, follow_event};
    char path[96];

    snprintf(path, sizeof(path), "/v1/events?job=%" PRId64 "&follow=1", w->f->id);
    client_end(w->events);
    w->events = client_follow(w->f->connection->client, path, &taker, err);
    return w->events ? 0 : -1;
}

static int64_t follow_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static void sleep_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

/* The server is away, perhaps to be restarted. */
static int await_server(struct watch *w, berth_error_t *err)
{
    for (int ms = 0; ms < (w->seen ? AWAY_MS : FIRST_MS); ms += AWAY_LOOK) {
        if (connection_is_there(w->f->connection->socket))
            return 0;
        if (copy_output(w, err) < 0)
            return -1;
        sleep_ms(AWAY_LOOK);
    }
    errno = ECONNREFUSED;
    return w->seen ? errtext_set(err, errno, "the server is gone; the job continues without it")
                   : connection_explain(w->f->connection, err);
}

/* A signal told us to stop: the first one cancels the job, the second makes us leave it. */
static void take_stop_signal(struct watch *w)
{
    struct signalfd_siginfo info;
    struct strbuf path = {0};
    char name[JOB_ID_SIZE];
    berth_error_t err;

    if (read(w->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    if (++w->times > 1) {
        w->end->left = true;
        w->end->status = 128 + (int)info.ssi_signo;
        return;
    }
    job_id_text(w->f->id, w->f->member, name);
    fprintf(stderr, "berth %s: cancelling job %s; once more leaves it\n", w->f->connection->verb,
            name);
    route_job(&path, w->f->id, w->f->member, "");
    if (connection_ask(w->f->connection, "DELETE", strbuf_text(&path), NULL, NULL, &err) < 0)
        fprintf(stderr, "berth %s: %s\n", w->f->connection->verb, err.text);
    strbuf_clear(&path);
}

/* On a terminal, print once what the job waits for, if that takes longer than a moment. */
static void tell_why(struct watch *w)
{
    if (w->why != CURIOUS)
        return;
    w->why = TOLD;
    if (w->begun > 0)
        return;
    struct strbuf path = {0};
    json_t *answer = NULL;
    berth_error_t ignored;
    route_job(&path, w->f->id, w->f->member, "/explain");
    int rc = connection_ask(w->f->connection, "GET", strbuf_text(&path), NULL, &answer, &ignored);
    fprintf(stderr, "berth %s: job %" PRId64 ": ", w->f->connection->verb, w->f->id);
    terminal_print(stderr, rc == 0 ? answer_text(answer, "text") : w->reason);
    fputc('\n', stderr);
    json_decref(answer);
    strbuf_clear(&path);
}

/* Wait for events, output or signals. Returns 0; 1 if the stream of events has ended; -1. */
static int wait_more(struct watch *w, berth_error_t *err)
{
    struct pollfd others[2];
    unsigned n = 0;
    long status = 0;
    char junk[4096];

    if (w->inotify >= 0)
        others[n++] = (struct pollfd){.fd = w->inotify, .events = POLLIN};
    if (w->signals >= 0)
        others[n++] = (struct pollfd){.fd = w->signals, .events = POLLIN};
    int rc = client_wait(w->events, others, n, LOOK_MS, &status, err);
    if (rc < 0 && errno == ENOMEM)
        return -1;
    for (unsigned i = 0; i < n; i++) {
        if (!others[i].revents)
            continue;
        if (others[i].fd == w->signals)
            take_stop_signal(w);
        else if (read(w->inotify, junk, sizeof(junk)) < 0)
            continue;
    }
    if (rc == 0 && status >= 400 && status < 500)
        return errtext_set(err, EPROTO, "the server refuses to send events: status %ld", status);
    return rc == 1 ? 0 : 1;
}

static int follow_run(struct watch *w, berth_error_t *err)
{
    int rc = begin_events(w, err);

    while (rc == 0) {
        rc = look_at_job(w, err);
        w->seen = w->seen || rc >= 0;
        if (rc < 0 && (errno == ECONNREFUSED || errno == ECONNRESET)) {
            rc = await_server(w, err);
            if (rc == 0)
                rc = begin_events(w, err);
            continue;
        }
        /* The output from before its end is in the file by now. */
        if (rc >= 0 && copy_output(w, err) < 0)
            return -1;
        if (rc >= 0 && w->f->bar)
            job_bar_count(w->f->bar, w->members - w->open, w->members, w->failed);
        if (rc != 0)
            break;
        tell_why(w);
        while (rc == 0 && !w->told && !w->end->left) {
            int64_t begin = follow_now_ms();
            rc = wait_more(w, err);
            if (rc >= 0 && copy_output(w, err) < 0)
                return -1;
            if (w->why == SILENT && w->begun == 0 && follow_now_ms() - begin >= LOOK_MS) {
                w->why = w->f->may_cancel && isatty(STDERR_FILENO) ? CURIOUS : TOLD;
                w->told = true; /* look again: now the server knows it */
            }
        }
        if (w->end->left)
            return 0;
        if (rc == 1) {
            /* Streams end with their server. */
            sleep_ms(AWAY_LOOK);
            rc = await_server(w, err);
            if (rc == 0)
                rc = begin_events(w, err);
        }
        if (w->members > MANY)
            sleep_ms(MANY_MS);
    }
    return rc < 0 ? -1 : 0;
}

static void block_signals(struct watch *w)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, &w->old);
    w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int follow_job(const struct follow *f, struct follow_end *end, berth_error_t *err)
{
    struct watch w = {.f = f,
                      .end = end,
                      .seen = f->may_cancel, /* it was submitted just now */
                      .inotify = -1,
                      .signals = -1,
                      .tail = {{.fd = -1, .to = STDOUT_FILENO}, {.fd = -1, .to = STDERR_FILENO}},
                      .lines = {{.to = STDOUT_FILENO}, {.to = STDERR_FILENO}}};

    *end = (struct follow_end){0};
    if (f->output)
        w.inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    w.lines[0].watch = w.lines[1].watch = w.inotify;
    if (f->may_cancel)
        block_signals(&w);
    fflush(stdout);
    int rc = follow_run(&w, err);
    int saved = errno;
    if (f->bar)
        job_bar_hide(f->bar);
    client_end(w.events);
    for (int i = 0; i < 2; i++) {
        tail_close(&w.tail[i]);
        lines_clear(&w.lines[i]);
    }
    if (w.inotify >= 0)
        close(w.inotify);
    if (w.signals >= 0) {
        close(w.signals);
        sigprocmask(SIG_SETMASK, &w.old, NULL);
    }
    errno = saved;
    return rc;
}
