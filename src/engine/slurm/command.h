/* One of Slurm's commands, run as a child process that is killed after 20 s. */
#ifndef ENGINE_SLURM_COMMAND_H
#define ENGINE_SLURM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "berth/error.h"

#define COMMAND_WORDS       64
#define COMMAND_ENVIRONMENT 7     /* words, with NULL */
#define COMMAND_DEADLINE    20000 /* ms */

/* The words of a command, ended by NULL; `full`: there were more than it has room for. */
struct command {
    const char *argv[COMMAND_WORDS];
    size_t n;
    int full;
};
void command_add(struct command *c, const char *word);

/* Of this process's environment what Slurm's commands need. */
void command_environment(char *env[COMMAND_ENVIRONMENT]);

/* By what sbatch says, what command_run would return: EINVAL, ETIMEDOUT or ECONNREFUSED. */
int command_failure(const char *said);

/* Run it in an environment that has only what Slurm's commands need: neither options for sbatch nor what is set in an
 * allocation goes along, but the zone does, since they print local times. `input`, shorter than a pipe is deep (64
 * KiB), is its standard input, NULL: none; what it says on both of its outputs is appended to `said`, 8 MiB of it at
 * most. `end`: a descriptor on which the end of a file ends the command too; -1: none.
 *
 * 0, or -1 with a text: EINVAL, it failed, with its last line; ETIMEDOUT, it was killed, or says itself that it had
 * no answer, so what it was to do may have been done all the same; ECONNREFUSED, it reached nobody, so nothing was
 * done; else it could not be run. Waits for up to 20 s.
 */
int command_run(const struct command *c, const char *input, size_t length, int end,
                struct strbuf *said, berth_error_t *err);

/* One that runs while its caller does something else. */
struct command_going {
    const char *name;
    pid_t pid;
    int fd;        /* on which it says something, or ends */
    int64_t until; /* ms by CLOCK_MONOTONIC, when it is killed */
    bool late;
    struct strbuf said;
};

/* Begin as command_run does. 0, or -1 with a text. The name lives as long as it goes. */
int command_begin(const struct command *c, const char *input, size_t length,
                  struct command_going *g, berth_error_t *err);

/* Take what it has said, without waiting: whether it goes on. */
bool command_goes_on(struct command_going *g);

/* Once it does not: what command_run returns. With g->late, which the caller may set at any time, it is killed. g->said stays,
 * to be cleared.
 */
int command_end(struct command_going *g, berth_error_t *err);

/* What was said last, without the end of the line, which is cut off. */
const char *command_last_line(struct strbuf *said);

/* Read what `sbatch --parsable` has said, "ID" or "ID;CLUSTER". 0, or -1 with ETIMEDOUT and a text: it is something else. */
int command_job_id(struct strbuf *said, struct strbuf *job, berth_error_t *err);

#endif
