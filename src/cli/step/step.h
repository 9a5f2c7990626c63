/* Steps: `berth run` in a batch script starts tasks on what the job has, and asks no server. */
#ifndef CLI_STEP_STEP_H
#define CLI_STEP_STEP_H

#include <stdbool.h>

/* Whether this runs in a batch script that was submitted to the server that a job would be submitted to now. */
bool step_is_here(void);

/* Read a command line of `berth run` and run it as a step. `name` is the program in messages. Returns the exit status: the
 * highest of its tasks', 128 + a signal's number, 127 if there is no such command, 1 or 2 as `berth run`.
 */
int step_run(const char *name, int argc, char **argv);

#endif
