/* A user's limits (RLIMIT_*), as PAM has them.
 *
 * Only the program berth-limits knows PAM: it opens a session for the user as the service `berth` and
 * tells which limits it then has itself. A task's process asks it, outside of the keeper, which may so
 * hang in nobody's directory service, and takes the limits on; the keeper remembers them for a while, so
 * that a user's next tasks start as fast as ever.
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

/* Take limits on. 0, or -1 with errno and what could not be set in *what, which is static. */
int limits_set(const struct limits *l, const char **what);

/* Ask the program. 0, or -1 with a line that says why. */
int limits_ask(const char *program, uid_t uid, struct limits *l, char text[LIMITS_TEXT_MAX]);

/* What is remembered of users: zeroed, none. Times are us of the steady clock. */
struct limits_known {
    struct limits_user *v;
    size_t n, cap;
};

/* NULL: they are to be asked for. */
const struct limits *limits_find(const struct limits_known *k, uid_t uid, int64_t now);

/* Without memory they are not remembered. */
void limits_keep(struct limits_known *k, uid_t uid, const struct limits *l, int64_t now);
void limits_clear(struct limits_known *k);

#endif
