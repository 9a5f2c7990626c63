/* Users by name: Flux knows them by number, and configurations by name. */
#ifndef FLUX_USERS_H
#define FLUX_USERS_H

#include <stdint.h>

struct flux_users;

struct flux_users *flux_users_create(void);
void flux_users_destroy(struct flux_users *users);

/* The name of a user, or the number in decimal where it has none; NULL with ENOMEM. The system is asked once a user. It
 * belongs to the table.
 */
const char *flux_users_name(struct flux_users *users, uint32_t uid);

#endif
