/* Which runs have a process that may still become a task: a lock for each, in a file of the keeper's
 * directory.
 *
 * A task's process has the lock of its run from the fork on until it is the command or has ended,
 * whatever becomes of its keeper. So the next keeper needs not wait for one that hangs: it knows of which
 * runs it can't say yet what they were. The locks are those of open files (F_OFD_SETLK), shared by the
 * tasks of a run, each of one byte, at the place in the file that is the run's key.
 */
#ifndef ENGINE_LOCAL_STARTS_H
#define ENGINE_LOCAL_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STARTS_FILE "keeper.starts"

/* The file, made if need be: a descriptor that is closed by exec and has no lock. -1 with errno. */
int starts_open(int directory);

/* The same with the lock of a run, for a process that is about to be made. */
int starts_lock(int directory, uint64_t key);

/* True if a process has the lock of this run, or if that can't be told. */
bool starts_held(int file, uint64_t key);

/* The keys of all runs whose lock is held, in an array that the caller frees: *keys and *n are set. 0, or
 * -1 with errno. O(locks).
 */
int starts_list(int file, uint64_t **keys, size_t *n);

#endif
