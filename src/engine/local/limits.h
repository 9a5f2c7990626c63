/* A user's limits (RLIMIT_*), as PAM sets them.
 *
 * Only the program berth-limits uses PAM: it opens a session for the user as the service `berth`, and
 * prints the limits that it then has itself. A task's process runs it and adopts the limits; the keeper
 * does not, so that a slow directory service cannot block the keeper. The keeper remembers a user's
 * limits for a while, so that the user's next tasks start without asking.
 */
#ifndef ENGINE_LOCAL_LIMITS_H
#define ENGINE_LOCAL_LIMITS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define LIMITS_PROGRAM  "berth-limits"
#define LIMITS_TEXT_MAX 200

struct limits {
    struct rlimit of[RLIM_NLIMITS];
    int nice;
};

/* The limits of this process. 0, or -1 with errno. */
int limits_get(struct limits *l);

/* Adopt limits. 0, or -1 with errno, and *what names the one that could not be set, a static text. */
int limits_set(const struct limits *l, const char **what);

/* Ask berth-limits. 0, or -1 with a line that says why. */
int limits_ask(const char *program, uid_t uid, struct limits *l, char text[LIMITS_TEXT_MAX]);

/* The limits of users that are remembered; none if all zeroes. Times are us of the steady clock. */
struct limits_known {
    struct limits_user *v;
    size_t n, cap;
};

/* The limits of a user; NULL: they must be asked for. */
const struct limits *limits_find(const struct limits_known *k, uid_t uid, int64_t now);

/* Remember a user's limits; if memory runs out, they are not remembered. */
void limits_keep(struct limits_known *k, uid_t uid, const struct limits *l, int64_t now);
void limits_clear(struct limits_known *k);

#endif
