/* Programs that a server starts for itself: the keeper, the gate, berth-slurm. */
#ifndef ENGINE_LOCAL_HELPER_H
#define ENGINE_LOCAL_HELPER_H

#include <sys/types.h>

/* Start a program with its arguments (argv[0] is its name), this environment (NULL: none) and no signal blocked,
 * ignored or caught. It gets /dev/null as its input and output, what `from` is as its descriptor `to` (2 or above;
 * `from` is another), and none above that. 0, or an error's number.
 */
int helper_start(const char *program, const char *const argv[], char *const env[], int from, int to,
                 pid_t *pid);

#endif
