/* The share of each user in connections, bodies being sent, unread replies, and streams. Some of what all
 * users share is reserved for root and the server's owner, so that others cannot keep them out.
 */
#ifndef SERVER_HTTP_USERS_H
#define SERVER_HTTP_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HTTP_BODY_SMALL   ((size_t)64 << 10) /* the first bytes of a body, which are not counted */
#define HTTP_WORK_OF_USER 5000000            /* ns of the server's time per round of the loop */
#define HTTP_WORK         20000000           /* of all users together */

struct http_user {
    uid_t uid;
    unsigned connections;
    unsigned streams; /* lists and event streams being sent */
    size_t held;      /* bytes of unread replies in memory */
    size_t bodies;    /* bytes of bodies, without the uncounted ones */
    uint64_t round;   /* the round in which the server last worked for the user */
    uint64_t work;    /* ns, in that round */
};

/* Empty is all zeroes but for the limits. Users without a connection are dropped when there are many. Calls
 * are O(users with a connection).
 */
struct http_users {
    struct http_user *v;
    size_t n, cap;
    unsigned limit;                      /* connections per user */
    uid_t owner;                         /* limited, like root, only by the totals */
    size_t connections, streams, bodies; /* of all */
    uint64_t round, work;                /* the current round, and ns used in it by all */
};

/* Whether the user may open another connection. */
bool http_users_may_connect(const struct http_users *u, uid_t uid);

/* Count a connection: -1 with ENOMEM. */
int http_users_connect(struct http_users *u, uid_t uid);
void http_users_disconnect(struct http_users *u, uid_t uid);

/* Count n more bytes of a body of `had` bytes; *counted is how many count. False: over a limit, and nothing
 * is counted.
 */
bool http_users_send(struct http_users *u, uid_t uid, size_t had, size_t n, size_t *counted);
void http_users_sent(struct http_users *u, uid_t uid, size_t counted);

/* Count a stream. False: over the limit of the user or of all. */
bool http_users_stream(struct http_users *u, uid_t uid);
void http_users_streamed(struct http_users *u, uid_t uid);

/* The server's time per round of the loop is limited for each user and for all; a user who has had none yet
 * may always start. The rest waits for the next round.
 */
void http_users_begin_round(struct http_users *u);
bool http_users_may_work(const struct http_users *u, uid_t uid);
void http_users_work(struct http_users *u, uid_t uid, uint64_t ns);

/* Count bytes of replies held in memory, or no longer held. */
void http_users_hold(struct http_users *u, uid_t uid, size_t bytes);
void http_users_release(struct http_users *u, uid_t uid, size_t bytes);

/* Whether the user may send a request, given the unread replies. */
bool http_users_may_ask(const struct http_users *u, uid_t uid);

void http_users_clear(struct http_users *u);

#endif
