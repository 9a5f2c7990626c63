/* How long tasks took on average, by a text that names what is alike, such as a task's name.
 *
 * Of each key the number of runs and their total are kept, so the mean is exact. Of more keys than the
 * capacity the one that was used least recently is forgotten. Calls are O(length of the key) on average, but
 * for durations_order.
 */
#ifndef SHARE_DURATIONS_H
#define SHARE_DURATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DURATIONS_SECONDS_MAX ((int64_t)1 << 40) /* of one run; what took longer counts as that */

struct durations;

/* Make an empty store for at least one key. NULL with EINVAL or ENOMEM. */
struct durations *durations_create(size_t capacity);
void durations_destroy(struct durations *d);

/* Note a run, which uses its key. A negative duration is EINVAL. Returns 0, or -1 with errno. */
int durations_add(struct durations *d, const char *key, size_t length, int64_t seconds);

/* The mean in seconds, rounded to the nearest, half up; 0 for a key that is not known. */
int64_t durations_mean(const struct durations *d, const char *key, size_t length);

size_t durations_count(const struct durations *d);

/* Sort the tasks of a job, given by their keys, into the order in which they start: the longest expected
 * first, unknown ones last, equal ones as they come. Writes their indices. Returns 0, or -1 with ENOMEM.
 * O(n log n).
 */
int durations_order(const struct durations *d, const char *const *keys, size_t n, size_t *order);

/* True if the store is what it should be. For tests. O(n). */
bool durations_check(const struct durations *d);

#endif
