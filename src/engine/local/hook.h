/* Commands of the administrator around a run: its prologue and its epilogue (struct engine_hooks). */
#ifndef ENGINE_LOCAL_HOOK_H
#define ENGINE_LOCAL_HOOK_H

#include <stddef.h>
#include <stdint.h>

/* Run a command by /bin/sh and wait until it has ended, in a process that was forked for it and is the leader of its
 * session. It has `env` and `mark` ("NAME=VALUE"), "/" as its folder and no input; it is killed with this process, and after
 * `limit` us. Returns 0 if it ended with status 0, else -1 and a line of at most n - 1 bytes: "prologue: exit status 3: no
 * room", where `what` is "prologue" and the rest is the first line that it printed.
 */
int hook_run(const char *what, const char *command, int64_t limit, const char *const *env,
             const char *mark, char *text, size_t n);

#endif
