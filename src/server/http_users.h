/* The connections of each user. */
#ifndef SERVER_HTTP_USERS_H
#define SERVER_HTTP_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct http_user {
    uid_t uid;
    unsigned connections;
    size_t held; /* bytes of replies that are in memory, as they have not been read yet */
};

/* Empty is all zeroes but for the limits. Those without a connection are forgotten when there are many. */
struct http_users {
    struct http_user *v;
    size_t n, cap;
    unsigned limit; /* connections of one */
    uid_t owner;    /* of whom, as of root, only the sum of all is limited */
};

/* True if the user may have another connection. */
bool http_users_may_connect(const struct http_users *u, uid_t uid);

/* Count a connection: -1 with ENOMEM. */
int http_users_connect(struct http_users *u, uid_t uid);
void http_users_disconnect(struct http_users *u, uid_t uid);

/* Count bytes of replies that begin or cease to be held. */
void http_users_hold(struct http_users *u, uid_t uid, size_t bytes);
void http_users_release(struct http_users *u, uid_t uid, size_t bytes);

/* True if the user holds so little that there may be more. */
bool http_users_may_ask(const struct http_users *u, uid_t uid);

void http_users_clear(struct http_users *u);

#endif
