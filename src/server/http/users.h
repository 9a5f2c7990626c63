/* What each user has of the HTTP server: connections, bodies that are being sent, replies that are not
 * read, streams. Each has a share of these, and what is for all has a reserve for root and the server's
 * owner, so that what others leave open keeps nobody out.
 */
#ifndef SERVER_HTTP_USERS_H
#define SERVER_HTTP_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HTTP_BODY_SMALL   ((size_t)64 << 10) /* bytes of a body that count for nothing */
#define HTTP_WORK_OF_USER 5000000            /* ns in a round of the loop, of the server's time */
#define HTTP_WORK         20000000           /* of all users together */

struct http_user {
    uid_t uid;
    unsigned connections;
    unsigned streams; /* lists and events that are being sent */
    size_t held;      /* bytes of replies that are in memory, as they have not been read yet */
    size_t bodies;    /* bytes of bodies, but for the first of each */
    uint64_t round;   /* when it had the server work last */
    uint64_t work;    /* ns, in that round */
};

/* Empty is all zeroes but for the limits. Those without a connection are forgotten when there are many. A
 * call is O(users with a connection).
 */
struct http_users {
    struct http_user *v;
    size_t n, cap;
    unsigned limit;                      /* connections of one */
    uid_t owner;                         /* of whom, as of root, only the sum of all is limited */
    size_t connections, streams, bodies; /* of all */
    uint64_t round, work;                /* this one, and ns in it, of all */
};

/* True if the user may have another connection. */
bool http_users_may_connect(const struct http_users *u, uid_t uid);

/* Count a connection: -1 with ENOMEM. */
int http_users_connect(struct http_users *u, uid_t uid);
void http_users_disconnect(struct http_users *u, uid_t uid);

/* Count n bytes more of a body that has `had`: *counted says how many do count. False: there is no room
 * for them, and nothing is counted.
 */
bool http_users_send(struct http_users *u, uid_t uid, size_t had, size_t n, size_t *counted);
void http_users_sent(struct http_users *u, uid_t uid, size_t counted);

/* Count a stream. False: the user, or all together, have too many. */
bool http_users_stream(struct http_users *u, uid_t uid);
void http_users_streamed(struct http_users *u, uid_t uid);

/* In each round of the loop the server works so long for a user, and for all; who has had nothing yet
 * gets something. What goes beyond that waits for the next round.
 */
void http_users_begin_round(struct http_users *u);
bool http_users_may_work(const struct http_users *u, uid_t uid);
void http_users_work(struct http_users *u, uid_t uid, uint64_t ns);

/* Count bytes of replies that begin or cease to be held. */
void http_users_hold(struct http_users *u, uid_t uid, size_t bytes);
void http_users_release(struct http_users *u, uid_t uid, size_t bytes);

/* True if the user holds so little that there may be more. */
bool http_users_may_ask(const struct http_users *u, uid_t uid);

void http_users_clear(struct http_users *u);

#endif
