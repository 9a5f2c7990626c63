/* Lists of jobs that are submitted at once and taken in slices, all or none of them.
 *
 * First each is read and handed to the core, where it waits for a release whatever it says; nobody sees it. Then all go to
 * the store, slice by slice. There a value says that they are not complete: a server that finds them so drops them. When the
 * last one is written that value says that they are; from then on they come up one after the other: each is entered into the
 * table and released, with the event that tells of it. Then the client is told their numbers, which were kept for them
 * from the beginning.
 *
 * One that is wrong, or a commit that fails before they are complete, has all of them taken back, in slices too.
 */
#ifndef SERVER_BULK_H
#define SERVER_BULK_H

#include "server/api/api.h"

/* Take a list of a user's jobs: the call's body begins with a '['. */
void bulk_start(struct call *c, struct user *user);

/* ---- For the rest of the server ---- */

/* The core rejects a job that nobody sees yet. */
void bulk_rejected(server_t *s, int64_t id, uint32_t member, const char *reason);

/* What the store is to know of lists, if that has changed. */
int bulk_write(server_t *s, berth_error_t *err);

/* Before jobs are loaded: those that are not complete are dropped. After: those that nobody was told of are told. */
int bulk_drop(server_t *s, berth_error_t *err);
void bulk_load(server_t *s);

/* The number of the first job of the list that a job comes in; the job's own: of none that is at work. */
int64_t bulk_first(const server_t *s, int64_t id);

/* Count with user_add those of a user's jobs that nobody sees yet. */
void bulk_count(const server_t *s, struct user *u);

bool bulk_check(const server_t *s);

#endif
