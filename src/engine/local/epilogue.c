/* The epilogue of a run, once none of its processes is left: a process of the keeper's waits for it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/local/hook.h"
#include "engine/local/keeper.h"
#include "engine/local/spawn.h"

bool keeper_has_epilogue(const struct run *run)
{
    const struct engine_hooks *hooks = run->request.run.hooks;
    return hooks && hooks->epilogue;
}

/* The process that waits: it lets go of all that is the keeper's, and dies with it. */
__attribute__((noreturn)) static void wait_for_it(const struct engine_hooks *hooks,
                                                  const char *mark, int result, pid_t keeper)
{
    struct spawn_word word = {.text = ""};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper || dup3(result, STDERR_FILENO + 1, O_CLOEXEC) < 0)
        _exit(127);
    syscall(SYS_close_range, STDERR_FILENO + 2, ~0U, 0);
    setsid();
    if (hook_run("epilogue", hooks->epilogue, hooks->limit, hooks->env, mark, word.text,
                 sizeof(word.text)))
        while (write(STDERR_FILENO + 1, &word, sizeof(word)) < 0 && errno == EINTR)
            ;
    _exit(0);
}

/* Enter the process as the run's only one. */
static int enter_only_process(struct keeper *k, struct run *run, pid_t pid)
{
    struct process *p = &run->tasks[0];
    keeper_remove_process(k, p);
    *p = (struct process){.pid = pid,
                          .run = run,
                          .alive = true,
                          .since = procs_now(),
                          .until = procs_now() + 1,
                          .at = keeper_wall(),
                          .pidfd = -1};
    if (keeper_add_process(k, p))
        return -1;
    run->alive = 1;
    return 0;
}

bool keeper_begin_epilogue(struct keeper *k, struct run *run)
{
    const struct engine_hooks *hooks = run->request.run.hooks;
    char mark[sizeof(k->mark) + 24];
    int ends[2];
    if (!keeper_has_epilogue(run) || run->phase == PHASE_EPILOGUE || run->refused ||
        run->forked == 0 || k->ending)
        return false;
    if (dict_reserve(&k->pids) || pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
        keeper_epilogue_failed(run, "epilogue: cannot start a process");
        return false;
    }
    snprintf(mark, sizeof(mark), "%s%" PRIu64, k->mark, run->key);
    run->result = ends[0];
    pid_t self = getpid(), pid = keeper_watch(k, run->result, &run->watch, EPOLLIN) ? -1 : fork();
    if (pid == 0)
        wait_for_it(hooks, mark, ends[1], self);
    close(ends[1]);
    if (pid < 0 || enter_only_process(k, run, pid)) {
        keeper_epilogue_failed(run, "epilogue: cannot start a process");
        keeper_unwatch(k, &run->result);
        return false;
    }
    run->phase = PHASE_EPILOGUE;
    run->patience = 0;
    return true;
}

void keeper_epilogue_failed(struct run *run, const char *text)
{
    free(run->note);
    run->note = strdup(text);
}
