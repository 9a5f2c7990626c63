/* Users, and what they may have (user.c, user_room.c). */
#ifndef SERVER_CORE_USERS_H
#define SERVER_CORE_USERS_H

#include "server/core/state.h"

struct user *user_find(server_t *s, uint32_t uid); /* NULL with ENOENT or ENOMEM */
bool user_is_admin(server_t *s, uint32_t uid);
bool user_may_request(server_t *s, uint32_t uid); /* counts a request against the rate limit */
void user_charge_job(struct user *u, const struct job *job); /* add the job to the user's counts */
/* Adjust a user's counts: live members, bytes of requests, and estimated bytes not stored yet. */
void user_charge(server_t *s, uint32_t uid, int64_t live, int64_t bytes, int64_t unstored);
/* Make room in the store for more bytes and members of a user by dropping the user's oldest history, at
 * most *slices slices of it, which are subtracted. 0, or -1 with a text and EDQUOT (no history is left),
 * EAGAIN (more slices are needed) or an error of the store.
 */
int user_make_room(server_t *s, struct user *u, int64_t bytes, int64_t members, int *slices,
                   berth_error_t *err);
/* The store has changed: read the sizes again when needed. */
void users_forget_stored(server_t *s);
/* Drop a slice of the history of users who exceed their share. True: more remains to be dropped. */
bool users_trim(server_t *s);
bool users_check(const server_t *s);
void users_clear(server_t *s);

#endif
