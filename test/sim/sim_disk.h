/* A disk in memory for SQLite, whose machine can lose power, which gets full, and fails now and then.
 *
 * What has been synced stays. Of the rest a crash keeps, sector by sector (512 bytes), some writes and
 * loses others, whatever their order; a file's new name is sure when its folder has been synced (with the
 * first sync of a journal or a log, or a deletion that asks for it), and the name of one that was deleted
 * may come back until then. All follows from the seed. One process and one thread; locks exclude other
 * connections. There is no shared memory: the log must be used with locking_mode = EXCLUSIVE.
 */
#ifndef TEST_SIM_DISK_H
#define TEST_SIM_DISK_H

#include <stdbool.h>
#include <stdint.h>

struct sim_disk;

/* An empty disk, which SQLite knows by the name (to be given to store_open as vfs). NULL with ENOMEM. */
struct sim_disk *sim_disk_create(const char *name, uint64_t seed);
void sim_disk_destroy(struct sim_disk *d); /* after all that have files on it open closed them */

/* The power goes: now, what is open can only be closed, and the files are what is left of them. They can be
 * opened again.
 */
void sim_disk_crash(struct sim_disk *d);

/* The power goes after so many more calls that write, sync, truncate or delete; what is asked for from then
 * on fails, until sim_disk_crash. Negative: it doesn't.
 */
void sim_disk_stop_after(struct sim_disk *d, int64_t calls);
bool sim_disk_has_stopped(const struct sim_disk *d);

/* All files together may have so many bytes; negative: any. A write beyond that fails with ENOSPC. */
void sim_disk_limit(struct sim_disk *d, int64_t bytes);

/* One of so many calls fails with EIO, at random: a write may have been done in part, a sync not. 0: none
 * does.
 */
void sim_disk_fail(struct sim_disk *d, uint64_t one_of);

int64_t sim_disk_calls(const struct sim_disk *d); /* that write, sync, truncate or delete, so far */
int64_t sim_disk_size(const struct sim_disk *d);  /* bytes of all files */

/* The content of a file, until the disk's next call; NULL: there is none. */
const void *sim_disk_get(const struct sim_disk *d, const char *path, int64_t *length);

/* Give a file its content, synced. 0, or -1 with ENOMEM. */
int sim_disk_put(struct sim_disk *d, const char *path, const void *data, int64_t length);

#endif
