/* Starting the keeper's runs, and handling their ends. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/local/keeper.h"
#include "engine/local/spawn.h"
#include "engine/local/spool.h"
#include "engine/local/starts.h"

struct run *keeper_find(const struct keeper *k, uint64_t key)
{
    /* The entry is the first member of its run. */
    return (struct run *)(void *)dict_find(&k->runs, (const char *)&key, sizeof(key));
}

int keeper_enter(struct keeper *k, struct run *run)
{
    if (dict_reserve(&k->runs))
        return -1;
    run->entry = (struct dict_entry){.text = (const char *)&run->key, .length = sizeof(run->key)};
    run->started = (struct note){.run = run};
    run->ended = (struct note){.run = run, .end = true};
    run->result = -1;
    run->cgroup = -1;
    run->watch = (struct watch){WATCH_RESULT, run};
    run->peak_memory = -1;
    run->cpu_time = -1;
    dict_put(&k->runs, &run->entry);
    run->prev = NULL;
    run->next = k->first;
    if (k->first)
        k->first->prev = run;
    k->first = run;
    return 0;
}

void keeper_forget_request(struct run *run)
{
    message_run_clear(&run->request);
    free(run->message);
    run->message = NULL;
}

void keeper_free(struct keeper *k, struct run *run)
{
    dict_take(&k->runs, &run->entry);
    if (run->prev)
        run->prev->next = run->next;
    else
        k->first = run->next;
    if (run->next)
        run->next->prev = run->prev;
    keeper_forget_output(k, run);
    keeper_forget_request(run);
    free(run->tasks);
    free(run->failure);
    free(run->note);
    free(run);
}

struct process *keeper_process(const struct keeper *k, pid_t pid)
{
    return (struct process *)(void *)dict_find(&k->pids, (const char *)&pid, sizeof(pid));
}

int keeper_add_process(struct keeper *k, struct process *p)
{
    if (dict_reserve(&k->pids))
        return -1;
    /* An earlier process with this pid is gone, and its session too. */
    struct process *before = keeper_process(k, p->pid);
    if (before)
        keeper_remove_process(k, before);
    p->entry = (struct dict_entry){.text = (const char *)&p->pid, .length = sizeof(p->pid)};
    dict_put(&k->pids, &p->entry);
    p->known = true;
    return 0;
}

void keeper_remove_process(struct keeper *k, struct process *p)
{
    if (p->known)
        dict_take(&k->pids, &p->entry);
    p->known = false;
}

void keeper_note(struct keeper *k, struct note *note)
{
    note->next = NULL;
    if (k->last_note)
        k->last_note->next = note;
    else
        k->notes = note;
    k->last_note = note;
    if (!k->unsent)
        k->unsent = note;
}

#define SAY_WAIT 1000 /* us by which the report of a start is delayed */

/* Most short runs have ended by the time that their start is reported. Then start and end are reported
 * together, and the server is woken only once.
 */
static void say_note(struct keeper *k, struct note *note)
{
    if (note->end)
        k->send_at = 0;
    else if (!k->unsent)
        k->send_at = keeper_steady() + SAY_WAIT;
    note->number = ++k->number;
    note->at = keeper_wall();
    keeper_note(k, note);
}

void keeper_end_record(const struct run *run, struct journal_end *end)
{
    *end = (struct journal_end){.started = run->started.number, .started_at = run->started.at};
    struct engine_event *event = &end->event;
    event->what = run->used                   ? ENGINE_USED
                  : run->refused              ? ENGINE_REFUSED
                  : run->failure              ? ENGINE_FAILED
                  : run->adopted || run->lost ? ENGINE_LOST
                                              : ENGINE_ENDED;
    event->key = run->key;
    event->number = run->ended.number;
    event->at = run->ended.at;
    event->pid = run->pid;
    event->peak_memory = run->peak_memory;
    event->cpu_time = run->cpu_time;
    if (event->what == ENGINE_ENDED) {
        event->exit_signal = run->exit_signal;
        event->exit_status = run->exit_signal ? 0 : run->exit_status;
    }
    if (event->what == ENGINE_FAILED)
        event->exit_status = run->failure_status;
    event->text = run->failure ? run->failure : run->note;
}

/* Why the run ended as it did, if that is known. */
static char *find_note(const struct run *run)
{
    int64_t limit;
    char *note = NULL;
    if (run->failure)
        return NULL;
    if (run->lost)
        return strdup("lost: it was ended with its keeper, as when the machine is shut down");
    if (run->cgroup < 0 || !run->exit_signal || !cgroup_out_of_memory(run->cgroup, &limit))
        return NULL;
    if (limit < 0)
        return strdup("out of memory: the machine had no more");
    if (asprintf(&note, "out of memory: it had %" PRId64 " MiB", limit >> 20) < 0)
        return NULL;
    return note;
}

void keeper_finish(struct keeper *k, struct run *run)
{
    struct journal_end end;
    if (!run->failure && !keeper_output_done(k, run)) {
        run->phase = PHASE_OUTPUT;
        return;
    }
    char *found = find_note(run);
    if (found) {
        free(run->note);
        run->note = found;
    }
    if (run->cgroup >= 0) {
        cgroup_usage(run->cgroup, &run->peak_memory, &run->cpu_time);
        cgroup_remove(&k->cgroups, run->key, run->cgroup);
        run->cgroup = -1;
    }
    for (uint32_t i = 0; run->tasks && i < run->n_tasks; i++)
        keeper_remove_process(k, &run->tasks[i]);
    free(run->tasks);
    run->tasks = NULL;
    keeper_forget_request(run);
    run->phase = PHASE_ENDED;
    k->live--;
    if (run->adopted)
        k->adopted--;
    say_note(k, &run->ended);
    keeper_end_record(run, &end);
    journal_put_end(&k->records, &end);
}

/* ---- Starts ---- */

static void list_forking(struct keeper *k, struct run *run)
{
    run->forking = true;
    run->next_forking = NULL;
    if (k->last_forking)
        k->last_forking->next_forking = run;
    else
        k->forking = run;
    k->last_forking = run;
}

static void unlist_forking(struct keeper *k, struct run *run)
{
    struct run *before = NULL;
    if (!run->forking)
        return;
    for (struct run *at = k->forking; at != run; at = at->next_forking)
        before = at;
    *(before ? &before->next_forking : &k->forking) = run->next_forking;
    if (k->last_forking == run)
        k->last_forking = before;
    run->forking = false;
}

/* Only the first reason is reported. */
static void fail_run(struct keeper *k, struct run *run, const char *format, const char *what,
                     int errnum)
{
    char text[SPAWN_TEXT_MAX];
    if (run->phase == PHASE_FIRST || run->phase == PHASE_REST)
        k->starting--;
    run->phase = PHASE_FAILED;
    unlist_forking(k, run);
    snprintf(text, sizeof(text), format, what, errnum ? strerror(errnum) : "");
    if (!run->failure)
        run->failure = strdup(text);
    if (!run->failure)
        run->failure = calloc(1, 1);
    keeper_stop(k, run);
}

/* If no task has become the command yet, the run can be requested again. */
static void fail_before_start(struct keeper *k, struct run *run, const char *format,
                              const char *what)
{
    if (run->phase == PHASE_FIRST && !run->failure)
        run->refused = true;
    fail_run(k, run, format, what, 0);
}

/* The journal can't be written, so the end of the run could not be reported after a crash. */
static void refuse_run(struct keeper *k, struct run *run, int errnum)
{
    fail_before_start(k, run, "journal: %s%s", strerror(errnum));
}

static int spawn_there(struct keeper *k, struct run *run, uint32_t index, int result,
                       struct spawned *spawned)
{
    char mark[sizeof(k->mark) + 24];
    snprintf(mark, sizeof(mark), "%s%" PRIu64, k->mark, run->key);
    struct spawn s = {
        .run = &run->request.run,
        .index = index,
        .first = index == 0,
        .mark = mark,
        .lock = starts_lock(k->directory, run->key),
        .cgroup = run->cgroup,
        .result = result,
        .files = k->files,
        .oom = k->oom,
        .program = k->limits_program,
        .limits = limits_find(&k->limits, run->request.run.uid, keeper_steady()),
    };
    int rc = s.lock < 0 ? -1 : spawn_task(&s, spawned);
    int saved = errno;
    if (s.lock >= 0)
        close(s.lock); /* the task has it */
    errno = saved;
    return rc;
}

static int fork_task(struct keeper *k, struct run *run, int result)
{
    struct spawned spawned;
    uint32_t index = run->forked;
    if (dict_reserve(&k->pids) || spawn_there(k, run, index, result, &spawned))
        return -1;
    struct process *p = &run->tasks[index];
    *p = (struct process){
        .pid = spawned.pid,
        .run = run,
        .alive = true,
        .since = spawned.since,
        .until = spawned.until,
        .at = spawned.at,
        .pidfd = -1,
    };
    keeper_add_process(k, p);
    k->journal_size += JOURNAL_TASK_MAX; /* the size of the record that the process writes itself */
    run->forked++;
    run->alive++;
    if (index == 0)
        run->pid = spawned.pid;
    return 0;
}

static void cannot_fork(struct keeper *k, struct run *run, int errnum)
{
    if (errnum == EAGAIN)
        fail_run(k, run, "cannot start a process: %s%s",
                 "there are as many as the user (RLIMIT_NPROC) or the system may have", 0);
    else
        fail_run(k, run, "cannot start a process: %s%s", strerror(errnum), 0);
}

/* Start some of a run's tasks. They report through a pipe what goes wrong, and close it if nothing does. */
static void fork_tasks(struct keeper *k, struct run *run, uint32_t to)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
        cannot_fork(k, run, errno);
        return;
    }
    run->result = ends[0];
    int errnum = keeper_watch(k, run->result, &run->watch, EPOLLIN) ? errno : 0;
    while (run->forked < to && errnum == 0)
        errnum = fork_task(k, run, ends[1]) ? errno : 0;
    close(ends[1]);
    if (errnum)
        cannot_fork(k, run, errnum);
}

void keeper_say_started(struct keeper *k, struct run *run)
{
    if (run->started.number == 0 && run->phase != PHASE_ENDED && !run->adopted &&
        keeper_output_opened(k, run))
        say_note(k, &run->started);
}

/* No more tasks of the run will be started. */
static void is_started(struct keeper *k, struct run *run)
{
    if (run->forked == 0)
        run->exit_signal = SIGKILL; /* it was killed before */
    k->starting--;
    run->phase = PHASE_RUNNING;
    if (!keeper_has_epilogue(run))
        keeper_forget_request(run);
    keeper_find_output(k, run);
    keeper_say_started(k, run);
    if (run->alive == 0)
        keeper_stop(k, run);
}

/* The journal must have room for all its tasks before the first one runs. */
void keeper_start_held(struct keeper *k, struct run *run)
{
    berth_error_t err = {""};
    run->phase = PHASE_FIRST;
    k->starting++;
    if (!keeper_write_journal(k) || !keeper_reserve_journal(k, run->n_tasks)) {
        refuse_run(k, run, errno);
        return;
    }
    if (run->may_spool && !keeper_make_spool(k)) {
        fail_before_start(k, run, SPOOL_FOLDER ": %s%s", strerror(errno));
        return;
    }
    if (k->cgroups.base >= 0) {
        run->cgroup = cgroup_make(&k->cgroups, &run->request.run, &err);
        if (run->cgroup < 0) {
            fail_run(k, run, "%s%s", err.text, 0);
            return;
        }
    }
    list_forking(k, run);
}

#define STEP 16 /* how many tasks of a run are started together, and about how many in a turn */

/* Fork some tasks of each run in turn. A run's next tasks wait until those before have become the
 * command, so that few processes at a time hit the user's limit.
 */
void keeper_fork(struct keeper *k)
{
    uint32_t n = 0;
    while (k->forking && n < STEP) {
        struct run *run = k->forking;
        uint32_t before = run->forked;
        uint32_t left = run->n_tasks - before;
        unlist_forking(k, run);
        if (run->kill || k->ending)
            is_started(k, run);
        else
            fork_tasks(k, run, before == 0 ? 1 : before + (left < STEP ? left : STEP));
        n += run->forked - before;
    }
}

void keeper_drop_unstarted(struct keeper *k, struct run *run)
{
    unlist_forking(k, run);
    if (run->cgroup >= 0)
        cgroup_remove(&k->cgroups, run->key, run->cgroup);
    k->live--;
    k->starting -= run->phase == PHASE_FIRST;
    keeper_free(k, run);
}

static struct run *make_run(const char *message, size_t n)
{
    struct run *run = calloc(1, sizeof(*run));
    char *copy = malloc(n);
    if (!run || !copy) {
        free(run);
        free(copy);
        errno = ENOMEM;
        return NULL;
    }
    memcpy(copy, message, n);
    struct wire w = {.at = copy, .left = n};
    run->message = copy;
    if (message_start(&w, &run->request) == 0) {
        run->key = run->request.run.key;
        run->n_tasks = (uint32_t)run->request.run.n_tasks;
        run->may_spool = run->request.run.output_proof != NULL;
        run->tasks = calloc(run->n_tasks, sizeof(*run->tasks));
        if (run->tasks)
            return run;
        errno = ENOMEM;
    }
    keeper_forget_request(run);
    free(run);
    return NULL;
}

int keeper_start(struct keeper *k, const char *message, size_t n)
{
    struct run *run = make_run(message, n);
    if (!run)
        return -1;
    bool known = keeper_find(k, run->key); /* an event says what becomes of it */
    if (known || keeper_enter(k, run)) {
        keeper_forget_request(run);
        free(run->tasks);
        free(run);
        errno = ENOMEM;
        return known ? 0 : -1;
    }
    k->live++;
    run->used = used_keys_has(&k->used, run->key);
    if (run->used)
        keeper_finish(k, run);
    else if (keeper_is_held(k, run->key))
        run->phase = PHASE_HELD;
    else
        keeper_start_held(k, run);
    return 0;
}

/* All tasks that were being started have become the command, or have reported that they can't. */
static void told(struct keeper *k, struct run *run)
{
    keeper_unwatch(k, &run->result);
    if (run->phase == PHASE_FAILED || run->phase == PHASE_EPILOGUE) {
        if (run->alive == 0)
            keeper_stop(k, run);
    } else if (run->forked < run->n_tasks) {
        run->phase = PHASE_REST;
        list_forking(k, run);
    } else {
        is_started(k, run);
    }
}

void keeper_result(struct keeper *k, struct run *run)
{
    struct spawn_word word;
    ssize_t n = 1;
    while (n > 0 && run->result >= 0) {
        n = read(run->result, &word, sizeof(word));
        if (n == (ssize_t)sizeof(word)) {
            word.text[sizeof(word.text) - 1] = '\0';
            if (word.journal_errno) {
                keeper_journal_failed(k, word.journal_errno);
                refuse_run(k, run, word.journal_errno);
            } else if (run->phase == PHASE_EPILOGUE) {
                keeper_epilogue_failed(run, word.text);
            } else if (word.prologue_failed) {
                fail_before_start(k, run, "%s%s", word.text);
            } else if (word.text[0]) {
                if (!run->failure)
                    run->failure_status = word.status;
                fail_run(k, run, "%s%s", word.text, 0);
            } else {
                limits_keep(&k->limits, run->request.run.uid, &word.limits, keeper_steady());
            }
        } else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            told(k, run);
            return;
        }
    }
}

static void count_usage(struct run *run, const struct rusage *used)
{
    int64_t us = ((int64_t)used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
                 used->ru_utime.tv_usec + used->ru_stime.tv_usec;
    int64_t bytes = (int64_t)used->ru_maxrss * 1024;
    run->cpu_time = (run->cpu_time < 0 ? 0 : run->cpu_time) + us;
    if (bytes > run->peak_memory)
        run->peak_memory = bytes;
}

static void task_ended(struct keeper *k, struct process *p, int status)
{
    struct run *run = p->run;
    if (run->result >= 0)
        keeper_result(k, run);
    p->alive = false;
    run->alive--;
    if (run->phase == PHASE_EPILOGUE) {
        /* it says itself what became of it */
    } else if (WIFSIGNALED(status)) {
        if (!run->exit_signal)
            run->exit_signal = WTERMSIG(status);
    } else if (WEXITSTATUS(status) > run->exit_status) {
        run->exit_status = WEXITSTATUS(status);
    }
    if (run->alive == 0 && run->result < 0 && !run->forking)
        keeper_stop(k, run);
}

/* A known process that was left behind has ended. */
static void left_ended(struct keeper *k, struct process *p)
{
    struct process **at = p->run ? &p->run->left : &k->lost;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    keeper_remove_process(k, p);
    free(p);
}

void keeper_reap(struct keeper *k)
{
    int status;
    struct rusage used;
    pid_t pid;
    while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0) {
        struct process *p = keeper_process(k, pid);
        k->look = true;
        if (!p || !p->alive)
            continue;
        if (p->run && p->run->phase != PHASE_EPILOGUE)
            count_usage(p->run, &used);
        if (p->left)
            left_ended(k, p);
        else
            task_ended(k, p, status);
    }
}

void keeper_acknowledge(struct keeper *k, uint64_t number)
{
    bool any = false;
    while (k->notes && k->notes != k->unsent && k->notes->number <= number) {
        struct note *note = k->notes;
        struct run *run = note->run;
        if (note->end && used_keys_add(&k->used, run->key, run->key))
            break; /* it will be acknowledged again */
        k->head.acknowledged = note->number;
        k->notes = note->next;
        if (!k->notes)
            k->last_note = NULL;
        if (note->end)
            keeper_free(k, run);
        any = true;
    }
    if (any)
        journal_put_acknowledged(&k->records, k->head.acknowledged);
}
