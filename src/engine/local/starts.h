/* Locks that show which runs have a process that may still become a task, in a file of the keeper's
 * directory.
 *
 * A task's process holds the lock of its run from the fork until it becomes the command or ends, whatever
 * happens to its keeper. So the next keeper need not wait for a process that hangs: it knows which runs
 * are still undecided. The locks belong to open files (F_OFD_SETLK) and are shared by the tasks of a run;
 * each is of one byte, at the offset in the file that is the run's key.
 */
#ifndef ENGINE_LOCAL_STARTS_H
#define ENGINE_LOCAL_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STARTS_FILE "keeper.starts"

/* Open the file, or make it. Returns a descriptor that is closed by exec and has no lock, or -1 with
 * errno.
 */
int starts_open(int directory);

/* The same, with the lock of a run, for a process that is about to be made. */
int starts_lock(int directory, uint64_t key);

/* True if a process holds the lock of this run, or if that can't be found out. */
bool starts_held(int file, uint64_t key);

/* The keys of all runs whose lock is held, in an array that the caller frees: *keys and *n are set. 0, or
 * -1 with errno. O(locks).
 */
int starts_list(int file, uint64_t **keys, size_t *n);

#endif
